"""Swept movement of one shape among blockers of any kind, and how it is pushed out of what it starts in.

`resolve` lets the kernel of `kernels.movement.path` follow the path: it gathers what is near wherever that
leads, and calls the function that chooses the response to each hit.  A callback returns the bodies near given
bounds, so that any index and any images can be used.  Hits are ordered by time of impact; among equal times
faces before corners, bodies in the order given before tiles, tiles row by row.

A shape that starts in walls is pushed out of them (depenetration): `push_out` finds the nearest free place of
a box, `_push` pushes other shapes out.

A box among boxes is exact, and flush is free: a box stopped by another has the very edge of the other as its
own (or, where no place in float64 gives that edge, stands a unit in the last place of its coordinate before
it), so it neither overlaps afterwards nor catches on it when it slides along it.  With circles and polygons
lengths are rounded: on a slanted or round surface a shape stops about 1e-13 of its coordinates before
the other, so that it never overlaps it by a rounding; on a straight one it is flush.
"""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from broadphase.geometry.shapes import Bounds, Box, Shape, finite
from broadphase.geometry.table import columns_of
from broadphase.kernels.movement import depenetration as kernel
from broadphase.kernels.movement import path, sweep, sweep_shapes
from broadphase.kernels.movement.motion import EXACT, region_of
from broadphase.kernels.shapes.table import BOX, ShapeColumns, bound_rows
from broadphase.kernels.tiles.grid import TileGrid, bounds_of_cell, tile_of
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

_EVERYWHERE = -math.inf, -math.inf, math.inf, math.inf

Place: TypeAlias = tuple[float, float]
BoxPlace: TypeAlias = tuple[float, float, float, float]
"""``x, y, width, height``"""
_Responses: TypeAlias = list[tuple[Hit | None, bool]]
"""For each overlapped obstacle its hit, or ``None`` if it is ignored, and whether it blocks."""


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
    blockers = _with_tiles(around, tiles)(shape.bounds)
    grid = blockers.grid
    all_boxes = isinstance(shape, Box) and bool((blockers.table.kinds[blockers.rows] == BOX).all())
    exact = all_boxes and not any_slope(grid, *shape.bounds)
    overlaps = _overlaps(columns_of(shape), blockers, exact)
    if not overlaps:
        return None
    body, column, row, *_ = overlaps[0]
    other: object = _tile(blockers, column, row) if body < 0 else blockers.others[int(body)]
    return other


def _overlaps(mover: ShapeColumns, blockers: Blockers, exact: bool) -> list[list[float]]:
    """Everything that the mover overlaps, as `write_overlaps` writes it."""
    numbers = np.arange(len(blockers.bounds), dtype=np.int64)
    bodies = blockers.table, blockers.rows, blockers.bounds, numbers
    search = partial(kernel.overlapping, mover, *bodies, exact, blockers.grid)
    rows: list[list[float]] = all_rows(search, np.empty((FIRST_CAPACITY, 7))).tolist()
    return rows


# ---- depenetration: push a shape out of everything that blocks it


def _depenetrate(way: "_Path", response: Response) -> list[Hit]:
    """Push a shape out of everything that it starts in, except for what the response lets it cross: the hits.

    Either all tiles block, or none if it may cross each that it is in.
    """
    mover, blockers, exact = way.mover, way.blockers, way.exact
    rows = _overlaps(mover, blockers, exact)
    met = [(int(body), int(column), int(row)) for body, column, row, *_ in rows]
    start, normals = place_of(mover), [(nx, ny) for _, _, _, nx, ny, _, _ in rows]
    answers, around = _responses(zip(met, normals, strict=True), start, way, response)
    if not any(blocks for _, blocks in answers):
        return [hit for hit, _ in answers if hit is not None]
    walls = [
        blocks and _is_fixed(blockers, body) for (_, blocks), (body, _, _) in zip(answers, met, strict=True)
    ]
    if any(walls):
        fixed = _only_fixed(around, [blockers.others[body] for body, _, _ in met if body >= 0])
        if exact:
            box = *start, mover.width.item(0), mover.height.item(0)
            mover.x[0], mover.y[0] = push_out(box, fixed) or start
        else:
            _push(mover, fixed)
    free = place_of(mover)
    freed = _Path(mover, 0.0, 0.0, around, "slide")
    freed.begin(path.FREED)
    freed.follow(sweep.SLIDE)
    hits = []
    for (hit, blocks), is_wall, (body, column, row) in zip(answers, walls, met, strict=True):
        if hit is not None and blocks:
            hit = hit._replace(touch=place_of(mover))
            if is_wall and exact:
                bounds = bounds_of_cell(way.grid, column, row) if body < 0 else blockers.bounds[body].tolist()
                normal = _normal_of_push(hit.normal, start, free, mover.width.item(0), bounds)
                hit = hit._replace(normal=normal)
        if hit is not None:
            hits.append(hit)
    return hits


