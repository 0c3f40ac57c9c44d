"""Overlap test and depenetration: what a shape overlaps where it is, and the shortest way out of it."""

import math
from collections.abc import Iterable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.kernels.movement import depenetration as kernel
from broadphase.kernels.movement.sweep import CROSS, FARTHEST
from broadphase.kernels.shapes.bounds import bound_rows
from broadphase.kernels.shapes.contact import box_box
from broadphase.kernels.shapes.table import BOX, ShapeColumns
from broadphase.kernels.tiles.grid import TileGrid, no_tiles
from broadphase.kernels.tiles.list import bounds_of_cell
from broadphase.shapes.kinds import Bounds, Box, Shape
from broadphase.shapes.table import columns_of
from broadphase.slices import whole
from broadphase.world.hits import Around, Blockers, Hit, Response, answered
from broadphase.world.tiles import Tile, TileMap

NO_TILES = no_tiles()

# The region that is searched grows until there is a way out; it doubles, so this is far enough for any.
_MOST_ROUNDS = 200

# Few start in more things than this; where one does, the kernel is called again.
FIRST_ROOM = 16

# Pushes out of one thing at a time; where so many do not help, the bounds are pushed out as a box.
_MOST_PUSHES = 16

_FIRST = np.zeros(1, np.int64)

Place: TypeAlias = tuple[float, float]
BoxPlace: TypeAlias = tuple[float, float, float, float]
"""``x, y, width, height``"""
_Asked: TypeAlias = list[tuple[Hit | None, bool]]
"""What is overlapped, as the hits that stand for it, and whether each blocks."""


# ---- what blocks, as kernels take it


def all_boxes(blockers: Blockers) -> bool:
    """Whether bounds say all about what blocks."""
    if blockers.table is None or blockers.rows is None:
        return True
    return bool((blockers.table.kinds[blockers.rows] == BOX).all())


def blocker_table(blockers: Blockers) -> tuple[ShapeColumns, npt.NDArray[np.int32]]:
    """The shapes of what blocks; bounds become boxes where nothing else is said."""
    if blockers.table is not None and blockers.rows is not None:
        return blockers.table, blockers.rows
    count = len(blockers.bounds)
    x, y, right, bottom = [np.ascontiguousarray(column) for column in blockers.bounds.T]
    none, points = np.zeros(count, np.int64), np.empty((0, 2))
    kinds = np.full(count, BOX, np.uint8)
    table = ShapeColumns(kinds, x, y, right - x, bottom - y, none, none, points, points)
    return table, np.arange(count, dtype=np.int32)


def bounds_of(mover: ShapeColumns) -> Bounds:
    """The bounds of a table of one shape."""
    out = np.empty((1, 4))
    bound_rows(mover, _FIRST, out)
    left, top, right, bottom = out[0].tolist()
    return left, top, right, bottom


def place_of(mover: ShapeColumns) -> Place:
    """Where the shape of a table of one is."""
    return mover.x[0].item(), mover.y[0].item()


# ---- the overlap test


