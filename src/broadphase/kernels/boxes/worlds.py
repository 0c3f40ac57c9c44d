"""Queries of many worlds: the boxes of a world, or of a part of a large one, compared `LANES` at a time.

The boxes of a world follow each other in columns of float32, rounded outward, so a comparison of columns
never misses what the exact test of `broadphase.kernels.boxes.queries` accepts; that decides all that remains.
In a world of more than `FEW` boxes, which lie along a curve, `LANES` that follow each other have a bounding
box; if these are more than `FEW` they have bounding boxes in turn.  A query begins with all boxes of the
highest level: their *slots* are the range ``tops[world]`` of the columns.  ``names`` holds the id of each
slot's box, ``~slot`` of the first of the `LANES` slots below it, or `NOTHING`, where the box is empty.

A query searches its world, then the one that all share; or, with the number `EVERY`, all of them in turn.
"""

from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.arrays.passes import PIECE, looked
from broadphase.kernels.arrays.results import larger as larger_rows
from broadphase.kernels.arrays.results import put_row
from broadphase.kernels.boxes.overlap import SHARED, lanes_that_meet, overlap
from broadphase.kernels.boxes.queries import (
    distance_to_box,
    farthest,
    keep_nearest,
    passes,
    ray_distance,
    write_normal,
)
from broadphase.kernels.machine.interrupts import goes_on
from broadphase.kernels.machine.jit import always_inline, inline, jit
from broadphase.kernels.machine.memory import few, one_row, some_rows
from broadphase.kernels.machine.simd import (
    LANES,
    absolute,
    bits,
    larger,
    load,
    lowest_lane,
    root,
    select,
    smaller,
    smallest,
    splat,
    store,
)

# With 32 to 64 boxes a world its nodes cost twice as much as all its boxes; from 128 to 256 rays would gain
# from more, and box queries and the nearest from less.
FEW = 128
BLOCK = 16
"""Rays that are prepared together; 32 take more than a page of stack, which Windows touches page by page."""
AT_ONCE = 64
NOTHING = np.int32(-(2**31))
EVERY = np.int64(-1)
_LAST = np.float32(np.finfo(np.float32).max)


class Worlds(NamedTuple):
    """The boxes of all worlds, each with the ranges of its slots; the last world has none."""

    columns: Any
    """Lower edges, then upper; a row for each axis."""
    names: Any
    """One row."""
    tops: Any
    shared: Any
    """The number of the world that all share; that of the last if there is none."""


@inline
def _first_world(asked):
    """The first world that a query searches."""
    return np.int64(0) if asked == EVERY else asked


@inline
def _next_world(worlds, asked, world):
    """The world to search after this one; -1 after the last."""
    if asked == EVERY:
        world += 1
        return world if world < worlds.tops.shape[0] else np.int64(-1)
    if world == worlds.shared or worlds.shared == worlds.tops.shape[0] - 1:
        return np.int64(-1)
    return worlds.shared


@inline
def whole(count):
    """So many slots, filled up to `LANES`."""
    return (count + LANES - 1) // LANES * LANES


@inline
def enclose(columns, highs, first, last, boxes, node):
    """Write the box around the columns ``first .. last - 1``; upper edges are the rows from ``highs`` on."""
    dim = boxes.shape[0] // 2
    for axis in range(dim):
        low, high = columns[axis, first], columns[highs + axis, first]
        for k in range(first + 1, last):
            low, high = min(low, columns[axis, k]), max(high, columns[highs + axis, k])
        boxes[axis, node], boxes[dim + axis, node] = low, high


