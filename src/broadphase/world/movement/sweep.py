"""Swept movement of one shape against static bodies: fast movement does not tunnel.

It also pushes a shape out of walls that it starts in (depenetration): `push_out` finds the nearest free place
of a box, `depenetrate_shape` pushes other shapes out.  Bodies that move push it gently.

`resolve` is the general path: it moves from hit to hit, and a function may choose the response to each.  A
callback returns the bodies near given bounds, so that any index and any images can be used.  Hits are ordered
by time of impact; among equal times faces before corners, bodies in the order given before tiles, tiles row
by row.

A box among boxes is exact, and flush is free: a box stopped by another has the very edge of the other as its
own (or, where no place in float64 gives that edge, stands a unit in the last place of its coordinate before
it), so it neither overlaps afterwards nor catches on it when it slides along it.  With circles and polygons
lengths are rounded: on a slanted or round surface a shape stops about 1e-13 of its coordinates before
the other, so that it never overlaps it by a rounding; on a straight one it is flush.

The fast path of a world, `kernels.movement.motion`, does the same in one call if no response is a function.
"""

import math
from collections.abc import Iterable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.geometry.shapes import Bounds, Box, Shape, finite
from broadphase.geometry.table import columns_of
from broadphase.kernels.movement import depenetration as kernel
from broadphase.kernels.movement import sweep, sweep_shapes
from broadphase.kernels.movement.motion import TOLERANCE, meets_slope, swept_region
from broadphase.kernels.movement.separation import push_from
from broadphase.kernels.shapes.contact import box_box
from broadphase.kernels.shapes.table import BOX, ShapeColumns, bound_rows
from broadphase.kernels.tiles.grid import TileGrid, bounds_of_cell
from broadphase.kernels.tiles.slopes import any_slope
from broadphase.runtime.slices import all_rows
from broadphase.world.hits import Around, Blockers, Hit, Movement, Response, answered, code_of
from broadphase.world.tiles import NO_TILES, Tile, TileMap

# The searched region doubles until it has a free place; so many rounds reach any place.
_MOST_ROUNDS = 200

# Few shapes start in more obstacles than this; for those that do, the kernel is called again.
FIRST_CAPACITY = 16

# A shape is pushed out of one obstacle at a time; after so many pushes its bounds are pushed out as a box.
_MOST_PUSHES = 16

_FIRST = np.zeros(1, np.int64)

Place: TypeAlias = tuple[float, float]
BoxPlace: TypeAlias = tuple[float, float, float, float]
"""``x, y, width, height``"""
_Responses: TypeAlias = list[tuple[Hit | None, bool]]
"""For each overlapped obstacle its hit, or ``None`` if it is ignored, and whether it blocks."""


# ---- what blocks, as kernels take it


def all_boxes(blockers: Blockers) -> bool:
    """Whether all blockers are boxes."""
    if blockers.table is None or blockers.rows is None:
        return True
    return bool((blockers.table.kinds[blockers.rows] == BOX).all())


def blocker_table(blockers: Blockers) -> tuple[ShapeColumns, npt.NDArray[np.int32]]:
    """The shapes of the blockers; without a table, their bounds as boxes."""
    if blockers.table is not None and blockers.rows is not None:
        return blockers.table, blockers.rows
    count = len(blockers.bounds)
    x, y, right, bottom = [np.ascontiguousarray(column) for column in blockers.bounds.T]
    none, points = np.zeros(count, np.int64), np.empty((0, 2))
    kinds = np.full(count, BOX, np.uint8)
    table = ShapeColumns(kinds, x, y, right - x, bottom - y, none, none, points, points)
    return table, np.arange(count, dtype=np.int32)


def bounds_of(mover: ShapeColumns) -> Bounds:
    """The bounds of the only shape of a table."""
    out = np.empty((1, 4))
    bound_rows(mover, _FIRST, out)
    left, top, right, bottom = out[0].tolist()
    return left, top, right, bottom


