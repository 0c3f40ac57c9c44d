"""Images of shapes in a periodic world: shapes moved by whole periods.

``period`` holds the length on each axis, inf where there is none.
"""

import math

import numpy as np

from broadphase.kernels.machine.jit import holds_gil, inline
from broadphase.kernels.machine.memory import some_rows
from broadphase.kernels.shapes.contact import APART, box_box, contact_of
from broadphase.kernels.shapes.table import BOX, TOLERANCE, ShapeColumns, bounds_at, bounds_of, bounds_overlap

SLACK = 1e-12  # of the coordinates: an image too many is sorted out by the exact test, one too few is missed


@inline
def wrapped(place, length):
    """A coordinate wrapped into the period, exactly, as `periods.images.wrapped`."""
    if 0.0 <= place < length or length == math.inf:
        return place
    rest, part = abs(place), length
    while part <= 0.5 * rest:
        part *= 2.0
    while part >= length:
        if rest >= part:
            rest -= part
        part *= 0.5
    if place < 0.0 and rest > 0.0:
        rest = length - rest
    return rest if rest < length else 0.0


@inline
def shifted(place, turns, length):
    """A coordinate moved by a number of periods."""
    return place + turns * length if turns != 0 else place


@inline
def _turns_between(low, high, other_low, other_high, length):
    """By how many periods the other interval can be moved to overlap the first: the least and the most."""
    if length == math.inf or not high - low < math.inf:
        return np.int64(0), np.int64(0)
    slack = SLACK * max(max(abs(low), abs(high)), length)
    least = np.int64(math.ceil((low - slack - other_high) / length))
    return least, np.int64(math.floor((high + slack - other_low) / length))


@inline
def turns_between(box, other, period):
    """`_turns_between` on both axes: the least and the most on x, then those on y."""
    least_x, most_x = _turns_between(box[0], box[2], other[0], other[2], period[0])
    least_y, most_y = _turns_between(box[1], box[3], other[1], other[3], period[1])
    return least_x, most_x, least_y, most_y


@inline
def is_plain(period):
    """Whether there is no period on either axis."""
    return period[0] == math.inf and period[1] == math.inf


@inline
def _without_ends(table, i, x, y, period):
    """A box ``x, y, width, height``; one as long as the world meets itself, and has no ends on that axis."""
    width, height = table.width[i], table.height[i]
    if table.kinds[i] == BOX:
        if width >= period[0] * (1.0 - TOLERANCE):
            x, width = x - period[0], width + 2.0 * period[0]
        if height >= period[1] * (1.0 - TOLERANCE):
            y, height = y - period[1], height + 2.0 * period[1]
    return x, y, width, height


@inline
def _placed(table, i, x, y, period, numbers):
    """A table of shape ``i`` alone, at a place."""
    numbers[0, 0], numbers[1, 0], numbers[2, 0], numbers[3, 0] = _without_ends(table, i, x, y, period)
    columns = numbers[0], numbers[1], numbers[2], numbers[3]
    spans = table.starts[i : i + 1], table.counts[i : i + 1]
    return ShapeColumns(table.kinds[i : i + 1], *columns, *spans, table.points, table.axes)


@inline
def contact_of_images(table, i, place, j, other, period, numbers):
    """`contact_of` for two shapes of a table as if they were at other places."""
    if table.kinds[i] == BOX and table.kinds[j] == BOX:
        x, y, width, height = _without_ends(table, i, *place, period)
        left, top, wide, high = _without_ends(table, j, *other, period)
        return box_box(x, y, x + width, y + height, left, top, left + wide, top + high, False)
    first = _placed(table, i, *place, period, numbers[:4])
    second = _placed(table, j, *other, period, numbers[4:])
    if not bounds_overlap(bounds_of(first, 0), bounds_of(second, 0)):
        return APART
    return contact_of(first, 0, second, 0, False)


@inline
def deepest_contact(table, i, j, period, numbers):
    """`contact_of` for shape ``i`` and the image of ``j`` that it overlaps the most.

    Of equal ones it is the left or upper one.
    """
    x, y, other_x, other_y = table.x[i], table.y[i], table.x[j], table.y[j]
    box, its = bounds_at(table, i, x, y), bounds_at(table, j, other_x, other_y)
    least_x, most_x, least_y, most_y = turns_between(box, its, period)
    best = APART
    for across in range(least_x, most_x + 1):
        for down in range(least_y, most_y + 1):
            place = shifted(other_x, across, period[0]), shifted(other_y, down, period[1])
            found = contact_of_images(table, i, (x, y), j, place, period, numbers)
            if found[0] and (not best[0] or found[3] > best[3]):
                best = found
    return best


@holds_gil
def overlap_depth(table, i, j, period):
    """How deep two shapes of a table, or images of them, overlap; 0 if they do not."""
    if is_plain(period) and not bounds_overlap(bounds_of(table, i), bounds_of(table, j)):
        return 0.0
    return deepest_contact(table, i, j, period, some_rows(8, 1, np.float64))[3]
