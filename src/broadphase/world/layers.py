"""The broad phase of a world: bodies that move and static ones, each in an index of its own.

Both are kept twice, once for bodies that somebody listens for and once for the others, which an update need
not look at.  Nothing is put in at once: what was added, moved or removed is noted by row and handed to the
indexes in one call each, when somebody asks.
"""

import math
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.indexes import Choice, make_index
from broadphase.indexes.arguments import NO_RULE
from broadphase.indexes.base import Index
from broadphase.indexes.storage import expect
from broadphase.kernels.movement.go import Room
from broadphase.kernels.shapes.near import FEW, put_near
from broadphase.shapes.kinds import Bounds
from broadphase.world.body_rows import NOT_IN, Floats, Rows
from broadphase.world.body_store import BodyStore
from broadphase.world.listeners import MOVING, QUIET_MOVING, QUIET_STATIC, STATIC

ALL = (MOVING, STATIC, QUIET_MOVING, QUIET_STATIC)
LISTENED = (MOVING, STATIC)
STATICS = (STATIC, QUIET_STATIC)

Point = tuple[float, float]

_NO_ROWS = np.empty(0, np.int32)


class Layers:
    """Four indexes that follow the rows of a `BodyStore`."""

    def __init__(self, broadphase: Choice | Index, store: BodyStore) -> None:
        self._store = store
        self.indexes = [_made(broadphase) for _ in ALL]
        self.rows: list[Rows] = [_NO_ROWS] * len(ALL)
        """By layer and id: the row of the body."""
        self.room = _room(FEW)
        """What questions write to, and what kernels go on with: good until the next question."""
        self._filled: list[int] = []
        """The layers that ever held a body."""
        self._put_off = False
        """Whether ``late`` knows of rows in layers that nobody has asked since."""
        self.sent = 0
        """How many boxes the last call of `sync` handed over."""

    # ---- keeping up

    def sync(self, layers: tuple[int, ...] = ALL) -> None:
        """Tell the indexes of these layers what has changed."""
        self.sent = 0
        try:
            self._sync(layers)
        except BaseException:  # it was interrupted: whoever is late still is
            self._store.many_late = True
            self._store.late_rows = []
            raise

    def _sync(self, layers: tuple[int, ...]) -> None:
        store = self._store
        if store.leaving:
            self._drop()
        if store.many_late or (self._put_off and layers == ALL):
            rows = np.flatnonzero(store.late).astype(np.int32)
        elif len(store.late_rows) == 1:
            self._send_one(store.late_rows[0], layers)
            return
        elif store.late_rows:
            rows = np.array(store.late_rows, np.int32)
        else:
            return
        put_off = False
        store.late[rows[~store.alive[rows]]] = False
        rows = rows[store.alive[rows]]
        at = store.layer[rows]
        for layer in ALL:
            own = rows[at == layer]
            if len(own) == 0:
                continue
            if layer in layers:
                self._send(layer, own)
            else:
                put_off = True
        store.late_rows = []
        self._put_off = put_off if store.many_late else put_off or self._put_off
        store.many_late = False

    def _drop(self) -> None:
        store = self._store
        for layer in ALL:
            ids = [gone for at, gone in store.leaving if at == layer]
            if ids:
                rest = [entry for entry in store.leaving if entry[0] != layer]
                index = self.indexes[layer]
                if len(ids) == 1:
                    index.remove(ids[0])
                else:
                    index.remove_many(ids)
                store.leaving = rest  # and nothing can come in between

    def _send_one(self, row: int, layers: tuple[int, ...]) -> None:
        """The usual case between two movements, without an array."""
        store = self._store
        layer, known = int(store.layer[row]), store.index_id.item(row)
        if not store.alive[row]:
            store.late[row] = False
        elif layer not in layers:
            return
        elif known == NOT_IN:
            self._send(layer, np.array([row], np.int32))
        else:
            self.indexes[layer].move(known, store.bounds(row))
            store.late[row] = False
            self.sent = 1
        store.late_rows = []

    def _send(self, layer: int, rows: Rows) -> None:
        store, index = self._store, self.indexes[layer]
        fresh = store.index_id[rows] == NOT_IN
        known = rows[~fresh]
        if len(known):
            index.move_many(store.index_id[known], store.table.bounds(known))
        if fresh.any():
            self._insert(layer, np.sort(rows[fresh]))
        store.late[rows] = False
        self.sent += len(rows)

    def _insert(self, layer: int, rows: Rows) -> None:
        store, index = self._store, self.indexes[layer]
        bits = {}
        if layer == MOVING:
            category, mask = store.listeners.bits()[store.group[rows]].T
            bits = {"category": category, "mask": mask}
        if layer not in self._filled:
            self._filled.append(layer)
        most = index._store.end + len(rows)
        if most > len(self.rows[layer]):
            larger = np.full(2 * most, -1, np.int32)
            larger[: len(self.rows[layer])] = self.rows[layer]
            self.rows[layer] = larger
        bounds, rows_of = store.table.bounds(rows), self.rows[layer]
        ids = index.insert_many(bounds, **bits)
        # No calls from here on: nothing can come in between.
        rows_of[ids] = rows
        store.index_id[rows] = ids

    def sync_for(self, row: int) -> None:
        """Tell the indexes what has changed, for a body that asks: it does not look for itself."""
        store = self._store
        others = store.late_rows and store.late_rows != [row]
        if others or store.many_late or store.leaving or self._put_off:
            self.sync()

    # ---- asking; whoever asks has called `sync` before

    def in_box(self, box: Bounds, layers: tuple[int, ...] = ALL) -> list[int]:
        """The rows whose bounds overlap a box, ascending."""
        found: list[int] = []
        for layer in layers:
            index = self.indexes[layer]
            if len(index):
                ids = index.query_box(box)
                if len(ids):
                    found += self.rows[layer][ids].tolist()
        found.sort()
        return found

    def near(self, box: Bounds) -> int:
        """Write the rows whose bounds overlap a box into ``room.near``, nearly sorted; how many."""
        count = 0
        for layer in self._filled:
            ids = self.indexes[layer].query_box(box)
            if len(ids):
                count = self._put(count, ids, layer)
        if count > FEW:
            self.room.near[:count].sort()
        return count

    def near_ray(self, origin: Point, direction: Point, furthest: float) -> int:
        """Write the rows whose bounds a ray hits into ``room.near``; how many."""
        count, ray = 0, (*origin, *direction, furthest)
        for layer in self._filled:
            index = self.indexes[layer]
            index._ready()
            ids, _ = index._find_on_ray(ray, NO_RULE, NO_RULE)  # `query_ray` would rank them by bounds
            if len(ids):
                count = self._put(count, ids, layer)
        return count

    def near_rays(self, rays: Floats) -> Iterator[tuple[Rows, npt.NDArray[np.int64], Rows]]:
        """For each layer the ids whose bounds rays hit, where those of each begin and end, and their rows.

        ``rays`` are ``x, y, dx, dy, furthest``.
        """
        for layer in self._filled:
            index = self.indexes[layer]
            if len(index):
                index._ready()
                ids, counts, _ = index._find_on_rays(rays, NO_RULE, NO_RULE)
                yield ids, np.concatenate(([0], np.cumsum(counts, dtype=np.int64))), self.rows[layer]

    def _put(self, count: int, ids: Rows, layer: int) -> int:
        more: int = put_near(self.room.near, count, ids, self.rows[layer])
        if more < 0:
            smaller, self.room = self.room, _room(2 * (count + len(ids)))
            self.room.near[:count] = smaller.near[:count]
            more = put_near(self.room.near, count, ids, self.rows[layer])
        return more

    def in_boxes(self, boxes: BoxArray, layers: tuple[int, ...]) -> npt.NDArray[np.int32]:
        """Rows ``[query, row]`` whose bounds overlap, unsorted."""
        found = [np.empty((0, 2), np.int32)]
        for layer in layers:
            if len(self.indexes[layer]) and len(boxes):
                pairs = self.indexes[layer].query_box(boxes)
                pairs[:, 1] = self.rows[layer][pairs[:, 1]]
                found.append(pairs)
        return np.concatenate(found)

    def nearest(self, point: Point, k: int) -> tuple[int, float]:
        """Write the rows with the nearest bounds into ``room.near``.

        How many, and the least distance of all others; infinite: that is all.
        """
        count, beyond = 0, math.inf
        for layer in self._filled:
            index = self.indexes[layer]
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
        found, beyond = [np.empty((len(points), 0), np.int32)], np.full(len(points), math.inf)
        for layer in self._filled:
            index = self.indexes[layer]
            most = min(k, len(index))
            if most:
                ids, distances = index.nearest(points, most)
                found.append(np.where(ids < 0, -1, self.rows[layer][ids]))
                if most < len(index):
                    np.minimum(beyond, distances[:, -1], out=beyond)
        return np.hstack(found), beyond

    def pairs(self) -> npt.NDArray[np.int32]:
        """All pairs of moving bodies that somebody listens for, as rows, unsorted."""
        pairs: npt.NDArray[np.int32] = self.rows[MOVING][self.indexes[MOVING].pairs()]
        return pairs

    def check(self) -> None:
        """Raise ``AssertionError`` where an index and the bodies contradict each other."""
        self.sync()
        store = self._store
        for layer in ALL:
            index = self.indexes[layer]
            index.validate()
            rows = self.rows[layer][index.ids]
            expect(bool((store.layer[rows] == layer).all()), "bodies are in their layer")
            expect(np.array_equal(store.index_id[rows], index.ids), "bodies know their id")
            expect(np.array_equal(store.table.bounds(rows), index.boxes), "indexes know where bodies are")
        expect(sum(map(len, self.indexes)) == store.live, "every body is in an index")


def _room(count: int) -> Room:
    near, sensors = np.empty((2, count), np.int32)
    return Room(near, sensors, np.empty((count, 4)), np.arange(count), np.empty((count, 8)))


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
