"""The gain of each trick of the fast kernels: the kernel, compared with the same work without the trick.

    python benchmarks/tricks.py [--n 100000] [name ...]

Both sides take turns, the best of each counts, and their answers are compared before anything is timed.
The figures in docs/how-it-is-fast.md are what this prints.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from catalogue import Boxes, uniform
from timing import best_of

import broadphase as bp
from broadphase.inputs.search import as_filter
from broadphase.kernels.arrays.sorting import starts_from_counts, starts_from_steps
from broadphase.kernels.pairs.order import count_partitions, partition_shift, scatter_to_partitions
from broadphase.kernels.strips.bin import BLOCK, count_copies, scatter_copies
from broadphase.methods import strips
from broadphase.methods.pair_order import sorted_pairs
from broadphase.methods.strips import bin_boxes, cut_world
from broadphase.methods.task import Task
from broadphase.runtime import memory, thresholds
from broadphase.runtime import threads as own_threads
from broadphase.runtime.memory import Scratch


class Trick(NamedTuple):
    """One comparison: both calls do the same work."""

    title: str
    with_it: Callable[[], object]
    without: Callable[[], object]


# The code without a trick is compiled as kernels are, but on its first call.
_compiled = numba.njit(nogil=True, error_model="numpy")


def _task(boxes: Boxes, threads: int = 1) -> Task:
    return Task(boxes, True, as_filter(len(boxes)), threads, scratch=Scratch())


@_compiled
def _compare_one_by_one(boxes):
    found = 0
    for i in range(boxes.shape[0]):
        for j in range(i + 1, boxes.shape[0]):
            if (
                boxes[i, 0] <= boxes[j, 2]
                and boxes[j, 0] <= boxes[i, 2]
                and boxes[i, 1] <= boxes[j, 3]
                and boxes[j, 1] <= boxes[i, 3]
            ):
                found += 1
    return found


def lanes(n: int) -> Trick:
    """Brute force, 16 (or 8) comparisons at a time and one at a time."""
    boxes = uniform(min(n, 5_000), 2)
    return Trick(
        "many comparisons at a time (brute force)",
        lambda: bp.count_pairs(boxes, method="brute_force", threads=1),
        lambda: int(_compare_one_by_one(boxes)),
    )


def cutting(n: int) -> Trick:
    """A world in strips, and swept as a whole along one axis."""
    boxes = uniform(n, 2)
    return Trick(
        "cutting the world into strips before it is swept",
        lambda: bp.count_pairs(boxes, method="strips", threads=1),
        lambda: bp.count_pairs(boxes, method="sort_and_sweep", threads=1),
    )


def in_one_call(n: int) -> Trick:
    """A small world searched by one kernel, and by one after the other, with Python between them."""
    task = _task(uniform(3_000, 2))
    return Trick(
        "3,000 boxes in one call",
        lambda: strips.find(task).pairs,
        lambda: strips.sweep(task, *bin_boxes(task, cut_world(task)[0], 1), 1).pairs,
    )


@_compiled
def _count_by_loop(boxes, lattice, counts):
    """A box's strips found and counted in the obvious way: signed indices, a loop over the strips."""
    counts[:] = 0
    last = int(lattice[0, 2])
    for i in range(boxes.shape[0]):
        first = min(max(int((boxes[i, 1] * 0.5 - lattice[0, 0]) * lattice[0, 1]), 0), last)
        end = min(max(int((boxes[i, 4] * 0.5 - lattice[0, 0]) * lattice[0, 1]), 0), last)
        first_z = min(max(int((boxes[i, 2] * 0.5 - lattice[1, 0]) * lattice[1, 1]), 0), last)
        end_z = min(max(int((boxes[i, 5] * 0.5 - lattice[1, 0]) * lattice[1, 1]), 0), last)
        for z in range(first_z, end_z + 1):
            for y in range(first, end + 1):
                counts[z * (last + 1) + y] += 1
    return counts.sum()


def counting(n: int) -> Trick:
    """The copies in each 3-D strip by steps, without a branch, and by a loop over each box's strips."""
    boxes = uniform(n, 3)
    plan, _ = cut_world(_task(boxes))
    lattice = plan.lattice.copy()
    # The same axes for both, and as many strips on each.
    lattice[:] = [0.0, 2.0 * (lattice[0, 2] + 1), lattice[0, 2]]
    rows = int(lattice[0, 2]) + 1
    spans = np.empty((n, 4), np.uint16)
    steps, counts = np.empty((1, (rows + 1) ** 2), np.int32), np.empty(rows * rows, np.int64)
    starts, ends = np.empty((1, rows * rows), np.int64), np.empty(rows * rows, np.int64)
    plan = plan._replace(axes=(0, 1, 2), lattice=lattice, borders=lattice[:, :0])
    numbers = np.empty((2, int(BLOCK) * 6), np.int32)

    def by_steps() -> int:
        steps[:] = 0
        count_copies(boxes, plan, True, 0, n, numbers, spans, steps[0])
        copies, _, _ = starts_from_steps(steps, rows + 1, starts, ends)
        return int(copies)

    return Trick(
        "counting strips by steps instead of a loop (3-D)",
        by_steps,
        lambda: int(_count_by_loop(boxes, lattice, counts)),
    )


