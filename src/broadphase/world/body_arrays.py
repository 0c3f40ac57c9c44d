"""`Bodies`: several bodies of a world, as a sequence of `Body` and as arrays.

Calls that take bodies read the ids, so that moving 20,000 bodies loops over none of them.  An id is reused
after a removal.  So the store keeps for each row when a body last left it, and only what left since the last
look is compared with its handle.
"""

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from broadphase.inputs.arrays import NUMBERS, settled
from broadphase.runtime.arrays import Floats
from broadphase.world.arguments import as_places, as_points
from broadphase.world.bodies import Body, BodyStore, Rows
from broadphase.world.hits import Answer, Movements


class Bodies(Sequence[Body]):
    """Several bodies of a world: what `World.add_many` and `World.bodies` return.

    A sequence of `Body`, equal to a list of the same bodies; a slice is a `Bodies` too.  It is taken wherever
    several bodies are, and is faster there than a list.  It stays what it is: bodies that are added later are
    not in it, and those that are removed remain in it.  The arrays and the methods raise ``ValueError`` once
    one was removed; ask `World.bodies` again.

    The arrays have one row for each body, in the order of the sequence, which is that of the ids.  Each is a
    copy: to change the bodies, set it, also by ``+=`` and ``*=``.

    Examples
    --------
    >>> import broadphase as bp
    >>> world = bp.World()
    >>> flock = world.add_many([[0, 0, 2, 2], [10, 0, 12, 2], [20, 0, 22, 2]], tag="bird")
    >>> flock.velocities = 3, 0
    >>> flock.velocities *= 2
    >>> flock.positions += flock.velocities / 60
    >>> flock[1].velocity, flock.positions[:, 0].round(9).tolist()
    ((6.0, 0.0), [0.1, 10.1, 20.1])
    >>> flock[1:].ids.tolist(), flock[1:] == [flock[1], flock[2]], world.bodies("bird") == flock
    ([1, 2], True, True)
    """

    __slots__ = ("_handles", "_ids", "_looked", "_store", "_world")

    def __init__(self, world: Any, store: BodyStore, ids: Rows, handles: list[Body]) -> None:
        self._world = world
        self._store = store
        self._ids = ids
        self._handles = handles
        self._looked = store.departures
        """When all of them were known to be in the world."""

    # ---- a sequence

    def __len__(self) -> int:
        return len(self._handles)

    @overload
    def __getitem__(self, index: int) -> Body: ...
    @overload
    def __getitem__(self, index: slice) -> "Bodies": ...
    def __getitem__(self, index: int | slice) -> "Body | Bodies":
        if not isinstance(index, slice):
            try:
                return self._handles[index]
            except TypeError:
                fix = "for a mask or a list, bodies.ids[...] are the ids, which every call takes"
                raise TypeError(f"bodies take an index or a slice; got {index!r}; {fix}") from None
        selection = Bodies(self._world, self._store, self._ids[index], self._handles[index])
        selection._looked = self._looked
        return selection

    def __iter__(self) -> Iterator[Body]:
        return iter(self._handles)

    def __contains__(self, body: object) -> bool:
        return body in self._handles

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Bodies, list)):
            return NotImplemented
        return self._handles == (other._handles if isinstance(other, Bodies) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} bodies>" if len(self) > 3 else repr(self._handles)

    # ---- arrays

    @property
    def ids(self) -> Rows:
        """``(m,)`` int32: the id of each body, as it is or, if it was removed, as it was."""
        return self._ids.copy()

    @property
    def positions(self) -> Floats:
        """``(m, 2)``: where they are, see `Body.x`; set it to put them there, whatever is there."""
        return self._store.places(self._rows())

    @positions.setter
    def positions(self, positions: Any) -> None:
        places = as_places(settled(positions, "positions", NUMBERS), len(self), "positions")
        self._store.put_many(self._rows(), places)

    @property
    def centers(self) -> Floats:
        """``(m, 2)``: the middles of their shapes; set it to put them there, whatever is there."""
        return self._store.table.centers(self._rows())

    @centers.setter
    def centers(self, centers: Any) -> None:
        goals = as_places(settled(centers, "centers", NUMBERS), len(self), "centers")
        rows = self._rows()
        places = self._store.places(rows) + (goals - self._store.table.centers(rows))
        self._store.put_many(rows, as_places(places, len(self), "centers"))

    @property
    def velocities(self) -> Floats:
        """``(m, 2)``: in world units a second, see `Body.velocity`; set it to one for all, or one each."""
        rows, store = self._rows(), self._store
        return np.column_stack((store.velocity_x[rows], store.velocity_y[rows]))

    @velocities.setter
    def velocities(self, velocities: Any) -> None:
        given = as_points(velocities, "velocities")
        if given.ndim == 2 and len(given) != len(self):
            raise ValueError(f"velocities has {len(given)} rows for {len(self)} bodies; give one each")
        x, y = given.T
        rows, store = self._rows(), self._store
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        store.velocity_x[rows], store.velocity_y[rows] = x, y

    @property
    def angles(self) -> Floats:
        """``(m,)``: in degrees, see `Body.angle`; set it to one angle for all, or one each."""
        return self._store.table.angles_of(self._rows())

    @angles.setter
    def angles(self, angles: Any) -> None:
        self.turn(angles)

    # ---- all at once

    def move(
        self,
        dx: Any,
        dy: Any = None,
        response: Answer = "slide",
        *,
        movers_block: bool = False,
        ignore: Any = (),
    ) -> Movements:
        """Move all of them, see `World.move_many`."""
        moved: Movements = self._world.move_many(
            self, dx, dy, response, movers_block=movers_block, ignore=ignore
        )
        return moved

    def walk(self, dx: Any, dy: Any, **options: Any) -> Movements:
        """Let all of them walk, with the options of `World.walk_many`."""
        walks: Movements = self._world.walk_many(self, dx, dy, **options)
        return walks

    def turn(self, angles: Any) -> None:
        """Turn all of them to angles, whatever is there; see `World.turn_many`."""
        self._world.turn_many(self, angles)

    def remove(self) -> None:
        """Take all of them out of their world, see `World.remove_many`."""
        self._world.remove_many(self)

    # ---- for the calls that take bodies

    def rows_in(self, store: BodyStore, name: str) -> Rows:
        """The rows of all bodies, which must be in the world of a store; see `BodyStore.rows_of`."""
        if store is not self._store:
            for number, body in enumerate(self._handles):
                store.row(body, f"{name}[{number}]")
        departures = self._store.departures
        if departures != self._looked:
            # A row that a body left may be that of the body again, after a `World.restore`.
            for number in np.flatnonzero(self._store.left[self._ids] > self._looked).tolist():
                store.row(self._handles[number], f"{name}[{number}]")
            self._looked = departures
        return self._ids.copy()

    def _rows(self) -> Rows:
        return self.rows_in(self._store, "bodies")
