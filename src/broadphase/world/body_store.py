"""The bodies of a world as arrays by row, and what has changed since somebody looked.

A row is a body's id: the lowest that is free.  Two parties want to know about changes: the broad phase
(``late``: its box there is not the body's) and the contacts (``touched`` since the last update; ``renewed``
where it is to them another body than before).
"""

import heapq
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes import arguments
from broadphase.indexes.storage import EVERY_BIT, expect
from broadphase.kernels.movement.go import Bodies, put
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import Bounds, Box, Circle, Shape, turned_point
from broadphase.shapes.table import ShapeTable
from broadphase.world.arguments import as_place, as_shape, as_two
from broadphase.world.body import GONE, Body, Remains
from broadphase.world.listeners import Listeners, as_tags

Rows = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

NOT_IN = -1
"""The id of a body that its index has not been given yet."""

_FIRST_ROOM = 64
# The arrays by row, and what their unused rows hold.
_COLUMNS: dict[str, tuple[type, Any]] = {
    "alive": (np.bool_, False),
    "static": (np.bool_, False),
    "sensor": (np.bool_, False),
    "category": (np.uint32, 1),
    "mask": (np.uint32, EVERY_BIT),
    "group": (np.int32, 0),
    "layer": (np.int8, 0),
    "index_id": (np.int32, NOT_IN),
    "late": (np.bool_, False),
    "touched": (np.bool_, False),
    "renewed": (np.bool_, False),
}


