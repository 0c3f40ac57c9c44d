"""The nearest of many: points or boxes along a space-filling curve, with bounding boxes of consecutive ones.

The curve is G. M. Morton's (1966): the bits of all coordinates interleaved.  `LANES` consecutive points are a
leaf, `LANES` leaves have a bounding box, and so on.  This is an implicit tree that needs no building: the
numbers of a node's children follow from its own, and the density of the points does not matter.  Boxes have a
second row for each axis, for their upper edges; what is said of points holds for them too.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.arrays.passes import answers_at
from broadphase.kernels.arrays.results import result
from broadphase.kernels.arrays.sorting import place_among
from broadphase.kernels.boxes.queries import distance_to_box, insert_nearest, is_live, passes
from broadphase.kernels.boxes.worlds import enclose
from broadphase.kernels.machine.interrupts import OFTEN, goes_on
from broadphase.kernels.machine.jit import always_inline, holds_gil, inline, jit, rows, unsigned
from broadphase.kernels.machine.memory import many, one_row, with_columns
from broadphase.kernels.machine.simd import (
    LANES,
    bits,
    count_lanes,
    larger,
    load,
    lowest_lane,
    smaller,
    splat,
    store,
)
from broadphase.kernels.points.distance import distance, gaps, put_hits, squares_of_ways, take_place
from broadphase.kernels.points.few_points import safe_bound


@inline
def _with_one_gap(v):
    """The 31 bits of a number, each followed by a gap of one."""
    v = (v | (v << 16)) & 0x0000FFFF0000FFFF
    v = (v | (v << 8)) & 0x00FF00FF00FF00FF
    v = (v | (v << 4)) & 0x0F0F0F0F0F0F0F0F
    v = (v | (v << 2)) & 0x3333333333333333
    return (v | (v << 1)) & 0x5555555555555555


@inline
def _with_two_gaps(v):
    """The 21 bits of a number, each followed by a gap of two."""
    v = (v | (v << 32)) & 0x001F00000000FFFF
    v = (v | (v << 16)) & 0x001F0000FF0000FF
    v = (v | (v << 8)) & 0x100F00F00F00F00F
    v = (v | (v << 4)) & 0x10C30C30C30C30C3
    return (v | (v << 2)) & 0x1249249249249249


@inline
def _step(value, low, per_unit, last):
    return np.int64(max(0.0, min(last, (np.float64(value) - low) * per_unit)))


class Curve(NamedTuple):
    """How coordinates are mapped to the curve."""

    low: Any
    per_unit: Any
    width: int
    """Bits for each axis."""


@inline
def _key_of(points, i, curve):
    """The position of point ``i`` along the curve, in a world."""
    low, per_unit, width = curve
    last = float((np.int64(1) << width) - 1)
    x = _step(points[i, 0], low[0], per_unit[0], last)
    y = _step(points[i, 1], low[1], per_unit[1], last)
    if points.shape[1] == 2:
        return _with_one_gap(x) | (_with_one_gap(y) << 1)
    z = _step(points[i, 2], low[2], per_unit[2], last)
    return _with_two_gaps(x) | (_with_two_gaps(y) << 1) | (_with_two_gaps(z) << 2)


@jit
def find_keys(points, envs, curve, begin, end, keys):
    """The positions of a share of points along the curve, world after world."""
    dim = points.shape[1]
    for i in range(begin, end):
        key = _key_of(points, i, curve)
        if envs.shape[0] > 0:
            key |= np.int64(envs[i]) << (dim * curve.width)
        keys[i] = key
        if not answers_at(i):
            break


# The keys of boxes that are not searched; how many sizes there are, each four times the one before; and what
# is at most searched, as squares of more overflow.
_LAST, SIZES, LARGEST = np.int64(2**63 - 1), 16, 2.0**500


@jit
def find_keys_of_boxes(boxes, sets, rule, curve, space, begin, end, keys):
    """The positions of the middles of boxes along the curve, of those that pass the rule.

    Returns how many are searched, -1 if squares overflow, and how far one reaches at most from its middle.
    Those that are much larger than the ``space`` that each has follow the others, by size: boxes around all
    of them would hold most of the world.
    """
    (categories, masks), (category, mask) = sets, rule
    dim, count, longest = curve.low.shape[0], np.int64(0), 0.0
    middle = one_row(dim, np.float64)
    for i in range(begin, end):
        if not answers_at(i):
            break
        if not (is_live(boxes, i) and passes(categories, masks, i, category, mask)):
            keys[i] = _LAST
            continue
        half = 0.0
        for axis in range(dim):
            first, last = np.float64(boxes[i, axis]), np.float64(boxes[i, dim + axis])
            if not (first <= LARGEST and last >= -LARGEST):
                return np.int64(-1), longest
            if (first < -LARGEST and first != -np.inf) or (last > LARGEST and last != np.inf):
                return np.int64(-1), longest
            first, last = max(first, -LARGEST), min(last, LARGEST)
            middle[0, axis] = 0.5 * first + 0.5 * last
            half = max(half, 0.5 * last - 0.5 * first)
        longest = max(longest, half)
        size, most = np.int64(0), 2.0 * space
        while half > most and size < SIZES - 1:
            size, most = size + 1, 4.0 * most
        keys[i] = _key_of(middle, 0, curve) | size << (dim * curve.width)
        count += 1
    return count, longest


@jit
def take_in_order(points, envs, order, scale, begin, end, columns, ids):
    """Copy the points in curve order, scaled, one row for each axis; ``ids``: their numbers and worlds."""
    factor = points.dtype.type(scale)
    for position in range(begin, end):
        i = np.int64(order[position])
        ids[0, position] = i
        for axis in range(columns.shape[0]):
            columns[axis, position] = points[i, axis] * factor
        if envs.shape[0] > 0:
            ids[1, position] = envs[i]
        if not answers_at(position):
            break


@jit
def bound_tree(columns, ids, n, levels, boxes, worlds):
    """The bounding boxes of ``n`` points, lower edges, then upper; and which worlds are in them.

    Level ``k`` begins at ``levels[k]``; each of its boxes holds `LANES` of those below.
    """
    dim = boxes.shape[0] // 2
    for leaf in range((n + LANES - 1) // LANES):
        first, last = leaf * LANES, min((leaf + 1) * LANES, n)
        enclose(columns, columns.shape[0] - dim, first, last, boxes, leaf)
        if worlds.shape[1] > 0:
            worlds[0, leaf], worlds[1, leaf] = ids[1, first], ids[1, last - 1]
        if not answers_at(leaf):
            break
    for level in range(1, levels.shape[0] - 1):
        begin, end = levels[level - 1], levels[level]
        for node in range((end - begin) // LANES):
            first = begin + node * LANES
            enclose(boxes, dim, first, first + LANES, boxes, end + node)
            if worlds.shape[1] > 0:
                enclose(worlds, 1, first, first + LANES, worlds, end + node)


# -----------------------------------------------------------------------------------------------------------
# The nearest points of many points, through bounding boxes of neighbours on the curve.
#
# The query points are in curve order too, and the distance to the farthest result changes little from one to
# the next.  So a search goes as far as usual and a little more: in 95 of 100 cases that is enough, and few
# more points than wanted are found and sorted.  Otherwise a second search goes as far as a result must be: no
# farther than the last point's result and the way from there, or than the points next to it on the curve.  If
# many points are in one place, the answer of the previous one is reused; otherwise each would compare all
# (20,000 equal points: 13 s).
#
# A box is never nearer than a point in it, after rounding too, because rounding is monotone.


# The stack holds what still has to be searched: the level in the upper bits, the number of the box below.
_LEVEL = 40
# A point that is farther from the previous one than this many usual distances is in another region.
_JUMP = 4.0
# The expected number of points within the usual distance and a little more is greater than that wanted by so
# many of its square roots, which is about the standard deviation.
_DEVIATIONS = 1.5
# How much a single result changes the usual distance.
_NEWEST = 0.125


class Sorted(NamedTuple):
    """Points in the order of the curve."""

    columns: Any
    ids: Any
    """Their numbers, then their worlds."""


class Tree(NamedTuple):
    """The points to search among: bounding boxes over the sorted points, level by level."""

    points: Sorted
    boxes: Any
    worlds: Any
    levels: Any


class Scale(NamedTuple):
    """How coordinates are scaled."""

    factor: float
    around: Any
    """The period, scaled."""
    period: Any
    """The period as it is."""


class Scratch(NamedTuple):
    """Scratch memory for `search_points`; arrays of the kernel's own would be counted at each use."""

    stack: Any
    """`LANES` for each level, and as many more."""
    squares: Any
    """One row, long enough for twice as many as wanted and eight times `LANES`; so are the next two rows."""
    distances: Any
    ids: Any


