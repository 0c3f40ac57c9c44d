"""Which shape each of many rays meets first, of those whose bounds it meets."""

from broadphase.kernels.machine.jit import jit
from broadphase.kernels.shapes.ask import ray_of


@jit
def first_on_rays(rays, asked, ends, ids, rows, table, fits, own, found, hits):
    """Renew ``found`` and ``hits`` where a ray meets a shape sooner; of several at once the lowest row counts.

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
