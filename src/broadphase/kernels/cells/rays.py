"""What lies on a ray: a walk through the cells that it crosses, in their order.

The walk of Amanatides and Woo ("A fast voxel traversal algorithm for ray tracing", 1987) in a form that
rounding cannot lead astray: the ray is cut into slabs, one for each cell of the axis that it follows most,
and in each slab the cells of the other axes come from where the ray enters and leaves it, a little widened.
The cells at the border of a grid reach to infinity, as those boxes do that are clamped into them.
"""

import numpy as np

from broadphase.kernels.arrays.found_ids import put_row
from broadphase.kernels.boxes.query_tests import passes, ray_distance, set_ray
from broadphase.kernels.cells.lattice import BOXES, HIGHEST, LOWEST, PER_UNIT, cell_of, place_of
from broadphase.kernels.cells.lists import HEADER, UNIT
from broadphase.kernels.machine.jit import common, inline, jit

# Far more than what rounding can move the crossing of a border of cells, in shares of the numbers involved.
DOUBT = 1e-14
# Below every cell size, above what a product loses that is too small for a float.
TINY = 1e-305
HUGE = 1e307


@jit
def walk_rays(
    boxes, end, categories, masks, heads, pool, lattice, levels, table,
    rays, begin, ray, cell, first_only, best, nearest, out, touching, category, mask,
):  # fmt: skip
    """Hits of the rays from ``begin`` on; returns the ray to go on with, the rows and the tests.

    ``first_only``: lower ``best[q]`` and ``nearest[q]`` to the first hit and its distance.  Otherwise write
    rows ``[ray, id]`` until ``out`` is full; a box that lies in several cells may come several times.
    ``ray``, as long as a row of ``rays``, and ``cell``, three int64, are scratch.
    """
    rows = np.int64(0)  # not a plain 0: Numba would compile the helpers once more for it
    tests = 0
    for q in range(begin, rays.shape[0]):
        set_ray(rays[q], ray)
        found = rows
        made = 0
        for level in range(lattice.shape[0]):
            if lattice[level, BOXES] > 0:
                found, here = walk_level(
                    boxes, end, categories, masks, heads, pool, lattice, levels, table,
                    level, ray, q, cell, first_only, best, nearest, out, found, touching, category, mask,
                )  # fmt: skip
                made += here
        if found > out.shape[0]:
            return q, rows, tests
        rows = found
        tests += made
    return rays.shape[0], rows, tests


