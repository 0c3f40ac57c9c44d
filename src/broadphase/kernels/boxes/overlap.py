"""Whether two boxes overlap: one pair, one box against `LANES`, exact edges, and which pairs may count."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.floats import next_down
from broadphase.kernels.machine.jit import always_inline, inline
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane, mask_of, splat

# -----------------------------------------------------------------------------------------------------------
# Do two boxes overlap?  The one definition that every textbook method calls.


@inline
def overlap(boxes, i, others, j, touching):
    """Whether box ``i`` overlaps box ``j`` of the others, on every axis; a row of NaN overlaps nothing.

    ``touching`` says if a shared edge counts.  The comparisons are joined with ``&`` and not with ``and``: a
    mispredicted branch costs about 15 cycles, four comparisons cost two.  A loop over axes whose number the
    compiler does not know would take three times as long.
    """
    if boxes.shape[1] == 4:
        return _meet(boxes[i, 0], boxes[i, 2], others[j, 0], others[j, 2], touching) & _meet(
            boxes[i, 1], boxes[i, 3], others[j, 1], others[j, 3], touching
        )
    return (
        _meet(boxes[i, 0], boxes[i, 3], others[j, 0], others[j, 3], touching)
        & _meet(boxes[i, 1], boxes[i, 4], others[j, 1], others[j, 4], touching)
        & _meet(boxes[i, 2], boxes[i, 5], others[j, 2], others[j, 5], touching)
    )


@inline
def _meet(low, high, other_low, other_high, touching):
    """The same on one axis."""
    if touching:
        return (low <= other_high) & (other_low <= high)
    return (low < other_high) & (other_low < high)


# -----------------------------------------------------------------------------------------------------------
# Edges of boxes, converted so that one subtraction decides an overlap.
#
# The fast kernels use the sign of ``a.max - b.min``, which is exact in IEEE arithmetic once three
# cases are removed:
#
# - ``-0.0 - 0.0`` is negative though the edges touch: adding 0.0 turns -0.0 into 0.0;
# - ``inf - inf`` is NaN: infinite edges become the largest finite number;
# - ``touching=False`` means ``a.min < b.max``.  For floats that is the same as ``a.min <= b.max`` with every
#   max moved down to the next float, so that no kernel needs a second comparison.
#
# Boxes that hold the largest finite number itself are excluded (`is_extreme`).


@inline
def low_edge(value, smallest, largest, zero):
    """A box's min, comparable by subtraction."""
    return min(max(value, smallest), largest) + zero


@inline
def high_edge(value, touching, smallest, largest, zero):
    """A box's max, comparable by subtraction."""
    if touching:
        return min(max(value, smallest), largest) + zero
    return max(next_down(value), smallest)


@inline
def overlaps_nothing(boxes, i):
    """Whether a box is at infinity, where it overlaps nothing unless touching counts."""
    dim = boxes.shape[1] // 2
    nothing = False
    for axis in range(dim):
        nothing |= (boxes[i, axis] == np.inf) | (boxes[i, dim + axis] == -np.inf)
    return nothing


@inline
def is_extreme(boxes, i):
    """Whether a box holds the largest finite number, for which subtraction is not exact."""
    largest = np.finfo(boxes.dtype).max
    extreme = False
    for column in range(boxes.shape[1]):
        extreme |= abs(boxes[i, column]) == largest
    return extreme


@inline
def all_ordinary(flat, begin, end):
    """Whether the numbers ``begin .. end - 1`` of ``flat`` are finite and below the largest float."""
    largest = np.finfo(flat.dtype).max
    high, low = splat(largest), splat(-largest)
    beyond = high < low
    whole = begin + (end - begin) // LANES * LANES
    for k in range(begin, whole, LANES):
        numbers = load(flat, 0, k)
        beyond = beyond | (high <= numbers) | (numbers <= low)
    ordinary = bits(beyond) == 0
    for k in range(whole, end):
        ordinary &= abs(flat[0, k]) < largest
    return ordinary


# -----------------------------------------------------------------------------------------------------------
# Which pairs may count at all, decided before or after the boxes are compared.
#
# Every kernel takes a `PairFilter`.  Its arrays have one entry for each box, or none if the caller did not
# set that rule, so that an unfiltered search reads nothing.


# Two boxes that share a class bit are never paired.
STATIC = np.uint8(1)
IN_A = np.uint8(2)
IN_B = np.uint8(4)

SHARED = np.int64(-1)
"""The environment that all share: its boxes are in every other one too."""


class PairFilter(NamedTuple):
    """Rules that exclude pairs, wherever the boxes are."""

    classes: npt.NDArray[np.uint8]
    categories: npt.NDArray[np.uint32]
    masks: npt.NDArray[np.uint32]


_NO_FILTER = PairFilter(np.empty(0, np.uint8), np.empty(0, np.uint32), np.empty(0, np.uint32))


def no_filter() -> PairFilter:
    """Every pair may count."""
    return _NO_FILTER


def rules_of(filter: PairFilter, rows: npt.NDArray[np.int32]) -> PairFilter:  # noqa: A002
    """The rules of a selection of the boxes."""
    classes, categories, masks = filter
    return PairFilter(
        classes[rows] if len(classes) else classes,
        categories[rows] if len(categories) else categories,
        masks[rows] if len(masks) else masks,
    )


@inline
def agree(categories, masks, i, j):
    """Whether the category of each of two rows and the mask of the other share a bit."""
    return categories[i] & masks[j] != 0 and categories[j] & masks[i] != 0


@inline
def may_pair(filter, i, j):  # noqa: A002
    """Whether no rule excludes the pair of boxes ``i`` and ``j``."""
    if filter.classes.shape[0] > 0 and filter.classes[i] & filter.classes[j] != 0:
        return False
    if filter.categories.shape[0] > 0:
        return agree(filter.categories, filter.masks, i, j)
    return True


# -----------------------------------------------------------------------------------------------------------
# One box against `LANES` boxes that are contiguous in columns of ordered keys.


@always_inline
def lanes_that_meet(columns, row, dim, first, limits, k):
    """Mask of the boxes from ``first`` that overlap row ``k`` of ``limits``; their edges begin at ``row``."""
    meets = load(columns, row, first) <= splat(limits[k, dim])
    meets = meets & (splat(limits[k, 0]) <= load(columns, row + dim, first))
    meets = meets & (load(columns, row + 1, first) <= splat(limits[k, dim + 1]))
    meets = meets & (splat(limits[k, 1]) <= load(columns, row + dim + 1, first))
    if dim == 3:
        meets = meets & (load(columns, row + 2, first) <= splat(limits[k, 5]))
        meets = meets & (splat(limits[k, 2]) <= load(columns, row + 5, first))
    return meets


@inline
def allowed_lanes(filter, ids, i, j, lanes):  # noqa: A002
    """Mask of the boxes from ``j``, among the bits of ``lanes``, that the filter lets pair with ``i``.

    ``ids``: ``(1, n)``, the boxes' ids in the order of the columns.
    """
    allowed = lanes
    while lanes != 0:
        if not may_pair(filter, ids[0, i], ids[0, j + lowest_lane(lanes)]):
            allowed ^= lanes & -lanes
        lanes &= lanes - 1
    return mask_of(allowed)
