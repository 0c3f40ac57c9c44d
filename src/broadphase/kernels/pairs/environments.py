"""Many small environments: boxes grouped by environment, and the search of each chosen in one pass.

A small world is one strip of `broadphase.kernels.strips.sweep`: sorted along an axis and swept in the L1 or
L2 cache, in the same kernel call as all others.  That is the fastest method for a few thousand boxes that are
not crowded; crowded worlds, or worlds with edges that need care, are searched one by one.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit, unsigned
from broadphase.kernels.machine.simd import LANES, bits, load, splat

# For a world that is swept, the result is its axis; otherwise one of these.
BY_ITSELF, NOTHING = np.int64(-1), np.int64(-2)
SAMPLE = 16
# Worlds of up to this many boxes are always swept: comparing all pairs would be as fast.
FEW = 256
# From this many comparisons for each box on, dividing the world into strips costs less.
MOST_TESTS = 150.0


@jit
def survey_envs(envs, begin, end):
    """The lowest and the highest of rows ``begin .. end - 1``, and whether they are out of order."""
    low = high = envs[begin]
    falls = 0
    for i in range(begin, end):
        low, high = min(low, envs[i]), max(high, envs[i])
    for i in range(max(begin, 1), end):
        falls |= np.int64(envs[i] < envs[i - 1])
    return low, high, falls


@jit
def count_worlds(envs, low, begin, end, part, numbers, counts):
    """Number the worlds from ``low`` on, and add to ``counts[part, number]`` how many boxes each has.

    The numbers are kept, so that a later write to ``envs`` by another thread does no harm.
    """
    last = np.int64(counts.shape[1] - 1)
    for i in range(begin, end):
        number = max(np.int64(0), min(last, envs[i] - low))
        numbers[i] = number
        counts[part, number] += 1


@jit
def place_boxes(boxes, classes, shift, numbers, begin, end, part, places, placed, tags):
    """Write the boxes of a share grouped by world, with their rows and class bits.

    ``places[part, number]`` is the position of the next box of a world, and advances.  The bits are shifted.
    """
    three = boxes.shape[1] == 6
    for i in range(begin, end):
        number = unsigned(numbers[i])
        at = unsigned(places[part, number])
        places[part, number] += 1
        # Written out, because the compiler does not know the number of columns.
        placed[at, 0], placed[at, 1] = boxes[i, 0], boxes[i, 1]
        placed[at, 2], placed[at, 3] = boxes[i, 2], boxes[i, 3]
        if three:
            placed[at, 4], placed[at, 5] = boxes[i, 4], boxes[i, 5]
        tags[at, 0] = i
        tags[at, 1] = np.int32(classes[i]) << shift if classes.shape[0] > 0 else 0


@jit
def plan_worlds(boxes, flat, starts, plan):
    """Write into ``plan`` the axis on which to sweep each world, `BY_ITSELF`, or `NOTHING` without pairs.

    World ``w`` is rows ``starts[w] .. starts[w + 1] - 1``; ``flat`` is ``boxes`` as one row.
    """
    dim = boxes.shape[1] // 2
    for w in range(starts.shape[0] - 1):
        begin, end = starts[w], starts[w + 1]
        if end - begin < 2:
            plan[w] = NOTHING
            continue
        best, least = BY_ITSELF, 1.0
        if _all_ordinary(flat, 2 * dim * begin, 2 * dim * end):
            for axis in range(dim):
                reached = _share_reached(boxes, begin, end, axis)
                if best == BY_ITSELF or reached < least:
                    best, least = np.int64(axis), reached
            n = end - begin
            if n > FEW and n * least > MOST_TESTS:
                best = BY_ITSELF
        plan[w] = best


@inline
def _all_ordinary(flat, begin, end):
    """Whether the numbers ``begin .. end - 1`` are finite and below the largest, `LANES` at a time."""
    largest = np.finfo(flat.dtype).max
    beyond = np.int64(0)
    k = begin
    if end - begin >= LANES:
        high, low = splat(largest), splat(-largest)
        lanes = high < low
        while k + LANES <= end:
            numbers = load(flat, 0, k)
            lanes = lanes | (high <= numbers) | (numbers <= low)
            k += LANES
        beyond = bits(lanes)
    for rest in range(k, end):
        beyond |= np.int64(abs(flat[0, rest]) >= largest)
    return beyond == 0


@inline
def _share_reached(boxes, begin, end, axis):
    """The share of a world that a box is compared with when sorted on this axis, from a sample."""
    dim = boxes.shape[1] // 2
    n = end - begin
    size = min(n, SAMPLE)
    low, high, total, overlaps = np.inf, -np.inf, 0.0, -size
    for k in range(size):
        a = begin + _sampled(k, n, size)
        first, last = boxes[a, axis], boxes[a, dim + axis]
        low, high = min(low, np.float64(first)), max(high, np.float64(first))
        total += np.float64(last) - np.float64(first)
        for m in range(size):
            b = begin + _sampled(m, n, size)
            overlaps += np.int64((boxes[b, axis] <= last) & (first <= boxes[b, dim + axis]))
    pairs = np.float64(size * (size - 1))
    evenly = 1.0
    if high > low:
        evenly = min(2.0 * total / (size * (high - low)), 1.0)
    return 0.5 * max(np.float64(overlaps), min(0.5, evenly * pairs)) / pairs


@inline
def _sampled(k, n, size):
    """Row ``k`` of a sample: always the same rows, scattered so that no pattern shows."""
    if n == size:
        return np.int64(k)
    return np.int64((np.uint64(k + 1) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) % np.uint64(n))
