"""Trace of the uniform grid and the spatial hash: their cells, shared slots, and what was compared."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.indexes.cells import CellLists
from broadphase.indexes.classes import CellIndex
from broadphase.indexes.storage import BoxStore
from broadphase.kernels.cells import dynamic_cells as columns
from broadphase.kernels.cells.dynamic_cells import HEADER, OVERFULL, UNIT
from broadphase.kernels.cells.one_shot import LOW_31_BITS, PRIME_X, PRIME_Y
from broadphase.lab.tracing.trace import Ids, Numbers, Trace, counting, walks

MOST_CELLS = 4_000
_EDGE = 1e15  # cells this large are drawn as endless


class Cells(NamedTuple):
    """Cells that hold bodies."""

    rectangles: npt.NDArray[np.float64]
    """``(m, 4)``"""
    levels: Numbers
    places: Numbers
    """Cell of the grid or slot of the hash."""
    bodies: Numbers
    """How many bodies lie in each cell."""
    strangers: Numbers
    """How many bodies of other cells share the slot of the hash table."""


def structure(index: CellIndex) -> Cells | None:
    """The cells of the moving and the static bodies; None if there are too many to draw."""
    index._structure.ready()
    parts = []
    for lists, ids in zip(index._structure._lists, index._structure._split(index.ids), strict=True):
        if len(ids):
            parts.append(_cells_of(lists, index._store.boxes[ids], lists.levels[ids].astype(np.int64)))
    if not parts or sum(len(part.levels) for part in parts) > MOST_CELLS:
        return None
    return Cells(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _cells_of(lists: CellLists, boxes: BoxArray, levels: Numbers) -> Cells:
    spans = _spans(lists, boxes, levels)
    body, x, y = _cells_in(spans)
    level, x, y, bodies = _counted(levels[body], x, y)
    places = _places(lists, level, x, y)
    strangers = _counts(lists, places) - bodies
    return Cells(_rectangles(lists, level, x, y), level, places, bodies, strangers)


def _spans(lists: CellLists, boxes: BoxArray, levels: Numbers) -> Numbers:
    """``(n, 4)``: first and last cell on x, then on y, as `kernels.cells.dynamic_cells` computes them."""
    lattice = lists.lattice[levels]
    spans = np.empty((len(boxes), 4), np.int64)
    for axis in range(2):
        for which in range(2):
            value = boxes[:, 2 * which + axis].astype(np.float64)
            at = (value - lattice[:, columns.ORIGIN + axis]) * lattice[:, columns.PER_UNIT]
            low, high = lattice[:, columns.FIRST + axis], lattice[:, columns.LAST + axis]
            spans[:, 2 * axis + which] = np.floor(np.clip(at, low, high))
    return spans


def _cells_in(spans: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Row, x and y of every cell of every span."""
    wide, high = spans[:, 1] - spans[:, 0] + 1, spans[:, 3] - spans[:, 2] + 1
    body = np.repeat(np.arange(len(spans)), wide * high)
    step = counting(wide * high)
    return body, spans[body, 0] + step % wide[body], spans[body, 2] + step // wide[body]


