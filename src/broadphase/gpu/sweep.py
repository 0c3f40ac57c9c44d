"""All overlapping pairs on a GPU: a sweep in the nodes of a tree of strips.

Idea: sort the boxes by their min on one axis; what a box overlaps there is then a range, found by binary
search.  Cut the other axes into strips, each with as many boxes, and search strip by strip.  A box is copied
into every strip that it touches; where it covers four strips that belong together, once into their node
instead, where it meets the boxes that begin within the node.  So a giant costs a few copies, and not one for
each strip.  All ranges are known before anything is tested, and every thread tests an equal share of them, so
no box keeps one thread busy.  A pair counts where the box that begins later begins: once.

Source: strips with copies are those of `broadphase.methods.strips`.  Covering by nodes is the segment tree,
which Zomorodian and Edelsbrunner stream for boxes ("Fast software for box intersections", 2002; CGAL's
``box_intersection_d`` is it).

Cost: one sort by the swept axis and one by the node, then the tests; the host waits four times for a few
numbers.  In 2-D there are about as many tests as copies and pairs together, whatever the boxes, and those of
boxes that share a strip; in 3-D what two axes do not tell apart is tested on the third, pair by pair.  What
all environments share is a search more.

It loses to the processor where boxes are few or must first be copied to the card, and takes long where long
thin boxes pass each other within one strip.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import warp as wp

from broadphase.errors import PairLimitExceeded
from broadphase.gpu import kernels
from broadphase.inputs.arrays import MOST_IDS
from broadphase.kernels.boxes.overlap import SHARED

_SAMPLE = 4096
_WORTH_A_COPY = 32  # tests: as long as a copy takes to be made and sorted
_AT_ONCE = 32  # tests in a thread, at least
_MOST_THREADS = 1 << 24

Array = Any
"""An array of Warp."""


class Near(NamedTuple):
    """How near two points must be: see `kernels.distance_of`.  Empty arrays for boxes."""

    points: Array
    metric: Array


class Search(NamedTuple):
    """What is searched: boxes as keys, those of a before those of b."""

    keys: Array
    """``(2 * dim, n)``."""
    rows_of_a: int
    """0 where there is one set of boxes."""
    env: Array | None
    """int64, one for each box, and room for as many."""
    rules: kernels.Rules
    distance: Near
    refuse: Callable[[Array], None]
    """Raises what is wrong with the arguments; given the first bad row of each, once these are known."""
    bad: Array

    @property
    def dim(self) -> int:
        """How many axes."""
        return int(self.keys.shape[0]) // 2

    @property
    def n(self) -> int:
        """How many boxes."""
        return int(self.keys.shape[1])


class PackedPairs(NamedTuple):
    """The pairs, as ``i << shift | j``; `count_all` leaves ``packed`` empty."""

    packed: Array
    number: int
    shift: int


def find_all(search: Search, limit: int, *, sort: bool) -> PackedPairs:
    """The pairs; raises `PairLimitExceeded` before memory is taken for more than ``limit``."""
    more = _beside_shared(search)
    found = _find(search, limit, sort=sort and not more, store=True)
    if not more:
        return found
    parts = [found]
    for part, rows in more:
        beside = _find(part, limit - sum(one.number for one in parts), sort=False, store=True)
        packed = wp.empty(beside.number, dtype=wp.uint64)
        shifts = wp.uint64(beside.shift), wp.uint64(found.shift)
        wp.launch(kernels.renumber, beside.number, [beside.packed, shifts[0], rows, shifts[1], packed])
        parts.append(PackedPairs(packed, beside.number, found.shift))
    count, begin = sum(one.number for one in parts), 0
    packed = wp.empty(2 * count, dtype=wp.uint64)
    for one in parts:
        wp.copy(packed, one.packed, begin, 0, one.number)
        begin += one.number
    if sort and count:
        wp.utils.radix_sort_pairs(packed, wp.empty(2 * count, dtype=int), count, end_bit=2 * found.shift)
    return PackedPairs(packed, count, found.shift)


def count_all(search: Search) -> int:
    """How many pairs there are."""
    searches = [search, *(part for part, _ in _beside_shared(search))]
    return sum(_find(one, MOST_IDS**2, sort=False, store=False).number for one in searches)


def _beside_shared(search: Search) -> list[tuple[Search, Array]]:
    """The searches for what all environments share beside the others, and which rows their boxes are."""
    if search.env is None or search.n == 0 or int(row_of_shared(search.env, search.n).numpy()[0]) < 0:
        return []
    shared, in_a = search.env.numpy()[: search.n] == SHARED, np.arange(search.n) < search.rows_of_a
    sides = [(shared, ~shared)]
    if search.rows_of_a:
        sides = [(shared & in_a, ~shared & ~in_a), (~shared & in_a, shared & ~in_a)]
    return [_join(search, *map(np.flatnonzero, pair)) for pair in sides if all(map(np.any, pair))]


def _join(search: Search, first: Any, second: Any) -> tuple[Search, Array]:
    """Some rows beside others, without environments."""
    n, (points, metric) = len(first) + len(second), search.distance
    rows = wp.array(np.concatenate((first, second)).astype(np.int32))
    keys = wp.empty((2 * search.dim, n), dtype=search.keys.dtype)
    wp.launch(kernels.put_keys, keys.shape, [search.keys, rows, keys])

    def taken(values: Array) -> Array:
        return values[rows].contiguous() if len(values) else values

    fields = ("unmoved", "categories", "masks")
    rules = kernels.struct(kernels.Rules, **{name: taken(getattr(search.rules, name)) for name in fields})
    circles = Near(taken(points), metric)
    return search._replace(keys=keys, rows_of_a=len(first), env=None, rules=rules, distance=circles), rows


def pairs_of(found: PackedPairs, rows_of_a: int) -> Array:
    """The pairs as rows of int32."""
    out = wp.empty((found.number, 2), dtype=int)
    wp.launch(kernels.put_pairs, found.number, [found.packed, wp.uint64(found.shift), rows_of_a, out])
    return out


def distances_of(found: PackedPairs, search: Search) -> tuple[Array, Array, Array]:
    """Both rows of each pair of points, and their distance."""
    count, circles = found.number, search.distance
    first, second = wp.empty(count, dtype=int), wp.empty(count, dtype=int)
    distances = wp.empty(count, dtype=circles.metric.dtype)
    how = [wp.uint64(found.shift), search.rows_of_a, *circles]
    wp.launch(kernels.put_distances, count, [found.packed, *how, first, second, distances])
    return first, second, distances


def _find(search: Search, limit: int, *, sort: bool, store: bool) -> PackedPairs:
    if search.n == 0:
        search.refuse(search.bad)
        return PackedPairs(wp.empty(0, dtype=wp.uint64), 0, 1)
    keys, ranges, work = _ranges(search)
    shift = max((search.n - 1).bit_length(), 1)
    share = max(_AT_ONCE, -(-work // _MOST_THREADS))
    threads = -(-work // share)
    places, none = wp.zeros(threads + 1, dtype=wp.int64), wp.empty(0, dtype=wp.uint64)

    def test(out: Array) -> None:
        parts = [keys, ranges, wp.int64(work), wp.int64(share)]
        how = [search.rules, *search.distance, wp.uint64(shift)]
        wp.launch(kernels.test, threads, [*parts, *how, places, out])

    test(none)
    places = scanned(places)
    count = last(places)
    if count > limit:
        raise PairLimitExceeded(limit)
    if not store:
        return PackedPairs(none, count, shift)
    _make_room(
        count, 24 if sort else 16, "pairs", "give max_pairs, or count_pairs() to learn how many there are"
    )
    packed = wp.empty(2 * count if sort else count, dtype=wp.uint64)
    if count:
        test(packed)
        if sort:
            wp.utils.radix_sort_pairs(packed, wp.empty(2 * count, dtype=int), count, end_bit=2 * shift)
    return PackedPairs(packed, count, shift)


def _ranges(search: Search) -> tuple[Array, kernels.Ranges, int]:
    """The copies of boxes as keys, what each is compared with, and how many tests that takes."""
    n, keys = search.n, search.keys
    numbers, worlds, axis, y, z = _plan(search)
    order, rows = wp.empty(2 * n, dtype=keys.dtype), wp.empty(2 * n, dtype=int)
    wp.launch(kernels.column, n, [keys, axis, order, rows])
    wp.utils.radix_sort_pairs(order, rows, n)
    counts = wp.zeros(n + 1, dtype=wp.int64)
    wp.launch(kernels.count_copies, n, [rows, y, z, counts])
    starts = scanned(counts)
    total = last(starts)
    _make_room(
        total,
        44 + 2 * search.dim * wp.types.type_size_in_bytes(keys.dtype),
        "copies of boxes",
        "search fewer boxes at once",
    )
    blocks, ids = wp.empty(2 * total, dtype=wp.uint64), wp.empty(2 * total, dtype=int)
    sides = [numbers, search.rows_of_a]
    wp.launch(kernels.put_copies, n, [rows, y, z, *sides, starts, blocks, ids])
    bits = 1 + y.bits + z.bits + (worlds - 1).bit_length()
    wp.utils.radix_sort_pairs(blocks, ids, total, end_bit=bits)
    keys = wp.empty((2 * search.dim, total), dtype=keys.dtype)
    wp.launch(kernels.put_keys, keys.shape, [search.keys, ids, keys])
    begins, counts = wp.empty(total, dtype=int), wp.zeros(total + 1, dtype=wp.int64)
    joined = [y.bits, z.bits, search.rows_of_a, begins, counts]
    wp.launch(kernels.find_ranges, total, [keys, axis, blocks, total, *joined])
    starts = scanned(counts)
    places = {"blocks": blocks, "ids": ids, "begins": begins, "starts": starts, "y": y, "z": z}
    return keys, kernels.struct(kernels.Ranges, **places), last(starts)


def _plan(search: Search) -> tuple[Array, int, int, kernels.Axis, kernels.Axis]:
    """Numbers of environments, and how many; the axis to sweep along, and the cut ones.

    The sweep goes along the axis on which a box overlaps the fewest others, on average.  Strips are twice as
    wide as a quarter of the boxes are at most (wider ones cost a few copies more), and no narrower than the
    number of tests makes worth while.
    """
    n, dim, keys = search.n, search.dim, search.keys
    stats = wp.zeros(kernels.STATS, dtype=wp.int64)
    numbers, ranks = numbered(search.env, stats) if search.env is not None else (wp.empty(0, dtype=int),) * 2
    sample, k = sorted_sample(keys, n)
    wp.launch(kernels.measure, (dim, k), [keys, n, k, sample, numbers, ranks, stats])
    search.refuse(search.bad)
    found = stats.numpy()
    widths = found[kernels.SUMS : kernels.CROWD][:dim] / k**2
    usual = [
        2.0 ** float(np.searchsorted(np.cumsum(found[start : start + kernels.BINS]), k / 4)) / k
        for start in range(0, dim * kernels.BINS, kernels.BINS)
    ]
    axis = int(np.argmin(widths))
    others = sorted((a for a in range(dim) if a != axis), key=lambda a: usual[a])
    wanted = min(n * float(widths[axis]), float(found[kernels.CROWD]) / k) / _WORTH_A_COPY
    most = [max(int(min(0.5 / usual[a], k / 2)), 1) for a in others]
    strips = [min(most[0], int(wanted))]
    if dim == 3:
        second = min(most[1], int(wanted**0.5) + 1)
        strips = [min(most[0], int(wanted / second)), second]
    cut = [_cut(search, a, sample, k, count) for a, count in zip(others, strips, strict=True) if count > 1]
    y, z = [*cut, _uncut(), _uncut()][:2]
    return numbers, max(int(found[kernels.WORLDS]), 1), axis, y, z


def _cut(search: Search, axis: int, sample: Array, k: int, count: int) -> Any:
    cuts = wp.empty(count - 1, dtype=search.keys.dtype)
    wp.launch(kernels.cut_evenly, count - 1, [sample, k, axis, cuts])
    leaves = 4 ** -(-(count - 1).bit_length() // 2)
    nodes = (4 * leaves - 1) // 3
    strips, marks = wp.empty((2, search.n), dtype=int), wp.zeros(nodes, dtype=int)
    none = wp.empty(0, dtype=int)
    wp.launch(kernels.find_strips, search.n, [search.keys, axis, cuts, leaves, strips, none, marks])
    bits = (nodes - 1).bit_length() + 2
    return kernels.struct(kernels.Axis, strips=strips, leaves=leaves, marks=marks, bits=bits)


def _uncut() -> Any:
    """An axis that is not cut."""
    none = wp.empty((2, 0), dtype=int)
    return kernels.struct(kernels.Axis, strips=none, leaves=0, marks=wp.empty(0, dtype=int), bits=0)


def sorted_sample(keys: Array, n: int) -> tuple[Array, int]:
    """The mins of some of the boxes, sorted on each axis, ``(dim, 2 * k)``; and k, how many."""
    dim, k = keys.shape[0] // 2, min(n, _SAMPLE)
    sample, ids = wp.empty((dim, 2 * k), dtype=keys.dtype), wp.empty(2 * k, dtype=int)
    wp.launch(kernels.take_sample, (dim, k), [keys, n, k, sample])
    for axis in range(dim if k else 0):
        wp.utils.radix_sort_pairs(sample[axis], ids, k)
    return sample, k


def numbered(env: Array, stats: Array) -> tuple[Array, Array]:
    """Environments numbered from 0 on, for each row and in ascending order; how many is written to ``stats``.

    They are sorted in their place.
    """
    n = len(env) // 2
    rows = wp.empty(2 * n, dtype=int)
    wp.launch(kernels.count_up, n, [rows])
    wp.utils.radix_sort_pairs(env, rows, n)
    fresh, ranks, numbers = (wp.empty(n, dtype=int) for _ in range(3))
    wp.launch(kernels.mark_new, n, [env, fresh])
    wp.utils.array_scan(fresh, ranks, inclusive=True)
    wp.launch(kernels.put_numbers, n, [ranks, rows, numbers, stats])
    return numbers, ranks


def row_of_shared(env: Array, n: int) -> Array:
    """One number: a row of the environment that all share, or -1."""
    row = wp.full(1, -1, dtype=int)
    wp.launch(kernels.find_shared, n, [env, row])
    return row


def scanned(counts: Array) -> Array:
    """How much comes before each; the last entry, which counts nothing, is the whole."""
    starts = wp.empty_like(counts)
    wp.utils.array_scan(counts, starts, inclusive=False)
    return starts


def last(starts: Array) -> int:
    """The last entry; the host waits for it."""
    return int(starts[-1:].numpy()[0])


def _make_room(count: int, item_bytes: int, what: str, fix: str) -> None:
    """Raise ``MemoryError`` for what the device cannot hold, before it is asked for."""
    device = wp.get_device()
    if count > MOST_IDS:
        raise MemoryError(f"{count} {what} are more than 32 bits can number; {fix}")
    if device.is_cuda and count * item_bytes > device.free_memory:
        raise MemoryError(
            f"{count} {what} need {count * item_bytes} bytes, and {device} has {device.free_memory} free; "
            f"{fix}"
        )
