"""Boxes by id: the rows that every index keeps, and which ids are free.

One row an id, in contiguous arrays that grow by doubling.  The row of a removed id holds NaN, which
overlaps nothing, so that a kernel may scan all rows without checking which are live.
"""

from copy import deepcopy
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from broadphase.inputs.arrays import MOST_IDS, as_plain_array, settled
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import whole
from broadphase.kernels.arrays.results import FEW_IDS, first_bad_id
from broadphase.kernels.boxes.checks import find_free, put_new, put_rows
from broadphase.kernels.boxes.overlap import STATIC, PairFilter, no_filter
from broadphase.runtime.arrays import FIRST_ROWS, distinct, rows_at

IdArray = npt.NDArray[np.int32]

EVERY_BIT = 0xFFFFFFFF
# The arrays by id, and what their unused rows hold.
_COLUMNS = {
    "boxes": np.nan,
    "alive": False,
    "classes": 0,
    "categories": 1,
    "masks": EVERY_BIT,
    "renewed": False,
    "envs": 0,
}
_FIRST_CAPACITY = 16
_NAN = float("nan")


_T = TypeVar("_T", bound=np.generic)


def read_only(rows: npt.NDArray[_T]) -> npt.NDArray[_T]:
    """The same numbers, which users may not write to."""
    shown = rows[:]
    shown.flags.writeable = False
    return shown


class Places(NamedTuple):
    """Where boxes are to be added."""

    ids: IdArray
    fresh: int
    """How many of the ids are new."""


