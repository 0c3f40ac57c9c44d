"""Every box against every later box: the definition of the problem, and the oracle of the tests."""

from broadphase.kernels.emit import grow, put
from broadphase.kernels.filters import may_pair
from broadphase.kernels.jit import jit
from broadphase.kernels.overlap import overlap


@jit
def compare_all(boxes, touching, filter, begin, end, out, limit, store):  # noqa: A002
    """Pairs ``i < j`` with ``begin <= i < end``; returns ``out, found, tests``."""
    n = boxes.shape[0]
    found = 0
    tests = 0
    for i in range(begin, end):
        tests += n - 1 - i
        for j in range(i + 1, n):
            if overlap(boxes, i, j, touching) and may_pair(filter, i, j):
                if store:
                    if found == len(out):
                        if found > limit:
                            return out, found, tests
                        out = grow(out, limit)
                    put(out, found, i, j)
                found += 1
    return out, found, tests
