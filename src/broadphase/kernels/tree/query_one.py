"""A single box query of the dynamic tree.

As `broadphase.kernels.tree.query` does for many, level by level in a queue, which lies on the stack: all that
is allocated is the memory of the result.  Where the queue is too short for the ids, it holds the leaves that
they are in, and for each slot of these a bit: that is enough for thousands of ids.  Where there are more, the
tree is gone through twice, to count and to write.
"""

import numpy as np

from broadphase.kernels.arrays.found_ids import ROOM, result
from broadphase.kernels.arrays.sort_ids import RANKED, rank
from broadphase.kernels.boxes.query_tests import passes
from broadphase.kernels.machine.jit import common, inline, jit, numbers
from broadphase.kernels.machine.scratch import many, one_row, some_rows
from broadphase.kernels.machine.simd import LANES, bits, count_lanes, load, lowest_lane, put_lanes
from broadphase.kernels.tree.nodes import HEIGHT, LOOSE, NODE_0, TALLEST, WIDTH, child_of
from broadphase.kernels.tree.query import SPARE, row_meets, set_limits, slots_met

_FIRST = np.int64(0)  # not a plain 0, for which Numba would compile once more


@jit
@numbers(values=(4, 6))
def search_box_by_rules(edges, children, boxes, categories, masks, values, touching, category, mask):
    """Ids that meet a box of any numbers; returns ``ids, tests``."""
    limits = one_row(len(values), edges.dtype)
    set_limits(values, touching, limits, NODE_0)
    return search_one(edges, children, boxes, categories, masks, limits, category, mask)


@inline
def search_one(edges, children, boxes, categories, masks, limits, category, mask):
    """Ids that meet a box, sorted if they are few; returns ``ids, tests``.

    ``limits``: its edges (`query.set_limits`).
    """
    queue = some_rows(1, ROOM, np.int32)
    asked = (edges, children, boxes, categories, masks, limits, category, mask)
    begin, end, tests = _find_one(*asked, queue)
    if begin < 0:
        leaves, found, tests = _walk(*asked, queue, many(0, np.int32))
        ids = result(found, np.int32)
        if leaves > ROOM // 2:
            _walk(*asked, queue, ids)
            return ids, tests
        at = _FIRST
        for leaf in range(leaves):
            at = _put_slots(children, np.int64(queue[0, 2 * leaf]), np.int64(queue[0, 2 * leaf + 1]), ids, at)
        return ids, tests
    found = end - begin
    ids = result(found, np.int32)
    if found <= RANKED:
        for at in range(begin, end):
            ids[rank(queue, begin, found, queue[0, at])] = queue[0, at]
    else:
        for k in range(found):
            ids[k] = queue[0, begin + k]
    return ids, tests


@inline
def _find_one(edges, children, boxes, categories, masks, limits, category, mask, queue):
    """Where in the queue the ids begin and end, and the tests; -1 where it is too short."""
    free = category < 0 and mask < 0
    begin = end = tests = np.int64(0)
    for tree in range(2):
        root = child_of(children, NODE_0, tree)
        if root > 0:
            start, stop = _descend(edges, children, root, tree, limits, queue, end)
            if start < 0:
                return np.int64(-1), end, tests
            tests += (start - end) * WIDTH
            if free and children[0, LOOSE + tree] == 0:
                if end == 0:
                    begin = start
                    end = stop
                    continue
                for at in range(start, stop):
                    queue[0, end] = queue[0, at]
                    end += 1
            else:
                tests += stop - start
                for at in range(start, stop):
                    i = np.int64(queue[0, at])
                    queue[0, end] = i
                    meets = row_meets(boxes, i, limits, NODE_0)
                    end += np.int64(meets and passes(categories, masks, i, category, mask))
    return begin, end, tests


@inline
def _descend(edges, children, root, tree, limits, queue, start):
    """As `query.descend`, for one query."""
    dim = limits.shape[1] // 2
    begin = start
    end = start + 1
    if end + SPARE > queue.shape[1]:
        return np.int64(-1), end
    queue[0, start] = root
    for _ in range(children[0, HEIGHT + tree]):
        tail = end
        for at in range(begin, end):
            if tail + SPARE > queue.shape[1]:
                return np.int64(-1), end
            node = np.int64(queue[0, at])
            for lane in range(0, WIDTH, LANES):
                meets = slots_met(edges, node * (2 * dim), dim, lane, limits, NODE_0)
                tail += put_lanes(queue, 0, tail, load(children, node, lane), meets)
        begin = end
        end = tail
    return begin, end


@common
def _walk(edges, children, boxes, categories, masks, limits, category, mask, queue, ids):
    """Depth first, in the order in which a queue would have the ids: as many as there is room for.

    Returns how many leaves hold any, how many ids there are, and the tests.  The leaves, as far as there is
    room, come into the queue, each with its hits as bits.
    """
    free = category < 0 and mask < 0
    # Of each level from the root down the node at hand, and which of its slots are left, as bits.
    nodes, left = many(TALLEST, np.int64), many(TALLEST, np.int64)
    leaves = found = tests = np.int64(0)
    for tree in range(2):
        root = child_of(children, NODE_0, tree)
        lowest = np.int64(children[0, HEIGHT + tree]) - 1
        sure = free and children[0, LOOSE + tree] == 0
        depth = np.int64(-1)
        if root > 0:
            depth = np.int64(0)
            nodes[0], left[0] = root, _slots(edges, root, limits)
            tests += WIDTH
        while depth >= 0:
            node, hits = nodes[depth], left[depth]
            if depth < lowest and hits != 0:
                left[depth] = hits & (hits - 1)
                depth += 1
                nodes[depth] = child_of(children, node, lowest_lane(hits))
                left[depth] = _slots(edges, nodes[depth], limits)
                tests += WIDTH
                continue
            depth -= 1
            if hits == 0:
                continue
            if not sure:
                tests += count_lanes(hits)
                met = hits
                while met != 0:
                    slot = lowest_lane(met)
                    met &= met - 1
                    i = child_of(children, node, slot)
                    counts = row_meets(boxes, i, limits, NODE_0)
                    counts = counts and passes(categories, masks, i, category, mask)
                    hits ^= np.int64(not counts) << slot
            if 2 * leaves < ROOM:
                queue[0, 2 * leaves], queue[0, 2 * leaves + 1] = node, hits
            if len(ids) > 0:
                _put_slots(children, node, hits, ids, found)
            leaves += np.int64(hits != 0)
            found += count_lanes(hits)
    return leaves, found, tests


@inline
def _slots(edges, node, limits):
    """Which slots of a node meet the query, as bits."""
    dim = limits.shape[1] // 2
    slots = np.int64(0)
    for lane in range(0, WIDTH, LANES):
        slots |= bits(slots_met(edges, node * (2 * dim), dim, lane, limits, NODE_0)) << lane
    return slots


@inline
def _put_slots(children, node, slots, ids, at):
    """Write the ids in some slots of a leaf from ``at`` on, as far as there is room; returns where they end.

    There is, unless another thread moves boxes between two walks.
    """
    while slots != 0 and at < len(ids):
        ids[at] = children[node, lowest_lane(slots)]
        slots &= slots - 1
        at += 1
    return at