class _Query(NamedTuple):
    """The point at hand, its environment, its number if it must not find itself, or -1, and its row."""

    point: Any
    env: Any
    me: Any
    row: Any


class Search(NamedTuple):
    """What `search_points` searches for, and among what."""

    tree: Tree
    n: int
    """How many points or boxes the tree holds."""
    scale: Scale
    r: float
    """The largest distance that counts."""
    points: Any
    """The query points, as they came."""
    others: Any
    """What is searched among, as it came."""
    queries: Sorted
    known: Any
    """Where the others are along the curve; empty if they are the points."""
    keys: Any
    """Where the queries are."""
    wanted: int
    """How many of each."""


class _Search(NamedTuple):
    """What is the same for all query points."""

    boxed: Any
    """Whether boxes are searched among, and not points."""
    points: Any
    others: Any
    count: Any
    """How many others are searched among."""
    wanted: Any
    period: Any
    ring: Any
    """The period, scaled, as a tuple."""
    plain: bool
    """Whether squares are those of the points as they are."""
    low: Any
    """Squares above this and below the next are exact."""
    high: Any


@inline
def box_offsets(boxes, axis, high, first, point, around):
    """The distance of boxes on one axis, the shorter gap around a period."""
    to_low, to_high = load(boxes, axis, first) - point, point - load(boxes, high, first)
    zero = point - point
    inner = larger(larger(to_low, to_high), zero)
    if not around < np.inf:
        return inner
    max_distance = larger(load(boxes, high, first) - point, point - load(boxes, axis, first))
    return smaller(inner, splat(around) - max_distance)


