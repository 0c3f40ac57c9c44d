"""What is right: every box compared with every other in plain NumPy, the definition written down once more.

Independent of the package on purpose: it shares no code with ``src/``.
"""

import numpy as np


def overlapping(a, b, touching=True):
    """``(len(a), len(b))`` bool: which rows of ``a`` overlap which rows of ``b``."""
    below = np.less_equal if touching else np.less
    together = np.ones((len(a), len(b)), bool)
    dim = a.shape[1] // 2
    for low in range(dim):
        high = dim + low
        together &= below(a[:, None, low], b[None, :, high])
        together &= below(b[None, :, low], a[:, None, high])
    return together


def pairs(boxes, touching=True, static=None, categories=None, masks=None):
    """Sorted ``(m, 2)`` int32 rows ``i < j``, as ``broadphase.pairs`` should return them."""
    allowed = np.triu(overlapping(boxes, boxes, touching), 1)
    if static is not None:
        allowed &= ~(static[:, None] & static[None, :])
    if categories is not None:
        wants = (categories[:, None] & masks[None, :]) != 0
        allowed &= wants & wants.T
    return np.argwhere(allowed).astype(np.int32)


def join(a, b, touching=True):
    """Sorted ``(m, 2)`` int32 rows ``row of a, row of b``, as ``broadphase.join`` should return them."""
    return np.argwhere(overlapping(a, b, touching)).astype(np.int32)
