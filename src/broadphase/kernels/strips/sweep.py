"""The diagonal sweep: 16 boxes of a strip against 16 boxes at a time.

`LANES` consecutive boxes are compared with the `LANES` boxes one further on, then two further on, and so
on until no lane reaches its partner: every lane works even where each box reaches only three others.
Where only a few lanes still go on (a long box among short ones), each of those boxes is compared with
`LANES` others at a time instead.

Two boxes are apart where one of the differences ``max - min`` is negative.  The sign of an IEEE
difference is exact, so the sign bits are joined with ``|`` and looked at once: on AVX-512 half the cost
of four comparisons.

Source: the box pruning of Terdiman and Giesen, turned by 45 degrees.
"""

import numpy as np

from broadphase.kernels.arrays.emit import LEAST_ROOM
from broadphase.kernels.machine.jit import common, inline, jit
from broadphase.kernels.machine.simd import (
    COMPRESSES,
    LANES,
    bits,
    count_lanes,
    load,
    lowest_lane,
    mask_of,
    negative,
    nonzero,
    put_pairs,
    signs,
    splat,
    without,
)
from broadphase.kernels.strips.sort import (
    BUCKET,
    CLASS,
    ID,
    REACH,
    WORK_OF_A_COPY,
    copies_of,
    sort_strip,
    take_sorted_strip,
)

STEPS = LEAST_ROOM // LANES - 1  # comparisons between two looks at the room left and at how many lanes go on
OFTEN = 72  # comparisons for a pair
FEW_LANES = 4  # so few go on one by one
TOGETHER = np.int64(-1)  # instead of the lanes that go on one by one: they have not been parted yet
DIAGONAL, ROW = np.int64(1), np.int64(0)  # not literals: Numba compiles what takes one once more for it


@jit
def sweep_strips(
    axes, edges, tags, begins, ends, form, crowded, again, categories, masks, columns, marks,
    at, end, out, most, store,
):  # fmt: skip
    """All pairs of the strips before ``end``, from ``at`` on; returns ``at, found, tests``.

    How it stops and goes on: `broadphase.kernels.arrays.emit`.  ``at``: the strip, how many of its copies are
    sorted, the group of boxes ``i``, which `_diagonals` compares with those from ``j``, and then the lanes of
    it that go on one by one, the first of them at ``partner``.  While none is sorted, ``i`` and ``j`` are how
    far `take_sorted_strip` is.

    Strips that turn out to be crowded are noted in ``crowded`` and left out; ``again`` asks for them alone,
    after they were sorted.  ``columns`` and ``marks`` (`broadphase.kernels.strips.sort`) hold the strip that
    is being swept, also between two calls.
    """
    strip, n, i, j, lanes, partner = at
    counted = found = tests = np.int64(0)
    while strip < end:
        if n == 0:
            if not again:
                n = sort_strip(axes, edges, tags, begins, ends, strip, form, columns, marks, crowded)
                most -= WORK_OF_A_COPY * n
            elif crowded[strip]:
                before = i + j
                i, j = take_sorted_strip(
                    *(axes, edges, tags, begins, ends, strip, form, columns, marks, i, j, most)
                )
                most -= WORK_OF_A_COPY * (i + j - before)
                n = copies_of(begins, ends, strip)
                if j < n:
                    if most > 0:
                        n = np.int64(0)
                        continue
                    return (strip, np.int64(0), i, j, lanes, partner), counted + found, tests
            i, j, lanes, partner = np.int64(0), np.int64(1), TOGETHER, np.int64(0)
        if n < 2:
            i = n
        (i, j, lanes, partner), counted, found, tests = sweep_sorted(
            axes, n, columns, marks, categories, masks,
            i, j, lanes, partner, out, counted, found, tests, most, store,
        )  # fmt: skip
        if i < n:
            return (strip, n, i, j, lanes, partner), counted + found, tests
        strip += 1
        n = i = j = np.int64(0)
    return (strip, n, i, j, lanes, partner), counted + found, tests


@common
def sweep_sorted(
    axes, n, columns, marks, categories, masks,
    i, j, lanes, partner, out, counted, found, tests, most, store,
):  # fmt: skip
    """All pairs of the ``n`` copies in ``columns``, from the place on that the next four say.

    Returns that place, how many pairs were found and left no trace, how many ``out`` holds, and the tests.
    """
    while i < n:
        while lanes == TOGETHER:
            if found + LEAST_ROOM > out.shape[0] and not store:
                counted += found
                found = np.int64(0)
            if found + LEAST_ROOM > out.shape[0] or tests > most:
                return (i, j, lanes, partner), counted, found, tests
            found, tests, j, going = _diagonals(
                axes, columns, marks, i, j, categories, masks, out, found, tests
            )
            if count_lanes(going) <= FEW_LANES:
                lanes = going
                partner = j + (lowest_lane(lanes) if lanes != 0 else 0)
        while lanes != 0:
            lane = lowest_lane(lanes)
            if marks[BUCKET, partner] > marks[REACH, i + lane]:
                lanes &= lanes - 1
                partner = j + (lowest_lane(lanes) if lanes != 0 else 0)
                continue
            if found + LEAST_ROOM > out.shape[0] and not store:
                counted += found
                found = np.int64(0)
            if found + LEAST_ROOM > out.shape[0] or tests > most:
                return (i, j, lanes, partner), counted, found, tests
            found, tests, partner = _row(
                axes, columns, marks, i + lane, partner, categories, masks, out, found, tests
            )
        i += LANES
        j = i + 1
        lanes = TOGETHER
    return (i, j, lanes, partner), counted, found, tests


