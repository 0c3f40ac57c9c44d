"""One box against `LANES` boxes that lie side by side in columns of ordered keys."""

from broadphase.kernels.boxes.filters import may_pair
from broadphase.kernels.machine.jit import inline
from broadphase.kernels.machine.simd import load, lowest_lane, mask_of, splat


@inline
def overlapping_lanes(axes, columns, i, j):
    """Mask of the boxes from ``j`` that overlap box ``i``.

    ``columns``: see `ordered_bits.ordered_columns`.  ``axes`` is a tuple that is only looked at for its
    length, which the compiler knows: 2 or 3.
    """
    dim = len(axes)
    hits = load(columns, 0, j) <= splat(columns[dim, i])
    hits = hits & (splat(columns[0, i]) <= load(columns, dim, j))
    hits = hits & (load(columns, 1, j) <= splat(columns[dim + 1, i]))
    hits = hits & (splat(columns[1, i]) <= load(columns, dim + 1, j))
    if len(axes) == 3:
        hits = hits & (load(columns, 2, j) <= splat(columns[5, i]))
        hits = hits & (splat(columns[2, i]) <= load(columns, 5, j))
    return hits


@inline
def allowed_lanes(filter, ids, i, j, lanes):  # noqa: A002
    """Mask of those of the boxes from ``j``, in the bits of ``lanes``, that the filter lets pair with ``i``.

    ``ids``: ``(1, n)``, the boxes' ids in the order of the columns.
    """
    allowed = lanes
    while lanes != 0:
        if not may_pair(filter, ids[0, i], ids[0, j + lowest_lane(lanes)]):
            allowed ^= lanes & -lanes
        lanes &= lanes - 1
    return mask_of(allowed)
