"""Which of many boxes are near any of a few: a bitmap of the few on a coarse grid, and one test for each box.

The bitmap has one bit for each cell.  A cell is marked if a box that begins there, and is no longer than
``slack`` on any axis, may overlap one of the few.  So for each of the many boxes one bit is read; boxes
longer than ``slack`` are always kept.  The excluded boxes overlap none of the few: the cell of a coordinate
(`broadphase.kernels.strips.bin.strip_of`) is a monotone function of it, whatever rounding does.
"""

import numpy as np

from broadphase.kernels.machine.floats import next_down
from broadphase.kernels.machine.jit import always_inline, inline, jit, unsigned
from broadphase.kernels.strips.bin import HALF_ORIGIN, LAST, SCALE, strip_of

_WORD, _BIT = unsigned(6), unsigned(63)
_ONE, _ALL = unsigned(1), unsigned(0xFFFFFFFFFFFFFFFF)
BLOCK = 256
_LONG = np.int32(-1)  # instead of a cell: always kept


@inline
def _first_cell(few, i, axis, lattice, borders, slack):
    """The first cell in which a box no longer than ``slack`` may begin that reaches box ``i``."""
    low = max(few[i, axis], np.finfo(few.dtype).min) - slack[axis]
    # One float lower, because the difference was rounded.
    return strip_of(next_down(max(low, np.finfo(few.dtype).min)), lattice, borders, axis)


@jit
def mark_cells(few, lattice, slack, borders, picture):
    """Mark in ``picture``, 64 cells a word, where a box may begin that overlaps one of ``few``."""
    dim = few.shape[1] // 2
    row_length = unsigned(lattice[0, LAST]) + _ONE
    plane_length = row_length * (unsigned(lattice[1, LAST]) + _ONE)
    for i in range(few.shape[0]):
        first = _first_cell(few, i, 0, lattice, borders, slack)
        last = strip_of(few[i, dim], lattice, borders, 0)
        first_row = _first_cell(few, i, 1, lattice, borders, slack)
        last_row = strip_of(few[i, dim + 1], lattice, borders, 1)
        first_plane = last_plane = unsigned(0)
        if dim == 3:
            first_plane = _first_cell(few, i, 2, lattice, borders, slack)
            last_plane = strip_of(few[i, dim + 2], lattice, borders, 2)
        for plane in range(first_plane, last_plane + _ONE):
            for row in range(first_row, last_row + _ONE):
                begin = plane * plane_length + row * row_length
                _mark_run(picture, begin + first, begin + last)


@inline
def _mark_run(picture, first, last):
    for word in range(first >> _WORD, (last >> _WORD) + _ONE):
        marks = _ALL
        if word == first >> _WORD:
            marks &= _ALL << (first & _BIT)
        if word == last >> _WORD:
            marks &= _ALL >> (_BIT - (last & _BIT))
        picture[word] |= marks


@always_inline
def _cell(value, half, half_origin, scale, zero, last):
    # `strip_of`, from numbers at hand: with loads from the lattice LLVM makes no vectors of it.
    return np.int32(min(max(zero, (value * half - half_origin) * scale), last))


@inline
def _cells_of_block(flat, lattice, slack, cells):
    """The cell where each box of a block begins, or `_LONG`.

    Separate loops, which LLVM vectorises: 0.6 ns a box against 2.7.
    """
    half_x, scale_x, last_x = lattice[0, HALF_ORIGIN], lattice[0, SCALE], lattice[0, LAST]
    half_y, scale_y, last_y = lattice[1, HALF_ORIGIN], lattice[1, SCALE], lattice[1, LAST]
    slack_x, slack_y = slack[0], slack[1]
    half, zero = flat.dtype.type(0.5), flat.dtype.type(0)
    row = np.int32(last_x) + np.int32(1)
    if lattice.shape[0] == 2:
        for k in range(flat.shape[0] // 4):
            at = 4 * k
            x, y, end_x, end_y = flat[at], flat[at + 1], flat[at + 2], flat[at + 3]
            short = (end_x - x <= slack_x) & (end_y - y <= slack_y)
            cell = _cell(x, half, half_x, scale_x, zero, last_x) + row * _cell(
                y, half, half_y, scale_y, zero, last_y
            )
            cells[k] = cell if short else _LONG
        return
    half_z, scale_z, last_z, slack_z = lattice[2, HALF_ORIGIN], lattice[2, SCALE], lattice[2, LAST], slack[2]
    plane = row * (np.int32(last_y) + np.int32(1))
    for k in range(flat.shape[0] // 6):
        at = 6 * k
        x, y, z, end_x, end_y, end_z = (
            flat[at], flat[at + 1], flat[at + 2], flat[at + 3], flat[at + 4], flat[at + 5],
        )  # fmt: skip
        short = (end_x - x <= slack_x) & (end_y - y <= slack_y) & (end_z - z <= slack_z)
        cell = _cell(x, half, half_x, scale_x, zero, last_x) + row * _cell(
            y, half, half_y, scale_y, zero, last_y
        )
        cell += plane * _cell(z, half, half_z, scale_z, zero, last_z)
        cells[k] = cell if short else _LONG


@jit
def select_near(boxes, flat, lattice, slack, picture, begin, end, cells, ids, rows):
    """Of the boxes ``begin .. end - 1`` those that may overlap one of the few; returns how many.

    Their numbers are written to ``ids`` and they themselves to ``rows``.  ``flat`` is ``boxes`` as one row,
    ``cells`` scratch for `BLOCK` numbers.
    """
    width = boxes.shape[1]
    found = unsigned(0)
    for start in range(begin, end, BLOCK):
        stop = min(start + BLOCK, end)
        _cells_of_block(flat[width * start : width * stop], lattice, slack, cells)
        first = found
        for i in range(unsigned(start), unsigned(stop)):
            cell = cells[i - unsigned(start)]
            at = unsigned(max(cell, np.int32(0)))
            taken = (picture[at >> _WORD] >> (at & _BIT)) | unsigned(cell == _LONG)
            ids[found] = i
            found += taken & _ONE
        for k in range(first, found):
            for column in range(boxes.shape[1]):
                rows[k, column] = boxes[unsigned(ids[k]), column]
    return found