@inline
def _squares_of_boxes(boxes, first, point, ring):
    """The least squares of the ways from a point to the `LANES` boxes from ``first`` on."""
    dim = boxes.shape[0] // 2
    x = box_offsets(boxes, 0, dim, first, splat(point[0]), ring[0])
    y = box_offsets(boxes, 1, dim + 1, first, splat(point[1]), ring[1])
    square = x * x + y * y
    if dim == 3:
        z = box_offsets(boxes, 2, 5, first, splat(point[2]), ring[2])
        square = square + z * z
    return square


@inline
def _near_boxes(boxes, worlds, first, query, ring, bound):
    """Which of the `LANES` boxes from ``first`` on may hold points whose square is within the bound."""
    is_near = _squares_of_boxes(boxes, first, query.point, ring) <= splat(bound)
    if worlds.shape[1] > 0:
        world = splat(query.env)
        is_near = is_near & (load(worlds, 0, first) <= world) & (world <= load(worlds, 1, first))
    return bits(is_near)


@inline
def _bound(limit, scale, kind, more, least):
    """A square that no point within the limit exceeds, however both were rounded.

    It is finite, unlike the distance to a box that holds nothing.
    """
    far = limit * scale
    return kind(min(far * far * more + least, float(np.finfo(kind).max)))


@always_inline
def _gaps(columns, axis, first, query, search):
    """How far `LANES` points or boxes are from the query on one axis, the shorter way around."""
    if search.boxed:
        high = axis + search.points.shape[1]
        return box_offsets(columns, axis, high, first, splat(query.point[axis]), search.ring[axis])
    return gaps(columns, axis, first, query.point[axis], search.ring[axis])


@always_inline
def _look_into(held_points, leaf, query, search, bound, scratch, held):
    """Append the points of a leaf that are within the bound; returns how many are held now."""
    columns, ids, first = held_points.columns, held_points.ids, leaf * LANES
    x, y = _gaps(columns, 0, first, query, search), _gaps(columns, 1, first, query, search)
    square = x * x + y * y
    if search.points.shape[1] == 3:
        z = _gaps(columns, 2, first, query, search)
        square = square + z * z
    names, own_name = load(ids, 0, first), splat(query.me)
    is_near = (square <= splat(bound)) & ((names < own_name) | (own_name < names))
    if ids.shape[0] > 1:
        theirs, world = load(ids, 1, first), splat(query.env)
        is_near = is_near & (theirs <= world) & (world <= theirs)
    return put_hits(is_near, search.count - first, square, names, scratch.squares, scratch.ids, held)


