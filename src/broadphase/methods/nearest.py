"""The nearest of many: points or boxes along a Morton curve, with boxes around those that follow each other.

Along the curve (Z-order) what is near is mostly near in space (`broadphase.kernels.points.nearest_points`).
It assumes nothing about the distribution: crowds within crowds, lines and a point far away are nearly as fast
as evenly spread points.

Cost: sorting, then for each point about ten groups of 16 boxes and as many leaves of 16 points.
"""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.arrays.sorting import stable_argsort
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.points.nearest_points import (
    LARGEST,
    SIZES,
    Curve,
    Scale,
    Scratch,
    Search,
    Sorted,
    Tree,
    bound_tree,
    find_keys,
    find_keys_of_boxes,
    search_points,
    take_in_order,
)
from broadphase.runtime import threads, thresholds
from broadphase.runtime.memory import result_array

Points = npt.NDArray[np.floating[Any]]
Numbers = npt.NDArray[np.int32]
Sets = npt.NDArray[np.uint32]

_NONE = np.empty(0, np.int32)
_SAMPLE = 4096
_TRIMMED = 0.005
_MOST_BITS = {2: 31, 3: 21}


def curve_for(found: npt.NDArray[np.floating[Any]], lowest: Any, highest: Any, worlds: int) -> Curve:
    """The finest steps that fit in the region of nearly all points; the others are at the ends."""
    dim = found.shape[1]
    sample = np.sort(found[:: max(len(found) // _SAMPLE, 1)].astype(np.float64), axis=0)
    aside = int(_TRIMMED * len(sample))
    low, high = sample[aside], sample[-1 - aside]
    with np.errstate(over="ignore"):
        margin = 0.25 * high - 0.25 * low
        low, high = np.maximum(low - margin, lowest), np.minimum(high + margin, highest)
        spread = 0.5 * high - 0.5 * low
    width = min(_MOST_BITS[dim], (62 - max(worlds - 1, 0).bit_length()) // dim)
    # Equally many steps on each axis, but none longer on a short axis: neighbours are near on all axes.
    longest = float(spread.max())
    per_unit = 2.0 ** (width - 1) / longest if longest > 1e-300 else 0.0
    return Curve(low, np.full(dim, per_unit), width)


def sort_along(
    curve: Curve, points: Points, envs: Numbers, kind: "np.dtype[Any]", scale: float, parts: int
) -> tuple[Sorted, npt.NDArray[np.int64]]:
    """The points along the curve, scaled, and where they are on it, ascending."""
    keys = _keys(curve, points, envs, parts)
    order = stable_argsort(keys)
    return _taken(points, points.shape[1], envs, order, kind, scale, parts), keys[order]


def _spans(n: int, parts: int) -> list[tuple[int, int]]:
    return threads.shares(n, parts, cost=40.0)


def _keys(curve: Curve, points: Points, envs: Numbers, parts: int) -> npt.NDArray[np.int64]:
    keys, spans = np.empty(len(points), np.int64), _spans(len(points), parts)
    threads.run_all([partial(find_keys, points, envs, curve, *span, keys) for span in spans], parts)
    return keys


def _taken(
    rows: Points, axes: int, envs: Numbers, order: Numbers, kind: "np.dtype[Any]", scale: float, parts: int
) -> Sorted:
    """The first columns of some rows in an order, followed by what is read and not used."""
    spans, length = _spans(len(order), parts), len(order) + LANES
    held = Sorted(np.zeros((axes, length), kind), np.zeros((1 + (len(envs) > 0), length), np.int32))
    threads.run_all([partial(take_in_order, rows, envs, order, scale, *span, *held) for span in spans], parts)
    return held


def tree_around(held: Sorted, n: int, dim: int) -> Tree:
    """With the boxes of all levels, each filled up to a multiple of `LANES` with empty boxes."""
    sizes = [-(-n // LANES)]
    while sizes[-1] > LANES:
        sizes.append(-(-sizes[-1] // LANES))
    levels = np.cumsum([0, *(-(-size // LANES) * LANES for size in sizes)], dtype=np.int64)
    boxes = np.empty((2 * dim, int(levels[-1])), held.columns.dtype)
    boxes[:dim], boxes[dim:] = np.inf, -np.inf
    worlds = np.empty((2, int(levels[-1]) if len(held.ids) > 1 else 0), np.int32)
    worlds[0:1], worlds[1:2] = np.iinfo(np.int32).max, -1
    bound_tree(held.columns, held.ids, n, levels, boxes, worlds)
    return Tree(held, boxes, worlds, levels)


def search_in_pieces(search: Search, parts: int, ids: Numbers, distances: Points) -> int:
    """Run `search_points` for all query points on several threads; the comparisons that were made."""
    tree, capacity = search.tree, 2 * search.wanted + 12 * LANES

    def search_piece(begin: int, end: int) -> int:
        scratch = Scratch(
            np.empty(2 * LANES * (len(tree.levels) + 1), np.int64),
            np.empty((1, capacity), tree.points.columns.dtype),
            np.empty((2, capacity)),
            np.empty((2, capacity), np.int32),
        )
        return int(search_points(search, begin, end, scratch, ids, distances))

    pieces = threads.shares(len(search.points), parts, cost=40.0, pieces=4)
    return sum(threads.run_all([partial(search_piece, *piece) for piece in pieces], parts))


def order_along(points: Points) -> Numbers:
    """An order in which consecutive points are near each other."""
    curve = curve_for(points, points.min(axis=0), points.max(axis=0), 1)
    order: Numbers = stable_argsort(_keys(curve, points, _NONE, 1))
    return order


def find_nearest(
    boxes: BoxArray,
    sets: tuple[Sets, Sets],
    rule: tuple[int, int],
    points: npt.NDArray[np.float64],
    k: int,
    parts: int,
) -> tuple[Numbers, npt.NDArray[np.float64], int] | None:
    """The ``k`` nearest of each point among the rows that hold a box and pass the rule.

    ``(m, k)`` ids and distances, by distance, then id, -1 and inf where there are fewer; and the comparisons.
    None if a tree that is kept is faster, or if squares overflow.

    Parameters
    ----------
    boxes : numpy.ndarray
        ``(n, 2 * dim)``; a row of NaN is not a box.
    sets, rule : tuple
        Categories and masks by row, and those of the query; -1 for none.
    points : numpy.ndarray
        ``(m, dim)``, float64.
    k : int
    parts : int
        Threads.
    """
    (m, dim), n = points.shape, len(boxes)
    least = thresholds.LEAST_RESULTS + thresholds.RESULTS_A_BOX * n
    if k > thresholds.MOST_RANKED or k * m < least or not np.abs(points).max() <= LARGEST:
        return None
    sample = boxes[:: max(n // _SAMPLE, 1)].astype(np.float64)
    sample = sample[np.isfinite(sample).all(axis=1)]
    if not len(sample):
        return None
    middles = 0.5 * sample[:, :dim] + 0.5 * sample[:, dim:]
    curve = curve_for(middles, -np.inf, np.inf, SIZES)
    space = 2.0**curve.width / max(float(curve.per_unit[0]), 1e-300) * n ** (-1.0 / dim)
    keys, how = np.empty(n, np.int64), (boxes, sets, rule, curve, space)
    found = threads.run_all(
        [partial(find_keys_of_boxes, *how, *span, keys) for span in _spans(n, parts)], parts
    )
    counts, halves = zip(*found, strict=True)
    count = sum(counts)
    if min(counts) < 0 or not count:
        return None
    order, axes = stable_argsort(keys)[:count], 2 * dim if max(halves) > 0.0 else dim
    tree = tree_around(_taken(boxes, axes, _NONE, order, points.dtype, 1.0, parts), count, dim)
    queries, query_keys = sort_along(curve, points, _NONE, points.dtype, 1.0, parts)
    around, ids, distances = (
        np.full(dim, np.inf),
        result_array((m, k), np.int32),
        result_array((m, k), np.float64),
    )
    scale, keys = Scale(1.0, around, around), keys[order]
    search = Search(tree, count, scale, np.inf, points, boxes, queries, keys, query_keys, min(k, count))
    return ids, distances, search_in_pieces(search, parts, ids, distances)
