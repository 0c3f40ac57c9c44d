"""Characters of platformers: along floors and slopes, up steps, onto ladders, one or thousands at once."""

import math
from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.movement import walk as kernel
from broadphase.kernels.movement.walk_scene import Rules, WalkRoom
from broadphase.kernels.movement.walk_trip import Log
from broadphase.kernels.shapes.table import BOX, ShapeColumns
from broadphase.kernels.shapes.turn import cosine_sine
from broadphase.kernels.tiles.ground import no_ground
from broadphase.shapes.check import extent
from broadphase.world.arguments import as_two
from broadphase.world.body import Body
from broadphase.world.body_rows import Floats, Rows
from broadphase.world.crossing_many import before_moving
from broadphase.world.going import Whole
from broadphase.world.hits import Hit
from broadphase.world.layers import ALL, STATICS, closed_many
from broadphase.world.movement import checked_way
from broadphase.world.movement_many import HitArrays, Movements, as_rows, hit_arrays
from broadphase.world.moving_many import MovingMany
from broadphase.world.tiles import Tile
from broadphase.world.walks import Integers, Walk, Walks
from broadphase.world.way_out import NO_TILES

_NO_GROUND = no_ground()
_DOWN = (0.0, 1.0)
_RING = np.array([cosine_sine(360.0 * k / 32) for k in range(32)])
"""What is round is walked on as a polygon around it, of so many sides."""


