"""Brute force: compare every box with every other.

The definition of the problem, and what every other method is held against.  Cost: ``n (n - 1) / 2``
comparisons whatever the scene.  It wins below a few hundred boxes, where sorting or binning costs more
than comparing 16 boxes at a time, and loses everywhere else.
"""

import numpy as np

from broadphase.boxes import PairArray
from broadphase.kernels.boxes.brute_force import columns_of, compare_all
from broadphase.methods.task import Found, Task, run_in_shares
from broadphase.slices import Work

# So many boxes take about as long as handing work to another thread.
ENOUGH_FOR_THREADS = 2_000


def find(task: Task) -> Found:
    """Find all pairs by comparing all pairs."""
    columns = columns_of(task.boxes)
    n = len(task.boxes)
    if n <= ENOUGH_FOR_THREADS:
        room = task.scratch.array("pairs", (max(4 * n, task.scratch.room("pairs") // 8), 2), np.int32)
        out, found, tests = compare_all(
            columns, task.touching, task.filter, 0, n, room, task.limit, task.store
        )
        if out is not room:
            task.scratch.keep("pairs", out)
        return Found([out[:found]] if task.store else [], found, tests, ordered=True)

    def search(begin: int, end: int, out: PairArray) -> tuple[PairArray, int, int]:
        result: tuple[PairArray, int, int] = compare_all(
            columns, task.touching, task.filter, begin, end, out, task.limit, task.store
        )
        return result

    # Row i is compared with the n - 1 - i rows behind it, so the first rows cost most: four shares a
    # thread even that out.
    return run_in_shares(task, n, search, work_of(n), parts=4 * task.threads)._replace(ordered=True)


def work_of(n: int) -> Work:
    """Row i is compared with all behind it."""
    rows = np.linspace(0.0, n, 17)
    return Work(rows, rows * (n - 0.5 * rows))
