"""The world cut into as many strips as one likes, where the engine would choose.

Up to some hundred boxes the engine sweeps the world in one piece, because that is quickest.  To see what
strips do, and what they cost, their number is set here: the engine's own kernels then count, copy, sort and
sweep in them.
"""

import math

import numpy as np

from broadphase.boxes import BoxArray
from broadphase.indexes.classes import Strips
from broadphase.indexes.strips import _Frame
from broadphase.methods.strip_copies import Plan

MOST_STRIPS = 64


def cut_into(index: Strips, count: int, boxes: BoxArray) -> None:
    """Let an index of strips find its next pairs in ``count`` strips of equal width.

    The strips are rows: they cut y and are swept along x.

    Parameters
    ----------
    index : broadphase.Strips
        2-D.
    count : int
        1 to 64.
    boxes : numpy.ndarray
        ``(n, 4)``: the boxes between whose lowest and highest edge the strips lie.

    Examples
    --------
    >>> import numpy as np, broadphase as bp
    >>> boxes = np.array([[0.0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
    >>> index = bp.Strips()
    >>> ids = index.insert_many(boxes)
    >>> cut_into(index, 3, boxes)
    >>> index.pairs().tolist(), index.stats.cells
    ([[0, 1]], 3)
    """
    if not 1 <= count <= MOST_STRIPS:
        raise ValueError(f"count must be between 1 and {MOST_STRIPS}; got {count}")
    finite = boxes[np.isfinite(boxes).all(axis=1)]
    low = float(finite[:, 1].min(initial=np.inf)) if len(finite) else 0.0
    high = float(finite[:, 3].max(initial=-np.inf)) if len(finite) else 1.0
    half = high / 2 - low / 2
    limits = np.finfo(index.dtype)
    scale = min(count / half, float(limits.max)) if half > 0 else float(limits.tiny)
    lattice = np.array([[low / 2, scale, count - 1 if half > 0 else 0]], index.dtype)
    # However crowded: these strips are the ones that were asked for.
    index._structure._frame = _Frame(Plan((0, 1), lattice, np.empty((1, 0), index.dtype)), math.inf)
