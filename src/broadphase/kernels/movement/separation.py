"""Separation: overlapping bodies push each other apart, a share of each overlap at a time.

All pushes are found from the places at the start and applied together (Jacobi relaxation), so the order of
the bodies does not matter.  A body with many contacts gets a mean of its pushes: a sum of all would throw
it beyond its neighbours, and the crowd would never come to rest.  Averaging as of M. Macklin et al., *Unified
Particle Physics for Real-Time Applications*, SIGGRAPH 2014.
"""

import math

from broadphase.kernels.machine.floats import next_down, next_up
from broadphase.kernels.machine.jit import common, inline, jit
from broadphase.kernels.movement.sweep import flush_before
from broadphase.kernels.movement.sweep_shapes import ROW, slack
from broadphase.kernels.shapes.contact import contact_of, length
from broadphase.kernels.shapes.table import BOX

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
    ``ids`` are those of the bodies, ascending; ``pushes`` and ``counts`` are zeros.
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
    for m in range(pushes.shape[0]):
        scale = min(1.0, _SUMMED / max(float(counts[m]), 1.0))
        far = scale * length(pushes[m, 0], pushes[m, 1])
        if far > most[m]:
            scale *= most[m] / far
        pushes[m, 0] *= scale
        pushes[m, 1] *= scale


# -----------------------------------------------------------------------------------------------------------
# One body that starts inside others that move, too.

# Of several pushes, this share is made at once.
_SHARE = 0.5
# Of the coordinates: a push that ends so near to the edge of a box was meant to end there.
_NEAR = 1e-12


@inline
def _onto_edge(x, size, lo, hi, sign, push):
    """The displacement of an interval at ``x`` that leads out of another, if ``push`` nearly does."""
    edge = hi if sign > 0.0 else flush_before(lo, size)
    if abs(x + push - edge) > _NEAR * (abs(x) + size + abs(edge)):
        return push
    push = edge - x
    # The difference was rounded: by half a unit of its own, so this is done once or twice.
    while (x + push < edge) if sign > 0.0 else (x + push > edge):
        push = next_up(push) if sign > 0.0 else next_down(push)
    return push


@common
def push_from(mover, table, rows, fixed):
    """How far the shapes in ``rows`` push ``mover[0]``, and how many overlap it: ``dx, dy, count``.

    But for those that are ``fixed``, by row of the table.

    A single one pushes it out; among several it goes half of the way that they push it together, and at most
    as far as the deepest overlap.
    """
    push_x, push_y, deepest, count = 0.0, 0.0, 0.0, 0
    for k in range(rows.shape[0]):
        i = rows[k]
        if fixed[i]:
            continue
        hit, nx, ny, depth = contact_of(mover, ROW, table, i, False)
        only_boxes = mover.kinds[ROW] == BOX and table.kinds[i] == BOX
        flush = 0.0 if only_boxes else slack(mover, table, i)
        if hit and depth > flush:
            push_x += nx * (depth + flush)
            push_y += ny * (depth + flush)
            deepest = max(deepest, depth + flush)
            count += 1
    if count > 1:
        scale = _SHARE * min(1.0, _SUMMED / float(count))
        far = scale * length(push_x, push_y)
        if far > deepest:
            scale *= deepest / far
        push_x, push_y = scale * push_x, scale * push_y
    for k in range(rows.shape[0] if mover.kinds[ROW] == BOX else 0):
        i = rows[k]
        if fixed[i] or table.kinds[i] != BOX:
            continue
        hit, nx, ny, depth = contact_of(mover, ROW, table, i, False)
        if hit:
            x, y, left, top = mover.x[ROW], mover.y[ROW], table.x[i], table.y[i]
            if nx != 0.0:
                push_x = _onto_edge(x, mover.width[ROW], left, left + table.width[i], nx, push_x)
            else:
                push_y = _onto_edge(y, mover.height[ROW], top, top + table.height[i], ny, push_y)
    return push_x, push_y, count
