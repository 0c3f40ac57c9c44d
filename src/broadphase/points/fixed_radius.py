"""Fixed-radius search: all pairs of points within a distance of each other, through cells.

Cost: linear in points and in comparisons, three to eight for each neighbour.  It loses if radii differ
much: cells are as wide as two of the largest.  Then boxes around the points are searched (`find_near_mixed`).
"""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.api.one_shot import join
from broadphase.api.one_shot import pairs as all_pairs
from broadphase.errors import TOO_MANY_NEAR, PairLimitExceeded
from broadphase.inputs.points import Numbers, PointQuery, Points
from broadphase.kernels.arrays.results import words_for
from broadphase.kernels.arrays.sorting import starts_from_counts
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.points.counting import Sides, count_within
from broadphase.kernels.points.distance import Space
from broadphase.kernels.points.fixed_radius import (
    BLOCK,
    RANKED,
    Cells,
    Finds,
    Grid,
    PairRows,
    Rule,
    count_cells,
    count_finds,
    place_points,
    put_rows,
    search_near,
)
from broadphase.kernels.points.pair_lists import keep_near
from broadphase.methods.cells import side_for
from broadphase.methods.nearest import curve_for
from broadphase.methods.task import NO_LIMIT
from broadphase.points.few import find_in_cells, find_small_pairs
from broadphase.points.nearest import sorted_tree
from broadphase.points.neighbor_lists import rows_kept
from broadphase.runtime import threads, thresholds
from broadphase.runtime.arrays import by_matrix
from broadphase.runtime.memory import Scratch, borrowed_scratch, free_for, result_array

# -----------------------------------------------------------------------------------------------------------
# Points sorted into cells that are not narrower than the search distance.
#
# A uniform grid over the whole world, row by row, if it has about as many cells as there are points;
# otherwise (a few points far away, worlds of different sizes, crowds much denser than the average) a hash
# table of cells.


# So much wider than the distance that rounding never separates two near points by more than one cell.
_WIDER = 1.0 + 2.0**-9
_LAST_CELL = 2.0**41
_NARROWEST, _WIDEST, _LAST_WIDTH = 1e-290, 1e290, 1e306
_TABLE_EACH = 4
_SAMPLE = 1024
_FINEST = 2.0**-20
_MOST_KEPT = 4
ROOM_TO_GROW = 1.5
"""So much larger distances than the one asked for are served too, where distances grow slowly."""
_SLOTS_EACH = 16
# In a lattice: distances whose squares need no care, and what rounding may add to half of a vector.
_SHORTEST, _LONGEST, _CLOSER = 2.0**-200, 2.0**200, 1e-6


def sort_into_cells(query: PointQuery, reach: float, radii: Points, parts: int, scratch: Scratch) -> Cells:
    """Sort the points to search among into cells no narrower than ``reach``."""
    found, envs = query.found, query.other_envs
    grid = _even_grid(query, reach)
    if grid is not None:
        cells = _placed(grid, found, envs, radii, parts, scratch, "found", crowd_counts=grid.wider)
        if cells is not None:
            return cells
    cells = _placed(_table(query, reach), found, envs, radii, parts, scratch, "found")
    assert cells is not None
    return cells


class KeptCells:
    """The cells of points that are searched often, for the last distances."""

    def __init__(self) -> None:
        self._kept: list[tuple[float, Cells]] = []

    def cells(self, query: PointQuery, reach: float, parts: int) -> Cells:
        """Cells no narrower than ``reach``, and no more than twice as wide where narrower ones are better."""
        kept = self._kept
        for width, cells in kept:
            if reach <= width and (cells.grid.wider or width <= 2.0 * reach):
                return cells
        grows = any(width < reach <= 2.0 * width for width, _ in kept)
        most = ROOM_TO_GROW * reach if grows else reach
        made = sort_into_cells(query, most, np.empty(0, query.found.dtype), parts, Scratch())
        self._kept = [
            (most, made),
            *kept[: _MOST_KEPT - 1],
        ]  # a new list: other threads may read the old one
        return made


