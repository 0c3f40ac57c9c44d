"""The first hit of each ray on a GPU: a tree without pointers, one ray a thread.

Idea: sort the boxes by environment, then along a Morton curve through the ranks of their mins, so that
outliers distort nothing.  Each four in a row have a node, each four nodes one above, up to the root.  Which
node is next follows from the place alone, so a thread needs no stack; an environment is a range of places
and what all share is another.  A node farther away than the best hit is skipped.

Source: the curve as in Lauterbach et al., "Fast BVH construction on GPUs" (2009); the layout is that of
packed R-trees.  Distances are those of `broadphase.kernels.boxes.queries`, operation for operation, in
float64 and without fused multiply-add: each operation is monotone in the edges of a box, so no node is
skipped that holds a nearer box.

Cost: a sort, then for each ray about the logarithm of the number of boxes.  It loses where many boxes are as
large as the world: no ray skips the nodes above them.
"""

from collections.abc import Callable
from typing import Any

import warp as wp

from broadphase.gpu import kernels, sweep
from broadphase.gpu.kernels import FLOATS, KEYS, declare, end_of, struct

wp.set_module_options({"enable_backward": False, "fuse_fp": False})

F = wp.float64
INF = wp.constant(wp.float64(float("inf")))
DIGITS = wp.constant(10)
"""Of a rank on one axis, in the code of a box."""
CODE = wp.constant(30)

ORIGIN, DIRECTION, REACH = (wp.constant(argument) for argument in (1, 2, 3))
"""Arguments in which something can be wrong; 0 are the boxes."""


