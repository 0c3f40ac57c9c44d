"""The cut: a sample of the boxes says into which tiles the world falls.

The world is cut in two where half of the sampled boxes begin on either side, then each half again, until a
tile holds few enough.  Of the axes the one is cut along which fewest boxes would lie on both sides.  Where no
cut helps, because all boxes begin at one place or nearly all would be copied, the tile stays heavy, and its
boxes are joined block by block instead (`broadphase.outofcore.tasks`).

A pair of boxes shares a lowest corner: the larger of their lower edges on every axis.  Tiles are half-open,
so it lies in exactly one of them, and only there the pair counts.  It does so where on no axis both boxes
began before the tile: two class bits a box, whose AND must be 0, which the search looks at anyway.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.kernels.partition.tiles import LEFT, RIGHT

FIRST_BEGAN = 8
"""Class bits: began before this tile on x; the bits above it, on y and z."""

_MOST_TILES = 1 << 15
_LEAST_SAMPLE = 8  # sampled boxes in a tile that is still cut
_MOST_COPIED = 1.5  # a cut after which there are so many times more boxes is none
_BALANCE = 0.9  # nor one that leaves so much on one side


@dataclass(frozen=True)
class Cut:
    """A tree of cuts, and the tiles that are its leaves."""

    nodes: npt.NDArray[np.int32]
    """A row a node, the tiles last: axis, and where to go on; see `broadphase.kernels.partition.tiles`."""
    splits: npt.NDArray[Any]
    """Where each node cuts."""
    depth: int
    """Of the deepest tile."""
    low: npt.NDArray[Any]
    """``(tiles, dim)``: where each tile begins, ``-inf`` at the rim of the world."""
    high: npt.NDArray[Any]
    """Where it ends; what lies on this edge belongs to the next tile."""

    @property
    def tiles(self) -> int:
        """How many tiles there are."""
        return len(self.low)


def cut_world(sample: BoxArray, boxes_each: float, tile: int) -> Cut:
    """Cut the world into tiles of at most about ``tile`` boxes, where each sampled box stands for so many."""
    dim = sample.shape[1] // 2
    nodes: list[list[int]] = []
    splits: list[Any] = []
    lows: list[Any] = []
    highs: list[Any] = []
    rim = np.full(dim, np.inf, sample.dtype)
    # What is still to be cut: which boxes, between which edges, how deep, and where in `nodes` to note it.
    todo = [(np.arange(len(sample)), -rim, rim, 0, -1, 0)]
    deepest = 0
    while todo:
        rows, low, high, depth, parent, side = todo.pop()
        enough = len(rows) * boxes_each <= tile or len(rows) < _LEAST_SAMPLE
        full = len(lows) + len(todo) >= _MOST_TILES
        best = None if enough or full else _best_split(sample, rows, low)
        if parent >= 0:
            nodes[parent][side] = ~len(lows) if best is None else len(nodes)
        if best is None:
            deepest = max(deepest, depth)
            lows.append(low)
            highs.append(high)
            continue
        axis, split = best
        left, right = high.copy(), low.copy()
        left[axis] = right[axis] = split
        here = len(nodes), depth + 1
        todo.append((rows[sample[rows, dim + axis] >= split], right, high, here[1], here[0], RIGHT))
        todo.append((rows[sample[rows, axis] < split], low, left, here[1], here[0], LEFT))
        nodes.append([axis, 0, 0])
        splits.append(split)
    return Cut(
        _with_tiles(nodes, len(lows)),
        np.array([*splits, *[np.nan] * len(lows)], sample.dtype),
        deepest,
        np.array(lows, sample.dtype),
        np.array(highs, sample.dtype),
    )


def _with_tiles(nodes: list[list[int]], tiles: int) -> npt.NDArray[np.int32]:
    """The nodes, and behind them the tiles, which were numbered downward from -1."""
    inner = np.array(nodes, np.int32).reshape(-1, 3)
    inner[inner < 0] = len(inner) + ~inner[inner < 0]
    ends = np.arange(len(inner), len(inner) + tiles, dtype=np.int32)
    return np.concatenate([inner, np.stack([np.zeros_like(ends), ends, ends], axis=1)])


def _best_split(
    sample: BoxArray, rows: npt.NDArray[np.int64], low: npt.NDArray[Any]
) -> tuple[int, Any] | None:
    """The axis and the place that leave the fewest boxes on both sides."""
    dim, n = len(low), len(rows)
    best, least = None, np.inf
    for axis in range(dim):
        begins, ends = sample[rows, axis], sample[rows, dim + axis]
        inside = np.sort(begins[np.isfinite(begins) & (begins >= low[axis])])
        at = np.searchsorted(inside, inside[len(inside) // 2]) if len(inside) else 0
        if at == 0:  # the middle one is the smallest too: try what comes after it
            at = np.searchsorted(inside, inside[0], side="right") if len(inside) else 0
        if at == len(inside):
            continue
        split = inside[at]
        left, right = np.count_nonzero(begins < split), np.count_nonzero(ends >= split)
        if left + right > _MOST_COPIED * n or max(left, right) > _BALANCE * n:
            continue
        # Short boxes seldom lie across a cut of the sample.  Then what they would do counts: how far they
        # reach, against how far they are spread; and among points, the axis that is spread farthest.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            spread = np.float64(inside[-1]) - np.float64(inside[0])
            reach = np.minimum(ends.astype(np.float64) - begins, spread).mean() / spread
        cost = (left + right) / n + np.nan_to_num(reach, nan=1.0, posinf=1.0) + 1e-9 / (1.0 + spread)
        if cost < least:
            best, least = (axis, split), cost
    return best


def began_before(boxes: BoxArray, low: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The class bits of boxes in a tile that begins at ``low``: on which axes they began before it."""
    bits = np.zeros(len(boxes), np.uint8)
    for axis, edge in enumerate(low):
        if edge != -np.inf:
            bits |= (boxes[:, axis] < edge).view(np.uint8) << np.uint8(axis + 3)
    return bits


def touches(boxes: BoxArray, low: npt.NDArray[Any], high: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which boxes the tree would copy into the tile between ``low`` and ``high``."""
    dim = len(low)
    inside = np.ones(len(boxes), np.bool_)
    for axis in range(dim):
        if low[axis] != -np.inf:
            inside &= boxes[:, dim + axis] >= low[axis]
        if high[axis] != np.inf:
            inside &= boxes[:, axis] < high[axis]
    return inside
