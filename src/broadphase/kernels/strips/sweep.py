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

from broadphase.kernels.arrays.emit import grow_for_lanes
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import (
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
    MARKS,
    REACH,
    room_for,
    sort_strip,
    take_sorted_strip,
)

STEPS = 16  # comparisons between two looks at the room left and at how many lanes go on
ROOM = (STEPS + 1) * LANES  # pairs that so many comparisons can give
FEW_LANES = 4  # so few go on one by one
DIAGONAL, ROW = np.int64(1), np.int64(0)  # not literals: Numba compiles what takes one once more for it


@jit
def sweep_strips(
    axes, edges, tags, begins, ends, form, first, last, fullest, crowded, again,
    categories, masks, out, limit, store,
):  # fmt: skip
    """All pairs of the strips ``first .. last - 1``; returns ``out, found, tests``.

    Strips that turn out to be crowded are noted in ``crowded`` and left out; ``again`` asks for them alone,
    after they were sorted.  ``out`` grows as it must; without ``store`` it is overwritten as scratch and
    only the counts are right.
    """
    columns = np.empty((2 * len(axes), room_for(fullest)), edges.dtype)
    marks = np.empty((MARKS, room_for(fullest)), np.int32)
    # Numbers of a known type: from a literal, Numba compiles what it is passed to twice.
    counted = found = tests = np.int64(0)
    for strip in range(first, last):
        n = np.int64(0)
        if not again:
            n = sort_strip(axes, edges, tags, begins, ends, strip, form, columns, marks, crowded)
        elif crowded[strip]:
            n = take_sorted_strip(axes, edges, tags, begins, ends, strip, form, columns, marks)
        if n > 1:
            for i in range(0, n, LANES):
                # Nothing but numbers comes back from the comparisons: handing `out` to and fro costs
                # an atomic reference count each time, a fifth of the sweep.
                j = i + 1
                lanes = np.int64(1)
                while lanes != 0:
                    if found + ROOM > out.shape[0]:
                        if found > limit:
                            return out, found, tests
                        out = grow_for_lanes(out, found, ROOM)
                    found, tests, j, lanes = _diagonals(
                        axes, columns, marks, i, j, categories, masks, out, found, tests
                    )
                    if count_lanes(lanes) <= FEW_LANES:
                        break
                while lanes != 0:
                    lane = lowest_lane(lanes)
                    lanes &= lanes - 1
                    partner = j + lane
                    while marks[BUCKET, partner] <= marks[REACH, i + lane]:
                        if found + ROOM > out.shape[0]:
                            if found > limit:
                                return out, found, tests
                            out = grow_for_lanes(out, found, ROOM)
                        found, tests, partner = _row(
                            axes, columns, marks, i + lane, partner, categories, masks, out, found, tests
                        )
                if not store:
                    counted += found
                    found = 0
                if found > limit:  # here and not after the strip: one strip may hold every box
                    return out, found, tests
    return out, found + counted, tests


@inline
def _diagonals(axes, columns, marks, i, j, categories, masks, out, found, tests):
    """Boxes ``i + lane`` against ``j + lane``, then ``j + 1 + lane``, ... at most `STEPS` times.

    Returns how many pairs ``out`` holds now, the tests so far, the next ``j``, and which lanes reach it.
    """
    reach, ids, classes = load(marks, REACH, i), load(marks, ID, i), load(marks, CLASS, i)
    x0, x1 = load(columns, 0, i), load(columns, 1, i)
    y0, y1 = load(columns, 2, i), load(columns, 3, i)
    z0, z1 = load(columns, 2 * len(axes) - 2, i), load(columns, 2 * len(axes) - 1, i)
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
        if bits(hits) != 0:
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
