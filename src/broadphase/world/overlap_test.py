"""What is at a place, and what is right beside a body: before moving, changing size or jumping."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.movement import push_out, travel_shapes
from broadphase.shapes.kinds import Bounds, Box, Shape
from broadphase.shapes.table import columns_of
from broadphase.world.depenetration import NO_TILES, Place
from broadphase.world.hits import Around, Hit, Movement
from broadphase.world.movement_shapes import all_boxes, blocker_table, resolve_shape
from broadphase.world.tiles import Tile, TileMap

# Of the coordinates: far more than a stopped body may stand off what stopped it, far less than anyone sees.
_BESIDE = 2e-13


def blocker_at(shape: Shape, around: Around, tiles: TileMap | None = None) -> object | None:
    """The first thing that a shape overlaps where it is: a body in the order given, else a `Tile`.

    Parameters
    ----------
    shape : Box, Circle or Polygon
        What would be there: a body that wants to stand up, or to appear.
    around, tiles
        As for `resolve`; without the body itself.

    Returns
    -------
    object or None
        ``None`` where the place is free.

    Examples
    --------
    >>> from broadphase.world.hits import NOTHING
    >>> level = TileMap([[True], [False]], 32)
    >>> blocker_at(Box(2, 40, 20, 20), lambda bounds: NOTHING, level) is None
    True
    >>> blocker_at(Box(2, 30, 20, 30), lambda bounds: NOTHING, level)
    Tile(column=0, row=0)
    """
    blockers = around(shape.bounds)
    grid = NO_TILES if tiles is None else tiles.grid
    first: npt.NDArray[Any]
    if isinstance(shape, Box) and all_boxes(blockers):
        place = (shape.x, shape.y, shape.width, shape.height)
        first = np.empty((1, 3), np.int64)
        found = push_out.overlapping(*place, blockers.bounds, grid, first)
    else:
        table, rows = blocker_table(blockers)
        first = np.empty((1, 7))
        found = travel_shapes.overlapping(columns_of(shape), table, rows, grid, first)
    if found == 0:
        return None
    body, column, row, *_ = first[0].tolist()
    other: object = Tile(int(column), int(row)) if body < 0 else blockers.others[int(body)]
    return other


def beside(
    shape: Shape,
    direction: tuple[float, float],
    around: Around,
    tiles: TileMap | None = None,
    largest: float = 0.0,
) -> Hit | None:
    """What keeps a shape from going in a direction: what a body stands on, for ``(0, 1)`` with y downward.

    Parameters
    ----------
    shape, around, tiles
        As for `blocker_at`.
    direction : (float, float)
        Of any length but 0.
    largest : float
        How large coordinates may have been in which a body was stopped.

    Returns
    -------
    Hit or None
        ``None`` where the shape is free to go.  For one that is inside something, what it is in, if the
        way out leads against the direction.

    Raises
    ------
    ValueError
        The direction has no length.

    Examples
    --------
    >>> from broadphase.world.hits import NOTHING
    >>> level = TileMap([[False], [True]], 32)
    >>> beside(Box(2, 12, 20, 20), (0, 1), lambda bounds: NOTHING, level).other
    Tile(column=0, row=1)
    """
    way = step_beside(shape.bounds, direction, largest)
    return first_against(direction, resolve_shape(shape, *way, around, tiles, "touch"))


def step_beside(bounds: Bounds, direction: Place, largest: float = 0.0) -> Place:
    """The way to what is right beside something with these bounds."""
    dx, dy = direction
    length = math.hypot(dx, dy)
    if not 0.0 < length < math.inf:
        raise ValueError(f"direction = {direction} must be finite, and have a length")
    step = _BESIDE * max(largest, *map(abs, bounds)) or _BESIDE
    return dx / length * step, dy / length * step


def first_against(direction: Place, move: Movement) -> Hit | None:
    """The first thing that a movement hit whose side faces against a direction."""
    dx, dy = direction
    for hit in move.hits:
        if hit.normal[0] * dx + hit.normal[1] * dy < 0.0:
            return hit
    return None
