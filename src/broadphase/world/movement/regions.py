"""The bodies near each of many movers that move one after the other, kept up to date as they move."""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.geometry.shapes import Bounds
from broadphase.kernels.movement.motion import Surroundings, pushes_of
from broadphase.kernels.movement.path import DONE, TOO_FAR
from broadphase.runtime.arrays import Floats
from broadphase.runtime.memory import usable_memory
from broadphase.world.bodies import Ignored, Rows
from broadphase.world.broad_phase import Near
from broadphase.world.movement.sweep import united
from broadphase.world.state import State

# A mover that starts inside others may be pushed out of its region.  All regions are then enlarged and
# searched again, at most so often; after the first time only while, on average, at most so many bodies are
# near each mover.  From then on such a mover is moved alone: in a dense crowd that takes 50 times as long.
_MOST_ROUNDS, _MANY_NEAR = 3, 16
# Nor are regions enlarged where what is near might not fit into memory: bytes for each body near a mover.
_BYTES_NEAR = 32

_new: Any = tuple.__new__  # a named tuple in half the time

CARRIED = -1
"""The result of a call of a kernel after which other bodies have been carried, too."""

Run: TypeAlias = Callable[[Surroundings, int, int], tuple[int, int]]
"""``run(around, begin, first)`` moves some of the movers of ``around``, from its number ``begin`` on; its
first is number ``first`` of all.  It returns the next one, and what that needs: see `motion.move_many`, or
`CARRIED`."""


def enlarge(state: State, regions: Floats, across: npt.NDArray[np.bool_], number: int) -> None:
    """Enlarge the region of a mover by what the kernel needs, after it returned `TOO_FAR`."""
    needed = state.broad_phase.buffers.numbers[:4].tolist()
    regions[number] = region = united(tuple(regions[number].tolist()), needed)
    across[number] = not state.space.is_inner(region)


class Regions:
    """The region that each of many movers may reach, and the bodies near it."""

    def __init__(
        self,
        state: State,
        rows: Rows,
        layers: int,
        ignored: Ignored,
        riders: dict[int, list[int]],
        write: Callable[..., object],
    ) -> None:
        """``layers`` are those of bodies that may be near; ``riders`` do not stop the mover they stand on.

        ``write(pushes, begin, out)`` writes the regions of movers that may be pushed so far before they move;
        those before ``begin`` have moved.
        """
        self._state, self._rows, self._layers, self._write = state, rows, layers, write
        self._ignored, self._riders = ignored, riders
        self._pushes = np.zeros(len(rows))
        self.boxes, self._across = self._out = np.empty((len(rows), 4)), np.empty(len(rows), np.bool_)
        self.near: Near | None = None
        """What is near all movers; None if one was moved alone."""

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
        """Enlarge all regions for the next search, unless too much would be near; whether it did."""
        count, state = len(self._rows), self._state
        if rounds == _MOST_ROUNDS or (rounds > 0 and len(around.others) > _MANY_NEAR * count):
            return False
        pushes = self._pushes.copy()
        if rounds == 0:
            columns, lengths = state.store.table.columns, state.space.lengths
            pushes_of(columns, self._rows, around[2:], lengths, state.grid, pushes)
        pushes *= 2.0
        sizes, near, live = self.boxes[:, 2:] - self.boxes[:, :2], np.diff(around.starts), state.store.live
        with np.errstate(over="ignore"):  # of a region without width
            growth = np.minimum((1.0 + 2.0 * pushes[:, None] / sizes).prod(axis=1), live)
        if _BYTES_NEAR * np.minimum(growth * near, live).sum() > usable_memory():
            return False
        self._pushes = pushes
        return True

    def _around(self, those: slice) -> Surroundings:
        """What is near the regions of some movers."""
        rows, regions = self._rows[those], self.boxes[those]
        near = self._state.broad_phase.near_regions(rows, regions, self._layers)
        self.near = near = near.at(~np.isin(near.rows, [*self._ignored])) if self._ignored else near
        near = near.without_pairs(rows, self._riders) if self._riders else near
        around: Surroundings = _new(Surroundings, (regions, self._across[those], *near))
        return around

    def _move_alone(self, number: int, run: Run) -> int:
        """Move one that is pushed out farther than was searched; its state."""
        done = TOO_FAR
        while done not in (DONE, CARRIED):
            if done == TOO_FAR:
                enlarge(self._state, self.boxes, self._across, number)
                around = self._around(slice(number, number + 1))
            done = run(around, 0, number)[1]
        self.near = None
        return done

    def _with_moved(self, around: Surroundings, number: int) -> Surroundings:
        """Add a mover that has moved alone to the lists of later ones whose regions it has entered."""
        store, row = self._state.store, self._rows.item(number)
        if row in self._ignored or not (store.any_sensor or self._layers >> store.layer.item(row) & 1):
            return around  # it stops no other, and none crosses it
        carried_by = [lift for lift, riders in self._riders.items() if row in riders]
        those = (
            number + 1 + _overlapped(self.boxes[number + 1 :], store.bounds(row), self._state.space.lengths)
        )
        those = those[~np.isin(self._rows[those], carried_by)]
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


def _overlapped(regions: Floats, box: Bounds, lengths: Floats) -> npt.NDArray[np.intp]:
    """Which regions a box, or an image of it, overlaps."""
    overlaps = np.ones(len(regions), np.bool_)
    for axis, length in enumerate(lengths.tolist()):
        low, high, begin, end = regions[:, axis], regions[:, axis + 2], box[axis], box[axis + 2]
        if length == math.inf:
            overlaps &= (low <= end) & (begin <= high)
            continue
        with np.errstate(invalid="ignore"):  # of a region without end
            after, before = (begin - low) % length, (low - begin) % length
        overlaps &= (high - low >= length) | (after <= high - low) | (before <= end - begin)
    return np.flatnonzero(overlaps)
