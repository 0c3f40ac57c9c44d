"""Molecular dynamics: a Lennard-Jones liquid in a periodic cell, by velocity Verlet (Verlet 1967)."""

from typing import Any

import numpy as np
import numpy.typing as npt

import broadphase as bp
from examples.steps.compiled import jit, wrapped

Floats = npt.NDArray[np.float64]

CUTOFF, DENSITY, TEMPERATURE, TIME = 2.5, 0.8, 1.0, 0.002
"""In the usual units, in which diameter, depth of the well and mass are 1."""


class Molecules:
    """Atoms that begin on a lattice."""

    def __init__(self, count: int = 20_000, seed: int = 7) -> None:
        along = round(count ** (1 / 3))
        self.side = along / DENSITY ** (1 / 3)
        places = np.stack(np.meshgrid(*3 * [np.arange(along)], indexing="ij"), axis=-1).reshape(-1, 3)
        self.places = (places + 0.5) * (self.side / along)
        self.velocities = np.random.default_rng(seed).normal(size=self.places.shape) * TEMPERATURE**0.5
        self.velocities -= self.velocities.mean(axis=0)
        self.energy = 0.0
        """Potential energy after the last step."""
        self._forces = np.zeros_like(self.places)

    def step(self, way: str) -> None:
        """One step; ``way`` says how forces are added up."""
        self.velocities += (TIME / 2) * self._forces
        self.places = (self.places + TIME * self.velocities) % self.side
        near = bp.neighbors(self.places, CUTOFF, period=3 * (self.side,), offsets=way != "loop")
        self.energy, self._forces = getattr(self, way)(near)
        self.velocities += (TIME / 2) * self._forces

    def sums(self, near: bp.Neighbors) -> tuple[float, Floats]:
        """With `scatter`, some pairs at a time."""
        energies = []

        def forces(rows: slice) -> Floats:
            energy, pull = _pull(near.distance[rows])
            energies.append(energy)
            return pull

        found = near.scatter(forces, along=near.offset, antisymmetric=True)
        return sum(energies), found

    def numpy(self, near: bp.Neighbors) -> tuple[float, Floats]:
        """The same in plain NumPy."""
        energy, pull = _pull(near.distance)
        i, j, n = near.i.astype(np.intp), near.j.astype(np.intp), len(self.places)
        along = (pull[:, None] * near.offset).T
        forces = [np.bincount(i, one, n) - np.bincount(j, one, n) for one in along]
        return energy, np.stack(forces, axis=1)

    def loop(self, near: bp.Neighbors) -> tuple[float, Floats]:
        """The same as a compiled loop over the pairs."""
        forces = np.zeros_like(self.places)
        return _loop(near.i, near.j, near.distance, self.places, self.side, forces), forces


def _pull(distance: Floats) -> tuple[float, Floats]:
    """The energy of all pairs, and how strongly each draws its atoms together, divided by the distance."""
    inverse = 1.0 / (distance * distance)
    sixth = inverse * inverse
    sixth *= inverse
    energy = 4.0 * float((sixth * sixth - sixth).sum())
    pull = 24.0 - 48.0 * sixth
    pull *= sixth
    pull *= inverse
    return energy, pull


@jit
def _loop(i: Any, j: Any, distance: Any, places: Any, side: float, forces: Any) -> float:
    energy = 0.0
    for k in range(len(i)):
        a, b = i[k], j[k]
        inverse = 1.0 / (distance[k] * distance[k])
        sixth = inverse * inverse * inverse
        energy += 4.0 * (sixth * sixth - sixth)
        pull = (24.0 - 48.0 * sixth) * sixth * inverse
        for axis in range(3):
            way = wrapped(places[b, axis] - places[a, axis], side)
            forces[a, axis] += pull * way
            forces[b, axis] -= pull * way
    return energy
