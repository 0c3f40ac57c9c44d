"""Movement of thousands of bodies in one call."""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.geometry.shapes import finite
from broadphase.inputs.arrays import NUMBERS, POINTS, settled
from broadphase.kernels.movement import motion as kernel
from broadphase.kernels.movement.path import FULL
from broadphase.kernels.movement.sweep import FARTHEST
from broadphase.runtime.arrays import Floats, distinct
from broadphase.world.arguments import as_places, as_two, checked_points
from broadphase.world.bodies import ALL, MOVING, STATICS, Ignored, Rows
from broadphase.world.hits import (
    NO_HITS,
    RESPONSES,
    Answer,
    Movements,
    as_rows,
    code_of,
    hit_arrays,
    velocities_after,
)
from broadphase.world.movement.motion import Motion, Rollback
from broadphase.world.movement.platforms import carry, riders_of
from broadphase.world.movement.regions import CARRIED, Regions
from broadphase.world.state import State

# Memory for so many hits a mover, and at least for so many in all; with more, the kernel is called again.
_HITS_EACH, _LEAST_CAPACITY = 2, 32
# A call of the kernel makes about so many tests, so that Ctrl-C is answered: some 50 ms.
_MOST_TESTS = 1e6
_NAMES = tuple(RESPONSES)
# Up to so many bodies are moved one by one, some 20 us each.  A call of the kernel for many takes 30; with a
# period, or among 100,000 bodies, it takes 110 to 230.
_FEW = 4

_new: Any = tuple.__new__  # a named tuple in half the time


class ManyMotion:
    """Moves, puts and turns many bodies of a world at once."""

    def __init__(self, state: State, motion: Motion) -> None:
        self._state, self._motion = state, motion
        self._space, self._store = state.space, state.store
        self._broad_phase, self._contacts = state.broad_phase, state.contacts

    # ---- what users call

    def move_many(
        self, bodies: Any, dx: Any, dy: Any, response: Answer, movers_block: bool, ignore: Any
    ) -> Movements:
        """See `World.move_many`."""
        code = code_of(response)
        rows, displacements = self.checked_displacements(bodies, dx, dy)
        ignored, responses = self._store.ignored(ignore), np.empty(len(rows), np.int8)
        responses.fill(code)
        call = _Call(self._motion, rows, displacements, responses, ALL if movers_block else STATICS, ignored)
        return call.move()

    def step(self, dt: float, movers_block: bool, ignore: Any) -> Movements:
        """See `World.step`."""
        store, seconds = self._store, finite(dt, "dt")
        n, ignored = len(store.bodies), store.ignored(ignore)
        rows, responses = np.empty(n, np.int32), np.empty(n, np.int8)
        velocities, displacements = np.empty((n, 2)), np.empty((n, 2))
        known = (store.velocity_x, store.velocity_y), (store.x, store.y), store.alive, store.response
        out = rows, velocities, displacements, responses
        count, far = kernel.plan_step(*known, store.group, self._by_group(), seconds, out)
        rows, velocities, displacements = rows[:count], velocities[:count], displacements[:count]
        responses = responses[:count]
        if not far < FARTHEST or self._space.periodic:
            self._check_goals(rows, displacements, "velocity * dt")
        call = _Call(self._motion, rows, displacements, responses, ALL if movers_block else STATICS, ignored)
        moved = call.move(velocities)
        moved.ids = rows
        return moved

    def _by_group(self) -> npt.NDArray[np.int8]:
        """The response that the bodies of each set of tags have in a step: that of a tag, else to slide."""
        by_tag, groups = self._state.responses, self._store.tag_sets.groups
        found = np.zeros(len(groups), np.int8)  # to slide
        if not by_tag:
            return found
        for number, tags in enumerate(groups):
            found[number] = next((code for tag, code in by_tag.items() if tag in tags), found[number])
        return found

    def move_all(self, bodies: Any, positions: Any) -> None:
        """See `World.move_all`."""
        given = settled(positions, "positions", NUMBERS)
        rows = self._store.rows_of(bodies)
        places = as_places(given, len(rows), "positions")
        self._store.put_many(rows, places)

    def turn_many(self, bodies: Any, angles: Any) -> None:
        """See `World.turn_many`."""
        given = _numbers(angles, "angles")
        rows = self._store.rows_of(bodies)
        if len(distinct(rows)) < len(rows):
            raise ValueError("bodies names a body twice; each can have one angle")
        degrees = np.full(len(rows), _one_each(given, len(rows), "angles"))
        unsound = np.flatnonzero(~np.isfinite(degrees))
        if len(unsound):
            raise ValueError(f"angles[{unsound[0]}] = {degrees[unsound[0]]} must be finite")
        self._store.turn_many(rows, degrees)

    # ---- shared with `Character`

    def checked_displacements(self, bodies: Any, dx: Any, dy: Any) -> tuple[Rows, Floats]:
        """The rows of bodies, and ``(m, 2)``: their displacements."""
        if dy is None and type(dx) is not np.ndarray and np.ndim(dx) == 0:
            dx, dy = as_two(dx, "dx, dy")
        if dy is None:
            given = settled(dx, "dx, dy", POINTS)
            rows = self._store.rows_of(bodies)
            displacements = given.astype(np.float64, copy=False)
            if displacements.shape != (len(rows), 2):
                if checked_points(given, "dx, dy").ndim == 2:
                    _one_each(displacements[:, 0], len(rows), "dx")  # raises
                displacements = np.tile(displacements, (len(rows), 1))
        else:
            along, down = _numbers(dx, "dx"), _numbers(dy, "dy")
            rows = self._store.rows_of(bodies)
            displacements = np.empty((len(rows), 2))
            displacements[:, 0] = _one_each(along, len(rows), "dx")
            displacements[:, 1] = _one_each(down, len(rows), "dy")
        ascends = self._check_goals(rows, displacements, "dx, dy")
        if not ascends and np.bincount(rows).max() > 1:
            raise ValueError("bodies names a body twice; each can move once in a call")
        return rows, displacements

    def _check_goals(self, rows: Rows, displacements: Floats, name: str) -> bool:
        """Raise ``ValueError`` where movers leave the world; whether their rows ascend."""
        known = self._store.x, self._store.y, displacements, self._space.longest
        ascends, number = kernel.check_moves(rows, *known)
        if number >= 0:
            dx, dy = displacements[number].tolist()
            self._space.check_displacement(dx, dy, name)
            raise ValueError(f"{name} = {[dx, dy]} of bodies[{number}] lead beyond {FARTHEST:g}, or are nan")
        return bool(ascends)


