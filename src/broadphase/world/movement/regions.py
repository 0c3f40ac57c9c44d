"""What is near bodies that move one after the other, as long as they move."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from broadphase.kernels.movement.motion import Surroundings, pushes_of
from broadphase.kernels.movement.path import DONE, TOO_FAR
from broadphase.runtime.memory import available_memory
from broadphase.world.bodies import Ignored, Rows
from broadphase.world.broad_phase import Near
from broadphase.world.movement.sweep import united
from broadphase.world.state import State

# Where movers start inside others, the search for what is near all of them is repeated once, and up to this
# often, each time farther away, while at most this many bodies are near each.  After that, each mover that is
# pushed still farther is moved alone: 20,000 that overlap 22 others each move in 1 s, each alone in 60.
_MOST_ROUNDS, _MANY_NEAR = 3, 16
# Nor is it repeated where what that finds might not fit into memory: so many bytes for each that is near.
# Where the system does not tell how much is free, 4 GB are taken to be.
_BYTES_NEAR, _USUAL_MEMORY = 32, 4_000_000_000

_new: Any = tuple.__new__  # a named tuple in half the time

CARRIED = -1
"""The result of a call of a kernel after which other bodies have been carried, too."""

Run: TypeAlias = Callable[[Surroundings, int, int], tuple[int, int]]
"""``run(around, begin, first)`` moves some of the movers of ``around``, from its number ``begin`` on; its
first is number ``first`` of all.  It returns the next one, and what that needs: see `motion.move_many`, or
`CARRIED`."""


class Regions:
    """The region that each of many movers may come to, and what is near it."""

    def __init__(
        self,
        state: State,
        rows: Rows,
        layers: int,
        ignored: Ignored,
        riders: dict[int, list[int]],
        write: Callable[..., object],
    ) -> None:
        """Search nothing yet.

        ``layers`` are those of what may be near, ``riders`` stand on movers, which they do not stop.
        ``write(pushes, begin, out)`` writes the regions of movers that may be pushed so far before they move;
        those before ``begin`` have moved.
        """
        self._state, self._rows, self._layers, self._write = state, rows, layers, write
        self._ignored, self._riders = ignored, riders
        self._pushes = np.zeros(len(rows))
        self.boxes, self._across = self._out = np.empty((len(rows), 4)), np.empty(len(rows), np.bool_)
        self.near: Near | None = None
        """What is near all, unless one had to be moved alone."""

    def move(self, run: Run) -> None:
        """Move all in turn; each finds the earlier ones at their new places."""
        count, begin, rounds, alone, outdated = len(self._rows), 0, 0, False, True
        while begin < count or alone:  # after one that moved alone, the kernel puts those that waited
            if outdated:
                self._write(self._pushes, begin, self._out)
                around = self._around(slice(None))
            begin, done = run(around, begin, 0)
            if alone := done == TOO_FAR and not self._widens(around, rounds):
                done = self._move_alone(begin, run)
                around, begin, rounds = self._with_moved(around, begin), begin + 1, _MOST_ROUNDS
            elif done == TOO_FAR:
                rounds += 1
            outdated = done in (CARRIED, TOO_FAR)

    def _widens(self, around: Surroundings, rounds: int) -> bool:
        """Let all be pushed farther when they are searched again, unless that finds too much."""
        count, state = len(self._rows), self._state
        if rounds == _MOST_ROUNDS or (rounds > 0 and len(around.others) > _MANY_NEAR * count):
            return False
        pushes = self._pushes.copy()
        if rounds == 0:
            columns, lengths = state.store.table.columns, state.space.lengths
            pushes_of(columns, self._rows, around[2:], lengths, state.grid, pushes)
        pushes *= 2.0
        sizes, near = self.boxes[:, 2:] - self.boxes[:, :2], np.diff(around.starts)
        with np.errstate(invalid="ignore"):  # an infinite region holds all that there is already
            growth = np.fmax((1.0 + 2.0 * pushes[:, None] / sizes).prod(axis=1), 1.0)
        expected = np.minimum(growth * near, state.store.live).sum()
        if fits := bool(expected * _BYTES_NEAR < (available_memory() or _USUAL_MEMORY)):
            self._pushes = pushes
        return fits

    def _around(self, those: slice) -> Surroundings:
        """What is near the regions of some movers."""
        rows, regions = self._rows[those], self.boxes[those]
        near = self._state.broad_phase.near_regions(rows, regions, self._layers)
        self.near = near = near.without(self._ignored) if self._ignored else near
        near = near.without_pairs(rows, self._riders) if self._riders else near
        around: Surroundings = _new(Surroundings, (regions, self._across[those], *near))
        return around

    def _move_alone(self, number: int, run: Run) -> int:
        """Move one that is pushed out farther than was searched; its state."""
        done = TOO_FAR
        while done not in (DONE, CARRIED):
            if done == TOO_FAR:
                buffers = self._state.broad_phase.buffers
                region = united(tuple(self.boxes[number].tolist()), buffers.numbers[:4].tolist())
                self.boxes[number], self._across[number] = region, not self._state.space.is_inner(region)
                around = self._around(slice(number, number + 1))
            done = run(around, 0, number)[1]
        self.near = None
        return done

    def _with_moved(self, around: Surroundings, number: int) -> Surroundings:
        """The same where later movers whose regions it has come to find one that has moved alone."""
        store, row = self._state.store, self._rows.item(number)
        if row in self._ignored or not (store.any_sensor or self._layers >> store.layer.item(row) & 1):
            return around  # it stops no other, and none crosses it
        left, top, right, bottom = store.bounds(row)
        lows, highs = self.boxes[:, :2] <= (right, bottom), (left, top) <= self.boxes[:, 2:]
        those = np.flatnonzero((lows & highs).all(axis=1) | self._state.space.periodic)
        carried_by = [lift for lift, riders in self._riders.items() if row in riders]
        those = those[(those > number) & ~np.isin(self._rows[those], carried_by)]
        starts, others, more = around.starts, around.others, np.zeros(len(around.starts), np.int64)
        places = []
        for m in those.tolist():
            known = others[starts[m] : starts[m + 1]]
            if not (known == row).any():  # a list in which riders were replaced has another order
                places.append(int(starts[m] + known.searchsorted(row)))
                more[m + 1] = 1
        if not places:
            return around
        return around._replace(starts=starts + np.cumsum(more), others=np.insert(others, places, row))