def place_of(mover: ShapeColumns) -> Place:
    """The place of the only shape of a table."""
    return mover.x[0].item(), mover.y[0].item()


# ---- the overlap test


def blocker_at(shape: Shape, around: Around, tiles: TileMap | None = None) -> object | None:
    """The first blocker that a shape overlaps at its place: a body in the order given, else a `Tile`.

    Parameters
    ----------
    shape : Box, Circle or Polygon
        The shape to test, such as that of a body that wants to stand up, or to appear.
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
    if isinstance(shape, Box) and all_boxes(blockers) and not any_slope(grid, *shape.bounds):
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


# ---- depenetration: push a shape out of everything that blocks it


def depenetrate_box(
    box: Box, blockers: Blockers, around: Around, grid: TileGrid, response: Response
) -> tuple[Place, list[Hit]]:
    """Push a box out of everything that it starts in, except for what the response lets it cross.

    Returns the new place, and the hits.  Either all tiles block, or none if it may cross each that it is in.
    Bodies that move push it gently, see `_pushed_by_movers`.
    """
    x, y, width, height = place = box.x, box.y, box.width, box.height
    search = partial(kernel.overlapping, *place, blockers.bounds, grid)
    rows = all_rows(search, np.empty((FIRST_CAPACITY, 3), np.int64)).tolist()
    each = [
        bounds_of_cell(grid, column, row) if body < 0 else tuple(blockers.bounds[body].tolist())
        for body, column, row in rows
    ]
    normals = [box_box(x, y, x + width, y + height, *bounds, False)[1:3] for bounds in each]
    answers, around, grid = _responses(
        zip(rows, normals, strict=True), (x, y), blockers, around, grid, response
    )
    if not any(blocks for _, blocks in answers):
        return (x, y), [hit for hit, _ in answers if hit is not None]
    free, fixed = (x, y), [not _is_mover(blockers, body) for body, _, _ in rows]
    if any(blocks and is_fixed for (_, blocks), is_fixed in zip(answers, fixed, strict=True)):
        free = push_out(place, _only_fixed(around), grid) or free
    to = _pushed_by_movers(box.moved_to(*free), around, grid)
    hits = []
    for (hit, blocks), is_fixed, bounds in zip(answers, fixed, each, strict=True):
        if hit is not None and blocks:
            hit = (_pushed(hit, place, free, bounds) if is_fixed else hit)._replace(touch=to)
        if hit is not None:
            hits.append(hit)
    return to, hits


def depenetrate_shape(
    shape: Shape, blockers: Blockers, around: Around, grid: TileGrid, response: Response
) -> tuple[Place, list[Hit]]:
    """`depenetrate_box` for a shape of any kind."""
    mover = columns_of(shape)
    met = [((int(a), int(b), int(c)), (nx, ny)) for a, b, c, nx, ny, _, _ in _overlaps(mover, blockers, grid)]
    answers, around, grid = _responses(met, place_of(mover), blockers, around, grid, response)
    place = shape.x, shape.y
    if any(blocks for _, blocks in answers):
        fixed = [not _is_mover(blockers, body) for (body, _, _), _ in met]
        if any(blocks and is_fixed for (_, blocks), is_fixed in zip(answers, fixed, strict=True)):
            _push(mover, _only_fixed(around), grid)
        place = _pushed_by_movers(shape.moved_to(*place_of(mover)), around, grid)
    return place, [hit._replace(touch=place) if blocks else hit for hit, blocks in answers if hit is not None]


def _responses(
    met: Iterable[tuple[Any, Place]],
    place: Place,
    blockers: Blockers,
    around: Around,
    grid: TileGrid,
    response: Response,
) -> tuple[_Responses, Around, TileGrid]:
    """The responses to everything that is overlapped, and the bodies and tiles that still block.

    ``met`` are ``(body, column, row), normal``.
    """
    answers: _Responses = []
    crossed: list[object] = []
    tile_answers: set[bool] = set()
    for (body, column, row), normal in met:
        other = Tile(column, row) if body < 0 else blockers.others[body]
        hit, code = answered(Hit(other, 0.0, normal, place), response)
        answers.append((hit, code != sweep.CROSS))
        if body < 0:
            tile_answers.add(code != sweep.CROSS)
        elif code == sweep.CROSS:
            crossed.append(other)
    return answers, _without(around, crossed), NO_TILES if tile_answers == {False} else grid


def _without(around: Around, crossed: list[Any]) -> Around:
    """``around`` without the bodies that are crossed."""
    if not crossed:
        return around

    def others_around(bounds: Bounds) -> Blockers:
        blockers = around(bounds)
        return blockers.at(np.array([other not in crossed for other in blockers.others], np.bool_))

    return others_around


def _is_mover(blockers: Blockers, body: int) -> bool:
    """Whether a blocker, or a tile where it is -1, is a body that moves, too."""
    return body >= 0 and blockers.moving is not None and bool(blockers.moving[body])


def _only_fixed(around: Around) -> Around:
    """``around`` without bodies that move."""

    def fixed_around(bounds: Bounds) -> Blockers:
        blockers = around(bounds)
        return blockers if blockers.moving is None else blockers.at(~blockers.moving)

    return fixed_around


def _pushed_by_movers(shape: Shape, around: Around, grid: TileGrid) -> Place:
    """Where a shape comes to that bodies push that move, too.

    Out of a single one it goes all the way, if there is room.  Else it goes a little, at most as far as the
    deepest overlap, also into others: a free place may be far away in a crowd.  The others make way when they
    move, and the next movement of this one does the rest.  Only what does not move stops it.
    """
    dx, dy, count = _push_of_movers(shape, around)
    if count == 1 and _push_of_movers(shape.moved_to(shape.x + dx, shape.y + dy), around)[2]:
        dx, dy = 0.5 * dx, 0.5 * dy
    mover = _mover_of(shape, dx, dy, _only_fixed(around), grid, "slide")
    for _ in range(sweep.MOST_TURNS if count else 0):
        _, found, place, normal = mover.next_hit(mover.BEFORE_ALL)
        if found[0] > 1.0:
            return mover.goal_x, mover.goal_y
        if not mover.turn(place, normal, sweep.SLIDE):
            break
    return mover.x, mover.y


def _push_of_movers(shape: Shape, around: Around) -> tuple[float, float, int]:
    """How far bodies that move push a shape that overlaps them, and how many do."""
    blockers = around(shape.bounds)
    if blockers.moving is None or not blockers.moving.any():
        return 0.0, 0.0, 0
    table, rows = blocker_table(blockers)
    fixed = np.zeros(len(table.x), np.bool_)
    fixed[rows] = ~blockers.moving
    pushed: tuple[float, float, int] = push_from(columns_of(shape), table, rows, fixed)
    return pushed


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
        if not reach < sweep.FARTHEST:
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
    """The hit after the push: its normal is the axis along which the box has left the obstacle."""
    x, y, width, _ = box
    if place[0] >= bounds[2] or place[0] + width <= bounds[0]:
        normal = (1.0 if place[0] > x else -1.0, 0.0)
    elif place == (x, y):
        normal = hit.normal
    else:
        normal = (0.0, 1.0 if place[1] > y else -1.0)
    return hit._replace(normal=normal)


def _overlaps(mover: ShapeColumns, blockers: Blockers, grid: TileGrid) -> list[list[float]]:
    """Everything that the mover overlaps, as `overlapping_shapes` writes it."""
    search = partial(kernel.overlapping_shapes, mover, *blocker_table(blockers), grid)
    rows: list[list[float]] = all_rows(search, np.empty((FIRST_CAPACITY, 7))).tolist()
    return rows


def _push(mover: ShapeColumns, around: Around, grid: TileGrid) -> None:
    """Push the shape out of its deepest overlap until it is free, or its bounds as a box if that is shorter.

    Pushing out of one obstacle at a time may fail deep in a wall of tiles; pushing out a box does not.
    """
    start = place_of(mover)
    for _ in range(_MOST_PUSHES):
        overlaps = _overlaps(mover, around(bounds_of(mover)), grid)
        if not overlaps:
            break
        nx, ny, depth, slack = max(overlaps, key=lambda row: row[5])[3:]
        mover.x[0] += nx * (depth + slack)
        mover.y[0] += ny * (depth + slack)
    by_shape = place_of(mover)
    mover.x[0], mover.y[0] = start
    left, top, right, bottom = bounds_of(mover)
    by_box = push_out((left, top, right - left, bottom - top), around, grid)
    if not overlaps and (by_box is None or math.dist(by_shape, start) <= math.dist(by_box, (left, top))):
        mover.x[0], mover.y[0] = by_shape
    elif by_box is not None:
        mover.x[0] += by_box[0] - left
        mover.y[0] += by_box[1] - top


# ---- a movement

# Of the coordinates: far more than the gap between a stopped body and its blocker, far less than is visible.
_BESIDE = 2e-13


def resolve(
    shape: Shape,
    dx: float,
    dy: float,
    around: Around,
    tiles: TileMap | None = None,
    response: Response = "slide",
) -> Movement:
    """Move one shape as far as it can.

    Parameters
    ----------
    shape : Box, Circle or Polygon
        Where it starts.
    dx, dy : float
        The displacement.
    around : callable
        Takes bounds and returns `Blockers`: all that may block there, without the shape itself.
    tiles : TileMap, optional
        Solid and one-way tiles that block too.
    response : str or callable
        ``"slide"`` goes along the surface, ``"bounce"`` is mirrored by it, ``"touch"`` stops, ``"cross"``
        only reports; or a function that takes a `Hit` and returns one of these names, or ``None`` to ignore
        it.  Blockers are gathered before, so what the function moves or removes counts from the next
        movement on.

    Returns
    -------
    Movement
        A shape that starts inside something is first pushed out the shortest way, by bodies that move only
        a little; what it was in comes first among the hits, with time 0.  It moves on through what it is
        still in.

    Raises
    ------
    TypeError, ValueError
        ``dx`` or ``dy`` is not a finite number, the goal lies beyond 1e300, or a response has no such name.

    Examples
    --------
    >>> from broadphase.geometry.shapes import Circle
    >>> wall = np.array([[10.0, 0.0, 20.0, 100.0]])
    >>> move = resolve(Box(0, 0, 5, 5), 20, 8, lambda bounds: Blockers(wall, ["wall"]))
    >>> move.x, move.y, move.right, move.hits[0].other, move.hits[0].time
    (5.0, 8.0, True, 'wall', 0.25)
    >>> floor = np.array([[-100.0, 10.0, 100.0, 20.0]])
    >>> move = resolve(Circle(0, 0, 4), 3, 24, lambda bounds: Blockers(floor, ["floor"]))
    >>> move.x, move.y, move.bottom, move.hits[0].time
    (3.0, 6.0, True, 0.25)
    """
    dx, dy = checked_displacement(shape.x, dx, "dx"), checked_displacement(shape.y, dy, "dy")
    if not callable(response):
        code_of(response)
    grid = NO_TILES if tiles is None else tiles.grid
    mover = _mover_of(shape, dx, dy, around, grid, response)
    hits: list[Hit] = []
    passed, after, turns, first = 0.0, mover.BEFORE_ALL, 0, True
    while turns < sweep.MOST_TURNS:
        inside, found, place, normal = mover.next_hit(after)
        if first and inside:
            start, hits = mover.depenetrate(response)
            if start != (shape.x, shape.y):
                mover = _mover_of(shape.moved_to(*start), dx, dy, around, grid, response)
            after, first = mover.BEFORE_ALL, False
            continue
        first = False
        if found[0] > 1.0:
            mover.x, mover.y = mover.goal_x, mover.goal_y
            break
        time, body = passed + (1.0 - passed) * found[0], int(found[2])
        others = mover.blockers.others
        other = others[body] if body < len(others) else Tile(int(found[4]), int(found[3]))
        hit, code = answered(Hit(other, time, normal, place), response)
        if hit is not None:
            hits.append(hit)
        if code == sweep.CROSS:
            after = found
            continue
        passed, after, turns = time, mover.BEFORE_ALL, turns + 1
        if not mover.turn(place, normal, code):
            break
    reached = 0
    if isinstance(response, str) and response != "cross":
        moved = columns_of(shape.moved_to(mover.x, mover.y))
        reached = sweep_shapes.sides_reached(moved, dx, dy, *blocker_table(mover.blockers), grid)
    return Movement(mover.x, mover.y, tuple(hits), (), reached)


class _Mover:
    """The place and the goal of a moving shape, and the blockers around it."""

    BEFORE_ALL: tuple[float, ...]

    def __init__(
        self, shape: Shape, dx: float, dy: float, blockers: Blockers, around: Around, grid: TileGrid
    ) -> None:
        self.blockers, self.around, self.grid = blockers, around, grid
        self.x, self.y = shape.x, shape.y
        self.goal_x, self.goal_y = shape.x + dx, shape.y + dy

    def depenetrate(self, response: Response) -> tuple[Place, list[Hit]]:
        """Find a place outside of what it starts in, and the hits with that; a new mover starts there."""
        raise NotImplementedError

    def next_hit(self, after: tuple[float, ...]) -> Any:
        """The first hit after the hit ``after``: ``inside, hit, place, normal``, as kernels return it."""
        raise NotImplementedError

    def turn(self, place: Place, normal: Place, code: int) -> bool:
        """Respond to a hit that stopped it at a place; whether it moves on from there."""
        self.x, self.y = place
        self.goal_x, self.goal_y = sweep.turn(*place, self.goal_x, self.goal_y, *normal, code)
        return self.goal_x != self.x or self.goal_y != self.y


class _BoxMover(_Mover):
    """A box among boxes: its blockers are gathered once."""

    BEFORE_ALL = sweep.BEFORE_ALL

    def __init__(
        self, box: Box, dx: float, dy: float, blockers: Blockers, around: Around, grid: TileGrid
    ) -> None:
        super().__init__(box, dx, dy, blockers, around, grid)
        self.box, self.size = box, (box.width, box.height)

    def depenetrate(self, response: Response) -> tuple[Place, list[Hit]]:
        return depenetrate_box(self.box, self.blockers, self.around, self.grid, response)

    def next_hit(self, after: tuple[float, ...]) -> Any:
        bounds = self.blockers.bounds
        path = self.x, self.y, *self.size, self.goal_x, self.goal_y
        return sweep.next_hit(*path, bounds, np.arange(len(bounds), dtype=np.int64), self.grid, after)


class _ShapeMover(_Mover):
    """A shape of any kind among shapes: a slope may turn it aside, so blockers are gathered for each leg."""

    BEFORE_ALL = sweep_shapes.BEFORE_ALL

    def __init__(
        self, shape: Shape, dx: float, dy: float, blockers: Blockers, around: Around, grid: TileGrid
    ) -> None:
        super().__init__(shape, dx, dy, blockers, around, grid)
        self.form, self.shape = shape, columns_of(shape)
        # The normals that it slid along at this place; two that face each other hold it.
        self.held: list[Place] = []
        # A displacement that is lost in rounding hits nothing, not even what the shape starts in.
        self.stays = self.goal_x == self.x and self.goal_y == self.y

    def depenetrate(self, response: Response) -> tuple[Place, list[Hit]]:
        return depenetrate_shape(self.form, self.blockers, self.around, self.grid, response)

    def next_hit(self, after: tuple[float, ...]) -> Any:
        table, rows = blocker_table(self.blockers)
        goal = self.goal_x, self.goal_y
        inside, *found = sweep_shapes.next_hit(self.shape, *goal, table, rows, self.grid, after)
        return inside or self.stays, *found

    def turn(self, place: Place, normal: Place, code: int) -> bool:
        if math.dist(place, (self.x, self.y)) > _tolerance(bounds_of(self.shape)):
            self.held.clear()
        goes_on = super().turn(place, normal, code)
        self.shape.x[0], self.shape.y[0] = place
        dx, dy = self.goal_x - self.x, self.goal_y - self.y
        if not goes_on or (code == sweep.SLIDE and self._is_held(dx, dy)):
            return False
        self.held.append(normal)
        self.blockers = self.around(_padded(bounds_of(self.shape), dx, dy))
        return True

    def _is_held(self, dx: float, dy: float) -> bool:
        """Whether a displacement leads into something that the shape slid along at this very place."""
        length = math.hypot(dx, dy)
        return any(dx * nx + dy * ny < -1e-12 * length for nx, ny in self.held)


def _mover_of(
    shape: Shape, dx: float, dy: float, around: Around, grid: TileGrid, response: Response
) -> _BoxMover | _ShapeMover:
    if isinstance(shape, Box):
        box = shape.x, shape.y, shape.width, shape.height
        mirrored = callable(response) or response == "bounce"
        blockers = around(swept_region(*box, dx, dy, mirrored))
        if all_boxes(blockers) and not meets_slope(box, dx, dy, mirrored, grid):
            return _BoxMover(shape, dx, dy, blockers, around, grid)
    return _ShapeMover(shape, dx, dy, around(_padded(shape.bounds, dx, dy)), around, grid)


# ---- regions


def _padded(bounds: Bounds, dx: float, dy: float) -> Bounds:
    """As `swept_region`, and a little more, for the gap that is kept before sloped surfaces."""
    left, top, right, bottom = bounds
    left, top, right, bottom = swept_region(left, top, right - left, bottom - top, dx, dy, False)
    pad = _tolerance(bounds)
    return left - pad, top - pad, right + pad, bottom + pad


def _tolerance(bounds: Bounds) -> float:
    return TOLERANCE * max(map(abs, bounds))


def checked_displacement(start: float, displacement: float, name: str) -> float:
    """A displacement along one axis as a float; ``ValueError`` or ``TypeError`` if it is not a valid one."""
    number = finite(displacement, name)
    if not abs(number) < sweep.FARTHEST or not abs(start + number) < sweep.FARTHEST:
        raise ValueError(f"{name} = {number:g} leads beyond {sweep.FARTHEST:g}")
    return number


# ---- the ground check


def beside(
    shape: Shape, direction: Place, around: Around, tiles: TileMap | None = None, largest: float = 0.0
) -> Hit | None:
    """The blockers that touch a shape in a direction: with y downward, ``(0, 1)`` finds the ground.

    Parameters
    ----------
    shape, around, tiles
        As for `resolve`.
    direction : (float, float)
        Of any length but 0.
    largest : float
        The largest coordinate at which a body may have been stopped.

    Returns
    -------
    Hit or None
        ``None`` where nothing touches it.  A shape that is inside something hits that, if it would be
        pushed out against the direction.

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
    step = step_beside(shape.bounds, direction, largest)
    return first_against(direction, resolve(shape, *step, around, tiles, "touch"))


def step_beside(bounds: Bounds, direction: Place, largest: float = 0.0) -> Place:
    """A tiny displacement in a direction, for a test of what is directly next to these bounds."""
    dx, dy = direction
    length = math.hypot(dx, dy)
    if not 0.0 < length < math.inf:
        raise ValueError(f"direction = {direction} must be finite, and have a length")
    step = _BESIDE * max(largest, *map(abs, bounds)) or _BESIDE
    return dx / length * step, dy / length * step


def first_against(direction: Place, move: Movement) -> Hit | None:
    """The first hit of a movement whose side faces against a direction."""
    dx, dy = direction
    for hit in move.hits:
        if hit.normal[0] * dx + hit.normal[1] * dy < 0.0:
            return hit
    return None