class Walking(MovingMany):
    """The part of `World` that lets boxes walk.

    A walk goes along first and then up or down, so that ``walk(body, dx, dy)`` and ``walk(body, dx, 0)``
    followed by ``walk(body, 0, dy)`` are the same, to the last bit.

    - **Along.**  Who stands on a floor follows it, up and down all slopes up to ``steepest``, at ``dx`` for
      each call however steep; seams between tiles and bodies of any kind are nothing.  Who walks off an edge
      is set down on a floor no more than ``snap`` below.  In the air the way is straight.
    - **Down.**  A fall ends on what is level enough to stand on, and there nothing slides or drifts; down
      what is steeper it slides.
    - **Up.**  A jump ends at a ceiling, unless ``corner`` lets it slip past its edge.

    What blocks is what blocks `World.move`, slopes of tiles and one-way tiles included.  A walker keeps off
    slanted sides by about 1e-13 of its coordinates.  What is round is walked on as a polygon of 32 sides
    around it.
    """

    def walk(
        self,
        body: Body,
        dx: float,
        dy: float,
        *,
        snap: float = 0.0,
        steepest: float = 45.0,
        step: float = 0.0,
        corner: float = 0.0,
        drop: bool = False,
        down: tuple[float, float] = _DOWN,
    ) -> Walk:
        """Move a character: along by ``dx``, then up or down by ``dy``; see `Walking`.

        Parameters
        ----------
        body : Body
            A box that is not turned.
        dx, dy : float
            The way.  Give gravity with each call: the floor takes it.
        snap : float
            How far below a floor may be that is stepped down to without a fall.
        steepest : float
            The steepest slope that it walks and stands on, in degrees, less than 90.
        step : float
            How high an edge may be that it walks up.
        corner : float
            How far it may be moved aside where its head meets but the end of a ceiling.
        drop : bool
            Whether it falls through what blocks on its top only: one-way tiles, and ladders.
        down : (float, float)
            Where things fall: ``(0, 1)``, or ``(0, -1)`` where y points up.

        Returns
        -------
        Walk
            ``x, y, hits, crossed, floor, normal, ladder``, and ``blocked, left, right, top, bottom``.

        Raises
        ------
        TypeError, ValueError
            The body is not in this world or no box, or a number is not finite or out of range; nothing has
            changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> world.tiles = bp.TileMap([[False] * 4, [True] * 4], 32)
        >>> world.tiles.set_slope(2, 0, 0, 1)
        >>> hero = world.add(bp.Box(20, 8, 16, 24))
        >>> walk = world.walk(hero, 44, 5)
        >>> walk.x, round(walk.y, 9), walk.floor, walk.bottom
        (64.0, -8.0, Tile(column=2, row=0), True)
        >>> world.walk(hero, 0, -10).floor is None
        True
        """
        rules = _rules(snap, steepest, step, corner, drop, down)
        rows = np.array([self._store.row(body)], np.int32)
        way = checked_way(body.x, dx, "dx"), checked_way(body.y, dy, "dy")
        with Whole(self, rows):
            found = self._walk_rows(rows, np.array([way]), rules, ALL)
        column, row = found.ladders[0].tolist()
        stands = bool(found.on_floor[0])
        x, y = found.places[0].tolist()
        nx, ny = found.normals[0].tolist()
        return Walk(
            x,
            y,
            self._as_hits(found.hits, "slide"),
            self._as_hits(found.crossed, "cross"),
            self._named(*found.floors[0].tolist()) if stands else None,
            (nx, ny) if stands else None,
            Tile(column, row) if column >= 0 else None,
        )

    def walk_many(
        self,
        bodies: Any,
        dx: Any,
        dy: Any,
        *,
        snap: float = 0.0,
        steepest: float = 45.0,
        step: float = 0.0,
        corner: float = 0.0,
        drop: bool = False,
        down: tuple[float, float] = _DOWN,
        movers_block: bool = False,
    ) -> Walks:
        """Move many characters among static bodies and tiles, in one call; each as `walk` would.

        Parameters
        ----------
        bodies : list of Body, or array of ids
            Boxes that are not turned.
        dx, dy : float or array_like, shape (m,)
            The ways.
        snap, steepest, step, corner, drop, down
            As of `walk`, the same for all.
        movers_block : bool
            As of `move_many`: whether bodies that are not static block too.

        Returns
        -------
        Walks
            ``places, hits, crossed, floors, normals, ladders`` as arrays, and ``on_floor``.

        Raises
        ------
        TypeError, ValueError
            As of `walk`, or a body is named twice, or the lengths differ; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> floor = world.add(bp.Box(0, 50, 400, 10), static=True)
        >>> crowd = [world.add(bp.Box(x, 0, 10, 20)) for x in (0, 100, 500)]
        >>> walks = world.walk_many(crowd, [5, -5, 0], 40)
        >>> walks.places.tolist(), walks.on_floor.tolist()
        ([[5.0, 30.0], [95.0, 30.0], [500.0, 40.0]], [True, True, False])
        """
        rules = _rules(snap, steepest, step, corner, drop, down)
        rows, ways = self._checked_ways(bodies, dx, dy)
        with Whole(self, rows):
            return self._walk_rows(rows, ways, rules, ALL if movers_block else STATICS)

    # ---- what they share

    def _walk_rows(self, rows: Rows, ways: Floats, rules: Rules, layers: tuple[int, ...]) -> Walks:
        store = self._store
        kinds = store.table.columns.kinds[rows]
        if (kinds != BOX).any():
            body = self._body(int(rows[np.flatnonzero(kinds != BOX)[0]]))
            raise ValueError(f"{body!r} can not walk: a walker is a Box that is not turned")
        before = before_moving(self, rows, layers)
        trip = self._trip(rows, ways, rules, layers)
        trip.go()
        found = trip.log
        bends = found.bends[: found.counts[1]]
        none = np.full((len(bends), 2), -1)
        legs = HitArrays(
            bends[:, 0].astype(np.int64),
            none[:, 0],
            none,
            bends[:, 3],
            np.zeros_like(none, float),
            bends[:, 1:3],
        )
        crossed = self._crossed_many(rows, before, Movements(trip.places, legs), "slide").crossed
        return Walks(trip.places, trip.hits(), crossed, trip.floors[:, :3], trip.tops, trip.floors[:, 3:])

    def _trip(self, rows: Rows, ways: Floats, rules: Rules, layers: tuple[int, ...]) -> "_Trip":
        return _Trip(self, rows, ways, rules, layers)

    def _named(self, body: int, column: int, row: int) -> Body | Tile:
        return self._body(body) if body >= 0 else Tile(column, row)

    def _as_hits(self, hits: HitArrays, response: Any) -> tuple[Hit, ...]:
        return tuple(
            Hit(self._named(other, *tile), time, (nx, ny), (x, y), response)
            for other, tile, time, (nx, ny), (x, y) in zip(
                hits.others.tolist(),
                hits.tiles.tolist(),
                hits.times.tolist(),
                hits.normals.tolist(),
                hits.touches.tolist(),
                strict=True,
            )
        )


class Scene(NamedTuple):
    """Walkers and what is around them, as kernels take it."""

    columns: ShapeColumns
    rows: Integers
    """Who walks."""
    near: Integers
    """What may lie in the way, by walker."""
    starts: Integers
    owners: Integers | None = None
    """Whose columns these are, where they are not those of the world."""