class _Call:
    """One call: the movers, in order, and their arguments, checked."""

    def __init__(
        self,
        motion: Motion,
        rows: Rows,
        displacements: Floats,
        responses: npt.NDArray[np.int8],
        layers: int,
        ignored: Ignored,
    ) -> None:
        self._motion, self._state, self._store = motion, motion._state, motion._store
        self._space = motion._space
        self._rows, self._displacements, self._responses = rows, displacements, responses
        self._layers, self._ignored = layers, ignored
        """Those that block, and the rows that do not."""
        self._waits = layers != ALL
        """Static movers stay where they were until all have moved: the others see them there."""
        self._searched = layers | self._waits << MOVING
        """The layers of what may be near."""
        store = self._store
        self.lifts = rows[store.one_way[rows] != 0].tolist() if store.any_one_way else ()
        """Movers that block on some sides only: they carry and push others."""
        self._riders = riders_of(motion, self.lifts) if self.lifts else {}
        """What stands on each of those, which it does not stop."""

    def move(self, velocities: Floats | None = None) -> Movements:
        """Move all, and turn their velocities as the hits say; or nothing, where this is interrupted."""
        rows, store = self._rows, self._store
        if not len(rows):
            return Movements(np.empty((0, 2)), NO_HITS)
        those = store.rows() if self.lifts else rows
        with Rollback(self._state, those) as places:
            moved = self._one_by_one() if len(rows) <= _FEW else self._all_at_once()
            if self.lifts:
                moved = self._carried(places[np.searchsorted(those, rows)], moved)
            if velocities is not None and len(moved.hits.movers):
                after = velocities_after(velocities, moved.hits, self._responses)
                # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
                store.velocity_x[rows], store.velocity_y[rows] = after[:, 0], after[:, 1]
        return moved

    def _carried(self, starts: Floats, moved: Movements) -> Movements:
        """The same when static jump-through movers have carried others; a rider may be a mover, too."""
        for number in np.flatnonzero(np.isin(self._rows, self.lifts)).tolist() if self._waits else ():
            self._carry(number, starts[number], moved.places[number])
        return moved._replace(places=self._store.places(self._rows))

    def _carry(self, number: int, start: Any, place: Any) -> bool:
        """Let a jump-through body that has moved carry and push others; movers do not block each other.

        Returns whether it has moved any.
        """
        row = self._rows.item(number)
        if row not in self.lifts:
            return False
        movers, riders = self._rows.tolist(), self._riders.get(row, [])
        behind = self._ignored if self._store.static[row] else {*self._ignored, *movers}
        passed = movers if self._waits else ()
        way = self._displacements[number].tolist()
        return carry(self._motion, row, riders, np.array(start), np.array(place), way, behind, passed)

    def _one_by_one(self) -> Movements:
        """Move few bodies, each as `World.move` does: preparing one call for all takes longer."""
        store, motion, waiting = self._store, self._motion, []
        places, hits, crossed = [], [], []
        arguments = zip(
            self._rows.tolist(), self._displacements.tolist(), self._responses.tolist(), strict=True
        )
        for number, (row, (dx, dy), code) in enumerate(arguments):
            place = store.x.item(row), store.y.item(row)
            ignored = {*self._ignored, *self._riders[row]} if row in self._riders else self._ignored
            move = motion.move_row(row, dx, dy, _NAMES[code], ignored, layers=self._layers)
            if not self._waits:
                self._carry(number, place, move[:2])
            places.append(move[:2])
            if move.hits:
                hits.append(as_rows(number, move.hits))
            if move.crossed:
                crossed.append(as_rows(number, move.crossed))
            if self._waits and store.static.item(row):
                # The others see it where it was until all have moved.
                store.put(row, *place)
                waiting.append((row, *move[:2]))
        for row, x, y in waiting:
            store.put(row, x, y)
        found = (hit_arrays(np.concatenate(parts)) if parts else NO_HITS for parts in (hits, crossed))
        return Movements(np.array(places), *found)

    # ---- many, by a kernel, which halts after what carries others

    def _all_at_once(self) -> Movements:
        rows, state, count = self._rows, self._state, len(self._rows)
        self._places = np.empty((count, 2))
        """Of each mover, in the period."""
        self._hits: list[Floats] = []
        self._crossed: list[Floats] = []
        self._most_hits = _HITS_EACH * count + _LEAST_CAPACITY
        # A round body or a slope may turn a path to any side.
        turns, space = bool(self._store.any_round or len(state.grid.ground)), self._space
        known = self._store.table.columns, rows, self._displacements, self._responses, turns
        write = partial(kernel.regions_of, *known, (space.lengths, space.low, space.high))
        regions = Regions(state, rows, self._searched, self._ignored, self._riders, write)
        regions.move(self._run)
        hits, crossed = self._hits[0], self._crossed[0]
        if len(self._hits) > 1:
            hits, crossed = np.concatenate(self._hits), np.concatenate(self._crossed)
        reported = state.contacts.report(rows, self._responses, hits, crossed)
        if regions.near is not None and not self._ignored:
            matcher = state.listeners.matcher
            state.contacts.searched = rows, regions.boxes, *regions.near, matcher
        moved: Movements = _new(Movements, (self._places, *reported))
        return moved

    def _run(self, around: kernel.Surroundings, begin: int, first: int) -> tuple[int, int]:
        """Move some movers in one call of the kernel; see `regions.Run`."""
        state, store, broad_phase = self._state, self._store, self._state.broad_phase
        those = slice(first, first + len(around.across))
        rows, alone = self._rows[those], len(around.across) < len(self._rows)
        movers = rows, self._displacements[those], self._responses[those], around
        starts = store.places(rows[begin:]) if alone or (self.lifts and not self._waits) else None
        if len(broad_phase.buffers.hits) < self._most_hits:
            broad_phase.buffers = broad_phase.buffers._replace(hits=np.empty((self._most_hits, 9)))
        met, passed = broad_phase.buffers.hits, np.empty((self._most_hits, 9))
        end, done, found, over = kernel.move_many(
            *(store.table.columns, (store.marks, store.one_way, self._layers)),
            *((store.group, store.tag_sets.bits), movers, begin, state.grid, broad_phase.buffers),
            *((broad_phase.frame, state.space.lengths), (self._places[first:], passed)),
            (_MOST_TESTS, self._waits),
        )
        for columns, count, kept in ((met, found, self._hits), (passed, over, self._crossed)):
            if first:
                columns[:count, 8] += first
            is_last = columns is passed and end == len(rows)
            kept.append(columns[:count] if is_last else columns[:count].copy())
        if done == kernel.CROWDED:
            broad_phase.reserve(2 * len(broad_phase.buffers.near))
        elif done == FULL and not (found or over):
            self._most_hits *= 2
        if starts is not None and end > begin:
            last = rows.item(end - 1)
            if self._waits and store.static.item(last):
                # The others see it where it was until all have moved.
                store.put(last, *starts[end - 1 - begin].tolist())
            elif not self._waits and self._carry(
                first + end - 1, starts[end - 1 - begin], self._places[first + end - 1]
            ):
                done = CARRIED
        return int(end), int(done)


def _numbers(values: Any, name: str) -> float | Floats:
    """One number, or an array of them; its length is checked later, when all arguments are converted."""
    if np.ndim(values) == 0:
        return finite(values, name)
    numbers: Floats = settled(values, name, NUMBERS).astype(np.float64, copy=False)
    return numbers


def _one_each(given: float | Floats, count: int, name: str) -> float | Floats:
    """One number for each body, or one for all."""
    if isinstance(given, float):
        return given
    if given.shape != (count,):
        raise ValueError(f"{name} must be one number, or have shape ({count},); got shape {given.shape}")
    return given
