"""Flocking: birds that align with their neighbours, stay close and keep apart (Reynolds 1987)."""

from typing import Any

import numpy as np
import numpy.typing as npt

import broadphase as bp
from examples.steps.compiled import jit, wrapped

Floats = npt.NDArray[np.float64]

REACH, ROOM = 5.5, 4.5
"""How far a bird sees, and the distance that it keeps."""
FOLLOW, CLOSE_UP, KEEP_OFF, SPEED = 0.15, 0.003, 0.4, 1.6


class Flocking:
    """Birds in a square world without edges."""

    def __init__(self, count: int = 50_000, seed: int = 7) -> None:
        random = np.random.default_rng(seed)
        self.side = float(np.sqrt(count / 0.15))
        self.places = random.random((count, 2)) * self.side
        angles = random.random(count) * 2 * np.pi
        self.velocities = SPEED * np.column_stack((np.cos(angles), np.sin(angles)))

    def step(self, way: str) -> None:
        """One frame; ``way`` says how to sum over pairs."""
        near = bp.neighbors(self.places, REACH, period=(self.side, self.side), offsets=way != "loop")
        self.turn(*getattr(self, way)(near))

    def turn(self, around: Floats, push: Floats) -> None:
        """Turn by what birds see, and fly."""
        seen = around[:, 2:]
        aim = (
            self.velocities
            + push
            + FOLLOW * (around[:, :2] / np.maximum(seen, 1.0) - self.velocities) * (seen > 0)
        )
        self.velocities = aim * (SPEED / np.maximum(np.hypot(aim[:, 0], aim[:, 1]), 1e-9))[:, None]
        self.places = (self.places + self.velocities) % self.side

    def sums(self, near: bp.Neighbors) -> tuple[Floats, Floats]:
        """With `sum` and `scatter`."""
        seen = np.column_stack((self.velocities, np.ones(len(self.velocities))))
        push = near.scatter(lambda rows: _pull(near.distance[rows]), along=near.offset, antisymmetric=True)
        return near.sum(seen), push

    def numpy(self, near: bp.Neighbors) -> tuple[Floats, Floats]:
        """The same in plain NumPy."""
        i, j, n = near.i.astype(np.intp), near.j.astype(np.intp), len(self.places)
        seen = np.column_stack((self.velocities, np.ones(n)))
        pull = _pull(near.distance)[:, None] * near.offset
        around = [np.bincount(i, one[j], n) + np.bincount(j, one[i], n) for one in seen.T]
        push = [np.bincount(i, one, n) - np.bincount(j, one, n) for one in pull.T]
        return np.stack(around, axis=1), np.stack(push, axis=1)

    def loop(self, near: bp.Neighbors) -> tuple[Floats, Floats]:
        """The same as a compiled loop over the pairs."""
        n = len(self.places)
        around, push = np.zeros((n, 3)), np.zeros((n, 2))
        _loop(near.i, near.j, near.distance, (self.places, self.velocities), self.side, around, push)
        return around, push


def _pull(distance: Floats) -> Floats:
    """What draws a bird to another, divided by their distance."""
    pull = np.minimum(distance * (KEEP_OFF / ROOM) - KEEP_OFF, CLOSE_UP)
    pull /= np.maximum(distance, 0.1)
    return pull


@jit
def _loop(i: Any, j: Any, distance: Any, birds: Any, side: float, around: Any, push: Any) -> None:
    places, velocities = birds
    for k in range(len(i)):
        a, b = i[k], j[k]
        pull = min(KEEP_OFF * (distance[k] / ROOM - 1.0), CLOSE_UP) / max(distance[k], 0.1)
        for axis in range(2):
            way = wrapped(places[b, axis] - places[a, axis], side)
            push[a, axis] += pull * way
            push[b, axis] -= pull * way
            around[a, axis] += velocities[b, axis]
            around[b, axis] += velocities[a, axis]
        around[a, 2] += 1.0
        around[b, 2] += 1.0