class _Trip:
    """Walkers on their way, and the memory for it."""

    def __init__(
        self, world: Walking, rows: Rows, ways: Floats, rules: Rules, layers: tuple[int, ...]
    ) -> None:
        count = len(rows)
        self.world, self.rows, self.ways, self.rules, self.layers = world, rows, ways, rules, layers
        self.places, self.tops = np.empty((count, 2)), np.empty((count, 2))
        self.floors: Integers = np.empty((count, 5), np.int64)
        self.room = _room(64, 256)
        self.log = _log(2 * count + 8, 4 * count + 8)
        self._pushed: list[tuple[Integers, Floats]] = []

    def go(self) -> None:
        """All the way."""
        tiles = self.world._tiles
        grid = NO_TILES if tiles is None else tiles.grid
        ground = _NO_GROUND if tiles is None else tiles.ground
        scene = self._scene()
        begin, through = 0, -1
        while begin < len(self.rows):
            before = self._before()
            done, state = kernel.walk_rows(
                *(
                    scene.columns,
                    scene.rows,
                    self.ways,
                    begin,
                    through,
                    scene.near,
                    scene.starts,
                    grid,
                    ground,
                ),
                *(_RING, self.rules, self.room, self.log, self.places, self.floors, self.tops),
            )
            self._have_walked(scene, begin, int(done), before)
            if state == kernel.MORE_ROOM:
                self.room = _room(2 * len(self.room.boxes), 2 * len(self.room.planes))
            elif state == kernel.MORE_LOG:
                self.log = _grown(self.log)
            elif state == kernel.INSIDE:
                self._push_out(int(done))
                scene = self._scene()
                through = int(done)
            begin = int(done)

    def hits(self) -> HitArrays:
        """What stopped them, what they started in included."""
        found = int(self.log.counts[0])
        numbers, values = self.log.numbers[:found], self.log.values[:found]
        if self._pushed:
            numbers = np.concatenate([*(part for part, _ in self._pushed), numbers])
            values = np.concatenate([*(part for _, part in self._pushed), values])
            order = np.argsort(numbers[:, 0], kind="stable")
            numbers, values = numbers[order], values[order]
        return hit_arrays(numbers, values)

    def _scene(self) -> Scene:
        """Who walks, and what may lie in the way of each."""
        world = self.world
        near = world._near(self.rows, self._reach(), self.layers)
        starts = np.searchsorted(near[:, 0], np.arange(len(self.rows) + 1))
        rows = self.rows.astype(np.int64)
        return Scene(world._store.table.columns, rows, near[:, 1].astype(np.int64), starts)

    def _reach(self) -> Floats:
        world = self.world
        table = world._store.table.columns
        sizes = table.width[self.rows], table.height[self.rows]
        movers = np.column_stack((world._places(self.rows), *sizes, self.ways))
        reach = np.empty((len(self.rows), 4))
        kernel.regions_of(movers, self.rules, reach)
        return closed_many(reach)

    def _before(self) -> tuple[Any, Any, int]:
        """Where the walkers are, and how many hits are noted."""
        store = self.world._store
        return store.x[self.rows], store.y[self.rows], self.log.counts.item(0)

    def _have_walked(self, scene: Scene, begin: int, end: int, before: tuple[Any, Any, int]) -> None:
        """Some walkers have come to other places, which stand in the store already."""
        store = self.world._store
        moved = (store.x[self.rows] != before[0]) | (store.y[self.rows] != before[1])
        if moved.any():
            store._have_moved(self.rows[moved])

    def _push_out(self, mover: int) -> None:
        world, row = self.world, int(self.rows[mover])
        around = world._around(row, (), self.layers, by_id=True)
        move = world._resolve(row, 0.0, 0.0, around, "slide")
        world._store.put(row, move.x, move.y)
        if move.hits:
            self._pushed.append(as_rows(mover, move))


def _rules(
    snap: float, steepest: float, step: float, corner: float, drop: bool, down: tuple[float, float]
) -> Rules:
    angle = extent(steepest, "steepest")
    if not angle < 90.0:
        raise ValueError(f"steepest = {angle:g} must be less than 90 degrees")
    x, y = as_two(down, "down")
    if x != 0.0 or y == 0.0:
        raise ValueError(f"down = {down} must be (0, 1) or (0, -1)")
    if not isinstance(drop, bool | np.bool_):
        raise TypeError(f"drop must be True or False; got {drop!r}")
    cosine, sine = cosine_sine(angle)
    return Rules(
        extent(snap, "snap"),
        sine / cosine,
        cosine * (1.0 - 1e-9),
        extent(step, "step"),
        extent(corner, "corner"),
        math.copysign(1.0, y),
        bool(drop),
    )


def _room(boxes: int, planes: int) -> WalkRoom:
    return WalkRoom(
        np.empty((boxes, 4)),
        np.empty((boxes, 4), np.int64),
        np.empty(boxes + 1, np.int64),
        np.empty((planes, 3)),
    )


def _log(hits: int, bends: int) -> Log:
    return Log(
        np.empty((hits, 4), np.int64), np.empty((hits, 5)), np.empty((bends, 4)), np.zeros(2, np.int64)
    )


def _grown(log: Log) -> Log:
    larger = _log(2 * len(log.numbers), 2 * len(log.bends))
    for column in range(3):
        larger[column][: len(log[column])] = log[column]
    larger.counts[:] = log.counts
    return larger