def _counted(level: Numbers, x: Numbers, y: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """The distinct cells, sorted, with their counts; `numpy.unique` of rows takes eleven times as long."""
    order = np.lexsort((y, x, level))
    sides = level[order], x[order], y[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = np.logical_or.reduce([side[1:] != side[:-1] for side in sides])
    first = np.flatnonzero(is_new)
    level, x, y = (side[first] for side in sides)
    return level, x, y, np.diff(first, append=len(order))


def _places(lists: CellLists, level: Numbers, x: Numbers, y: Numbers) -> Numbers:
    offset = lists.lattice[level, columns.OFFSET].astype(np.int64)
    if lists.table:  # slots of a hash table; a grid has none
        mixed = (((x + offset) & LOW_31_BITS) * PRIME_X) ^ ((y & LOW_31_BITS) * PRIME_Y)
        slots: Numbers = mixed % lists.table
        return slots
    wide = lists.lattice[level, columns.LAST].astype(np.int64) + 1
    cells: Numbers = offset + y * wide + x
    return cells


def _counts(lists: CellLists, places: Numbers) -> Numbers:
    """How many bodies the engine has in these cells or slots; 0 for an empty one."""
    blocks = lists.heads[places].astype(np.int64)
    return np.where(blocks == 0, 0, lists.pool[blocks * UNIT])


def _rectangles(lists: CellLists, level: Numbers, x: Numbers, y: Numbers) -> npt.NDArray[np.float64]:
    """Cells as rectangles; the one cell of the coarsest level is endless."""
    lattice = lists.lattice[level]
    size = 1.0 / lattice[:, columns.PER_UNIT]
    sides = []
    for cell, axis in ((x, 0), (y, 1)):
        low = lattice[:, columns.ORIGIN + axis] + cell * size
        sides.append((low, low + size))
    (left, right), (bottom, top) = sides
    # The coarsest level is one cell for boxes that are too large for the others.
    endless = level == len(lists.lattice) - 1
    corners = np.column_stack([left, bottom, right, top])
    corners[endless] = (-_EDGE, -_EDGE, _EDGE, _EDGE)
    return corners


def trace_cells(index: CellIndex) -> Trace:
    """The pairs compared: cell by cell, then with larger boxes on coarser levels, then moving with static."""
    index._structure.ready()
    store = index._store
    moving, static = index._structure._lists
    moving_ids, static_ids = index._structure._split(store.ids())
    compared = [np.empty((0, 2), np.int32)]
    if moving.boxes > 1:
        compared += [_in_places(moving, store.boxes), *_with_larger(moving, store.boxes, moving_ids)]
    if moving.boxes and static.boxes:
        queries_static = len(moving_ids) <= len(static_ids)
        lists, ids = (static, moving_ids) if queries_static else (moving, static_ids)
        compared += _queries(lists, store, ids)
    return Trace(np.concatenate(compared))


def _held(lists: CellLists, places: Numbers) -> tuple[Ids, Numbers]:
    """The bodies in these cells or slots, one after the other, and how many each holds."""
    counts = _counts(lists, places)
    starts = lists.heads[places].astype(np.int64) * UNIT + HEADER
    return lists.pool[np.repeat(starts, counts) + counting(counts)], counts


def _in_places(lists: CellLists, boxes: BoxArray) -> Ids:
    ids, counts = _held(lists, np.flatnonzero(lists.heads))
    ends = counts.cumsum()
    stops = np.repeat(ends, counts)
    for begin, end in zip((ends - counts).tolist(), ends.tolist(), strict=True):
        if end - begin > OVERFULL:
            ids[begin:end], stops[begin:end] = _swept(ids[begin:end], boxes)
            stops[begin:end] += begin
    return walks(ids, stops)


def _swept(ids: Ids, boxes: BoxArray) -> tuple[Ids, Numbers]:
    """An overfull cell is swept along the axis on which its boxes are spread widest."""
    lows = boxes[ids, :2]
    axis = int(np.argmax(lows.max(axis=0) - lows.min(axis=0)))
    order = ids[np.argsort(lows[:, axis], kind="stable")]
    return order, np.searchsorted(boxes[order, axis], boxes[order, 2 + axis], "right")


def _with_larger(lists: CellLists, boxes: BoxArray, ids: Ids) -> list[Ids]:
    """Each box with the boxes in the cells that it touches on every coarser level."""
    compared = []
    for level in np.flatnonzero(lists.lattice[:, columns.BOXES] > 0):
        below = ids[lists.levels[ids] < level]
        spans = _spans(lists, boxes[below], np.full(len(below), level))
        compared.append(_looked_up(lists, level, below, spans))
    return compared


def _looked_up(lists: CellLists, level: np.int64, ids: Ids, spans: Numbers) -> Ids:
    """Each of the ids with the boxes in the cells of its span."""
    body, x, y = _cells_in(spans)
    found, counts = _held(lists, _places(lists, np.full(len(x), level), x, y))
    return np.column_stack([np.repeat(ids[body], counts), found])


def _queries(lists: CellLists, store: BoxStore, ids: Ids) -> list[Ids]:
    """Query the cells that hold other boxes: those covered, or a whole level if that is fewer."""
    compared = []
    end = min(store.end, len(lists.levels))
    for level in np.flatnonzero(lists.lattice[:, columns.BOXES] > 0):
        spans = _spans(lists, store.boxes[ids], np.full(len(ids), level))
        row = lists.lattice[level]
        for axis in range(2):
            spans[:, 2 * axis] = np.maximum(spans[:, 2 * axis], int(row[columns.LOWEST + axis]))
            spans[:, 2 * axis + 1] = np.minimum(spans[:, 2 * axis + 1], int(row[columns.HIGHEST + axis]))
        wide, tall = spans[:, 1] - spans[:, 0] + 1, spans[:, 3] - spans[:, 2] + 1
        queried = (wide > 0) & (tall > 0)
        few = queried & (wide * tall <= end)
        compared.append(_looked_up(lists, level, ids[few], spans[few]))
        on_level = np.flatnonzero(lists.levels[:end] == level).astype(np.int32)
        many = ids[queried & ~few]
        compared.append(np.column_stack([np.repeat(many, len(on_level)), np.tile(on_level, len(many))]))
    return compared
