"""Movement of thousands of bodies in one call."""

from typing import Any

import numpy as np

from broadphase.boxes import as_float_array
from broadphase.kernels.shape_table import BOX
from broadphase.kernels.travel import FARTHEST
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import Bounds
from broadphase.world.body_store import Floats, Rows
from broadphase.world.hits import Blockers
from broadphase.world.layers import ALL, STATICS, closed_many
from broadphase.world.movement_many import Movements, as_rows, hit_arrays, regions, resolve_many
from broadphase.world.moving import Moving


class MovingMany(Moving):
    """The part of `World` that moves many bodies at once."""

    def move_many(
        self, bodies: Any, dx: Any, dy: Any, response: str = "slide", *, movers_block: bool = False
    ) -> Movements:
        """Move many bodies among static bodies and tiles, in one call.

        Each goes as `move` would take it.  Bodies that are not static are no obstacles, unless
        ``movers_block``.

        Parameters
        ----------
        bodies : list of Body, or array of ids
        dx, dy : float or array_like, shape (m,)
            The ways.
        response : str
            ``"slide"``, ``"touch"``, ``"cross"`` or ``"bounce"``.
        movers_block : bool
            Whether bodies that are not static block too, those that move in this call among them: each is
            moved in turn, and the next sees it at its new place.  As many calls of `move`, then.

        Returns
        -------
        Movements
            ``places``, where each came to, and ``hits`` as arrays; ``hits.others`` are ids, see `World.body`.

        Raises
        ------
        TypeError, ValueError
            A body is not in this world, a number is not finite, or the lengths differ; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> wall = world.add(bp.Box(50, 0, 10, 100), static=True)
        >>> shots = [world.add(bp.Box(0, y, 2, 2)) for y in (10, 30, 150)]
        >>> moved = world.move_many(shots, 1000, 0, "touch")
        >>> moved.places.tolist(), moved.hits.movers.tolist(), moved.hits.others.tolist() == [wall.id] * 2
        ([[48.0, 10.0], [48.0, 30.0], [1000.0, 150.0]], [0, 1], True)
        """
        rows = self._store.rows_of(bodies)
        ways = np.column_stack((_ways(dx, len(rows), "dx"), _ways(dy, len(rows), "dy")))
        goals = self._places(rows) + ways
        unsound = np.flatnonzero(~(np.abs(goals) < FARTHEST).all(axis=1))
        if len(unsound):
            at = int(unsound[0])
            raise ValueError(
                f"dx, dy = {ways[at].tolist()} of bodies[{at}] lead beyond {FARTHEST:g}, or are nan"
            )
        layers = ALL if movers_block else STATICS
        if movers_block or self._store.any_sets or self._any_round(rows):
            found = self._move_in_turn(rows, ways, response, layers)
        else:
            found = self._move_boxes(rows, ways, response)
            self._store.put_many(rows, found.places)
        return found

    def move_all(self, bodies: Any, positions: Any) -> None:
        """Put many bodies somewhere else, whatever is there: `Body.move_to` for arrays.

        Parameters
        ----------
        bodies : list of Body, or array of ids
        positions : array_like, shape (m, 2)

        Raises
        ------
        TypeError, ValueError
            A body is not in this world, a coordinate is not finite, or the lengths differ; nothing has
            changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> balls = [world.add(bp.Circle(0, 0, 1)) for _ in range(3)]
        >>> world.move_all(balls, [[1, 2], [3, 4], [5, 6]])
        >>> balls[1].position, world.positions.tolist()
        ((3.0, 4.0), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        """
        rows = self._store.rows_of(bodies)
        places = as_float_array(positions, "positions").astype(np.float64, copy=False)
        if places.shape != (len(rows), 2) and (places.size or len(rows)):
            raise ValueError(
                f"positions must have shape ({len(rows)}, 2), one a body; got shape {places.shape}"
            )
        places = places.reshape(-1, 2)
        unsound = np.flatnonzero(~(np.abs(places) < FARTHEST).all(axis=1))
        if len(unsound):
            at = int(unsound[0])
            raise ValueError(
                f"positions[{at}] = {places[at].tolist()} must be finite numbers within {FARTHEST:g}"
            )
        self._store.put_many(rows, places)

    # ---- what they share

    def _places(self, rows: Rows) -> Floats:
        return np.column_stack((self._store.x[rows], self._store.y[rows]))

    def _any_round(self, rows: Rows) -> bool:
        """Whether a mover or a static body is no box."""
        store = self._store
        n = len(store.bodies)
        taking_part = store.alive[:n] & store.static[:n]
        taking_part[rows] = True
        return store.any_round and bool((store.table.columns.kinds[taking_part] != BOX).any())

    def _move_boxes(self, rows: Rows, ways: Floats, response: str) -> Movements:
        """Boxes among static boxes: all of them in one kernel call."""
        store = self._store
        table = store.table.columns
        movers = np.column_stack((self._places(rows), table.width[rows], table.height[rows], ways))
        self._layers.sync(STATICS)
        near = self._layers.in_boxes(closed_many(regions(movers, response)), STATICS)
        near = near[~store.sensor[near[:, 1]]]
        near = near[near[:, 1] != rows[near[:, 0]]]
        near = near[np.lexsort((near[:, 1], near[:, 0]))]
        blocking, place = np.unique(near[:, 1], return_inverse=True)
        near[:, 1] = place
        row_of = blocking.tolist()

        def around(bounds: Bounds) -> Blockers:
            at = np.flatnonzero(_touch(walls, bounds))
            return Blockers(walls[at], at.tolist())

        walls: Floats = store.table.bounds(blocking).astype(np.float64, copy=False)
        found = resolve_many(movers, walls, near, around, self._tiles, response)
        known = found.hits.others >= 0
        others = found.hits.others.copy()
        others[known] = np.array(row_of, np.int64)[others[known]] if row_of else -1
        return Movements(found.places, found.hits._replace(others=others))

    def _move_in_turn(self, rows: Rows, ways: Floats, response: str, layers: tuple[int, ...]) -> Movements:
        places = np.empty((len(rows), 2))
        numbers, values = [np.empty((0, 4), np.int64)], [np.empty((0, 5))]
        for at, (row, (dx, dy)) in enumerate(zip(rows.tolist(), ways.tolist(), strict=True)):
            around = self._around(row, (), layers, by_id=True)
            move = self._resolve(row, dx, dy, around, response)
            self._store.put(row, move.x, move.y)
            places[at] = move.x, move.y
            if move.hits:
                more_numbers, more_values = as_rows(at, move)
                numbers.append(more_numbers)
                values.append(more_values)
        return Movements(places, hit_arrays(np.concatenate(numbers), np.concatenate(values)))


def _ways(values: Any, count: int, name: str) -> Floats:
    """One number a body; one for all is repeated."""
    if np.ndim(values) == 0:
        return np.full(count, finite(values, name))
    array = as_float_array(values, name).astype(np.float64, copy=False)
    if array.shape != (count,):
        raise ValueError(f"{name} must be one number, or have shape ({count},); got shape {array.shape}")
    return array


def _touch(boxes: Floats, bounds: Bounds) -> Any:
    left, top, right, bottom = bounds
    across = (boxes[:, 0] <= right) & (boxes[:, 2] >= left)
    return across & (boxes[:, 1] <= bottom) & (boxes[:, 3] >= top)
