"""Movement of one body among the bodies and tiles of a world, until something blocks it.

The docstring of `World.move` defines what blocks and what is crossed.

In a periodic space a movement is computed from where the body is, among images of nearby bodies, in
coordinates that continue beyond the edge.  The results, and the final place of the body, are wrapped into the
period.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from broadphase.geometry.shapes import Bounds, Shape, finite
from broadphase.kernels.movement import motion as kernel
from broadphase.kernels.movement.crossing import HITS, cross_path
from broadphase.kernels.movement.depenetration import free_place
from broadphase.kernels.movement.path import DONE, FULL, swept_region
from broadphase.kernels.movement.sweep import BOUNCE, CROSS
from broadphase.kernels.shapes.images import overlap_depth
from broadphase.kernels.shapes.table import ShapeColumns
from broadphase.runtime.arrays import Floats
from broadphase.world.arguments import as_shape, as_two
from broadphase.world.bodies import ALL, MOVING, Body, Ignored, Rows
from broadphase.world.broad_phase import closed
from broadphase.world.hits import (
    RESPONSES,
    Answer,
    Hit,
    Movement,
    Response,
    as_rows,
    code_of,
    hits_of,
)
from broadphase.world.movement.sweep import (
    Path,
    checked_displacement,
    first_beside,
    united,
)
from broadphase.world.state import State
from broadphase.world.tiles import NO_TILES, Tile

_new = tuple.__new__  # a named tuple in half the time

# Of the coordinates: only a deeper overlap counts as inside.
_INSIDE = 1e-12

# Of the coordinates: what is met within such a distance is met at once.
_FLUSH = 1e-9

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
        start = self.start_of(row)
        try:
            movement = self.move_row(row, dx, dy, response, ignored)
            self.put_back(start)
        except BaseException:  # an interrupt may come while it is put back
            self.put_back(start)
            raise
        return movement

    def try_move(self, row: int, dx: float, dy: float, ignored: Ignored) -> Body | Tile | None:
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
        path = Path(self._state, shape, -1 if row is None else row, ignored)
        return self._wrapped(path.cast(dx, dy, "touch", others))

    def grounded(self, body: Body, direction: tuple[float, float], ignore: Any) -> Hit | None:
        """See `World.grounded`."""
        row, towards = self._store.row(body), as_two(direction, "direction")
        ignored = self._store.ignored(ignore)
        bounds = self._store.bounds(row)

        def met(x: float, y: float) -> Sequence[Hit]:
            return self._move_fast(row, x, y, "touch", ignored, kernel.ONLY_TEST, ALL).hits

        def far() -> float:
            neighbors = self._broad_phase.gathered(bounds)
            return float(np.abs(self._store.table.bounds(neighbors)).max(initial=0.0))

        return first_beside(bounds, towards, self._space.largest, met, far if self._store.any_round else None)

    def ahead_of(
        self, row: int, way: tuple[float, float], tags: frozenset[Any], ignored: Ignored
    ) -> tuple[list[tuple[int, int, tuple[float, float], tuple[float, float]]], bool]:
        """The bodies with some tags that one pushes along an axis, and those that they push, after them.

        Each with what pushes it, its way, and the normal out of it at which it is pushed; and whether all of
        them make way.  If one is stopped before, the others go no farther than it lets the first.
        """
        store, behind = self._store, {row, *ignored}
        found: list[tuple[int, int, tuple[float, float], tuple[float, float]]] = []

        def makes_way(hit: Hit) -> bool:
            other = hit.other
            return isinstance(other, Body) and not (store.static[other.id] or tags.isdisjoint(other.tags))

        def look(pusher: int, way: tuple[float, float]) -> float:
            """How far those ahead let it go; the first may step over or onto what else it meets."""
            met, passed, stop, room = list[Movement](), {*behind}, None, max(map(abs, way))
            start, ahead = store.places(np.array([pusher]))[0], np.array(way)
            while any(way) and stop is None and len(found) + len(met) < _MOST_PUSHED:
                cast = self.dry(pusher, *way, "touch", passed)
                if not cast.hits:
                    break
                if makes_way(cast.hits[0]):
                    met.append(cast)
                    passed.add(cast.hits[0].other.id)
                else:
                    stop = cast.hits[0].touch
                    gone = np.abs(self.end_of(cast, start, ahead) - start).max().item()
                    room = room if pusher == row else gone
            tolerance = _FLUSH * max(self._space.largest, *map(abs, store.bounds(pusher)))
            for cast in met:
                hit, other = cast.hits[0], cast.hits[0].other.id
                if stop is not None and math.dist(stop, hit.touch) <= tolerance:
                    break  # it is stopped by what it meets at once
                if other in behind:
                    continue  # by one that it pushes
                # What is left from where it touches, with its gap to what is round or slanted.
                left_x, left_y = (start + ahead - self.end_of(cast, start, ahead)).tolist()
                behind.add(other)
                found.append((pusher, other, (left_x, left_y), hit.normal))
                lacks = max(abs(left_x), abs(left_y)) - look(other, (left_x, left_y))
                room = min(room, max(map(abs, way)) - lacks)
            return room

        room, wanted = look(row, way), max(map(abs, way))
        if room < wanted:
            # A little farther, so that what stops one of them is met.
            share = min((room + _INSIDE * max(map(abs, store.bounds(row)))) / wanted, 1.0)
            found.clear()
            behind = {row, *ignored}
            look(row, (share * way[0], share * way[1]))
        return found, room == wanted

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
        layers: int = ALL,
    ) -> Movement:
        """Move a body as far as it can, and note what it crosses: all of it or, interrupted, nothing.

        Bodies in other ``layers`` do not block.
        """
        start = self.start_of(row)
        try:
            if callable(response):
                return self._move_asking(row, finite(dx, "dx"), finite(dy, "dy"), response, ignored)
            return self._move_fast(row, dx, dy, response, ignored, when, layers)
        except BaseException:
            self.put_back(start)
            raise

    def start_of(self, row: int) -> tuple[Body, float, float, int]:
        """A body, its place, and what was noted before it moves, for `put_back`."""
        store = self._store
        body: Any = store.bodies[row]
        return body, store.x.item(row), store.y.item(row), len(self._contacts.notes)

    def put_back(self, start: tuple[Body, float, float, int]) -> None:
        """Put a body back, and forget what was noted since."""
        body, x, y, noted = start
        if body.alive:  # a response may have removed it, and given its id to another
            self._store.put(body.id, x, y)
        self._contacts.forget(noted)

    def _move_fast(
        self, row: int, dx: float, dy: float, response: Answer, ignored: Ignored, when: int, layers: int
    ) -> Movement:
        """The movement in one call of a kernel, mostly."""
        code = RESPONSES.get(response)
        if code is None:
            code = code_of(response)  # says what is wrong
        if type(dx) is not float or type(dy) is not float:
            dx, dy = finite(dx, "dx"), finite(dy, "dy")
        swept, across = self._sweep(row, dx, dy, code, ignored, when, layers)
        _, found, crossed, x, y, reached = swept
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
            if layers != ALL:
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
            self.keep_off(row, x, y, hits)
        return movement._replace(x=self._store.x.item(row), y=self._store.y.item(row))

    def _crosses(self, row: int, other: int) -> bool:
        """Whether it is of interest that a body crosses another that does not block it."""
        store = self._store
        if store.sensor.item(row) or store.sensor.item(other):
            return True
        return store.layer.item(other) == MOVING and self._contacts.concerns(row, other)

    def _sweep(
        self, row: int, dx: float, dy: float, code: int, ignored: Ignored, when: int, layers: int
    ) -> tuple[Any, bool]:
        """What `kernel.move_body` returns, and whether images took part; the hits are in `buffers`."""
        store, space, broad_phase, grid = self._store, self._space, self._broad_phase, self._state.grid
        shapes = store.table.columns if store.any_round else store.table.places
        turns, needed = False, None
        while True:
            searched = needed or kernel.region_of(shapes, row, dx, dy, code == BOUNCE, turns)
            if searched[0] == -math.inf:
                checked_displacement(store.x.item(row), dx, "dx")
                checked_displacement(store.y.item(row), dy, "dy")
            across = False
            if space.periodic:
                space.check_displacement(dx, dy)
                across = not space.is_inner(searched)
            count = broad_phase.gather(searched)
            if ignored:
                rows = broad_phase.buffers.near
                kept = [other for other in rows[:count].tolist() if other not in ignored]
                count, rows[: len(kept)] = len(kept), kept
            around, way = (store.marks, store.one_way, layers), (row, dx, dy, code, when)
            memory = broad_phase.buffers, grid, searched
            if across:
                others, images = broad_phase.buffers.near[:count].copy(), (broad_phase.frame, space.lengths)
                swept = kernel.move_among_images(shapes, around, way, others, *memory, images)
            else:
                swept = kernel.move_body(shapes, around, way, count, *memory)
            if swept[0] == DONE:
                return swept, across
            if swept[0] == FULL:
                broad_phase.reserve(2 * len(broad_phase.buffers.near))
            else:
                needed = united(searched, broad_phase.buffers.numbers[:4].tolist()) if turns else None
                turns = True

    def hits_found(self, row: int, found: Floats, response: Answer, stops: bool) -> list[Hit]:
        """The hits that a kernel has written; a body that was stopped is in contact with what stopped it."""
        hits = hits_of(self._store.bodies, found, response)
        for hit in hits if stops else ():
            if isinstance(hit.other, Body):
                self._contacts.note(row, hit.other.id, hit.normal, stopped=True)
        return hits

    def _move_asking(
        self, row: int, dx: float, dy: float, function: Callable[[Hit], Answer | None], ignored: Ignored
    ) -> Movement:
        """The movement of a body whose hits are answered by a function."""
        store, space = self._store, self._space
        checked_displacement(store.x.item(row), dx, "dx")
        checked_displacement(store.y.item(row), dy, "dy")
        space.check_displacement(dx, dy)
        body = self.body(row)
        path, answer = Path(self._state, store.shape(row), row, ignored), function
        if space.periodic:
            answer = lambda hit: function(self.wrapped_hit(hit))  # noqa: E731
        movement, ignored_hits = path.ask(dx, dy, answer)
        if not body.alive:  # a response may have removed it
            return self._wrapped(movement)
        store.put(row, *(end := movement[:2]))
        for hit in movement.hits:
            if hit.response != "cross" and isinstance(hit.other, Body) and hit.other.alive:
                self._contacts.note(row, hit.other.id, hit.normal, stopped=True)
        opened = sorted(other for other in path.opened if store.alive[other])
        if opened or ignored_hits or any(hit.response == "cross" for hit in movement.hits):
            mover, candidates = (path.shape, 0), np.array(opened, np.int32)
            movement = cross(self._state, body, mover, path.start, movement, candidates, ignored_hits)
        if not space.periodic:
            return movement
        movement = self._wrapped(movement)
        if movement.hits and not space.is_inner(path.searched):
            self.keep_off(row, *end, [hit for hit in movement.hits if hit.response != "cross"])
        return movement._replace(x=store.x.item(row), y=store.y.item(row))

    def move_through(self, row: int, dx: float, dy: float, ignored: Ignored) -> Movement:
        """Move a body to its goal, whatever is in between, and note what it crosses."""
        store = self._store
        x, y = start = store.x.item(row), store.y.item(row)
        candidates = np.empty(0, np.int32)
        if store.any_sensor:
            left, top, right, bottom = store.bounds(row)
            swept = closed(swept_region(left, top, right - left, bottom - top, dx, dy, False))
            candidates = self._broad_phase.gathered(swept)
            candidates = candidates[~np.isin(candidates, [*ignored])] if ignored else candidates
        movement = Movement(x + dx, y + dy, ())
        store.put(row, movement.x, movement.y)
        return cross(self._state, self.body(row), (store.table.columns, row), start, movement, candidates, [])

    # ---- what is around a body

    def blocker_at(self, shape: Shape, row: int | None, ignored: Ignored = ()) -> object | None:
        """The first body or tile that a shape would overlap at its place, but for what is one-way."""
        if self._store.any_one_way:
            ignored = {*ignored, *np.flatnonzero(self._store.one_way).tolist()}
        return Path(self._state, shape, -1 if row is None else row, ignored).blocker()

    # ---- for platforms

    def hits_on(
        self, shape: Shape, way: tuple[float, float], other: int, response: Answer, solid: bool = False
    ) -> tuple[Hit, ...]:
        """What a shape hits on a way where one body is all that blocks; see `Path`."""
        return Path(self._state, shape, only=other, solid=solid).cast(*way, response).hits

    def stands_on(self, row: int, ground: int, down: tuple[float, float]) -> Hit | None:
        """What a body touches in a direction, if that is another body; see `grounded`."""
        bounds, shape = self._store.bounds(row), self._store.shape(row)
        solid = not self._store.one_way.item(ground)

        def met(x: float, y: float) -> Sequence[Hit]:
            return self.hits_on(shape, (x, y), ground, "touch", solid)

        def far() -> float:
            return max(map(abs, self._store.bounds(ground)))

        return first_beside(bounds, down, self._space.largest, met, far)

    def overlap(self, row: int, other: int) -> bool:
        """Whether two bodies overlap now, by more than places are rounded by."""
        space, store = self._space, self._store
        largest = max(space.largest, *map(abs, (*store.bounds(row), *store.bounds(other))))
        depth = overlap_depth(store.table.columns, row, other, space.lengths)
        return bool(depth > _INSIDE * largest)

    def bounds_from(self, row: int, other: int, way: tuple[float, float]) -> Bounds:
        """The bounds of the image of ``other`` that is nearest to ``row`` were that moved so far."""
        bounds_of_row, bounds_of_other = self._store.bounds(row), self._store.bounds(other)
        if not self._space.periodic:
            return bounds_of_other
        bounds = np.array([bounds_of_row, bounds_of_other])
        middles = 0.5 * (bounds[:, :2] + bounds[:, 2:])
        middles[0] += way
        left, top, right, bottom = (bounds[1] + np.tile(self._space.nearest_shift(*middles), 2)).tolist()
        return left, top, right, bottom

    # ---- periodic worlds: results are wrapped into the period

    def body(self, row: int) -> Body:
        """The body of a row that is in use."""
        body: Any = self._store.bodies[row]
        return body  # type: ignore[no-any-return]

    def end_of(self, cast: Movement, start: Floats, way: Floats) -> Floats:
        """Where the first hit stops a body, or its goal, as seen from its start."""
        if not cast.hits:
            return start + way
        touch, time = np.array(cast.hits[0].touch), cast.hits[0].time
        return touch + self._space.nearest_shift(start + way * time, touch)

    def wrapped_hit(self, hit: Hit) -> Hit:
        """A hit with its place wrapped into the period."""
        return hit._replace(touch=self._space.place(*hit.touch))

    def _wrapped(self, movement: Movement) -> Movement:
        """A movement wrapped into the period."""
        if not self._space.periodic:
            return movement
        hits, crossed = ([self.wrapped_hit(hit) for hit in found] for found in movement[2:4])
        return Movement(
            *self._space.place(movement.x, movement.y), tuple(hits), tuple(crossed), movement.reached
        )

    def keep_off(self, row: int, x: float, y: float, hits: Sequence[Hit]) -> None:
        """Move a body, whose path ended there, a little if rounding lets it overlap what stopped it."""
        store = self._store
        known = [hit for hit in hits if not isinstance(hit.other, Body) or hit.other.alive]
        place = free_place(
            store.table.columns, row, x, y, as_rows(0, known), self._space.lengths, self._state.grid
        )
        store.put(row, *place)


class Rollback:
    """``with Rollback(state, rows):`` puts bodies back if the block raises or is interrupted.

    Putting them back allocates no memory: the exception may be a `MemoryError`.
    """

    def __init__(self, state: State, rows: Rows) -> None:
        self._state, self._rows, self._places = state, rows, state.store.places(rows)
        self._noted = len(state.contacts.notes)

    def __enter__(self) -> Floats:
        return self._places

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None:
            store = self._state.store
            kernel.put_many(store.x, store.y, store.marks, self._rows, self._places)
            self._state.contacts.forget(self._noted)


# -----------------------------------------------------------------------------------------------------------
# Sensors, and bodies that do not block: what movements cross.
#
# A body is crossed if it would have been hit: at the first moment at which the mover overlaps it, at time 0
# if it starts in it.  That is part of the result of a movement, and noted for the listeners of the next
# update.  `kernels.movement.crossing` finds it from the path: the start, the places where the mover was
# stopped or turned, and the end.


def cross(
    state: State,
    body: Body,
    mover: tuple[ShapeColumns, int],
    start: tuple[float, float],
    movement: Movement,
    candidates: Rows,
    ignored_hits: list[Hit],
) -> Movement:
    """The movement with the bodies that it crossed, which are noted for listeners.

    ``mover`` are shapes and its row among them, ``candidates`` the rows of bodies near the path.
    """
    bends: list[tuple[float, ...]] = []
    hits: list[Hit] = []
    for hit in (*movement.hits, *ignored_hits):
        if hit.response != "cross":
            bends.append((hit.time, 0.0, 0.0, *hit.touch))
        elif isinstance(hit.other, Body) and hit.other.alive:
            hits.append(hit)
    if len(candidates):
        store, out = state.store, np.empty((len(candidates) + 1, 9))
        way = start, movement[:2], np.array(bends).reshape(-1, 5), HITS
        known = store.marks, store.table.columns, candidates, state.space.lengths, NO_TILES, out
        count = cross_path(*mover, body.id, way, *known)
        hits += hits_of(store.bodies, out[:count], "cross")
    crossed = note_crossings(state, body.id, hits)
    return _new(Movement, (*movement[:3], crossed, movement.reached)) if crossed else movement


def note_crossings(state: State, row: int, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """What a body crossed, each once, in order; it is noted for listeners."""
    if len(hits) > 1:
        first: dict[Body, Hit] = {}
        for hit in sorted(hits, key=lambda hit: (hit.time, hit.other.id)):
            first.setdefault(hit.other, hit)
        hits = [*first.values()]
    for hit in hits if state.listeners.matcher.listeners else ():
        state.contacts.note(row, hit.other.id, hit.normal)
    return tuple(hits)
