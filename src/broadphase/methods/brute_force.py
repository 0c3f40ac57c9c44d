"""Brute force: compare every box with every other.

The definition of the problem, and the reference for every other method.  Cost: ``n (n - 1) / 2``
comparisons whatever the scene.  It wins below a few hundred boxes, where sorting or binning costs more
than comparing 16 boxes at a time, and loses everywhere else.
"""

from functools import partial

import numpy as np

from broadphase.kernels.boxes.brute_force import PADDING, compare_all, lay_in_columns
from broadphase.methods.task import Found, Task, find_in_shares
from broadphase.runtime import threads

_FEW_IDS = np.arange(2_000 + PADDING, dtype=np.int32).reshape(1, -1)


def find(task: Task, rows: int | None = None) -> Found:
    """Find all pairs by comparing all pairs, or those of the first ``rows`` boxes with all others."""
    boxes = task.boxes
    n = len(boxes)
    end = n if rows is None else rows
    columns = np.empty((boxes.shape[1], n + PADDING), boxes.dtype)
    lay_in_columns(boxes, columns)
    few = n + PADDING <= _FEW_IDS.size
    ids = _FEW_IDS if few else np.arange(n + PADDING, dtype=np.int32).reshape(1, -1)
    search = partial(compare_all, columns, ids, n, task.touching, task.filter)
    # Row i is compared with the n - 1 - i rows after it, so the first rows cost most: four shares for each
    # thread balance the load.
    shares = threads.shares(end, task.threads, cost=0.05 * n, pieces=4)
    return find_in_shares(task, search, shares, expected=5, ordered=True)
