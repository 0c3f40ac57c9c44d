"""What the broad phase has found near a place, as rows of a table of shapes: put together, sorted, sifted."""

from broadphase.kernels.machine.jit import brief, inline, jit
from broadphase.kernels.shapes.ask import distance_of, ray_of
from broadphase.kernels.shapes.contact_rows import contact_of
from broadphase.kernels.shapes.table import BOX

FEW = 64  # so many are sorted here; more, the caller sorts


@brief
def put_near(near, count, ids, rows):
    """Write ``rows[ids]`` behind the first ``count`` of ``near``; how many there are then, -1: no room."""
    if count < 0 or count + ids.shape[0] > near.shape[0]:
        return -1
    for k in range(ids.shape[0]):
        near[count + k] = rows[ids[k]]
    return count + ids.shape[0]


@inline
def sort_near(near, count):
    """Ascending; the few that are near are sorted by putting each into its place."""
    for k in range(1, count):
        row = near[k]
        at = k
        while at > 0 and near[at - 1] > row:
            near[at] = near[at - 1]
            at -= 1
        near[at] = row


@brief
def keep_overlapping(near, count, asked, table):
    """Sort ``near`` and leave what overlaps shape 0 of ``asked``; how many are left.

    Of boxes the broad phase has said already whether they overlap a box.
    """
    sort_near(near, count)
    left = 0
    for k in range(count):
        row = near[k]
        known = asked.kinds[0] == BOX and table.kinds[row] == BOX
        if known or contact_of(asked, 0, table, row, False)[0]:
            near[left] = row
            left += 1
    return left


@jit
def keep_overlapping_rows(rows, asked, table):
    """Leave the rows ``[k, row]`` where shape ``k`` of ``asked`` overlaps one of the table; how many.

    Of boxes the broad phase has said already whether they overlap a box.
    """
    left = 0
    for at in range(rows.shape[0]):
        k, row = rows[at, 0], rows[at, 1]
        known = asked.kinds[k] == BOX and table.kinds[row] == BOX
        if known or contact_of(asked, k, table, row, False)[0]:
            rows[left, 0], rows[left, 1] = k, row
            left += 1
    return left


@inline
def _put_by_distance(near, hits, left, row, distance, nx, ny):
    """Into its place among the first ``left``, by distance, then by row; of many just behind them."""
    at = left
    while FEW > at > 0:
        before = hits[at - 1, 0]
        if before < distance or (before == distance and near[at - 1] < row):
            break
        near[at] = near[at - 1]
        for column in range(3):
            hits[at, column] = hits[at - 1, column]
        at -= 1
    near[at] = row
    hits[at, 0], hits[at, 1], hits[at, 2] = distance, nx, ny


@brief
def keep_on_ray(near, count, table, x, y, dx, dy, furthest, hits):
    """Leave what a ray meets; rows of ``hits`` are distance and normal.

    By distance, then by row, as long as no more than `FEW` are met.
    """
    left = 0
    for k in range(count):
        row = near[k]
        distance, nx, ny = ray_of(table, row, x, y, dx, dy, furthest)
        if distance >= 0.0:
            _put_by_distance(near, hits, left, row, distance, nx, ny)
            left += 1
    return left


@brief
def rank_near(near, count, table, x, y, hits):
    """Sort by the distance from a point, as `keep_on_ray` does; the distances come into ``hits``."""
    for k in range(count):
        row = near[k]
        _put_by_distance(near, hits, k, row, distance_of(table, row, x, y), 0.0, 0.0)