@inline
def _diagonals(axes, columns, marks, i, j, categories, masks, out, found, tests):
    """Boxes ``i + lane`` against ``j + lane``, then ``j + 1 + lane``, ... at most `STEPS` times.

    Returns how many pairs ``out`` holds now, the tests so far, the next ``j``, and which lanes reach it.
    """
    reach, ids, classes = load(marks, REACH, i), load(marks, ID, i), load(marks, CLASS, i)
    x0, x1 = load(columns, 0, i), load(columns, 1, i)
    y0, y1 = load(columns, 2, i), load(columns, 3, i)
    z0, z1 = load(columns, 2 * len(axes) - 2, i), load(columns, 2 * len(axes) - 1, i)
    # Where a step in five or more finds something, nobody can guess which.  Then it is cheaper to write what
    # it found, and be it nothing, than to ask: a search takes 3 to 25 % less time, among clusters up to 40.
    often = COMPRESSES and found * OFTEN > tests
    for j in range(j, j + STEPS):  # noqa: B020 - the caller goes on where this stops
        active = load(marks, BUCKET, j) <= reach
        lanes = bits(active)
        if lanes == 0:
            return found, tests, j, lanes
        tests += count_lanes(lanes)
        apart = signs(x1 - load(columns, 0, j)) | signs(load(columns, 1, j) - x0)
        apart = apart | signs(y1 - load(columns, 2, j)) | signs(load(columns, 3, j) - y0)
        if len(axes) == 3:
            apart = apart | signs(z1 - load(columns, 4, j)) | signs(load(columns, 5, j) - z0)
        forbidden = nonzero(classes & load(marks, CLASS, j))
        hits = without(without(active, negative(apart)), forbidden)
        if often or bits(hits) != 0:
            if categories.shape[0] > 0:
                hits = _let_through(bits(hits), marks, i, j, DIAGONAL, categories, masks)
            found += put_pairs(out, found, ids, load(marks, ID, j), hits)
    return found, tests, j + 1, bits(load(marks, BUCKET, j + 1) <= reach)


@inline
def _row(axes, columns, marks, i, j, categories, masks, out, found, tests):
    """Box ``i`` against the `LANES` boxes from ``j``, then the next ones, at most `STEPS` times.

    Returns how many pairs ``out`` holds now, the tests so far, and the next ``j``.
    """
    last = marks[REACH, i]
    reach, ids, classes = splat(last), splat(marks[ID, i]), splat(marks[CLASS, i])
    x0, x1 = splat(columns[0, i]), splat(columns[1, i])
    y0, y1 = splat(columns[2, i]), splat(columns[3, i])
    z0, z1 = splat(columns[2 * len(axes) - 2, i]), splat(columns[2 * len(axes) - 1, i])
    for _ in range(STEPS):
        if marks[BUCKET, j] > last:
            break
        apart = signs(x1 - load(columns, 0, j)) | signs(load(columns, 1, j) - x0)
        apart = apart | signs(y1 - load(columns, 2, j)) | signs(load(columns, 3, j) - y0)
        if len(axes) == 3:
            apart = apart | signs(z1 - load(columns, 4, j)) | signs(load(columns, 5, j) - z0)
        forbidden = nonzero(classes & load(marks, CLASS, j))
        active = load(marks, BUCKET, j) <= reach
        tests += count_lanes(bits(active))
        hits = without(without(active, negative(apart)), forbidden)
        if bits(hits) != 0:
            if categories.shape[0] > 0:
                hits = _let_through(bits(hits), marks, i, j, ROW, categories, masks)
            found += put_pairs(out, found, ids, load(marks, ID, j), hits)
        j += LANES
    return found, tests, j


@inline
def _let_through(lanes, marks, i, j, step, categories, masks):
    """The lanes whose two boxes want each other; lane k holds boxes ``i + k * step`` and ``j + k``."""
    kept = np.int64(0)
    while lanes != 0:
        lane = lowest_lane(lanes)
        a, b = marks[ID, i + lane * step], marks[ID, j + lane]
        if categories[a] & masks[b] != 0 and categories[b] & masks[a] != 0:
            kept |= lanes & -lanes
        lanes &= lanes - 1
    return mask_of(kept)
