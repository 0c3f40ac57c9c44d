"""The kernels of the search for pairs; `broadphase.gpu.sweep` says what they do together.

Edges are compared as integers in the same order (`key_of`): infinities, denormals, -0.0 and fused
multiply-add make no difference, and a NaN is below or above them all.  ``touching=False`` is every max moved
down by one.  The kernels are compiled for 32 and for 64 bits, both together when one is called first.
"""

from collections.abc import Iterable
from typing import Any

import warp as wp

from broadphase.kernels.boxes import overlap

wp.set_module_options({"enable_backward": False, "fuse_fp": False})

LEAF, FULL, WITHIN = wp.constant(0), wp.constant(1), wp.constant(2)
"""How a box is in a node: in one of its strips; covers all of it; only begins in it."""
BINS = wp.constant(14)
"""Of the histogram of widths: one for each power of two up to the size of the sample."""
MEDIANS, SUMS, CROWD, WORLDS, STATS = (wp.constant(place) for place in (0, 42, 45, 46, 47))
"""Places in what `measure` finds: three histograms, three sums, one of environments; how many there are."""
SHARED = wp.constant(wp.int64(overlap.SHARED))
DISTANCE, HALF = wp.constant(4), wp.constant(5)
"""Places in ``metric``, after what `distance_of` needs."""


@wp.func
def key_of(bits: Any):
    """The bits of a float as an integer in the same order."""
    every = ~type(bits)(0)
    sign = every ^ (every >> type(bits)(1))
    if bits > sign:
        return ~bits
    return bits | sign


@wp.func
def end_of(values: wp.array[Any], count: int, value: Any):
    """How many of sorted values are not greater than this one."""
    a = int(0)
    b = int(count)
    while a < b:
        middle = a + (b - a) // 2
        if values[middle] <= value:
            a = middle + 1
        else:
            b = middle
    return a


@wp.kernel
def read_boxes(
    bits: wp.array2d[Any],
    least: Any,
    greatest: Any,
    apart: Any,
    begin: int,
    keys: wp.array2d[Any],
    bad: wp.array[int],
    argument: int,
):
    i = wp.tid()
    dim = bits.shape[1] // 2
    for axis in range(dim):
        low = key_of(bits[i, axis])
        high = key_of(bits[i, dim + axis])
        if low > high or low < least or high > greatest:
            wp.atomic_min(bad, argument, i)
        keys[axis, begin + i] = low
        keys[dim + axis, begin + i] = high - apart


@wp.kernel
def widen(values: wp.array2d[Any], out: wp.array2d[wp.float64]):
    i, column = wp.tid()
    out[i, column] = wp.float64(values[i, column])


# -----------------------------------------------------------------------------------------------------------
# Environments and rules: integers of any type into those that the search takes.


@wp.kernel
def read_env(env: wp.array[Any], begin: int, values: wp.array[wp.int64]):
    i = wp.tid()
    values[begin + i] = wp.int64(env[i])


@wp.kernel
def find_shared(values: wp.array[wp.int64], row: wp.array[int]):
    """A row of the environment that all share; what it was where there is none."""
    i = wp.tid()
    if values[i] == SHARED:
        wp.atomic_max(row, 0, i)


