"""Bodies of several shapes: several bodies that move and turn as one, each kept where it is to the others.

Each leg of a movement casts all parts and moves them as far as the first that is stopped; then it goes on as
`World.move` would along what that part met.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from broadphase.geometry.shapes import finite
from broadphase.kernels.movement.sweep import MOST_TURNS, turn
from broadphase.runtime.arrays import Floats
from broadphase.world.arguments import as_two
from broadphase.world.bodies import Body
from broadphase.world.hits import Answer, Hit, Movement, code_of
from broadphase.world.movement.motion import Motion, Rollback
from broadphase.world.movement.platforms import with_riders
from broadphase.world.space import Space

# Parts that are stopped within this share of the coordinates are stopped at once.
_ROUNDING = 1e-12


def move_as_one(motion: Motion, bodies: Any, dx: Any, dy: Any, response: Answer, ignore: Any) -> Movement:
    """See `World.move_as_one`."""
    store = motion._store
    given, ignored = store.rows_of(bodies), store.ignored(ignore)
    way = finite(dx, "dx"), finite(dy, "dy")
    code_of(response)
    motion._space.check_displacement(*way)
    rows = list(dict.fromkeys(given.tolist()))
    if not rows:
        raise ValueError("bodies is empty; give the parts of one body")

    def move(ignored: set[int]) -> Movement:
        if len(rows) == 1:
            return motion.move_row(rows[0], *way, response, ignored)
        with Rollback(motion._state, given):
            parts = _Parts(motion, rows, {*ignored, *rows})
            return parts.cross(*way) if response == "cross" else parts.move(*way, response)

    return with_riders(motion, rows, way, ignored, move)


class _Parts:
    """The parts of a body in a movement."""

    def __init__(self, motion: Motion, rows: list[int], ignored: set[int]) -> None:
        self._motion, self._store, self._space = motion, motion._store, motion._space
        self._rows, self._ignored = rows, ignored
        self._hits: list[Hit] = []
        self._crossed: list[Hit] = []
        self._gone = 0.0
        """The share of the displacement that is behind."""

    def cross(self, dx: float, dy: float) -> Movement:
        """Move to the goal, whatever is in between."""
        moves = [self._motion.move_row(row, dx, dy, "cross", self._ignored) for row in self._rows]
        self._hits = [hit for move in moves for hit in move.hits]
        self._crossed = [hit for move in moves for hit in move.crossed]
        return self._moved()

    def move(self, dx: float, dy: float, response: Answer) -> Movement:
        """Move until the parts are stopped, or at their goals."""
        self._push_out(response)
        reached = 0
        held: list[tuple[float, float]] = []
        rows, code = np.array(self._rows), code_of(response)
        starts = self._store.places(rows)
        # Each has its own goal, as in `World.move`: parts that are flush end flush.
        goals = starts + np.array((dx, dy))
        for _ in range(MOST_TURNS):
            ways = goals - starts
            slack = _ROUNDING * float(np.abs(starts).max())
            if np.abs(ways).max() <= (slack if self._gone else 0.0):
                break
            casts = [
                self._motion.dry(row, way[0], way[1], "touch", self._ignored)
                for row, way in zip(self._rows, ways.tolist(), strict=True)
            ]
            met = [(cast.hits[0].time, number) for number, cast in enumerate(casts) if cast.hits]
            if not met:
                self._shift(ways, 1.0)
                self._store.put_many(rows, goals)
                for cast in casts:
                    reached |= cast.reached
                break
            time, first = min(met)
            hit = casts[first].hits[0]
            ends = np.array(list(map(self._motion.end_of, casts, starts, ways)))
            gone = ends - starts
            far = np.abs(gone[first]).max() > slack
            if time == 0.0 and far:
                break  # it starts in tiles, and there is no room
            # Those that are stopped at once are flush, each to the last bit.
            flush = np.abs(gone - gone[first]).max(axis=1) <= _ROUNDING * (1.0 + np.abs(starts).max(axis=1))
            ends[~flush] = (starts + gone[first])[~flush]
            self._shift(ends - starts, time)
            self._store.put_many(rows, ends)
            self._stopped(self._rows[first], hit._replace(time=time), response)
            if response == "touch":
                break
            self._gone += (1.0 - self._gone) * time
            goals += np.array(turn(*ends[first], *goals[first], *hit.normal, code)) - goals[first]
            starts = self._store.places(rows)
            goals += starts - ends  # whole periods
            goals = np.where(np.abs(goals - starts) <= _ROUNDING * (1.0 + np.abs(starts)), starts, goals)
            if far:
                held = []
            # What slides into a surface that it slid along at this very place is held between the two.
            dx, dy = (goals[first] - starts[first]).tolist()
            if response == "slide" and any(
                dx * x + dy * y < -_ROUNDING * math.hypot(dx, dy) for x, y in held
            ):
                break
            held.append(hit.normal)
        return self._moved(reached)

    def _moved(self, reached: int = 0) -> Movement:
        x, y = self._store.x.item(self._rows[0]), self._store.y.item(self._rows[0])
        crossed: dict[Body, Hit] = {}
        for hit in sorted(self._crossed, key=lambda hit: (hit.time, hit.other.id)):
            crossed.setdefault(hit.other, hit)
        hits = sorted(self._hits, key=lambda hit: hit.time)
        return Movement(x, y, tuple(hits), tuple(crossed.values()), reached)

    def _shift(self, ways: Floats, share: float) -> None:
        """Move all parts by a share of what is left, and note what they cross."""
        for row, way in zip(self._rows, ways.tolist(), strict=True):
            moved = self._motion.move_through(row, way[0], way[1], self._ignored)
            left = 1.0 - self._gone
            self._crossed += [
                hit._replace(time=self._gone + left * share * hit.time) for hit in moved.crossed
            ]

    def _stopped(self, row: int, hit: Hit, response: Answer) -> None:
        time = self._gone + (1.0 - self._gone) * hit.time
        self._hits.append(hit._replace(response=response, time=time))
        if isinstance(hit.other, Body):
            self._motion._contacts.note(row, hit.other.id, hit.normal, stopped=True)

    # ---- what they start in

    def _push_out(self, response: Answer) -> None:
        """Push all parts out of what one of them starts in, if there is room for all.

        Bodies that they are still in do not stop them.
        """
        for row in self._rows:
            cast = self._motion.dry(row, 0.0, 0.0, "touch", self._ignored)
            if not cast.hits:
                continue
            start = self._store.places(np.array([row]))[0]
            dx, dy = (self._motion.end_of(cast, start, np.zeros(2)) - start).tolist()
            if (dx or dy) and self._has_room(dx, dy):
                self._shift(np.tile((dx, dy), (len(self._rows), 1)), 0.0)
                for hit in cast.hits:
                    self._stopped(row, hit, response)
            overlapping = self._overlapping(row, 0.0, 0.0) - {-1}
            self._ignored |= {other for other in overlapping if self._motion.overlap(row, other)}

    def _has_room(self, dx: float, dy: float) -> bool:
        """Whether no part would be in anything that it is not in now."""
        return all(self._overlapping(row, dx, dy) <= self._overlapping(row, 0.0, 0.0) for row in self._rows)

    def _overlapping(self, row: int, dx: float, dy: float) -> set[int]:
        """The rows of what blocks a part and overlaps it at another place; -1 for tiles."""
        shape, found = self._store.shape(row), set[int]()
        shape = shape.moved_to(shape.x + dx, shape.y + dy)
        while True:
            other = self._motion.blocker_at(shape, row, self._ignored | found)
            if not isinstance(other, Body):
                return found if other is None else {*found, -1}
            found.add(other.id)


def turn_as_one(motion: Motion, bodies: Any, by: Any, about: Any) -> object | None:
    """See `World.turn_as_one`."""
    store, space = motion._store, motion._space
    rows, degrees = store.rows_of(bodies), finite(by, "by")
    if not len(rows):
        raise ValueError("bodies is empty; give the parts of one body")
    bounds = store.table.bounds(rows)
    shifts = _unrolled(space, 0.5 * (bounds[:, :2] + bounds[:, 2:]))
    bounds += np.tile(shifts, 2)
    middle = 0.5 * (bounds[:, :2].min(axis=0) + bounds[:, 2:].max(axis=0))
    pivot = middle
    if about is not None:
        given = np.array(as_two(about, "about"))
        pivot = given + space.nearest_shift(middle, given)
    pivots: Iterable[Any] = map(tuple, (pivot - shifts).tolist())
    angles, places = [store.table.angle(row) + degrees for row in rows.tolist()], []
    for row, angle, point in zip(rows.tolist(), angles, pivots, strict=True):
        found = motion.blocker_turned(row, angle, point, rows.tolist())
        if found is not None:
            return found
        places.append(space.place(*store.place_turned(row, angle, point)))
    store.turn_many(rows, np.array(angles), np.array(places).T)
    return None


def _unrolled(space: Space, middles: Floats) -> Floats:
    """``(m, 2)``: shifts that bring parts together that lie on both sides of the edge of a period.

    The world is cut where the gap between two of them is the widest.
    """
    shifts, count = np.zeros_like(middles), len(middles)
    for axis, length in enumerate(space.lengths.tolist() if space.periodic and count > 1 else ()):
        if np.isfinite(length):
            places = middles[:, axis] % length
            order = np.argsort(places, kind="stable")
            gaps = np.diff(places[order], append=places[order[0]] + length)
            before_cut = order[: int(gaps.argmax()) + 1]
            shifts[:, axis] = places - middles[:, axis]
            shifts[before_cut if len(before_cut) < count else [], axis] += length
    return shifts
