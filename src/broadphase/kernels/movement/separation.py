"""Separation: overlapping bodies push each other apart, a share of each overlap at a time.

All pushes are found from the places at the start and applied together (Jacobi relaxation), so the order of
the bodies does not matter.  A body with many contacts gets a mean of its pushes: a sum of all would throw
it beyond its neighbours, and the crowd would never come to rest.  Averaging as of M. Macklin et al., *Unified
Particle Physics for Real-Time Applications*, SIGGRAPH 2014.
"""

import math

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.shapes.contact import contact_of, length

# Up to so many contacts of a body are summed.  Each has a neighbour on one side, and in a crowd at rest the
# next on the other: with more, a share of 1 would overshoot.
_SUMMED = 4.0

# Multiples of these, modulo 1, spread over a square more evenly than random numbers (M. Roberts, 2018).
_SPREAD_X, _SPREAD_Y = 0.7548776662466927, 0.5698402909980532


@inline
def _from_each_other(a, b):
    """The direction of body ``a`` from ``b`` where both are at one place: by their ids."""
    ax, ay, bx, by = a * _SPREAD_X, a * _SPREAD_Y, b * _SPREAD_X, b * _SPREAD_Y
    dx = (ax - math.floor(ax)) - (bx - math.floor(bx))
    dy = (ay - math.floor(ay)) - (by - math.floor(by))
    size = length(dx, dy)
    return (dx / size, dy / size) if size > 0.0 else (-1.0, 0.0)


@jit
def push_apart(shapes, owners, ids, pairs, strength, most, pushes, counts):
    """Write how far each body is pushed into ``pushes``, each at most ``most``.

    ``pairs`` are rows of ``shapes``; ``owners`` is the body of each of them, which may have several images.
    ``ids`` are those of the bodies, ascending; ``pushes`` and ``counts`` are zeros.  Returns how many bodies
    are pushed.
    """
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        a, b = owners[i], owners[j]
        hit, nx, ny, depth = contact_of(shapes, i, shapes, j, False)
        if not hit or a == b:
            continue
        if shapes.x[i] == shapes.x[j] and shapes.y[i] == shapes.y[j]:
            nx, ny = _from_each_other(float(ids[a]), float(ids[b]))
        far = 0.5 * strength * depth
        pushes[a, 0] += far * nx
        pushes[a, 1] += far * ny
        pushes[b, 0] -= far * nx
        pushes[b, 1] -= far * ny
        counts[a] += 1
        counts[b] += 1
    moved = 0
    for m in range(pushes.shape[0]):
        scale = min(1.0, _SUMMED / max(float(counts[m]), 1.0))
        far = scale * length(pushes[m, 0], pushes[m, 1])
        if far > most[m]:
            scale *= most[m] / far
        pushes[m, 0] *= scale
        pushes[m, 1] *= scale
        if pushes[m, 0] != 0.0 or pushes[m, 1] != 0.0:
            moved += 1
    return moved