def one_line(n: int) -> Trick:
    """3-D copies with the tags after the edges in one array, and in two arrays."""
    boxes = uniform(n, 3)
    task = _task(boxes)
    plan, binned = bin_boxes(task, cut_world(task)[0], 1)
    spans, starts, _, _ = strips._count(task, plan, 1)
    edges, tags = np.empty((binned.copies, 6), np.float32), np.empty((binned.copies, 2), np.int32)

    def scatter(edges: Boxes, tags: npt.NDArray[np.int32]) -> int:
        at = starts[0].copy()
        no_classes = np.empty(0, np.uint8)
        scatter_copies(boxes, plan, True, no_classes, 0, n, spans, at, edges, tags)
        return int(at[-1])

    return Trick(
        "a copy and its tags in one place (3-D)",
        lambda: scatter(binned.edges, binned.tags),
        lambda: scatter(edges, tags),
    )


@_compiled
def _scatter_without_asking(pairs, shift, starts, parted):
    for p in range(pairs.shape[0]):
        partition = pairs[p, 0] >> shift
        at = starts[partition]
        starts[partition] = at + 1
        parted[at, 0] = pairs[p, 0]
        parted[at, 1] = pairs[p, 1]


def asking_ahead(n: int) -> Trick:
    """Pairs written to 128 places alternately: memory is prefetched, or not."""
    pairs, shift = _found_pairs(n), partition_shift(n)
    counts = np.zeros((1, (n >> shift) + 1), np.int64)
    count_partitions(pairs, shift, counts[0])
    starts_from_counts(counts, np.empty(counts.shape[1], np.int64))
    parted = np.empty_like(pairs)

    def scatter(kernel: Callable[..., object]) -> npt.NDArray[np.int32]:
        kernel(pairs, shift, counts[0].copy(), parted)
        return parted

    ahead, at_once = partial(scatter, scatter_to_partitions), partial(scatter, _scatter_without_asking)
    return Trick("prefetching memory before it is written", ahead, at_once)


def leaving_out(n: int) -> Trick:
    """One box in a hundred joined with all: with a prefilter that drops distant boxes, and without."""
    many = uniform(n, 2)
    few = np.ascontiguousarray(many[::100])

    def with_all() -> int:
        usual, thresholds.MANY_BOXES = thresholds.MANY_BOXES, n + 1
        try:
            return len(bp.join(few, many, sort=False))
        finally:
            thresholds.MANY_BOXES = usual

    return Trick(
        "a few joined with many, of which most are left out",
        lambda: len(bp.join(few, many, sort=False)),
        with_all,
    )


@_compiled
def _order_by_insertion(pairs, at, seconds, out):
    """A counting sort by first id, then each id's partners by insertion."""
    at[:] = 0
    for p in range(pairs.shape[0]):
        at[pairs[p, 0] + 1] += 1
    for k in range(at.shape[0] - 1):
        at[k + 1] += at[k]
    for p in range(pairs.shape[0]):
        k = pairs[p, 0]
        seconds[at[k]] = pairs[p, 1]
        at[k] += 1
    row = 0
    for k in range(at.shape[0] - 1):
        for right in range(row + 1, at[k]):
            value = seconds[right]
            left = right
            while left > row and seconds[left - 1] > value:
                seconds[left] = seconds[left - 1]
                left -= 1
            seconds[left] = value
        while row < at[k]:
            out[row, 0] = k
            out[row, 1] = seconds[row]
            row += 1


def _found_pairs(n: int) -> np.ndarray:
    return bp.pairs(uniform(n, 2), sort=False, threads=1)


def ordering(n: int) -> Trick:
    """Pairs sorted by exchanging neighbours, and by insertion."""
    n = min(n, 100_000)
    pairs = _found_pairs(n)
    at, seconds, out = np.empty(n + 1, np.int64), np.empty(len(pairs), np.int32), np.empty_like(pairs)
    scratch = Scratch()

    def by_insertion() -> np.ndarray:
        _order_by_insertion(pairs, at, seconds, out)
        return out

    return Trick(
        "sorting pairs by exchanging neighbours, not by insertion",
        lambda: sorted_pairs([pairs], n, scratch),
        by_insertion,
    )


