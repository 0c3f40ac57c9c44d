"""Trace of the uniform grid and the spatial hash: their cells, shared slots, and what was compared."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.indexes.classes import CellIndex
from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.cells.bins import (
    BOX,
    LENGTH,
    LOW_31_BITS,
    PLACE,
    PRIME_X,
    PRIME_Y,
    Bins,
    Lattice,
)
from broadphase.lab.tracing.trace import Ids, Numbers, Trace, counting, traces, walks

MOST_CELLS = 4_000


class FilledCells(NamedTuple):
    """Cells that hold bodies."""

    rectangles: npt.NDArray[np.float64]
    """``(m, 4)``"""
    places: Numbers
    """Cell of the grid or slot of the hash."""
    bodies: Numbers
    """How many bodies lie in each cell."""
    strangers: Numbers
    """How many bodies of other cells share the slot of the hash table."""


def structure(index: CellIndex) -> FilledCells | None:
    """The cells of the moving and the static bodies; None if there are too many to draw."""
    parts = [_cells_of(bins, index._store.boxes) for bins in index._structure.cells()]
    if sum(len(part.places) for part in parts) > MOST_CELLS:
        return None
    return FilledCells(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _cells_of(bins: Bins, boxes: BoxArray) -> FilledCells:
    _, x, y = _cells_in(_spans(bins.lattice, boxes[bins.small]))
    # Sorted and counted; `numpy.unique` of rows takes eleven times as long.
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    first = np.flatnonzero(np.append(True, (np.diff(x) != 0) | (np.diff(y) != 0))[: len(x)])
    bodies = np.diff(first, append=len(x))
    x, y = x[first], y[first]
    places = _places(bins.lattice, x, y)
    low = np.column_stack([x, y]) / bins.lattice.per_unit + bins.lattice.origin[:2]
    rectangles = np.hstack((low, low + 1.0 / bins.lattice.per_unit))
    return FilledCells(rectangles, places, bodies, _lengths(bins, places) - bodies)


def _spans(lattice: Lattice, boxes: BoxArray) -> Numbers:
    """``(n, 4)``: first and last cell on x, then on y, as `kernels.cells.bins` computes them."""
    spans = np.empty((len(boxes), 4), np.int64)
    for axis in range(2):
        for which in range(2):
            at = (boxes[:, 2 * which + axis].astype(np.float64) - lattice.origin[axis]) * lattice.per_unit
            spans[:, 2 * axis + which] = np.floor(np.clip(at, lattice.first[axis], lattice.last[axis]))
    return spans


def _cells_in(spans: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Row, x and y of every cell of every span."""
    wide, high = spans[:, 1] - spans[:, 0] + 1, spans[:, 3] - spans[:, 2] + 1
    body = np.repeat(np.arange(len(spans)), wide * high)
    step = counting(wide * high)
    return body, spans[body, 0] + step % wide[body], spans[body, 2] + step // wide[body]


def _places(lattice: Lattice, x: Numbers, y: Numbers) -> Numbers:
    if lattice.slots:
        slots: Numbers = (((x & LOW_31_BITS) * PRIME_X) ^ ((y & LOW_31_BITS) * PRIME_Y)) % lattice.slots
        return slots
    cells: Numbers = y * (int(lattice.last[0]) + 1) + x
    return cells


def _lengths(bins: Bins, places: Numbers) -> Numbers:
    """How many bodies the engine has in these places."""
    lengths: Numbers = np.where(bins.heads[places] > 0, bins.entries[bins.heads[places], LENGTH], 0)
    return lengths.astype(np.int64)


# ---- what was compared


