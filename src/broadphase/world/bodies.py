"""The bodies of a world as arrays by row, and what has changed since somebody looked.

A row is a body's id: the lowest that is free.  Two parties want to know about changes: the broad phase
(``late``: its box there is not the body's) and the contacts (``touched`` since the last update; ``renewed``
where it is to them another body than before).  Each change is done altogether or, where it is interrupted,
not at all.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import as_boxes
from broadphase.indexes import arguments
from broadphase.indexes.storage import EVERY_BIT, expect
from broadphase.kernels.movement.motion import Bodies, put
from broadphase.kernels.shapes.table import BOX
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import Bounds, Box, Circle, Polygon, Shape, boxes_of, turned_point
from broadphase.shapes.table import ShapeTable
from broadphase.world.arguments import as_place, as_shape, as_two
from broadphase.world.body import GONE, Body, Remains, bodies_of, going, keep_remains
from broadphase.world.listeners import Listeners, as_tags
from broadphase.world.space import Space

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
    """The arrays of a world, and all that changes them; ``len(bodies)`` rows are in use or were."""

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

    def __init__(self, listeners: Listeners, space: Space) -> None:
        self.listeners = listeners
        self.space = space
        self.table = ShapeTable()
        self.x = self.y = self.table.x
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
        self.round = 0
        """How many bodies are no boxes: circles, polygons and what is turned."""
        self.ruled = 0
        """How many have a category or mask other than the usual."""
        self.sensors = 0
        """How many let others through."""
        self.retagged = False
        """Whether a body may have other tags than at the last update."""
        self.live = 0
        self._free: list[int] = []
        self.alive = np.empty(0, np.bool_)
        self.marks: Bodies
        """What movement asks and marks."""
        self._reserve(_FIRST_ROOM)

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
        store: Any = body._store
        if store is not self:
            raise ValueError(f"{name} = {body!r} belongs to another world")
        if body._row < 0:
            raise ValueError(f"{name} = {body!r} was removed from its world; add its shape anew")
        return body._row

    def ignored(self, ignore: Any) -> frozenset[int]:
        """The rows of a body or several that do not count for a movement or a query.

        Raises
        ------
        TypeError, ValueError
            One is no body of this world.
        """
        if isinstance(ignore, Body):
            return frozenset((self.row(ignore, "ignore"),))
        if ignore is None or ignore == ():
            return frozenset()
        if not isinstance(ignore, Iterable):
            raise TypeError(f"ignore must be a Body or several of them; got {ignore!r}")
        return frozenset(self.row(one, f"ignore[{at}]") for at, one in enumerate(ignore))

    def rows_of(self, bodies: Any, name: str = "bodies") -> Rows:
        """The rows of bodies, or checked ids."""
        if isinstance(bodies, np.ndarray) and bodies.dtype.kind in "iu":
            ids = bodies.ravel()
            rows = ids.astype(np.int32)
            known = (ids >= 0) & (ids < len(self.bodies))
            known[known] = self.alive[rows[known]]
            if not known.all():
                at = int(np.flatnonzero(~known)[0])
                raise ValueError(f"{name}[{at}] = {ids[at]} is the id of no body")
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
        """Say anew which rows are free and what bodies are, after the arrays were written to."""
        alive = self.alive[: len(self.bodies)]
        self.live = int(alive.sum())
        self._free = np.flatnonzero(~alive).tolist()
        self.round, self.ruled, self.sensors = self._counted(self.rows())

    def _counted(self, rows: Rows) -> tuple[int, int, int]:
        """How many of some bodies are round, ruled and sensors."""
        kinds, category, mask = self.table.places.kinds[rows], self.category[rows], self.mask[rows]
        ruled = (category != 1) | (mask != EVERY_BIT)
        return int((kinds != BOX).sum()), int(ruled.sum()), int(self.sensor[rows].sum())

    # ---- coming and going; each is done altogether or, should it be interrupted, not at all

    def add(
        self, shape: Shape, tag: Any, static: bool, sensor: bool, category: int, mask: int, data: Any
    ) -> Body:
        """Put a body into the lowest free row."""
        known = as_shape(shape)
        self.space.check_fits(known, "shape")
        group = self._group_of(as_tags(tag))
        static, sensor = arguments.flag(static, "static"), arguments.flag(sensor, "sensor")
        category, mask = arguments.bit_set(category, "category"), arguments.bit_set(mask, "mask")
        self.space.reaches(known)
        known = self.space.carried(known)
        self._unshare()
        free, end = self._free, len(self.bodies)
        row = free[0] if free else end
        if row >= len(self.alive):
            self._reserve(row + 1)
        self.table.put(row, known)
        layer = self.listeners.layer_of(group, static)
        body, late = Body(self, row, data), self.late.item(row)
        is_round, is_ruled = not isinstance(known, Box), category != 1 or mask != EVERY_BIT
        # Nothing can come in between from here on: the only call is the last thing.
        self.bodies[row : row + 1] = (body,)
        self.static[row], self.sensor[row] = static, sensor
        self.category[row], self.mask[row], self.group[row] = category, mask, group
        self.index_id[row], self.layer[row] = NOT_IN, layer
        self.alive[row] = self.touched[row] = self.renewed[row] = self.late[row] = True
        self.round += is_round
        self.ruled += is_ruled
        self.sensors += sensor
        self.live += 1
        if late:
            self.many_late = True
        else:
            self.late_rows += (row,)
        if free:
            heapq.heappop(free)
        return body

    def add_many(
        self, shapes: Any, data: Sequence[Any] | None, rules: tuple[Any, bool, bool, int, int]
    ) -> list[Body]:
        """Put bodies into the lowest free rows; ``rules`` are tag, static, sensor, category and mask."""
        shapes = as_shapes(shapes)
        if data is None:
            data = [None] * len(shapes)
        elif len(data) != len(shapes):
            raise ValueError(f"data has {len(data)} entries for {len(shapes)} shapes; give one each, or None")
        if self.space.periodic:
            for at, shape in enumerate(shapes):
                self.space.check_fits(shape, f"shapes[{at}]")
        tag, static, sensor, category, mask = rules
        group = self._group_of(as_tags(tag))
        static, sensor = arguments.flag(static, "static"), arguments.flag(sensor, "sensor")
        category, mask = arguments.bit_set(category, "category"), arguments.bit_set(mask, "mask")
        if not shapes:
            return []
        if self.space.periodic:
            for shape in shapes:
                self.space.reaches(shape)  # first, should it be interrupted
            shapes = [self.space.carried(shape) for shape in shapes]
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
        count, more, still_free = len(made), made[len(reused) :], free[len(reused) :]
        is_round = sum(not isinstance(shape, Box) for shape in shapes)
        is_ruled = count if category != 1 or mask != EVERY_BIT else 0
        # No calls from here on: nothing can come in between.
        bodies[end:] = more
        self.bodies, self.shared = bodies, False
        self.static[rows], self.sensor[rows] = static, sensor
        self.category[rows], self.mask[rows], self.group[rows] = category, mask, group
        self.index_id[rows], self.layer[rows] = NOT_IN, layer
        self.alive[rows] = self.touched[rows] = self.renewed[rows] = self.late[rows] = True
        self.round += is_round
        self.ruled += is_ruled
        self.sensors += count * sensor
        self.live += count
        self._free, self.many_late = still_free, True
        return made

    def remove(self, body: Body) -> None:
        """Take a body out; its handle keeps what it was."""
        row = self.row(body)
        self._unshare()
        remains, leaving = self._remains(row), self._leaving(row)
        is_round = self.table.places.kinds.item(row) != BOX
        is_ruled = remains.category != 1 or remains.mask != EVERY_BIT
        is_sensor = remains.sensor
        # Nothing can come in between from here on: the only call is the last thing.
        self.leaving += leaving
        self.index_id[row] = NOT_IN
        self.alive[row] = False
        self.touched[row] = self.renewed[row] = True
        if row not in self.gone:
            self.gone[row] = body
        self.bodies[row] = None
        self.live -= 1
        self.round -= is_round
        self.ruled -= is_ruled
        self.sensors -= is_sensor
        body._remains, body._row = remains, GONE
        heapq.heappush(self._free, row)

    def remove_many(self, rows: Rows) -> None:
        """Take the bodies of these rows out."""
        if len(np.unique(rows)) < len(rows):
            raise ValueError("bodies names a body twice; each can be removed once")
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
        free, count = sorted(self._free + listed), len(listed)
        are_round, are_ruled, are_sensors = self._counted(rows)
        go, through = going(dying)
        # Nothing can come in between from here on: the only call is the last thing.
        self.leaving += leaving
        self.index_id[rows] = NOT_IN
        self.alive[rows] = False
        self.touched[rows] = self.renewed[rows] = True
        self.gone, self.bodies, self.shared = gone, bodies, False
        self.live -= count
        self.round -= are_round
        self.ruled -= are_ruled
        self.sensors -= are_sensors
        self._free = free
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
        if self.space.periodic:
            x, y = self.space.place(x, y)
        try:
            if put(self.x, self.y, self.touched, self.late, row, x, y):
                self.late_rows.append(row)
        except BaseException:  # between the two lines
            self.many_late = True
            raise

    def put_many(self, rows: Rows, places: Floats) -> None:
        """Other places, checked before; a row that comes twice ends at its last place."""
        x, y = self.space.places(places).T
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
        self.space.check_fits(shape, "shape")
        self.space.reaches(shape)  # first, should it be interrupted
        shape = self.space.carried(shape)
        self._have_moved(np.array([row], np.int32))  # first, should it be interrupted
        self._reform(np.array([row], np.int32), lambda: self.table.put(row, shape))

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
        if self.space.periodic:
            shapes = [
                self.table.base(row).rotated(angle)
                for row, angle in zip(rows.tolist(), angles.tolist(), strict=True)
            ]
            for row, angle, shape in zip(rows.tolist(), angles.tolist(), shapes, strict=True):
                self.space.check_fits(shape, f"angle {angle:g} of body {row}: shape")
            for shape in shapes:
                self.space.reaches(shape)  # first, should it be interrupted
        turned = self.table.angles_of(rows) != angles
        if turned.any():
            self._have_moved(rows[turned])  # first, should it be interrupted
            self._reform(rows, lambda: self.table.turn(rows, angles))

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
        more = sensor - self.sensor.item(row)
        # No calls from here on: nothing can come in between.
        self.sensors += more
        self.sensor[row] = sensor

    def set_sets(self, body: Body, category: int, mask: int) -> None:
        """What it meets."""
        row = self.row(body)
        category, mask = arguments.bit_set(category, "category"), arguments.bit_set(mask, "mask")
        more = (category != 1 or mask != EVERY_BIT) - self._counted(np.array([row], np.int32))[1]
        # No calls from here on: nothing can come in between.
        self.ruled += more
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

    def _reform(self, rows: Rows, change: Callable[[], None]) -> None:
        """Call what gives these rows other forms, and count who is round.

        Meanwhile all of them are taken for round, should it be interrupted: that is never wrong.
        """
        others = self.round - self._counted(rows)[0]
        try:
            self.round = others + len(rows)
            change()
        finally:
            self.round = others + self._counted(rows)[0]

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

    def _reserve(self, rows: int) -> None:
        """Make room for so many rows."""
        room = len(self.alive)
        if rows <= room:
            return
        columns: dict[str, Any] = {}
        for name, (dtype, usual) in _COLUMNS.items():
            columns[name] = np.full(max(rows, 2 * room), usual, dtype)
            columns[name][:room] = getattr(self, name, 0)  # at first there are none
        columns["marks"] = Bodies(*(columns[name] for name in Bodies._fields))
        self.table.reserve(max(rows, 2 * room))
        places = self.table.places
        columns["x"], columns["y"] = places.x, places.y
        self.__dict__.update(columns)  # all or none, should this be interrupted

    def check(self) -> None:
        """Raise ``AssertionError`` where the bookkeeping contradicts itself."""
        n = len(self.bodies)
        expect(len(self.table) >= n, "every row has a shape")
        held = [body is not None for body in self.bodies]
        expect(held == self.alive[:n].tolist(), "alive rows hold a body")
        expect(self.live == sum(held), "live counts them")
        counted = self._counted(self.rows())
        expect((self.round, self.ruled, self.sensors) == counted, "round, ruled and sensors count them")
        expect(not self.alive[n:].any(), "nothing lives beyond the end")
        for row, body in enumerate(self.bodies):
            known: Any = body
            expect(body is None or (known._row == row and known._store is self), "bodies know their row")
        expect(sorted(self._free) == np.flatnonzero(~self.alive[:n]).tolist(), "the heap holds the free rows")
        expect(set(self.late_rows) <= set(np.flatnonzero(self.late).tolist()), "late_rows are late")


def as_shapes(shapes: Any) -> list[Shape]:
    """Shapes, or the rows of an array of boxes as shapes.

    Examples
    --------
    >>> as_shapes([[0, 0, 10, 20]])
    [Box(x=0.0, y=0.0, width=10.0, height=20.0)]
    """
    known = (Box, Circle, Polygon)
    if isinstance(shapes, (list, tuple)) and all(isinstance(one, known) for one in shapes):
        return list(shapes)
    if isinstance(shapes, (list, tuple)) and any(isinstance(one, known) for one in shapes):
        return [as_shape(one) for one in shapes]  # names what is none
    boxes = as_boxes(shapes, "shapes")
    if boxes.shape[1] != 4:
        raise ValueError(f"shapes must be 2-D boxes, with 4 columns; got shape {boxes.shape}")
    wrong = np.flatnonzero(~np.isfinite(boxes).all(axis=1))
    if len(wrong):
        raise ValueError(
            f"shapes[{wrong[0]}] = {boxes[wrong[0]].tolist()} must be finite: bodies have an end"
        )
    corners = boxes.astype(np.float64, copy=False)
    sizes = corners[:, 2:] - corners[:, :2]
    sums = corners[:, :2] + sizes
    wrong = np.flatnonzero(~np.isfinite(sums).all(axis=1))
    if len(wrong):
        Box(*corners[wrong[0], :2].tolist(), *sizes[wrong[0]].tolist())  # says what is wrong
    return [*boxes_of(*corners[:, :2].T, *sizes.T)]
