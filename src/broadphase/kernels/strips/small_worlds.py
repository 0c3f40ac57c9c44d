"""A small world in one call: its strips concatenated, sorted by one counting sort, and swept."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.boxes.overlap import all_ordinary, high_edge, is_extreme, low_edge, overlaps_nothing
from broadphase.kernels.machine.jit import common, inline, jit, unsigned
from broadphase.kernels.machine.simd import LANES, load, put_lanes, splat
from broadphase.kernels.pairs.order import put_in_order
from broadphase.kernels.strips.bin import (
    BLOCK,
    CONTINUED_Y,
    CONTINUED_Z,
    HALF_ORIGIN,
    LAST,
    ONE,
    SCALE,
    are_crowded,
    as_one_row,
    class_bits_of,
    strip_at,
)
from broadphase.kernels.strips.sweep import (
    BUCKET,
    CLASS,
    CROWDED,
    ID,
    REACH,
    buckets_for,
    close,
    sweep_sorted,
)

# -----------------------------------------------------------------------------------------------------------
# The strips of a small world, concatenated: all copies in order of strip and place, by one counting sort.
#
# If all boxes fit into the L1 or L2 cache, copying them strip by strip and sorting each strip then
# (`broadphase.kernels.strips.bin`, `broadphase.kernels.strips.sweep`) moves each of them once more than
# necessary.  Here every copy gets a *key*: its strip, and within that its bucket along the swept axis.  The
# numbers of boxes are counted and sorted; their edges are fetched once, in the order in which they are swept.
# The keys of a strip are above those of all strips before it, so no box reaches into the next strip, and all
# strips are swept as one.
#
# A thousand boxes are searched in 19 us this way, strip by strip in 23.  Beyond about ten thousand boxes the
# edges come from slower memory, and little is gained.


# Rows of `copies`: of each copy its key and its box, with the axes on which it is continued above that; how
# many strips it spans on each cut axis; then a list of copies, and the boxes in their order.
KEY, BOX, SPAN_Y, SPAN_Z, LISTED, SORTED = 0, 1, 2, 3, 4, 5
ROWS = 6

TILE = 48  # numbers: whole boxes of four or six, and whole vectors
_FLAGS = np.int32(29)
_NUMBER = np.int32((1 << 29) - 1)


@inline
def buckets_of(n, strips):
    """How many buckets a strip gets: a power of two."""
    return buckets_for(n // strips + 1)


@inline
def _finite_extent(flat, column, width, extents):
    """The least and the largest finite number of a column; inverted if none is finite.

    ``extents`` is scratch, two rows of `TILE`.
    """
    most = np.finfo(flat.dtype).max
    lows, highs = extents[0, :TILE], extents[1, :TILE]
    for k in range(TILE):
        lows[k], highs[k] = most, -most
    whole = flat.shape[0] // TILE * TILE
    # All columns and not one: in vectors that takes a third of the time.
    for begin in range(0, whole, TILE):
        for k in range(TILE):
            number = flat[begin + k]
            lows[k] = min(lows[k], number if number >= -most else lows[k])
            highs[k] = max(highs[k], number if number <= most else highs[k])
    low, high = most, -most
    for k in range(column, TILE, width):
        low, high = min(low, lows[k]), max(high, highs[k])
    for k in range(whole + column, flat.shape[0], width):
        if abs(flat[k]) <= most:
            low, high = min(low, flat[k]), max(high, flat[k])
    return low, high


@inline
def place_buckets(flat, axes, lattice, buckets, extents, places):
    """Write to ``places`` how each axis is cut, as `strip_of` takes it: the swept one into buckets."""
    kind = flat.dtype.type
    low, high = _finite_extent(flat[0], axes[0], 2 * len(axes), extents)
    half_low = low * kind(0.5)
    half_width = high * kind(0.5) - half_low
    places[axes[0], HALF_ORIGIN] = half_low
    places[axes[0], SCALE] = np.finfo(flat.dtype).tiny  # not 0, which makes NaN of infinite edges
    if half_width > 0:
        places[axes[0], SCALE] = min(kind(buckets) / half_width, np.finfo(flat.dtype).max)
    places[axes[0], LAST] = kind(buckets - 1)
    for cut in range(len(axes) - 1):
        for column in (HALF_ORIGIN, SCALE, LAST):
            places[axes[cut + 1], column] = lattice[cut, column]


@inline
def _find_places(flat, axes, places, numbers):
    """The strip or bucket of each number of ``flat``; a row of ``numbers`` for each column."""
    # The scalars are in local variables; otherwise LLVM does not vectorise the loop.
    dim = len(axes)
    x_origin, x_scale, x_last = places[0, HALF_ORIGIN], places[0, SCALE], places[0, LAST]
    y_origin, y_scale, y_last = places[1, HALF_ORIGIN], places[1, SCALE], places[1, LAST]
    z_origin, z_scale, z_last = places[dim - 1, HALF_ORIGIN], places[dim - 1, SCALE], places[dim - 1, LAST]
    for i in range(flat.shape[0] // (2 * dim)):
        k = i * 2 * dim
        numbers[0, i] = strip_at(flat[k], x_origin, x_scale, x_last)
        numbers[1, i] = strip_at(flat[k + 1], y_origin, y_scale, y_last)
        numbers[dim, i] = strip_at(flat[k + dim], x_origin, x_scale, x_last)
        numbers[dim + 1, i] = strip_at(flat[k + dim + 1], y_origin, y_scale, y_last)
        if dim == 3:
            numbers[2, i] = strip_at(flat[k + 2], z_origin, z_scale, z_last)
            numbers[5, i] = strip_at(flat[k + 5], z_origin, z_scale, z_last)


@inline
def find_keys(boxes, flat, axes, touching, places, buckets, nowhere, numbers, copies):
    """Write the key of each box's first copy, and how many strips it spans on each cut axis.

    ``numbers`` is scratch: a row for each column, for `BLOCK` boxes.
    Boxes that overlap nothing get the key ``nowhere``, after all others.  Returns whether a box holds the
    largest finite number, for which the sign of a difference does not decide.
    """
    dim = len(axes)
    x0, y0, y1 = unsigned(axes[0]), unsigned(axes[1]), unsigned(axes[1] + dim)
    z0, z1 = unsigned(axes[-1]), unsigned(axes[-1] + dim)
    one, row = np.int32(1), np.int32(places[axes[1], LAST]) + np.int32(1)
    n, buckets = boxes.shape[0], np.int32(buckets)
    extreme = False
    for start in range(0, n, np.int64(BLOCK)):
        stop = min(start + np.int64(BLOCK), n)
        begin, end = 2 * dim * start, 2 * dim * stop
        _find_places(flat[0, begin:end], axes, places, numbers)
        keys, owners = copies[KEY, start:stop], copies[BOX, start:stop]
        across, along = copies[SPAN_Y, start:stop], copies[SPAN_Z, start:stop]
        for i in range(stop - start):
            strip = numbers[y0, i]
            across[i] = max(strip, numbers[y1, i]) - strip + one
            if dim == 3:
                first = numbers[z0, i]
                along[i] = max(first, numbers[z1, i]) - first + one
                strip += first * row
            keys[i] = strip * buckets + numbers[x0, i]
            owners[i] = np.int32(start + i)
        if not all_ordinary(flat, begin, end):
            for i in range(start, stop):
                extreme |= is_extreme(boxes, i)
                if not touching and overlaps_nothing(boxes, i):
                    copies[KEY, i] = nowhere
                    copies[SPAN_Y, i] = copies[SPAN_Z, i] = 1
    return extreme


@common
def add_copies(axes, row, buckets, n, copies):
    """Add the further copies of boxes that span several strips, ``row`` strips in each row of them.

    Returns how many copies there are now; -1 if they do not fit.
    """
    # One axis after the other: nearly every loop over a box's further copies then has one iteration, which
    # branch prediction handles well.
    made = np.int64(n)
    if len(axes) == 3:
        made = _add_along(SPAN_Z, CONTINUED_Z, np.int32(row * buckets), made, copies)
    return _add_along(SPAN_Y, CONTINUED_Y, np.int32(buckets), made, copies)


@inline
def _add_along(spans, continued, step, made, copies):
    capacity = np.int64(copies.shape[1] - LANES)
    if made < 0 or made > capacity:
        return np.int64(-1)
    for copy in range(made, made + LANES):
        copies[spans, copy] = 1
    for copy in range(made):
        copies[SORTED, copy] = copy
    listed, one = np.int64(0), splat(np.int32(1))
    for copy in range(0, made, LANES):
        listed += put_lanes(
            copies, LISTED, listed, load(copies, SORTED, copy), one < load(copies, spans, copy)
        )
    for k in range(listed):
        first = unsigned(copies[LISTED, k])
        key, span_y = copies[KEY, first], copies[SPAN_Y, first]
        box = copies[BOX, first] | continued << _FLAGS
        further = copies[spans, first] - 1
        if made + further > capacity:
            return np.int64(-1)
        for copy in range(unsigned(made), unsigned(made + further)):
            key += step
            copies[KEY, copy], copies[BOX, copy], copies[SPAN_Y, copy] = key, box, span_y
        made += further
    return made


@common
def count_keys(strips, buckets, made, copies, ends):
    """Write to ``ends`` where the copies of each key begin.

    Returns how many copies there are, without those of boxes that overlap nothing; and the sums, over the
    copies, of how many copies share its strip, and its bucket.
    """
    for key in range(strips * buckets + 2):
        ends[key] = 0
    for copy in range(unsigned(made)):
        ends[unsigned(copies[KEY, copy]) + ONE] += 1
    total, crowding, crush = np.int64(0), np.float64(0), np.int64(0)
    key = unsigned(0)
    for _ in range(strips):
        before = total
        for _ in range(buckets):
            key += ONE
            count = np.int64(ends[key])
            total += count
            crush += count * count
            ends[key] = total
        crowding += np.float64(total - before) ** 2
    return total, crowding, crush


@inline
def put_in_place(flat, axes, touching, classes, memory, buckets, made, total):
    """Sort ``made`` copies by key, and fetch the edges of the first ``total`` for the sweep.

    ``memory.ends`` advances to where the next copy of each key would go.
    """
    places, copies, starts = memory.places, memory.copies, memory.ends
    columns, marks = memory.columns, memory.marks
    for copy in range(unsigned(made)):
        key = unsigned(copies[KEY, copy])
        place = unsigned(starts[key])
        starts[key] = place + ONE
        copies[SORTED, place] = copies[BOX, copy]
        marks[BUCKET, place] = key
    _fetch(flat, axes, total, copies, columns)
    for place in range(total):
        marks[ID, place] = copies[SORTED, place] & _NUMBER
        marks[CLASS, place] = copies[SORTED, place] >> _FLAGS
    if classes.shape[0] > 0:
        for place in range(total):
            marks[CLASS, place] |= class_bits_of(classes, unsigned(marks[ID, place]))
    # From the edges as they are, as the keys were: infinite ones become finite below.
    half_origin, scale, last = places[axes[0], HALF_ORIGIN], places[axes[0], SCALE], places[axes[0], LAST]
    strip = np.int32(-buckets)
    for place in range(total):
        reach = strip_at(columns[1, place], half_origin, scale, last)
        marks[REACH, place] = (marks[BUCKET, place] & strip) + reach
    smallest, largest, zero = np.finfo(flat.dtype).min, np.finfo(flat.dtype).max, flat.dtype.type(0)
    for axis in range(len(axes)):
        for place in range(total):
            columns[2 * axis, place] = low_edge(columns[2 * axis, place], smallest, largest, zero)
        for place in range(total):
            high = high_edge(columns[2 * axis + 1, place], touching, smallest, largest, zero)
            columns[2 * axis + 1, place] = high
    close(marks, total)


@inline
def _fetch(flat, axes, total, copies, columns):
    # Row by row and not column by column: each row is in one cache line.
    dim = len(axes)
    x0, x1 = unsigned(axes[0]), unsigned(axes[0] + dim)
    y0, y1 = unsigned(axes[1]), unsigned(axes[1] + dim)
    z0, z1 = unsigned(axes[-1]), unsigned(axes[-1] + dim)
    for place in range(unsigned(total)):
        row = unsigned(copies[SORTED, place] & _NUMBER) * unsigned(2 * dim)
        columns[0, place] = flat[0, row + x0]
        columns[1, place] = flat[0, row + x1]
        columns[2, place] = flat[0, row + y0]
        columns[3, place] = flat[0, row + y1]
        if dim == 3:
            columns[4, place] = flat[0, row + z0]
            columns[5, place] = flat[0, row + z1]


# -----------------------------------------------------------------------------------------------------------
# A small world in one call: its strips concatenated, and swept.
#
# Each call from Python takes half a microsecond, and the Python code between two calls several: a search of
# 3,000 boxes takes 36 us this way and 87 call by call; a third of the gain is due to how the copies are
# sorted (see above).  Worlds that do not suit (crowds, worlds that need borders from the data) take the
# general path, call by call (`broadphase.methods.strips`).


# The outcome: nothing, and the general path is needed; all; or all, and the pairs are sorted in
# ``memory.ordered``.
NOTHING, DONE, ORDERED = np.int64(0), np.int64(1), np.int64(2)


class Memory(NamedTuple):
    """Memory for one search; the lengths of the arrays limit the numbers of boxes, copies and keys."""

    extents: npt.NDArray[np.floating[Any]]
    """This and the next six are what the functions above take."""
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
def search_small(boxes, plan, touching, rules, most_crowding, memory, out, limit, store, sort):
    """All pairs of a small world.

    ``plan`` says how to divide it, into strips of equal width.  A copy may share its strip with at most
    ``most_crowding`` others on average; if that is negative, `are_crowded` decides.  Returns the outcome
    (`NOTHING` to `ORDERED`), the number of strips, the pairs, how many, and the tests.
    """
    axes, lattice, _ = plan
    n, strips, none = boxes.shape[0], np.int64(1), np.int64(0)
    for cut in range(len(axes) - 1):
        strips *= np.int64(lattice[cut, LAST]) + 1
    if n < 2:
        return DONE, strips, out, none, none
    copies = _lay_end_to_end(boxes, axes, lattice, touching, rules.classes, most_crowding, strips, memory)
    if copies < 0:
        return NOTHING, strips, out, none, none
    sets, so_far = (rules.categories, rules.masks), (out, none, none, none)
    out, counted, found, tests = sweep_sorted(
        axes, copies, memory.columns, memory.marks, sets, so_far, limit, store
    )
    state = _put_in_order(n, memory, out, found) if store and sort else DONE
    return state, strips, out, counted + found, tests


@inline
def _lay_end_to_end(boxes, axes, lattice, touching, classes, most_crowding, strips, memory):
    """Prepare all copies for the sweep; returns how many, or -1 if this world needs the general path."""
    n, flat = boxes.shape[0], as_one_row(boxes)
    buckets = buckets_of(n, strips)
    if strips * buckets + 2 > memory.ends.shape[0]:
        return np.int64(-1)
    place_buckets(flat, axes, lattice, buckets, memory.extents, memory.places)
    extreme = find_keys(
        boxes, flat, axes, touching, memory.places, buckets, strips * buckets, memory.numbers, memory.copies
    )
    made = add_copies(axes, np.int64(lattice[0, LAST]) + 1, buckets, n, memory.copies)
    if extreme or made < 0:
        return np.int64(-1)
    copies, crowding, crush = count_keys(strips, buckets, made, memory.copies, memory.ends)
    too_crowded = crowding > most_crowding * copies
    if most_crowding < 0.0:
        too_crowded = are_crowded(crowding, copies, strips)
    if too_crowded or crush > CROWDED * copies:
        return np.int64(-1)
    put_in_place(flat, axes, touching, classes, memory, buckets, made, copies)
    return copies


@inline
def _put_in_order(n, memory, out, found):
    """Sort all pairs if they fit."""
    if found > memory.keys.shape[0]:
        return DONE
    memory.found[0] = found
    put_in_order(
        out, memory.found, 32, 0, 1, memory.order[: n + 1], memory.order[:0], memory.keys, memory.ordered
    )
    return ORDERED
