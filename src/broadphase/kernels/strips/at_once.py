"""A small world in one call: planned, its strips laid end to end, and swept as far as there is room.

Each call from Python costs half a microsecond, and what Python does between two of them several: to search
3,000 boxes takes 36 us so, and call by call 87; a third of what it saves is how the copies are put in order
(`broadphase.kernels.strips.end_to_end`).  What does not suit (crowds, worlds that need borders from the data)
takes the general path, call by call, and where there is no room for more pairs the same sweep goes on
(`broadphase.methods.strips`).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.pairs.order import put_in_order
from broadphase.kernels.strips.bin import LAST
from broadphase.kernels.strips.end_to_end import (
    add_copies,
    buckets_of,
    count_keys,
    find_keys,
    place_buckets,
    put_in_place,
)
from broadphase.kernels.strips.plan import are_crowded, plan_equal_widths
from broadphase.kernels.strips.sort import CROWDED, WORK_OF_A_COPY
from broadphase.kernels.strips.sweep import TOGETHER, sweep_sorted

# What became of it: nothing, for it must go the long way; something, with more to be done; all; or all, and
# the pairs lie in order in ``room.ordered``.
NOTHING, BEGUN, DONE, ORDERED = np.int64(0), np.int64(1), np.int64(2), np.int64(3)


class Room(NamedTuple):
    """Memory for one search, for so many boxes, copies and keys as the arrays are long."""

    edges: npt.NDArray[np.float64]
    """This and the next five are what `broadphase.kernels.strips.plan.equal_widths` takes."""
    spanned: npt.NDArray[np.float64]
    statistics: npt.NDArray[np.float64]
    cuts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    lattice: npt.NDArray[np.floating[Any]]
    extents: npt.NDArray[np.floating[Any]]
    """This and the next six are what the functions of `broadphase.kernels.strips.end_to_end` take."""
    places: npt.NDArray[np.floating[Any]]
    numbers: npt.NDArray[np.int32]
    copies: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    columns: npt.NDArray[np.floating[Any]]
    marks: npt.NDArray[np.int32]
    found: npt.NDArray[np.int64]
    """One number; this and the next three are to put pairs in order."""
    order: npt.NDArray[np.int32]
    """One number more than boxes."""
    keys: npt.NDArray[np.int64]
    ordered: npt.NDArray[np.int32]


@jit
def search_plane(boxes, flat, touching, rules, planned, axes, most_crowding, room, out, most, store, sort):
    """All pairs of a small 2-D world, as far as there is room.

    With ``planned``, ``axes`` and ``room.lattice`` say how to cut it, and a copy may share its strip with no
    more than ``most_crowding`` others on average.  Returns what became of it (`NOTHING` to `ORDERED`), how
    many strips there are, and the swept axis; then what `sweep_strips` does, as of one strip that holds all.
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
    n, row, strips = boxes.shape[0], np.int64(room.lattice[0, LAST]) + 1, np.int64(1)
    for cut in range(len(axes) - 1):
        strips *= np.int64(room.lattice[cut, LAST]) + 1
    copies = _lay_end_to_end(
        boxes, flat, axes, touching, rules.classes, planned, most_crowding, strips, row, room
    )
    if copies < 0:
        at = (np.int64(0), np.int64(0), np.int64(0), np.int64(0), TOGETHER, np.int64(0))
        return NOTHING, strips, axes[0], at, np.int64(0), np.int64(0)
    (i, j, lanes, partner), counted, found, tests = sweep_sorted(
        axes, copies, room.columns, room.marks, rules.categories, rules.masks,
        np.int64(0), np.int64(1), TOGETHER, np.int64(0),
        out, np.int64(0), np.int64(0), np.int64(0), most - WORK_OF_A_COPY * copies, store,
    )  # fmt: skip
    state = BEGUN
    if i >= copies:
        state = _put_in_order(n, room, out, found) if store and sort else DONE
    return state, strips, axes[0], (np.int64(0), copies, i, j, lanes, partner), counted + found, tests


@inline
def _lay_end_to_end(boxes, flat, axes, touching, classes, planned, most_crowding, strips, row, room):
    """Have all copies ready to be swept; how many, or -1 where that is not to be done here."""
    n = boxes.shape[0]
    buckets = buckets_of(n, strips)
    if strips * buckets + 2 > room.ends.shape[0]:
        return np.int64(-1)
    place_buckets(flat, axes, room.lattice, buckets, room.extents, room.places)
    extreme = find_keys(
        boxes, flat, axes, touching, room.places, buckets, strips * buckets, room.numbers, room.copies
    )
    made = add_copies(axes, row, buckets, n, room.copies)
    if extreme or made < 0:
        return np.int64(-1)
    copies, crowding, crush = count_keys(strips, buckets, made, room.copies, room.ends)
    too_crowded = crowding > most_crowding * copies if planned else are_crowded(crowding, copies, strips)
    if too_crowded or crush > CROWDED * copies:
        return np.int64(-1)
    put_in_place(
        flat, axes, touching, classes, room.places, buckets, made, copies,
        room.copies, room.ends, room.columns, room.marks,
    )  # fmt: skip
    return copies


@inline
def _put_in_order(n, room, out, found):
    """Put all pairs in order, if there is room."""
    if found > room.keys.shape[0]:
        return DONE
    room.found[0] = found
    put_in_order(out, room.found, 32, 0, 1, room.order[: n + 1], room.order[:0], room.keys, room.ordered)
    return ORDERED
