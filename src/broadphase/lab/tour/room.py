"""Where the balls of the tour lie: the same for everybody, spread evenly, a few of them touching."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float64]

WIDTH, HEIGHT = 480.0, 300.0
BALLS = 24
_SEED = 735
_RADII = (10.0, 18.0)
_HELD_RADIUS = 15.0
_MARGIN = 6.0


class Balls(NamedTuple):
    """Balls in a room; ball 0 is the one that can be dragged."""

    centers: Vectors
    """``(n, 2)``"""
    radii: Vectors
    """``(n,)``"""
    width: float
    height: float


def balls(count: int, *, seed: int = _SEED) -> Balls:
    """So many balls in a room that grows with them, so that it is always as full.

    Up to 24 balls share one room: fewer of them are the first of the 24.

    Examples
    --------
    >>> balls(24).centers.shape, balls(6).width, balls(96).width
    ((24, 2), 480.0, 960.0)
    """
    grown = max(count, BALLS)
    scale = float(np.sqrt(grown / BALLS))
    width, height = WIDTH * scale, HEIGHT * scale
    random = np.random.default_rng(seed)
    radii = random.uniform(*_RADII, grown)
    radii[0] = _HELD_RADIUS
    centers = _spread(random, radii, width, height)
    return Balls(centers[:count], radii[:count], width, height)


def _spread(random: np.random.Generator, radii: Vectors, width: float, height: float) -> Vectors:
    """One ball in each cell of a raster, somewhere inside, in random order: no crowds and no pattern."""
    count = len(radii)
    columns = max(1, round(float(np.sqrt(count * width / height))))
    rows = -(-count // columns)
    spots = random.permutation(columns * rows)[:count]
    shift = random.uniform(0.0, 1.0, (count, 2))
    centers = (np.column_stack([spots % columns, spots // columns]) + shift) * (
        width / columns,
        height / rows,
    )
    low = radii[:, None] + _MARGIN
    kept: Vectors = np.clip(centers, low, np.array([width, height]) - low)
    # The ball that is dragged starts where it is easily found.
    kept[0] = np.array([width, height]) * (0.5, 0.5)
    return kept


def squeezed(room: Balls, share: float) -> Balls:
    """The same balls pushed together sideways: ``share`` 1 leaves them, 0 puts all above each other."""
    centers = room.centers.copy()
    middle = room.width / 2
    centers[:, 0] = middle + (centers[:, 0] - middle) * share
    return room._replace(centers=centers)


def moved(room: Balls, far: float) -> Balls:
    """The same balls, each ``far`` on its own way, turned back by the walls."""
    random = np.random.default_rng(_SEED + 1)
    angles = random.uniform(0, 2 * np.pi, len(room.radii))
    way = np.column_stack([np.cos(angles), np.sin(angles)]) * random.uniform(0.5, 1.5, (len(angles), 1))
    way[0] = 0.0
    low = room.radii[:, None] + _MARGIN
    span = np.array([room.width, room.height]) - 2 * low
    # To and fro between the walls: a triangle wave.
    there = (room.centers + far * way - low) % (2 * span)
    return room._replace(centers=low + np.where(there > span, 2 * span - there, there))