@traces("uniform_grid", "spatial_hash")
def trace_cells(index: CellIndex) -> Trace:
    """The pairs compared: within each place, then with large bodies, then moving with static ones."""
    boxes, (moving, static) = index._store.boxes, index._structure.cells()
    axis = moving.axis
    compared = [
        _within_places(moving, boxes),
        walks(moving.large, _stops(boxes, moving.large, axis)),
        _between(boxes, moving.large, moving.small, axis),
        _between(boxes, static.large, moving.small, axis),
        _between(boxes, moving.large, static.small, axis),
        _between(boxes, moving.large, static.large, axis),
    ]
    if len(moving.small) <= len(static.small):
        compared.append(_queried(static, boxes, moving.small))
    else:
        compared.append(_queried(moving, boxes, static.small))
    return Trace(np.concatenate(compared))


def _lists(bins: Bins) -> Ids:
    """The entries, place by place; the newest of a place is the first."""
    entries = bins.entries[:0:-1]
    return entries[np.argsort(entries[:, PLACE], kind="stable")]


def _within_places(bins: Bins, boxes: BoxArray) -> Ids:
    """Every body with those behind it in its list."""
    entries = _lists(bins)
    ids, begins = entries[:, BOX], np.flatnonzero(np.diff(entries[:, PLACE], prepend=-1))
    stops = np.repeat(np.append(begins[1:], len(ids)), np.diff(begins, append=len(ids)))
    if bins.axis >= 0:
        for begin, end in zip(begins, np.append(begins[1:], len(ids)), strict=True):
            stops[begin:end] = begin + _stops(boxes, ids[begin:end], bins.axis)
    return walks(ids, stops)


def _stops(boxes: BoxArray, ids: Ids, axis: int) -> Numbers:
    """Where the walk of each of these bodies ends: at the first that begins beyond it, or at the last."""
    if axis < 0:
        return np.full(len(ids), len(ids))
    stops: Numbers = np.searchsorted(boxes[ids, axis], boxes[ids, 2 + axis], "right")
    return stops


def _between(boxes: BoxArray, some: Ids, others: Ids, axis: int) -> Ids:
    """Each body with those of the other list that begin within it, or with all if they are in no order."""
    if axis < 0:
        return np.column_stack([np.repeat(some, len(others)), np.tile(others, len(some))])
    compared = []
    for ids, met, side in ((some, others, "left"), (others, some, "right")):
        lows = boxes[met, axis]
        begins = np.searchsorted(lows, boxes[ids, axis], side)  # type: ignore[call-overload]
        counts = np.maximum(np.searchsorted(lows, boxes[ids, 2 + axis], "right") - begins, 0)
        behind = np.repeat(begins, counts) + counting(counts)
        compared.append(np.column_stack([np.repeat(ids, counts), met[behind]]))
    return np.concatenate(compared)


def _queried(bins: Bins, boxes: BoxArray, ids: Ids) -> Ids:
    """Each of the ids with the bodies in the cells that it touches, or with all if those are fewer."""
    if not len(bins.small):
        return np.empty((0, 2), np.int32)
    spans = _spans(bins.lattice, boxes[ids])
    reach = bins.reach.astype(np.int64)
    for axis in range(2):
        spans[:, 2 * axis] = np.maximum(spans[:, 2 * axis], reach[0, axis])
        spans[:, 2 * axis + 1] = np.minimum(spans[:, 2 * axis + 1], reach[1, axis])
    wide, tall = (np.maximum(spans[:, k + 1] - spans[:, k] + 1, 0) for k in (0, 2))
    few = wide * tall <= len(bins.small)
    body, x, y = _cells_in(spans[few & (wide > 0) & (tall > 0)])
    asking, entries = ids[few & (wide > 0) & (tall > 0)][body], _lists(bins)
    places = _places(bins.lattice, x, y)
    counts = _lengths(bins, places)
    found = np.repeat(np.searchsorted(entries[:, PLACE], places), counts) + counting(counts)
    in_cells = np.column_stack([np.repeat(asking, counts), entries[found, BOX]])
    return np.concatenate([in_cells, _between(boxes, ids[~few], bins.small, -1)])