class BoxStore:
    """The arrays of an index.  ``end`` rows are in use or were; ``live`` of them hold a box."""

    def __init__(self, dim: int, dtype: npt.DTypeLike, *, what: str = "box") -> None:
        self.what = what
        """What the rows are; `PointIndex` keeps a point in each, of half the width."""
        self.dim = dim
        self.boxes: BoxArray = np.empty((0, dim if what == "point" else 2 * dim), dtype)
        self.alive = np.empty(0, np.bool_)
        self.classes = np.empty(0, np.uint8)
        """The class bits of `broadphase.kernels.boxes.overlap`: `STATIC` or 0."""
        self.categories = np.empty(0, np.uint32)
        self.masks = np.empty(0, np.uint32)
        self.renewed = np.empty(0, np.bool_)
        """Which ids were given out since the last call of ``changes``: their earlier pairs have ended."""
        self.envs: npt.NDArray[np.int64] | None = None
        """The environment of each id; None until one is given that is not 0."""
        self.end = 0
        self.live = 0
        self.any_static = False
        self.any_sets = False
        """Whether a category or mask other than the usual was ever given."""
        self._lowest = 0
        """No id below is free."""
        self._ids: IdArray | None = None
        self._spare: BoxArray | None = None
        self._next: BoxArray | None = None

    def reserve(self, capacity: int) -> None:
        """Make space for ids below ``capacity``, so that no further copy is needed until then."""
        if capacity <= len(self.alive):
            return
        columns = {}
        for name, column in self._columns().items():
            columns[name] = larger = np.empty((capacity, *column.shape[1:]), column.dtype)
            larger[: self.end], larger[self.end :] = column[: self.end], _COLUMNS[name]
        self.__dict__.update(columns)  # all or none, if this is interrupted

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by id that there are."""
        return {name: self.__dict__[name] for name in _COLUMNS if self.__dict__[name] is not None}

    def use_envs(self) -> None:
        """Keep an environment for each id."""
        if self.envs is None:
            self.envs = np.zeros(len(self.alive), np.int64)

    def ids(self) -> IdArray:
        """The live ids, ascending; read-only; the same array until an id is added or removed."""
        ids = self._ids
        if ids is None:
            if self.live == self.end:
                ids = np.arange(self.end, dtype=np.int32)
            else:
                ids = np.flatnonzero(self.alive[: self.end]).astype(np.int32)
            self._ids = ids
        return ids

    def live_boxes(self) -> BoxArray:
        """The live rows in id order: a view where no id below ``end`` is free, else a copy."""
        return self.boxes[: self.end] if self.live == self.end else rows_at(self.boxes, self.ids())

    def live_filter(self) -> PairFilter:
        """The rules of the live rows, for a search over `live_boxes`."""
        return self.filter(None if self.live == self.end else self.ids())

    def filter(self, ids: IdArray | None = None) -> PairFilter:
        """The rules of some ids, or by id, for a search over ``boxes[:end]``."""
        none, chosen = no_filter(), slice(self.end) if ids is None else ids
        return PairFilter(
            self.classes[chosen] if self.any_static else none.classes,
            self.categories[chosen] if self.any_sets else none.categories,
            self.masks[chosen] if self.any_sets else none.masks,
        )

    def live_envs(self) -> npt.NDArray[np.int64]:
        """The environment of each live row, in id order."""
        return np.zeros(self.live, np.int64) if self.envs is None else self.envs[self.ids()]

    def next_id(self) -> int:
        """The lowest free id, where `add` puts a box."""
        if self.live == self.end:
            return self.end
        if self.alive[self._lowest]:
            self._lowest = self.next_ids(1).ids.item()
        return self._lowest

    def add(self, box: tuple[float, ...], static: bool, category: int, mask: int, env: int = 0) -> int:
        """Put a box at the lowest free id.  `use_envs` comes before the first ``env`` that is not 0."""
        new = self.next_id()
        if new == len(self.alive):
            self._grow(1)
        bits = int(STATIC) if static else 0
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.end += new == self.end
        self._lowest = new + 1
        self.live += 1
        self._ids = None
        self.any_static |= static
        self.any_sets |= category != 1 or mask != EVERY_BIT
        if self.envs is not None:
            self.envs[new] = env
        put_new(
            self.boxes, self.alive, self.renewed, self.classes, self.categories, self.masks,
            new, box, bits, category, mask,
        )  # fmt: skip
        return new

    def add_many(
        self,
        boxes: BoxArray,
        static: npt.NDArray[np.bool_],
        categories: npt.NDArray[np.uint32],
        masks: npt.NDArray[np.uint32],
        envs: npt.NDArray[np.int64] | None = None,
        places: Places | None = None,
    ) -> IdArray:
        """Put boxes at the lowest free ids, in their order, which are ``places``; see `add`."""
        any_static = self.any_static or bool(static.any())
        any_sets = self.any_sets or bool((categories != 1).any() or (masks != EVERY_BIT).any())
        ids, fresh = places or self.next_ids(len(boxes))
        run, live = _run_of(ids), self.live + len(ids)
        lowest = ids.item(-1) + 1 if len(ids) else self._lowest
        try:
            self.boxes[run] = boxes
            self.alive[run] = self.renewed[run] = True
            self.classes[run] = static * STATIC
            self.categories[run], self.masks[run] = categories, masks
            if self.envs is not None:
                self.envs[run] = 0 if envs is None else envs
        except BaseException:
            for name, column in self._columns().items():
                column[run] = _COLUMNS[name]
            raise
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.any_static, self.any_sets = any_static, any_sets
        self.end += fresh
        self.live = live
        self._lowest = lowest
        self._ids = None
        return ids

    def drop(self, ids: IdArray) -> None:
        """Free these live ids, ascending."""
        live, lowest = self.live - len(ids), min(self._lowest, ids.item(0))
        removed = ids.item() if len(ids) == 1 else _run_of(ids)  # one takes half the time
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.boxes[removed] = _NAN
        self.alive[removed] = False
        self.live = live
        self._lowest = lowest
        self._ids = None

    def next_boxes(self) -> BoxArray:
        """Rows for new boxes of all ids, none of which is free: to be filled, and handed to `write`.

        Two arrays take turns: new boxes are checked while they are copied, and after an error the old ones
        are still there.
        """
        spare = self._spare
        if spare is None or len(spare) != len(self.boxes):
            spare = self._spare = np.full_like(self.boxes, _NAN)
        self._next = spare[: self.end]
        return self._next

    def rows_before(self, ids: IdArray, boxes: BoxArray) -> BoxArray | None:
        """What `take_back` needs: the present rows of these ids, unless the whole array is exchanged."""
        return None if boxes is self._next else rows_at(self.boxes, ids)

    def write(self, ids: IdArray, boxes: BoxArray) -> None:
        """Give these live ids new boxes."""
        if boxes is self._next:
            assert self._spare is not None
            self.boxes, self._spare = self._spare, self.boxes
            self._next = None
        else:
            put_rows(self.boxes, ids, boxes)

    def take_back(self, ids: IdArray, before: BoxArray | None) -> None:
        """Undo a `write` that is done, half done or not begun."""
        if before is not None:
            self.boxes[ids] = before
        elif self._next is None:  # the arrays were exchanged
            assert self._spare is not None
            self.boxes, self._spare = self._spare, self.boxes

    def empty(self) -> None:
        """Free every id; memory stays reserved."""
        end = self.end
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.boxes[:end] = _NAN
        self.alive[:end] = self.renewed[:end] = False
        self.classes[:end], self.categories[:end], self.masks[:end] = 0, 1, EVERY_BIT
        self.end = self.live = 0
        self._spare = self._next = None
        self.any_static = self.any_sets = False
        self._lowest = 0
        self._ids = None

    def restore(self, alive: npt.NDArray[np.bool_], rows: dict[str, npt.NDArray[Any]]) -> None:
        """Fill an empty store; ``rows`` are the columns of the live ids, by name."""
        self.reserve(len(alive))
        ids = np.flatnonzero(alive)
        self.end, self.live = len(alive), len(ids)
        self.alive[: self.end] = alive
        for name, column in rows.items():
            getattr(self, name)[ids] = column
        self.any_static = bool(self.classes[ids].any())
        self.any_sets = bool((self.categories[ids] != 1).any() or (self.masks[ids] != EVERY_BIT).any())
        self._lowest, self._ids = 0, None

    def check(self) -> None:
        """Raise ``AssertionError`` where the bookkeeping contradicts itself."""
        alive = self.alive[: self.end]
        boxes = self.boxes[: self.end]
        dim = boxes.shape[1] // 2
        expect(int(alive.sum()) == self.live, "live counts the live rows")
        known = boxes[alive]
        sound = np.isfinite(known) if self.what == "point" else known[:, :dim] <= known[:, dim:]
        expect(bool(sound.all()), "live rows hold what is sound")
        expect(bool(np.isnan(boxes[~alive]).all()), "rows of free ids hold NaN")
        expect(self.any_static or not self.classes[: self.end].any(), "any_static knows of static boxes")
        expect(
            self.any_sets or bool((self.categories == 1).all() and (self.masks == EVERY_BIT).all()),
            "any_sets knows of categories and masks",
        )
        expect(np.array_equal(self.ids(), np.flatnonzero(alive)), "ids lists the live rows")
        expect(bool(alive[: self._lowest].all()), "no id below the lowest is free")

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__ | {"_ids": None, "_spare": None, "_next": None}
        return state | {name: column[: self.end] for name, column in self._columns().items()}

    def has(self, id: object) -> bool:  # noqa: A002
        """Whether it is an id that is in use."""
        try:
            self.known_id(id)
        except (KeyError, TypeError):
            return False
        return True

    def known_id(self, value: Any) -> int:
        """An id that is in use, as a caller wrote it."""
        if type(value) is not int and np.ndim(value) > 0:
            raise TypeError(
                f"id must be an integer; got {value!r}; remove_many() and move_many() take several"
            )
        number = whole(value, "id")
        if not (0 <= number < self.end and self.alive[number]):
            raise KeyError(f"no {self.what} has the id {number}")
        return number

    def known_ids(self, values: Any) -> IdArray:
        """Ids that are in use, each named once, as a caller wrote them."""
        array = as_plain_array(values, "ids")
        if array.dtype.kind not in "iu" and array.size:
            raise TypeError(f"ids must be integers; got dtype {array.dtype}")
        if array.ndim != 1:
            one = "; calls without _many take one" if array.ndim == 0 else ""
            raise ValueError(f"ids must have shape (k,); got shape {array.shape}{one}")
        ids = np.ascontiguousarray(array, dtype=np.int64)
        named = np.zeros(self.end if len(ids) > FEW_IDS else 0, np.bool_)
        row = int(first_bad_id(ids, self.alive, self.end, named))
        if row >= 0:
            bad = int(array[row])
            if 0 <= bad < self.end and self.alive[bad]:
                raise ValueError(f"ids[{row}] = {bad} is named twice; each {self.what} can be named once")
            raise KeyError(f"no {self.what} has the id {bad} (ids[{row}])")
        return ids.astype(np.int32)

    def next_ids(self, count: int) -> Places:
        """The lowest free ids, where `add_many` puts so many boxes."""
        reused = min(count, self.end - self.live)
        fresh = count - reused
        if self.end + fresh > len(self.alive):
            self._grow(fresh)
        ids = np.empty(count, np.int32)
        ids[reused:] = np.arange(self.end, self.end + fresh)
        find_free(self.alive, self._lowest, ids[:reused])
        return Places(ids, fresh)

    def _grow(self, more: int) -> None:
        if self.end + more > MOST_IDS:
            raise ValueError(f"an index holds at most {MOST_IDS} rows: ids are 32 bits wide")
        self.reserve(max(self.end + more, 2 * len(self.alive), _FIRST_CAPACITY))


def as_kind(dim: Any, dtype: npt.DTypeLike | None) -> "tuple[int | None, np.dtype[Any] | None]":
    """The dimension and the dtype of an index, checked; None where its first rows decide."""
    if dim not in (None, 2, 3):
        raise ValueError(f"dim must be 2 or 3; got {dim!r}")
    kind = None if dtype is None else np.dtype(dtype)
    if kind is not None and kind not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64; got {kind}")
    return None if dim is None else int(dim), kind


class ById:
    """Things with ids, boxes and points alike: which ids there are, of what kind, and removing."""

    _store: BoxStore

    @property
    def dim(self) -> int:
        """2 or 3."""
        return self._store.dim

    @property
    def dtype(self) -> "np.dtype[Any]":
        """What they are kept in."""
        return self._store.boxes.dtype

    def copy(self) -> Self:
        """An independent index of the same contents and ids, with the same baseline of `Index.changes`."""
        return deepcopy(self)

    __copy__ = copy

    def remove(self, id: int) -> None:  # noqa: A002 - the word that users know
        """Remove one; its id is free for the next insert.

        Parameters
        ----------
        id : int

        Raises
        ------
        KeyError
            The id is not in use.
        """
        self._leave(np.array([self._store.known_id(id)], np.int32))

    def remove_many(self, ids: Any) -> None:
        """Remove several.

        Parameters
        ----------
        ids : array_like of int, shape (k,)

        Raises
        ------
        KeyError
            An id is not in use; nothing has changed.
        ValueError
            An id is named twice; nothing has changed.
        """
        known = np.sort(self._store.known_ids(settled(ids, "ids")))
        if len(known):
            self._leave(known)

    def _leave(self, ids: IdArray) -> None:
        """Remove what has these ids, ascending."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self._store.live

    def __contains__(self, id: object) -> bool:  # noqa: A002
        return self._store.has(id)

    @property
    def ids(self) -> IdArray:
        """The ids in use, ascending: ``(len,)`` int32, read-only."""
        return read_only(self._store.ids())

    @property
    def envs(self) -> npt.NDArray[np.int64]:
        """The environment of each, in id order."""
        return self._store.live_envs()


