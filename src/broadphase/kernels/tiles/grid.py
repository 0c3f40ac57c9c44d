"""A grid of tiles, and which of its cells a coordinate or an interval falls into.

There is one definition of where a tile begins: `edge`.  Neighbours share it to the last bit, so that no
gap can open between two tiles, and every cell number found by division is checked against it.
"""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.jit import inline

# The sides of a one-way tile that block, as bits.  Top is the side of the smaller y.
LEFT, RIGHT, TOP, BOTTOM = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
Side: TypeAlias = Literal["left", "right", "top", "bottom"]
SIDES: dict[Side, np.uint8] = {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM}


class TileGrid(NamedTuple):
    """Tiles by ``[row, column]``."""

    solid: npt.NDArray[np.bool_]
    one_way: npt.NDArray[np.uint8]
    """Blocking sides of tiles that are not solid; shape ``(0, 0)`` where there are no such tiles."""
    x: float
    y: float
    width: float
    """Of one tile."""
    height: float


def no_tiles() -> TileGrid:
    """A grid without a tile, for worlds that have none."""
    return TileGrid(np.empty((0, 0), np.bool_), np.empty((0, 0), np.uint8), 0.0, 0.0, 1.0, 1.0)


@inline
def edge(origin, size, k):
    """Where cell ``k`` begins and cell ``k - 1`` ends."""
    return origin + k * size


@inline
def cell_at(value, origin, size, count):
    """The cell whose half-open range holds ``value``: -1 before the first, ``count`` behind the last."""
    guess = (value - origin) / size
    k = -1
    if guess >= count:  # compared as numbers first: a huge one does not fit into an integer
        k = count
    elif guess >= 0.0:
        k = int(guess)
    while k < count and edge(origin, size, k + 1) <= value:
        k += 1
    while k >= 0 and edge(origin, size, k) > value:
        k -= 1
    return k


@inline
def cells_between(lo, hi, origin, size, count):
    """The cells that the open interval from ``lo`` to ``hi`` overlaps: first, and one behind the last.

    Cells that it only touches are not among them; an interval without length lies in a cell where it
    does not lie on an edge.
    """
    first = cell_at(lo, origin, size, count)
    last = cell_at(hi, origin, size, count)
    if last < 0 or edge(origin, size, last) < hi:
        last += 1
    return (first if first > 0 else 0), (last if last < count else count)


@inline
def sides_at(grid, column, row):
    """The sides of a tile that block, and 0 for a free one; a solid tile blocks on all sides."""
    sides = np.int64(0)
    if grid.solid[row, column]:
        sides = np.int64(15)
    elif grid.one_way.shape[0] > 0:
        sides = np.int64(grid.one_way[row, column])
    return sides
