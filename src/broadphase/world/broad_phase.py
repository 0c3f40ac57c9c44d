"""The broad phase of a world: bodies that move and static ones, each in an index of its own.

The store keeps a list for each index of the rows that changed.  An index is only read through the methods of
`BroadPhase`, and each of them brings the index up to date first (`hand_over`).

A list only says which rows to look at.  What happens to an index follows from what the body is now and from
the id that it has there: a box is removed, moved or inserted.  Where this is interrupted, the index stays
unsettled and is filled from the bodies before it is read again.
"""

import math
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from broadphase.api.one_shot import stored_pairs
from broadphase.errors import PairLimitExceeded
from broadphase.geometry.shapes import Bounds
from broadphase.indexes import Choice, make_index
from broadphase.indexes.base import Index
from broadphase.indexes.protocol import Tree
from broadphase.indexes.storage import expect
from broadphase.inputs import search
from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.boxes.overlap import PairFilter
from broadphase.kernels.movement.motion import Frame, take_list, take_moved
from broadphase.kernels.movement.path import Buffers
from broadphase.kernels.movement.sweep import MOST_TURNS
from broadphase.kernels.pairs.near import boxes_in_layers, list_few, list_found, list_near
from broadphase.kernels.shapes.queries import FEW
from broadphase.kernels.tree.queries import search_rays
from broadphase.kernels.tree.shapes import put_in_box
from broadphase.methods.pair_order import as_pairs, sorted_rows
from broadphase.methods.task import NO_LIMIT
from broadphase.runtime.arrays import Floats, distinct
from broadphase.runtime.memory import PairArray
from broadphase.world.bodies import ALL, STATICS, BodyStore, Rows

# The index of bodies that move, and that of static ones.
_BOTH = (0, 1)
_LAYERS = ALL ^ STATICS, STATICS
"""Those of each."""

# So many bodies that have moved are looked at one by one by each query, before the indexes get to know.
_FEW_WAITING = 128

# With so many times as many others as movers, a query for each mover costs less than one search for all.
_SPARSE = 8

# So many comparisons of a mover and another body cost less than a search: 30 movers of 230 bodies take 2 us,
# searching takes 12.
_FEW_TESTS = 60_000

_NO_CLASSES, _NO_BITS = np.empty(0, np.uint8), np.empty(0, np.uint32)

_new: Any = tuple.__new__  # a named tuple in half the time

NOT_IN = -1
"""The id of a row that an index does not hold."""


class Near(NamedTuple):
    """The bodies near each of many movers: ``rows[first[m]:first[m + 1]]``, ascending."""

    first: npt.NDArray[np.int64]
    rows: Rows

    def at(self, kept: npt.NDArray[np.bool_]) -> "Near":
        """Some of them."""
        count = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))
        return Near(count[self.first], self.rows[kept])

    def without_pairs(self, movers: Rows, riders: dict[int, list[int]]) -> "Near":
        """The same without what rides on a mover: in its place is the mover itself, which meets nothing."""
        rows = self.rows.copy()
        for number in np.flatnonzero(np.isin(movers, [*riders])).tolist():
            neighbors = rows[self.first[number] : self.first[number + 1]]
            neighbors[np.isin(neighbors, riders[movers.item(number)])] = movers[number]
        return Near(self.first, rows)


