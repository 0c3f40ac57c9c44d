"""Characters of platformers: along floors and slopes, up steps, onto ladders, one or thousands at once."""

from typing import TYPE_CHECKING, Any

import numpy as np

from broadphase.kernels.shapes.table import BOX
from broadphase.world.body import Body
from broadphase.world.body_rows import Floats, Rows
from broadphase.world.crossing_many import before_moving
from broadphase.world.going import Whole
from broadphase.world.hits import Hit
from broadphase.world.layers import ALL, STATICS
from broadphase.world.movement import checked_way
from broadphase.world.movement_many import HitArrays, Movements
from broadphase.world.moving_many import MovingMany
from broadphase.world.tiles import Tile
from broadphase.world.walks import Walk, Walks

if TYPE_CHECKING:
    from broadphase.kernels.movement.walk_scene import Rules
    from broadphase.world.trip import Trip

_DOWN = (0.0, 1.0)


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
        from broadphase.world.trip import rules_of

        rules = rules_of(snap, steepest, step, corner, drop, down)
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
        from broadphase.world.trip import rules_of

        rules = rules_of(snap, steepest, step, corner, drop, down)
        rows, ways = self._checked_ways(bodies, dx, dy)
        with Whole(self, rows):
            return self._walk_rows(rows, ways, rules, ALL if movers_block else STATICS)

    # ---- what they share

    def _walk_rows(self, rows: Rows, ways: Floats, rules: "Rules", layers: tuple[int, ...]) -> Walks:
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

    def _trip(self, rows: Rows, ways: Floats, rules: "Rules", layers: tuple[int, ...]) -> "Trip":
        from broadphase.world.trip import Trip

        return Trip(self, rows, ways, rules, layers)

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