def sort_queries(query: PointQuery, cells: Cells, radii: Points, parts: int, scratch: Scratch) -> Cells:
    """The query points, sorted by the same cells; few of them stay as they are, as counting takes longer."""
    points, envs = query.points, query.envs
    n, dim = points.shape
    if n * _SLOTS_EACH < cells.grid.slots:
        columns = scratch.array("queries columns", (dim + (len(radii) > 0), n + LANES), points.dtype)
        ids = scratch.array("queries ids", (1 + (len(envs) > 0), n + LANES), np.int32)
        columns[:dim, :n], ids[0, :n] = points.T, np.arange(n)
        if len(radii):
            columns[dim, :n] = radii
        if len(envs):
            ids[1, :n] = envs
        return Cells(cells.grid, columns, ids, cells.starts)
    queries = _placed(cells.grid, points, envs, radii, parts, scratch, "queries")
    assert queries is not None
    return queries


class _Axes(NamedTuple):
    """Along which cells are cut, as Python's numbers: for two or three each call of NumPy takes 1 us."""

    periodic: list[bool]
    low: list[float]
    spread: list[float]
    """How far the world reaches, in the units of ``low``."""
    per_length: list[float]
    """How many of these units a length at right angles to the other axes has."""


def _axes(query: PointQuery) -> _Axes:
    """The axes of space, or in a lattice its vectors."""
    around, dim = query.period.tolist(), query.found.shape[1]
    lows, highs, per_length = query.low.tolist(), query.high.tolist(), [1.0] * dim
    periodic = [math.isfinite(period) for period in around[:dim]]
    if len(around) > dim:
        inverse, vectors = query.period[dim:].reshape(2, dim, dim)
        periodic, around = [bool(vector.any()) for vector in vectors], [1.0] * dim
        per_length = [math.hypot(*column) for column in inverse.T.tolist()]
        if not all(periodic):
            along = by_matrix(query.found, inverse)
            lows, highs = along.min(axis=0).tolist(), along.max(axis=0).tolist()
    low = [0.0 if periodic[axis] else lows[axis] for axis in range(dim)]
    spread = [around[axis] if periodic[axis] else highs[axis] - lows[axis] for axis in range(dim)]
    return _Axes(periodic, low, spread, per_length)


def fits_in_lattice(around: Points, dim: int, r: float) -> bool:
    """Whether all images within ``r`` are less than half of each lattice vector away.

    Then `find_near` and `count_near` take ``around`` (`periods.lattice.around_lattice`) as the period.
    """
    inverse, vectors = around[dim:].reshape(2, dim, dim)
    halves = 2.0 * r * np.hypot.reduce(inverse, axis=0)
    return _SHORTEST <= r <= _LONGEST and bool((halves[vectors.any(axis=1)] < 1.0 - _CLOSER).all())


def _even_grid(query: PointQuery, reach: float) -> Grid | None:
    """Cells of one size over the whole world; None if it is too large for that."""
    periodic, low, spread, per_length = _axes(query)
    dim = len(low)
    lengths = [spread[axis] / per_length[axis] for axis in range(dim)]
    if not max(lengths) < _WIDEST:
        return None
    budget = max(thresholds.CELLS_EACH * len(query.found) / query.worlds, 1.0)
    least = max(reach * _WIDER, _NARROWEST)
    side = max(least, side_for(lengths, budget))
    counts, per_unit = [1] * dim, [one / min(side, _WIDEST) for one in per_length]
    for axis in range(dim):
        if side < _WIDEST:
            whole = max(math.floor(lengths[axis] / side), 1)
            counts[axis] = whole if periodic[axis] or spread[axis] == 0.0 else whole + 1
        if periodic[axis]:
            per_unit[axis] = counts[axis] / max(spread[axis], _NARROWEST)
    rows = np.array([low, per_unit, [0.0] * dim, [number - 1.0 for number in counts]])
    rows = np.concatenate((rows, query.period.reshape(-1, dim)))
    plane = counts[0] * counts[1]
    world = math.prod(counts)
    return Grid(rows, (counts[0], plane, world), 0, world * query.worlds, side > least)


