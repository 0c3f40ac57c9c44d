"""The base class of all indexes: boxes by id, a structure and a space; pairs, changes, queries, files."""

import math
from copy import copy
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack, overload

import numpy as np
import numpy.typing as npt

from broadphase.errors import instead, with_hints
from broadphase.indexes import arguments
from broadphase.indexes.arguments import NO_RULE, NO_RULES, BoxRules, Reader, Rows
from broadphase.indexes.changes import History, Journal
from broadphase.indexes.protocol import NO_IDS, Shared, Structure
from broadphase.indexes.results import (
    HowToCast,
    Nearest,
    PairChanges,
    RayHit,
    RayHits,
    Stats,
    hits_as_asked,
    hits_asked_for,
    in_axes,
)
from broadphase.indexes.space import NO_HIT, NewBoxes, PlainSpace, join
from broadphase.indexes.storage import EVERY_BIT, BoxStore, ById, IdArray, MadeLater, as_kind, read_only
from broadphase.inputs import Lengths, Numbers, OneBox, Place, RowsLike
from broadphase.inputs.arrays import BOXES, rounded, settled
from broadphase.inputs.boxes import BoxArray, check_sound, copy_sound
from broadphase.inputs.environments import BOX_WIDTHS, as_env, in_rows, rows_of_worlds
from broadphase.inputs.numeric import count, thread_count
from broadphase.inputs.periods import as_period
from broadphase.inputs.search import bit_sets, static_flags
from broadphase.kernels.boxes.overlap import SHARED
from broadphase.methods.task import pair_limit
from broadphase.runtime.memory import PairArray
from broadphase.runtime.thresholds import MOST_SCANNED

if TYPE_CHECKING:
    from broadphase.api.sweeping import SweptPairs
    from broadphase.indexes.files import Arrays  # here, as below: it needs json, which no index needs


_OTHER_NAMES = {
    name: f"it is {method} here"
    for method, names in {
        "query_box": ["query", "search", "intersection", "overlaps"],
        "query_radius": ["query_circle", "query_ball_point"],
        "pairs": ["query_pairs"],
        "insert": ["add"],
        "remove": ["delete"],
        "nearest": ["neighbors"],
    }.items()
    for name in names
}
"""What methods are called in other libraries."""


