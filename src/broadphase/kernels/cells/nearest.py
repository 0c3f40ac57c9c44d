"""The nearest boxes: the cells around a point, ring after ring, until no ring can hold anything nearer."""

import numpy as np

from broadphase.kernels.boxes.query_tests import distance_to_box, passes
from broadphase.kernels.boxes.ranking import keep_nearest
from broadphase.kernels.cells.lattice import BOXES, HIGHEST, LOWEST, PER_UNIT, cell_of, place_of, span_of
from broadphase.kernels.cells.lists import HEADER, UNIT
from broadphase.kernels.machine.jit import common, inline, jit

# Far more than what rounding can take away from the distance of a border of cells.
DOUBT = 1e-13


@jit
def search_nearest(
    boxes, end, categories, masks, heads, pool, lattice, levels, table,
    points, ids, distances, kept, done, category, mask,
):  # fmt: skip
    """Offer the boxes of these cells to the nearest of each point; returns the tests.

    ``ids`` and ``distances`` are ``(m, k)`` heaps of which ``kept`` entries each are filled; ``done`` is
    scratch, one for each level.
    """
    tests = 0
    for q in range(points.shape[0]):
        kept[q], made = search_levels(
            boxes, end, categories, masks, heads, pool, lattice, levels, table,
            points[q], ids[q], distances[q], kept[q], category, mask, done,
        )  # fmt: skip
        tests += made
    return tests


@common
def search_levels(
    boxes, end, categories, masks, heads, pool, lattice, levels, table,
    point, ids, distances, kept, category, mask, done,
):  # fmt: skip
    """All levels for one point; returns how many are kept now, and the tests.  ``done`` is scratch."""
    tests = np.int64(0)
    for level in range(lattice.shape[0]):
        done[level] = lattice[level, BOXES] == 0
    for _ in range(lattice.shape[0]):
        # The fullest level first: what it finds keeps the rings of the others small.
        fullest = np.int64(-1)  # not a plain -1: Numba would compile for it once more
        for level in range(lattice.shape[0]):
            if not done[level] and (fullest < 0 or lattice[level, BOXES] > lattice[fullest, BOXES]):
                fullest = np.int64(level)
        if fullest < 0:
            break
        done[fullest] = True
        kept, made = _search_rings(
            boxes, end, categories, masks, heads, pool, lattice, levels, table,
            fullest, point, ids, distances, kept, category, mask,
        )  # fmt: skip
        tests += made
    return kept, tests


@common
def _search_rings(
    boxes, end, categories, masks, heads, pool, lattice, levels, table,
    level, point, ids, distances, kept, category, mask,
):  # fmt: skip
    """One level; returns how many are kept now, and the tests."""
    deep = boxes.shape[1] == 6
    x = cell_of(point[0], lattice, level, 0)
    y = cell_of(point[1], lattice, level, 1)
    z = cell_of(point[2], lattice, level, 2) if deep else 0
    low_x, high_x = int(lattice[level, LOWEST]), int(lattice[level, HIGHEST])
    low_y, high_y = int(lattice[level, LOWEST + 1]), int(lattice[level, HIGHEST + 1])
    low_z, high_z = int(lattice[level, LOWEST + 2]), int(lattice[level, HIGHEST + 2])
    ring = max(low_x - x, x - high_x, low_y - y, y - high_y, low_z - z, z - high_z, 0)
    last_ring = max(x - low_x, high_x - x, y - low_y, high_y - y, z - low_z, high_z - z)
    tests = 0
    visited = 0.0
    while ring <= last_ring:
        if kept == ids.shape[0] and _ring_distance(lattice, level, point, x, y, z, ring) > distances[0]:
            break
        x0, x1 = max(x - ring, low_x), min(x + ring, high_x)
        y0, y1 = max(y - ring, low_y), min(y + ring, high_y)
        z0, z1 = max(z - ring, low_z), min(z + ring, high_z)
        wide, high, thick = float(x1 - x0 + 1), float(y1 - y0 + 1), float(z1 - z0 + 1)
        sides = 2.0 * (wide * high + wide * thick) + 2.0 * high * thick if deep else 2.0 * (wide + high)
        visited += min(wide * high * thick, sides)
        if visited > end:
            # The rings are emptier than the level is full: look at all boxes that were not seen yet.
            for i in range(end):
                if levels[i] == level:
                    nx, ny, nz = _nearest_cell(boxes, i, lattice, level, x, y, z)
                    if max(abs(nx - x), abs(ny - y), abs(nz - z)) >= ring:
                        tests += 1
                        if passes(categories, masks, i, category, mask):
                            distance = distance_to_box(boxes, i, point)
                            kept = keep_nearest(distances, ids, kept, distance, i)
            break
        for cz in range(z0, z1 + 1):
            for cy in range(y0, y1 + 1):
                whole = abs(cz - z) == ring or abs(cy - y) == ring
                step = 1 if whole else max(2 * ring, 1)
                cx = x0 if whole or x0 == x - ring else x + ring
                while cx <= x1:
                    at = np.int64(heads[place_of(cx, cy, cz, lattice, level, table)]) * UNIT
                    if at > 0:
                        count = np.int64(pool[at])
                        tests += count
                        for k in range(at + HEADER, at + HEADER + count):
                            i = np.int64(pool[k])
                            # Once: in the one of its cells that is nearest to the middle, the first met.
                            if levels[i] == level and passes(categories, masks, i, category, mask):
                                nx, ny, nz = _nearest_cell(boxes, i, lattice, level, x, y, z)
                                if nx == cx and ny == cy and nz == cz:
                                    distance = distance_to_box(boxes, i, point)
                                    kept = keep_nearest(distances, ids, kept, distance, i)
                    cx += step
        ring += 1
    return kept, tests


@inline
def _nearest_cell(boxes, i, lattice, level, x, y, z):
    """Of the cells of box ``i``, the one nearest to the given one on every axis."""
    x0, x1, y0, y1, z0, z1 = span_of(boxes, i, lattice, level)
    return min(max(x, x0), x1), min(max(y, y0), y1), min(max(z, z0), z1)


@inline
def _ring_distance(lattice, level, point, x, y, z, ring):
    """A box that is met in this ring first is certainly no nearer than this."""
    size = 1.0 / lattice[level, PER_UNIT]
    nearest = np.inf
    for axis in range(point.shape[0]):
        middle = x if axis == 0 else (y if axis == 1 else z)
        origin = lattice[level, axis]
        if middle + ring <= lattice[level, HIGHEST + axis]:
            border = origin + (middle + ring) * size
            doubt = DOUBT * (abs(border) + abs(point[axis]) + abs(origin))
            nearest = min(nearest, border - point[axis] - doubt)
        if middle - ring >= lattice[level, LOWEST + axis]:
            border = origin + (middle - ring + 1) * size
            doubt = DOUBT * (abs(border) + abs(point[axis]) + abs(origin))
            nearest = min(nearest, point[axis] - border - doubt)
    return nearest * (1.0 - DOUBT) if nearest > 0.0 else nearest