@wp.kernel
def code_boxes(
    keys: wp.array2d[Any],
    sample: wp.array2d[Any],
    k: int,
    numbers: wp.array[int],
    codes: wp.array[wp.uint64],
    rows: wp.array[int],
):
    i = wp.tid()
    ranks = wp.vec3i(0, 0, 0)
    dim = sample.shape[0]
    for axis in range(dim):
        rank = wp.int64(end_of(sample[axis], k, keys[axis, i]))
        ranks[axis] = wp.min(int(rank * wp.int64(1 << DIGITS) // wp.int64(k)), (1 << DIGITS) - 1)
    code = wp.uint64(0)
    if numbers.shape[0] > 0:
        code = wp.uint64(numbers[i])
    for digit in range(DIGITS):
        for axis in range(3):
            code = code << wp.uint64(1) | wp.uint64((ranks[axis] >> (DIGITS - 1 - digit)) & 1)
    codes[i] = code
    rows[i] = i


@wp.kernel
def put_boxes(boxes: wp.array2d[Any], rows: wp.array[int], nodes: wp.array2d[Any]):
    t = wp.tid()
    for column in range(boxes.shape[1]):
        nodes[t, column] = boxes[rows[t], column]


@wp.kernel
def unite(nodes: wp.array2d[Any], below: int, count: int, above: int):
    t = wp.tid()
    dim = nodes.shape[1] // 2
    for axis in range(dim):
        low = nodes[below + 4 * t, axis]
        high = nodes[below + 4 * t, dim + axis]
        for child in range(4 * t + 1, wp.min(4 * t + 4, count)):
            low = wp.min(low, nodes[below + child, axis])
            high = wp.max(high, nodes[below + child, dim + axis])
        nodes[above + t, axis] = low
        nodes[above + t, dim + axis] = high


@wp.kernel
def read_rays(
    origins: wp.array2d[Any],
    directions: wp.array2d[Any],
    reach: wp.array[F],
    rays: wp.array2d[F],
    bad: wp.array[int],
):
    r = wp.tid()
    dim = origins.shape[1]
    largest = F(0.0)
    for axis in range(dim):
        start = F(origins[r, axis])
        if start - start != start - start:
            wp.atomic_min(bad, ORIGIN, r)
        step = F(directions[r, axis])
        if step - step != step - step:
            wp.atomic_min(bad, DIRECTION, r)
        rays[r, axis] = start
        rays[r, dim + axis] = step
        largest = wp.max(largest, wp.abs(step))
    if largest == F(0.0):
        wp.atomic_min(bad, DIRECTION, r)
    total = F(0.0)
    for axis in range(dim, 2 * dim):
        rays[r, axis] = rays[r, axis] / largest
        total += rays[r, axis] * rays[r, axis]
    length = wp.sqrt(total)
    for axis in range(dim, 2 * dim):
        rays[r, axis] = rays[r, axis] / length
    far = reach[wp.min(r, reach.shape[0] - 1)]
    if not far >= F(0.0):
        wp.atomic_min(bad, REACH, r)
    rays[r, 2 * dim] = far


@wp.func
def slab(low: wp.float64, high: wp.float64, step: wp.float64):
    """The times between which a coordinate that starts at 0 and moves by ``step`` is in ``low .. high``."""
    if step == F(0.0):
        if low <= F(0.0) and high >= F(0.0):
            return wp.vec2d(-INF, INF)
        return wp.vec2d(INF, -INF)
    if step < F(0.0):
        return wp.vec2d(high / step, low / step)
    return wp.vec2d(low / step, high / step)


@wp.func
def distance_to(
    nodes: wp.array2d[Any], node: int, rays: wp.array2d[F], r: int, reach: wp.float64, touching: bool
):
    """The distance at which a box begins along a ray: 0 if the ray starts inside, -1 if it misses."""
    dim = nodes.shape[1] // 2
    entry = -INF
    far = INF
    slides = bool(False)
    entering = int(0)
    leaving = int(0)
    for axis in range(dim):
        low = F(nodes[node, axis]) - rays[r, axis]
        high = F(nodes[node, dim + axis]) - rays[r, axis]
        step = rays[r, dim + axis]
        times = slab(low, high, step)
        if not times[0] <= times[1]:
            return F(-1.0)
        if times[0] >= entry:
            entering = wp.where(times[0] == entry, entering, 0) | (1 << axis)
            entry = times[0]
        if times[1] <= far:
            leaving = wp.where(times[1] == far, leaving, 0) | (1 << axis)
            far = times[1]
        slides = slides or (step == F(0.0) and (low == F(0.0) or high == F(0.0)))
    if entry > far or entry > reach or far < F(0.0) or entry == INF:
        return F(-1.0)
    if not touching:
        if far == F(0.0) or entry == reach or slides:
            return F(-1.0)
        # In and out at the same time: a thin wall if one axis does both, else a corner.
        if entry == far and (entering != leaving or (entering & (entering - 1)) != 0):
            return F(-1.0)
    if entry > F(0.0):
        return entry
    return F(0.0)


@wp.func
def first_of(codes: wp.array[wp.uint64], n: int, number: int):
    """The place of the first box of an environment, or of a later one."""
    if number == 0:
        return 0
    return end_of(codes, n, (wp.uint64(number) << wp.uint64(CODE)) - wp.uint64(1))


@wp.struct
class Tree:
    """What is known of the nodes: where each level begins, and the codes and rows of the boxes in order."""

    starts: wp.array[int]
    codes: wp.array[wp.uint64]
    rows: wp.array[int]
    n: int


@wp.struct
class Hits:
    """Where the answer is written."""

    ids: wp.array[int]
    distances: wp.array[F]
    normals: wp.array2d[F]


@wp.kernel
def cast(
    nodes: wp.array2d[Any],
    tree: Tree,
    rays: wp.array2d[F],
    numbers: wp.array[int],
    row_of_shared: wp.array[int],
    ignore: wp.array[wp.int64],
    touching: bool,
    hits: Hits,
):
    r = wp.tid()
    dim = nodes.shape[1] // 2
    ignored = wp.int64(-1)
    if ignore.shape[0] > 0:
        ignored = ignore[r]
    reach = rays[r, 2 * dim]
    best = INF
    nearest_place = int(-1)
    place = int(0)
    end = int(tree.n)
    once_more = bool(False)
    shared = int(-1)
    if numbers.shape[0] > 0:
        if row_of_shared[0] >= 0:
            shared = numbers[row_of_shared[0]]
        if numbers[tree.n + r] != shared:
            once_more = shared >= 0
            place = first_of(tree.codes, tree.n, numbers[tree.n + r])
            end = first_of(tree.codes, tree.n, numbers[tree.n + r] + 1)
    level = int(0)
    onward = bool(True)
    while place < end or once_more:
        if place >= end:  # on with what all environments share
            once_more = bool(False)
            place = first_of(tree.codes, tree.n, shared)
            end = first_of(tree.codes, tree.n, shared + 1)
            level = int(0)
            onward = bool(True)
            if place >= end:
                break
        if onward:  # what was before is done: on with the largest node that begins here
            while level + 1 < tree.starts.shape[0] and place % (4 << (2 * level)) == 0:
                level += 1
        onward = bool(True)
        node = tree.starts[level] + (place >> (2 * level))
        distance = distance_to(nodes, node, rays, r, reach, touching or level > 0)
        hit = distance >= F(0.0) and distance <= best
        if hit and level > 0:
            level -= 1
            onward = bool(False)
        else:
            if hit and wp.int64(tree.rows[place]) != ignored:
                if distance < best or tree.rows[place] < tree.rows[nearest_place]:
                    best = distance
                    nearest_place = place
            place += 1 << (2 * level)
    hits.ids[r] = -1
    hits.distances[r] = best
    if nearest_place >= 0:
        hits.ids[r] = tree.rows[nearest_place]
    found = bool(nearest_place < 0)
    for axis in range(dim):
        hits.normals[r, axis] = F(0.0)
        if not found:
            step = rays[r, dim + axis]
            low = F(nodes[nearest_place, axis]) - rays[r, axis]
            times = slab(low, F(nodes[nearest_place, dim + axis]) - rays[r, axis], step)
            if times[0] == best:
                hits.normals[r, axis] = wp.where(step > F(0.0), F(-1.0), F(1.0))
                found = bool(True)


declare(code_boxes, KEYS, keys=2, sample=2)
declare(put_boxes, FLOATS, boxes=2, nodes=2)
declare(unite, FLOATS, nodes=2)
declare(read_rays, FLOATS, origins=2, directions=2)
declare(cast, FLOATS, nodes=2)


def first_hits(
    boxes: Any,
    keys: Any,
    origins: Any,
    directions: Any,
    reach: Any,
    ignore: Any,
    env: Any,
    touching: bool,
    refuse: Callable[[Any], None],
    bad: Any,
) -> tuple[Any, Any, Any]:
    """Rows, distances and normals.

    ``reach`` is the greatest distance, one for all rays or one each; ``env`` has those of the boxes and then
    of the rays, and room for as many, or is None; ``refuse`` raises what is wrong with the arguments,
    given the first bad row of each.
    """
    n, m, dim = len(boxes), len(origins), boxes.shape[1] // 2
    rays = wp.empty((m, 2 * dim + 1), dtype=F)
    wp.launch(read_rays, m, [origins, directions, reach, rays, bad])
    refuse(bad)
    numbers, shared = wp.empty(0, dtype=int), wp.empty(0, dtype=int)
    if env is not None:
        shared = sweep.row_of_shared(env, n + m)
        numbers, _ = sweep.numbered(env, wp.zeros(kernels.STATS, dtype=wp.int64))
    codes, rows = wp.empty(2 * n, dtype=wp.uint64), wp.empty(2 * n, dtype=int)
    sample, k = sweep.sorted_sample(keys, n)
    wp.launch(code_boxes, n, [keys, sample, k, numbers, codes, rows])
    wp.utils.radix_sort_pairs(codes, rows, n)
    counts = [n]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // 4))
    starts = [sum(counts[:level]) for level in range(len(counts))]
    nodes = wp.empty((sum(counts), 2 * dim), dtype=boxes.dtype)
    wp.launch(put_boxes, n, [boxes, rows, nodes])
    for level in range(1, len(counts)):
        wp.launch(unite, counts[level], [nodes, starts[level - 1], counts[level - 1], starts[level]])
    tree = struct(Tree, starts=wp.array(starts, dtype=int), codes=codes, rows=rows, n=n)
    found = wp.empty(m, dtype=int), wp.empty(m, dtype=F), wp.empty((m, dim), dtype=F)
    hits = struct(Hits, **dict(zip(("ids", "distances", "normals"), found, strict=True)))
    wp.launch(cast, m, [nodes, tree, rays, numbers, shared, ignore, touching, hits])
    return found