@instead(_OTHER_NAMES)
class Index(ById):
    """A broad phase that persists between frames: insert boxes, move them, and query it.

    Parameters
    ----------
    boxes : array_like, shape (n, 2 * dim), optional
        The first boxes, as of `insert_many`: their ids are 0 to n - 1.
    dim : {2, 3}, optional
        Boxes are rows of ``2 * dim`` numbers ``[min..., max...]``.  By default that of the first boxes, and 2
        without any.
    dtype : numpy.float64 or numpy.float32, optional
        What the boxes are kept in.  Boxes of another type are rounded to it when they come in.  By default
        float32 if the first boxes are, else float64.
    touching : bool
        Whether boxes that share only an edge or a corner overlap.
    sort : bool
        Whether pairs and ids are sorted; if not, their order is undefined.
    threads : int, optional
        The most threads that one call may use; all cores by default.
    period : sequence of float or None, float, optional
        The world is periodic with this length on each axis; None or inf for an axis without a period.  Boxes
        are wrapped into the world, and overlap as in `broadphase.pairs`.

    Notes
    -----
    The rules of all queries:

    - Boxes, points and origins are rounded to the dtype of the index, as its own boxes are; distances,
      radii and directions are float64.
    - With ``touching`` boxes are closed sets.  Without, touching an edge or a corner does not count: a point
      on an edge, a ray along it, a circle that just reaches it.
    - ``category=`` selects the boxes whose mask has one of its bits; ``mask=`` those whose category has one.
      Without them all boxes are searched, static or not.
    - One more leading axis makes a batch; a single argument is used for all queries.  A batch may have
      several axes, such as ``(robots, rays, dim)``: they broadcast as NumPy's do, results of `raycast` and
      `nearest` have them too, and other results number the queries as those of ``batch.reshape(-1, dim)``.
      Where the index has environments, the first of several axes is the environment 0, 1, ..., and ``env=``
      is left out.
    - ``env=`` is the environment to search: other environments do not count.  By default it is environment 0,
      which holds all boxes that were inserted without one.  -1 is in every environment: a box of it is found
      from all of them, and a query in it finds all boxes.
    - With a period, distances are those to the nearest image of a box.  A ray wraps around until its maximum
      distance, which must be finite if the ray moves along an axis with a period; a box that it hits several
      times counts once, where it is hit first.

    Many threads may read at once (pairs, joins, queries); ``stats`` is then about whichever call ended last.
    A call that changes the index, and ``changes``, must have it to itself: keeping the others out is the
    caller's task.
    """

    name: ClassVar[str]
    """What `broadphase.make_index` calls it."""
    _classes: ClassVar[dict[str, type["Index"]]] = {}
    """All classes by their names."""
    _asked: PlainSpace | NewBoxes
    """What answers a query as the caller wrote it."""

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            Index._classes[cls.name] = cls

    @with_hints(
        cellsize="UniformGrid and SpatialHash take cell_size=",
        method='the method is a name: make_index(boxes, "uniform_grid")',
    )
    def __init__(
        self,
        boxes: RowsLike | None = None,
        *,
        dim: int | None = None,
        dtype: npt.DTypeLike | None = None,
        touching: bool = True,
        sort: bool = True,
        threads: int | None = None,
        period: Lengths | None = None,
    ) -> None:
        first = None if boxes is None else arguments.first_boxes(boxes)
        dim, kind = as_kind(dim, dtype)
        if dim is None:
            dim = 2 if first is None else first.shape[-1] // 2 or 2  # an empty list has no width
        self._touching = arguments.flag(touching, "touching")
        self._sort = arguments.flag(sort, "sort")
        self._threads = None if threads is None else thread_count(threads)
        if kind is None:
            kind = np.dtype(np.float64) if first is None else first.dtype
        lengths = None if period is None else as_period(period, dim)
        if first is None:
            self._complete(dim, kind, lengths)
        elif lengths is None and first.shape[1:] == (2 * dim,) and len(first) <= MOST_SCANNED:
            rows = rounded(first, kind)
            check_sound(rows, "boxes")
            self._asked = NewBoxes(rows, self._touching)
        else:
            self._complete(dim, kind, lengths)
            self._add(first, False, 1, EVERY_BIT, None)

    if not TYPE_CHECKING:  # a `__getattr__` would slow all other attributes
        _store, _history, _journal, _reader, _structure, _space = (MadeLater() for _ in range(6))

    def _make_whole(self) -> None:
        """Give an index of new boxes what all others have."""
        new = self._asked
        if isinstance(new, NewBoxes):
            made = object.__new__(type(self))
            made.__dict__.update(self.__dict__)
            made._complete(new.rows.shape[1] // 2, new.rows.dtype, None)
            made._add(new.rows, False, 1, EVERY_BIT, None)
            made._space.last = new.last
            self.__dict__.update(made.__dict__)  # all or nothing, if this is interrupted

    def _complete(self, dim: int, dtype: "np.dtype[Any]", lengths: Any) -> None:
        """Make what keeps boxes and follows them."""
        self._store = BoxStore(dim, dtype)
        self._history = History(np.empty((0, 2), np.int32))
        self._follow_boxes(lengths)

    def _follow_boxes(self, lengths: Any) -> None:
        """Make what follows the boxes that are kept, and reads others."""
        dim, dtype = self.dim, self.dtype
        self._journal = Journal()
        self._reader = Reader(dim, dtype)
        structure = self._make_structure(Shared(self._store, self._touching, self._sort, self._threads))
        if lengths is None:
            self._space: PlainSpace = PlainSpace(structure)
        else:
            from broadphase.indexes.periodic import PeriodicReader, PeriodicSpace

            self._reader = PeriodicReader(dim, dtype, lengths, self._touching)
            self._space = PeriodicSpace(structure, lengths)
        self._structure: Any = structure
        if self._store.envs is not None:
            from broadphase.indexes.environments import Worlds  # here: most indexes have none

            self._space.use(Worlds(structure))
        self._asked = self._space

    def _make_structure(self, shared: Shared) -> Structure:
        """The structure of such an index; ``shared`` is what `Structure` takes."""
        raise NotImplementedError("Index is what all indexes are; make one of them, or use make_index()")

    def _options(self) -> dict[str, Any]:
        """The constructor's arguments beyond the common ones, as JSON can hold them."""
        return {}

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
        """The length of the world on each axis; ``None`` for an axis without a period."""
        return self._space.period

    @property
    def stats(self) -> Stats:
        """What the last call did."""
        call, tests, found = self._space.last
        cells, swaps = self._space.structure.counts()
        return Stats(self.name, call, self._store.live, tests, found, cells, swaps)

    # ---- filling and changing

    def insert(
        self, box: OneBox, *, static: bool = False, category: int = 1, mask: int = EVERY_BIT, env: int = 0
    ) -> int:
        """Add a box.

        Parameters
        ----------
        box : array_like, shape (2 * dim,)
            ``[min..., max...]``.
        static : bool
            Whether the box never moves: two static boxes are never paired.
        category, mask : int
            32-bit sets: two boxes are paired when each one's category meets the other's mask.
        env : int
            The environment: boxes of different ones never meet, but those of -1 are in all of them.

        Returns
        -------
        int
            Its id: the lowest that is free.

        Raises
        ------
        TypeError, ValueError
            The box is not a sound box, or a set does not fit into 32 bits; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> index = bp.BruteForce()
        >>> index.insert([0, 0, 2, 2]), index.insert([1, 1, 3, 3])
        (0, 1)
        """
        world = None if type(env) is int and env == 0 else as_env(settled(env, "env"), 1)
        row = self._reader.box(box)
        sets = arguments.bit_set(category, "category"), arguments.bit_set(mask, "mask")
        flag = arguments.flag(static, "static")
        if world is not None:
            self._use_worlds()
        new = self._store.next_id()
        try:
            self._store.add(row, flag, *sets, 0 if world is None else world.item(0))
            self._enter(_just(new))
        except BaseException:  # memory ran out, or the call was interrupted
            self._take_out(_just(new))
            raise
        return new

    def insert_many(
        self,
        boxes: RowsLike,
        *,
        static: Any = False,
        category: Any = 1,
        mask: Any = EVERY_BIT,
        env: Any = None,
    ) -> IdArray:
        """Add boxes, in their order, at the lowest free ids.

        Parameters
        ----------
        boxes : array_like, shape (n, 2 * dim)
            Also a table, read by the names of its columns, or shapes: see `broadphase.pairs`.  Boxes of shape
            ``(worlds, n, 2 * dim)`` are those of the environments 0, 1, ...: ids and other arguments are in
            the order of ``boxes.reshape(-1, 2 * dim)``.
        static, category, mask, env
            As in `insert`, one for all or an array with one for each, in the order of the rows.

        Returns
        -------
        numpy.ndarray
            ``(n,)`` int32: the new ids, ascending.

        Raises
        ------
        TypeError, ValueError
            As in `insert`, naming the row; nothing has changed.
        """
        rows, env, static = settled(boxes, "boxes", BOXES), settled(env, "env"), settled(static, "static")
        category, mask = settled(category, "category"), settled(mask, "mask")
        return self._add(rows, static, category, mask, env)

    def _add(self, boxes: BoxArray, static: Any, category: Any, mask: Any, env: Any) -> IdArray:
        """`insert_many` of settled arguments."""
        if boxes.ndim == 3:
            static, category, mask = (in_rows(values, boxes) for values in (static, category, mask))
        boxes, env = rows_of_worlds(boxes, env, "boxes", BOX_WIDTHS)
        rows = self._reader.boxes(boxes)
        n = len(rows)
        envs = as_env(env, n)
        rules = static_flags(static, n), bit_sets(category, n, "category"), bit_sets(mask, n, "mask")
        if envs is not None and envs.any():
            self._use_worlds()
        places = self._store.next_ids(n)
        try:
            self._store.add_many(rows, *rules, envs, places)
            if n:
                self._enter(places.ids)
        except BaseException:  # as in `insert`
            self._take_out(places.ids)
            raise
        return places.ids

    def clear(self) -> None:
        """Remove all boxes; ids begin at 0 again.  Reserved memory stays."""
        self._unsettle()  # first, should it be interrupted
        self._store.empty()
        self._space.structure.ready()

    def move(self, id: int, box: OneBox) -> None:  # noqa: A002 - the word that users know
        """Give a box a new place and size.

        Parameters
        ----------
        id : int
        box : array_like, shape (2 * dim,)

        Raises
        ------
        KeyError
            No box has this id.
        TypeError, ValueError
            The box is not a sound box; nothing has changed.
        """
        given = arguments.as_given(box)
        if given and not self._journal.open:
            try:
                if self._space.move_one(id, given):
                    return
            except BaseException:  # the row may be written, and the rest not
                self._unsettle()
                raise
        rows = np.array([self._reader.box(box)], self._store.boxes.dtype)
        mover = self._store.known_id(id)
        self._replace(_just(mover), rows)

    def move_many(self, ids: Numbers, boxes: RowsLike) -> None:
        """Give boxes new places and sizes.

        Parameters
        ----------
        ids : array_like of int, shape (k,)
            Each id once.
        boxes : array_like, shape (k, 2 * dim)

        Raises
        ------
        KeyError
            An id is not in use; nothing has changed.
        TypeError, ValueError
            An id is named twice, a box is not sound, or the lengths differ; nothing has changed.
        """
        ids, boxes = settled(ids, "ids"), settled(boxes, "boxes", BOXES)
        known = self._store.known_ids(ids)
        rows = self._reader.boxes(boxes)
        if len(known) != len(rows):
            raise ValueError(
                f"ids and boxes must have one length; got {len(known)} ids and {len(rows)} boxes"
            )
        self._replace(known, rows)

    def update(self, boxes: RowsLike) -> None:
        """Replace every live box, in id order: the frame's new positions in one call.

        Parameters
        ----------
        boxes : array_like, shape (len(index), 2 * dim) or (worlds, n, 2 * dim)

        Raises
        ------
        TypeError, ValueError
            A box is not sound, or there are more or fewer than live boxes; nothing has changed.
        """
        store = self._store
        in_one_pass = store.live == store.end and type(boxes) is np.ndarray and self.period is None
        if not in_one_pass:
            boxes = settled(boxes, "boxes", BOXES)
        rows = self._reader.rows(rows_of_worlds(boxes, None, "boxes", BOX_WIDTHS)[0])
        if in_one_pass and len(rows) == store.live:
            checked = store.next_boxes()
            copy_sound(rows, checked, "boxes", self._threads)
            rows = checked
        else:
            check_sound(rows, "boxes")
        if len(rows) != store.live:
            raise ValueError(
                f"boxes has {len(rows)} rows, but the index holds {store.live} boxes; "
                "update() replaces all of them in id order, move_many() some"
            )
        self._replace(store.ids(), rows)

    def reserve(self, n: int) -> None:
        """Reserve memory for ``n`` boxes in all, so that filling the index copies nothing."""
        capacity = count(n, "n", 0)
        self._store.reserve(capacity)
        self._space.structure.reserve(capacity)

    @property
    def boxes(self) -> BoxArray:
        """The boxes, row k that of ``ids[k]``: ``(len, 2 * dim)``, read-only; good until the next change."""
        return read_only(self._store.live_boxes())

    def box(self, id: int) -> BoxArray:  # noqa: A002 - the word that users know
        """The box of one id: ``(2 * dim,)``, read-only; good until the next change.

        Raises
        ------
        KeyError
            No box has this id.
        """
        return read_only(self._store.boxes[self._store.known_id(id)])

    # ---- changes: an unsettled structure is rebuilt from the stored boxes
    #
    # Only the stored boxes themselves are put back if a change fails: without that, an index whose structure
    # cannot hold the new boxes (a `MemoryError`) could not be read any more.

    def _enter(self, ids: IdArray) -> None:
        """Update everything that depends on boxes that were just stored."""
        if self._journal.open:
            self._journal.note(self._store, ids, fresh=True)
        self._space.enter(ids, True)

    def _take_out(self, ids: IdArray) -> None:
        """Undo an insertion that failed or was interrupted, whether the boxes are stored already or not."""
        self._unsettle()
        if (ids < self._store.end).all() and self._store.alive[ids].all():
            self._store.drop(ids)

    def _leave(self, ids: IdArray) -> None:
        try:
            if self._journal.open:
                self._journal.note(self._store, ids)
            self._space.leave(ids, None)
            self._store.drop(ids)
        except BaseException:
            self._unsettle()
            raise

    def _replace(self, ids: IdArray, rows: BoxArray) -> None:
        if len(ids):
            if self._journal.open:
                self._journal.note(self._store, ids)
            before = self._store.rows_before(ids, rows)
            follower = self._space
            try:
                follower.leave(ids, rows)
                self._store.write(ids, rows)
                follower.enter(ids, False)
            except BaseException:
                self._unsettle()
                self._store.take_back(ids, before)
                raise

    def _unsettle(self) -> None:
        """Discard everything but the boxes; the next read rebuilds it from them."""
        self._journal.close()
        self._space.unsettle()

    def _use_worlds(self) -> None:
        """From now on boxes are in environments."""
        if self._store.envs is None:
            from broadphase.indexes.environments import Worlds  # here: most indexes have none

            space, envs = copy(self._space), np.zeros(len(self._store.alive), np.int64)
            space.use(Worlds(self._structure))
            self._unsettle()
            # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
            self._store.envs = envs
            self._space = self._asked = space

    # ---- pairs

    def pairs(self, *, max_pairs: int | None = None) -> PairArray:
        """Every pair of ids whose boxes overlap and may be paired.

        Parameters
        ----------
        max_pairs : int, optional
            The most pairs to allocate memory for.  (`SweepAndPrune` keeps all pairs in any case.)

        Returns
        -------
        numpy.ndarray
            ``(m, 2)`` int32, rows ``i < j``, sorted unless the index was made with ``sort=False``.

        Raises
        ------
        PairLimitExceeded
            There are more than ``max_pairs``; memory was never allocated for much more than that.
        TypeError, ValueError
            ``max_pairs`` is not an int, or negative.

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
        found, tests = self._space.all_pairs(sort=self._sort, limit=limit)
        self._space.last = ("pairs", tests, len(found))
        return found

    def changes(self) -> PairChanges:
        """Which pairs began, stayed and ended since the call before.

        A reused id is a new box: the pairs of the old box have ended, even with the same partner.  In the
        first call all pairs begin.

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
        found, tests = self._space.find_changes(self._history, self._journal)
        self._space.last = ("changes", tests, len(found.began) + len(found.ended))
        return found

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
            ``other`` is not an index; for an array of boxes there is ``query_box``.
        ValueError
            The dimensions differ.
        """
        if not isinstance(other, Index):
            raise TypeError(f"other must be an index; got {type(other).__name__}; query_box() takes arrays")
        if other.dim != self.dim:
            raise ValueError(f"this index is {self.dim}-D and the other {other.dim}-D")
        if other.period != self.period:
            raise ValueError(f"this index has period={self.period} and the other period={other.period}")
        rows, tests = join(self._space, other._space, self._sort)
        self._space.last = ("join", tests, len(rows))
        return rows

    def swept_pairs(self, boxes: Any, *, max_pairs: int | None = None) -> "SweptPairs":
        """Pairs that meet during the move to the next frame: every live box moves straight to its new place.

        Call it before ``update(boxes)``; it changes nothing.

        Parameters
        ----------
        boxes : array_like, shape (len(index), 2 * dim)
            The new boxes in id order, as for `update`.  Boxes may grow or shrink while they move.
        max_pairs : int, optional
            Raise rather than return more pairs than this.

        Returns
        -------
        SweptPairs
            As of `broadphase.swept_pairs`, with ids.

        Raises
        ------
        TypeError, ValueError
            As of `update`; also if an edge would move from or to infinity, and in an index with a period: the
            direction in which a box moves around the world is not known.

        Examples
        --------
        >>> import broadphase as bp
        >>> index = bp.BruteForce()
        >>> index.insert_many([[0, 0, 1, 1], [5, 0, 6, 1]])
        array([0, 1], dtype=int32)
        >>> index.swept_pairs([[16, 0, 17, 1], [5, 0, 6, 1]])
        SweptPairs(pairs=array([[0, 1]], dtype=int32), times=array([0.25]))
        """
        from broadphase.api.sweeping import Moving, check_ends, meeting_pairs
        from broadphase.inputs.search import Space  # here: few need it, and importing takes time

        if self.period is not None:
            raise ValueError(
                "in an index with a period two places of a box do not say which way round it goes; "
                "broadphase.swept_pairs(boxes, motion, period=...) takes the ways"
            )
        limit = pair_limit(max_pairs)
        goals, store = self._reader.boxes(settled(boxes, "boxes", BOXES)), self._store
        if len(goals) != store.live:
            raise ValueError(
                f"boxes has {len(goals)} rows, but the index holds {store.live} boxes; "
                "swept_pairs() needs to know where each of them goes, in id order"
            )
        rules, starts = store.live_filter(), store.live_boxes()
        space, parts = Space(None, None if store.envs is None else self.envs), thread_count(self._threads)
        check_ends(starts, goals, "boxes")
        sides = (Moving(starts.astype(np.float64), goals.astype(np.float64), np.empty(0)),)
        found = meeting_pairs(sides, self._touching, rules, space, parts, limit, are_goals=True)
        self._space.last = ("swept_pairs", 0, len(found.pairs))
        return found if store.live == store.end else found._replace(pairs=store.ids()[found.pairs])

    # ---- queries; the class docstring states their rules

    def query_box(
        self, box: OneBox | RowsLike, *, category: int | None = None, mask: int | None = None, env: Any = None
    ) -> IdArray:
        """Ids of the boxes that overlap ``box``.

        Parameters
        ----------
        box : array_like, shape (2 * dim,) or (..., 2 * dim)
            ``[min..., max...]``.
        category, mask : int, optional
            See `broadphase.Index`.
        env : int or array_like of int, shape (m,), optional
            The environment to search, 0 by default; see `broadphase.Index`.

        Returns
        -------
        numpy.ndarray
            int32: ``(n,)`` ids, ascending; of a batch ``(n, 2)`` rows ``[query, id]``, sorted.

        Raises
        ------
        TypeError, ValueError
            The box is not a sound box, or of another dimension.

        Examples
        --------
        >>> import broadphase as bp
        >>> index = bp.BruteForce()
        >>> index.insert_many([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
        array([0, 1, 2], dtype=int32)
        >>> index.query_box([2, 2, 5, 5])
        array([0, 1, 2], dtype=int32)
        >>> index.query_box([[0, 0, 1, 1], [5, 5, 9, 9]])
        array([[0, 0],
               [0, 1],
               [1, 2]], dtype=int32)
        """
        rules = NO_RULES if category is mask is None else self._rules(category, mask)
        if env is None:
            given = box if type(box) is tuple else tuple(box) if type(box) is list else self._as_written(box)
            found = self._asked.in_boxes("query_box", given, rules)
            if found is not None:
                return found
        (box,), env, _ = self._in_rows(
            env, (self._reader.settled(box, 2 * self.dim, "box", BOXES), "box", 2 * self.dim)
        )
        return self._in_box("query_box", self._reader.box_or_boxes(box), env, rules)

    def query_point(
        self,
        point: Place | RowsLike,
        *,
        category: int | None = None,
        mask: int | None = None,
        env: Any = None,
    ) -> IdArray:
        """Ids of the boxes that contain ``point``; without ``touching``, in their inside.

        Parameters
        ----------
        point : array_like, shape (dim,) or (..., dim)
        category, mask, env
            As of `query_box`.

        Returns
        -------
        numpy.ndarray
            As of `query_box`.

        Raises
        ------
        TypeError, ValueError
            A coordinate is NaN, or the dimension is another.
        """
        rules = NO_RULES if category is mask is None else self._rules(category, mask)
        if env is None:
            given = point + point if type(point) is tuple else self._as_written(point, points=True)
            found = self._asked.in_boxes("query_point", given, rules)
            if found is not None:
                return found
        (point,), env, _ = self._in_rows(
            env, (self._reader.settled(point, self.dim, "point"), "point", self.dim)
        )
        points = self._reader.point_or_points(point, "point")
        return self._in_box("query_point", np.concatenate((points, points), axis=-1), env, rules)

    def query_radius(
        self,
        center: Place | RowsLike,
        r: Any,
        *,
        category: int | None = None,
        mask: int | None = None,
        env: Any = None,
    ) -> IdArray:
        """Ids of the boxes at a distance of at most ``r``; without ``touching``, of less than ``r``.

        Parameters
        ----------
        center : array_like, shape (dim,) or (..., dim)
            Finite.
        r : float or array_like, shape (...)
            Not negative; infinity is legal.
        category, mask, env
            As of `query_box`.

        Returns
        -------
        numpy.ndarray
            As of `query_box`.

        Raises
        ------
        TypeError, ValueError
            The centre is not finite or of another dimension, or ``r`` is negative or NaN.
        """
        rules = NO_RULES if category is mask is None else self._rules(category, mask)
        if env is None and type(r) in (float, int):
            given = center if type(center) is tuple else arguments.as_given(center)
            found = self._asked.in_circle(given, r, rules) if given else None
            if found is not None:
                return found
            points = None if given else self._plain_points(center)
            if points is not None:
                return self._space.in_circles(points, arguments.distances(r, "r").repeat(len(points)), rules)
        reader = self._reader
        center, r = reader.settled(center, self.dim, "center"), arguments.settled_distance(r, "r")
        (center, r), env, _ = self._in_rows(env, (center, "center", self.dim), (r, "r", 0))
        points = reader.point_or_points(center, "center", finite=True)
        (centers, radii), single = arguments.lined_up(
            (points, "center", 1), (arguments.distances(r, "r"), "r", 0)
        )
        space, centers, single = self._placed(centers[0] if single else centers, env)
        radii = radii if len(radii) == len(centers) else np.resize(radii, len(centers))
        rows = space.in_circles(centers, radii, rules)
        self._space.last = space.last
        return np.ascontiguousarray(rows[:, 1]) if single else rows

    @overload  # a list of numbers is one ray
    def raycast(  # type: ignore[overload-overlap]
        self,
        origin: Place,
        direction: Place,
        max_distance: float = ...,
        *,
        env: int | None = ...,
        ignore: int | None = ...,
        **how: Unpack[HowToCast],
    ) -> RayHit | None: ...
    @overload
    def raycast(
        self,
        origin: Place | RowsLike,
        direction: Place | RowsLike,
        max_distance: Any = ...,
        *,
        env: Any = ...,
        ignore: Any = ...,
        **how: Unpack[HowToCast],
    ) -> RayHits: ...
    def raycast(
        self,
        origin: Any,
        direction: Any,
        max_distance: Any = math.inf,
        *,
        category: int | None = None,
        mask: int | None = None,
        env: Any = None,
        ignore: Any = None,
        normals: bool = True,
        dtype: npt.DTypeLike | None = None,
        out: Any = None,
    ) -> RayHit | RayHits | None:
        """The first box that a ray hits; of several at one distance, the lowest id.

        Parameters
        ----------
        origin : array_like, shape (dim,) or (..., dim)
            Finite.
        direction : array_like, shape (dim,) or (..., dim)
            Of any length but zero.
        max_distance : float or array_like, shape (...)
            In world units, not in lengths of ``direction``.
        category, mask, env
            As of `query_box`.
        ignore : int or array_like of int, shape (...), optional
            The id of a box that the ray passes through, such as the body that casts the ray; -1 for none.
        normals : bool
            False leaves the normals of a batch out.
        dtype : numpy.float64 or numpy.float32, optional
            Of the distances and normals of a batch, which are computed in float64 and then rounded.
        out : tuple of array, optional
            ``(ids, distances, normals)`` in the batch's shape, to which the results are written: int32 and
            float32 or float64; without ``normals`` the first two.  Tensors of torch in main memory are
            written in place, and returned.

        Returns
        -------
        RayHit or None
            ``id, distance, normal``.  A ray that starts inside a box hits it at distance 0, with a normal
            of zeros; one that starts on a face hits it at 0 too, where touching counts even on its way out.
            A box at an infinite distance is not hit.
        RayHits
            Of a batch: arrays with one entry a ray, in the batch's shape; where nothing is hit, the id is -1
            and the distance inf.

        Raises
        ------
        TypeError, ValueError
            A direction is zero, a coordinate is not finite, ``max_distance`` is negative or NaN, or the
            shapes do not fit.

        Examples
        --------
        >>> import broadphase as bp
        >>> index = bp.BruteForce()
        >>> index.insert([4, -1, 5, 1])
        0
        >>> index.raycast([0, 0], [2, 0])
        RayHit(id=0, distance=4.0, normal=(-1.0, 0.0))
        """
        rules = NO_RULES if category is mask is None else self._rules(category, mask)
        if env is ignore is out is None and type(max_distance) in (float, int):
            start = origin if type(origin) is tuple else arguments.as_given(origin)
            towards = direction if type(direction) is tuple else arguments.as_given(direction)
            if len(start) == len(towards) > 0:
                hit = self._asked.first_hit((*start, *towards, max_distance), rules)
                if hit is not None:
                    return None if hit is NO_HIT else hit
        if self._store.envs is not None and category is mask is None:
            from broadphase.indexes import environments

            ray, how = (origin, direction, max_distance), (normals, dtype, out)
            cast = environments.cast_groups(self._space, ray, env, ignore, how)
            if cast is not None:
                return cast
        rays, ignore, env, axes = self._rays_in_rows(env, origin, direction, max_distance, ignore)
        shape = axes or np.shape(env if rays.ndim == 1 else rays[:, 0])
        asked = hits_asked_for(shape, self.dim, arguments.flag(normals, "normals"), dtype, out)
        space, rays, single = self._placed(rays, env)
        ignored = NO_IDS if ignore is None else arguments.as_ignored(ignore, len(rays))
        found = space.first_hits(rays, ignored, rules, asked)
        self._space.last = space.last
        if single:
            hit = RayHit(found.ids.item(0), found.distances.item(0), tuple(found.normals[0].tolist()))
            return hit if hit.id >= 0 else None
        return hits_as_asked(found, asked, out, shape, axes)  # type: ignore[no-any-return]

    def query_ray(
        self,
        origin: Place | RowsLike,
        direction: Place | RowsLike,
        max_distance: Any = math.inf,
        *,
        category: int | None = None,
        mask: int | None = None,
        env: Any = None,
    ) -> RayHits:
        """Every box that a ray hits, by distance, then id.

        Parameters
        ----------
        origin, direction, max_distance, category, mask, env
            As of `raycast`.

        Returns
        -------
        RayHits
            Arrays ``ids, distances, normals``; of a batch also ``rows``, each ``[query, id]``.

        Raises
        ------
        TypeError, ValueError
            As of `raycast`.
        """
        rules = NO_RULES if category is mask is None else self._rules(category, mask)
        rays, _, env, _ = self._rays_in_rows(env, origin, direction, max_distance)
        space, rays, single = self._placed(rays, env)
        hits = space.all_hits(rays, rules)
        self._space.last = space.last
        return RayHits(np.ascontiguousarray(hits.ids), *hits[1:]) if single else hits

    def nearest(
        self,
        point: Place | RowsLike,
        k: int = 1,
        *,
        category: int | None = None,
        mask: int | None = None,
        env: Any = None,
    ) -> Nearest:
        """The ``k`` boxes nearest to a point, by distance, then id; inside a box the distance is 0.

        Parameters
        ----------
        point : array_like, shape (dim,) or (..., dim)
            Finite.
        k : int
            At least 1.
        category, mask, env
            As of `query_box`.

        Returns
        -------
        Nearest
            ``ids, distances`` of shape ``(k,)``, shorter where fewer boxes count; of a batch ``(..., k)``,
            filled up with -1 and inf.

        Raises
        ------
        TypeError, ValueError
            A coordinate is not finite, the dimension is another, or ``k`` is less than 1.
        """
        rules = NO_RULES if category is mask is None else self._rules(category, mask)
        if env is None and type(k) is int and k > 0:
            given = point if type(point) is tuple else arguments.as_given(point)
            nearest = self._asked.nearest_one(given, k, rules) if given else None
            if nearest is not None:
                return nearest
            points = None if given else self._plain_points(point)
            if points is not None:
                return self._space.nearest_many(points, k, rules)
        (point,), env, axes = self._in_rows(
            env, (self._reader.settled(point, self.dim, "point"), "point", self.dim)
        )
        most = count(k, "k")
        places = self._reader.point_or_points(point, "point", finite=True)
        space, points, single = self._placed(places, env)
        most = max(min(most, self._store.live), 1) if single else most
        found = space.nearest_many(points, most, rules)
        if single:
            held = found.ids[0] >= 0
            found = Nearest(found.ids[0, held], found.distances[0, held])
        self._space.last = space.last
        return in_axes(found, axes)

    # ---- files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index to one ``.npz`` file, without pickle; an existing file is replaced.

        The baseline of `changes` is saved too: the loaded index continues from the same state.

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
        save(path, about, self._store, self._history.pairs())

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

        found = cls._classes.get(about["index"])
        if found is None:
            raise ValueError(f"it holds an unknown index {about['index']!r}")
        if not issubclass(found, cls):
            raise ValueError(f"it holds a {found.__name__}, not a {cls.__name__}")
        common: dict[str, Any] = {
            name: about.get(name) for name in ("dim", "touching", "sort", "threads", "period")
        }
        index = found(dtype=arrays["boxes"].dtype, **common, **about["options"])
        if "envs" in arrays:
            index._use_worlds()
        index._unsettle()
        index._history = History(restore(index._store, arrays))
        return index

    def validate(self) -> None:
        """Check the inner invariants, for tests.

        Raises
        ------
        AssertionError
            One is broken; the message says which.
        """
        self._store.check()
        self._journal.check(self._store)
        self._space.check()

    def __repr__(self) -> str:
        options = self._options() if self.period is None else {**self._options(), "period": self.period}
        others = "".join(f", {key}={value!r}" for key, value in options.items())
        return (
            f"<{type(self).__name__}: {len(self)} boxes, dim={self.dim}, dtype={self.dtype}, "
            f"touching={self._touching}, sort={self._sort}{others}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        self._make_whole()
        # A `broadphase.Recorder` hides methods by attributes, which are not part of the index.
        kept = {
            key: value for key, value in self.__dict__.items() if not callable(getattr(type(self), key, None))
        }
        for name in ("_asked", "_journal", "_reader", "_space", "_structure"):
            del kept[name]  # made again of the boxes
        return kept | {"period": self.period}

    def __setstate__(self, state: dict[str, Any]) -> None:
        lengths = state.pop("period")
        self.__dict__.update(state)
        self._follow_boxes(as_period(lengths, self.dim))

    def _in_rows(self, env: Any, *given: arguments.Named) -> tuple[list[Any], Any, arguments.Axes | None]:
        """Arguments in rows, the environment of each, and the axes of the question if it has several."""
        env = None if env is None else arguments.settled_env(env)
        return arguments.in_rows(given, env, self._store.envs is not None)

    def _rays_in_rows(
        self, env: Any, origin: Any, direction: Any, max_distance: Any, ignore: Any = None
    ) -> tuple[Rows, Any, Any, arguments.Axes | None]:
        """The same of rays, side by side and checked, and of the boxes that they ignore."""
        reader, has_envs = self._reader, self._store.envs is not None
        usual = env is ignore is None and type(origin) is type(direction) is np.ndarray
        if usual and origin.ndim == direction.ndim == 2 and type(max_distance) in (float, int):
            return reader.rays(origin, direction, max_distance, has_envs), None, None, None  # 0.9 of the time
        first, second = reader.ray_names
        if not arguments.run_no_code(origin, direction, max_distance, ignore, env):  # else `rays` copies them
            origin, direction = reader.settled_ray(origin, direction)
        (starts, towards, far, ignore), env, axes = self._in_rows(
            env,
            (origin, first, self.dim),
            (direction, second, self.dim),
            (arguments.settled_distance(max_distance, "max_distance"), "max_distance", 0),
            (settled(ignore, "ignore"), "ignore", 0),
        )
        return reader.rays(starts, towards, far, has_envs), ignore, env, axes

    def _rules(self, category: Any, mask: Any) -> BoxRules:
        """The rules of a query, checked."""
        return (
            NO_RULE if category is None else arguments.bit_set(category, "category"),
            NO_RULE if mask is None else arguments.bit_set(mask, "mask"),
        )

    def _as_written(self, values: Any, points: bool = False) -> Any:
        """A box, or a point as one, as the caller wrote it; or sound rows; () where that has to be read."""
        given = arguments.as_given(values)
        if points:
            given += given
        if given or self._store.envs is not None:
            return given
        rows = self._reader.plain_boxes(values, points)
        return given if rows is None else rows

    def _plain_points(self, values: Any) -> Rows | None:
        """A batch of finite points that need no more than a copy; None where they have to be read."""
        return None if self._store.envs is not None else self._reader.plain_points(values)

    def _placed(self, query: Rows, env: Any) -> tuple[PlainSpace, Rows, bool]:
        """The space to search, the queries as it takes them, and whether there is a single one."""
        space, env = self._space, 0 if env is None else env
        if self._store.envs is None:
            if type(env) is int and env in (0, SHARED):
                return space, query[None] if query.ndim == 1 else query, query.ndim == 1
            from broadphase.indexes.environments import Worlds  # here: in most programs there is one world

            space = copy(space)  # for this query, as if it had environments
            space.use(Worlds(self._structure))
        worlds: Any = space.searched
        return space, *worlds.asked(query, env)

    def _in_box(self, call: str, query: Rows, env: Any, rules: BoxRules) -> IdArray:
        """The boxes that overlap one box, or each of many."""
        space, boxes, single = self._placed(query, env)
        found: Any = space.in_boxes(call, boxes, rules)
        self._space.last = space.last
        return np.ascontiguousarray(found[:, 1]) if single else found


def _just(id: int) -> IdArray:  # noqa: A002
    return np.array([id], np.int32)
