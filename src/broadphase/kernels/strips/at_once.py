"""A small world in one call: planned, copied into strips, and swept as far as there is room.

Each call from Python costs half a microsecond, and what Python does between two of them several: to search
3,000 boxes takes 54 us so, and call by call 88.  What is left over (no room for pairs, crowded strips, worlds
that need borders from the data) goes the long way, call by call (`broadphase.methods.strips`).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.counting import starts_in_rows
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.pairs.order import put_in_order
from broadphase.kernels.strips.bin import LAST, all_ordinary, make_copies, step_at_copies
from broadphase.kernels.strips.plan import are_crowded, plan_equal_widths
from broadphase.kernels.strips.sort import COMPARABLE, RAW_APART, RAW_TOUCHING
from broadphase.kernels.strips.sweep import TOGETHER, sweep_from

# What became of it: nothing, for it must go the long way; something, with more to be done; all; or all, and
# the pairs lie in order in ``room.ordered``.
NOTHING, BEGUN, DONE, ORDERED = np.int64(0), np.int64(1), np.int64(2), np.int64(3)


class Room(NamedTuple):
    """Memory for one search, for so many boxes, copies and strips as the arrays are long."""

    edges: npt.NDArray[np.float64]
    """This and the next five are what `broadphase.kernels.strips.plan.equal_widths` takes."""
    spanned: npt.NDArray[np.float64]
    statistics: npt.NDArray[np.float64]
    cuts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    lattice: npt.NDArray[np.floating[Any]]
    borders: npt.NDArray[np.floating[Any]]
    """None: strips are of equal width here."""
    numbers: npt.NDArray[np.int32]
    spans: npt.NDArray[np.uint16]
    steps: npt.NDArray[np.int32]
    """``(1, corners)``."""
    begins: npt.NDArray[np.int64]
    """``(1, strips)``, as the next."""
    ends: npt.NDArray[np.int64]
    later: npt.NDArray[np.int32]
    copies: npt.NDArray[np.floating[Any]]
    tags: npt.NDArray[np.int32]
    """The memory of the copies as integers."""
    own_tags: npt.NDArray[np.int32]
    """The tags of boxes that are swept as they lie: their numbers."""
    crowded: npt.NDArray[np.bool_]
    columns: npt.NDArray[np.floating[Any]]
    marks: npt.NDArray[np.int32]
    order: npt.NDArray[np.int32]
    """One number more than boxes; this and the next two are to put pairs in order."""
    keys: npt.NDArray[np.int64]
    ordered: npt.NDArray[np.int32]


@jit
def search_plane(boxes, flat, touching, rules, planned, axes, most_crowding, room, out, most, store, sort):
    """All pairs of a small 2-D world, as far as there is room.

    With ``planned``, ``axes`` and ``room.lattice`` say how to cut it, and a copy may share its strip with no
    more than ``most_crowding`` others on average.  Returns what became of it (`NOTHING` to `ORDERED`), how
    many strips there are, in which form the edges are swept, and the swept axis; then what `sweep_strips`
    does.
    """
    if not planned:
        axes = (_plan(boxes, flat, room), room.cuts[0])
    return _search(boxes, flat, touching, rules, planned, axes, most_crowding, room, out, most, store, sort)


@jit
def search_space(boxes, flat, touching, rules, planned, axes, most_crowding, room, out, most, store, sort):
    """As `search_plane`, of a 3-D world."""
    if not planned:
        axes = (_plan(boxes, flat, room), room.cuts[0], room.cuts[1])
    return _search(boxes, flat, touching, rules, planned, axes, most_crowding, room, out, most, store, sort)


@inline
def _plan(boxes, flat, room):
    """Say in ``room`` how to cut the world; the swept axis."""
    swept, _ = plan_equal_widths(
        boxes, flat, room.edges, room.spanned, room.statistics, room.cuts, room.counts, room.lattice
    )
    return swept


@inline
def _search(boxes, flat, touching, rules, planned, axes, most_crowding, room, out, most, store, sort):
    at = (np.int64(0), np.int64(0), np.int64(0), np.int64(0), TOGETHER, np.int64(0))
    row = np.int64(room.lattice[0, LAST]) + 2
    rows = np.int64(room.lattice[len(axes) - 2, LAST]) + 1 if len(axes) == 3 else np.int64(1)
    strips = (row - 1) * rows
    if strips == 1 and rules.classes.shape[0] == 0 and all_ordinary(flat, np.int64(0), flat.shape[1]):
        form = RAW_TOUCHING if touching else RAW_APART
        if planned and boxes.shape[0] > most_crowding:
            return NOTHING, strips, form, axes[0], at, np.int64(0), np.int64(0)
        room.begins[0, 0], room.ends[0, 0], room.crowded[0] = 0, boxes.shape[0], False
        at, found, tests = sweep_from(
            axes, boxes, room.own_tags, room.begins, room.ends, form, room.crowded, False,
            rules.categories, rules.masks, room.columns, room.marks, at, strips, out, most, store,
        )  # fmt: skip
        if room.crowded[0]:
            return NOTHING, strips, form, axes[0], at, found, tests
    else:
        form = COMPARABLE
        if not _copy_into_strips(
            boxes, flat, touching, rules.classes, planned, axes, most_crowding, row, rows, room
        ):
            return NOTHING, strips, form, axes[0], at, np.int64(0), np.int64(0)
        at, found, tests = sweep_from(
            axes, room.copies, room.tags, room.begins, room.ends, form, room.crowded, False,
            rules.categories, rules.masks, room.columns, room.marks, at, strips, out, most, store,
        )  # fmt: skip
    state = _put_in_order(at, strips, boxes.shape[0], room, out, found, store and sort)
    return state, strips, form, axes[0], at, found, tests


@inline
def _copy_into_strips(boxes, flat, touching, classes, planned, axes, most_crowding, row, rows, room):
    """Copy all boxes into ``rows`` of ``row - 1`` strips; False where that is not to be done here."""
    n, strips = boxes.shape[0], (row - 1) * rows
    corners = row * (rows + 1 if len(axes) == 3 else rows)
    if strips > room.crowded.shape[0] or corners > room.steps.shape[1]:
        return False
    for corner in range(corners):
        room.steps[0, corner] = 0
    extreme = step_at_copies(
        boxes, flat, axes, touching, room.lattice, room.borders, np.int64(0), n,
        room.numbers, room.spans, room.steps[0],
    )  # fmt: skip
    copies, _, crowding = starts_in_rows(room.steps, row, rows, room.ends, room.begins[0])
    too_crowded = crowding > most_crowding * copies if planned else are_crowded(crowding, copies, strips)
    if extreme or too_crowded or copies > room.copies.shape[0]:
        return False
    for strip in range(strips):
        room.begins[0, strip] = room.ends[0, strip]
        room.crowded[strip] = False
    make_copies(
        boxes, axes, row - 1, touching, classes, np.int64(0), n,
        room.later, room.spans, room.ends[0], room.copies, room.tags,
    )  # fmt: skip
    return True


@inline
def _put_in_order(at, strips, n, room, out, found, wanted):
    """What became of it, after all pairs were put in order where that is wanted and there is room."""
    if at[0] < strips:
        return BEGUN
    for strip in range(strips):
        if room.crowded[strip]:
            return BEGUN
    if not wanted or found > room.keys.shape[0]:
        return DONE
    end = room.begins[0]
    end[0] = found
    put_in_order(out, end, 32, 0, 1, room.order[: n + 1], room.order[:0], room.keys, room.ordered)
    return ORDERED
