"""Box queries of the dynamic tree, many at a time (`query_one` has one).

Level by level, for many queries at once: a queue holds every node of a level together with the query that
meets it; each is looked at, 16 slots at a time, and the children that the query meets are appended for the
next level.  Nothing in that depends on what the node before gave, so the processor has several nodes on
their way from memory at once, and there is no branch to be guessed wrong.  It is twice as fast as one query
after the other.

What comes out are candidates: a slot may be wider than its box, and rules may keep a box from counting.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.sort_ids import (
    RANKED,
    count_rows,
    group_by_query,
    put_long_rows,
    put_rows,
    words_for,
)
from broadphase.kernels.boxes.query_tests import farthest, passes
from broadphase.kernels.machine.jit import always_inline, inline, jit
from broadphase.kernels.machine.prefetch import AHEAD, prefetch
from broadphase.kernels.machine.simd import LANES, load, put_lanes, splat, store
from broadphase.kernels.tree.nodes import HEIGHT, LOOSE, MOVING, NODE_0, STATIC_TREE, WIDTH

BLOCK = 64  # queries that go down the tree together
SPARE = RANKED + WIDTH  # entries after the last one that may be overwritten or read
QUEUE_ROOM = 12_000  # queue entries, two rows of them below the size at which malloc asks the system


@inline
def set_limits(query, touching, limits, k):
    """Write the edges of a query into ``limits[k]``, in the nodes' type, so that `row_meets` is exact."""
    dim = limits.shape[1] // 2
    kind = limits.dtype.type
    for axis in range(dim):
        limits[k, axis] = -farthest(-query[axis], touching, kind)
        limits[k, dim + axis] = farthest(query[dim + axis], touching, kind)


@always_inline
def row_meets(boxes, i, limits, k):
    """Whether box ``i`` overlaps a query, as in `box_meets`."""
    dim = boxes.shape[1] // 2
    meets = True
    for axis in range(dim):
        meets &= (boxes[i, axis] <= limits[k, dim + axis]) & (limits[k, axis] <= boxes[i, dim + axis])
    return meets


@always_inline
def slots_met(edges, row, dim, lane, limits, k):
    """Which slots from ``lane`` of the node whose edges begin at ``row`` meet a query; a mask."""
    meets = load(edges, row, lane) <= splat(limits[k, dim])
    meets = meets & (splat(limits[k, 0]) <= load(edges, row + dim, lane))
    meets = meets & (load(edges, row + 1, lane) <= splat(limits[k, dim + 1]))
    meets = meets & (splat(limits[k, 1]) <= load(edges, row + dim + 1, lane))
    if dim == 3:
        meets = meets & (load(edges, row + 2, lane) <= splat(limits[k, 5]))
        meets = meets & (splat(limits[k, 2]) <= load(edges, row + 5, lane))
    return meets


@inline
def descend(edges, children, root, height, limits, count, queue, start):
    """Let queries ``0 .. count - 1`` go down a tree, in the queue from ``start`` on.

    Returns where the candidates begin and end: ids in ``queue[0]`` and their queries in ``queue[1]``; -1 if
    the queue is too short.
    """
    dim = limits.shape[1] // 2
    begin = start
    end = start + count
    if end + SPARE > queue.shape[1]:
        return np.int64(-1), end
    for k in range(count):
        queue[0, start + k] = root
        queue[1, start + k] = k
    for _ in range(height):
        tail = end
        for at in range(begin, end):
            if tail + SPARE > queue.shape[1]:
                return np.int64(-1), end
            node = np.int64(queue[0, at])
            k = np.int64(queue[1, at])
            row = node * (2 * dim)
            for lane in range(0, WIDTH, LANES):
                meets = slots_met(edges, row, dim, lane, limits, k)
                store(queue, 1, tail, splat(np.int32(k)))
                tail += put_lanes(queue, 0, tail, load(children, node, lane), meets)
        begin = end
        end = tail
    return begin, end


@inline
def find_in_block(
    edges,
    children,
    boxes,
    categories,
    masks,
    queries,
    first,
    count,
    limits,
    touching,
    category,
    mask,
    queue,
):
    """What ``queries[first : first + count]`` meet; returns where in the queue that begins and ends.

    Those of one tree come in the order of the queries.  Returns ``begin, end, tests``; ``begin`` is -1 if the
    queue is too short.
    """
    for k in range(count):
        set_limits(queries[first + k], touching, limits, k)
    free = category < 0 and mask < 0
    begin = end = tests = np.int64(0)
    for tree in range(2):
        root = np.int64(children[0, tree])
        if root > 0:
            height = np.int64(children[0, HEIGHT + tree])
            start, stop = descend(edges, children, root, height, limits, count, queue, end)
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
                    queue[1, end] = queue[1, at]
                    end += 1
            else:
                tests += stop - start
                for at in range(start, stop):
                    prefetch(boxes, queue[0, min(at + AHEAD, stop - 1)], 0)
                    i, k = np.int64(queue[0, at]), np.int64(queue[1, at])
                    queue[0, end], queue[1, end] = i, k
                    meets = row_meets(boxes, i, limits, k)
                    end += np.int64(meets and passes(categories, masks, i, category, mask))
    return begin, end, tests


def query_scratch(
    columns: int, dtype: "np.dtype[Any]", end_of_ids: int, room: int = QUEUE_ROOM
) -> tuple[npt.NDArray[Any], ...]:
    """What `search_boxes` works in; ``room`` is that of its queues."""
    queue, grouped = np.empty((2, room), np.int32), np.empty((2, room), np.int32)
    starts = np.empty(BLOCK + 1, np.int64)
    return np.empty((BLOCK, columns), dtype), queue, grouped, starts, words_for(end_of_ids)


@jit
def search_boxes(
    edges,
    children,
    boxes,
    categories,
    masks,
    end_of_ids,
    queries,
    first,
    last,
    touching,
    category,
    mask,
    sort,
    scratch,
    rows,
):
    """Rows ``[query, id]`` of the queries ``first .. last - 1``; returns ``next, found, tests, cramped``.

    In the order of the queries, and with ``sort`` of the ids, which are all less than ``end_of_ids``.  Where
    ``rows`` is too short for the answer of query ``next``, it stops, or where a queue of the ``scratch`` (see
    `query_scratch`) is: then it is ``cramped``.
    """
    limits, queue, grouped, starts, words = scratch
    cramped = False
    both = children[0, MOVING] > 0 and children[0, STATIC_TREE] > 0
    total = tests = np.int64(0)
    block = np.int64(BLOCK)
    at = np.int64(first)
    while at < last:
        count = min(block, last - at)
        begin, end, made = find_in_block(
            edges,
            children,
            boxes,
            categories,
            masks,
            queries,
            at,
            count,
            limits,
            touching,
            category,
            mask,
            queue,
        )
        if begin < 0 or total + (end - begin) > rows.shape[0]:
            if count > 1:
                block = max(count // 4, 1)
            else:
                cramped = begin < 0
                break
            continue
        if both:
            group_by_query(queue, begin, end, grouped, starts, count)
            queue, grouped = grouped, queue
            begin, end = NODE_0, end - begin
        most = count_rows(queue, begin, end, starts, count)
        if sort and most > RANKED:
            put_long_rows(queue, begin, starts, count, rows, total, at, words, end_of_ids)
        else:
            put_rows(queue, begin, starts, count, sort, rows, total, at)
        total += end - begin
        tests += made
        at += count
        if 3 * (end + made // WIDTH) < queue.shape[1]:
            block = min(2 * count, BLOCK)
    return at, total, tests, cramped