@common
def walk_level(
    boxes, end, categories, masks, heads, pool, lattice, levels, table,
    level, ray, q, cell, first_only, best, nearest, out, found, touching, category, mask,
):  # fmt: skip
    """One level; returns the rows by now and the tests."""
    dim = boxes.shape[1] // 2
    furthest = ray[2 * dim]
    if first_only:
        furthest = min(furthest, nearest[q] * (1.0 + DOUBT))
    main = np.int64(0)
    for axis in range(1, dim):
        if abs(ray[dim + axis]) > abs(ray[dim + main]):
            main = np.int64(axis)
    second = (main + 1) % dim
    third = (main + 2) % dim  # in 2-D the main axis again, where it is not looked at
    forward = ray[dim + main] > 0.0
    size = 1.0 / lattice[level, PER_UNIT]
    pace, second_pace = _pace(ray[dim + main]), _pace(ray[dim + second])
    tests = 0
    cell[2] = 0

    first, last = _cells_between(lattice, level, ray, dim, main, 0.0, furthest)
    low, high = max(first, int(lattice[level, LOWEST + main])), min(last, int(lattice[level, HIGHEST + main]))
    around, beyond = _cells_between(lattice, level, ray, dim, second, 0.0, furthest)
    steps = float(high - low + 1) + float(
        min(beyond, int(lattice[level, HIGHEST + second])) - max(around, int(lattice[level, LOWEST + second]))
    )
    if steps > end:
        for i in range(end):
            if levels[i] == level:
                tests += 1
                found = _meet_box(
                    boxes, i, categories, masks, ray, q, first_only, best, nearest, out, found,
                    touching, category, mask,
                )  # fmt: skip
        return found, tests

    for turn in range(high - low + 1):
        k = low + turn if forward else high - turn
        enters, leaves = _stay(lattice, level, ray, main, k, first, last, 0.0, furthest, size, pace)
        if first_only and enters > nearest[q]:
            break
        cell[main] = k
        first_row, last_row = _cells_between(lattice, level, ray, dim, second, enters, leaves)
        for row in range(
            max(first_row, int(lattice[level, LOWEST + second])),
            min(last_row, int(lattice[level, HIGHEST + second])) + 1,
        ):
            cell[second] = row
            first_layer = last_layer = 0
            if dim == 3:
                comes, goes = _stay(
                    lattice, level, ray, second, row, first_row, last_row, enters, leaves, size, second_pace
                )
                first_layer, last_layer = _cells_between(lattice, level, ray, dim, third, comes, goes)
                first_layer = max(first_layer, int(lattice[level, LOWEST + third]))
                last_layer = min(last_layer, int(lattice[level, HIGHEST + third]))
            for layer in range(first_layer, last_layer + 1):
                if dim == 3:
                    cell[third] = layer
                at = np.int64(heads[place_of(cell[0], cell[1], cell[2], lattice, level, table)]) * UNIT
                if at == 0:
                    continue
                count = np.int64(pool[at])
                tests += count
                for entry in range(at + HEADER, at + HEADER + count):
                    i = np.int64(pool[entry])
                    if levels[i] == level:
                        found = _meet_box(
                            boxes, i, categories, masks, ray, q, first_only, best, nearest,
                            out, found, touching, category, mask,
                        )  # fmt: skip
    return found, tests


@inline
def _meet_box(
    boxes, i, categories, masks, ray, q, first_only, best, nearest, out, found, touching, category, mask
):  # fmt: skip
    distance = ray_distance(boxes, i, ray, touching)
    if distance >= 0.0 and passes(categories, masks, i, category, mask):
        if first_only:
            if distance < nearest[q] or (distance == nearest[q] and i < best[q]):
                nearest[q] = distance
                best[q] = i
        else:
            if found < out.shape[0]:
                put_row(out, found, q, i)
            found += 1
    return found


@inline
def _cells_between(lattice, level, ray, dim, axis, enters, leaves):
    """Lowest and highest cell on an axis while the ray goes from one time to another."""
    at = ray[axis]
    step = ray[dim + axis]
    if step == 0.0:
        cell = cell_of(at, lattice, level, axis)
        return cell, cell
    low = at + enters * step
    high = at + leaves * step
    if step < 0.0:
        low, high = high, low
    low = min(low, HUGE)  # where adding overflowed, inf - inf would be no number
    high = max(high, -HUGE)
    low -= DOUBT * (abs(at) + abs(low)) + TINY
    high += DOUBT * (abs(at) + abs(high)) + TINY
    return cell_of(low, lattice, level, axis), cell_of(high, lattice, level, axis)


@inline
def _pace(step):
    """How long a ray takes for a unit of an axis; 0 where it does not move along it."""
    return 0.0 if step == 0.0 else 1.0 / step


@inline
def _stay(lattice, level, ray, axis, k, first, last, enters, leaves, size, pace):
    """From when to when the ray is in slab ``k`` of an axis, where it goes from ``first`` to ``last``."""
    if pace == 0.0:
        return enters, leaves
    origin = lattice[level, axis]
    for upper in range(2):
        # The lower border ends the slab where the ray goes down; the outermost slabs have no border.
        if (k == last) if upper == 1 else (k == first):
            continue
        border = origin + (k + upper) * size
        doubt = DOUBT * (abs(border) + abs(ray[axis]) + abs(origin)) * abs(pace)
        time = (border - ray[axis]) * pace
        # Written so that an overflow, inf - inf or 0 * inf, leaves the time as it is.
        if (upper == 0) == (pace > 0.0):
            if time - doubt > enters:
                enters = time - doubt
        elif time + doubt < leaves:
            leaves = time + doubt
    return enters, leaves