def _responses(
    met: Iterable[tuple[Any, Place]], place: Place, way: "_Path", response: Response
) -> tuple[_Responses, Around]:
    """The responses to everything that is overlapped, and the bodies and tiles that still block.

    ``met`` are ``(body, column, row), normal``.
    """
    answers: _Responses = []
    crossed: list[object] = []
    tile_answers: set[bool] = set()
    for (body, column, row), normal in met:
        other = _tile(way.blockers, column, row) if body < 0 else way.blockers.others[body]
        hit, code = answered(Hit(other, 0.0, normal, place), response)
        answers.append((hit, code != sweep.CROSS))
        if body < 0:
            tile_answers.add(code != sweep.CROSS)
        elif code == sweep.CROSS:
            crossed.append(other)
    around = _without(way.around, crossed)
    return answers, _without_tiles(around) if tile_answers == {False} else around


def _without(around: Around, crossed: list[Any]) -> Around:
    """``around`` without the bodies that are crossed."""
    if not crossed:
        return around

    def others_around(bounds: Bounds) -> Blockers:
        blockers = around(bounds)
        return blockers.at(np.array([other not in crossed for other in blockers.others], np.bool_))

    return others_around


def _without_tiles(around: Around) -> Around:
    """``around`` without tiles."""
    return lambda bounds: around(bounds)._replace(grid=NO_TILES)


def _with_tiles(around: Around, tiles: TileMap | None) -> Around:
    """``around`` with the tiles of a map, if there is one."""
    if tiles is None:
        return around
    grid = tiles.grid
    return lambda bounds: around(bounds)._replace(grid=grid)


def _tile(blockers: Blockers, column: float, row: float) -> Tile:
    return Tile(*tile_of(blockers.grid, int(column), int(row)))


def _is_fixed(blockers: Blockers, body: int) -> bool:
    """Whether a blocker does not move; so does no tile, where it is -1."""
    return body < 0 or bool(blockers.fixed[blockers.rows[body]])


def _only_fixed(around: Around, met: list[Any]) -> Around:
    """``around`` without bodies that move, and without one-way bodies that are not overlapped: as tiles."""

    def fixed_around(bounds: Bounds) -> Blockers:
        blockers = around(bounds)
        stays = blockers.fixed[blockers.rows]
        if blockers.sides is not None:
            overlapped = np.array([other in met for other in blockers.others], np.bool_)
            stays = stays & ((blockers.sides == 15) | overlapped)
        return blockers.at(stays)

    return fixed_around


def push_out(box: BoxPlace, around: Around) -> Place | None:
    """The nearest place where a box overlaps neither bodies nor solid tiles; ``None`` if there is none.

    Of equally near places, the one along x comes first, then the one towards smaller coordinates.
    """
    x, y, width, height = box
    blockers = around((x, y, x + width, y + height))
    reach = kernel.deepest(x, y, width, height, blockers.bounds, blockers.grid)
    if reach == 0.0:
        return x, y
    scratch = np.empty((2, kernel.MOST_EDGES))
    for _ in range(_MOST_ROUNDS):
        if not reach < sweep.FARTHEST:
            return None
        blockers = around((x - reach, y - reach, x + width + reach, y + height + reach))
        found, free_x, free_y, distance = kernel.push_out(
            x, y, width, height, blockers.bounds, blockers.grid, reach, scratch
        )
        if found and distance <= reach:
            return free_x, free_y
        if reach >= blockers.repeats:
            return None
        # What was found is a bound: nothing nearer lies beyond its distance.
        reach = distance if found else 2.0 * reach
    return None


