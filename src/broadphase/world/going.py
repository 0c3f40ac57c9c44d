"""What every movement in a world shares: what is in the way, how far it goes, what it crosses."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.movement import go as kernel
from broadphase.kernels.movement.travel import BOUNCE, CROSS
from broadphase.kernels.shapes.table import BOX
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import Bounds, Box, Polygon, Shape
from broadphase.shapes.narrow_phase import overlap
from broadphase.shapes.table import table_of
from broadphase.world.body import Body
from broadphase.world.body_rows import Rows
from broadphase.world.crossing import Legs, Shapes, crossed, legs_of, mover_shapes
from broadphase.world.hits import NOTHING, RESPONSES, Answer, Around, Blockers, Hit, Movement, Response
from broadphase.world.layers import ALL, closed
from broadphase.world.movement import region, resolve, way_around
from broadphase.world.movement_shapes import resolve_shape
from broadphase.world.probe import beside
from broadphase.world.state import State
from broadphase.world.tiles import Tile, TileMap
from broadphase.world.way_out import NO_TILES

_new = tuple.__new__  # a named tuple in half the time


class Going(State):
    """The part of `World` on which all that moves bodies stands."""

    def _go_whole(
        self, row: int, dx: float, dy: float, response: Response, only_if_free: bool = False
    ) -> Movement:
        """`_go`, altogether or, where it is interrupted, not at all."""
        store = self._store
        x, y, crossed = store.x.item(row), store.y.item(row), len(self._tracker.crossed)
        try:
            return self._go(row, dx, dy, response, (), only_if_free)
        except BaseException:
            store.many_late = True  # the kernel may have marked it without its being noted
            if store.alive[row]:
                store.put(row, x, y)
            self._tracker.forget(crossed)
            raise

    def _go(
        self,
        row: int,
        dx: float,
        dy: float,
        response: Response,
        unseen: Iterable[int] = (),
        only_if_free: bool = False,
    ) -> Movement:
        """Move a body as far as it can, and note what it crosses."""
        if type(response) is str and not unseen:
            movement = self._go_at_once(
                row, dx, dy, response, kernel.IF_FREE if only_if_free else kernel.ALWAYS
            )
            if movement is not None:
                return movement
        store, body = self._store, self._body(row)
        start = _Start(store.table.form(row), store.x.item(row), store.y.item(row))
        passed: set[int] = set()
        ignored: list[Hit] = []
        around = self._around(row, unseen, passed=passed)
        movement = self._resolve(row, dx, dy, around, _remembering(response, ignored))
        if not body.alive or (only_if_free and movement.hits):  # a response may have removed it
            return movement
        store.put(row, movement.x, movement.y)
        return self._cross(body, start, movement, passed, ignored)

    def _go_at_once(self, row: int, dx: float, dy: float, response: Answer, when: int) -> Movement | None:
        """The same for a box among boxes, in one kernel call; ``None`` where that is not enough."""
        code = RESPONSES.get(response)
        if code is None:
            return None
        if type(dx) is not float or type(dy) is not float:
            dx, dy = finite(dx, "dx"), finite(dy, "dy")
        store, layers = self._store, self._layers
        layers.sync_for(row)
        shapes, tiles = store.table.places, self._tiles
        way = kernel.way_of_box(shapes, row, dx, dy, code == BOUNCE)
        if way[0] != way[0] or (tiles is not None and tiles.has_slopes and tiles.slopes_in(way)):
            return None
        near = layers.near(way)
        grid = NO_TILES if tiles is None else tiles.grid
        state, found, passed, x, y, start_x, start_y = kernel.go(
            shapes, store.marks, row, dx, dy, code, when, near, layers.room, grid
        )
        if state == kernel.NEWLY_LATE:
            store.late_rows.append(row)
        elif state == kernel.NOT_HERE:
            return None
        if not found and not passed:
            return _new(Movement, (x, y, (), ()))
        bodies: list[Any] = store.bodies
        hits = []
        for time, nx, ny, at_x, at_y, other, column, cell in layers.room.hits[:found].tolist():
            met = bodies[int(other)] if other >= 0.0 else Tile(int(column), int(cell))
            hits.append(_new(Hit, (met, time, (nx, ny), (at_x, at_y), response)))
        movement = _new(Movement, (x, y, tuple(hits), ()))
        if (passed or code == CROSS) and (when == kernel.ALWAYS or (when == kernel.IF_FREE and not hits)):
            start = _Start(store.table.form(row), start_x, start_y)
            sensors = set(layers.room.sensors[:passed].tolist())
            return self._cross(bodies[row], start, movement, sensors, [])
        return movement

    def _go_through(self, row: int, dx: float, dy: float) -> None:
        """Move a body all the way, whatever is there, and note what it crosses."""
        store = self._store
        start = _Start(store.table.form(row), store.x.item(row), store.y.item(row))
        passed: set[int] = set()
        if store.any_sensors:
            left, top, right, bottom = store.bounds(row)
            box = region(left, top, right - left, bottom - top, dx, dy, False)
            self._around(row, passed=passed)(box)
        movement = Movement(start.x + dx, start.y + dy, ())
        store.put(row, movement.x, movement.y)
        self._cross(self._body(row), start, movement, passed, [])

    def _cross(
        self, body: Body, start: "_Start", movement: Movement, passed: set[int], ignored: list[Hit]
    ) -> Movement:
        """The movement with what it crossed, which listeners will be told of."""
        hits = [
            hit
            for hit in (*movement.hits, *ignored)
            if hit.response == "cross" and isinstance(hit.other, Body) and hit.other.alive
        ]
        if passed:
            hits += self._sensors(start, movement, sorted(passed))
        if not hits:
            return movement
        hits.sort(key=lambda hit: (hit.time, hit.other.id))
        first = {hit.other: hit for hit in reversed(hits)}
        found = tuple(hit for hit in hits if first[hit.other] is hit)
        for hit in found:
            self._tracker.note(body, hit.other, hit.normal)
        return movement._replace(crossed=found)

    def _sensors(self, start: "_Start", movement: Movement, rows: list[int]) -> list[Hit]:
        """Those of the sensors near the way that the body has passed."""
        rows = [row for row in rows if self._store.alive[row]]
        bends = [hit for hit in movement.hits if hit.response != "cross"]
        legs = legs_of(
            np.array([[start.x, start.y]]),
            np.array([[movement.x, movement.y]]),
            np.zeros(len(bends), np.int64),
            np.array([hit.touch for hit in bends]).reshape(-1, 2),
            np.array([hit.time for hit in bends]),
        )
        others, known = self._met(legs, np.array(rows, np.int32))
        pairs = [(leg, other) for leg in range(len(legs.movers)) for other in range(len(known))]
        met = np.array(pairs, np.int64).reshape(-1, 2)
        found = crossed(mover_shapes([start.form]), legs, others, known, met)
        return [
            Hit(self._body(row), time, (nx, ny), (x, y), "cross")
            for row, (time, nx, ny, x, y) in zip(found.ids.tolist(), found.values.tolist(), strict=True)
        ]

    def _met(self, legs: Legs, rows: Rows) -> tuple[Shapes, Rows]:
        """Bodies where they are now, as something to be crossed on a way; and who they are."""
        store = self._store
        boxes = store.table.columns.kinds[rows] == BOX
        bounds = store.table.bounds(rows).astype(np.float64, copy=False)
        return Shapes(boxes, bounds, lambda at: store.shape(int(rows[at]))), rows

    # ---- what pushing asks

    def _rows_near(self, box: Bounds) -> list[int]:
        """The rows whose bounds overlap a box, ascending."""
        self._layers.sync()
        return self._layers.in_box(box)

    def _only(self, row: int) -> Around:
        """As if nothing else were there."""
        store = self._store
        blockers = Blockers(np.array([store.bounds(row)]), [row], store.table.columns, np.array([row]))
        return lambda bounds: blockers

    def _overlap(self, row: int, other: int) -> bool:
        return overlap(self._store.shape(row), self._store.shape(other))

    def _bounds_from(self, row: int, other: int) -> Bounds:
        """Where ``other`` is, seen from ``row``."""
        return self._store.bounds(other)

    def _beside(
        self, row: int, direction: tuple[float, float], around: Around, tiles: TileMap | None = None
    ) -> Hit | None:
        """What is right beside a body."""
        return beside(self._store.shape(row), direction, around, tiles)

    # ---- what is in the way

    def _resolve(self, row: int, dx: float, dy: float, around: Around, response: Response) -> Movement:
        shape = self._store.table.form(row)
        if isinstance(shape, Box):
            place = (self._store.x.item(row), self._store.y.item(row), shape.width, shape.height)
            if not self._store.any_round and not (self._tiles is not None and self._tiles.has_slopes):
                return resolve(place, dx, dy, around, self._tiles, response)
            first = way_around(place, dx, dy, around, response)
            if first.table is None:  # only boxes near the way
                return resolve(place, dx, dy, _known_first(first, around), self._tiles, response)
        return resolve_shape(self._store.shape(row), dx, dy, around, self._tiles, response)

    def _around(
        self,
        row: int | None,
        unseen: Iterable[int] = (),
        layers: tuple[int, ...] = ALL,
        by_id: bool = False,
        passed: set[int] | None = None,
    ) -> Around:
        """What blocks a body, or anybody, but for itself and what is not to be seen.

        The sensors that are met on the way come into ``passed``.
        """
        store = self._store
        hidden = {*unseen} if row is None else {row, *unseen}
        category, mask = (-1, -1) if row is None else (int(store.category[row]), int(store.mask[row]))

        def around(bounds: Bounds) -> Blockers:
            self._layers.sync()
            rows = self._layers.in_box(closed(bounds), layers)
            rows = [other for other in rows if other not in hidden]
            if store.any_sets:
                rows = [
                    other
                    for other in rows
                    if category & int(store.mask[other]) and mask & int(store.category[other])
                ]
            if store.any_sensors:
                if passed is not None:
                    passed.update(other for other in rows if store.sensor[other])
                rows = [other for other in rows if not store.sensor[other]]
            if self._tiles is not None and self._tiles.has_slopes:
                slopes = self._tiles.slopes_in(closed(bounds))
                if slopes:
                    return self._with_slopes(rows, by_id, slopes)
            if not rows:
                return NOTHING
            bounds_of = np.array([store.bounds(other) for other in rows])
            others = rows if by_id else [store.bodies[other] for other in rows]
            if store.any_round and not all(isinstance(store.table.form(other), Box) for other in rows):
                return Blockers(bounds_of, others, store.table.columns, np.array(rows, np.int64))
            return Blockers(bounds_of, others)

        return around

    def _with_slopes(
        self, rows: list[int], by_id: bool, slopes: list[tuple[tuple[int, int], Polygon]]
    ) -> Blockers:
        """Bodies, and behind them slopes of tiles, as they are to be asked about."""
        store = self._store
        table = table_of([*map(store.shape, rows), *(shape for _, shape in slopes)])
        others = rows if by_id else [store.bodies[other] for other in rows]
        tiles = [Tile(*tile) for tile, _ in slopes]
        bounds = table.bounds().astype(np.float64, copy=False)
        return Blockers(bounds, [*others, *tiles], table.columns, np.arange(len(table)))


class _Start(NamedTuple):
    """What moves, and from where."""

    form: Shape
    x: float
    y: float


def _remembering(response: Response, ignored: list[Hit]) -> Response:
    """The same answers; hits that are ignored come into a list."""
    if not callable(response):
        return response

    def answer(hit: Hit) -> Answer | None:
        name = response(hit)
        if name is None:
            ignored.append(hit._replace(response="cross"))
        return name

    return answer


def _known_first(first: Blockers, around: Around) -> Around:
    """As ``around``, but the answer to the first question is known."""
    answers = [first]
    return lambda bounds: answers.pop() if answers else around(bounds)


class Whole:
    """``with Whole(world, rows):`` what moves bodies and is done altogether or, interrupted, not at all."""

    def __init__(self, world: Going, rows: Rows) -> None:
        store = world._store
        self._world, self._rows = world, rows
        self._x, self._y = store.x[rows], store.y[rows]
        self._crossed = len(world._tracker.crossed)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None:
            store = self._world._store
            store.many_late = True
            alive = store.alive[self._rows]
            store.put_many(self._rows[alive], np.column_stack((self._x, self._y))[alive])
            self._world._tracker.forget(self._crossed)