@jit
def lay_worlds(boxes, ids, starts, firsts, begin, end, columns, names, tops, slots):
    """Write the worlds ``begin .. end - 1``, and the slot of each id; returns how wide the lowest nodes are.

    The boxes of world ``w`` are ``ids[starts[w]:starts[w + 1]]``.  Slots that are not written hold empty
    boxes with the name `NOTHING`.
    """
    dim, width, checked = boxes.shape[1] // 2, 0.0, starts[begin]
    for w in range(begin, end):
        if starts[w] > checked + PIECE:
            checked = starts[w]
            if not goes_on():
                break
        base = slot = firsts[w]
        for k in range(starts[w], starts[w + 1]):
            i = ids[k]
            _put_box(boxes, i, columns, slot)
            slots[i] = slot
            names[0, slot] = i
            slot += 1
        slot = base + whole(slot - base)
        while slot - base > FEW:
            below, base = base, slot
            for node in range((base - below) // LANES):
                first = below + node * LANES
                enclose(columns, dim, first, first + LANES, columns, slot)
                for axis in range(dim if below == firsts[w] else 0):
                    side = np.float64(columns[dim + axis, slot]) - np.float64(columns[axis, slot])
                    width += side if side < np.inf else 0.0
                names[0, slot] = ~first
                slot += 1
            slot = base + whole(slot - base)
        tops[w, 0], tops[w, 1] = base, slot
    return width


@inline
def _put_box(boxes, i, columns, slot):
    """Write box ``i`` into a slot, rounded outward."""
    dim = boxes.shape[1] // 2
    for axis in range(dim):
        low, high = boxes[i, axis], boxes[i, dim + axis]
        if boxes.itemsize == 4:
            columns[axis, slot], columns[dim + axis, slot] = low, high
        else:
            columns[axis, slot], columns[dim + axis, slot] = rounded_down(low), -rounded_down(-high)


@jit
def follow(boxes, ids, slots, starts, firsts, columns):
    """Write the boxes of some ids again, and make the bounding boxes around them large enough."""
    dim = boxes.shape[1] // 2
    for k in range(ids.shape[0]):
        slot = slots[ids[k]]
        _put_box(boxes, ids[k], columns, slot)
        world = np.searchsorted(firsts, slot, "right") - 1
        while starts[world] == starts[world + 1]:  # it begins where the next does
            world -= 1
        base, size = firsts[world], whole(starts[world + 1] - starts[world])
        while size > FEW:
            above = base + size + (slot - base) // LANES
            for axis in range(dim):
                columns[axis, above] = min(columns[axis, above], columns[axis, slot])
                columns[dim + axis, above] = max(columns[dim + axis, above], columns[dim + axis, slot])
            base, slot, size = base + size, above, whole(size // LANES)


@jit
def place_queries(rows, envs, low, table, out):
    """Copy queries, and write into the last column what the table says of their environments from ``low`` on.

    Its last number stands for all environments beyond it, and `EVERY` for the one that all share.
    ``out`` may be ``rows``, with the column to spare.
    """
    columns, last = out.shape[1] - 1, table.shape[0] - 1
    for q in range(rows.shape[0]):
        if rows.shape[1] == columns:
            for column in range(columns):
                out[q, column] = rows[q, column]
        known = low <= envs[q] < low + last
        out[q, columns] = EVERY if envs[q] == SHARED else table[envs[q] - low if known else last]


@inline
def rounded_down(value):
    """A float32 that is not above a number, without a branch."""
    largest = np.float64(np.finfo(np.float32).max)
    value = np.float64(value)
    return np.float32(min(value - (min(abs(value), largest) * 2.0**-23 + 2.0**-149), largest))


_LESS, _MORE = 1.0 - 2.0**-21, 1.0 + 2.0**-21


class _Axis(NamedTuple):
    """A ray on one axis."""

    begin: Any
    step: Any
    enters: Any
    """The column of the edges through which it enters boxes."""
    leaves: Any
    before: Any
    """As float32: its origin on the far side of where it is, and units of time for each of length, less than
    they are; so it enters no later.  NaN says nothing about hits: `larger` and `smaller` pass over it."""
    less: Any
    beyond: Any
    """The other way: it leaves no earlier."""
    more: Any


@inline
def _prepare(rays, begin, end, exact, rough):
    """Write rays as columns, with a unit direction as `set_ray` makes it, and what `_visit_ray` takes.

    For all of a block at once, because divisions are several times as fast then.
    """
    dim = (rays.shape[1] - 2) // 2
    for k in range(BLOCK):
        q = min(begin + k, end - 1)
        for column in range(2 * dim + 1):
            exact[column, k] = rays[q, column]
    for k in range(0, BLOCK, LANES):
        x, y, z = load(exact, dim, k), load(exact, dim + 1, k), load(exact, 2 * dim - 1, k)
        largest = larger(larger(absolute(x), absolute(y)), absolute(z))
        x, y = x / largest, y / largest
        total = x * x + y * y
        if dim == 3:
            z = z / largest
            total = total + z * z
        length = root(total)
        store(exact, dim, k, x / length)
        store(exact, dim + 1, k, y / length)
        if dim == 3:
            store(exact, dim + 2, k, z / length)
    for axis in range(dim):
        for k in range(BLOCK):
            origin, step = exact[axis, k], exact[dim + axis, k]
            above, below = -rounded_down(-origin), rounded_down(origin)
            rate = 1.0 / step if step != 0.0 else np.inf
            rate = np.nan if 2.0**100 < abs(rate) < np.inf else rate
            rough[4 * axis, k] = below if step < 0.0 else above
            rough[4 * axis + 1, k] = rate * _LESS
            rough[4 * axis + 2, k] = above if step < 0.0 else below
            rough[4 * axis + 3, k] = rate * _MORE


@always_inline
def _axis(exact, rough, axis, k):
    dim = exact.shape[0] // 2
    step = exact[dim + axis, k]
    turned = dim if step < 0.0 else 0
    return _Axis(
        exact[axis, k], step, axis + turned, axis + dim - turned,
        rough[4 * axis, k], rough[4 * axis + 1, k], rough[4 * axis + 2, k], rough[4 * axis + 3, k],
    )  # fmt: skip


@always_inline
def _line(exact, rough, k):
    """The three axes of a prepared ray, and its length as a float32 that is not below it."""
    dim = exact.shape[0] // 2
    limit = -rounded_down(-exact[2 * dim, k])
    return _axis(exact, rough, 0, k), _axis(exact, rough, 1, k), _axis(exact, rough, dim - 1, k), limit


@always_inline
def _visit_ray(columns, begin, end, line, keys, base):
    """Write the keys of slots: a time not above that of the exact test, inf where the ray misses.

    Returns the least.
    """
    x, y, z, limit = line
    least = splat(np.float32(np.inf))
    for slot in range(begin, end, LANES):
        zero, inf = splat(np.float32(0)), splat(np.float32(np.inf))
        enters = larger((load(columns, x.enters, slot) - splat(x.before)) * splat(x.less), zero)
        leaves = smaller((load(columns, x.leaves, slot) - splat(x.beyond)) * splat(x.more), splat(limit))
        enters = larger((load(columns, y.enters, slot) - splat(y.before)) * splat(y.less), enters)
        leaves = smaller((load(columns, y.leaves, slot) - splat(y.beyond)) * splat(y.more), leaves)
        if columns.shape[0] == 6:
            enters = larger((load(columns, z.enters, slot) - splat(z.before)) * splat(z.less), enters)
            leaves = smaller((load(columns, z.leaves, slot) - splat(z.beyond)) * splat(z.more), leaves)
        enters = select(enters <= leaves, smaller(enters, splat(_LAST)), inf)
        store(keys, 0, base + slot - begin, enters)
        least = smaller(enters, least)
    return smallest(least)


@inline
def _first_not_above(keys, bound):
    """Where the first key is that is at most the bound; there is one.

    `AT_ONCE` at a time, so that small worlds need no branch.
    """
    found = first = 0
    while True:
        for k in range(0, AT_ONCE, LANES):
            found |= bits(load(keys, 0, first + k) <= bound) << k
        if found != 0:
            return first + lowest_lane(found)
        first += AT_ONCE


@inline
def _least(keys, held):
    least = splat(np.float32(np.inf))
    for slot in range(0, held, LANES):
        least = smaller(load(keys, 0, slot), least)
    return smallest(least)


@inline
def _name_of(worlds, firsts, begin, top, slot):
    """The name of a slot that a query compares: those of its world, then those of opened boxes."""
    return np.int64(worlds.names[0, begin + slot if slot < top else firsts[slot // LANES] + slot % LANES])


@jit
def first_hits(worlds, boxes, sets, rays, ignored, begin, end, rule, scratch, hits):
    """Write the first ``hits`` of rays ``begin .. end - 1``: ids, distances and normals; returns the tests.

    ``sets`` are categories and masks of the boxes, ``rule`` is ``touching, category, mask``.  Normals may
    have no columns.
    """
    (categories, masks), (touching, category, mask), (ids, distances, normals) = sets, rule, hits
    dim = boxes.shape[1] // 2
    columns, tops, (keys, firsts) = worlds.columns, worlds.tops, scratch
    ray = few(2 * dim + 1, np.float64)
    exact, rough = some_rows(7, BLOCK, np.float64)[: 2 * dim + 1], some_rows(12, BLOCK, np.float32)
    tests = checked = np.int64(0)
    for q in range(begin, end):
        k = (q - begin) % BLOCK
        if k == 0:
            _prepare(rays, q, end, exact, rough)
            checked = looked(tests, checked)
            if checked < 0:
                break
        for column in range(2 * dim + 1):
            ray[column] = exact[column, k]
        ignored_id, asked = ignored[q] if ignored.shape[0] > 0 else -1, np.int64(rays[q, 2 * dim + 1])
        hit, nearest, world = np.int64(-1), np.inf, _first_world(asked)
        x, y, z, limit = _line(exact, rough, k)
        while world >= 0:
            first, top = tops[world, 0], tops[world, 1] - tops[world, 0]
            key, held = _visit_ray(columns, first, first + top, (x, y, z, limit), keys, 0), top
            tests += top
            while key <= _LAST and key <= nearest:
                slot = _first_not_above(keys, splat(key))
                keys[0, slot] = np.inf
                name = _name_of(worlds, firsts, first, top, slot)
                if name >= 0:
                    if name != ignored_id and passes(categories, masks, name, category, mask):
                        distance = ray_distance(boxes, name, ray, touching)
                        if distance >= 0.0 and (distance < nearest or (distance == nearest and name < hit)):
                            hit, nearest = name, distance
                            limit = -rounded_down(-nearest)
                elif name != NOTHING:
                    _visit_ray(columns, ~name, ~name + LANES, (x, y, z, limit), keys, held)
                    firsts[held // LANES] = ~name
                    held += LANES
                    tests += LANES
                key = _least(keys, held)
            world = _next_world(worlds, asked, world)
        ids[q], distances[q] = hit, nearest
        if normals.shape[1] != 0 and hit >= 0:
            write_normal(boxes, hit, ray, nearest, normals[q])
        else:
            for axis in range(normals.shape[1]):
                normals[q, axis] = 0.0
    return tests


@jit
def search_boxes(worlds, boxes, sets, queries, rule, scratch, rows):
    """Rows ``[query, id]`` of what overlaps each box: the rows, how many there are, and the tests."""
    return _search(worlds, boxes, sets, queries, False, rule, scratch, rows)


@jit
def search_rays(worlds, boxes, sets, rays, rule, scratch, rows):
    """The same of what the rays hit."""
    return _search(worlds, boxes, sets, rays, True, rule, scratch, rows)


@always_inline
def _search(worlds, boxes, sets, queries, by_ray, rule, scratch, rows):
    dim = boxes.shape[1] // 2
    columns, names, tops, _ = worlds
    (categories, masks), (keys, pending), (touching, category, mask) = sets, scratch, rule
    query, limits = few(2 * dim + 1, np.float64), one_row(2 * dim, np.float32)
    exact, rough = some_rows(7, BLOCK, np.float64)[: 2 * dim + 1], some_rows(12, BLOCK, np.float32)
    known = boxes.itemsize == 4 and category < 0 and mask < 0 and not by_ray
    found = tests = checked = np.int64(0)
    for q in range(queries.shape[0]):
        k = q % BLOCK
        if by_ray:
            if k == 0:
                _prepare(queries, q, queries.shape[0], exact, rough)
            for column in range(2 * dim + 1):
                query[column] = exact[column, k]
        else:
            for axis in range(dim):
                query[axis], query[dim + axis] = queries[q, axis], queries[q, dim + axis]
                limits[0, axis] = -farthest(-query[axis], touching, np.float32)
                limits[0, dim + axis] = farthest(query[dim + axis], touching, np.float32)
        asked, left = np.int64(queries[q, queries.shape[1] - 1]), np.int64(0)
        world = _first_world(asked)
        slot, end = tops[world, 0], tops[world, 1]
        tests += end - slot
        while True:
            if slot == end:
                if left > 0:
                    left -= 1
                    slot = pending[left]
                    end = slot + LANES
                    tests += LANES
                else:
                    world = _next_world(worlds, asked, world)
                    if world < 0:
                        break
                    slot, end = tops[world, 0], tops[world, 1]
                    tests += end - slot
                    continue
            if by_ray:
                _visit_ray(columns, slot, slot + LANES, _line(exact, rough, k), keys, 0)
                lanes = bits(load(keys, 0, 0) <= splat(_LAST))
            else:
                lanes = bits(lanes_that_meet(columns, 0, dim, slot, limits, 0))
            while lanes != 0:
                name = np.int64(names[0, slot + lowest_lane(lanes)])
                lanes &= lanes - 1
                if name == NOTHING:
                    continue
                if name < 0:
                    pending[left] = ~name
                    left += 1
                elif known or (
                    (
                        ray_distance(boxes, name, query, touching) >= 0.0
                        if by_ray
                        else overlap(boxes, name, queries, q, touching)
                    )
                    and passes(categories, masks, name, category, mask)
                ):
                    if found == rows.shape[0]:
                        rows = larger_rows(rows, found)
                    put_row(rows, found, q, name)
                    found += 1
            slot += LANES
        checked = looked(tests, checked)
        if checked < 0:
            break
    return rows, found, tests


@always_inline
def _squares(columns, slot, point):
    """Squares of distances that are not above those of the boxes in the slots."""
    dim = columns.shape[0] // 2
    zero = splat(np.float32(0))
    x = larger(load(columns, 0, slot) - splat(point[0]), splat(point[1]) - load(columns, dim, slot))
    y = larger(load(columns, 1, slot) - splat(point[2]), splat(point[3]) - load(columns, dim + 1, slot))
    x, y = larger(x, zero), larger(y, zero)
    square = x * x + y * y
    if dim == 3:
        z = larger(load(columns, 2, slot) - splat(point[4]), splat(point[5]) - load(columns, 5, slot))
        z = larger(z, zero)
        square = square + z * z
    # Squares below the least float32 are rounded up too.
    square = larger(square * splat(np.float32(1.0 - 2.0**-20)) - splat(np.float32(2.0**-140)), zero)
    return smaller(square, splat(_LAST))


# From so many keys on, boxes that do not pass are taken out of a node before its keys are added.
_MANY_KEYS = 512


@inline
def _any_passes(names, sets, rule, first, keys, held):
    """Whether the keys of a node hold a box that passes, or a node; the keys of other boxes are removed.

    All keys are read for each box that is taken: where none of 15,000 boxes passes, keeping them all takes a
    hundred times as long.
    """
    left = False
    for lane in range(LANES):
        name = np.int64(names[0, first + lane])
        if name >= 0 and not passes(sets[0], sets[1], name, *rule):
            keys[0, held + lane] = np.inf
        left |= keys[0, held + lane] <= _LAST
    return left


@jit
def search_nearest(worlds, boxes, sets, points, first, last, rule, scratch, distances, ids):
    """The nearest ids of the points ``first .. last - 1`` in any order, filled up with -1.

    Returns the tests.
    """
    dim, (categories, masks), (category, mask) = boxes.shape[1] // 2, sets, rule
    columns, tops, (keys, firsts) = worlds.columns, worlds.tops, scratch
    around = few(6, np.float32)
    tests = checked = np.int64(0)
    for q in range(first, last):
        checked = looked(tests, checked)
        if checked < 0:
            break
        for axis in range(dim):
            around[2 * axis] = -rounded_down(-points[q, axis])
            around[2 * axis + 1] = rounded_down(points[q, axis])
        point = (around[0], around[1], around[2], around[3], around[4], around[5])
        asked, kept, bound = np.int64(points[q, dim]), 0, _LAST
        world = _first_world(asked)
        while world >= 0:
            begin, top = tops[world, 0], tops[world, 1] - tops[world, 0]
            for slot in range(0, top, LANES):
                store(keys, 0, slot, _squares(columns, begin + slot, point))
            held, key = top, _least(keys, top)
            tests += top
            while key <= bound:
                slot = _first_not_above(keys, splat(key))
                keys[0, slot] = np.inf
                name = _name_of(worlds, firsts, begin, top, slot)
                if name >= 0:
                    if passes(categories, masks, name, category, mask):
                        far = distance_to_box(boxes, name, points[q])
                        kept = keep_nearest(distances, ids[q], kept, far, name)
                        if kept == ids.shape[1]:
                            bound = -rounded_down(-distances[0] * distances[0] * (1.0 + 2.0**-50))
                            bound = min(bound, _LAST)
                elif name != NOTHING:
                    store(keys, 0, held, _squares(columns, ~name, point))
                    firsts[held // LANES] = ~name
                    tests += LANES
                    if held < _MANY_KEYS or _any_passes(worlds.names, sets, rule, ~name, keys, held):
                        held += LANES
                key = _least(keys, held)
            world = _next_world(worlds, asked, world)
        for k in range(kept, ids.shape[1]):
            ids[q, k] = -1
    return tests
