"""From each point of a pair to the nearest image of the other."""

from broadphase.kernels.machine.jit import inline, jit, unsigned
from broadphase.kernels.machine.prefetch import AHEAD, prefetch
from broadphase.kernels.points.apart import shorter_way


@inline
def _offset(points, others, i, j, axis, around):
    return shorter_way(others[j, axis] - points[i, axis], around)


@jit
def find_offsets(points, others, around, i, j, begin, end, offsets):
    """Where row ``j`` of the others is, seen from row ``i``: ``offsets[begin:end]``."""
    three = points.shape[1] == 3
    x, y, z = around[0], around[1], around[around.shape[0] - 1]
    for at in range(begin, end):
        # Sorted by ``i``, pairs meet ``j`` at random.
        prefetch(others, j[min(at + AHEAD, end - 1)], 0)
        a, b, row = unsigned(i[at]), unsigned(j[at]), unsigned(at)
        offsets[row, 0] = _offset(points, others, a, b, 0, x)
        offsets[row, 1] = _offset(points, others, a, b, 1, y)
        if three:
            offsets[row, 2] = _offset(points, others, a, b, 2, z)