class BodyStore:
    """The arrays of a world; ``len(bodies)`` rows are in use or were."""

    alive: npt.NDArray[np.bool_]
    static: npt.NDArray[np.bool_]
    sensor: npt.NDArray[np.bool_]
    category: npt.NDArray[np.uint32]
    mask: npt.NDArray[np.uint32]
    group: npt.NDArray[np.int32]
    """The number of its set of tags, see `Listeners`."""
    layer: npt.NDArray[np.int8]
    """In which of the world's indexes it is, or will be."""
    index_id: npt.NDArray[np.int32]
    """Its id there, or `NOT_IN`."""
    late: npt.NDArray[np.bool_]
    touched: npt.NDArray[np.bool_]
    renewed: npt.NDArray[np.bool_]

    def __init__(self, listeners: Listeners) -> None:
        self.listeners = listeners
        self.table = ShapeTable()
        self.x, self.y = self.table.x, self.table.y
        self.bodies: list[Body | None] = []
        self.shared = False
        """Whether somebody holds the list ``bodies`` as it is: it is copied before the next change."""
        self.gone: dict[int, Body] = {}
        """By row, who was removed since the last update."""
        self.leaving: list[tuple[int, int]] = []
        """``layer, id`` of what the indexes have to drop."""
        self.late_rows: list[int] = []
        self.many_late = False
        """Whether ``late`` knows of rows that ``late_rows`` does not."""
        self.any_round = False
        """Whether a circle or polygon was ever added."""
        self.any_sets = False
        """Whether a category or mask other than the usual was ever given."""
        self.any_sensors = False
        """Whether there ever was a sensor."""
        self.retagged = False
        """Whether a body may have other tags than at the last update."""
        self.live = 0
        self._free: list[int] = []
        for name, (dtype, usual) in _COLUMNS.items():
            setattr(self, name, np.full(_FIRST_ROOM, usual, dtype))
        self.marks = self._marks()
        """What movement asks and marks."""

    # ---- coming and going

    def add(
        self, shape: Shape, tag: Any, static: bool, sensor: bool, category: int, mask: int, data: Any
    ) -> Body:
        """Put a body into the lowest free row."""
        known = as_shape(shape)
        group = self._group_of(as_tags(tag))
        static, sensor = arguments.flag(static, "static"), arguments.flag(sensor, "sensor")
        category, mask = arguments.bit_set(category, "category"), arguments.bit_set(mask, "mask")
        self._unshare()
        if self._free:
            row = heapq.heappop(self._free)
            self.table.put(row, known)
        else:
            row = self.table.append(known)
            self.bodies.append(None)
            self.x, self.y = self.table.x, self.table.y
            if row == len(self.alive):
                self._grow()
        body = self.bodies[row] = Body(self, row, data)
        self.alive[row], self.static[row], self.sensor[row] = True, static, sensor
        self.category[row], self.mask[row], self.group[row] = category, mask, group
        self.any_round |= not isinstance(known, Box)
        self.any_sets |= category != 1 or mask != EVERY_BIT
        self.any_sensors |= sensor
        self.index_id[row] = NOT_IN
        self.layer[row] = self.listeners.layer_of(group, static)
        self.live += 1
        self._is_new(row)
        return body

    def check_fits(self, shapes: list[Shape]) -> None:
        """Raise ``ValueError`` where a shape is too long for the world; one without a period has no end."""

    def remove(self, body: Body) -> None:
        """Take a body out; its handle keeps what it was."""
        row = self.row(body)
        self._unshare()
        self.bury(body, row)
        self._leave(row)
        self.alive[row] = False
        self.touched[row] = self.renewed[row] = True
        self.gone.setdefault(row, body)
        self.bodies[row] = None
        self.live -= 1
        heapq.heappush(self._free, row)

    def bury(self, body: Body, row: int) -> None:
        """Let a handle keep what it was, and no longer be anything."""
        body._remains = Remains(
            row,
            self.shape(row),
            self.tags(row),
            bool(self.static[row]),
            bool(self.sensor[row]),
            int(self.category[row]),
            int(self.mask[row]),
            self.table.angle(row),
        )
        body._row = GONE

    def clear(self) -> None:
        """Take all bodies out."""
        for body in list(self):
            self.remove(body)

    def __iter__(self) -> Iterator[Body]:
        return (body for body in self.bodies if body is not None)

    def row(self, body: Any, name: str = "body") -> int:
        """The row of a body that must be in this world.

        Raises
        ------
        TypeError
            It is no body.
        ValueError
            It was removed, or belongs to another world.
        """
        if not isinstance(body, Body):
            raise TypeError(f"{name} must be a Body, as World.add returns it; got {body!r}")
        if body._store is not self:
            raise ValueError(f"{name} = {body!r} belongs to another world")
        if body._row < 0:
            raise ValueError(f"{name} = {body!r} was removed from its world; add its shape anew")
        return body._row

    def rows_of(self, bodies: Any, name: str = "bodies") -> Rows:
        """The rows of bodies, or checked ids."""
        if isinstance(bodies, np.ndarray) and bodies.dtype.kind in "iu":
            rows = bodies.astype(np.int32, copy=False).ravel()
            known = (bodies.ravel() >= 0) & (bodies.ravel() < len(self.bodies))
            known[known] = self.alive[rows[known]]
            if not known.all():
                at = int(np.flatnonzero(~known)[0])
                raise ValueError(f"{name}[{at}] = {bodies.ravel()[at]} is the id of no body")
            return rows
        listed = bodies if isinstance(bodies, list) else list(bodies)
        try:
            rows = np.array([body._row for body in listed], np.int32)
            sound = {body._store for body in listed} <= {self} and not (rows < 0).any()
        except AttributeError:
            sound = False
        if not sound:
            for at, body in enumerate(listed):
                self.row(body, f"{name}[{at}]")
        return rows

    # ---- changing

    def move_to(self, body: Body, x: float, y: float) -> None:
        """Another place."""
        row = self.row(body)
        self.put(row, as_place(x, "x"), as_place(y, "y"))

    def put(self, row: int, x: float, y: float) -> None:
        """Another place, checked before."""
        if put(self.x, self.y, self.touched, self.late, row, x, y):
            self.late_rows.append(row)

    def put_many(self, rows: Rows, places: Floats) -> None:
        """Other places, checked before; a row that comes twice ends at its last place."""
        x, y = places[:, 0], places[:, 1]
        moved = (self.x[rows] != x) | (self.y[rows] != y)
        if moved.any():
            self.x[rows], self.y[rows] = x, y
            self._have_moved(rows[moved])

    def reshape(self, body: Body, shape: Shape) -> None:
        """Another shape and place."""
        row = self.row(body)
        self.put_shape(row, as_shape(shape))

    def put_shape(self, row: int, shape: Shape) -> None:
        """Another shape and place, checked before."""
        self.table.put(row, shape)
        self.any_round |= not isinstance(shape, Box)
        self._has_moved(row)

    def turn_to(self, body: Body, angle: Any, about: Any) -> None:
        """Another angle, and another place where it turns about a point."""
        row = self.row(body)
        degrees = finite(angle, "angle")
        x, y = self.x.item(row), self.y.item(row)
        if about is not None:
            center = self.shape(row).center
            to_x, to_y = turned_point(center, degrees - self.table.angle(row), as_two(about, "about"))
            x, y = as_place(x + (to_x - center[0]), "x"), as_place(y + (to_y - center[1]), "y")
        self.turn_many(np.array([row], np.int32), np.array([degrees]))
        self.put(row, x, y)

    def turn_many(self, rows: Rows, angles: Floats) -> None:
        """Other angles, checked before."""
        turned = self.table.angles[rows] != angles
        if turned.any():
            self.table.turn(rows, angles)
            self.any_round = True
            self._have_moved(rows[turned])

    def retag(self, body: Body, tag: Any) -> None:
        """Other tags: other listeners are told of its contacts from now on."""
        row = self.row(body)
        group = self._group_of(as_tags(tag))
        if group != self.group[row]:
            self.group[row] = group
            self.touched[row] = self.retagged = True
            self._enter(row)

    def set_static(self, body: Body, static: bool) -> None:
        """Into the index of what moves, or of what does not."""
        row = self.row(body)
        static = arguments.flag(static, "static")
        if static != self.static[row]:
            self.static[row] = static
            self.touched[row] = True
            self._enter(row)

    def set_sensor(self, body: Body, sensor: bool) -> None:
        """Whether it lets others through."""
        row = self.row(body)
        self.sensor[row] = arguments.flag(sensor, "sensor")
        self.any_sensors |= sensor

    def set_sets(self, body: Body, category: int, mask: int) -> None:
        """What it meets."""
        row = self.row(body)
        category, mask = arguments.bit_set(category, "category"), arguments.bit_set(mask, "mask")
        self.category[row], self.mask[row] = category, mask
        self.any_sets |= category != 1 or mask != EVERY_BIT
        self.touched[row] = True

    def listeners_changed(self, groups: Iterable[int]) -> None:
        """Somebody listens or does no longer; bodies with these groups of tags change their layer or bits."""
        rows = self.rows()
        self.touched[rows] = True
        for row in rows[np.isin(self.group[rows], list(groups))].tolist():
            self._enter(row)

    # ---- looking

    def rows(self) -> Rows:
        """The rows in use, ascending."""
        return np.flatnonzero(self.alive[: len(self.bodies)]).astype(np.int32)

    def shape(self, row: int) -> Shape:
        """The shape of a row where it is now."""
        return self.table.shape(row)

    def bounds(self, row: int) -> Bounds:
        """As ``shape(row).bounds``, in a fraction of the time."""
        x, y, shape = self.x.item(row), self.y.item(row), self.table.form(row)
        if isinstance(shape, Box):
            return x, y, x + shape.width, y + shape.height
        if isinstance(shape, Circle):
            return x - shape.radius, y - shape.radius, x + shape.radius, y + shape.radius
        left, top, right, bottom = shape.extent
        return x + left, y + top, x + right, y + bottom

    def angle(self, row: int) -> float:
        """How far a row is turned."""
        return self.table.angle(row)

    def tags(self, row: int) -> frozenset[Any]:
        """The tags of a row."""
        return self.listeners.groups[int(self.group[row])]

    def count_rows(self) -> None:
        """Say anew which rows are free, after ``alive`` was written to."""
        alive = self.alive[: len(self.bodies)]
        self.live = int(alive.sum())
        self._free = np.flatnonzero(~alive).tolist()

    # ---- what the changes share

    def _group_of(self, tags: frozenset[Any]) -> int:
        """The number of a set of tags; those that no body has any more are forgotten before they are many."""
        if self.listeners.crowded:
            alive = np.flatnonzero(self.alive)
            numbers = self.listeners.forget(self.group[alive])
            self.group[:] = 0
            self.group[alive] = numbers
        return self.listeners.group_of(tags)

    def _is_new(self, row: int) -> None:
        self.renewed[row] = self.touched[row] = True
        self._is_late(row)

    def _has_moved(self, row: int) -> None:
        self.touched[row] = True
        if not self.late[row]:
            self.late[row] = True
            self.late_rows.append(row)

    def _have_moved(self, rows: Rows) -> None:
        self.touched[rows] = True
        self.late[rows] = True
        self.many_late = True

    def _leave(self, row: int) -> None:
        if self.index_id[row] != NOT_IN:
            self.leaving.append((int(self.layer[row]), int(self.index_id[row])))
            self.index_id[row] = NOT_IN

    def _enter(self, row: int) -> None:
        """Out of the index where it is, and into that where it belongs."""
        self._leave(row)
        self.layer[row] = self.listeners.layer_of(int(self.group[row]), bool(self.static[row]))
        self._is_late(row)

    def _is_late(self, row: int) -> None:
        """Note that the broad phase has to be told, also where it could wait until now."""
        if self.late[row]:
            self.many_late = True
        else:
            self.late[row] = True
            self.late_rows.append(row)

    def _unshare(self) -> None:
        if self.shared:
            self.bodies = list(self.bodies)
            self.shared = False

    def _grow(self) -> None:
        for name, (dtype, usual) in _COLUMNS.items():
            column = getattr(self, name)
            larger: npt.NDArray[Any] = np.full(2 * len(column), usual, dtype)
            larger[: len(column)] = column
            setattr(self, name, larger)
        self.marks = self._marks()

    def _marks(self) -> Bodies:
        return Bodies(self.sensor, self.category, self.mask, self.touched, self.late)

    def check(self) -> None:
        """Raise ``AssertionError`` where the bookkeeping contradicts itself."""
        n = len(self.bodies)
        expect(len(self.table) == n, "every row has a shape")
        held = [body is not None for body in self.bodies]
        expect(held == self.alive[:n].tolist(), "alive rows hold a body")
        expect(self.live == sum(held), "live counts them")
        expect(not self.alive[n:].any(), "nothing lives beyond the end")
        for row, body in enumerate(self.bodies):
            expect(body is None or (body._row == row and body._store is self), "bodies know their row")
        expect(sorted(self._free) == np.flatnonzero(~self.alive[:n]).tolist(), "the heap holds the free rows")
        expect(set(self.late_rows) <= set(np.flatnonzero(self.late).tolist()), "late_rows are late")
