"""Movement in a world that begins again: among images of what is near, in one straight space.

A movement is reckoned from where the body is, in coordinates that go on beyond the seam; only what users get
to see, and where the body stands afterwards, lies inside the period.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.movement.go import NEVER
from broadphase.kernels.shapes.table import BOX
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import Bounds, Shape
from broadphase.world.arguments import as_two
from broadphase.world.body import Body
from broadphase.world.body_store import Floats, Rows
from broadphase.world.crossing import Crossings, Legs, Shapes, crossed
from broadphase.world.crossing_many import (
    Before,
    by_leg,
    cross_many,
    legs_between,
    may_cross,
    reach_of,
)
from broadphase.world.going import Going
from broadphase.world.hits import NOTHING, Answer, Around, Blockers, Hit, Movement, Response, code_of
from broadphase.world.layers import ALL, closed, closed_many
from broadphase.world.movement import region
from broadphase.world.movement_many import HitArrays, Movements, regions
from broadphase.world.movement_shapes import resolve_shape
from broadphase.world.moving_many import MovingMany, _Near, _Scene
from broadphase.world.periodic_contacts import contacts_between
from broadphase.world.probe import first_against, step_beside
from broadphase.world.pushing import Push
from broadphase.world.tiles import TileMap
from broadphase.world.torus import HAIR, Images, Torus, bounds_of
from broadphase.world.walks import Walks

# So often a body is moved by a hair until rounding, from wherever one looks, lets it touch nothing.
_MOST_NUDGES = 8


class PeriodicGoing(Going):
    """What all movement shares where a world has a period."""

    _torus: Torus

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
        body, inner = self._body(row), self._torus.is_inner(self._way(row, dx, dy))
        movement = super()._go(row, dx, dy, self._seen(response), unseen, only_if_free)
        if not (movement.hits or movement.crossed) or (only_if_free and movement.hits):
            return Movement(*self._torus.place(movement.x, movement.y), *movement[2:])
        if body.alive:
            if not inner:
                self._keep_off(row, [hit.other for hit in movement.hits if hit.response != "cross"])
            x, y = body.position
        else:
            x, y = self._torus.place(movement.x, movement.y)
        return Movement(
            x, y, tuple(map(self._inside, movement.hits)), tuple(map(self._inside, movement.crossed))
        )

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
        return hit._replace(touch=self._torus.place(*hit.touch))

    def _keep_off(self, row: int, others: list[Body]) -> None:
        """Move a body by a hair where rounding, beyond the seam, lets it overlap what has stopped it."""
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
            return self._blockers(images.at(met), by_id)

        return around

    def _blockers(self, images: Images, by_id: bool) -> Blockers:
        """Images as something that blocks, by row."""
        if not len(images.rows):
            return NOTHING
        images = images.at(np.lexsort((*images.turns.T[::-1], images.rows)))
        columns = self._torus.gathered(self._store.table.columns, images)
        rows = images.rows.tolist()
        others = rows if by_id else [self._store.bodies[other] for other in rows]
        if (columns.kinds == BOX).all():
            return Blockers(bounds_of(columns), others, repeats=self._torus.repeats)
        return Blockers(bounds_of(columns), others, columns, np.arange(len(rows)), self._torus.repeats)

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
        move = self._go_at_once(row, *self._step(row, towards), "touch", NEVER)
        if move is not None:
            return first_against(towards, move)
        hit = self._beside(row, towards, self._around(row))
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


class PeriodicMovingMany(PeriodicGoing, MovingMany):
    """Many movements at once where a world has a period."""

    def move_many(
        self, bodies: Any, dx: Any, dy: Any, response: Answer = "slide", *, movers_block: bool = False
    ) -> Movements:
        """See `World.move_many`."""
        code_of(response)
        rows, ways = self._checked_ways(bodies, dx, dy)
        if movers_block:  # what moves in this call has images that move too
            return self._in_turn(rows, ways, response)
        inner = self._torus.are_inner(regions(self._movers(rows, ways), "bounce"))
        moved = super().move_many(bodies, dx, dy, response)
        return self._all_inside(rows, moved, inner | (response == "cross"))

    def push(self, body: Body, dx: float, dy: float, *, down: tuple[float, float] = (0.0, 1.0)) -> Push:
        """See `World.push`."""
        self._torus.check_way(finite(dx, "dx"), finite(dy, "dy"))
        return super().push(body, dx, dy, down=down)

    def _checked_ways(self, bodies: Any, dx: Any, dy: Any) -> tuple[Rows, Floats]:
        rows, ways = super()._checked_ways(bodies, dx, dy)
        self._torus.check_turns(ways, "dx, dy")
        return rows, ways

    def _in_turn(self, rows: Rows, ways: Floats, response: Answer) -> Movements:
        """Each as `move` takes it, one after the other."""
        moved = [
            self._go(row, dx, dy, response)
            for row, (dx, dy) in zip(rows.tolist(), ways.tolist(), strict=True)
        ]
        places = np.array([move[:2] for move in moved]).reshape(-1, 2)
        return Movements(
            places, _arrays([move.hits for move in moved]), _arrays([move.crossed for move in moved])
        )

    def _all_inside(self, rows: Rows, moved: Movements | Walks, inner: npt.NDArray[np.bool_]) -> Movements:
        """Movements as users get to see them; who was stopped beyond the seam keeps off."""
        hits = moved.hits
        ends = np.searchsorted(hits.movers, np.arange(len(rows) + 1)).tolist()
        for at in np.unique(hits.movers).tolist():
            if not inner[at]:
                met = hits.others[ends[at] : ends[at + 1]]
                self._keep_off(int(rows[at]), [self._body(other) for other in met.tolist()])
        passed = moved.crossed
        return Movements(
            self._places(rows),
            hits._replace(touches=self._torus.places(hits.touches)),
            passed._replace(touches=self._torus.places(passed.touches)),
        )

    def _movers(self, rows: Rows, ways: Floats) -> Floats:
        bounds = np.asarray(self._store.table.bounds(rows), np.float64)
        return np.column_stack((bounds[:, :2], bounds[:, 2:] - bounds[:, :2], ways))

    def _crossed_many(self, rows: Rows, before: Before, movements: Movements, response: str) -> Movements:
        return cross_many(self, rows, before, movements, response, self._passed)

    def _passed(
        self, world: Going, rows: Rows, before: Before, movements: Movements, response: str
    ) -> Crossings:
        """Sensors and bodies that do not block here, and their images."""
        from broadphase.one_shot import join  # here, because few games move thousands at once

        store, torus, crossable = self._store, self._torus, before.crossable
        legs = legs_between(before, movements, response)
        of, turns = torus.turns_near(reach := reach_of(self, rows, legs))
        shift = torus.shift(turns)
        # Everybody stands twice: a mover meets those before it where they have come to, not where they were.
        bounds = np.concatenate((before.bounds, store.table.bounds(crossable)))
        near = join(reach[of] - np.hstack((shift, shift)), bounds)
        movers, turns = of[near[:, 0]], turns[near[:, 0]]
        others, as_now = crossable[near[:, 1] % len(crossable)], near[:, 1] >= len(crossable)
        turn = np.full(len(store.bodies), len(rows))
        turn[rows] = np.arange(len(rows))
        met = ((turn[others] < movers) == as_now) & may_cross(self, rows[movers], others)
        movers, others, as_now, turns = movers[met], others[met], as_now[met], turns[met]
        places = np.concatenate((before.places, self._places(crossable)))[near[met, 1]] + torus.shift(turns)
        bounds = bounds[near[met, 1]] + np.tile(torus.shift(turns), 2)

        def shape(at: int) -> Shape:
            return store.table.form(others.item(at)).moved_to(*places[at].tolist())

        columns = store.table.columns
        sizes = np.column_stack((np.zeros((len(rows), 2)), columns.width[rows], columns.height[rows]))
        return crossed(
            Shapes(columns.kinds[rows] == BOX, sizes, lambda at: store.table.form(rows.item(at))),
            legs,
            Shapes(columns.kinds[others] == BOX, bounds, shape),
            others,
            by_leg(legs, np.column_stack((movers, np.arange(len(movers)))), len(rows)),
        )

    def _scene(self, rows: Rows, ways: Floats, response: Answer, layers: tuple[int, ...]) -> _Scene:
        table = self._store.table.columns
        movers = np.column_stack((self._places(rows), table.width[rows], table.height[rows], ways))
        reach = closed_many(regions(movers, response))
        images = self._images(rows, reach, layers)
        boxes = np.concatenate(
            (self._store.table.bounds(rows), bounds_of(self._torus.gathered(table, images)))
        )
        own = np.arange(len(rows))
        chosen = len(rows) + np.arange(len(images.rows))
        near = _Near(own, chosen, np.searchsorted(images.asked, np.arange(len(rows) + 1)))
        return _Scene(
            movers, reach, np.concatenate((rows, images.rows)), boxes.astype(np.float64, copy=False), near
        )

    def _images(self, rows: Rows, reach: Floats, layers: tuple[int, ...]) -> Images:
        """What may block each mover within its reach, by mover, then by row."""
        store = self._store
        self._layers.sync(layers)
        images = self._torus.near(self._layers, reach, layers)
        mover, other = rows[images.asked], images.rows
        blocks = ~store.sensor[other] & (other != mover)
        if store.any_sets:
            blocks &= store.category[mover] & store.mask[other] != 0
            blocks &= store.category[other] & store.mask[mover] != 0
        images = images.at(blocks)
        return images.at(np.lexsort((*images.turns.T[::-1], images.rows, images.asked)))


def _arrays(hits: list[tuple[Hit, ...]]) -> HitArrays:
    """The hits of movers, as arrays."""
    movers = np.repeat(np.arange(len(hits)), np.array([len(some) for some in hits], np.int64))
    each = [hit for some in hits for hit in some]
    return HitArrays(
        movers,
        np.array([hit.other.id for hit in each], np.int64),
        np.full((len(each), 2), -1),
        np.array([hit.time for hit in each], np.float64),
        np.array([hit.normal for hit in each], np.float64).reshape(-1, 2),
        np.array([hit.touch for hit in each], np.float64).reshape(-1, 2),
    )
