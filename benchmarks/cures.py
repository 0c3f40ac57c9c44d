"""What it costs to report a pair once that several cells find: nanoseconds of each cure, beside a test.

``python benchmarks/cures.py`` prints them; the tour's step *Found twice?* weighs its bars with them.  Needs
the extra ``jit``.
"""

import time

import numba
import numpy as np

PAIRS, BOXES, ROUNDS = 100_000, 20_000, 50


@numba.njit
def test(boxes, first, second, table):
    """The test of two boxes."""
    found = 0
    for i, j in zip(first, second):  # noqa: B905 - Numba knows no keyword
        found += (
            boxes[i, 0] <= boxes[j, 2]
            and boxes[j, 0] <= boxes[i, 2]
            and boxes[i, 1] <= boxes[j, 3]
            and boxes[j, 1] <= boxes[i, 3]
        )
    return found


@numba.njit
def owner(boxes, first, second, table):
    """Whether a cell is the one with the corner of the overlap."""
    found = 0
    for i, j in zip(first, second):  # noqa: B905 - Numba knows no keyword
        x, y = max(boxes[i, 0], boxes[j, 0]), max(boxes[i, 1], boxes[j, 1])
        found += int(x * 0.05) == 7 and int(y * 0.05) == 9
    return found


@numba.njit
def marks(boxes, first, second, table):
    """Whether both entries began in an earlier cell."""
    found = 0
    for i, j in zip(first, second):  # noqa: B905 - Numba knows no keyword
        found += (table[i] & table[j]) != 0
    return found


@numba.njit
def look_up(boxes, first, second, table):
    """A set of pairs as a table, which is cleared for each search."""
    found = 0
    table[:] = -1
    for i, j in zip(first, second):  # noqa: B905 - Numba knows no keyword
        key = np.int64(i) << 32 | np.int64(j)
        at = (key * np.int64(-7046029254386353131)) >> 40 & (len(table) - 1)
        while table[at] != -1 and table[at] != key:
            at = (at + 1) & (len(table) - 1)
        found += table[at] == -1
        table[at] = key
    return found


def main() -> None:
    """Measure them in turns and print the least time of each."""
    random = np.random.default_rng(1)
    boxes = random.random((BOXES, 4)) * 1_000
    boxes[:, 2:] = boxes[:, :2] + 10
    first = np.sort(random.integers(0, BOXES - 40, PAIRS))
    second = first + random.integers(1, 40, PAIRS)
    cures = {cure: np.zeros(1 << 18, np.int64) for cure in (test, owner, marks, look_up)}
    best = dict.fromkeys(cures, float("inf"))
    for _ in range(ROUNDS):
        for cure, table in cures.items():
            start = time.perf_counter()
            cure(boxes, first, second, table)
            best[cure] = min(best[cure], time.perf_counter() - start)
    for cure, seconds in best.items():
        print(f"{cure.__name__:<8}{1e9 * seconds / PAIRS:6.2f} ns{seconds / best[test]:6.2f} of a test")


if __name__ == "__main__":
    main()
