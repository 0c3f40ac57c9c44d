"""Are these ids all in use, and each named once?"""

from broadphase.kernels.machine.jit import jit

FEW = 16


@jit
def first_bad_id(ids, alive, end, named):
    """Row of the first id that is not in use or that came before; -1 when all are good.

    ``named`` is false for each of the ids below ``end``; up to `FEW` ids do without.
    """
    count = ids.shape[0]
    if count <= FEW:
        for k in range(count):
            if ids[k] < 0 or ids[k] >= end or not alive[ids[k]]:
                return k
            for earlier in range(k):
                if ids[earlier] == ids[k]:
                    return k
        return -1
    for k in range(count):
        if ids[k] < 0 or ids[k] >= end or not alive[ids[k]] or named[ids[k]]:
            return k
        named[ids[k]] = True
    return -1
