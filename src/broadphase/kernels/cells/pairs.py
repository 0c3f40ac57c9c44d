"""The pairs of boxes in cells: those that share a place, and those with a large box.

Two boxes may share several cells, and their pair is to be reported once.  There are three ways:

- *A set* of the pairs that were reported: the simplest, and the slowest, because each find is looked up.
- *Marked copies*: each entry says whether its box began in an earlier column or row; two entries that both
  did so are skipped.  It saves the comparison too (Tsitsigkos and Mamoulis, 2019; see
  `broadphase.methods.strips`), but in a hash table the entries of several cells share a slot.
- *The owner cell*: only the cell with the lower corner of their intersection reports two boxes (Dittrich and
  Seeger, 2000).  It needs no memory, and it also serves queries.  It is what is done here.

Where lists are long, the boxes come in the order of their lower edges on one axis (``axis >= 0``), and the
walk along a list ends at the first that begins beyond the box: a crowded cell costs what sort and sweep does.
"""

import numpy as np

from broadphase.kernels.arrays.results import larger, put
from broadphase.kernels.boxes.overlap import may_pair, overlap
from broadphase.kernels.cells.bins import BOX, NEXT, PLACE, cell_of, place_of
from broadphase.kernels.machine.interrupts import OFTEN, goes_on
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.memory import many

# How many boxes are compared between two checks of the output's capacity.
TOGETHER = 64
# The cost of finding where a walk begins, in comparisons.
_WORK_OF_A_SEARCH = 64
# A comparison reads memory at random: up to 0.3 us among millions of boxes.
_OFTEN = OFTEN // 100


@jit
def pairs_in_cells(boxes, touching, filter, bins, begin, end, out, limit, store):  # noqa: A002
    """Pairs of boxes that share a place, for the entries ``begin .. end - 1``.

    Returns the pairs, how many, and the tests.  Each entry is compared with those behind it in its list.
    """
    lattice, entries, axis = bins.lattice, bins.entries, bins.axis
    candidates = many(TOGETHER, np.int32)
    found = tests = checked = np.int64(0)
    for entry in range(begin, end):
        i = entries[entry, BOX]
        other = np.int64(entries[entry, NEXT])
        # Each group of comparisons looks at the limit: in one place there may be thousands of boxes.
        while other != 0 and found <= limit:
            if store and found + TOGETHER > out.shape[0]:
                out = larger(out, found)
            # First compared, then reported: no branch predictor can guess which of them overlap.
            count = np.int64(0)
            for _ in range(TOGETHER):
                j = entries[other, BOX]
                if axis >= 0 and _begins_beyond(boxes, i, j, axis, touching):
                    other = np.int64(0)
                    break
                tests += 1
                candidates[count] = j
                count += overlap(boxes, i, boxes, j, touching)
                other = np.int64(entries[other, NEXT])
                if other == 0:
                    break
            for k in range(count):
                j = candidates[k]
                if _owner(boxes, i, j, lattice) == entries[entry, PLACE] and may_pair(filter, i, j):
                    if store:
                        put(out, found, i, j)
                    found += 1
        if found > limit:
            break
        if tests + entry - begin > checked + _OFTEN:
            checked = tests + entry - begin
            if not goes_on():
                break
    return out, found, tests


@inline
def _owner(boxes, i, j, lattice):
    """The place of the lower corner of the intersection of two boxes."""
    x = cell_of(max(boxes[i, 0], boxes[j, 0]), lattice, 0)
    y = cell_of(max(boxes[i, 1], boxes[j, 1]), lattice, 1)
    if boxes.shape[1] == 4:
        return place_of(x, y, 0, lattice)
    return place_of(x, y, cell_of(max(boxes[i, 2], boxes[j, 2]), lattice, 2), lattice)


@inline
def _begins_beyond(boxes, i, j, axis, touching):
    """Whether box ``j``, and so all behind it, cannot overlap box ``i``."""
    high = boxes[i, boxes.shape[1] // 2 + axis]
    return boxes[j, axis] > high or (boxes[j, axis] == high and not touching)


@jit
def pairs_of_lists(boxes, touching, filter, ids, split, axis, begin, end, out, limit, store):  # noqa: A002
    """Pairs of the boxes in ``ids[:split]`` with those in ``ids[split:]``; with each other if that is empty.

    For the rows ``begin .. end - 1``: the pairs, how many, and the tests.  Both lists are in the order of
    ``axis``.  A box is compared with those of the other list that begin within it; of two boxes that begin at
    one coordinate, the one in the first list is compared with the other.
    """
    found = tests = checked = np.int64(0)
    alone = split == ids.shape[0]
    for row in range(begin, end):
        i = ids[row]
        place, stop = (split, ids.shape[0]) if row < split else (np.int64(0), split)
        if alone:
            place, stop = np.int64(row + 1), split
        elif axis >= 0:
            place = _first_behind(boxes, ids, axis, place, stop, boxes[i, axis], row >= split)
        elif row >= split:
            place = stop  # it was compared as the other one
        while place < stop and found <= limit:
            if store and found + TOGETHER > out.shape[0]:
                out = larger(out, found)
            for _ in range(min(stop - place, TOGETHER)):
                j = ids[place]
                if axis >= 0 and _begins_beyond(boxes, i, j, axis, touching):
                    stop = place
                    break
                tests += 1
                if overlap(boxes, i, boxes, j, touching) and may_pair(filter, i, j):
                    if store:
                        put(out, found, i, j)
                    found += 1
                place += 1
        if found > limit:
            break
        work = tests + _WORK_OF_A_SEARCH * (row - begin)
        if work > checked + _OFTEN:
            checked = work
            if not goes_on():
                break
    return out, found, tests


@inline
def _first_behind(boxes, ids, axis, begin, end, value, beyond):
    """First place in ``begin .. end`` of a box that begins at ``value`` or, if ``beyond``, after it."""
    while begin < end:
        middle = (begin + end) // 2
        low = boxes[ids[middle], axis]
        if low < value or (beyond and low == value):
            begin = middle + 1
        else:
            end = middle
    return begin
