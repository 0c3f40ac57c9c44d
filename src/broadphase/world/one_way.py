"""Jump-through bodies: they block only what comes through some of their sides, as one-way tiles do.

Such a body blocks a movement if the mover lies beyond one of these sides when it begins, and comes through
that side.  What is inside, or comes through another, moves on freely: it is moved again without that body.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from broadphase.kernels.shapes.table import CIRCLE, POLYGON, ShapeColumns, bound_rows
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, SIDES, TOP, Side

# Of the coordinates: what rests on a body is not inside it because a place was rounded.
_ROUNDED = 1e-9
DIRECTIONS = ((TOP, (0, -1)), (BOTTOM, (0, 1)), (LEFT, (-1, 0)), (RIGHT, (1, 0)))
_STEEP = 0.5  # a slanted side is an upper one up to 60 degrees

Rows = npt.NDArray[np.integer]
Flags = npt.NDArray[np.bool_]


def bits_of_sides(sides: Side | Iterable[Side]) -> int:
    """The sum of the bits of a side, or of several.

    Raises
    ------
    ValueError
        A side has another name.
    """
    bits = 0
    for side in [sides] if isinstance(sides, str) else sides:
        if side not in SIDES:
            raise ValueError(f"unknown side {side!r}; choose from {', '.join(SIDES)}")
        bits |= int(SIDES[side])
    return bits


def is_through(bits: int, normal: tuple[float, float]) -> bool:
    """Whether a hit with a normal came through one of some sides."""
    return any(bits & int(bit) and normal[0] * x + normal[1] * y > _STEEP for bit, (x, y) in DIRECTIONS)


def lets_through(
    columns: ShapeColumns, movers: Rows, table: ShapeColumns, others: Rows, sides: npt.NDArray[np.uint8]
) -> Flags:
    """Which one-way bodies let movers through: ``(n,)``, for pairs of rows; ``sides`` of each block."""
    mover, other = np.empty((2, len(movers), 4))
    bound_rows(columns, movers.astype(np.int64), mover)
    bound_rows(table, others.astype(np.int64), other)
    slack = _ROUNDED * np.maximum(np.abs(mover), np.abs(other)).max(axis=1, initial=0.0)
    beyond = ((sides & TOP) != 0) & (mover[:, 3] <= other[:, 1] + slack)
    beyond |= ((sides & BOTTOM) != 0) & (mover[:, 1] >= other[:, 3] - slack)
    beyond |= ((sides & LEFT) != 0) & (mover[:, 2] <= other[:, 0] + slack)
    beyond |= ((sides & RIGHT) != 0) & (mover[:, 0] >= other[:, 2] - slack)
    for k in np.flatnonzero(~beyond & (table.kinds[others] == POLYGON)).tolist():
        beyond[k] = _is_beyond(columns, int(movers[k]), table, int(others[k]), int(sides[k]), slack.item(k))
    open_to: Flags = ~beyond
    return open_to


def _corners(columns: ShapeColumns, row: int) -> tuple[npt.NDArray[np.float64], float]:
    """The corners of a shape, and how far it reaches beyond them."""
    x, y, width, height = (column.item(row) for column in columns[1:5])
    if columns.kinds[row] == CIRCLE:
        return np.array([[x, y]]), width
    if columns.kinds[row] == POLYGON:
        start = columns.starts.item(row)
        return np.add(columns.points[start : start + columns.counts.item(row)], (x, y)), width
    return np.array([(x, y), (x + width, y), (x + width, y + height), (x, y + height)]), 0.0


def _is_beyond(
    columns: ShapeColumns, mover: int, table: ShapeColumns, other: int, sides: int, slack: float
) -> bool:
    """Whether a mover lies beyond a side that blocks of a polygon, whose inside is to the left of each."""
    corners, radius = _corners(table, other)
    points, reach = _corners(columns, mover)
    edges = np.roll(corners, -1, 0) - corners
    normals = np.column_stack((edges[:, 1], -edges[:, 0])) / np.linalg.norm(edges, axis=1)[:, None]
    blocks = np.zeros(len(normals), np.bool_)
    for bit, (x, y) in DIRECTIONS:
        if sides & int(bit):
            blocks |= normals @ (x, y) > _STEEP
    apart = (points @ normals.T).min(axis=0) - reach - (corners * normals).sum(axis=1) - radius
    return bool((apart[blocks] >= -slack).any())
