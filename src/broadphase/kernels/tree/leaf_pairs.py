"""All pairs within the tree of moving boxes, and between it and the tree of static ones.

Two nodes that overlap are replaced by those of their children that do, level by level, until pairs of leaves
are left; then the boxes of these are compared, one against 16.
"""

import numpy as np

from broadphase.kernels.arrays.emit import grow_for_lanes, put
from broadphase.kernels.boxes.filters import may_pair
from broadphase.kernels.boxes.overlap import overlap
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import (
    LANES,
    bits,
    load,
    lowest_lane,
    mask_of,
    put_lanes,
    put_pairs,
    splat,
    store,
)
from broadphase.kernels.tree.nodes import HEIGHT, MOVING, WIDTH, count_of, place_above


@inline
def meeting(edges, node, lane, at, slot, dim):
    """Which of the slots of ``node`` from ``lane`` on meet a slot of node ``at``."""
    row = node * (2 * dim)
    own = at * (2 * dim)
    meets = load(edges, row, lane) <= splat(edges[own + dim, slot])
    meets = meets & (splat(edges[own, slot]) <= load(edges, row + dim, lane))
    meets = meets & (load(edges, row + 1, lane) <= splat(edges[own + dim + 1, slot]))
    meets = meets & (splat(edges[own + 1, slot]) <= load(edges, row + dim + 1, lane))
    if dim == 3:
        meets = meets & (load(edges, row + 2, lane) <= splat(edges[own + 5, slot]))
        meets = meets & (splat(edges[own + 2, slot]) <= load(edges, row + 5, lane))
    return meets


@inline
def meeting_bits(edges, node, at, slot, dim):
    """The same for all 16 slots, as bits."""
    found = bits(meeting(edges, node, 0, at, slot, dim))
    for lane in range(LANES, WIDTH, LANES):
        found |= bits(meeting(edges, node, lane, at, slot, dim)) << lane
    return found


@inline
def _add_children(edges, children, links, a, b, dim, out, end):
    """Append the pairs of children of ``a`` and ``b`` that meet; a node with itself: each once."""
    above, place = place_above(links, b)
    candidates = (1 << count_of(links, a)) - 1
    if a != b:
        candidates = meeting_bits(edges, a, above, place, dim)
    while candidates != 0:
        i = lowest_lane(candidates)
        candidates &= candidates - 1
        later = -1 if a != b else -1 << i
        for lane in range(0, WIDTH, LANES):
            wanted = mask_of(later >> lane) & meeting(edges, b, lane, a, i, dim)
            store(out, 0, end, splat(children[a, i]))
            end += put_lanes(out, 1, end, load(children, b, lane), wanted)
    return end


@inline
def _add_lower(edges, children, links, a, b, dim, out, end):
    """Append the pairs of a child of ``a`` with ``b``."""
    above, place = place_above(links, b)
    for lane in range(0, WIDTH, LANES):
        store(out, 1, end, splat(np.int32(b)))
        end += put_lanes(out, 0, end, load(children, a, lane), meeting(edges, a, lane, above, place, dim))
    return end


@jit
def pair_leaves(edges, children, links, other):
    """Pairs of leaves that overlap: of the moving tree with itself or (``other`` 1) with the static tree.

    Returns ``leaves, count, tests``, where ``leaves[0, :count]`` are moving ones.
    """
    dim = edges.shape[0] // children.shape[0] // 2
    now = np.empty((2, 1024), np.int32)
    then = np.empty((2, 1024), np.int32)
    now[0, 0] = children[0, MOVING]
    now[1, 0] = children[0, other]
    count = 1 if children[0, MOVING] > 0 and children[0, other] > 0 else 0
    tests = np.int64(0)
    level = np.int64(children[0, HEIGHT + MOVING]) - 1
    other_level = np.int64(children[0, HEIGHT + other]) - 1
    while count > 0 and (level > 0 or other_level > 0):
        end = np.int64(0)
        for at in range(count):
            if end + WIDTH * WIDTH + LANES > then.shape[1]:
                larger = np.empty((2, 2 * then.shape[1]), np.int32)
                for k in range(end):
                    larger[0, k] = then[0, k]
                    larger[1, k] = then[1, k]
                then = larger
            a = np.int64(now[0, at])
            b = np.int64(now[1, at])
            tests += count_of(links, a)
            if level == other_level:
                end = _add_children(edges, children, links, a, b, dim, then, end)
            elif level > other_level:
                end = _add_lower(edges, children, links, a, b, dim, then, end)
            else:
                before = end
                end = _add_lower(edges, children, links, b, a, dim, then, end)
                for k in range(before, end):
                    then[0, k], then[1, k] = then[1, k], then[0, k]
        if level == other_level:
            level -= 1
            other_level -= 1
        elif level > other_level:
            level -= 1
        else:
            other_level -= 1
        now, then = then, now
        count = end
    return now, count, tests


@jit
def join_leaves(
    edges, children, links, leaves, first, last, boxes, exact, touching, filter, limit,  # noqa: A002
):  # fmt: skip
    """Pairs of boxes of the leaf pairs ``first .. last - 1``; returns ``out, found, tests``.

    ``exact``: a slot that meets is a pair, without another look at boxes and rules.  Stops when there are
    more than ``limit``.
    """
    dim = boxes.shape[1] // 2
    out = np.empty((8 * (last - first) + WIDTH * WIDTH + LANES, 2), np.int32)
    found = np.int64(0)
    tests = np.int64(0)
    for at in range(first, last):
        if found > limit:
            break
        a = np.int64(leaves[0, at])
        b = np.int64(leaves[1, at])
        if found + WIDTH * WIDTH + LANES > out.shape[0]:
            out = grow_for_lanes(out, found, WIDTH * WIDTH + LANES)
        candidates = (1 << count_of(links, a)) - 1
        if a != b:
            above, place = place_above(links, b)
            candidates = meeting_bits(edges, a, above, place, dim)
            tests += count_of(links, a)
        while candidates != 0:
            i = lowest_lane(candidates)
            candidates &= candidates - 1
            later = -1 if a != b else -2 << i
            tests += count_of(links, b) - (0 if a != b else i + 1)
            for lane in range(0, WIDTH, LANES):
                wanted = mask_of(later >> lane) & meeting(edges, b, lane, a, i, dim)
                if exact:
                    found += put_pairs(out, found, splat(children[a, i]), load(children, b, lane), wanted)
                else:
                    left = bits(wanted)
                    one = np.int64(children[a, i])
                    while left != 0:
                        two = np.int64(children[b, lane + lowest_lane(left)])
                        left &= left - 1
                        if overlap(boxes, one, two, touching) and may_pair(filter, one, two):
                            put(out, found, one, two)
                            found += 1
    return out, found, tests
