"""Many movements at once in a world that begins again."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.shapes.table import BOX
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import Shape
from broadphase.world.arguments import as_shape
from broadphase.world.body import Body
from broadphase.world.body_rows import Floats, Rows
from broadphase.world.crossing import Crossings, Shapes, crossed
from broadphase.world.crossing_many import (
    Before,
    by_leg,
    cross_many,
    legs_between,
    may_cross,
    reach_of,
)
from broadphase.world.going import Going, Whole
from broadphase.world.hits import Answer, Hit, code_of
from broadphase.world.layers import closed_many
from broadphase.world.movement_many import HitArrays, Movements, regions
from broadphase.world.moving_many import MovingMany, _Near, _Scene
from broadphase.world.periodic_moving import PeriodicGoing
from broadphase.world.periodic_tiles import union
from broadphase.world.pushing import Push
from broadphase.world.tiles import Tile
from broadphase.world.torus import Images, bounds_of
from broadphase.world.walks import Walks


class PeriodicMovingMany(PeriodicGoing, MovingMany):
    """Many movements at once where a world has a period."""

    def move_many(
        self, bodies: Any, dx: Any, dy: Any, response: Answer = "slide", *, movers_block: bool = False
    ) -> Movements:
        """See `World.move_many`."""
        code_of(response)
        rows, ways = self._checked_ways(bodies, dx, dy)
        if movers_block:  # what moves in this call has images that move too
            with Whole(self, rows):
                return self._in_turn(rows, ways, response)
        far = np.abs(ways).sum(axis=1, keepdims=True)  # a slope may turn a way to the side
        reach = np.asarray(self._store.table.bounds(rows), np.float64) + far * (-1.0, -1.0, 1.0, 1.0)
        inner = self._torus.are_inner(reach)
        with Whole(self, rows), self._tiles_around_all(rows, reach, inner):
            moved = super().move_many(bodies, dx, dy, response)
            return self._all_inside(rows, moved, inner | (response == "cross"))

    def push(self, body: Body, dx: float, dy: float, *, down: tuple[float, float] = (0.0, 1.0)) -> Push:
        """See `World.push`."""
        self._torus.check_way(finite(dx, "dx"), finite(dy, "dy"))
        return super().push(body, dx, dy, down=down)

    def blocker(self, shape: Shape | Body, *, ignore: Body | Iterable[Body] = ()) -> object | None:
        """See `World.blocker`."""
        with self._tiles_around(shape.bounds):
            return self._named_as_seen(super().blocker(shape, ignore=ignore))

    def resize(self, body: Body, shape: Shape) -> object | None:
        """See `World.resize`."""
        with self._tiles_around(as_shape(shape).bounds):
            return self._named_as_seen(super().resize(body, shape))

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
                met = slice(ends[at], ends[at + 1])
                others, normals = hits.others[met], hits.normals[met]
                self._keep_off_bodies(
                    int(rows[at]), [self._body(one) for one in others[others >= 0].tolist()]
                )
                self._keep_off_tiles(int(rows[at]), [(nx, ny) for nx, ny in normals[others < 0].tolist()])
        passed = moved.crossed
        return Movements(
            self._places(rows),
            hits._replace(touches=self._torus.places(hits.touches), tiles=self._all_numbered(hits.tiles)),
            passed._replace(touches=self._torus.places(passed.touches)),
        )

    def _tiles_around_all(
        self, rows: Rows, reach: Floats, inner: npt.NDArray[np.bool_]
    ) -> AbstractContextManager[None]:
        """As `_tiles_around`, for many ways."""
        table = self._store.table
        outer = rows[~inner] if self._whole is not None else rows[:0]
        starts = np.asarray(table.bounds(outer), np.float64).tolist()
        return self._tiles_around(union(reach) if len(outer) else None, *map(tuple, starts))

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
    tiles = [hit.other if isinstance(hit.other, Tile) else (-1, -1) for hit in each]
    return HitArrays(
        movers,
        np.array([-1 if isinstance(hit.other, Tile) else hit.other.id for hit in each], np.int64),
        np.array(tiles, np.int64).reshape(-1, 2),
        np.array([hit.time for hit in each], np.float64),
        np.array([hit.normal for hit in each], np.float64).reshape(-1, 2),
        np.array([hit.touch for hit in each], np.float64).reshape(-1, 2),
    )