def blocker_at(shape: Shape, around: Around, tiles: TileMap | None = None) -> object | None:
    """The first thing that a shape overlaps where it is: a body in the order given, else a `Tile`.

    Parameters
    ----------
    shape : Box, Circle or Polygon
        What would be there: a body that wants to stand up, or to appear.
    around, tiles
        As for `movement.resolve`; without the body itself.

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
        found = kernel.overlapping(*place, blockers.bounds, grid, first)
    else:
        first = np.empty((1, 7))
        found = kernel.overlapping_shapes(columns_of(shape), *blocker_table(blockers), grid, first)
    if found == 0:
        return None
    body, column, row, *_ = first[0].tolist()
    other: object = Tile(int(column), int(row)) if body < 0 else blockers.others[int(body)]
    return other


# ---- out of everything that blocks


def leave_as_box(
    box: BoxPlace, blockers: Blockers, around: Around, grid: TileGrid, response: Response
) -> tuple[Place, list[Hit]]:
    """Ask about everything that a box starts in, and push it out of what it may not cross.

    Returns the new place, and the hits.  Tiles count all, or none where it may cross each that it is in.
    """
    x, y, width, height = box
    ask = partial(kernel.overlapping, x, y, width, height, blockers.bounds, grid)
    rows = whole(ask, np.empty((FIRST_ROOM, 3), np.int64)).tolist()
    each = [
        bounds_of_cell(grid, column, row) if body < 0 else tuple(blockers.bounds[body].tolist())
        for body, column, row in rows
    ]
    normals = [box_box(x, y, x + width, y + height, *bounds, False)[1:3] for bounds in each]
    asked, around, grid = _asked(zip(rows, normals, strict=True), (x, y), blockers, around, grid, response)
    place = x, y
    if any(blocks for _, blocks in asked):
        place = push_out(box, around, grid) or place
        asked = [
            (_pushed(hit, box, place, bounds) if hit is not None and blocks else hit, blocks)
            for (hit, blocks), bounds in zip(asked, each, strict=True)
        ]
    return place, [hit for hit, _ in asked if hit is not None]


def leave_as_shape(
    mover: ShapeColumns, blockers: Blockers, around: Around, grid: TileGrid, response: Response
) -> list[Hit]:
    """The same for a shape of any kind, a table of one, which is moved."""
    met = [((int(a), int(b), int(c)), (nx, ny)) for a, b, c, nx, ny, _, _ in _within(mover, blockers, grid)]
    asked, around, grid = _asked(met, place_of(mover), blockers, around, grid, response)
    hits = [hit for hit, _ in asked if hit is not None]
    if not any(blocks for _, blocks in asked):
        return hits
    _push(mover, around, grid)
    place = place_of(mover)
    return [hit._replace(touch=place) if blocks else hit for hit, blocks in asked if hit is not None]


def _asked(
    met: Iterable[tuple[Any, Place]],
    place: Place,
    blockers: Blockers,
    around: Around,
    grid: TileGrid,
    response: Response,
) -> tuple[_Asked, Around, TileGrid]:
    """The answers to everything that is overlapped, and what is left of bodies and tiles that block.

    ``met`` are ``(body, column, row), normal``.
    """
    asked: _Asked = []
    crossed: list[object] = []
    tile_answers: set[bool] = set()
    for (body, column, row), normal in met:
        other = Tile(column, row) if body < 0 else blockers.others[body]
        hit, code = answered(Hit(other, 0.0, normal, place), response)
        asked.append((hit, code != CROSS))
        if body < 0:
            tile_answers.add(code != CROSS)
        elif code == CROSS:
            crossed.append(other)
    return asked, _without(around, crossed), NO_TILES if tile_answers == {False} else grid


def _without(around: Around, crossed: list[Any]) -> Around:
    """The same blockers without those that are crossed."""
    if not crossed:
        return around

    def others_around(bounds: Bounds) -> Blockers:
        blockers = around(bounds)
        kept = [k for k, other in enumerate(blockers.others) if other not in crossed]
        rows = None if blockers.rows is None else blockers.rows[kept]
        others = [blockers.others[k] for k in kept]
        return blockers._replace(bounds=blockers.bounds[kept], others=others, rows=rows)

    return others_around


def push_out(box: BoxPlace, around: Around, grid: TileGrid) -> Place | None:
    """The nearest place where a box overlaps neither bodies nor solid tiles; ``None`` if there is none.

    Of equally near places, the one along x comes first, then the one towards smaller coordinates.
    """
    x, y, width, height = box
    blockers = around((x, y, x + width, y + height))
    reach = kernel.deepest(x, y, width, height, blockers.bounds, grid)
    if reach == 0.0:
        return x, y
    scratch = np.empty((2, kernel.MOST_EDGES))
    for _ in range(_MOST_ROUNDS):
        if not reach < FARTHEST:
            return None
        blockers = around((x - reach, y - reach, x + width + reach, y + height + reach))
        found, free_x, free_y, distance = kernel.push_out(
            x, y, width, height, blockers.bounds, grid, reach, scratch
        )
        if found and distance <= reach:
            return free_x, free_y
        if reach >= blockers.repeats:
            return None
        # What was found is a bound: nothing nearer lies beyond its distance.
        reach = distance if found else 2.0 * reach
    return None


def _pushed(hit: Hit, box: BoxPlace, place: Place, bounds: Bounds) -> Hit:
    """The hit as it is after the push: the normal is the axis on which the box has come clear."""
    x, y, width, _ = box
    if place[0] >= bounds[2] or place[0] + width <= bounds[0]:
        normal = (1.0 if place[0] > x else -1.0, 0.0)
    elif place == (x, y):
        normal = hit.normal
    else:
        normal = (0.0, 1.0 if place[1] > y else -1.0)
    return hit._replace(normal=normal, touch=place)


def _within(mover: ShapeColumns, blockers: Blockers, grid: TileGrid) -> list[list[float]]:
    """All that the mover is in, as `overlapping_shapes` writes it."""
    ask = partial(kernel.overlapping_shapes, mover, *blocker_table(blockers), grid)
    rows: list[list[float]] = whole(ask, np.empty((FIRST_ROOM, 7))).tolist()
    return rows


def _push(mover: ShapeColumns, around: Around, grid: TileGrid) -> None:
    """Out of the deepest thing first, until it is free; or all at once as a box, where that is shorter.

    The first is the shortest way out of one thing.  Deep in a wall of tiles it would go astray.
    """
    start = place_of(mover)
    for _ in range(_MOST_PUSHES):
        within = _within(mover, around(bounds_of(mover)), grid)
        if not within:
            break
        nx, ny, depth, slack = max(within, key=lambda row: row[5])[3:]
        mover.x[0] += nx * (depth + slack)
        mover.y[0] += ny * (depth + slack)
    by_shape = place_of(mover)
    mover.x[0], mover.y[0] = start
    left, top, right, bottom = bounds_of(mover)
    by_box = push_out((left, top, right - left, bottom - top), around, grid)
    if not within and (by_box is None or math.dist(by_shape, start) <= math.dist(by_box, (left, top))):
        mover.x[0], mover.y[0] = by_shape
    elif by_box is not None:
        mover.x[0] += by_box[0] - left
        mover.y[0] += by_box[1] - top
