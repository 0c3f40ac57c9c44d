"""Movement in a world that begins again: among images of what is near, in one straight space.

A movement is reckoned from where the body is, in coordinates that go on beyond the seam; only what users get
to see, and where the body stands afterwards, lies inside the period.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from broadphase.kernels.movement.go import NEVER
from broadphase.kernels.shapes.table import BOX
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import Bounds, Polygon, Shape
from broadphase.shapes.table import table_of
from broadphase.world.arguments import as_two
from broadphase.world.body import Body
from broadphase.world.body_rows import Rows
from broadphase.world.crossing import Legs, Shapes
from broadphase.world.hits import NOTHING, Answer, Around, Blockers, Hit, Movement, Response
from broadphase.world.layers import ALL, closed
from broadphase.world.movement import region
from broadphase.world.movement_shapes import resolve_shape
from broadphase.world.periodic_contacts import contacts_between
from broadphase.world.periodic_tiles import PeriodicTiles
from broadphase.world.probe import first_against, step_beside
from broadphase.world.tiles import Tile, TileMap
from broadphase.world.torus import HAIR, Images, bounds_of

Slopes = Sequence[tuple[tuple[int, int], Polygon]]

# So often a body is moved by a hair until rounding, from wherever one looks, lets it touch nothing.
_MOST_NUDGES = 8


class PeriodicGoing(PeriodicTiles):
    """What all movement shares where a world has a period."""

    def _go(
        self,
        row: int,
        dx: float,
        dy: float,
        response: Response,
        unseen: Iterable[int] = (),
        only_if_free: bool = False,
    ) -> Movement:
        dx, dy = finite(dx, "dx"), finite(dy, "dy")
        self._torus.check_way(dx, dy)
        body, start = self._body(row), self._store.bounds(row)
        # A slope may turn a way to the side, all of it.
        far = abs(dx) + abs(dy)
        way = (start[0] - far, start[1] - far, start[2] + far, start[3] + far)
        with self._tiles_around(way, start):
            movement = super()._go(row, dx, dy, self._seen(response), unseen, only_if_free)
            hits, crossed = (tuple(map(self._inside, some)) for some in (movement.hits, movement.crossed))
        if not (hits or crossed) or (only_if_free and hits) or not body.alive:
            return Movement(*self._torus.place(movement.x, movement.y), hits, crossed)
        if not self._torus.is_inner(way):
            self._keep_off(row, [hit for hit in hits if hit.response != "cross"])
        return Movement(*body.position, hits, crossed)

    def _go_at_once(self, row: int, dx: float, dy: float, response: Answer, when: int) -> Movement | None:
        if not self._torus.is_inner(self._way(row, dx, dy)):
            return None
        return super()._go_at_once(row, dx, dy, response, when)

    def _way(self, row: int, dx: float, dy: float) -> Bounds:
        """All that a body can pass on its way, however it is turned."""
        left, top, right, bottom = self._store.bounds(row)
        return region(left, top, right - left, bottom - top, dx, dy, True)

    def _seen(self, response: Response) -> Response:
        """The same answers to hits whose place lies inside the period."""
        return (lambda hit: response(self._inside(hit))) if callable(response) else response

    def _inside(self, hit: Hit) -> Hit:
        return hit._replace(other=self._named_as_seen(hit.other), touch=self._torus.place(*hit.touch))

    def _keep_off(self, row: int, hits: list[Hit]) -> None:
        """Move a body by a hair where rounding, beyond the seam, lets it overlap what has stopped it."""
        self._keep_off_bodies(row, [hit.other for hit in hits if isinstance(hit.other, Body)])
        self._keep_off_tiles(row, [hit.normal for hit in hits if isinstance(hit.other, Tile)])

    def _keep_off_bodies(self, row: int, others: list[Body]) -> None:
        torus, store = self._torus, self._store
        known = sorted({other.id for other in others if other.alive})
        if not known:
            return
        hair, least = HAIR * torus.largest, math.ulp(torus.largest)
        for _ in range(_MOST_NUDGES):
            images = torus.images_of(store.table.columns, np.array(known), store.bounds(row))
            own = np.full(len(images.rows), row)
            here = contacts_between(
                torus, store.table.columns, np.column_stack((own, images.rows)), images.turns
            )
            there = contacts_between(
                torus, store.table.columns, np.column_stack((images.rows, own)), -images.turns
            )
            depths = np.concatenate((here.depths, there.depths))
            depths[~np.concatenate((here.overlapping, there.overlapping)) | (depths > hair)] = 0.0
            if not depths.any():
                return
            at = int(depths.argmax())
            # A normal points out of the second; that of the other look is turned.
            nx, ny = np.concatenate((here.normals, -there.normals))[at].tolist()
            far = depths.item(at) + least
            store.put(row, store.x.item(row) + nx * far, store.y.item(row) + ny * far)
            least *= 2.0

    # ---- what is around

    def _around(
        self,
        row: int | None,
        unseen: Iterable[int] = (),
        layers: tuple[int, ...] = ALL,
        by_id: bool = False,
        passed: set[int] | None = None,
    ) -> Around:
        store = self._store
        hidden = [*unseen] if row is None else [row, *unseen]

        def around(bounds: Bounds) -> Blockers:
            self._layers.sync()
            images = self._torus.near(self._layers, np.array([closed(bounds)]), layers)
            rows = images.rows
            met = ~np.isin(rows, hidden)
            if store.any_sets and row is not None:
                met &= store.category[row] & store.mask[rows] != 0
                met &= store.mask[row] & store.category[rows] != 0
            if store.any_sets and row is None:
                met &= (store.mask[rows] != 0) & (store.category[rows] != 0)
            if store.any_sensors:
                if passed is not None:
                    passed.update(rows[met & store.sensor[rows]].tolist())
                met &= ~store.sensor[rows]
            slopes = [] if self._tiles is None else self._tiles.slopes_in(closed(bounds))
            return self._blockers(images.at(met), by_id, slopes)

        return around

    def _blockers(self, images: Images, by_id: bool, slopes: Slopes = ()) -> Blockers:
        """Images as something that blocks, by row, and behind them slopes of tiles."""
        if not len(images.rows) and not slopes and self._tiles is None:
            return NOTHING
        images = images.at(np.lexsort((*images.turns.T[::-1], images.rows)))
        columns = self._torus.gathered(self._store.table.columns, images)
        rows = images.rows.tolist()
        others = rows if by_id else [self._store.bodies[other] for other in rows]
        if slopes:
            shape = self._as_shapes(images).shape
            columns = table_of([*map(shape, range(len(rows))), *(slope for _, slope in slopes)]).columns
            others = [*others, *(Tile(*tile) for tile, _ in slopes)]
        if (columns.kinds == BOX).all():
            return Blockers(bounds_of(columns), others, repeats=self._torus.repeats)
        return Blockers(bounds_of(columns), others, columns, np.arange(len(others)), self._torus.repeats)

    def _met(self, legs: Legs, rows: Rows) -> tuple[Shapes, Rows]:
        ways = legs.ways
        low = np.minimum(ways[:, :2], ways[:, 2:]).min(axis=0) - self._torus.longest
        high = np.maximum(ways[:, :2], ways[:, 2:]).max(axis=0) + self._torus.longest
        images = self._torus.images_of(
            self._store.table.columns, rows.astype(np.int64), (*low.tolist(), *high.tolist())
        )
        return self._as_shapes(images), images.rows.astype(np.int32)

    def _as_shapes(self, images: Images) -> Shapes:
        """Images, as something to be crossed."""
        columns = self._torus.gathered(self._store.table.columns, images)

        def shape(at: int) -> Shape:
            form = self._store.table.form(images.rows.item(at))
            return form.moved_to(columns.x.item(at), columns.y.item(at))

        return Shapes(columns.kinds == BOX, bounds_of(columns), shape)

    # ---- what is beside

    def grounded(self, body: Body, direction: tuple[float, float] = (0.0, 1.0)) -> Hit | None:
        """See `World.grounded`."""
        row, towards = self._store.row(body), as_two(direction, "direction")
        bounds = self._store.bounds(row)
        with self._tiles_around(bounds, bounds):
            move = self._go_at_once(row, *self._step(row, towards), "touch", NEVER)
            if move is not None:
                return first_against(towards, move)
            hit = self._beside(row, towards, self._around(row), self._tiles)
            return None if hit is None else self._inside(hit)

    def _beside(
        self, row: int, direction: tuple[float, float], around: Around, tiles: TileMap | None = None
    ) -> Hit | None:
        way = self._step(row, direction)
        return first_against(direction, resolve_shape(self._store.shape(row), *way, around, tiles, "touch"))

    def _step(self, row: int, direction: tuple[float, float]) -> tuple[float, float]:
        """As far as a body may stand off what has stopped it: it may have been a period away."""
        largest = max(self._torus.largest, *map(abs, self._store.bounds(row)))
        return step_beside((largest, largest, largest, largest), direction)

    # ---- what pushing asks

    def _rows_near(self, box: Bounds) -> list[int]:
        self._layers.sync()
        rows: list[int] = np.unique(self._torus.near(self._layers, np.array([box]), ALL).rows).tolist()
        return rows

    def _only(self, row: int) -> Around:
        rows = np.array([row])
        return lambda bounds: self._blockers(
            self._torus.images_of(self._store.table.columns, rows, closed(bounds)), True
        )

    def _overlap(self, row: int, other: int) -> bool:
        columns = self._store.table.columns
        images = self._torus.images_of(columns, np.array([other]), self._store.bounds(row))
        pairs = np.column_stack((np.full(len(images.rows), row), images.rows))
        return bool(contacts_between(self._torus, columns, pairs, images.turns).overlapping.any())

    def _bounds_from(self, row: int, other: int) -> Bounds:
        bounds = np.array([self._store.bounds(row), self._store.bounds(other)])
        middles = 0.5 * (bounds[:, :2] + bounds[:, 2:])
        left, top, right, bottom = (bounds[1] + np.tile(self._torus.nearest_shift(*middles), 2)).tolist()
        return left, top, right, bottom
