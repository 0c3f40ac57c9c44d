"""What all indexes are: boxes by id, pairs, changes, queries, files."""

import threading
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import numpy.typing as npt

from broadphase.boxes import PairArray
from broadphase.indexes import arguments, joining
from broadphase.indexes.arguments import Reader
from broadphase.indexes.copying import copy_of
from broadphase.indexes.editing import Editing
from broadphase.indexes.incremental import find_changes
from broadphase.indexes.journal import History, Journal
from broadphase.indexes.queries import Queries
from broadphase.indexes.registry import class_named, on_torus
from broadphase.indexes.results import PairChanges, Stats
from broadphase.indexes.storage import BoxStore
from broadphase.methods.task import pair_limit
from broadphase.space import as_period

if TYPE_CHECKING:
    from broadphase.indexes.files import Arrays  # here, as below: it needs json, which no index needs
    from broadphase.sweeping import SweptPairs


class Index(Editing, Queries):
    """A broad phase that lives between frames: fill it, change it, ask it.

    Parameters
    ----------
    dim : {2, 3}
        Boxes are rows of ``2 * dim`` numbers ``[min..., max...]``.
    dtype : numpy.float64 or numpy.float32
        What the boxes are kept in.  Boxes of another type are rounded to it when they come in.
    touching : bool
        Whether boxes that share only an edge or a corner overlap.
    sort : bool
        Whether pairs and ids come sorted; without, their order is open.
    threads : int, optional
        The most threads that one call may use; all cores by default.
    period : sequence of float or None, float, optional
        The length of the world on each axis, after which it begins again; None or inf for an axis that goes
        on.  Boxes are kept as they lie in the world, and overlap as `broadphase.pairs` says.

    Notes
    -----
    The rules of all queries:

    - Boxes, points and origins are rounded to the dtype of the index, as its own boxes are; distances,
      radii and directions are float64.
    - With ``touching`` boxes are closed sets.  Without, what only meets an edge or a corner does not count:
      a point on an edge, a ray along it, a circle that just reaches it.
    - ``category=`` leaves the boxes whose mask has one of its bits; ``mask=`` leaves those whose category
      has.  Without them every box is asked, static or not.
    - One more leading axis makes a batch; what is given once counts for all of it.
    - ``env=`` is the environment that a question is about: it is answered as if there were no others.
      Without, it is environment 0, in which all boxes are that were inserted without one.
    - With a period, distances are those to the nearest image of a box.  A ray goes around until its greatest
      distance, which must be finite where it goes along an axis with a period; a box that it hits several
      times counts where it is hit first.

    Many threads may read at once (pairs, joins, queries); ``stats`` is then about whichever call ended last.
    A call that changes the index, and ``changes``, must have it to itself: keeping the others out is the
    caller's task.
    """

    def __new__(cls, *places: Any, period: Any = None, dim: int = 2, **options: Any) -> Self:
        """An index of this class; with a period, of the class that is made for that."""
        # An index on a torus is of a class of its own, so that no other one asks itself whether it is.
        if period is None or dim not in (2, 3) or as_period(period, dim) is None:
            return super().__new__(cls)
        made: Self = object.__new__(on_torus(cls))
        return made

    def __init__(
        self,
        *,
        dim: int = 2,
        dtype: npt.DTypeLike = np.float64,
        touching: bool = True,
        sort: bool = True,
        threads: int | None = None,
        period: Any = None,  # not None, but of axes that all go on: see `__new__`
    ) -> None:
        if dim not in (2, 3):
            raise ValueError(f"dim must be 2 or 3; got {dim!r}")
        kept_in = np.dtype(dtype)
        if kept_in not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise ValueError(f"dtype must be float32 or float64; got {kept_in}")
        self._store = BoxStore(int(dim), kept_in)
        self._reader = Reader(int(dim), kept_in)
        self._touching = arguments.flag(touching, "touching")
        self._sort = arguments.flag(sort, "sort")
        self._threads = arguments.thread_limit(threads)
        self._stale = False
        self._lock = threading.Lock()
        self._history = History(np.empty((0, 2), np.int32))
        self._journal = Journal()
        self._last = ("", 0, 0)
        self._reset()

    @property
    def dim(self) -> int:
        """2 or 3."""
        return self._reader.dim

    @property
    def dtype(self) -> "np.dtype[Any]":
        """What the boxes are kept in."""
        return self._reader.dtype

    @property
    def touching(self) -> bool:
        """Whether boxes that share only an edge or a corner overlap."""
        return self._touching

    @property
    def sort(self) -> bool:
        """Whether pairs and ids come sorted."""
        return self._sort

    @property
    def period(self) -> tuple[float | None, ...] | None:
        """The length of the world on each axis; ``None`` where it does not begin again."""
        return None

    @property
    def envs(self) -> npt.NDArray[np.int64]:
        """The environment of each box, in id order."""
        return np.zeros(self._store.live, np.int64)

    @property
    def stats(self) -> Stats:
        """What the last call did."""
        call, tests, found = self._last
        return Stats(self.name, call, self._store.live, tests, found, self._cell_count(), self._swap_count())

    def pairs(self, *, max_pairs: int | None = None) -> PairArray:
        """Every pair of ids whose boxes overlap and may be paired.

        Parameters
        ----------
        max_pairs : int, optional
            The most pairs to take memory for.  (`SweepAndPrune` keeps all pairs in any case.)

        Returns
        -------
        numpy.ndarray
            ``(m, 2)`` int32, rows ``i < j``, sorted unless the index was made with ``sort=False``.

        Raises
        ------
        PairLimitExceeded
            There are more than ``max_pairs``; memory was never taken for much more than about that many.
        TypeError, ValueError
            ``max_pairs`` is no int, or negative.

        Examples
        --------
        >>> import broadphase as bp
        >>> index = bp.BruteForce()
        >>> index.insert_many([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
        array([0, 1, 2], dtype=int32)
        >>> index.pairs()
        array([[0, 1]], dtype=int32)
        """
        limit = pair_limit(max_pairs)
        self._ready()
        found, tests = self._pairs(sort=self._sort, limit=limit)
        self._last = ("pairs", tests, len(found))
        return found

    def changes(self) -> PairChanges:
        """Which pairs began, stayed and ended since the call before.

        A reused id is a new thing: the pairs of its old box have ended, even with the same partner.  The
        first call finds that everything began.

        Returns
        -------
        PairChanges
            ``began, stayed, ended``: ``(m, 2)`` int32 arrays, sorted.

        Examples
        --------
        >>> import broadphase as bp
        >>> index = bp.BruteForce()
        >>> index.insert_many([[0, 0, 2, 2], [1, 1, 3, 3]])
        array([0, 1], dtype=int32)
        >>> index.changes().began
        array([[0, 1]], dtype=int32)
        >>> index.move(1, [7, 7, 8, 8])
        >>> began, stayed, ended = index.changes()
        >>> ended
        array([[0, 1]], dtype=int32)
        """
        self._ready()
        found, tests = self._find_changes()
        self._last = ("changes", tests, len(found.began) + len(found.ended))
        return found

    def _find_changes(self) -> tuple[PairChanges, int]:
        return find_changes(self)

    def join(self, other: "Index") -> PairArray:
        """Every box of this index with every box of another that it overlaps.

        The rules of both sides count: static and static are never paired, and each one's category must meet
        the other's mask.  Whether touching is enough is this index's choice.

        Parameters
        ----------
        other : Index
            Of the same dimension; any class, any dtype, also this index itself.

        Returns
        -------
        numpy.ndarray
            ``(m, 2)`` int32 rows ``[id here, id there]``.

        Raises
        ------
        TypeError
            ``other`` is no index; for an array of boxes there is ``query_box``.
        ValueError
            The dimensions differ.
        """
        if not isinstance(other, Index):
            raise TypeError(f"other must be an index; got {type(other).__name__}; query_box() takes arrays")
        if other.dim != self.dim:
            raise ValueError(f"this index is {self.dim}-D and the other {other.dim}-D")
        if other.period != self.period:
            raise ValueError(f"this index has period={self.period} and the other period={other.period}")
        rows, tests = joining.join(self, other, self._sort)
        self._last = ("join", tests, len(rows))
        return rows

    def swept_pairs(self, boxes: Any, *, max_pairs: int | None = None) -> "SweptPairs":
        """What meets on the way to the next frame: every live box goes straight to its new place.

        Ask before ``update(boxes)``; nothing is changed.

        Parameters
        ----------
        boxes : array_like, shape (len(index), 2 * dim)
            Where the boxes go, in id order, as `update` takes them.  They may grow or shrink on their way.
        max_pairs : int, optional
            Raise rather than return more pairs than this.

        Returns
        -------
        SweptPairs
            As of `broadphase.swept_pairs`, with ids.

        Raises
        ------
        TypeError, ValueError
            As of `update`; also where an edge would come from infinity or go there, and in an index with a
            period: which way round a box goes, its places do not say.

        Examples
        --------
        >>> import broadphase as bp
        >>> index = bp.BruteForce()
        >>> index.insert_many([[0, 0, 1, 1], [5, 0, 6, 1]])
        array([0, 1], dtype=int32)
        >>> index.swept_pairs([[16, 0, 17, 1], [5, 0, 6, 1]])
        SweptPairs(pairs=array([[0, 1]], dtype=int32), times=array([0.25]))
        """
        from broadphase.in_space import Space  # here: few ask, and all would wait for it
        from broadphase.sweeping import on_their_ways

        if self.period is not None:
            raise ValueError(
                "in an index with a period two places of a box do not say which way round it goes; "
                "broadphase.swept_pairs() takes motions"
            )
        goals, store = self._reader.boxes(boxes), self._store
        if len(goals) != store.live:
            raise ValueError(
                f"boxes has {len(goals)} rows, but the index holds {store.live} boxes; "
                "swept_pairs() needs to know where each of them goes, in id order"
            )
        rules, starts = store.live_filter(), store.live_boxes()
        space = Space(None, self.envs) if self.many else None
        found = on_their_ways(starts, goals, "boxes", self._touching, rules, space, self._threads, max_pairs)
        self._last = ("swept_pairs", 0, len(found.pairs))
        return found if store.live == store.end else found._replace(pairs=store.ids()[found.pairs])

    def copy(self) -> Self:
        """An index of its own with the same boxes, ids and baseline of `changes`; both may go on freely."""
        return cast(Self, copy_of(self, {}))

    __deepcopy__ = copy_of

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index to one ``.npz`` file, without pickle; an existing file is replaced.

        The baseline of `changes` is kept too: the loaded index goes on where this one is.

        Parameters
        ----------
        path : path-like
            Taken as it is; no suffix is added.
        """
        from broadphase.indexes.files import save

        about = {
            "index": self.name,
            "dim": self.dim,
            "touching": self._touching,
            "sort": self._sort,
            "threads": self._threads,
            "period": self.period,
            "options": self._options(),
        }
        envs = {"envs": self.envs} if self.many else {}
        save(path, about, self._store, self._baseline(), envs)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read an index that `save` wrote.

        Called on ``Index``, it reads any; called on a class, the file must hold that class.

        Raises
        ------
        ValueError
            The file is truncated or damaged, was not written by `save`, is of a version that this
            one cannot read, or holds another class.
        OSError
            The file cannot be opened.
        """
        from broadphase.indexes.files import load

        return load(path, cls._made_of)

    @classmethod
    def _made_of(cls, about: dict[str, Any], arrays: "Arrays") -> Self:
        """An index of what `save` wrote; every array is checked before it is filled with them."""
        from broadphase.indexes.files import restore

        found = class_named(about["index"])
        if not issubclass(found, cls._root()):
            raise ValueError(f"it holds a {found.__name__}, not a {cls.__name__}")
        common: dict[str, Any] = {
            name: about.get(name) for name in ("dim", "touching", "sort", "threads", "period")
        }
        index = cast(Self, found(dtype=arrays["boxes"].dtype, **common, **about["options"]))
        seen = restore(index._store, arrays)
        index._reset()
        if "envs" in arrays:
            index._take_envs(index._store.ids(), arrays["envs"])
        index._set_baseline(seen)
        return index

    @classmethod
    def _root(cls) -> type["Index"]:
        """The class that users know, of one that has been made for a period or for many worlds."""
        return cls

    def validate(self) -> None:
        """Check the inner invariants, for tests.

        Raises
        ------
        AssertionError
            One is broken; the message says which.
        """
        self._store.check()
        self._journal.check(self._store)
        self._ready()
        self._check()

    def __repr__(self) -> str:
        options = self._options() if self.period is None else {**self._options(), "period": self.period}
        own = "".join(f", {key}={value!r}" for key, value in options.items())
        return (
            f"<{type(self).__name__}: {len(self)} boxes, dim={self.dim}, dtype={self.dtype}, "
            f"touching={self._touching}, sort={self._sort}{own}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        # What hides a method (a `broadphase.Recorder` does that) is not part of what the index is.
        return {
            key: value
            for key, value in self.__dict__.items()
            if key not in self._UNSAVED and not callable(getattr(type(self), key, None))
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
