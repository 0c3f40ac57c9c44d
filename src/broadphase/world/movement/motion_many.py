"""Movement of thousands of bodies in one call."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.geometry.shapes import finite
from broadphase.inputs.arrays import settled
from broadphase.inputs.foreign import NUMBERS
from broadphase.kernels.movement import motion as kernel
from broadphase.kernels.movement.path import FULL, TOO_FAR
from broadphase.kernels.movement.sweep import CROSS, FARTHEST
from broadphase.runtime.arrays import Floats, distinct
from broadphase.world.arguments import as_places, as_points, as_two
from broadphase.world.bodies import ALL, MOVING, STATICS, Ignored, Layers, Rows
from broadphase.world.broad_phase import Near
from broadphase.world.contacts import Searched
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
from broadphase.world.movement.crossing import concerned
from broadphase.world.movement.motion import Motion, Rollback
from broadphase.world.movement.platforms import carry, riders_of
from broadphase.world.movement.sweep import bits_of
from broadphase.world.state import State

# Memory for so many hits a mover, and at least for so many in all; with more, the kernel is called again.
_HITS_EACH, _LEAST_CAPACITY = 2, 32
# A call of the kernel makes about so many tests, so that Ctrl-C is answered: some 50 ms.
_MOST_TESTS = 1e6
_NAMES = tuple(RESPONSES)
# Up to so many bodies are moved one by one: 2.8 us each, where a call of the kernel for many takes 60.
_FEW = 16

_Flags = npt.NDArray[np.bool_]


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
        ignored = self._store.ignored(ignore)
        with Rollback(self._state, self._moved_by(rows)):
            return self._move(rows, displacements, np.full(len(rows), code, np.int8), movers_block, ignored)

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
        with Rollback(self._state, self._moved_by(rows)):
            moved = self._move(rows, displacements, responses, movers_block, ignored)
            if len(moved.hits.movers):
                after = velocities_after(velocities, moved.hits, responses)
                # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
                store.velocity_x[rows], store.velocity_y[rows] = after[:, 0], after[:, 1]
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

    def _moved_by(self, rows: Rows) -> Rows:
        """The rows of all bodies that some movers may move: jump-through ones carry and push others."""
        lifts = self._store.any_one_way and self._store.one_way[rows].any()
        return self._store.rows() if lifts else rows

    def _move(
        self,
        rows: Rows,
        displacements: Floats,
        responses: npt.NDArray[np.int8],
        movers_block: bool,
        ignored: Ignored,
    ) -> Movements:
        """Move bodies; the caller rolls back if this is interrupted."""
        if len(rows) == 0:
            return Movements(np.empty((0, 2)), NO_HITS)
        lifts = rows[self._store.one_way[rows] != 0].tolist() if self._store.any_one_way else ()
        riders = riders_of(self._motion, lifts) if lifts else {}
        layers = ALL if movers_block else STATICS
        call = _Call(rows, displacements, responses, layers, ignored, riders)
        if not lifts:
            return self._run(call)
        starts = self._store.places(rows)
        moved = self._run(call)
        for at in np.flatnonzero(np.isin(rows, lifts)).tolist() if layers is STATICS else ():
            call.carry(self._motion, at, starts[at], moved.places[at])
        return moved._replace(places=self._store.places(rows))  # a rider may be a mover, too

    def _run(self, call: "_Call") -> Movements:
        if len(call.rows) <= _FEW:
            return self._one_by_one(call)
        return _Run(self._state, self._motion, call).run()

    def _one_by_one(self, call: "_Call") -> Movements:
        """Move few bodies, each as `World.move` does: preparing one call for all takes longer."""
        store, motion, waiting = self._store, self._motion, []
        places, hits, crossed = [], [], []
        each = zip(call.rows.tolist(), call.displacements.tolist(), call.responses.tolist(), strict=True)
        waits = call.layers != ALL
        for at, (row, (dx, dy), code) in enumerate(each):
            place = store.x.item(row), store.y.item(row)
            start = place if waits and store.static.item(row) else None
            move = motion.move_row(row, dx, dy, _NAMES[code], call.ignored_by(row), layers=call.layers)
            if not waits:
                call.carry(motion, at, place, move[:2])
            places.append(move[:2])
            if move.hits:
                hits.append(as_rows(at, move.hits))
            if move.crossed:
                crossed.append(as_rows(at, move.crossed))
            if start is not None:
                # The others see it where it was until all have moved.
                store.put(row, *start)
                waiting.append((row, *move[:2]))
        for row, x, y in waiting:
            store.put(row, x, y)
        found = (hit_arrays(np.concatenate(some)) if some else NO_HITS for some in (hits, crossed))
        return Movements(np.array(places), *found)

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
        if dy is not None:
            along, down = _numbers(dx, "dx"), _numbers(dy, "dy")
        elif np.ndim(dx) == 0:
            along, down = as_two(dx, "dx, dy")
        else:
            along, down = as_points(dx, "dx, dy").T
            if np.ndim(along) == 0:
                along, down = along.item(), down.item()
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
        ascends, at = kernel.check_moves(rows, self._store.x, self._store.y, displacements)
        if at >= 0:
            raise ValueError(
                f"{name} = {displacements[at].tolist()} of bodies[{at}] lead beyond {FARTHEST:g}, or are nan"
            )
        if self._space.periodic:
            self._space.check_displacements(displacements, name)
        return bool(ascends)


class _Call(NamedTuple):
    """The arguments of a call, checked."""

    rows: Rows
    displacements: Floats
    responses: npt.NDArray[np.int8]
    layers: Layers
    """Those that block."""
    ignored: Ignored
    riders: dict[int, list[int]]
    """What stands on each jump-through body, which it does not stop."""

    def ignored_by(self, row: int) -> Ignored:
        """What does not stop a mover."""
        return {*self.ignored, *self.riders[row]} if row in self.riders else self.ignored

    def carry(self, motion: Motion, at: int, start: Any, place: Any) -> None:
        """Let a jump-through body that has moved carry and push others; movers do not block each other."""
        row, store = self.rows.item(at), motion._store
        if store.one_way[row]:
            movers, riders = self.rows.tolist(), self.riders.get(row, [])
            behind = self.ignored if store.static[row] else {*self.ignored, *movers}
            passed = () if self.layers is ALL else movers
            carry(motion, row, riders, np.array(start), np.array(place), behind, passed)


class _Run:
    """One call: the movers, in order, by a kernel, which halts after what carries others."""

    def __init__(self, state: State, motion: Motion, call: _Call) -> None:
        self._state, self._motion, self._call = state, motion, call
        store, count = state.store, len(call.rows)
        self._waits = call.layers is not ALL
        """Static movers stay where they were until all have moved: the others see them there."""
        self._blocking = bits_of(call.layers)
        # A round body or a slope may turn a path to any side.
        turns = store.any_round or len(state.grid.ground) > 0
        self._reach = kernel.WIDE if turns else kernel.EXACT
        self._halts = np.zeros(count, np.bool_)
        if store.any_one_way and not self._waits:
            self._halts = store.one_way[call.rows] != 0
        self._starts = store.places(call.rows) if self._halts.any() else None
        """Of each mover, if any carries others."""
        self._pushes = np.zeros(count)
        """How far each may be pushed out of what it starts in before it moves."""
        self._regions, self._across = np.empty((count, 4)), np.empty(count, np.bool_)
        self._places = np.empty((count, 2))
        """Of each mover, in the period."""
        self._hits: list[Floats] = []
        self._crossed: list[Floats] = []
        self._most_hits = _HITS_EACH * count + _LEAST_CAPACITY
        self._look(0)

    def _look(self, begin: int) -> None:
        """Find what is near the path of each mover; those before ``begin`` have moved."""
        call, state = self._call, self._state
        space, out = state.space, (self._regions, self._across)
        known = *call[:3], self._pushes, begin, self._reach, (space.lengths, space.low, space.high), out
        kernel.regions_of(state.store.table.columns, *known)
        passes = 1 << MOVING if self._waits else 0
        near = state.broad_phase.near_movers(call.rows, self._regions, self._blocking, passes)
        self._near = near.without(call.ignored) if call.ignored else near
        met = self._near.without_pairs(call.rows, call.riders) if call.riders else self._near
        self._movers = kernel.Movers(*call[:3], *out, self._halts, *met)

    def run(self) -> Movements:
        """Move all."""
        call, state, store = self._call, self._state, self._state.store
        begin = 0
        while begin < len(call.rows):
            begin = self._move_from(begin)
        hits, crossed = (
            some[0] if len(some) == 1 else np.concatenate(some) for some in (self._hits, self._crossed)
        )
        crossed = concerned(state, call.rows, crossed)
        if self._waits:
            waiting = store.static[call.rows]
            if waiting.any():
                store.put_many(call.rows[waiting], self._places[waiting])
        stops = hits[call.responses[hits[:, 8].astype(np.int64)] != CROSS] if len(hits) else hits
        state.contacts.note_many(call.rows, stops, crossed)
        if not call.ignored:
            matcher = state.listeners.matcher
            state.contacts.searched = Searched(call.rows, self._regions, self._near, matcher)
        for met in (hits, crossed) if state.space.periodic else ():
            kernel.wrap_touches(met, state.space.lengths)
        return Movements(self._places, hit_arrays(hits), hit_arrays(crossed))

    def _move_from(self, begin: int) -> int:
        """Move some movers in one call of the kernel; which is the next."""
        call, state, store = self._call, self._state, self._state.store
        broad_phase = state.broad_phase
        hits, crossed = np.empty((2, self._most_hits, 9))
        known = (store.marks, store.one_way, self._blocking), (store.group, store.tag_sets.bits)
        memory = broad_phase.buffers._replace(hits=hits), (broad_phase.frame, state.space.lengths)
        moved = kernel.move_many(
            *(store.table.columns, *known, self._movers, begin, state.grid, *memory),
            *((self._places, crossed), (_MOST_TESTS, self._waits)),
        )
        next_one, done, found, passed = map(int, moved)
        self._hits.append(hits[:found].copy())
        self._crossed.append(crossed[:passed].copy())
        if done == TOO_FAR:
            widen(state, call.rows, self._near, self._pushes, next_one)
            self._look(next_one)
        elif done == kernel.CROWDED:
            broad_phase.reserve(2 * len(broad_phase.buffers.near))
        elif done == FULL and not (found or passed):
            self._most_hits *= 2
        elif next_one > begin and self._starts is not None and self._halts[next_one - 1]:
            at = next_one - 1
            call.carry(self._motion, at, self._starts[at], self._places[at])
            if next_one < len(call.rows):
                self._starts[next_one:] = store.places(call.rows[next_one:])
                self._look(next_one)
        return next_one


def widen(state: State, rows: Rows, near: Near, pushes: Floats, at: int) -> None:
    """Let a mover, and others that start in something, too, be pushed farther than was expected."""
    if not pushes.any():
        kernel.pushes_of(state.store.table.columns, rows, near[:], state.space.lengths, state.grid, pushes)
    left, top, right, bottom = state.store.bounds(rows.item(at))
    pushes *= 2.0  # of all: what is near them is searched again, and in a heap many need more
    pushes[at] += (right - left) + (bottom - top)


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