def ordering_by_keys(n: int) -> Trick:
    """Pairs sorted by counting sorts, and by NumPy's sort of 64-bit keys."""
    n = min(n, 100_000)
    pairs = _found_pairs(n)
    scratch = Scratch()

    def by_keys() -> np.ndarray:
        keys = pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1]
        keys.sort()
        return np.column_stack((keys >> 32, keys & 0xFFFFFFFF)).astype(np.int32)

    return Trick(
        "sorting pairs by counting, not by comparing",
        lambda: sorted_pairs([pairs], n, scratch),
        by_keys,
    )


def recycling(n: int) -> Trick:
    """Results and scratch in memory that was used before, and in fresh pages."""
    boxes = uniform(n, 2)

    def fresh() -> int:
        memory._idle_scratch.clear()
        memory._shelf.clear()
        return len(bp.pairs(boxes, sort=False))

    return Trick("recycled memory", lambda: len(bp.pairs(boxes, sort=False)), fresh)


def two_threads(n: int) -> Trick:
    """All cores, and one."""
    boxes = uniform(n, 2)
    return Trick(
        "all cores",
        lambda: len(bp.pairs(boxes, sort=False)),
        lambda: len(bp.pairs(boxes, sort=False, threads=1)),
    )


def watching(n: int) -> Trick:
    """Two short calls on threads that spin, and on threads that sleep; timed last."""
    rows, turns = np.ones((2, n), np.float32), own_threads._turns

    def both(turns: Callable[[float], int]) -> object:
        own_threads._turns = turns
        return own_threads.run_all([partial(np.sqrt, row) for row in rows])

    return Trick("watching before sleeping", lambda: both(turns), lambda: both(lambda _: 0))


def between_frames(n: int) -> Trick:
    """A frame in which all boxes move, with last frame's strips, and from scratch."""
    rng = np.random.default_rng(7)
    frames = [uniform(n, 2)]
    for _ in range(3):
        step = rng.normal(0, 0.1 * n**-0.5, (n, 2)).astype(np.float32)
        frames.append(frames[-1] + np.hstack([step, step]))
    for frame in frames:  # rounding must not turn a box inside out
        np.maximum(frame[:, 2:], frame[:, :2], out=frame[:, 2:])
    index = bp.Strips(dtype=np.float32, sort=False)
    index.insert_many(frames[0])
    turns = {"with": 0, "without": 0}

    def next_frame(side: str) -> Boxes:
        turns[side] += 1
        return frames[turns[side] % len(frames)]

    def with_it() -> int:
        index.update(next_frame("with"))
        return len(index.pairs())

    return Trick(
        "last frame's strips (update and pairs)",
        with_it,
        lambda: len(bp.pairs(next_frame("without"), sort=False)),
    )


TRICKS = {
    trick.__name__: trick
    for trick in (
        *(lanes, cutting, in_one_call, counting, ordering, ordering_by_keys),
        *(one_line, asking_ahead, leaving_out, recycling, two_threads, between_frames, watching),
    )
}
_SIMD = "import sys; sys.path[:0] = {path!r}; import tricks; tricks.time_simd({n})"


def time_simd(n: int) -> None:
    """Print the level's name and the time of all pairs on one thread: run for each processor."""
    from broadphase.kernels.machine.mode import level

    boxes = uniform(n, 2)
    best = best_of({"": lambda: bp.pairs(boxes, sort=False, threads=1)})
    print(level(), best[""])


def processors(n: int) -> None:
    """All pairs as compiled for this processor, and for one with AVX2 only."""
    program = _SIMD.format(path=sys.path[:1], n=n)
    for title, more in (
        ("this processor", {}),
        ("AVX2", {"BROADPHASE_LEVEL": "x86-64-v3"}),
    ):
        answer = subprocess.run(
            [sys.executable, "-c", program], env=os.environ | more, capture_output=True, text=True, check=True
        )
        register, seconds = answer.stdout.rsplit(" ", 1)
        print(f"{title} ({register})".ljust(60), f"{1e3 * float(seconds):>10.3f} ms")


def main() -> None:
    """Print a line for each trick."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("names", nargs="*", choices=[*TRICKS, "processors", []])
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each side")
    options = parser.parse_args()
    print(f"{options.n:,} boxes or as said".ljust(60), "   with it      without    gain")
    for name in options.names or TRICKS:
        if name == "processors":
            continue
        trick = TRICKS[name](options.n)
        if not np.array_equal(trick.with_it(), trick.without()) and name != "between_frames":
            raise SystemExit(f"{name}: the two sides disagree")
        best = best_of({"with": trick.with_it, "without": trick.without}, options.seconds)
        print(
            f"{name}: {trick.title}".ljust(60),
            f"{1e3 * best['with']:>10.3f} {1e3 * best['without']:>10.3f} ms",
            f"{best['without'] / best['with']:>6.2f} x",
        )
    if not options.names or "processors" in options.names:
        processors(options.n)


if __name__ == "__main__":
    main()
