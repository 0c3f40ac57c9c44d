"""The broad phase of a world: bodies that move and static ones, each in an index of its own.

Both are kept twice, once for bodies that somebody listens for and once for the others, which an update need
not look at.  Changes reach an index late: rows that were added or moved wait in a list for each index, which
is handed over in one call before that index is read.
"""

import math
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.errors import PairLimitExceeded
from broadphase.indexes import Choice, make_index
from broadphase.indexes.arguments import NO_RULE
from broadphase.indexes.base import Index
from broadphase.indexes.storage import expect
from broadphase.kernels.movement.motion import Room
from broadphase.kernels.shapes.near import FEW, put_near
from broadphase.methods.task import NO_LIMIT
from broadphase.shapes.kinds import Bounds
from broadphase.world.bodies import NOT_IN, BodyStore, Floats, Rows
from broadphase.world.listeners import MOVING, QUIET_MOVING, QUIET_STATIC, STATIC
from broadphase.world.space import Images, PeriodicSpace

ALL = (MOVING, STATIC, QUIET_MOVING, QUIET_STATIC)
LISTENED = (MOVING, STATIC)
STATICS = (STATIC, QUIET_STATIC)

Point = tuple[float, float]

_NO_ROWS = np.empty(0, np.int32)


class BroadPhase:
    """Four indexes that follow the rows of a `BodyStore`.

    Each index has a list of its own of the rows whose boxes it does not know yet.  It is read only through
    the methods of this class, and each of them hands that list over first (`hand_over`).
    """

    def __init__(self, broadphase: Choice | Index, store: BodyStore) -> None:
        self._store = store
        self._indexes = [_made(broadphase) for _ in ALL]
        self._rows: list[Rows] = [_NO_ROWS] * len(ALL)
        """By layer and id: the row of the body."""
        self.room = _room(FEW)
        """What questions write to, and what kernels go on with: good until the next question."""
        self._filled: list[int] = []
        """The layers that ever held a body."""
        self._waiting: dict[int, Rows] = {}
        """By layer: the rows that its index has not been told of.  A layer without such rows is left out."""

    # ---- keeping up

    def hand_over(self, layers: tuple[int, ...] = ALL) -> int:
        """Tell the indexes of these layers what has changed; how many boxes they were told of."""
        store, waiting = self._store, self._waiting
        if not (store.late_rows or store.many_late or store.leaving or waiting):
            return 0
        try:
            if store.leaving:
                self._drop()
            sent = self._send_single(layers)
            if store.late_rows or store.many_late:
                self._sort_by_layer()
            for layer in layers if waiting else ():
                if layer in waiting:
                    sent += self._send(layer, waiting[layer])
                    del waiting[layer]
        except BaseException:  # it was interrupted: all that `late` marks is looked for again
            store.many_late = True
            store.late_rows = []
            raise
        return sent

    def _drop(self) -> None:
        store = self._store
        for layer in ALL:
            ids = [gone for at, gone in store.leaving if at == layer]
            if ids:
                rest = [entry for entry in store.leaving if entry[0] != layer]
                index = self._indexes[layer]
                if len(ids) == 1:
                    index.remove(ids[0])
                else:
                    index.remove_many(ids)
                store.leaving = rest  # and nothing can come in between

    def _send_single(self, layers: tuple[int, ...]) -> int:
        """The usual case between two movements, one body that its index knows, without an array."""
        store = self._store
        if store.many_late or len(store.late_rows) != 1:
            return 0
        row = store.late_rows[0]
        layer, known = store.layer.item(row), store.index_id.item(row)
        if known == NOT_IN or layer not in layers or not store.alive[row]:
            return 0
        self._indexes[layer].move(known, store.bounds(row))
        store.late[row] = False
        store.late_rows = []
        return 1

    def _sort_by_layer(self) -> None:
        """Note for each index which rows it has to be told of."""
        store = self._store
        # `late` also marks all rows that are waiting already.
        late = np.flatnonzero(store.late) if store.many_late else np.array(store.late_rows)
        rows = late.astype(np.int32)
        alive = store.alive[rows]
        if not alive.all():
            store.late[rows[~alive]] = False
            rows = rows[alive]
        at = store.layer[rows]
        for layer in ALL:
            own = rows[at == layer]
            if not store.many_late and layer in self._waiting:
                own = np.concatenate((self._waiting[layer], own))
            if len(own):
                self._waiting[layer] = own
            else:
                self._waiting.pop(layer, None)
        store.late_rows = []
        store.many_late = False

    def _send(self, layer: int, rows: Rows) -> int:
        store, index = self._store, self._indexes[layer]
        rows = rows[store.alive[rows]]  # some may have been removed while they waited
        fresh = store.index_id[rows] == NOT_IN
        known = rows[~fresh]
        if len(known):
            index.move_many(store.index_id[known], store.table.bounds(known))
        if fresh.any():
            self._insert(layer, np.sort(rows[fresh]))
        store.late[rows] = False
        return len(rows)

    def _insert(self, layer: int, rows: Rows) -> None:
        store, index = self._store, self._indexes[layer]
        bits = {}
        if layer == MOVING:
            category, mask = store.listeners.bits()[store.group[rows]].T
            bits = {"category": category, "mask": mask}
        if layer not in self._filled:
            self._filled.append(layer)
        most = index._store.end + len(rows)
        if most > len(self._rows[layer]):
            larger = np.full(2 * most, -1, np.int32)
            larger[: len(self._rows[layer])] = self._rows[layer]
            self._rows[layer] = larger
        bounds, rows_of = store.table.bounds(rows), self._rows[layer]
        ids = index.insert_many(bounds, **bits)
        # No calls from here on: nothing can come in between.
        rows_of[ids] = rows
        store.index_id[rows] = ids

    # ---- asking: each method begins with `hand_over`

    def in_box(self, box: Bounds, layers: tuple[int, ...] = ALL) -> list[int]:
        """The rows whose bounds overlap a box, ascending."""
        self.hand_over(layers)
        found: list[int] = []
        for layer in layers:
            if layer in self._filled:
                ids = self._ask(layer, box)
                if len(ids):
                    found += self._rows[layer][ids].tolist()
        found.sort()
        return found

    def _ask(self, layer: int, box: Bounds) -> Rows:
        """What an index answers for a box, in any order."""
        index = self._indexes[layer]
        structure = index._space.structure
        if structure.stale:
            structure.ready()
        answer = structure.ask_box(
            box
        )  # the kernel behind `query_box`, without looking at the arguments again
        return index.query_box(box) if answer is None or answer[1] < 0 else answer[0]

    def near(self, region: Bounds, layers: tuple[int, ...] = ALL) -> tuple[list[int], Floats | None]:
        """The bodies whose bounds overlap a region, by row, and how far each image is moved.

        That is None where all are the bodies themselves.  In a periodic space a few may come that are just
        outside.
        """
        space = self._store.space
        if space.is_inner(region):
            return self.in_box(region, layers), None
        images = self.images_near(np.array([region]), layers).in_order()
        return images.rows.tolist(), space.shift(images.turns)

    def images_near(self, regions: Floats, layers: tuple[int, ...], limit: int = NO_LIMIT) -> Images:
        """The same for ``(m, 4)``, unsorted; see `in_boxes`."""
        space = self._store.space
        if not isinstance(space, PeriodicSpace):
            found = self.in_boxes(regions, layers, limit).astype(np.int64)
            return Images(found[:, 0], found[:, 1], np.zeros_like(found))
        of, turns = space.turns_near(regions)
        shift, slack = space.shift(turns), space.slack(regions)[of]
        asked = np.hstack((regions[of, :2] - shift - slack, regions[of, 2:] - shift + slack))
        found = self.in_boxes(np.ascontiguousarray(asked), layers, limit).astype(np.int64)
        return Images(of[found[:, 0]], found[:, 1], turns[found[:, 0]])

    def ids_in(self, boxes: Bounds | BoxArray, layer: int) -> tuple[npt.NDArray[np.int32], Rows]:
        """What an index answers for a box or many (`Index.query_box`), and the row of each of its ids."""
        self.hand_over((layer,))
        if isinstance(boxes, tuple):
            return (self._ask(layer, boxes) if layer in self._filled else _NO_ROWS), self._rows[layer]
        return self._indexes[layer].query_box(boxes), self._rows[layer]

    def gather(self, box: Bounds, mover: int = -1) -> int:
        """Write the rows whose bounds overlap a box into ``room.near``, nearly sorted; how many.

        A ``mover`` does not look for itself: where it alone has moved, its index need not know yet.
        """
        store = self._store
        if store.late_rows != [mover] or store.many_late or store.leaving or self._waiting:
            self.hand_over()
        count = 0
        for layer in self._filled:
            ids = self._ask(layer, box)
            if len(ids):
                count = self._put(count, ids, layer)
        if count > FEW:
            self.room.near[:count].sort()
        return count

    def gather_on_ray(self, origin: Point, direction: Point, furthest: float) -> int:
        """Write the rows whose bounds a ray hits into ``room.near``; how many."""
        self.hand_over()
        count, ray = 0, (*origin, *direction, furthest)
        for layer in self._filled:
            index = self._indexes[layer]
            structure = index._space.structure
            structure.ready()
            ids, _ = structure.find_on_ray(ray, NO_RULE, NO_RULE)  # `query_ray` would rank them by bounds
            if len(ids):
                count = self._put(count, ids, layer)
        return count

    def on_rays(self, rays: Floats) -> Iterator[tuple[Rows, npt.NDArray[np.int64], Rows]]:
        """For each layer the ids whose bounds rays hit, where those of each begin and end, and their rows.

        ``rays`` are ``x, y, dx, dy, furthest``.
        """
        self.hand_over()
        for layer in self._filled:
            index = self._indexes[layer]
            if len(index):
                structure = index._space.structure
                structure.ready()
                ids, counts, _ = structure.find_on_rays(rays, NO_RULE, NO_RULE)
                yield ids, np.concatenate(([0], np.cumsum(counts, dtype=np.int64))), self._rows[layer]

    def _put(self, count: int, ids: Rows, layer: int) -> int:
        more: int = put_near(self.room.near, count, ids, self._rows[layer])
        if more < 0:
            smaller, self.room = self.room, _room(2 * (count + len(ids)))
            self.room.near[:count] = smaller.near[:count]
            more = put_near(self.room.near, count, ids, self._rows[layer])
        return more

    def in_boxes(
        self, boxes: BoxArray, layers: tuple[int, ...], limit: int = NO_LIMIT
    ) -> npt.NDArray[np.int32]:
        """Rows ``[query, row]`` whose bounds overlap, unsorted.

        Raises
        ------
        PairLimitExceeded
            There are more than ``limit``.
        """
        self.hand_over(layers)
        found, count = [np.empty((0, 2), np.int32)], 0
        for layer in layers:
            index = self._indexes[layer]
            if len(index) and len(boxes):
                # So many at once that they cannot find far more than the limit.
                each = len(boxes) if limit == NO_LIMIT else max(limit // len(index), 1)
                for begin in range(0, len(boxes), each):
                    pairs = index.query_box(boxes[begin : begin + each])
                    pairs[:, 0] += begin
                    pairs[:, 1] = self._rows[layer][pairs[:, 1]]
                    found.append(pairs)
                    count += len(pairs)
                    if count > limit:
                        raise PairLimitExceeded(limit)
        return np.concatenate(found)

    def gather_nearest(self, point: Point, k: int) -> tuple[int, float]:
        """Write the rows with the nearest bounds into ``room.near``.

        How many, and the least distance of all others; infinite: that is all.
        """
        self.hand_over()
        count, beyond = 0, math.inf
        for layer in self._filled:
            index = self._indexes[layer]
            ids, distances = index.nearest(point, k)
            if len(ids):
                count = self._put(count, ids, layer)
                if len(ids) < len(index):
                    beyond = min(beyond, distances.item(len(ids) - 1))
        return count, beyond

    def nearest_many(self, points: Floats, k: int) -> tuple[Rows, Floats]:
        """``(m, c)`` rows with the nearest bounds, -1 for none; ``(m,)`` how far all others are at least.

        That is infinite where there are no others.
        """
        self.hand_over()
        found, beyond = [np.empty((len(points), 0), np.int32)], np.full(len(points), math.inf)
        for layer in self._filled:
            index = self._indexes[layer]
            most = min(k, len(index))
            if most:
                ids, distances = index.nearest(points, most)
                found.append(np.where(ids < 0, -1, self._rows[layer][ids]))
                if most < len(index):
                    np.minimum(beyond, distances[:, -1], out=beyond)
        return np.hstack(found), beyond

    def pairs(self, limit: int = NO_LIMIT) -> npt.NDArray[np.int32]:
        """All pairs of moving bodies that somebody listens for, as rows, unsorted.

        Raises
        ------
        PairLimitExceeded
            There are more than ``limit``.
        """
        self.hand_over((MOVING,))
        index = self._indexes[MOVING]
        pairs: npt.NDArray[np.int32] = self._rows[MOVING][index._space.all_pairs(sort=False, limit=limit)[0]]
        return pairs

    def count(self, layer: int) -> int:
        """How many bodies are in a layer."""
        self.hand_over((layer,))
        return len(self._indexes[layer])

    def check(self) -> None:
        """Raise ``AssertionError`` where an index and the bodies contradict each other."""
        self.hand_over()
        store = self._store
        for layer in ALL:
            index = self._indexes[layer]
            index.validate()
            rows = self._rows[layer][index.ids]
            expect(bool((store.layer[rows] == layer).all()), "bodies are in their layer")
            expect(np.array_equal(store.index_id[rows], index.ids), "bodies know their id")
            expect(np.array_equal(store.table.bounds(rows), index.boxes), "indexes know where bodies are")
        expect(sum(map(len, self._indexes)) == store.live, "every body is in an index")


def _room(count: int) -> Room:
    near, sensors = np.empty((2, count), np.int32)
    return Room(near, sensors, np.empty((count, 4)), np.arange(count), np.empty((count, 9)))


def _made(broadphase: Any) -> Index:
    if isinstance(broadphase, str):
        return make_index(cast(Choice, broadphase), touching=False, sort=False)
    if not isinstance(broadphase, Index):
        raise TypeError(f"broadphase must be the name of an index, or an index; got {broadphase!r}")
    if len(broadphase) or broadphase.dim != 2 or broadphase.dtype != np.float64:
        raise ValueError(f"broadphase must be empty, 2-D and float64; got {broadphase!r}")
    # Flush is no contact here, whatever the index was made for; and order comes later, by row.
    return type(broadphase)(touching=False, sort=False, threads=broadphase._threads, **broadphase._options())


def closed(box: Bounds) -> Bounds:
    """The next larger box: what overlaps it with its inside touches ``box``.

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


def closed_many(boxes: Floats) -> Floats:
    """`closed` for rows."""
    return np.hstack((np.nextafter(boxes[:, :2], -np.inf), np.nextafter(boxes[:, 2:], np.inf)))
