"""Strips of a small world in one call of a kernel (`broadphase.kernels.strips.at_once`), and its memory.

The idea, its source and its cost stand in `broadphase.methods.strips`, which also does what is left over.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.boxes import PairArray
from broadphase.kernels.arrays.emit import LEAST_ROOM
from broadphase.kernels.strips.at_once import BEGUN, NOTHING, ORDERED, Room, search_plane, search_space
from broadphase.kernels.strips.bin import BLOCK
from broadphase.kernels.strips.end_to_end import ROWS, TILE
from broadphase.kernels.strips.sort import CLASS, PADDING
from broadphase.memory import Group, aligned
from broadphase.methods.task import Found, Task
from broadphase.slices import FIRST_OF_FEW, MOST, Position

# So many boxes are better searched by several threads, step by step.
TOO_MANY = 40_000
# Boxes that are looked at before a world is cut, and in how many boxes so many are enough.
_SAMPLES = (32, 64, 128)
_FEW, SMALL_WORLD = 2_000, 12_000
SMALL_SAMPLE, SAMPLE = _SAMPLES[1:]
_LINE = 64  # bytes of a cache line


class Begun(NamedTuple):
    """What one call found that could not find all."""

    axes: tuple[int, ...]
    strips: int
    at: Position
    """Where to go on in the copies of `room`, which lie there as those of one strip do that is sorted."""
    out: PairArray
    """Whose first rows are the pairs that were found."""
    pairs: int
    tests: int
    room: Room


def begin(
    task: Task, axes: tuple[int, ...] = (), lattice: Any = None, most_crowding: float = 0.0
) -> Found | Begun | None:
    """Search a small world; what was found if there is room for all, ``None`` if it needs the general path.

    With ``axes`` and ``lattice`` it is cut by these, as long as copies are no more crowded than said.
    """
    boxes = task.boxes
    n, width = boxes.shape
    rooms = task.scratch.group((width, boxes.itemsize), n, _ROOMS[width, boxes.itemsize])
    room = rooms[(n > _FEW) + (n > SMALL_WORLD)]
    if axes:
        room.lattice[:] = lattice
    out = task.scratch.pairs(4 * n + LEAST_ROOM)
    state, strips, swept, at, found, tests = _SEARCHES[width](
        *(boxes, boxes.reshape(1, -1), task.touching, task.filter, bool(axes), axes or _AXES[width]),
        *(most_crowding, room, out, int(min(MOST, FIRST_OF_FEW)), task.store, task.sort),
    )
    if state == NOTHING:
        return None
    if state == BEGUN:
        return Begun(axes or (swept, *room.cuts.tolist()), strips, at, out, found, tests, room)
    if not task.store:
        return Found([], found, tests, strips)
    ordered = bool(state == ORDERED)
    return Found([(room.ordered if ordered else out)[:found]], found, tests, strips, ordered)


def _make_rooms(dim: int, dtype: type[np.floating[Any]], n: int) -> Group[list[Room]]:
    """Room for worlds of up to ``n`` boxes, with samples of each size."""
    copies = _rows(ROWS, n * dim + 64, np.int32)
    each = copies.shape[1]
    room = Room(
        edges=np.empty((2, 0)),
        spanned=np.empty((dim, 0)),
        statistics=np.empty((dim, 4)),
        cuts=np.empty(dim - 1, np.int64),
        counts=np.empty(dim - 1, np.int64),
        lattice=np.empty((dim - 1, 3), dtype),
        extents=_rows(2, TILE, dtype),
        places=np.empty((dim, 3), dtype),
        numbers=_rows(2 * dim, int(BLOCK), np.int32),
        copies=copies,
        ends=aligned((4 * n + 1024,), np.int32),
        columns=_rows(2 * dim, each + PADDING, dtype),
        marks=_rows(CLASS + 1, each + PADDING, np.int32),
        found=np.empty(1, np.int64),
        order=np.empty(n + 1, np.int32),
        keys=aligned((2 * n,), np.int64),
        ordered=aligned((2 * n, 2), np.int32),
    )
    rooms = [room._replace(edges=np.empty((2, k)), spanned=np.empty((dim, k))) for k in _SAMPLES]
    return Group(n, sum(one.nbytes for one in room), rooms)


def _rows(count: int, length: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Rows of at least this length, each of an odd number of cache lines.

    Rows of 4,096 bytes, or of twice as many, would all want the same places of the near cache.
    """
    each = _LINE // np.dtype(dtype).itemsize
    lines = -(-length // each) | 1
    return aligned((count, lines * each), dtype)


_ROOMS = {
    (2 * dim, kind(0).itemsize): partial(_make_rooms, dim, kind)
    for dim in (2, 3)
    for kind in (np.float32, np.float64)
}
_AXES = {4: (0, 1), 6: (0, 1, 2)}
_SEARCHES = {4: search_plane, 6: search_space}