@inline
def _keep_nearest(distances, ids, held, wanted):
    """Sort row 0 by distance, then id, and keep the first entries; returns how many are left, in both rows.

    The position of each entry is the number of nearer ones: no branch depends on a comparison; for so few
    unsorted entries mispredicted branches would cost more than all comparisons together.
    """
    store(distances, 0, held, splat(np.nan))  # nearer than nothing
    places = 0
    for i in range(held):
        distance = splat(distances[0, i])
        nearer = 0
        for j in range(0, held, LANES):
            nearer += count_lanes(bits(load(distances, 0, j) < distance))
        places += nearer
        distances[1, unsigned(nearer)] = distances[0, i]
        ids[1, unsigned(nearer)] = ids[0, i]
    if places != held * (held - 1) // 2:  # some are equally far
        for i in range(held):
            distance = splat(distances[0, i])
            nearer = 0
            for j in range(0, held, LANES):
                before = (load(distances, 0, j) <= distance) & (load(ids, 0, j) < splat(ids[0, i]))
                nearer += count_lanes(bits((load(distances, 0, j) < distance) | before))
            distances[1, nearer] = distances[0, i]
            ids[1, nearer] = ids[0, i]
    left = min(held, wanted)
    for i in range(left):
        distances[0, i] = distances[1, i]
        ids[0, i] = ids[1, i]
    return left


@inline
def _take_nearest(query, search, scratch, ready, held):
    """The nearest of the held points, by distance, then number; returns how many there are."""
    distances, ids = scratch.distances, scratch.ids
    for k in range(ready, held):
        square = scratch.squares[0, k]
        if search.plain and search.low < square < search.high:
            distances[0, k] = math.sqrt(square)
        elif search.boxed:
            distances[0, k] = distance_to_box(search.others, np.int64(ids[0, k]), query.point)
        else:
            distances[0, k] = distance(
                search.points, search.others, query.row, np.int64(ids[0, k]), search.period
            )
    return _keep_nearest(distances, ids, held, search.wanted)


@inline
def _near_on_the_curve(held_points, place, query, search, bound, scratch):
    """How far the wanted points are at most, by those next to a place on the curve; inf if they are fewer."""
    leaf, reach, last = place // LANES, search.wanted // LANES + 1, (search.count - 1) // LANES
    held = np.int64(0)
    for other in range(max(leaf - reach, 0), min(leaf + reach, last) + 1):
        if held > scratch.squares.shape[1] - 3 * LANES:
            break
        held = _look_into(held_points, other, query, search, bound, scratch, held)
    held = _take_nearest(query, search, scratch, np.int64(0), held)
    return scratch.distances[0, search.wanted - 1] if held == search.wanted else np.inf


@inline
def _is_known(points, i, last, same, me, ids, wanted):
    """Whether the answer for row ``last`` holds all that row ``i`` may find, except row ``last`` itself.

    Both are in one place, and ``i`` is not in that answer: without ``i`` there would be one too few.
    """
    for axis in range(points.shape[1]):
        if points[i, axis] != points[last, axis]:
            return False
    if same:
        for k in range(wanted):
            if ids[0, k] == me:
                return False
    return True


