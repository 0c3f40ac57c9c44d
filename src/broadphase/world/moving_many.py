"""Movement of thousands of bodies in one call."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.boxes import as_float_array
from broadphase.kernels.movement.travel import FARTHEST
from broadphase.kernels.shapes.table import BOX
from broadphase.kernels.tiles.ground import near_slopes
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import Bounds
from broadphase.world.body_rows import Floats, Rows
from broadphase.world.crossing_many import Before, before_moving, cross_many
from broadphase.world.going import Whole
from broadphase.world.hits import Answer, code_of
from broadphase.world.layers import ALL, STATICS, closed_many
from broadphase.world.movement_many import (
    HitRows,
    Movements,
    all_hits,
    as_rows,
    hit_arrays,
    joined_hits,
    regions,
)
from broadphase.world.moving import Moving
from broadphase.world.way_out import NO_TILES


class MovingMany(Moving):
    """The part of `World` that moves many bodies at once."""

    def move_many(
        self, bodies: Any, dx: Any, dy: Any, response: Answer = "slide", *, movers_block: bool = False
    ) -> Movements:
        """Move many bodies among static bodies and tiles, in one call.

        Each goes as `move` would take it.  Bodies that are not static are no obstacles, unless
        ``movers_block``: they are crossed like sensors, where somebody listens for the two.  Fast where all
        that can meet are boxes; else as many calls of `move`.

        Parameters
        ----------
        bodies : list of Body, or array of ids
        dx, dy : float or array_like, shape (m,)
            The ways.
        response : str
            ``"slide"``, ``"touch"``, ``"cross"`` or ``"bounce"``.
        movers_block : bool
            Whether bodies that are not static block too, those that move in this call among them: each is
            moved in turn, and the next sees it at its new place, as with a call of `move` for each.

        Returns
        -------
        Movements
            ``places``, where each came to, and ``hits`` and ``crossed`` as arrays; ``others`` in them are
            ids, see `World.body`.  Each mover sees those before it at their new places.

        Raises
        ------
        TypeError, ValueError
            A body is not in this world or named twice, a number is not finite, or the lengths differ;
            nothing has changed.

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
        code_of(response)
        rows, ways = self._checked_ways(bodies, dx, dy)
        layers = ALL if movers_block else STATICS
        with Whole(self, rows):
            before = before_moving(self, rows, layers)
            if not self._any_round(rows, layers) and not self._any_slope(rows, ways, response):
                movements = self._boxes(rows, ways, response, layers)
            else:
                places, hits = self._one_by_one(rows, ways, response, layers)
                movements = Movements(places, hit_arrays(*hits))
            return self._crossed_many(rows, before, movements, response)

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

    def _checked_ways(self, bodies: Any, dx: Any, dy: Any) -> tuple[Rows, Floats]:
        """The rows of bodies, and ``(m, 2)``: their ways."""
        rows = self._store.rows_of(bodies)
        if len(np.unique(rows)) < len(rows):
            raise ValueError("bodies names a body twice; each can move once in a call")
        ways = np.column_stack((_ways(dx, len(rows), "dx"), _ways(dy, len(rows), "dy")))
        goals = self._places(rows) + ways
        unsound = np.flatnonzero(~(np.abs(goals) < FARTHEST).all(axis=1))
        if len(unsound):
            at = int(unsound[0])
            raise ValueError(
                f"dx, dy = {ways[at].tolist()} of bodies[{at}] lead beyond {FARTHEST:g}, or are nan"
            )
        return rows, ways

    def _crossed_many(self, rows: Rows, before: Before, movements: Movements, response: str) -> Movements:
        """The movements with what was crossed."""
        return cross_many(self, rows, before, movements, response)

    def _places(self, rows: Rows) -> Floats:
        return np.column_stack((self._store.x[rows], self._store.y[rows]))

    def _any_round(self, rows: Rows, layers: tuple[int, ...]) -> bool:
        """Whether a mover, or a body that it may meet, is no box."""
        store = self._store
        n = len(store.bodies)
        taking_part = store.alive[:n] & (store.static[:n] | (layers == ALL))
        taking_part[rows] = True
        return store.any_round and bool((store.table.columns.kinds[taking_part] != BOX).any())

    def _any_slope(self, rows: Rows, ways: Floats, response: Answer) -> bool:
        """Whether a tile with a slope lies in a mover's way."""
        tiles = self._tiles
        if tiles is None or not tiles.has_slopes:
            return False
        table = self._store.table.columns
        movers = np.column_stack((self._places(rows), table.width[rows], table.height[rows], ways))
        near = np.empty(len(rows), np.bool_)
        reach = closed_many(regions(movers, response))
        return bool(near_slopes(tiles.grid, tiles.ground, reach, near))

    def _boxes(self, rows: Rows, ways: Floats, response: Answer, layers: tuple[int, ...]) -> Movements:
        """Boxes among boxes: in one kernel call as long as none starts inside something.

        One that does is pushed out by itself.  If it ends where those after it have not looked for it,
        they go one by one.
        """
        from broadphase.kernels.movement.travel_in_turn import travel_in_turn  # here: most move one by one

        scene = self._scene(rows, ways, response, layers)
        grid = NO_TILES if self._tiles is None else self._tiles.grid
        codes = np.full(len(rows), code_of(response), np.int64)
        places, inside = np.empty((len(rows), 2)), np.zeros(len(rows), np.bool_)

        def go(at: int, *room: Any) -> tuple[int, int, bool]:
            gone: tuple[int, int, bool] = travel_in_turn(
                scene.movers, codes, at, scene.boxes, *scene.near, grid, places, inside, *room
            )
            return gone

        parts = []
        done = 0
        while done < len(rows):
            begin = done
            (numbers, values), done = all_hits(go, begin, len(rows) - begin)
            self._store.put_many(rows[begin:done], places[begin:done])
            hit = numbers[:, 1] >= 0
            numbers[hit, 1] = scene.rows[numbers[hit, 1]]
            parts.append((numbers, values))
            if inside[done - 1]:
                own = slice(done - 1, done)
                places[own], hits = self._one_by_one(rows[own], ways[own], response, layers, done - 1)
                parts.append(hits)
                box = self._store.bounds(int(rows[done - 1]))
                scene.boxes[scene.near.own[done - 1]] = box
                if layers == ALL and not _holds(scene.reach[done - 1], box):
                    rest = slice(done, len(rows))
                    places[rest], hits = self._one_by_one(rows[rest], ways[rest], response, layers, done)
                    parts.append(hits)
                    break
        return Movements(places, hit_arrays(*joined_hits(parts)))

    def _scene(self, rows: Rows, ways: Floats, response: Answer, layers: tuple[int, ...]) -> "_Scene":
        """The movers, and all that may lie in their way."""
        store = self._store
        table = store.table.columns
        movers = np.column_stack((self._places(rows), table.width[rows], table.height[rows], ways))
        reach = closed_many(regions(movers, response))
        near = self._near(rows, reach, layers)
        known = np.unique(np.concatenate((near[:, 1], rows)))
        return _Scene(
            movers,
            reach,
            known,
            store.table.bounds(known).astype(np.float64, copy=False),
            _Near(
                np.searchsorted(known, rows),
                np.searchsorted(known, near[:, 1]),
                np.searchsorted(near[:, 0], np.arange(len(rows) + 1)),
            ),
        )

    def _near(self, rows: Rows, reach: Floats, layers: tuple[int, ...]) -> Rows:
        """What may block each mover within its reach: sorted rows ``[mover, row]``."""
        store = self._store
        self._layers.sync(layers)
        near = self._layers.in_boxes(reach, layers)
        if layers == ALL:  # the movers count wherever they may come to, not only where they are
            moves = np.zeros(len(store.bodies), np.bool_)
            moves[rows] = True
            from broadphase.one_shot import pairs  # here, because few games move thousands at once

            both = pairs(reach)
            both = np.concatenate((both, both[:, ::-1]))
            both[:, 1] = rows[both[:, 1]]
            near = np.concatenate((near[~moves[near[:, 1]]], both))
        mover, other = rows[near[:, 0]], near[:, 1]
        blocks = ~store.sensor[other] & (other != mover)
        if store.any_sets:
            blocks &= store.category[mover] & store.mask[other] != 0
            blocks &= store.category[other] & store.mask[mover] != 0
        near = near[blocks]
        ordered: Rows = near[np.lexsort((near[:, 1], near[:, 0]))]
        return ordered

    def _one_by_one(
        self, rows: Rows, ways: Floats, response: Answer, layers: tuple[int, ...], first: int = 0
    ) -> tuple[Floats, HitRows]:
        """Each as `move` would take it; the first is mover number ``first``."""
        places = np.empty((len(rows), 2))
        parts = []
        for at, (row, (dx, dy)) in enumerate(zip(rows.tolist(), ways.tolist(), strict=True)):
            around = self._around(row, (), layers, by_id=True)
            move = self._resolve(row, dx, dy, around, response)
            self._store.put(row, move.x, move.y)
            places[at] = move.x, move.y
            if move.hits:
                parts.append(as_rows(first + at, move))
        return places, joined_hits(parts)


class _Near(NamedTuple):
    """Which boxes may lie in the way of which mover, as `travel_in_turn` takes it."""

    own: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]


class _Scene(NamedTuple):
    movers: Floats
    reach: Floats
    """All that each mover can pass."""
    rows: Rows
    """The body of each box."""
    boxes: Floats
    near: _Near


def _holds(reach: Floats, box: Bounds) -> bool:
    left, top, right, bottom = reach.tolist()
    return bool(left <= box[0] and top <= box[1] and box[2] <= right and box[3] <= bottom)


def _ways(values: Any, count: int, name: str) -> Floats:
    """One number a body; one for all is repeated."""
    if np.ndim(values) == 0:
        return np.full(count, finite(values, name))
    array = as_float_array(values, name).astype(np.float64, copy=False)
    if array.shape != (count,):
        raise ValueError(f"{name} must be one number, or have shape ({count},); got shape {array.shape}")
    return array
