"""Rays that wrap around: in legs, each so short that it crosses at most one edge of an axis.

Rays are rows ``[origin..., unit direction..., max_distance]``.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from broadphase.runtime.arrays import Floats

# A turn takes some 50 us if nothing is hit: this many take half a second.
MOST_RAY_TURNS = 10_000


def legs(
    rays: Floats, lengths: Floats, done: npt.NDArray[np.bool_]
) -> Iterator[tuple[npt.NDArray[np.int64], Floats, Floats]]:
    """Which rays go on, and from how far away to how far; the caller sets ``done`` where one has ended.

    Raises
    ------
    ValueError
        A ray that hits nothing would go around a period for ever.
    """
    dim, furthest = len(lengths), rays[:, -1].copy()
    with np.errstate(divide="ignore", over="ignore"):
        speeds = np.abs(rays[:, dim : 2 * dim])
        leg = np.where(np.isfinite(lengths) & (speeds > 0.0), lengths / speeds, np.inf).min(axis=1)
        often = np.flatnonzero((furthest > MOST_RAY_TURNS * leg) & np.isfinite(leg))
    if len(often):
        turn = int(often[0])
        raise ValueError(
            f"max_distance = {furthest[turn]:g} for ray {turn}, which goes along an axis with a period: "
            f"where it hits nothing, it would go around more than {MOST_RAY_TURNS} times; give at most "
            f"{MOST_RAY_TURNS * leg[turn]:g}"
        )
    active, begun = np.arange(len(rays)), np.zeros(len(rays))
    while len(active):
        ends = np.minimum(begun + leg[active], furthest[active])
        yield active, begun, ends
        continues = (ends < furthest[active]) & ~done[active]
        active, begun = active[continues], ends[continues]


def unit_vectors(vectors: Floats) -> Floats:
    """Vectors ``(..., dim)``, none of them zero, made 1 long; no square overflows."""
    scaled: Floats = vectors / np.abs(vectors).max(axis=-1, keepdims=True)
    scaled /= np.sqrt((scaled * scaled).sum(axis=-1, keepdims=True))
    return scaled


def along(rays: Floats, far: Floats) -> Floats:
    """Where rays are at these distances."""
    dim = rays.shape[1] // 2
    with np.errstate(invalid="ignore", over="ignore"):
        ways = rays[:, dim : 2 * dim]
        return rays[:, :dim] + np.where(ways != 0.0, ways * far[:, None], 0.0)


def bounds_between(rays: Floats, begun: Floats, ends: Floats) -> Floats:
    """``(k, 2 * dim)``: the bounds of legs."""
    places = along(rays, begun), along(rays, ends)
    return np.hstack((np.minimum(*places), np.maximum(*places)))