@always_inline
def _search_along(given, begin, end, scratch, ids, distances, boxed):
    tree, count, scale, r, points, others, sorted_queries, known, keys, wanted = given
    same = known.shape[0] == 0
    held_points, levels, stack = tree.points, tree.levels, scratch.stack
    queries, query_ids = sorted_queries.columns, sorted_queries.ids
    near_distances, near_ids = scratch.distances, scratch.ids
    kind, itemsize = queries.dtype.type, queries.itemsize
    dim, around = queries.shape[0], scale.around
    top = levels.shape[0] - 2
    low, high = kind(2.0**-60), kind(2.0**100)
    more, least = 1.0 + 2.0**-20, 2.0**-126
    if itemsize == 8:
        low, high = kind(2.0**-400), kind(2.0**900)
        more, least = 1.0 + 2.0**-48, 2.0**-1022
        if points.itemsize == 4:  # distances are rounded to float32, the least to multiples of 2**-149
            more, least = 1.0 + 2.0**-20, 2.0**-270
    ring = (around[0], around[1], around[dim - 1])
    plain = scale.factor == 1.0 and itemsize == points.itemsize
    search = _Search(boxed, points, others, np.int64(count), wanted, scale.period, ring, plain, low, high)
    full = scratch.squares.shape[1] - 3 * LANES
    # A little more than the root, because libraries have no `pow` on all platforms.
    wider = 1.0 + _DEVIATIONS / math.sqrt(wanted) / dim
    before = (kind(0), kind(0), kind(0))
    usual, farthest, world, last = np.inf, np.inf, np.int32(-1), np.int64(-1)
    tests, checked, sorting = np.int64(0), np.int64(0), np.int64(wanted * wanted // LANES)
    for turn in range(begin, end):
        made = tests + sorting * (turn - begin)
        if made > checked + OFTEN // 4:
            checked = made
            if not goes_on():
                break
        i = np.int64(query_ids[0, turn])
        me = query_ids[0, turn] if same else np.int32(-1)
        env = query_ids[1, turn] if query_ids.shape[0] > 1 else np.int32(0)
        point = (queries[0, turn], queries[1, turn], queries[dim - 1, turn])
        query = _Query(point, env, me, i)
        x, y = float(point[0]) - float(before[0]), float(point[1]) - float(before[1])
        z = float(point[2]) - float(before[2]) if dim == 3 else 0.0
        step = math.sqrt(x * x + y * y + z * z) / scale.factor
        there = env == world and farthest < np.inf and step == 0.0
        if there and _is_known(points, i, last, same, me, near_ids, wanted):
            held = np.int64(wanted)
            if same:
                near_distances[0, wanted], near_ids[0, wanted] = 0.0, np.int32(last)
                held = _keep_nearest(near_distances, near_ids, held + 1, wanted)
        else:
            must = min(r, (farthest + step) * more) if env == world else r
            limit = min(must, wider * usual)
            sure = env != world or step > _JUMP * usual
            while True:
                if sure:
                    bound = kind(np.inf)
                    place = turn if same else place_among(known, keys[turn], known.shape[0])
                    must = min(must, _near_on_the_curve(held_points, place, query, search, bound, scratch))
                    limit = must
                bound = _bound(limit, scale.factor, kind, more, least)
                held = ready = np.int64(0)
                stack[0] = np.int64(top) << _LEVEL
                waiting = 1
                while waiting > 0:
                    waiting -= 1
                    level, group = stack[waiting] >> _LEVEL, stack[waiting] & ((np.int64(1) << _LEVEL) - 1)
                    first = levels[level] + group * LANES
                    lanes = _near_boxes(tree.boxes, tree.worlds, first, query, ring, bound)
                    tests += LANES * (1 + count_lanes(lanes) * (level == 0))
                    while lanes != 0:
                        child = group * LANES + lowest_lane(lanes)
                        lanes &= lanes - 1
                        if level > 0:
                            stack[waiting] = ((level - 1) << _LEVEL) | child
                            waiting += 1
                            continue
                        held = _look_into(held_points, child, query, search, bound, scratch, held)
                        if held > full:
                            held = ready = _take_nearest(query, search, scratch, ready, held)
                            if held == wanted:
                                limit = min(limit, near_distances[0, wanted - 1])
                                bound = _bound(limit, scale.factor, kind, more, least)
                if sure or limit >= must or held >= wanted:
                    held = _take_nearest(query, search, scratch, ready, held)
                    # Beyond the limit a point that is not held may be as far as one that is.
                    if sure or limit >= must or near_distances[0, wanted - 1] <= limit:
                        break
                sure = True
            farthest = near_distances[0, wanted - 1] if held == wanted else np.inf
            usual = farthest if sure or usual == np.inf else usual + _NEWEST * (farthest - usual)
        before, world, last = point, env, i
        row = unsigned(i)
        written = np.int64(0)
        for k in range(held):
            if near_distances[0, k] <= r:
                ids[row, k] = near_ids[0, k]
                distances[row, k] = near_distances[0, k]
                written += 1
        for k in range(written, ids.shape[1]):
            ids[row, k] = -1
            distances[row, k] = np.inf
    return tests


@jit
def search_points(search, begin, end, scratch, ids, distances):
    """The nearest of the query points ``begin .. end - 1`` along the curve; how many comparisons were made.

    The columns of ``ids`` and ``distances`` beyond those wanted become -1 and inf.
    """
    # With a constant in place of this condition the search among points takes 15 % less.
    if search.tree.points.columns.shape[0] > search.points.shape[1]:
        return _search_along(search, begin, end, scratch, ids, distances, True)
    return _search_along(search, begin, end, scratch, ids, distances, False)


# -----------------------------------------------------------------------------------------------------------
# The nearest of a few points, read, checked and searched in one call: the nearest box is opened first.


_MOST_OPEN = 128  # boxes that wait: `LANES` on each of at most eight levels


@holds_gil
@rows(values=(2, 3))
def nearest_in_tree(tree, n, around, values, k, r):
    """Ids and distances of the ``k`` nearest of each within ``r``, in one row, and whether all are sound.

    One point after the other, -1 and inf where there are fewer; ``n`` points are in the tree.
    """
    columns, point_ids, boxes, levels = tree.points.columns, tree.points.ids, tree.boxes, tree.levels
    kind, dim, squares = columns.dtype.type, columns.shape[0], one_row(LANES, columns.dtype)
    point, other = one_row(columns.shape[0], columns.dtype), one_row(columns.shape[0], columns.dtype)
    m, reach, sound = values.shape[0], kind(r), r >= 0
    all_ids, all_distances = result((1, m * k), np.int32), result((1, m * k), columns.dtype)
    ids, distances = with_columns(all_ids, k), with_columns(all_distances, k)
    groups, least = many(_MOST_OPEN, np.int64), many(_MOST_OPEN, np.float64)
    ring = (around[0], around[1], around[dim - 1])
    for turn in range(m):
        for place in range(k):
            ids[turn, place], distances[turn, place] = -1, np.inf
        sound &= take_place(values[turn], around, point)
        place = (point[0, 0], point[0, 1], point[0, dim - 1])
        count, bound = np.int64(0), safe_bound(columns, reach * reach)
        groups[0], least[0], waiting = np.int64(levels.shape[0] - 2) << _LEVEL, 0.0, np.int64(sound)
        while waiting > 0:
            waiting -= 1
            if least[waiting] > bound:
                continue
            level, group = groups[waiting] >> _LEVEL, groups[waiting] & ((np.int64(1) << _LEVEL) - 1)
            if level < 0:
                near_bits = bits(squares_of_ways(columns, group * LANES, point, 0, around) <= splat(bound))
                near_bits &= (1 << min(n - group * LANES, LANES)) - 1
                while near_bits != 0:
                    column = group * LANES + lowest_lane(near_bits)
                    near_bits &= near_bits - 1
                    for axis in range(dim):  # as it came, it lies elsewhere in memory
                        other[0, axis] = columns[axis, column]
                    d = distance(point, other, 0, 0, around)
                    if d <= reach:
                        count = insert_nearest(
                            ids, distances, turn, k, count, np.int64(point_ids[0, column]), d
                        )
                        if count == k:
                            farthest = distances[turn, k - 1]
                            bound = min(bound, safe_bound(columns, farthest * farthest))
                continue
            node, infinite = levels[level] + group * LANES, splat(kind(np.inf))
            box_squares = _squares_of_boxes(boxes, node, place, ring)
            store(squares, 0, 0, box_squares)
            # Boxes that hold nothing are infinitely far away, which an infinite bound would let pass.
            lanes, first = bits((box_squares <= splat(bound)) & (load(boxes, 0, node) < infinite)), waiting
            while lanes != 0:
                lane = lowest_lane(lanes)
                lanes &= lanes - 1
                groups[waiting] = ((level - 1) << _LEVEL) | (group * LANES + lane)
                least[waiting] = squares[0, lane]
                waiting += 1
                # The nearest is opened first.
                before = waiting - 2
                if before >= first and least[before] < least[waiting - 1]:
                    groups[before], groups[waiting - 1] = groups[waiting - 1], groups[before]
                    least[before], least[waiting - 1] = least[waiting - 1], least[before]
    return all_ids[0], all_distances[0], sound
