"""Movement of circles and polygons, and of boxes among them.

As `movement`, but lengths are rounded here: on a slanted or round surface a shape stops about 1e-13 of its
coordinates before the other, so that it never overlaps it by a rounding; on a straight one it is flush.
"""

import math
from functools import partial

import numpy as np
import numpy.typing as npt

from broadphase.kernels.movement import travel, travel_shapes
from broadphase.kernels.shapes.bounds import bound_rows
from broadphase.kernels.shapes.table import BOX, ShapeColumns
from broadphase.kernels.tiles.grid import TileGrid
from broadphase.shapes.kinds import Bounds, Box, Shape
from broadphase.shapes.table import columns_of
from broadphase.slices import whole
from broadphase.world.depenetration import FIRST_ROOM, NO_TILES, push_out, without
from broadphase.world.hits import Around, Blockers, Hit, Movement, Response, answered, code_of
from broadphase.world.movement import checked_way, region, resolve
from broadphase.world.tiles import Tile, TileMap

# Pushes out of one thing at a time; where so many do not help, the bounds are pushed out as a box.
_MOST_PUSHES = 16

_FIRST = np.zeros(1, np.int64)

# What is slid along at one place; two that face each other hold a shape.
_Normal = tuple[float, float]


def resolve_shape(
    shape: Shape,
    dx: float,
    dy: float,
    around: Around,
    tiles: TileMap | None = None,
    response: Response = "slide",
) -> Movement:
    """Move one shape of any kind as far as it can; see `resolve`.

    Parameters
    ----------
    shape : Box, Circle or Polygon
        Where it starts.
    dx, dy, tiles, response
        As for `resolve`.
    around : callable
        Takes bounds and returns `Blockers`, with their shapes where these are not all boxes.

    Returns
    -------
    Movement
        ``slide`` goes along the surface, and ``bounce`` is mirrored by it.

    Raises
    ------
    TypeError, ValueError
        As for `resolve`.

    Examples
    --------
    >>> from broadphase.shapes.kinds import Circle
    >>> floor = np.array([[-100.0, 10.0, 100.0, 20.0]])
    >>> move = resolve_shape(Circle(0, 0, 4), 3, 24, lambda bounds: Blockers(floor, ["floor"]))
    >>> move.x, move.y, move.bottom, move.hits[0].time
    (3.0, 6.0, True, 0.25)
    """
    dx, dy = checked_way(shape.x, dx, "dx"), checked_way(shape.y, dy, "dy")
    if not callable(response):
        code_of(response)
    grid = NO_TILES if tiles is None else tiles.grid
    blockers = around(_region(shape.bounds, dx, dy))
    if isinstance(shape, Box) and all_boxes(blockers):
        return resolve((shape.x, shape.y, shape.width, shape.height), dx, dy, around, tiles, response)
    mover, scratch = columns_of(shape), travel_shapes.shape_scratch()
    hits: list[Hit] = []
    # A way that is lost in the rounding of the place is none, and meets nothing, not even what it starts in.
    stays = shape.x + dx == shape.x and shape.y + dy == shape.y
    if stays or _starts_inside(mover, dx, dy, blockers, grid, scratch):
        hits = _leave(mover, blockers, around, grid, response)
    x, y = _place(mover)
    if (x, y) != (shape.x, shape.y):
        blockers = around(_region(_bounds(mover), dx, dy))
    _travel(mover, x + dx, y + dy, blockers, around, grid, response, hits, scratch)
    return Movement(*_place(mover), tuple(hits))


def _travel(
    mover: ShapeColumns,
    goal_x: float,
    goal_y: float,
    blockers: Blockers,
    around: Around,
    grid: TileGrid,
    response: Response,
    hits: list[Hit],
    scratch: npt.NDArray[np.float64],
) -> None:
    """From hit to hit, each leg among what is around it: along a slant it leaves the straight way."""
    passed, after = 0.0, travel_shapes.BEFORE_ALL
    held: list[_Normal] = []
    x, y = _place(mover)
    for _ in range(travel.MOST_TURNS):
        table, rows = blocker_table(blockers)
        _, found, place = travel_shapes.next_hit(mover, goal_x, goal_y, table, rows, grid, after, scratch)
        if found[0] > 1.0:
            mover.x[0], mover.y[0] = goal_x, goal_y
            return
        time, body, normal = passed + (1.0 - passed) * found[0], int(found[2]), (found[5], found[6])
        other = blockers.others[body] if body < len(rows) else Tile(int(found[4]), int(found[3]))
        hit, code = answered(Hit(other, time, normal, place), response)
        if hit is not None:
            hits.append(hit)
        if code == travel.CROSS:
            after = found
            continue
        if math.dist(place, (x, y)) > _hair(_bounds(mover)):
            held.clear()
        x, y = mover.x[0], mover.y[0] = place
        goal_x, goal_y = travel_shapes.turn(x, y, goal_x, goal_y, *normal, code)
        if (goal_x == x and goal_y == y) or (code == travel.SLIDE and _is_held(goal_x - x, goal_y - y, held)):
            return
        held.append(normal)
        passed, after = time, travel_shapes.BEFORE_ALL
        blockers = around(_region(_bounds(mover), goal_x - x, goal_y - y))


