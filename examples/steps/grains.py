"""A granular column: discs with friction, whose contacts remember how far they slid (Cundall 1979)."""

from typing import Any

import numpy as np
import numpy.typing as npt

import broadphase as bp
from examples.steps.compiled import jit

Floats = npt.NDArray[np.float64]

STIFF, DAMPING, SIDEWAYS, FRICTION = 2e4, 60.0, 1e4, 0.5
"""Of contacts: stiffness, damping, stiffness along the contact, and how much of it friction holds."""
GRAVITY, TIME = 10.0, 2e-4


class Grains:
    """Discs of density 1 over a floor; ``springs`` are how far the surfaces of each pair have slid."""

    def __init__(self, count: int = 20_000, seed: int = 7) -> None:
        random = np.random.default_rng(seed)
        wide = int(np.sqrt(count / 2))
        rows, columns = np.divmod(np.arange(count), wide)
        self.places = np.column_stack((0.9 * columns + 0.45 * (rows % 2), 0.45 + 0.78 * rows))
        self.places += random.uniform(-0.005, 0.005, (count, 2))
        self.radii = random.uniform(0.44, 0.46, count)
        self.mass = np.pi * self.radii**2
        self.velocities, self.spins = np.zeros((count, 2)), np.zeros(count)
        self.near = bp.neighbors(self.places, self.radii)
        self.springs = np.zeros(len(self.near))

    def step(self, way: str) -> None:
        """One step; ``way`` says how forces are added up."""
        near = bp.neighbors(self.places, self.radii, offsets=way != "loop")
        rows = near.rows_in(self.near)
        springs = np.where(rows < 0, 0.0, self.springs[rows]) if len(self.springs) else np.zeros(len(near))
        forces, drag, self.springs = getattr(self, way)(near, springs)
        self.near = near
        forces[:, 1] -= GRAVITY * self.mass
        under = np.maximum(self.radii - self.places[:, 1], 0.0)  # of the floor
        forces[:, 1] += (under > 0.0) * (STIFF * under - DAMPING * self.velocities[:, 1])
        forces[:, 0] -= FRICTION * STIFF * under * np.tanh(self.velocities[:, 0])
        self.velocities += TIME * forces / self.mass[:, None]
        self.spins += (2 * TIME) * drag / (self.mass * self.radii)
        self.places += TIME * self.velocities

    def sums(self, near: bp.Neighbors, springs: Floats) -> tuple[Floats, Floats, Floats]:
        """With `scatter`, some pairs at a time: forces have two signs, but turn both discs alike."""
        drag, slid = np.empty((2, len(near)))

        def act(rows: slice) -> Floats:
            forces, drag[rows], slid[rows] = self._contacts(near, springs, rows)
            return forces

        return near.scatter(act, antisymmetric=True), near.scatter(drag), slid

    def numpy(self, near: bp.Neighbors, springs: Floats) -> tuple[Floats, Floats, Floats]:
        """The same in plain NumPy."""
        forces, drag, springs = self._contacts(near, springs, slice(None))
        i, j, n = near.i.astype(np.intp), near.j.astype(np.intp), len(self.places)
        along = [np.bincount(i, one, n) - np.bincount(j, one, n) for one in forces.T]
        return np.stack(along, axis=1), np.bincount(i, drag, n) + np.bincount(j, drag, n), springs

    def loop(self, near: bp.Neighbors, springs: Floats) -> tuple[Floats, Floats, Floats]:
        """The same as a compiled loop over the pairs."""
        forces, drag = np.zeros_like(self.places), np.zeros_like(self.spins)
        discs = self.places, self.velocities, self.spins, self.radii
        _loop(near.i, near.j, near.distance, springs, discs, forces, drag)
        return forces, drag, springs

    def _contacts(self, near: bp.Neighbors, springs: Floats, rows: slice) -> tuple[Floats, Floats, Floats]:
        """The force on the first disc of each pair, what of it is along the contact, and the springs."""
        i, j, distance = near.i[rows].astype(np.intp), near.j[rows].astype(np.intp), near.distance[rows]
        x, y = near.offset[rows].T / distance
        (across, up), turning = self.velocities.T, self.spins * self.radii
        fast_x, fast_y = across[j] - across[i], up[j] - up[i]
        away, slides = fast_x * x + fast_y * y, fast_y * x - fast_x * y - turning[i] - turning[j]
        push = STIFF * (self.radii[i] + self.radii[j] - distance) - DAMPING * away
        np.maximum(push, 0.0, out=push)
        most = (FRICTION / SIDEWAYS) * push
        slid = np.clip(springs[rows] + TIME * slides, -most, most)
        drag = SIDEWAYS * slid
        return np.stack((-push * x - drag * y, drag * x - push * y), axis=1), drag, slid


@jit
def _loop(i: Any, j: Any, distance: Any, springs: Any, discs: Any, forces: Any, drag: Any) -> None:
    places, velocities, spins, radii = discs
    for k in range(len(i)):
        a, b = i[k], j[k]
        x = (places[b, 0] - places[a, 0]) / distance[k]
        y = (places[b, 1] - places[a, 1]) / distance[k]
        fast_x, fast_y = velocities[b, 0] - velocities[a, 0], velocities[b, 1] - velocities[a, 1]
        away = fast_x * x + fast_y * y
        slides = fast_y * x - fast_x * y - spins[a] * radii[a] - spins[b] * radii[b]
        push = max(STIFF * (radii[a] + radii[b] - distance[k]) - DAMPING * away, 0.0)
        most = (FRICTION / SIDEWAYS) * push
        springs[k] = min(max(springs[k] + TIME * slides, -most), most)
        along = SIDEWAYS * springs[k]
        forces[a, 0] -= push * x + along * y
        forces[a, 1] += along * x - push * y
        forces[b, 0] += push * x + along * y
        forces[b, 1] -= along * x - push * y
        drag[a] += along
        drag[b] += along
