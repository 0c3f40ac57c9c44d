"""Boxes into strips: which strips each box touches, how many copies that makes, and the copies.

The strips cut the world on every axis but the swept one: rows in 2-D, a lattice of columns in 3-D.  A
box is copied into every strip that it touches.  A copy is marked as *continued* on an axis when the box
began in an earlier strip of that axis; two copies may be paired only where no axis is marked in both,
which is true in exactly one strip of those that a pair shares (the two-layer rule of Tsitsigkos and
Mamoulis, 2023).

``axes`` is the swept axis, then the cut ones.  A strip is found through one monotone function for both
ends of a box (`strip_of`): two boxes that overlap always share a strip, whatever rounding does.
"""

import numpy as np

from broadphase.kernels.edges import high_edge, low_edge, overlaps_nothing
from broadphase.kernels.jit import inline, jit

# Class bits of a copy: continued on the first cut axis, on the second; the classes of `filters` follow.
NEW = np.int32(0)
CONTINUED_Y = np.int32(1)
CONTINUED_Z = np.int32(2)
FIRST_CLASS_BIT = 2

# Columns of a lattice; it has a row for each cut axis, in the boxes' own float type.
HALF_ORIGIN, SCALE, LAST = 0, 1, 2


@inline
def strip_of(value, lattice, borders, cut):
    """Number of the strip that holds a coordinate; the outermost strips reach to infinity.

    With ``borders``, as many as are not above the coordinate; else strips of equal width.  There, half
    the coordinate is used so that the width of the widest world does not overflow, and the clamp comes
    before the conversion to an integer, which is undefined for numbers that do not fit.
    """
    kind = lattice.dtype.type
    if borders.shape[1] == 0:
        at = (value * kind(0.5) - lattice[cut, HALF_ORIGIN]) * lattice[cut, SCALE]
        return np.int64(min(max(at, kind(0)), lattice[cut, LAST]))
    below, above = np.int64(0), np.int64(lattice[cut, LAST])
    while below < above:
        middle = (below + above) >> 1
        if borders[cut, middle] <= value:
            below = middle + 1
        else:
            above = middle
    return below


@inline
def strips_of(boxes, i, axes, touching, lattice, borders):
    """First and last strip of a box on the first cut axis, then on the second (0 and 0 in 2-D)."""
    dim = len(axes)  # known to the compiler, unlike the shape
    first = strip_of(boxes[i, axes[1]], lattice, borders, 0)
    last = max(first, strip_of(boxes[i, dim + axes[1]], lattice, borders, 0))
    first_z = last_z = np.int64(0)
    if dim == 3:
        first_z = strip_of(boxes[i, axes[-1]], lattice, borders, 1)
        last_z = max(first_z, strip_of(boxes[i, dim + axes[-1]], lattice, borders, 1))
    if not touching and overlaps_nothing(boxes, i):
        last = first - 1  # no copy
    return first, last, first_z, last_z


@inline
def copy_box(boxes, i, axes, strips, touching, class_bits, spans, starts, edges, tags):
    """Copy a box into the strips of ``spans``; whether it holds the largest finite number."""
    dim = len(axes)
    smallest, largest = np.finfo(boxes.dtype).min, np.finfo(boxes.dtype).max
    zero = boxes.dtype.type(0)
    extreme = False
    for column in range(2 * dim):
        extreme |= abs(boxes[i, column]) == largest
    x0 = low_edge(boxes[i, axes[0]], smallest, largest, zero)
    x1 = high_edge(boxes[i, dim + axes[0]], touching, smallest, largest, zero)
    y0 = low_edge(boxes[i, axes[1]], smallest, largest, zero)
    y1 = high_edge(boxes[i, dim + axes[1]], touching, smallest, largest, zero)
    z0 = low_edge(boxes[i, axes[-1]], smallest, largest, zero)
    z1 = high_edge(boxes[i, dim + axes[-1]], touching, smallest, largest, zero)
    first, last, first_z, last_z = spans
    for z in range(first_z, last_z + 1):
        for y in range(first, last + 1):
            continued = (CONTINUED_Y if y > first else NEW) | (CONTINUED_Z if z > first_z else NEW)
            at = starts[z * strips + y]
            starts[z * strips + y] = at + 1
            edges[at, 0] = x0
            edges[at, 1] = x1
            edges[at, 2] = y0
            edges[at, 3] = y1
            if dim == 3:
                edges[at, 4] = z0
                edges[at, 5] = z1
            tags[at, 0] = i
            tags[at, 1] = class_bits | continued
    return extreme


@jit
def count_copies(boxes, axes, touching, lattice, borders, begin, end, spans, counts):
    """Write the first and last strip of every box to ``spans``; add its copies to ``counts``."""
    strips = np.int64(lattice[0, LAST]) + 1
    for i in range(begin, end):
        first, last, first_z, last_z = strips_of(boxes, i, axes, touching, lattice, borders)
        spans[i, 0] = first
        spans[i, 1] = last + 1
        if len(axes) == 3:
            spans[i, 2] = first_z
            spans[i, 3] = last_z + 1
        for z in range(first_z, last_z + 1):
            for strip in range(z * strips + first, z * strips + last + 1):
                counts[strip] += 1


@jit
def scatter_copies(boxes, axes, strips, touching, classes, begin, end, spans, starts, edges, tags):
    """Copy boxes ``begin..end`` into the strips of ``spans``; ``starts`` moves on to where copies go next.

    ``edges`` gets rows ``[min, max]`` of the swept axis, then of the cut ones; ``tags`` the row of the
    box and the class bits.  Returns whether a box holds the largest finite number, for which the sign
    of a difference does not decide (`broadphase.kernels.edges`).
    """
    extreme = False
    for i in range(begin, end):
        class_bits = NEW
        if classes.shape[0] > 0:
            class_bits = np.int32(classes[i]) << FIRST_CLASS_BIT
        span = np.int64(spans[i, 0]), np.int64(spans[i, 1]) - 1, np.int64(0), np.int64(0)
        if len(axes) == 3:
            span = span[0], span[1], np.int64(spans[i, 2]), np.int64(spans[i, 3]) - 1
        extreme |= copy_box(boxes, i, axes, strips, touching, class_bits, span, starts, edges, tags)
    return extreme


@jit
def rebin_copies(boxes, axes, touching, lattice, borders, classes, begin, end, starts, limits, edges, tags):
    """Copy boxes ``begin..end`` into strips that have room, without counting first.

    For a frame that is like the last: ``limits`` is where the room of each strip ends.  Returns whether
    all copies found room, and whether a box holds the largest finite number.
    """
    strips = np.int64(lattice[0, LAST]) + 1
    extreme = False
    for i in range(begin, end):
        span = strips_of(boxes, i, axes, touching, lattice, borders)
        for z in range(span[2], span[3] + 1):
            for strip in range(z * strips + span[0], z * strips + span[1] + 1):
                if starts[strip] == limits[strip]:
                    return False, extreme
        class_bits = NEW
        if classes.shape[0] > 0:
            class_bits = np.int32(classes[i]) << FIRST_CLASS_BIT
        extreme |= copy_box(boxes, i, axes, strips, touching, class_bits, span, starts, edges, tags)
    return True, extreme
