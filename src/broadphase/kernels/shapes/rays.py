"""Which shape each of many rays meets first, and how far many points are from some shapes."""

from broadphase.kernels.machine.jit import jit
from broadphase.kernels.shapes.ask import distance_of, ray_of


@jit
def first_on_rays(rays, asked, ends, ids, rows, table, fits, own, found, hits):
    """Renew ``found`` and ``hits`` where a ray meets a shape sooner; among equals the lowest row counts.

    ``rays`` are ``x, y, dx, dy, furthest``; ray ``asked[k]`` may meet the shapes in
    ``rows[ids[ends[k] : ends[k + 1]]]``, but for those that do not fit, and for the row ``own`` of the ray.
    """
    for k in range(asked.shape[0]):
        ray = asked[k]
        x, y, dx, dy, furthest = rays[ray, 0], rays[ray, 1], rays[ray, 2], rays[ray, 3], rays[ray, 4]
        best, nearest = found[ray], hits[ray, 0]
        for at in range(ends[k], ends[k + 1]):
            row = rows[ids[at]]
            if row == own[ray] or not fits[row]:
                continue
            distance, nx, ny = ray_of(table, row, x, y, dx, dy, furthest)
            if distance < 0.0 or distance > nearest or (distance == nearest and 0 <= best < row):
                continue
            best, nearest = row, distance
            hits[ray, 0], hits[ray, 1], hits[ray, 2] = distance, nx, ny
        found[ray] = best


@jit
def distances_of_rows(points, rows, table, distances):
    """From each point to the shapes in its row of ``rows``; what is there stays where that is -1."""
    for k in range(rows.shape[0]):
        for at in range(rows.shape[1]):
            if rows[k, at] >= 0:
                distances[k, at] = distance_of(table, rows[k, at], points[k, 0], points[k, 1])