def _normal_of_push(normal: Place, start: Place, free: Place, width: float, bounds: Sequence[float]) -> Place:
    """The axis along which a box has left an obstacle; the ``normal`` there was if it has not moved."""
    if free[0] >= bounds[2] or free[0] + width <= bounds[0]:
        return (1.0 if free[0] > start[0] else -1.0), 0.0
    if free == start:
        return normal
    return 0.0, (1.0 if free[1] > start[1] else -1.0)


def _push(mover: ShapeColumns, around: Around) -> None:
    """Push the shape out of its deepest overlap until it is free, or its bounds as a box if that is shorter.

    Pushing out of one obstacle at a time may fail deep in a wall of tiles; pushing out a box does not.
    """
    start = place_of(mover)
    for _ in range(_MOST_PUSHES):
        blockers = around(bounds_of(mover))
        overlaps = _overlaps(mover, blockers, False)
        if not overlaps:
            break
        nx, ny, depth, slack = max(overlaps, key=lambda row: row[5])[3:]
        mover.x[0] += nx * (depth + slack)
        mover.y[0] += ny * (depth + slack)
    by_shape = place_of(mover)
    mover.x[0], mover.y[0] = start
    left, top, right, bottom = bounds_of(mover)
    by_box = push_out((left, top, right - left, bottom - top), around)
    if not overlaps and (by_box is None or math.dist(by_shape, start) <= math.dist(by_box, (left, top))):
        mover.x[0], mover.y[0] = by_shape
    elif by_box is not None:
        mover.x[0] += by_box[0] - left
        mover.y[0] += by_box[1] - top


# ---- a movement