def _table(query: PointQuery, reach: float) -> Grid:
    """Cells of exactly the necessary width, wherever they are, in a hash table."""
    found, dim = query.found, query.found.shape[1]
    step = max(len(found) // _SAMPLE, 1)
    sample = found[::step].astype(np.float64)
    axes = _axes(query)
    per_length = np.array(axes.per_length)
    if len(query.period) > dim:
        sample = sample @ query.period[dim : dim + dim * dim].reshape(dim, dim)
    sample.sort(axis=0)
    middle = sample[len(sample) // 2]
    with np.errstate(over="ignore"):
        bulk = float((sample[(3 * len(sample)) // 4] - sample[len(sample) // 4]).max())
        whole = float((query.high - query.low).max())
    side = reach * _WIDER
    if side == 0.0:
        side = bulk * _FINEST if bulk > 0.0 else whole * _FINEST
    side = max(side, _NARROWEST)
    # From 0, so that no place overflows; beyond the last width whose reciprocal is normal there is one cell.
    origin = middle if side < _WIDEST else np.zeros_like(middle)
    per_unit = per_length / side if side < _LAST_WIDTH else np.zeros(dim)
    periodic = np.array(axes.periodic)
    around = np.where(periodic, axes.spread, 1.0)
    with np.errstate(over="ignore"):
        cells = np.clip(np.floor(around / per_length / side), 1.0, _LAST_CELL)
        per_around = cells / around
    short = np.isinf(per_around)  # so short a period is one cell
    cells, per_around = np.where(short, 1.0, cells), np.where(short, 0.0, per_around)
    rows = np.array(
        [
            np.where(periodic, 0.0, origin),
            np.where(periodic, per_around, per_unit),
            np.where(periodic, 0.0, -_LAST_CELL),
            np.where(periodic, cells - 1.0, _LAST_CELL),
        ]
    )
    rows = np.concatenate((rows, query.period.reshape(-1, dim)))
    blocks = 1 << max(_TABLE_EACH * len(found) // BLOCK, 16).bit_length()
    return Grid(rows, (0, 0, 0), blocks, blocks * BLOCK, False)


def _placed(
    grid: Grid,
    points: Points,
    envs: Numbers,
    radii: Points,
    parts: int,
    scratch: Scratch,
    name: str,
    crowd_counts: bool = False,
) -> Cells | None:
    """The points in the order of their cells; None if they crowd in few of them and that matters."""
    n, dim = points.shape
    spans = threads.shares(n, parts, cost=10.0)
    slots = scratch.array(f"{name} slots", (n,), np.int32 if grid.slots < 2**31 else np.int64)
    counts = scratch.array(f"{name} counts", (len(spans), grid.slots), np.int64)

    def count(part: int, first: int, last: int) -> None:
        counts[part] = 0
        count_cells(points, envs, grid.rows, grid.steps, grid.blocks, first, last, part, slots, counts)

    threads.run_all([partial(count, part, *span) for part, span in enumerate(spans)], parts)
    starts = scratch.array(f"{name} starts", (grid.slots + 1,), np.int64)
    starts[0] = 0
    _, _, crowding = starts_from_counts(counts, starts[1:])
    if crowd_counts and crowding > thresholds.CROWDED_CELL * n:
        return None
    # What is after the last point is read and never used; it only must not trap.
    columns = scratch.array(f"{name} columns", (dim + (len(radii) > 0), n + LANES), points.dtype)
    ids = scratch.array(f"{name} ids", (1 + (len(envs) > 0), n + LANES), np.int32)
    columns[:, n:] = 0.0
    ids[:, n:] = 0

    fixed = slots, counts, columns, ids
    threads.run_all(
        [partial(place_points, points, envs, radii, *span, part, *fixed) for part, span in enumerate(spans)],
        parts,
    )
    return Cells(grid, columns, ids, starts)


# -----------------------------------------------------------------------------------------------------------
# All pairs of points within a distance of each other: cells, a search row by row, and sorted rows.
#
# The search itself is `broadphase.kernels.points.fixed_radius`.


_PIECES = 4  # for each thread, so that no thread waits long for the last
_USUAL = 8


class Reach(NamedTuple):
    """The distance up to which points are near."""

    r: float
    """The one distance, or the largest sum of any two radii."""
    radii: Points
    """Of the points, and of those to search among; empty if there is one distance for all."""
    other_radii: Points
    given: tuple[Points, Points] | None = None
    """The radii in the points' own type, where these are searched a little farther."""


class NearRows(NamedTuple):
    """What was found."""

    i: Numbers
    j: Numbers
    distance: Points


def one_reach(r: float, kind: Any) -> Reach:
    """The same distance for all."""
    return Reach(r, np.empty(0, kind), np.empty(0, kind))


def find_near(
    query: PointQuery,
    reach: Reach,
    sort: bool,
    parts: int,
    limit: int = NO_LIMIT,
    kept: KeptCells | None = None,
    upward: bool = False,
) -> NearRows:
    """All pairs, sorted or in any order; through cells that are kept, if there is one distance for all.

    With ``upward`` only others with a higher number are found, as it is among points of one set.
    """
    kind = query.points.dtype
    if len(query.points) == 0 or len(query.found) == 0:
        return NearRows(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, kind))
    plain = query.others is not None and query.worlds == 1 and len(reach.radii) == 0
    if kept is not None and plain and len(query.points) <= thresholds.POINTS_AT_ONCE:
        points = query.points.astype(np.float64, copy=False)
        few = find_in_cells(query, kept.cells(query, reach.r, parts), points, reach.r)
        if few is not None and len(few[0]) <= limit:
            return NearRows(*few)
    rule = _rule(query, reach)
    rule = rule._replace(upward=upward or rule.upward)
    with borrowed_scratch() as scratch:
        if kept is None:
            cells = sort_into_cells(query, reach.r, reach.other_radii, parts, scratch)
        else:
            cells = kept.cells(query, reach.r, parts)
        queries = cells
        if query.others is not None:
            queries = sort_queries(query, cells, reach.radii, parts, scratch)
        finds = _search(query, cells, queries, rule, parts, limit, scratch, reach)
        order = np.empty(0, np.int32) if sort else queries.ids[0, : len(query.points)]
        return _in_order(query, finds, order, sort, parts, limit)


def _bytes_of_pair(query: PointQuery) -> int:
    """As it is found, and as it is returned."""
    return 12 + 2 * query.points.itemsize


def _check_room(query: PointQuery, reach: Reach, counts: Iterable[int], free: int) -> None:
    """Refuse pairs, counted part by part, that do not fit into memory.

    Raises
    ------
    MemoryError
        All pairs together are more than is free.
    """
    pairs, size = 0, _bytes_of_pair(query)
    for count in counts:
        pairs += count
        if pairs * size > free:
            raise MemoryError(
                f"{pairs} or more pairs of {len(query.points)} points within r = {reach.r:g} take "
                f"{pairs * size / 1e9:.3g} GB, and {free / 1e9:.3g} GB are free; give a smaller r, or "
                "max_pairs= to refuse so many earlier"
            )


def _rule(query: PointQuery, reach: Reach) -> Rule:
    """Which squares count, and whether they need care."""
    kind = query.points.dtype.type
    safe = 30 if query.points.itemsize == 4 else 200
    r = kind(reach.r)
    scale = 1.0
    if not (2.0**-safe <= r <= 2.0**safe or np.isinf(r)):
        most = 126 if query.points.itemsize == 4 else 1022
        scale = 2.0 ** min(max(-math.frexp(float(r))[1], -most), most) if r > 0 else 2.0**most
    apart = query.worlds == 1
    careful = scale != 1.0 or len(reach.radii) > 0 or not apart
    most_apart = kind(r * kind(scale))
    if 0.0 < r < np.finfo(kind).tiny:
        # Distances as small are rounded to multiples of the least number, and half of it more still gives r;
        # exactly half is rounded to the even multiple.
        least = np.finfo(kind).smallest_subnormal
        most_apart += kind(0.5) * (least * kind(scale))
        if int(r / least) % 2:
            most_apart = np.nextafter(most_apart, kind(0.0))
    return Rule(query.others is None, _largest_square(most_apart), scale, careful)


def _largest_square(r: Any) -> float:
    """The largest number whose root, rounded, is at most ``r``."""
    kind = type(r)
    if np.isinf(r):
        return math.inf
    with np.errstate(under="ignore", over="ignore"):
        square = r * r
        while np.sqrt(square) > r:
            square = np.nextafter(square, kind(0))
        while np.sqrt(np.nextafter(square, kind(np.inf))) <= r:
            square = np.nextafter(square, kind(np.inf))
    return float(square)


def _search(
    query: PointQuery,
    cells: Cells,
    queries: Cells,
    rule: Rule,
    parts: int,
    limit: int,
    scratch: Scratch,
    reach: Reach,
) -> Finds:
    n, kind = len(query.points), query.points.dtype
    pieces = threads.shares(n, parts, cost=10.0, pieces=_PIECES)
    rows = scratch.array("near rows", (n, 2), np.int64)
    # If points find more than this, the kernel takes more memory, and the finds are copied together; the next
    # call allocates all at once.
    capacity = -(-max(_USUAL * n, scratch.held("near ids") // 5) // len(pieces)) + 64 * LANES
    ids = scratch.array("near ids", (1, capacity * len(pieces)), np.int32)
    squares = scratch.array("near squares", (1, capacity * len(pieces)), kind)
    plain = rule.scale == 1.0 and cells.columns.shape[0] == cells.grid.rows.shape[1]
    if plain and cells.grid.blocks == 0:  # each cell has its own slot: environments never share one
        rule = rule._replace(careful=False)

    def search(piece: int, begin: int, end: int, most: int) -> tuple[Any, Any, int]:
        base = piece * capacity
        room = ids[:, base : base + capacity], squares[:, base : base + capacity]
        found: tuple[Numbers, Points, int] = search_near(
            cells, queries, rule, rows, *room, base, begin, end, most
        )
        return found

    def search_all(most: int) -> tuple[list[Any], int]:
        found = threads.run_all(
            [partial(search, piece, *span, most) for piece, span in enumerate(pieces)], parts
        )
        return found, sum(count for *_, count in found)

    size = 4 + kind.itemsize
    free = free_for(float(n) * len(query.found) * size / 4.0)
    few = limit if free is None else free // (4 * size * len(pieces))
    done, total = search_all(min(limit, few))
    if free is not None and few < max(count for *_, count in done) and total <= limit:
        # Whether they fit is not guessed: they are counted, with radii by searches that keep nothing.
        both = 2 if rule.upward and query.others is not None else 1  # at least half of these count
        counts: Iterable[int] = (int(count_near(query, [reach.r], 1)[0]) for _ in range(1))
        if len(reach.radii):
            step = max(few // len(query.found), 1)
            counts = (search(0, row, min(row + step, n), limit)[2] for row in range(0, n, step))
        _check_room(query, reach, (count // both for count in counts), free)
        done, total = search_all(limit)
    if total > limit:
        raise PairLimitExceeded(limit, TOO_MANY_NEAR)
    if len(pieces) == 1:
        ids, squares, _ = done[0]
    elif any(out.shape[1] > capacity for out, *_ in done):
        # Of each piece with what is written after the last find.
        ids, squares = (
            np.concatenate([out[side][:, : out[2] + LANES] for out in done], axis=1) for side in (0, 1)
        )
        place = 0
        for piece, (span, (*_, count)) in enumerate(zip(pieces, done, strict=True)):
            rows[queries.ids[0, slice(*span)], 0] += place - piece * capacity
            place += count + LANES
    most = len(pieces) * max(count for *_, count in done)
    scratch.reserve("near ids", 4 * most)
    scratch.reserve("near squares", kind.itemsize * most)
    return Finds(rows, ids, squares, rule.scale)


def count_near(query: PointQuery, distances: Sequence[float], parts: int) -> npt.NDArray[np.int64]:
    """For each of some distances how many pairs lie within it."""
    counts = np.zeros(len(distances), np.int64)
    if len(query.points) == 0 or len(query.found) == 0 or len(distances) == 0:
        return counts
    kind = query.points.dtype
    rules = [_rule(query, one_reach(r, kind)) for r in distances]
    n, m, (_, dim) = len(query.points), len(query.found), query.points.shape
    curve = curve_for(query.found, query.low, query.high, query.worlds)
    tree = others = sorted_tree(query.points, query.envs, curve, parts)
    if query.others is not None:
        others = sorted_tree(query.others, query.other_envs, curve, parts)
    pieces, shifts = threads.shares(-(-n // LANES), parts, 10.0 * LANES, _PIECES), _shifts(query)
    # Distances far beyond the usual are counted one by one, each with differences scaled for itself.
    usual = [k for k, rule in enumerate(rules) if rule.scale == 1.0]
    for group in [usual, *([k] for k, rule in enumerate(rules) if rule.scale != 1.0)]:
        if not group:
            continue
        bounds = np.array([rules[k].reach for k in group], kind)
        order = np.argsort(bounds)
        scale = rules[group[0]].scale
        jobs = []
        for number, shift in enumerate(shifts):
            among = query.others is None and number == 0
            sides = Sides(tree, n, others, m, among, query.period[:dim], shift, scale, bounds[order])
            jobs += [partial(count_within, sides, *piece) for piece in pieces]
        counts[np.array(group)[order]] = np.sum(threads.run_all(jobs, parts), axis=0)
    return counts


def _shifts(query: PointQuery) -> list[Points]:
    """By which vectors of a lattice others may be shifted; among points of one set only upward."""
    dim = query.points.shape[1]
    steps = [np.zeros(dim, query.points.dtype)]
    if len(query.period) > dim:
        vectors = query.period[dim + dim * dim :].reshape(dim, dim)
        every = product(*((-1, 0, 1) if vector.any() else (0,) for vector in vectors))
        steps += [
            np.array(step) @ vectors
            for step in every
            if (step > (0,) * dim if query.others is None else any(step))
        ]
    return steps


def _in_order(
    query: PointQuery, finds: Finds, order: Numbers, sort: bool, parts: int, limit: int
) -> NearRows:
    n, kind = len(query.points), query.points.dtype
    pieces = threads.shares(n, parts, cost=10.0, pieces=_PIECES)
    counts = threads.run_all([partial(count_finds, order, finds.rows, *piece) for piece in pieces], parts)
    ends = np.cumsum([total for total, _ in counts])
    total, longest = int(ends[-1]), max(most for _, most in counts)
    if total > limit:
        raise PairLimitExceeded(limit, TOO_MANY_NEAR)
    result, rows = _result_arrays(total, kind)
    marks = len(query.found) if longest > RANKED and sort else 0
    space = Space(query.points, query.found, query.period)

    def put(piece: int, first: int, last: int) -> None:
        begin, end = int(ends[piece]) - counts[piece][0], int(ends[piece])
        put_rows(order, sort, finds, space, first, last, begin, end, words_for(marks), rows)

    threads.run_all([partial(put, piece, *span) for piece, span in enumerate(pieces)], parts)
    return result


def _result_arrays(total: int, kind: Any) -> tuple[NearRows, PairRows]:
    """Arrays for this many pairs in one recycled block of memory; and in the form that kernels take."""
    width = 2 + kind.itemsize // 4
    flat = result_array((total * width,), np.int32)
    i, j = flat[:total], flat[total : 2 * total]
    distance = flat[2 * total : width * total].view(kind)
    return NearRows(i, j, distance), PairRows(i.reshape(1, -1), j.reshape(1, -1), distance.reshape(1, -1))


# -----------------------------------------------------------------------------------------------------------
# Points near each other whose radii differ much: by boxes around them.
#
# Cells are as wide as the two largest radii together, so a few large ones would make every point search many
# cells.  A search for boxes takes all sizes, and of the boxes that overlap, 1.3 (3-D: 1.9) to one, the exact
# distance decides.


# From about here on squares of differences are computed from scaled numbers.
_HUGE = 2.0**29
# Edges are farther away by so many units of rounding of a distance.
_ROUNDINGS = 8.0


def find_near_mixed(
    query: PointQuery, reach: Reach, sort: bool, parts: int, limit: int = NO_LIMIT
) -> NearRows:
    """What `find_near` finds."""
    few = find_small_pairs(query, *reach[:3], limit)
    if few is not None:
        return NearRows(*few)
    if len(reach.radii) and reach.r < np.finfo(query.points.dtype).tiny:
        # The rounding of distances decides (`_rule`), for which there must be one radius for all.
        one = one_reach(reach.r, query.points.dtype)
        return _within_radii(reach, find_near(query, one, sort, parts, limit))
    mixed = _differ(reach.radii) or (query.others is not None and _differ(reach.other_radii))
    if mixed and reach.r < _HUGE:
        found = _in_boxes(query, reach, sort, parts, limit)
        if found is not None:
            return found
    return _within_radii(reach, find_near(query, reach, sort, parts, limit))


def _differ(radii: Points) -> bool:
    """Whether some of the radii are far larger than most others."""
    middle = len(radii) // 2
    return bool(len(radii) and radii.max() / thresholds.LARGE_RADIUS > np.partition(radii, middle)[middle])


def _in_boxes(query: PointQuery, reach: Reach, sort: bool, parts: int, limit: int) -> NearRows | None:
    """What `find_near` finds, by boxes around the points; None if far more boxes overlap than may count."""
    worlds = len(query.envs) > 0
    period = query.period if np.isfinite(query.period).any() else None
    how: dict[str, Any] = {"period": period, "sort": sort, "threads": parts}
    how["max_pairs"] = most = min(4 * limit + 500, NO_LIMIT)
    free = free_for(float(len(query.points)) * len(query.found) * _bytes_of_pair(query))
    if free is not None:
        how["max_pairs"] = min(most, free // _bytes_of_pair(query))
    boxes = _around(query.points, reach.radii)
    try:
        if query.others is None:
            pairs = all_pairs(boxes, env=query.envs if worlds else None, **how)
        else:
            envs = (query.envs, query.other_envs) if worlds else None
            pairs = join(boxes, _around(query.found, reach.other_radii), env=envs, **how)
    except PairLimitExceeded:
        if free is not None and how["max_pairs"] < most:
            _check_room(query, reach, [how["max_pairs"] + 1], free)
        return None
    i, j = np.ascontiguousarray(pairs.T)
    within = near_among(query, i, j, reach, parts)
    if len(within.i) > limit:
        raise PairLimitExceeded(limit, TOO_MANY_NEAR)
    return within


def near_among(query: PointQuery, i: Numbers, j: Numbers, reach: Reach, parts: int) -> NearRows:
    """Those of some pairs that are within reach, in their order."""
    m, kind = len(i), query.points.dtype
    columns, distances = result_array((2, m), np.int32), result_array((m,), kind)
    space = Space(query.points, query.found, query.period)
    radii = tuple(radii.astype(kind, copy=False) for radii in (reach.radii, reach.other_radii))

    def keep(begin: int, end: int, place: int) -> int:
        return int(keep_near(space, i, j, radii, reach.r, begin, end, place, columns, distances))

    return NearRows._make(rows_kept(m, parts, keep, (*columns, distances)))


def _around(points: Points, radii: Points) -> npt.NDArray[np.float64]:
    """Boxes that contain all that is within a radius of each point, however distances are rounded."""
    places, least = points.astype(np.float64, copy=False), np.finfo(points.dtype)
    far = (
        radii[:, None] + _ROUNDINGS * float(least.eps) * (np.abs(places) + radii[:, None]) + float(least.tiny)
    )
    return np.concatenate((places - far, places + far), axis=1)


def _within_radii(reach: Reach, result: NearRows) -> NearRows:
    """Without pairs that were only found because their distance vanishes compared with a huge radius.

    Of the least radii, those that a search with one radius for all has found too many are left out as well.
    """
    tiny = np.finfo(reach.radii.dtype).tiny if len(reach.radii) else 0.0
    if len(reach.radii) == 0 or tiny <= reach.r < _HUGE:
        return result
    with np.errstate(over="ignore"):
        within = result.distance <= reach.radii[result.i] + reach.other_radii[result.j]
    return result if within.all() else NearRows(result.i[within], result.j[within], result.distance[within])