def _starts_inside(
    mover: ShapeColumns,
    dx: float,
    dy: float,
    blockers: Blockers,
    grid: TileGrid,
    scratch: npt.NDArray[np.float64],
) -> bool:
    x, y = _place(mover)
    table, rows = blocker_table(blockers)
    step = travel_shapes.next_hit(mover, x + dx, y + dy, table, rows, grid, travel_shapes.BEFORE_ALL, scratch)
    return bool(step[0])


def _within(mover: ShapeColumns, blockers: Blockers, grid: TileGrid) -> npt.NDArray[np.float64]:
    """All that the mover is in, as `travel_shapes.overlapping` has it."""
    ask = partial(travel_shapes.overlapping, mover, *blocker_table(blockers), grid)
    return whole(ask, np.empty((FIRST_ROOM, 7)))


def _place(mover: ShapeColumns) -> _Normal:
    return mover.x[0].item(), mover.y[0].item()


def _is_held(dx: float, dy: float, normals: list[_Normal]) -> bool:
    """Whether a way leads into something that the shape slid along at this very place."""
    length = math.hypot(dx, dy)
    return any(dx * nx + dy * ny < -1e-12 * length for nx, ny in normals)


def all_boxes(blockers: Blockers) -> bool:
    """Whether bounds say all about what blocks."""
    if blockers.table is None or blockers.rows is None:
        return True
    return bool((blockers.table.kinds[blockers.rows] == BOX).all())


def blocker_table(blockers: Blockers) -> tuple[ShapeColumns, npt.NDArray[np.int64]]:
    """The shapes of what blocks; bounds become boxes where nothing else is said."""
    count = len(blockers.bounds)
    if blockers.table is not None and blockers.rows is not None:
        return blockers.table, blockers.rows
    x, y, right, bottom = [np.ascontiguousarray(column) for column in blockers.bounds.T]
    none, points = np.zeros(count, np.int64), np.empty((0, 2))
    kinds = np.full(count, BOX, np.uint8)
    return ShapeColumns(kinds, x, y, right - x, bottom - y, none, none, points, points), np.arange(count)


def _region(bounds: Bounds, dx: float, dy: float) -> Bounds:
    """As `region`, and a hair more, for the room that is kept before slanted surfaces."""
    left, top, right, bottom = bounds
    left, top, right, bottom = region(left, top, right - left, bottom - top, dx, dy, False)
    hair = _hair(bounds)
    return left - hair, top - hair, right + hair, bottom + hair


def _hair(bounds: Bounds) -> float:
    """More than the room that is kept, and less than anyone sees."""
    return 1e-9 * max(map(abs, bounds))


def _bounds(mover: ShapeColumns) -> Bounds:
    out = np.empty((1, 4))
    bound_rows(mover, _FIRST, out)
    left, top, right, bottom = out[0].tolist()
    return left, top, right, bottom


def _leave(
    mover: ShapeColumns, blockers: Blockers, around: Around, grid: TileGrid, response: Response
) -> list[Hit]:
    """Ask about everything that the mover starts in, and push it out of what it may not cross."""
    start = (mover.x[0].item(), mover.y[0].item())
    hits: list[tuple[Hit | None, bool]] = []
    crossed: list[object] = []
    tile_answers: set[bool] = set()
    for body, column, row, nx, ny, _, _ in _within(mover, blockers, grid).tolist():
        other = Tile(int(column), int(row)) if body < 0 else blockers.others[int(body)]
        hit, code = answered(Hit(other, 0.0, (nx, ny), start), response)
        hits.append((hit, code != travel.CROSS))
        if body < 0:
            tile_answers.add(code != travel.CROSS)
        elif code == travel.CROSS:
            crossed.append(other)
    if not any(blocks for _, blocks in hits):
        return [hit for hit, _ in hits if hit is not None]
    _push(mover, without(around, crossed), NO_TILES if tile_answers == {False} else grid)
    place = (mover.x[0].item(), mover.y[0].item())
    return [hit._replace(touch=place) if blocks else hit for hit, blocks in hits if hit is not None]


def _push(mover: ShapeColumns, around: Around, grid: TileGrid) -> None:
    """Out of the deepest thing first, until it is free; or all at once as a box, where that is shorter.

    The first is the shortest way out of one thing.  Deep in a wall of tiles it would go astray.
    """
    start = _place(mover)
    for _ in range(_MOST_PUSHES):
        within = _within(mover, around(_bounds(mover)), grid)
        if len(within) == 0:
            break
        nx, ny, depth, slack = within[within[:, 5].argmax(), 3:].tolist()
        mover.x[0] += nx * (depth + slack)
        mover.y[0] += ny * (depth + slack)
    free = len(within) == 0
    by_shape = _place(mover)
    mover.x[0], mover.y[0] = start
    left, top, right, bottom = _bounds(mover)
    by_box = push_out((left, top, right - left, bottom - top), around, grid)
    if free and (by_box is None or math.dist(by_shape, start) <= math.dist(by_box, (left, top))):
        mover.x[0], mover.y[0] = by_shape
    elif by_box is not None:
        mover.x[0] += by_box[0] - left
        mover.y[0] += by_box[1] - top
