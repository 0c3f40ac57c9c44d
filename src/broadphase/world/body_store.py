"""The bodies of a world as arrays by row, and what has changed since somebody looked.

A row is a body's id: the lowest that is free.  Two parties want to know about changes: the broad phase
(``late``: its box there is not the body's) and the contacts (``touched`` since the last update; ``renewed``
where it is to them another body than before).
"""

import heapq
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from broadphase.indexes import arguments
from broadphase.indexes.storage import EVERY_BIT
from broadphase.kernels.movement.go import put
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import Box, Shape, turned_point
from broadphase.world.arguments import as_place, as_shape, as_two
from broadphase.world.body import GONE, Body, Remains, bodies_of, going, keep_remains
from broadphase.world.body_rows import NOT_IN, BodyRows, Floats, Rows
from broadphase.world.listeners import as_tags


class BodyStore(BodyRows):
    """Changes the arrays of a world."""

    # ---- coming and going; each is done altogether or, should it be interrupted, not at all

    def add(
        self, shape: Shape, tag: Any, static: bool, sensor: bool, category: int, mask: int, data: Any
    ) -> Body:
        """Put a body into the lowest free row."""
        known = as_shape(shape)
        group = self._group_of(as_tags(tag))
        static, sensor = arguments.flag(static, "static"), arguments.flag(sensor, "sensor")
        category, mask = arguments.bit_set(category, "category"), arguments.bit_set(mask, "mask")
        self._unshare()
        free, end = self._free, len(self.bodies)
        row = free[0] if free else end
        if row >= len(self.alive):
            self._reserve(row + 1)
        self.table.put(row, known)
        layer = self.listeners.layer_of(group, static)
        body, round_, late = Body(self, row, data), not isinstance(known, Box), self.late.item(row)
        # Nothing can come in between from here on: the only call is the last thing.
        self.bodies[row : row + 1] = (body,)
        self.static[row], self.sensor[row] = static, sensor
        self.category[row], self.mask[row], self.group[row] = category, mask, group
        self.index_id[row], self.layer[row] = NOT_IN, layer
        self.alive[row] = self.touched[row] = self.renewed[row] = self.late[row] = True
        self.any_round |= round_
        self.any_sets |= category != 1 or mask != EVERY_BIT
        self.any_sensors |= sensor
        self.live += 1
        if late:
            self.many_late = True
        else:
            self.late_rows += (row,)
        if free:
            heapq.heappop(free)
        return body

    def add_many(
        self, shapes: list[Shape], data: Sequence[Any], rules: tuple[Any, Any, Any, Any, Any]
    ) -> list[Body]:
        """Put bodies into the lowest free rows; ``rules`` are tag, static, sensor, category and mask."""
        tag, static, sensor, category, mask = rules
        group = self._group_of(as_tags(tag))
        static, sensor = arguments.flag(static, "static"), arguments.flag(sensor, "sensor")
        category, mask = arguments.bit_set(category, "category"), arguments.bit_set(mask, "mask")
        if not shapes:
            return []
        free, end = sorted(self._free), len(self.bodies)
        reused, fresh = free[: len(shapes)], len(shapes) - len(free)
        rows = np.concatenate((np.array(reused, np.int32), np.arange(end, end + fresh, dtype=np.int32)))
        self._reserve(end + max(fresh, 0))
        self.table.put_many(rows, shapes)
        layer = self.listeners.layer_of(group, static)
        made = bodies_of(self, rows.tolist(), data)
        bodies = [*self.bodies] if self.shared or reused else self.bodies
        for row, body in zip(reused, made, strict=False):
            bodies[row] = body
        any_round = any(not isinstance(shape, Box) for shape in shapes)
        live, more, still_free = self.live + len(made), made[len(reused) :], free[len(reused) :]
        # No calls from here on: nothing can come in between.
        bodies[end:] = more
        self.bodies, self.shared = bodies, False
        self.static[rows], self.sensor[rows] = static, sensor
        self.category[rows], self.mask[rows], self.group[rows] = category, mask, group
        self.index_id[rows], self.layer[rows] = NOT_IN, layer
        self.alive[rows] = self.touched[rows] = self.renewed[rows] = self.late[rows] = True
        self.any_round |= any_round
        self.any_sets |= category != 1 or mask != EVERY_BIT
        self.any_sensors |= sensor
        self.live, self._free, self.many_late = live, still_free, True
        return made

    def check_fits(self, shapes: list[Shape]) -> None:
        """Raise ``ValueError`` where a shape is too long for the world; one without a period has no end."""

    def remove(self, body: Body) -> None:
        """Take a body out; its handle keeps what it was."""
        row = self.row(body)
        self._unshare()
        remains, leaving = self._remains(row), self._leaving(row)
        # Nothing can come in between from here on: the only call is the last thing.
        self.leaving += leaving
        self.index_id[row] = NOT_IN
        self.alive[row] = False
        self.touched[row] = self.renewed[row] = True
        if row not in self.gone:
            self.gone[row] = body
        self.bodies[row] = None
        self.live -= 1
        body._remains, body._row = remains, GONE
        heapq.heappush(self._free, row)

    def remove_many(self, rows: Rows) -> None:
        """Take the bodies of these rows, each once, out."""
        listed, bodies = rows.tolist(), [*self.bodies]
        dying: list[Any] = [bodies[row] for row in listed]
        for row in listed:
            bodies[row] = None
        groups = self.listeners.groups
        keep_remains(
            dying,
            *(listed, self.table.shapes(rows), [groups[group] for group in self.group[rows].tolist()]),
            *(self.static[rows].tolist(), self.sensor[rows].tolist(), self.category[rows].tolist()),
            *(self.mask[rows].tolist(), self.table.angles_of(rows).tolist()),
        )
        inside = rows[self.index_id[rows] != NOT_IN]
        leaving = [*zip(self.layer[inside].tolist(), self.index_id[inside].tolist(), strict=True)]
        gone = {**dict(zip(listed, dying, strict=True)), **self.gone}
        free, live = sorted(self._free + listed), self.live - len(listed)
        go, through = going(dying)
        # Nothing can come in between from here on: the only call is the last thing.
        self.leaving += leaving
        self.index_id[rows] = NOT_IN
        self.alive[rows] = False
        self.touched[rows] = self.renewed[rows] = True
        self.gone, self.bodies, self.shared = gone, bodies, False
        self.live, self._free = live, free
        go(through)

    def bury(self, body: Body, row: int) -> None:
        """Let a handle keep what it was, and no longer be anything."""
        body._remains = self._remains(row)
        body._row = GONE

    def _remains(self, row: int) -> Remains:
        return Remains(
            row,
            self.shape(row),
            self.tags(row),
            bool(self.static[row]),
            bool(self.sensor[row]),
            int(self.category[row]),
            int(self.mask[row]),
            self.table.angle(row),
        )

    def clear(self) -> None:
        """Take all bodies out."""
        self.remove_many(self.rows())

    # ---- changing

    def move_to(self, body: Body, x: float, y: float) -> None:
        """Another place."""
        row = self.row(body)
        self.put(row, as_place(x, "x"), as_place(y, "y"))

    def put(self, row: int, x: float, y: float) -> None:
        """Another place, checked before."""
        try:
            if put(self.x, self.y, self.touched, self.late, row, x, y):
                self.late_rows.append(row)
        except BaseException:  # between the two lines
            self.many_late = True
            raise

    def put_many(self, rows: Rows, places: Floats) -> None:
        """Other places, checked before; a row that comes twice ends at its last place."""
        x, y = places[:, 0], places[:, 1]
        moved = (self.x[rows] != x) | (self.y[rows] != y)
        if moved.any():
            self._have_moved(rows[moved])
            # No calls from here on: nothing can come in between.
            self.x[rows] = x
            self.y[rows] = y

    def reshape(self, body: Body, shape: Shape) -> None:
        """Another shape and place."""
        row = self.row(body)
        self.put_shape(row, as_shape(shape))

    def put_shape(self, row: int, shape: Shape) -> None:
        """Another shape and place, checked before."""
        self.any_round |= not isinstance(shape, Box)
        self._have_moved(np.array([row], np.int32))  # first, should it be interrupted
        self.table.put(row, shape)

    def turn_to(self, body: Body, angle: Any, about: Any) -> None:
        """Another angle, and another place where it turns about a point."""
        row = self.row(body)
        degrees = finite(angle, "angle")
        x, y = old_x, old_y = self.x.item(row), self.y.item(row)
        if about is not None:
            center = self.shape(row).center
            to_x, to_y = turned_point(center, degrees - self.table.angle(row), as_two(about, "about"))
            x, y = as_place(x + (to_x - center[0]), "x"), as_place(y + (to_y - center[1]), "y")
        one, before = np.array([row], np.int32), np.array([self.table.angle(row)])
        try:
            self.turn_many(one, np.array([degrees]))
            self.put(row, x, y)
        except BaseException:  # in between, or just behind
            self.turn_many(one, before)
            self.x[row], self.y[row] = old_x, old_y
            raise

    def turn_many(self, rows: Rows, angles: Floats) -> None:
        """Other angles, checked before."""
        turned = self.table.angles_of(rows) != angles
        if turned.any():
            self.any_round = True
            self._have_moved(rows[turned])  # first, should it be interrupted
            self.table.turn(rows, angles)

    def retag(self, body: Body, tag: Any) -> None:
        """Other tags: other listeners are told of its contacts from now on."""
        row = self.row(body)
        group = self._group_of(as_tags(tag))
        if group != self.group[row]:
            self.retagged = True
            self._enter(row, group, self.static.item(row))

    def set_static(self, body: Body, static: bool) -> None:
        """Into the index of what moves, or of what does not."""
        row = self.row(body)
        static = arguments.flag(static, "static")
        if static != self.static[row]:
            self._enter(row, self.group.item(row), static)

    def set_sensor(self, body: Body, sensor: bool) -> None:
        """Whether it lets others through."""
        row = self.row(body)
        sensor = arguments.flag(sensor, "sensor")
        self.any_sensors |= sensor
        self.sensor[row] = sensor

    def set_sets(self, body: Body, category: int, mask: int) -> None:
        """What it meets."""
        row = self.row(body)
        category, mask = arguments.bit_set(category, "category"), arguments.bit_set(mask, "mask")
        self.any_sets |= category != 1 or mask != EVERY_BIT
        self.touched[row] = True
        self.category[row], self.mask[row] = category, mask

    def listeners_changed(self, groups: Iterable[int]) -> None:
        """Somebody listens or does no longer; bodies with these groups of tags change their layer or bits."""
        rows = self.rows()
        self.touched[rows] = True
        for row in rows[np.isin(self.group[rows], list(groups))].tolist():
            self._enter(row, self.group.item(row), self.static.item(row))

    # ---- what the changes share

    def _group_of(self, tags: frozenset[Any]) -> int:
        """The number of a set of tags; those that no body has any more are forgotten before they are many."""
        if self.listeners.crowded:
            self.listeners.forget(self.group, np.flatnonzero(self.alive))
        return self.listeners.group_of(tags)

    def _have_moved(self, rows: Rows) -> None:
        self.touched[rows] = self.late[rows] = True
        self.many_late = True

    def _leaving(self, row: int) -> tuple[tuple[int, int], ...]:
        """What its index has to be told when a body leaves it."""
        known = self.index_id.item(row)
        return () if known == NOT_IN else ((self.layer.item(row), known),)

    def _enter(self, row: int, group: int, static: bool) -> None:
        """Out of the index where it is, and into that where it belongs with these tags."""
        layer, leaving = self.listeners.layer_of(group, static), self._leaving(row)
        late = self.late.item(row)
        # No calls from here on: nothing can come in between.
        self.leaving += leaving
        self.index_id[row], self.layer[row] = NOT_IN, layer
        self.group[row], self.static[row] = group, static
        self.touched[row] = self.late[row] = True
        # The broad phase has to be told, also where it could wait until now.
        if late:
            self.many_late = True
        else:
            self.late_rows += (row,)

    def _unshare(self) -> None:
        if self.shared:
            self.bodies = list(self.bodies)
            self.shared = False