@wp.kernel
def number_worlds(stride: int, begin: int, values: wp.array[wp.int64]):
    i = wp.tid()
    values[begin + i] = wp.int64(i // stride)


@wp.kernel
def count_up(rows: wp.array[int]):
    i = wp.tid()
    rows[i] = i


@wp.kernel
def read_bits(sets: wp.array[Any], out: wp.array[wp.uint32], bad: wp.array[int], argument: int):
    i = wp.tid()
    value = wp.int64(sets[i])
    if value < wp.int64(0) or value > wp.int64(0xFFFFFFFF):
        wp.atomic_min(bad, argument, i)
    out[i] = wp.uint32(value)


@wp.kernel
def mark_new(values: wp.array[wp.int64], fresh: wp.array[int]):
    t = wp.tid()
    fresh[t] = 0
    if t > 0:
        if values[t] != values[t - 1]:
            fresh[t] = 1


@wp.kernel
def put_numbers(ranks: wp.array[int], rows: wp.array[int], numbers: wp.array[int], stats: wp.array[wp.int64]):
    t = wp.tid()
    numbers[rows[t]] = ranks[t]
    if t == ranks.shape[0] - 1:
        stats[WORLDS] = wp.int64(ranks[t] + 1)


# -----------------------------------------------------------------------------------------------------------
# The plan: how wide boxes are, counted in boxes that begin within them, from a sorted sample.


@wp.func
def of_sample(s: int, k: int, n: int):
    return int(wp.int64(s) * wp.int64(n) // wp.int64(k))


@wp.kernel
def take_sample(keys: wp.array2d[Any], n: int, k: int, sample: wp.array2d[Any]):
    axis, s = wp.tid()
    sample[axis, s] = keys[axis, of_sample(s, k, n)]


@wp.kernel
def measure(
    keys: wp.array2d[Any],
    n: int,
    k: int,
    sample: wp.array2d[Any],
    numbers: wp.array[int],
    ranks: wp.array[int],
    stats: wp.array[wp.int64],
):
    axis, s = wp.tid()
    i = of_sample(s, k, n)
    dim = sample.shape[0]
    low = keys[axis, i]
    before = end_of(sample[axis], k, low - type(low)(1))
    width = wp.max(end_of(sample[axis], k, keys[dim + axis, i]) - before, 1)
    wp.atomic_add(stats, SUMS + axis, wp.int64(width))
    place = int(0)
    while width > 1:
        width = width >> 1
        place += 1
    wp.atomic_add(stats, MEDIANS + axis * BINS + place, wp.int64(1))
    if axis == 0:
        crowd = int(n)
        if numbers.shape[0] > 0:
            crowd = end_of(ranks, n, numbers[i]) - end_of(ranks, n, numbers[i] - 1)
        wp.atomic_add(stats, CROWD, wp.int64(crowd))


@wp.kernel
def cut_evenly(sample: wp.array2d[Any], k: int, axis: int, cuts: wp.array[Any]):
    s = wp.tid()
    cuts[s] = sample[axis, of_sample(s + 1, cuts.shape[0] + 1, k)]


# -----------------------------------------------------------------------------------------------------------
# The copies of each box: the nodes in which it is, on each axis that is cut.


@wp.struct
class Axis:
    """An axis that is cut into strips, or, with ``leaves = 0``, is not."""

    strips: wp.array2d[int]
    """``(2, n)``: the first and the last strip of each box."""
    leaves: int
    """A power of four."""
    marks: wp.array[int]
    """Of each node whether a box covers it."""
    bits: int
    """That a node and how a box is in it take."""


@wp.func
def piece(first: int, last: int, leaves: int, marks: wp.array[int], which: int):
    """One copy of a box on one axis, as ``node << 2 | kind``; with ``which=-1`` how many there are.

    The strips ``first .. last`` are covered by as few nodes as can be, each of 4**k strips.  In those of one
    strip the box is a LEAF, as it is in its first strip in any case; in the others it is FULL.  It is WITHIN
    those nodes above its first strip that are marked.
    """
    found = int(0)
    a = int(first)
    b = int(last + 1)
    above = int(first)
    start = int(0)
    size = int(leaves)
    while size > 0:
        kind = int(FULL)
        if start == 0:
            kind = int(LEAF)
        while a < b and (a % 4 != 0 or b % 4 != 0 or size == 1):
            node = int(a)
            if a % 4 != 0 or size == 1:
                a += 1
            else:
                b -= 1
                node = int(b)
            if found == which:
                return (start + node) << 2 | kind
            found += 1
        if start == 0:
            if a <= first and first < b:
                if found == which:
                    return first << 2
                found += 1
        elif marks.shape[0] > 0:
            if marks[start + above] != 0:
                if found == which:
                    return (start + above) << 2 | WITHIN
                found += 1
        a = a // 4
        b = b // 4
        above = above // 4
        start += size
        size = size // 4
    return found


@wp.kernel
def find_strips(
    keys: wp.array2d[Any],
    axis: int,
    cuts: wp.array[Any],
    leaves: int,
    strips: wp.array2d[int],
    none: wp.array[int],
    marks: wp.array[int],
):
    i = wp.tid()
    dim = keys.shape[0] // 2
    first = end_of(cuts, cuts.shape[0], keys[axis, i])
    last = wp.max(first, end_of(cuts, cuts.shape[0], keys[dim + axis, i]))
    strips[0, i] = first
    strips[1, i] = last
    for which in range(piece(first, last, leaves, none, -1)):
        code = piece(first, last, leaves, none, which)
        if code % 4 == FULL:
            marks[code >> 2] = 1


@wp.kernel
def column(keys: wp.array2d[Any], axis: int, out: wp.array[Any], ids: wp.array[int]):
    i = wp.tid()
    out[i] = keys[axis, i]
    ids[i] = i


@wp.func
def copies_of(axis: Axis, i: int):
    """How many copies a box has on one axis."""
    if axis.leaves == 0:
        return 1
    return piece(axis.strips[0, i], axis.strips[1, i], axis.leaves, axis.marks, -1)


@wp.func
def with_node(block: wp.uint64, axis: Axis, i: int, which: int):
    """A block followed by the node of a copy on one axis, and how the box is in it."""
    if axis.leaves == 0:
        return block
    code = piece(axis.strips[0, i], axis.strips[1, i], axis.leaves, axis.marks, which)
    return block << wp.uint64(axis.bits) | wp.uint64(code)


@wp.kernel
def count_copies(ids: wp.array[int], y: Axis, z: Axis, counts: wp.array[wp.int64]):
    t = wp.tid()
    counts[t] = wp.int64(copies_of(y, ids[t]) * copies_of(z, ids[t]))


@wp.kernel
def put_copies(
    rows: wp.array[int],
    y: Axis,
    z: Axis,
    numbers: wp.array[int],
    rows_of_a: int,
    starts: wp.array[wp.int64],
    blocks: wp.array[wp.uint64],
    ids: wp.array[int],
):
    t = wp.tid()
    i = rows[t]
    many_z = copies_of(z, i)
    place = int(starts[t])
    for c in range(int(starts[t + 1]) - place):
        block = wp.uint64(0)
        if numbers.shape[0] > 0:
            block = wp.uint64(numbers[i])
        block = with_node(with_node(block, y, i, c // many_z), z, i, c % many_z)
        block = block << wp.uint64(1)
        if i < rows_of_a:
            block = block | wp.uint64(1)
        blocks[place + c] = block
        ids[place + c] = i


# -----------------------------------------------------------------------------------------------------------
# What each copy is compared with: a range of the block that its own is to be joined with.


@wp.func
def flipped(block: wp.uint64, place: int):
    """FULL and WITHIN exchanged at this place; a LEAF stays."""
    if (block >> wp.uint64(place)) % wp.uint64(4) == wp.uint64(LEAF):
        return block
    return block ^ (wp.uint64(3) << wp.uint64(place))


@wp.func
def partner_of(block: wp.uint64, bits_y: int, bits_z: int, rows_of_a: int):
    if rows_of_a > 0:
        block = block ^ wp.uint64(1)
    if bits_z > 0:
        block = flipped(block, 1)
    if bits_y > 0:
        block = flipped(block, 1 + bits_z)
    return block


@wp.func
def place_of(
    block: wp.uint64,
    value: Any,
    after: bool,
    blocks: wp.array[wp.uint64],
    keys: wp.array2d[Any],
    axis: int,
    total: int,
):
    """The first copy in a block, or after it, that begins at a value or beyond; ``after``: only beyond."""
    a = int(0)
    b = int(total)
    while a < b:
        middle = a + (b - a) // 2
        there = blocks[middle]
        before = there < block
        if there == block:
            key = keys[axis, middle]
            before = key < value or (after and key == value)
        if before:
            a = middle + 1
        else:
            b = middle
    return a


@wp.kernel
def put_keys(keys: wp.array2d[Any], ids: wp.array[int], out: wp.array2d[Any]):
    column, p = wp.tid()
    out[column, p] = keys[column, ids[p]]


@wp.kernel
def find_ranges(
    keys: wp.array2d[Any],
    axis: int,
    blocks: wp.array[wp.uint64],
    total: int,
    bits_y: int,
    bits_z: int,
    rows_of_a: int,
    begins: wp.array[int],
    counts: wp.array[wp.int64],
):
    """Between two blocks a pair is found from the box in whose interval the other begins.

    If both begin together, from the one in the lower block.
    """
    p = wp.tid()
    block = blocks[p]
    other = partner_of(block, bits_y, bits_z, rows_of_a)
    low = keys[axis, p]
    begin = p + 1
    if other != block:
        begin = place_of(other, low, other < block, blocks, keys, axis, total)
    high = keys[keys.shape[0] // 2 + axis, p]
    begins[p] = begin
    counts[p] = wp.int64(wp.max(place_of(other, high, True, blocks, keys, axis, total) - begin, 0))


# -----------------------------------------------------------------------------------------------------------
# The tests.


@wp.func
def met_here(block: wp.uint64, place: int, axis: Axis, i: int, j: int):
    """Whether a pair that meets in several nodes counts in this one, on one axis.

    It counts where the box that begins later begins.
    """
    if axis.bits == 0:
        return True
    first_i = axis.strips[0, i]
    first_j = axis.strips[0, j]
    code = int((block >> wp.uint64(place)) % (wp.uint64(1) << wp.uint64(axis.bits)))
    kind = code % 4
    if kind == LEAF:
        return wp.max(first_i, first_j) == code >> 2
    if kind == FULL:
        return first_i < first_j
    return first_j < first_i


@wp.func
def distance_of(points: wp.array2d[Any], i: int, j: int, metric: wp.array[Any]):
    """As `broadphase.kernels.points.distance` computes it, operation for operation."""
    x = points[j, 0] - points[i, 0]
    y = points[j, 1] - points[i, 1]
    z = metric[0] - metric[0]
    if points.shape[1] == 3:
        z = points[j, 2] - points[i, 2]
    largest = wp.max(wp.max(wp.abs(x), wp.abs(y)), wp.abs(z))
    if largest + largest == largest:  # zero, or infinite
        return largest
    if largest > metric[0] and largest < metric[1]:
        return wp.sqrt(x * x + y * y + z * z)
    up = metric[2]
    back = metric[3]
    if largest >= metric[1]:
        up = metric[3]
        back = metric[2]
    x = x * up
    y = y * up
    z = z * up
    return wp.sqrt(x * x + y * y + z * z) * back


@wp.func
def row_of(starts: wp.array[wp.int64], work: wp.int64):
    return end_of(starts, starts.shape[0], work) - 1


@wp.struct
class Ranges:
    """Copies of boxes, and with which of them each is compared."""

    blocks: wp.array[wp.uint64]
    ids: wp.array[int]
    begins: wp.array[int]
    starts: wp.array[wp.int64]
    """How many tests come before those of each copy."""
    y: Axis
    z: Axis


@wp.struct
class Rules:
    """Which pairs may count; empty arrays where a rule is not set."""

    unmoved: wp.array[wp.bool]
    categories: wp.array[wp.uint32]
    masks: wp.array[wp.uint32]


@wp.func
def may_pair(rules: Rules, i: int, j: int):
    if rules.unmoved.shape[0] > 0:
        if rules.unmoved[i] and rules.unmoved[j]:
            return False
    if rules.categories.shape[0] > 0:
        none = wp.uint32(0)
        forth = rules.categories[i] & rules.masks[j]
        return forth != none and (rules.categories[j] & rules.masks[i]) != none
    return True


@wp.kernel
def test(
    keys: wp.array2d[Any],
    ranges: Ranges,
    work: wp.int64,
    share: wp.int64,
    rules: Rules,
    points: wp.array2d[Any],
    metric: wp.array[Any],
    shift: wp.uint64,
    places: wp.array[wp.int64],
    out: wp.array[wp.uint64],
):
    """An equal share of the tests for each thread, however long the rows are.

    Without ``out`` the pairs are counted into ``places``; with it, written from there on.
    """
    t = wp.tid()
    dim = keys.shape[0] // 2
    w = wp.int64(t) * share
    end = wp.min(w + share, work)
    found = wp.int64(0)
    r = row_of(ranges.starts, w)
    while w < end:
        if ranges.starts[r + 1] <= w:
            r += 1
            if ranges.starts[r + 1] <= w:  # the next copy has no tests, nor perhaps many more
                r = row_of(ranges.starts, w)
        i = ranges.ids[r]
        block = ranges.blocks[r]
        stop = wp.min(ranges.starts[r + 1], end)
        copy = ranges.begins[r] + int(w - ranges.starts[r])
        while w < stop:
            hit = bool(True)
            for axis in range(dim):
                hit = hit and keys[axis, r] <= keys[dim + axis, copy]
                hit = hit and keys[axis, copy] <= keys[dim + axis, r]
            j = ranges.ids[copy]
            if hit:
                hit = met_here(block, 1 + ranges.z.bits, ranges.y, i, j) and met_here(
                    block, 1, ranges.z, i, j
                )
            if hit:
                hit = may_pair(rules, i, j)
            if hit and metric.shape[0] > 0:
                hit = distance_of(points, wp.min(i, j), wp.max(i, j), metric) <= metric[DISTANCE]
            if hit:
                if out.shape[0] > 0:
                    out[int(places[t] + found)] = wp.uint64(wp.min(i, j)) << shift | wp.uint64(wp.max(i, j))
                found += wp.int64(1)
            copy += 1
            w += wp.int64(1)
    if out.shape[0] == 0:
        places[t] = found


@wp.kernel
def renumber(
    packed: wp.array[wp.uint64],
    shift: wp.uint64,
    rows: wp.array[int],
    new_shift: wp.uint64,
    out: wp.array[wp.uint64],
):
    p = wp.tid()
    place = packed[p] >> shift
    i = rows[int(place)]
    j = rows[int(packed[p] ^ (place << shift))]
    out[p] = wp.uint64(wp.min(i, j)) << new_shift | wp.uint64(wp.max(i, j))


@wp.kernel
def put_pairs(packed: wp.array[wp.uint64], shift: wp.uint64, rows_of_a: int, out: wp.array2d[int]):
    p = wp.tid()
    i = packed[p] >> shift
    out[p, 0] = int(i)
    out[p, 1] = int(packed[p] ^ (i << shift)) - rows_of_a


@wp.kernel
def put_distances(
    packed: wp.array[wp.uint64],
    shift: wp.uint64,
    rows_of_a: int,
    points: wp.array2d[Any],
    metric: wp.array[Any],
    first: wp.array[int],
    second: wp.array[int],
    distances: wp.array[Any],
):
    p = wp.tid()
    i = packed[p] >> shift
    j = int(packed[p] ^ (i << shift))
    first[p] = int(i)
    second[p] = j - rows_of_a
    distances[p] = distance_of(points, int(i), j, metric)


@wp.kernel
def boxes_around(
    points: wp.array2d[Any],
    metric: wp.array[Any],
    begin: int,
    boxes: wp.array2d[Any],
    all_points: wp.array2d[Any],
    bad: wp.array[int],
    argument: int,
):
    i = wp.tid()
    dim = points.shape[1]
    for axis in range(dim):
        center = points[i, axis]
        if center - center != center - center:
            wp.atomic_min(bad, argument, i)
        boxes[begin + i, axis] = center - metric[HALF]
        boxes[begin + i, dim + axis] = center + metric[HALF]
        all_points[begin + i, axis] = center


# -----------------------------------------------------------------------------------------------------------
# Which pairs began and ended.


@wp.kernel
def pack(pairs: wp.array2d[int], packed: wp.array[wp.uint64], bad: wp.array[int], argument: int):
    p = wp.tid()
    packed[p] = wp.uint64(wp.uint32(pairs[p, 0])) << wp.uint64(32) | wp.uint64(wp.uint32(pairs[p, 1]))
    if p > 0:
        if pairs[p, 0] < pairs[p - 1, 0] or (
            pairs[p, 0] == pairs[p - 1, 0] and pairs[p, 1] <= pairs[p - 1, 1]
        ):
            wp.atomic_min(bad, argument, p)


@wp.kernel
def find_each(packed: wp.array[wp.uint64], among: wp.array[wp.uint64], wanted: int, counts: wp.array[int]):
    """1 for each pair that is among others, or that is not, as is wanted."""
    p = wp.tid()
    place = end_of(among, among.shape[0], packed[p]) - 1
    there = int(0)
    if place >= 0:
        if among[place] == packed[p]:
            there = 1
    counts[p] = wp.where(there == wanted, 1, 0)


@wp.kernel
def keep(pairs: wp.array2d[int], places: wp.array[int], out: wp.array2d[int]):
    p = wp.tid()
    if places[p + 1] > places[p]:
        out[places[p], 0] = pairs[p, 0]
        out[places[p], 1] = pairs[p, 1]


# -----------------------------------------------------------------------------------------------------------
# Warp compiles a module anew for each type that it meets, so all are named beforehand.

KEYS = (wp.uint32, wp.uint64)
FLOATS = (wp.float32, wp.float64)
INTEGERS = (wp.int8, wp.int16, wp.int32, wp.int64, wp.uint8, wp.uint16, wp.uint32, wp.uint64)


def struct(kind: Any, **fields: Any) -> Any:
    """A struct with these fields."""
    made = kind()
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def declare(kernel: Any, types: Iterable[Any], **ranks: int) -> None:
    """Name the types of a kernel: arguments that are all of one of these, as numbers or arrays."""
    for kind in types:
        wp.overload(
            kernel,
            {
                name: (kind, wp.array(dtype=kind), wp.array2d(dtype=kind))[rank]
                for name, rank in ranks.items()
            },
        )


declare(read_boxes, KEYS, bits=2, least=0, greatest=0, apart=0, keys=2)
declare(widen, FLOATS, values=2)
declare(read_env, INTEGERS, env=1)
declare(read_bits, INTEGERS, sets=1)
declare(take_sample, KEYS, keys=2, sample=2)
declare(measure, KEYS, keys=2, sample=2)
declare(cut_evenly, KEYS, sample=2, cuts=1)
declare(find_strips, KEYS, keys=2, cuts=1)
declare(column, KEYS, keys=2, out=1)
declare(put_keys, KEYS, keys=2, out=2)
declare(find_ranges, KEYS, keys=2)
declare(put_distances, FLOATS, points=2, metric=1, distances=1)
declare(boxes_around, FLOATS, points=2, metric=1, boxes=2, all_points=2)
for _key, _float in zip(KEYS, FLOATS, strict=True):
    wp.overload(
        test,
        {
            "keys": wp.array2d(dtype=_key),
            "points": wp.array2d(dtype=_float),
            "metric": wp.array(dtype=_float),
        },
    )