class BroadPhase:
    """Two indexes that follow the rows of a `BodyStore`."""

    def __init__(self, broadphase: Choice | Index, store: BodyStore) -> None:
        self._store = store
        self._indexes = [_made(broadphase) for _ in _BOTH]
        self._ids: list[Rows] = [np.empty(0, np.int32)] * len(_BOTH)
        """By index and row: its id in that index, or `NOT_IN`."""
        self._rows: list[Rows] = [np.empty(0, np.int32)] * len(_BOTH)
        """By index and id: the row."""
        self._unsettled: set[int] = set()
        """The indexes that were being changed when a call was interrupted."""
        self.buffers, self.frame = new_buffers(FEW, FEW, store.space.repeats), new_frame(FEW)
        """The results of the last query, and scratch memory of the kernels that read them."""
        self.spare: list[tuple[Buffers, Frame]] = []
        """More of that, for paths during which a function is called that may move others."""
        self._trees: tuple[Any, ...] = (None,) * len(_BOTH)
        """By index: what kernels take that search both; see `_searched`."""
        self._outdated = {*_BOTH}
        """The indexes that have changed since that was taken."""

    def __getstate__(self) -> dict[str, Any]:
        # A copy of an index has arrays of its own.
        return self.__dict__ | {"_trees": (None,) * len(_BOTH), "_outdated": {*_BOTH}, "spare": []}

    @property
    def pattern(self) -> Index:
        """One of the indexes, which are alike."""
        return self._indexes[0]

    def parts(self, view: Floats) -> Floats:
        """The boxes of the cells of both indexes, or of the nodes of their trees, in a view: for pictures."""
        self.hand_over()
        parts = []
        for index in self._indexes:
            cells, tree = index._space.structure.parts(view), index._space.tree
            if tree.stale:
                tree.ready()
            parts.append(cells if len(cells) else tree.parts(view))
        return np.concatenate(parts)

    # ---- keeping up

    def hand_over(self, layers: int = ALL) -> None:
        """Bring the indexes of these layers up to date."""
        counts = self._store.marks.counts.tolist()
        if not counts[-1] and not self._unsettled:
            return
        for number in _BOTH:
            if not layers & _LAYERS[number]:
                continue
            if number in self._unsettled:
                self._fill(number)
            elif counts[number]:
                self._update(number, counts[number])

    def _update(self, number: int, count: int) -> None:
        """Bring one index up to date."""
        self._unsettled.add(number)
        self._outdated.add(number)
        store, index = self._store, self._indexes[number]
        if count == 1:
            # The usual case between two movements, in two kernel calls: one body has moved.
            listed = store.marks, store.alive, number, self._ids[number], store.table.columns
            mover, box = take_moved(*listed)
            if mover >= 0:
                # What `move` does, without checking the arguments again.
                if not index._space.move_one(mover, box):
                    index.move(mover, box)
                self._unsettled.remove(number)
                return
        gone, known, fresh = self._taken(number)
        if len(gone):
            self._ids[number][self._rows[number][gone]] = NOT_IN
            index.remove_many(gone)
        if len(known):
            known.sort()  # neighbours in memory are often neighbours in the index
            # As above: what `move_many` does, without checking the arguments again.
            index._replace(self._ids[number][known], store.table.bounds(known))
        if len(fresh):
            fresh.sort()
            self._insert(number, fresh)
        self._unsettled.remove(number)

    def _fill(self, number: int) -> None:
        """Fill an index from the bodies, whatever it held."""
        store = self._store
        self._outdated.add(number)
        self._taken(number)
        self._indexes[number].clear()
        self._ids[number].fill(NOT_IN)
        rows = np.flatnonzero(store.alive & (store.layer & 1 == number)).astype(np.int32)
        if len(rows):
            self._insert(number, rows)
        self._unsettled.remove(number)

    def _taken(self, number: int) -> tuple[Rows, Rows, Rows]:
        """The updates that an index needs, see `take_list`; the list is empty afterwards."""
        store = self._store
        if len(self._ids[number]) < len(store.alive):
            self._ids[number] = _longer(self._ids[number], len(store.alive))
        found: tuple[Rows, Rows, Rows] = take_list(store.marks, store.alive, number, self._ids[number])
        return found

    def _insert(self, number: int, rows: Rows) -> None:
        ids = self._indexes[number].insert_many(self._store.table.bounds(rows))
        most = int(ids.max()) + 1
        if most > len(self._rows[number]):
            self._rows[number] = _longer(self._rows[number], most)
        self._rows[number][ids] = rows
        self._ids[number][rows] = ids

    # ---- queries: each method begins with `hand_over`

    def gather(self, box: Bounds, layers: int = ALL) -> int:
        """Write the rows whose bounds overlap a box into ``buffers.near``, nearly sorted; how many.

        Others come, too, that are in an index of one of the layers.  In a periodic space any image of a body
        may overlap the box.  Where few have moved, they are looked at one by one, because handing them over
        costs more.
        """
        space = self._store.space
        if not space.periodic or space.is_inner(box):
            return self._gather(box, layers)
        rows = set[int]()
        for part in space.images_of_box(box):
            count = self._gather(part, layers)
            rows.update(self.buffers.near[:count].tolist())
        self.reserve(len(rows))
        self.buffers.near[: len(rows)] = sorted(rows)
        return len(rows)

    def gathered(self, box: Bounds, layers: int = ALL) -> Rows:
        """`gather`, ascending, as an array of its own."""
        count = self.gather(box, layers)  # which may replace the buffers
        rows = self.buffers.near[:count].copy()
        rows.sort()
        return rows

    def _gather(self, box: Bounds, layers: int) -> int:
        """`gather` without images."""
        bits = 3 if layers == ALL else (layers & _LAYERS[0] > 0) | (layers & _LAYERS[1] > 0) << 1
        shapes = self._store.table.columns
        count: int = put_in_box(*self.waiting_trees(layers), bits, box, shapes, self.buffers.near)
        if count < 0:
            rows = self.in_boxes(np.array([box]), layers)[:, 1]
            count = len(rows)
            self.reserve(count)
            self.buffers.near[:count] = rows
        if count > FEW:
            self.buffers.near[:count].sort()
        return count

    def on_ray(self, ray: Floats) -> Rows:
        """The rows whose bounds a ray, one row ``x, y, dx, dy, max_distance``, touches."""
        found = []
        for *tree, rows in self.all_trees():
            known = *tree, _NO_BITS, _NO_BITS, ray, True, -1, -1
            pairs, count, _ = search_rays(*known, np.empty((FEW, 2), np.int32))
            found.append(rows[pairs[:count, 1]])
        return np.concatenate(found)

    def all_trees(self) -> tuple[Tree, ...]:
        """The trees of all bodies, for kernels."""
        if self._store.marks.counts.item(-1) or self._unsettled:
            self.hand_over()
        return self._searched() if self._outdated else self._trees

    def waiting_trees(self, layers: int = ALL) -> tuple[tuple[Tree, ...], tuple[Any, ...]]:
        """The trees of all bodies but for few that wait to be handed over, and what kernels read of those."""
        if self._store.marks.counts.item(-1) > _FEW_WAITING or self._unsettled:
            self.hand_over(layers)
        return self._searched() if self._outdated else self._trees, self._store.waiting

    def _searched(self) -> tuple[Tree, ...]:
        """The trees of both indexes, for kernels that search them in one call."""
        if self._outdated:
            trees = [*self._trees]
            for number in self._outdated:
                trees[number] = self._indexes[number]._space.tree.tree(self._rows[number])
            self._trees = tuple(trees)
            self._outdated.clear()
        return self._trees

    def reserve(self, rows: int) -> None:
        """Make room for so many rows that are near, and for the scene of a movement among them."""
        if rows > len(self.buffers.near):
            self.buffers, self.frame = new_buffers(rows, rows, self.buffers.farthest), new_frame(rows)

    def rows_in_boxes(self, boxes: Floats, layers: int) -> npt.NDArray[np.int32]:
        """`in_boxes`, where in a periodic space any image may overlap: sorted, each row once a box."""
        space = self._store.space
        if not space.periodic:
            return self.in_boxes(boxes, layers)
        owners, turns = space.turns_near(boxes)
        shift, slack = space.shift(turns), space.slack(boxes)[owners]
        shifted = np.hstack((boxes[owners, :2] - shift - slack, boxes[owners, 2:] - shift + slack))
        found = self.in_boxes(np.ascontiguousarray(shifted), layers).astype(np.int64)
        keys = distinct(owners[found[:, 0]] << 32 | found[:, 1])
        return as_pairs(keys)

    def in_boxes(self, boxes: BoxArray, layers: int) -> npt.NDArray[np.int32]:
        """Rows ``[query, row]`` whose bounds overlap, unsorted."""
        self.hand_over(layers)
        found = [np.empty((0, 2), np.int32)]
        for index, rows, held in zip(self._indexes, self._rows, _LAYERS, strict=True):
            if layers & held and len(index) and len(boxes):
                pairs = index.query_box(boxes)
                pairs[:, 1] = rows[pairs[:, 1]]
                if layers & held != held:
                    pairs = pairs[layers >> self._store.layer[pairs[:, 1]] & 1 != 0]
                found.append(pairs)
        return np.concatenate(found)

    def near_regions(
        self, rows: Rows, regions: Floats, meets: int, limit: int = NO_LIMIT, *, moving: bool = True
    ) -> Near:
        """What may be near bodies of different rows, each of which stays within its region.

        That is what is in layers with these bits, sensors, and other movers wherever they may come to; all
        bodies, if a mover is a sensor.  Unless they are ``moving`` the regions are their bounds, only layers
        count, two static bodies do not meet, and those near one come in any order.  With a ``limit`` only
        pairs count that a listener may want.

        Raises
        ------
        PairLimitExceeded
            There are more pairs than the limit.
        """
        store = self._store
        if moving and store.any_sensor:
            meets |= ALL if store.sensor[rows].any() else ALL + 1
        few = len(rows) * store.live <= _FEW_TESTS and not store.space.periodic
        if store.live > _SPARSE * len(rows) and not few:
            return self._near_few(rows, regions, meets, limit, moving)
        known, boxes, kinds, number_of = boxes_in_layers(
            *(store.table.columns, store.marks, store.alive, len(store.bodies), meets, rows, regions),
            not moving,
        )
        if few:
            found = list_few(boxes, kinds, known, number_of, regions)
        else:
            bits = _NO_BITS, _NO_BITS
            if limit != NO_LIMIT:
                tags, hears = store.tag_sets.bits.T
                bits = tags[store.group[known]], hears[store.group[known]]
            # Two boxes with a common class are never paired.
            pairs = self._pairs_of(boxes, (kinds, *bits), limit, moving)
            found = list_near(pairs, known, number_of, len(rows))
        neighbors: Near = _new(Near, found)
        return neighbors

    def _pairs_of(
        self, boxes: Floats, rules: tuple[Any, ...], limit: int = NO_LIMIT, touching: bool = True
    ) -> PairArray:
        """The pairs of boxes, or of any images, that overlap; those that also touch come sorted.

        ``rules`` are the fields of a `PairFilter`.
        """
        lengths = self._store.space.lengths
        space = search.Space(lengths, None) if self._store.space.periodic else None
        return stored_pairs(boxes, _new(PairFilter, rules), "auto", touching, touching, None, limit, space)

    def _near_few(self, rows: Rows, regions: Floats, meets: int, limit: int, moving: bool) -> Near:
        """`near_regions` where they are few among many: a query for each."""
        store = self._store
        layers = min(meets, ALL)
        parts, at_once = [np.empty((0, 2), np.int32)], max(limit // store.live, FEW)
        for begin in range(0, len(rows), at_once):  # a portion cannot find far more than the limit
            found = self.rows_in_boxes(regions[begin : begin + at_once], layers)
            found[:, 0] += begin
            if limit != NO_LIMIT:
                (tags, hears), row, other = store.tag_sets.bits.T, rows[found[:, 0]], found[:, 1]
                counts = tags[store.group[row]] & hears[store.group[other]] != 0
                found = found[counts & ((other > row) | ~store.touched[other])]  # two touched ones once
            parts.append(found)
            if sum(map(len, parts)) > limit:
                raise PairLimitExceeded(limit)
        if moving:
            moves = np.zeros(len(store.bodies), np.bool_)
            moves[rows] = True
            parts = [found[~moves[found[:, 1]]] for found in parts]
        if moving and (meets >> store.layer[rows] & 1).any():  # movers see each other
            pairs = self._pairs_of(regions, (_NO_CLASSES, _NO_BITS, _NO_BITS))
            parts += [np.column_stack((pairs[:, side], rows[pairs[:, 1 - side]])) for side in (0, 1)]
        pairs = sorted_rows(parts, max(len(rows), len(store.bodies))) if moving else np.concatenate(parts)
        neighbors: Near = _new(Near, list_found(pairs, len(rows)))
        return neighbors

    def check(self) -> None:
        """Raise ``AssertionError`` where an index and the bodies contradict each other."""
        self.hand_over()
        store = self._store
        for number in _BOTH:
            index = self._indexes[number]
            index.validate()
            rows, ids = self._rows[number][index.ids], self._ids[number]
            expect(
                bool((store.alive[rows] & (store.layer[rows] & 1 == number)).all()),
                "bodies are in their index",
            )
            expect(np.array_equal(ids[rows], index.ids), "ids and rows belong together")
            expect(np.count_nonzero(ids != NOT_IN) == len(rows), "no row is in an index twice")
            expect(np.array_equal(store.table.bounds(rows), index.boxes), "indexes know where bodies are")
        expect(sum(map(len, self._indexes)) == store.live, "every body is in an index")


def _longer(numbers: Rows, least: int) -> Rows:
    """The same numbers in a longer array, of at least ``least``."""
    longer = np.full(max(least, 2 * len(numbers)), NOT_IN, np.int32)
    longer[: len(numbers)] = numbers
    return longer


def new_buffers(bodies: int, hits: int, farthest: float = math.inf) -> Buffers:
    """Memory for so many bodies near a path, and so many hits; see `Buffers.farthest`."""
    rows, opened, chosen = np.empty((3, bodies), np.int32)
    sides, order = np.full(bodies, 15, np.uint8), np.empty(bodies, np.int64)
    by_body = rows, np.empty((bodies, 4)), sides, opened, order, chosen
    state = np.empty((MOST_TURNS, 2)), np.zeros(20), np.zeros(9, np.int64)
    return Buffers(*by_body, np.empty((hits, 9)), *state, farthest)


def new_frame(rows: int) -> Frame:
    """Memory for a scene of so many rows."""
    x, y, width, height = np.empty((4, rows))
    starts, counts = np.empty((2, rows), np.int64)
    names = np.empty(rows, np.bool_), np.empty(rows, np.uint8), np.empty(rows, np.int32)
    return Frame(np.empty(rows, np.uint8), x, y, width, height, starts, counts, *names)


def _made(broadphase: Any) -> Index:
    if isinstance(broadphase, str):
        return make_index(cast(Choice, broadphase), touching=False, sort=False)
    if not isinstance(broadphase, Index):
        raise TypeError(f"broadphase must be the name of an index, or an index; got {broadphase!r}")
    if len(broadphase) or broadphase.dim != 2 or broadphase.dtype != np.float64:
        raise ValueError(f"broadphase must be empty, 2-D and float64; got {broadphase!r}")
    # Touching is not a contact in a world, whatever the index was made for; results are sorted later, by row.
    return type(broadphase)(touching=False, sort=False, threads=broadphase._threads, **broadphase._options())


def closed(box: Bounds) -> Bounds:
    """The next larger box: exactly what touches ``box`` overlaps its inside.

    Examples
    --------
    >>> closed((0.0, 0.0, 1.0, 1.0))[2] > 1.0
    True
    """
    left, top, right, bottom = box
    return (
        math.nextafter(left, -math.inf),
        math.nextafter(top, -math.inf),
        math.nextafter(right, math.inf),
        math.nextafter(bottom, math.inf),
    )
