"""Brute force: compare every box with every other.

The definition of the problem, and what every other method is held against.  Cost: ``n (n - 1) / 2``
comparisons whatever the scene.  It wins below a few hundred boxes, where sorting or binning costs more
than comparing, and loses everywhere else.
"""

from broadphase.boxes import PairArray
from broadphase.kernels.brute_force import compare_all
from broadphase.methods.task import Found, Task, run_in_shares


def find(task: Task) -> Found:
    """Find all pairs by comparing all pairs."""

    def search(begin: int, end: int, out: PairArray) -> tuple[PairArray, int, int]:
        result: tuple[PairArray, int, int] = compare_all(
            task.boxes, task.touching, task.filter, begin, end, out, task.limit, task.store
        )
        return result

    # Row i is compared with the n - 1 - i rows behind it, so the first rows cost most: four shares a
    # thread even that out.
    enough_work = len(task.boxes) > 2_000
    return run_in_shares(task, len(task.boxes), search, parts=4 * task.threads if enough_work else 1)