class MadeLater:
    """An attribute that an index of new boxes or points does not have: it is made whole when it is needed."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, index: Any, owner: type) -> Any:
        if index is not None:
            index._make_whole()
            if self._name in index.__dict__:
                return index.__dict__[self._name]
        raise AttributeError(f"{owner.__name__!r} object has no attribute {self._name!r}")


class Touched:
    """Which ids were touched since a structure was last brought up to date.

    They are collected at next to no cost for each call and read once.
    """

    def __init__(self) -> None:
        self._parts: list[IdArray] = []
        self._total = 0

    def add(self, ids: IdArray, live: int) -> None:
        """Add ids; ``live`` is how many are in use, which bounds what is kept."""
        self._parts.append(ids.copy())  # the user may write to the array later
        self._total += len(ids)
        if self._total > 2 * live + 1000:
            self._parts = [self.ids()]
            self._total = len(self._parts[0])

    def ids(self) -> IdArray:
        """The ids, ascending, each once."""
        if self._total <= FIRST_ROWS:
            return distinct(np.concatenate([np.empty(0, np.int32), *self._parts]))
        # Many ids are marked instead of sorted: for ten million this takes a tenth of the time.
        named = np.zeros(1 + max(int(part.max(initial=0)) for part in self._parts), np.bool_)
        for part in self._parts:
            named[part] = True
        return np.flatnonzero(named).astype(np.int32)

    def clear(self) -> None:
        """Start again."""
        self._parts, self._total = [], 0

    def __len__(self) -> int:
        """How many were added; an id that was added twice may count twice."""
        return self._total


def _run_of(ids: IdArray) -> Any:
    """Ids, each once, to be written to; a slice if they are contiguous, which takes a fifth of the time."""
    if len(ids) < FIRST_ROWS:
        return ids
    first, last = int(ids.min()), int(ids.max())
    return slice(first, last + 1) if last - first == len(ids) - 1 else ids


def expect(holds: bool, what: str) -> None:
    """Raise ``AssertionError`` unless the invariant holds; also under ``python -O``."""
    if not holds:
        raise AssertionError(f"broken invariant: {what}")