# Of the coordinates: far more than the gap between a stopped body and its blocker, far less than is visible.
_BESIDE = 1e-11
_DEEPER = 16.0 * sweep_shapes.SLACK / _BESIDE


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
    >>> def among(other):
    ...     known = columns_of(other), np.zeros(1, np.int32), np.ones(1, np.bool_)
    ...     return lambda bounds: Blockers(np.array([other.bounds]), ["wall"], *known)
    >>> move = resolve(Box(0, 0, 5, 5), 20, 8, among(Box(10, 0, 10, 100)))
    >>> move.x, move.y, move.right, move.hits[0].other, move.hits[0].time
    (5.0, 8.0, True, 'wall', 0.25)
    >>> move = resolve(Circle(0, 0, 4), 3, 24, among(Box(-100, 10, 200, 10)))
    >>> move.x, move.y, move.bottom, move.hits[0].time
    (3.0, 6.0, True, 0.25)
    """
    dx, dy = checked_displacement(shape.x, dx, "dx"), checked_displacement(shape.y, dy, "dy")
    code = sweep.SLIDE if callable(response) else code_of(response)
    way = _Path(columns_of(shape), dx, dy, _with_tiles(around, tiles), response)
    state = way.follow(code)
    while state != path.DONE:
        if state == path.INSIDE:
            way.hits = _depenetrate(way, response)
            way.begin(path.ON)
        else:
            hit, code = answered(way.hits.pop(), response)
            way.hits += [] if hit is None else [hit]
        state = way.follow(code)
    reached = 0
    if isinstance(response, str) and response != "cross":
        blockers = way.blockers
        reached = sweep_shapes.sides_reached(
            way.mover, dx, dy, blockers.table, blockers.rows, way._buffers.sides, way.grid
        )
    return Movement(*place_of(way.mover), tuple(way.hits), (), reached)


class _Path:
    """The path of the only shape of a table, which moves along it."""

    blockers: Blockers

    def __init__(self, mover: ShapeColumns, dx: float, dy: float, around: Around, response: Response) -> None:
        self.mover, self.around = mover, around
        self._displacement, self._asks = (dx, dy), callable(response)
        self._answer: Any = "" if callable(response) else response
        self.hits: list[Hit] = []
        self._found = np.empty((1 if self._asks else FIRST_CAPACITY, 9))
        self._held, self._numbers = np.empty((sweep.MOST_TURNS, 2)), np.zeros(20)
        self._counts = np.zeros(8, np.int64)
        self.begin(path.START)
        region = region_of(mover, 0, dx, dy, self._asks or response == "bounce", EXACT)
        self._look(_EVERYWHERE if math.isnan(region[0]) else region)

    @property
    def grid(self) -> TileGrid:
        """The tiles around."""
        return self.blockers.grid

    @property
    def exact(self) -> bool:
        """Whether the leg is that of a box among boxes."""
        return bool(self._counts[5])

    def begin(self, stage: int) -> None:
        """Begin at the mover's place, in a stage of `path`."""
        (x, y), (dx, dy) = place_of(self.mover), self._displacement
        self._numbers[4:9] = x + dx, y + dy, dx, dy, 0.0
        self._counts[:] = stage, 0, 0, 0, -1, 0, 0, 0

    def _look(self, region: Bounds) -> None:
        """Gather what is near within a region."""
        self._searched, self.blockers = region, self.around(region)
        rows, bounds, count = self.blockers.rows, self.blockers.bounds, len(self.blockers.rows)
        leg = np.empty(count, np.int64), np.empty(count, np.int32)
        state = self._found, self._held, self._numbers
        sides = self.blockers.sides
        if sides is None:
            sides = np.full(count, 15, np.uint8)
        self._buffers = path.Buffers(rows, bounds, sides, rows, *leg, *state, self._counts)
        self._counts[4] = -1  # nothing is chosen yet from what is near

    def follow(self, code: int) -> int:
        """Follow it, with the response to the last hit, until `DONE`, `INSIDE`, or a function is asked."""
        while True:
            _, others, table, rows, fixed, *_ = self.blockers
            state: int = path.follow(
                *(0, self.mover, table, fixed, len(rows), self._searched, self.grid),
                *(code, self._asks, self._buffers),
            )
            found = self._counts.item(7)
            self._counts[6:] = 0
            for time, nx, ny, x, y, body, column, row, _ in self._found[:found].tolist():
                other: Any = None
                if body >= 0.0:
                    other = others[np.flatnonzero(rows == body).item()]
                else:
                    other = _tile(self.blockers, column, row)
                self.hits.append(Hit(other, time, (nx, ny), (x, y), self._answer))
            if state == path.TOO_FAR:
                left, top, right, bottom = self._numbers[:4].tolist()
                x, y, far_x, far_y = self._searched
                self._look((min(left, x), min(top, y), max(right, far_x), max(bottom, far_y)))
            elif state != path.FULL or self._asks:
                return state
            elif not found:
                self._found = np.empty((2 * len(self._found), 9))
                self._look(self._searched)


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
    found = first_against(direction, resolve(shape, *step, around, tiles, "touch"))
    return found or inside_by_rounding(shape, direction, _with_tiles(around, tiles))


def inside_by_rounding(shape: Shape, direction: Place, around: Around) -> Hit | None:
    """What a shape that is not a box among boxes may be inside of by a rounding error: see `beside`.

    Such shapes count as flush, and only a step deeper than that is a hit, at once.
    """
    candidates = around(shape.bounds)
    if len(candidates.rows) == 0 and candidates.grid.solid.size == 0:
        return None
    far = max(float(np.abs(candidates.bounds).max(initial=0.0)), *map(abs, shape.bounds))
    step = step_beside(shape.bounds, direction, _DEEPER * far)
    found = first_against(direction, resolve(shape, *step, around, None, "touch"))
    return found if found is not None and found.time == 0.0 else None


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
