"""The bodies of a world as arrays by row: what stands there, and who asks for it.

`broadphase.world.body_store` changes it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes.storage import EVERY_BIT, expect
from broadphase.kernels.movement.go import Bodies
from broadphase.shapes.kinds import Bounds, Box, Circle, Shape
from broadphase.shapes.table import ShapeTable
from broadphase.world.body import Body
from broadphase.world.listeners import Listeners

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


class BodyRows:
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
        expect(not self.alive[n:].any(), "nothing lives beyond the end")
        for row, body in enumerate(self.bodies):
            known: Any = body
            expect(body is None or (known._row == row and known._store is self), "bodies know their row")
        expect(sorted(self._free) == np.flatnonzero(~self.alive[:n]).tolist(), "the heap holds the free rows")
        expect(set(self.late_rows) <= set(np.flatnonzero(self.late).tolist()), "late_rows are late")
