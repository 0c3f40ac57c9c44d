"""Movement of one body among the bodies and tiles of a world, until something blocks it.

The docstring of `World.move` defines what blocks and what is crossed.

In a periodic space a movement is computed from where the body is, among images of nearby bodies, in
coordinates that continue beyond the edge.  The results, and the final place of the body, are wrapped into the
period.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np

from broadphase.geometry.shapes import Bounds, Shape, finite
from broadphase.geometry.table import columns_of
from broadphase.kernels.movement import motion as kernel
from broadphase.kernels.movement.depenetration import free_places
from broadphase.kernels.movement.one_way import sides_of_rows
from broadphase.kernels.movement.path import DONE, TOO_FAR, swept_region
from broadphase.kernels.movement.sweep import BOUNCE, CROSS
from broadphase.kernels.shapes.images import overlap_depth
from broadphase.kernels.shapes.table import ShapeColumns
from broadphase.kernels.tiles.grid import TileGrid
from broadphase.runtime.arrays import Floats
from broadphase.world.arguments import as_shape, as_two
from broadphase.world.bodies import ALL, LISTENED, MOVING, Body, Ignored, Layers, Rows
from broadphase.world.broad_phase import closed
from broadphase.world.hits import (
    NOTHING,
    RESPONSES,
    Answer,
    Around,
    Blockers,
    Hit,
    Movement,
    Response,
    as_rows,
    hits_of,
)
from broadphase.world.movement.crossing import Start, cross, note_crossings
from broadphase.world.movement.sweep import (
    beside,
    blocker_at,
    first_against,
    inside_by_rounding,
    resolve,
    step_beside,
)
from broadphase.world.space import bounds_of, moved_columns
from broadphase.world.state import State

_new = tuple.__new__  # a named tuple in half the time

# Of the coordinates: only a deeper overlap counts as inside.
_INSIDE = 1e-12

# So many bodies in a row are pushed ahead of a walker.
_MOST_PUSHED = 16


class Motion:
    """Moves single bodies of a world."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._space, self._store = state.space, state.store
        self._broad_phase, self._contacts = state.broad_phase, state.contacts

    # ---- what users call

    def dry(self, row: int, dx: float, dy: float, response: Response, ignored: Ignored) -> Movement:
        """What a movement would do; the body and the contacts stay as they are."""
        start = self._start_of(row)
        try:
            movement = self.move_row(row, dx, dy, response, ignored)
            self._put_back(start)
        except BaseException:  # an interrupt may come while it is put back
            self._put_back(start)
            raise
        return movement

    def try_move(self, row: int, dx: float, dy: float, ignored: Ignored) -> object | None:
        """See `World.try_move`."""
        movement = self.move_row(row, dx, dy, "touch", ignored, kernel.IF_FREE)
        return movement.hits[0].other if movement.hits else None

    def shape_cast(self, shape: Shape, dx: float, dy: float, ignore: Any) -> Movement:
        """See `World.shape_cast`."""
        ignored, known = self._store.ignored(ignore), as_shape(shape)
        self._space.extent_of(known, "shape")
        return self.cast_for(None, known, finite(dx, "dx"), finite(dy, "dy"), ignored)

    def cast_for(
        self, row: int | None, shape: Shape, dx: float, dy: float, ignored: Ignored, *others: Shape
    ) -> Movement:
        """How far a shape comes among all that blocks a body, or any body.

        One-way bodies that any of the ``others`` is inside of do not block.
        """
        self._space.check_displacement(dx, dy)
        around = self.around(row, ignored, starts=(shape, *others))
        return self._wrapped(resolve(shape, dx, dy, around, None, "touch"))

    def grounded(self, body: Body, direction: tuple[float, float], ignore: Any) -> Hit | None:
        """See `World.grounded`."""
        row, towards = self._store.row(body), as_two(direction, "direction")
        ignored = self._store.ignored(ignore)
        # The ground check allows for the gap to a blocker that may have been stopped a period away.
        bounds, largest = self._store.bounds(row), self._space.largest
        step = step_beside(bounds, towards, largest)
        move = self._move_fast(row, *step, "touch", ignored, kernel.ONLY_TEST, ALL)
        hit = None if move is None else first_against(towards, move)
        if hit is not None or (move is not None and not self._store.any_round):
            return hit
        around, shape = self.around(row, ignored), self._store.shape(row)
        if move is None:
            hit = beside(shape, towards, around, None, largest)
        else:
            hit = inside_by_rounding(shape, towards, around)
        return None if hit is None else self.wrapped_hit(hit)

    def ahead_of(
        self, row: int, way: tuple[float, float], tags: frozenset[Any], ignored: Ignored
    ) -> list[tuple[int, tuple[float, float]]]:
        """The bodies with some tags that one pushes along an axis, the nearest first, and their ways."""
        store = self._store
        behind = {row, *ignored}
        chain: list[tuple[int, tuple[float, float]]] = []
        while any(way) and len(chain) < _MOST_PUSHED:
            hits = self.dry(row, *way, "touch", behind).hits
            other = hits[0].other if hits else None
            if not isinstance(other, Body) or store.static[other.id] or tags.isdisjoint(other.tags):
                break
            row, left = other.id, 1.0 - hits[0].time
            way = way[0] * left, way[1] * left
            behind.add(row)
            chain.append((row, way))
        return chain

    def blocker(self, shape: Shape | Body, ignore: Any) -> object | None:
        """See `World.blocker`."""
        ignored = self._store.ignored(ignore)
        if isinstance(shape, Body):
            row = self._store.row(shape)
            return self.blocker_at(self._store.shape(row), row, ignored)
        known = as_shape(shape)
        self._space.extent_of(known, "shape")
        return self.blocker_at(known, None, ignored)

    def resize(self, body: Body, shape: Shape) -> object | None:
        """See `World.resize`."""
        row = self._store.row(body)
        known = as_shape(shape)
        self._space.admit(known, "shape")
        found = self.blocker_at(known, row)
        if found is None:
            self._store.put_shape(row, known)
        return found

    def try_turn(self, body: Body, angle: float, about: tuple[float, float] | None) -> object | None:
        """See `World.try_turn`."""
        row, degrees = self._store.row(body), finite(angle, "angle")
        found = self.blocker_turned(row, degrees, about)
        if found is None:
            self._store.turn_to(body, degrees, about)
        return found

    def blocker_turned(self, row: int, degrees: float, about: Any, ignored: Ignored = ()) -> object | None:
        """What would be in the way of a body at another angle."""
        place = self._store.place_turned(row, degrees, about)
        return self.blocker_at(self._store.table.base(row).moved_to(*place).rotated(degrees), row, ignored)

    # ---- a movement

    def move_row(
        self,
        row: int,
        dx: float,
        dy: float,
        response: Response,
        ignored: Ignored = (),
        when: int = kernel.ALWAYS,
        layers: Layers = ALL,
    ) -> Movement:
        """Move a body as far as it can, and note what it crosses: all of it or, interrupted, nothing.

        Bodies in other ``layers`` do not block.
        """
        start = self._start_of(row)
        try:
            movement = None
            if type(response) is str:
                movement = self._move_fast(row, dx, dy, response, ignored, when, layers)
            return movement or self._move_general(row, dx, dy, response, ignored, when, layers)
        except BaseException:
            self._put_back(start)
            raise

    def _start_of(self, row: int) -> tuple[Body, float, float, int]:
        """A body, its place, and what was noted before it moves, for `_put_back`."""
        store = self._store
        body: Any = store.bodies[row]
        return body, store.x.item(row), store.y.item(row), self._contacts.noted

    def _put_back(self, start: tuple[Body, float, float, int]) -> None:
        body, x, y, noted = start
        if body.alive:  # a response may have removed it, and given its id to another
            self._store.put(body.id, x, y)
        self._contacts.forget(noted)

    def _move_fast(
        self, row: int, dx: float, dy: float, response: Answer, ignored: Ignored, when: int, layers: Layers
    ) -> Movement | None:
        """The fast path: the movement by `sweep`; ``None`` where that is not enough."""
        code = RESPONSES.get(response)
        if code is None:
            return None
        if type(dx) is not float or type(dy) is not float:
            dx, dy = finite(dx, "dx"), finite(dy, "dy")
        swept = self._sweep(row, dx, dy, code, ignored, when, layers)
        if swept is None:
            return None
        (_, found, crossed, x, y, reached), across = swept
        if not (found or crossed or across):
            return _new(Movement, (x, y, (), (), reached))
        moves = when == kernel.ALWAYS or (when == kernel.IF_FREE and not found)
        written = self._broad_phase.buffers.hits
        hits: tuple[Hit, ...] = ()
        if found:
            stops = code != CROSS and when == kernel.ALWAYS
            hits = tuple(self.hits_found(row, written[:found], response, stops))
        passed: Sequence[Hit] = ()
        if crossed:
            passed = hits_of(self._store.bodies, written[found : found + crossed], "cross")
            if layers is not ALL:
                passed = [hit for hit in passed if self._crosses(row, hit.other.id)]
        if code == CROSS and moves:
            passed = [*(hit for hit in hits if isinstance(hit.other, Body)), *passed]
        over = note_crossings(self._state, row, passed) if passed else ()
        if not across:
            return _new(Movement, (x, y, hits, over, reached))
        if moves:
            self._store.put(row, x, y)
        movement = self._wrapped(_new(Movement, (x, y, hits, over, reached)))
        if not moves:
            return movement
        if code != CROSS and hits:
            self.keep_off(row, hits)
        return movement._replace(x=self._store.x.item(row), y=self._store.y.item(row))

    def _crosses(self, row: int, other: int) -> bool:
        """Whether it is of interest that a body crosses another that does not block it."""
        store = self._store
        if store.sensor.item(row) or store.sensor.item(other):
            return True
        return store.layer.item(other) == MOVING and self._contacts.concerns(row, other)

    def _sweep(
        self, row: int, dx: float, dy: float, code: int, ignored: Ignored, when: int, layers: Layers
    ) -> Any:
        """Move a body in one kernel call, mostly: what `kernel.move_body` returns.

        ``None``, and nothing has changed, where the general path (`_move_general`) is needed: for bodies that
        start inside something.  The hits are in `BroadPhase.buffers`.
        """
        store, space, broad_phase, grid = self._store, self._space, self._broad_phase, self._state.grid
        shapes = store.table.columns if store.any_round else store.table.places
        for reach in (kernel.EXACT, kernel.PADDED, kernel.WIDE):
            searched = kernel.region_of(shapes, row, dx, dy, code == BOUNCE, reach)
            if searched[0] != searched[0]:
                return None
            across = False
            if space.periodic:
                space.check_displacement(dx, dy)
                across = not space.is_inner(searched)
            near = broad_phase.gather(searched, row)
            if ignored:
                rows = broad_phase.buffers.near
                kept = [other for other in rows[:near].tolist() if other not in ignored]
                near, rows[: len(kept)] = len(kept), kept
            way = store.marks, store.one_way, row, dx, dy, code, when, bits_of(layers)
            if across:
                others = broad_phase.buffers.near[:near].copy()
                swept = self._sweep_images(shapes, way, others, grid, searched)
            else:
                swept = kernel.move_body(shapes, *way, near, broad_phase.buffers, grid, searched)
            if swept[0] != TOO_FAR:
                break
        return (swept, across) if swept[0] == DONE else None

    def _sweep_images(self, shapes: Any, way: Any, others: Rows, grid: TileGrid, searched: Bounds) -> Any:
        """`kernel.move_among_images`, with memory for all images."""
        broad_phase = self._broad_phase
        while True:
            memory = broad_phase.buffers, grid, searched, (broad_phase.frame, self._space.lengths)
            swept = kernel.move_among_images(shapes, *way, others, *memory)
            if swept[0] != kernel.CROWDED:
                return swept
            broad_phase.reserve(2 * len(broad_phase.buffers.near))

    def hits_found(self, row: int, found: Floats, response: Answer, stops: bool) -> list[Hit]:
        """The hits that a kernel has written; a body that was stopped is in contact with what stopped it."""
        hits = hits_of(self._store.bodies, found, response)
        for hit in hits if stops else ():
            if isinstance(hit.other, Body):
                self._contacts.note(row, hit.other.id, hit.normal, stopped=True)
        return hits

    def _move_general(
        self, row: int, dx: float, dy: float, response: Response, ignored: Ignored, when: int, layers: Layers
    ) -> Movement:
        """The general path: the movement of any shape among any obstacles, from hit to hit."""
        store = self._store
        dx, dy = finite(dx, "dx"), finite(dy, "dy")
        self._space.check_displacement(dx, dy)
        body, bounds = self.body(row), store.bounds(row)
        form, x, y = store.table.form(row), store.x.item(row), store.y.item(row)
        reach = _reach(bounds, dx, dy)
        passed: set[int] = set()
        ignored_hits: list[Hit] = []
        around = self.around(row, ignored, layers, passed=passed)
        answers = self._answers(response, ignored_hits)
        movement = resolve(store.shape(row), dx, dy, around, None, answers)
        if not body.alive or (when == kernel.IF_FREE and movement.hits):  # a response may have removed it
            return self._wrapped(movement)
        store.put(row, movement.x, movement.y)
        for hit in movement.hits:
            if hit.response != "cross" and isinstance(hit.other, Body) and hit.other.alive:
                self._contacts.note(row, hit.other.id, hit.normal, stopped=True)
        if passed or ignored_hits or any(hit.response == "cross" for hit in movement.hits):
            start = Start(columns_of(form), 0, x, y)
            movement = cross(self._state, body, start, movement, passed, ignored_hits)
        if not self._space.periodic:
            return movement
        movement = self._wrapped(movement)
        if movement.hits and not self._space.is_inner(reach):
            self.keep_off(row, [hit for hit in movement.hits if hit.response != "cross"])
        return movement._replace(x=store.x.item(row), y=store.y.item(row))

    def move_through(self, row: int, dx: float, dy: float, ignored: Ignored) -> Movement:
        """Move a body to its goal, whatever is in between, and note what it crosses."""
        store = self._store
        start = Start(store.table.columns, row, store.x.item(row), store.y.item(row))
        passed: set[int] = set()
        if store.any_sensor:
            left, top, right, bottom = store.bounds(row)
            swept = swept_region(left, top, right - left, bottom - top, dx, dy, False)
            self.around(row, ignored, passed=passed)(swept)
        movement = Movement(start.x + dx, start.y + dy, ())
        store.put(row, movement.x, movement.y)
        return cross(self._state, self.body(row), start, movement, passed, [])

    # ---- the bodies around a movement

    def around(
        self,
        row: int | None,
        ignored: Ignored = (),
        layers: Layers = ALL,
        passed: set[int] | None = None,
        starts: tuple[Shape, ...] = (),
    ) -> Around:
        """A function that returns what blocks a body (or any body) within bounds.

        The body itself and ``ignored`` rows are left out.  Bodies that it crosses are added to ``passed``:
        sensors and, if the body is a sensor itself, all bodies; and bodies in other ``layers``, if a listener
        wants to know.
        """
        store = self._store
        left_out = {*ignored} if row is None else {row, *ignored}
        category, mask = (-1, -1) if row is None else (int(store.category[row]), int(store.mask[row]))
        is_sensor = row is not None and bool(store.sensor[row])
        # What is crossed: sensors in any layer, and what moves and has listeners, as the body itself has.
        looked_at = layers
        if passed is not None and row is not None and layers is not ALL:
            if store.any_sensor:
                looked_at = ALL
            elif store.layer.item(row) in LISTENED:
                looked_at = *layers, MOVING
        # One-way bodies are open or not from where the movement begins.
        if row is not None and not starts:
            starts = (store.shape(row),)
        movers = [columns_of(shape) for shape in starts] if store.any_one_way else []

        def around(bounds: Bounds) -> Blockers:
            bounds = closed(bounds)
            rows, shift = self._broad_phase.near(bounds, looked_at)
            near = [(other, at) for at, other in enumerate(rows) if other not in left_out]
            if store.any_ruled:
                near = [
                    one
                    for one in near
                    if category & int(store.mask[one[0]]) and mask & int(store.category[one[0]])
                ]
            if store.any_sensor:
                open_to = near if is_sensor else [one for one in near if store.sensor[one[0]]]
                if passed is not None:
                    passed.update(other for other, _ in open_to)
                near = [] if is_sensor else [one for one in near if not store.sensor[one[0]]]
            if looked_at is not layers and passed is not None and row is not None:
                blocks = np.isin(store.layer[[other for other, _ in near]], layers).tolist()
                others = [other for (other, _), stops in zip(near, blocks, strict=True) if not stops]
                passed.update(other for other in others if self._crosses(row, other))
                near = list(compress(near, blocks))
            if not near:
                return NOTHING._replace(repeats=self._space.repeats, grid=self._state.grid)
            blocking = [other for other, _ in near]
            images = None if shift is None else shift[[at for _, at in near]]
            found = self._blockers(blocking, images, [store.bodies[other] for other in blocking])
            found = found._replace(grid=self._state.grid)
            return self._with_sides(found, blocking, movers)

        return around

    def _with_sides(self, found: Blockers, rows: list[int], movers: list[ShapeColumns]) -> Blockers:
        """Blockers with the sides that stop movers from there, without those that one is inside of."""
        for mover in movers:
            sides = np.empty(len(rows), np.uint8)
            sides_of_rows(mover, 0, found.table, found.rows, self._store.one_way[rows], sides)
            found = found._replace(sides=sides if found.sides is None else sides & found.sides)
        return found if found.sides is None or found.sides.all() else found.at(found.sides != 0)

    def _blockers(self, rows: list[int], shift: Floats | None, others: list[Any]) -> Blockers:
        """Bodies, or images of them, as `Blockers`."""
        store, repeats = self._store, self._space.repeats
        columns = store.table.columns
        if shift is None:
            bounds = store.table.bounds(np.array(rows))
            return Blockers(bounds, others, columns, np.array(rows, np.int32), store.static, repeats)
        columns, each = moved_columns(columns, np.array(rows), shift), np.arange(len(rows), dtype=np.int32)
        return Blockers(bounds_of(columns), others, columns, each, store.static[rows], repeats)

    def blocker_at(self, shape: Shape, row: int | None, ignored: Ignored = ()) -> object | None:
        """The first body or tile that a shape would overlap at its place, but for what is one-way."""
        if self._store.any_one_way:
            ignored = {*ignored, *np.flatnonzero(self._store.one_way).tolist()}
        return blocker_at(shape, self.around(row, ignored))

    # ---- for platforms

    def rows_near(self, box: Bounds) -> list[int]:
        """The rows whose bounds overlap a box, ascending."""
        rows, shift = self._broad_phase.near(box)
        return rows if shift is None else sorted(set(rows))

    def around_only(self, row: int, mover: Shape | None = None) -> Around:
        """As `around`, with one body as the only blocker, and the sides of it that can stop a ``mover``."""
        store, space = self._store, self._space
        rows, columns = np.array([row]), store.table.columns
        movers = [columns_of(mover)] if mover is not None and store.one_way[row] else []

        def around(bounds: Bounds) -> Blockers:
            if not space.periodic:
                return self._with_sides(self._blockers([row], None, [row]), [row], movers)
            images = space.images_of(columns, rows, closed(bounds))
            known = images.rows.tolist()
            if not known:
                return NOTHING
            return self._with_sides(self._blockers(known, space.shift(images.turns), known), known, movers)

        return around

    def overlap(self, row: int, other: int) -> bool:
        """Whether two bodies overlap now, by more than places are rounded by."""
        space, store = self._space, self._store
        largest = max(space.largest, *map(abs, (*store.bounds(row), *store.bounds(other))))
        depth = overlap_depth(store.table.columns, row, other, space.lengths)
        return bool(depth > _INSIDE * largest)

    def bounds_from(self, row: int, other: int) -> Bounds:
        """The bounds of the image of ``other`` that is nearest to ``row``."""
        here, there = self._store.bounds(row), self._store.bounds(other)
        if not self._space.periodic:
            return there
        bounds = np.array([here, there])
        middles = 0.5 * (bounds[:, :2] + bounds[:, 2:])
        left, top, right, bottom = (bounds[1] + np.tile(self._space.nearest_shift(*middles), 2)).tolist()
        return left, top, right, bottom

    # ---- periodic worlds: results are wrapped into the period

    def body(self, row: int) -> Body:
        """The body of a row that is in use."""
        body: Any = self._store.bodies[row]
        return body  # type: ignore[no-any-return]

    def wrapped_hit(self, hit: Hit) -> Hit:
        """A hit with its place wrapped into the period."""
        return hit._replace(touch=self._space.place(*hit.touch))

    def _wrapped(self, movement: Movement) -> Movement:
        """A movement wrapped into the period."""
        if not self._space.periodic:
            return movement
        hits, crossed = ([self.wrapped_hit(hit) for hit in some] for some in movement[2:4])
        return Movement(
            *self._space.place(movement.x, movement.y), tuple(hits), tuple(crossed), movement.reached
        )

    def _answers(self, response: Response, ignored_hits: list[Hit]) -> Response:
        """The response for wrapped hits; hits that a function answers with ``None`` are added to a list."""
        if not callable(response):
            return response

        def answer(hit: Hit) -> Answer | None:
            name = response(self.wrapped_hit(hit) if self._space.periodic else hit)
            if name is None:
                ignored_hits.append(hit._replace(response="cross"))
            return name

        return answer

    def keep_off(self, row: int, hits: Sequence[Hit]) -> None:
        """Move a body a little if rounding across the edge lets it overlap what stopped it."""
        store = self._store
        known = [hit for hit in hits if not isinstance(hit.other, Body) or hit.other.alive]
        places = store.places(np.array([row]))
        free_places(
            *(store.table.columns, np.array([row], np.int32), as_rows(0, known), self._space.lengths),
            *(self._state.grid, places),
        )
        store.put(row, *places[0].tolist())


class Rollback:
    """``with Rollback(state, rows):`` puts bodies back if the block raises or is interrupted.

    Putting them back allocates no memory: the exception may be a `MemoryError`.
    """

    def __init__(self, state: State, rows: Rows) -> None:
        store = state.store
        self._state, self._rows = state, rows
        self._at = rows.astype(np.intp)  # with another type NumPy would allocate memory to put them back
        self._x, self._y = store.x[rows], store.y[rows]
        self._noted = state.contacts.noted

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None:
            store = self._state.store
            store.have_moved(self._rows)
            store.x[self._at] = self._x
            store.y[self._at] = self._y
            self._state.contacts.forget(self._noted)


def bits_of(layers: Layers) -> int:
    """Layers as kernels take them."""
    return kernel.EVERY_LAYER if layers is ALL else sum(1 << layer for layer in layers)


def _reach(bounds: Bounds, dx: float, dy: float) -> Bounds:
    """All that a movement can reach: a slope may turn all of it to the side."""
    left, top, right, bottom = bounds
    far = abs(dx) + abs(dy)
    return left - far, top - far, right + far, bottom + far
