"""Movement of one shape against things that stand still: swept, so that nothing is jumped over however fast.

`resolve` is the general way: it goes from hit to hit, and asks a function for its response at each.  Bodies
are known only as what a callback says to be near, so that any index and any images can stand behind them.
Hits come by time of impact; among equal times faces before corners, bodies in the order given before tiles,
tiles row by row.

A box among boxes is exact, and flush is free: a box stopped by another has the very edge of the other as its
own (or, where no place in float64 gives that edge, stands a unit in the last place of its coordinate before
it), so it neither overlaps afterwards nor snags when it walks on along it.  Where circles and polygons take
part lengths are rounded: on a slanted or round surface a shape stops about 1e-13 of its coordinates before
the other, so that it never overlaps it by a rounding; on a straight one it is flush.

The fast path of a world, `kernels.movement.motion`, goes the same way in one call where no function is asked.
"""

import math
from typing import Any

import numpy as np

from broadphase.geometry.shapes import Bounds, Box, Shape, finite
from broadphase.geometry.table import columns_of
from broadphase.kernels.movement import sweep, sweep_shapes
from broadphase.kernels.movement.motion import TOLERANCE
from broadphase.kernels.tiles.grid import TileGrid
from broadphase.world import depenetration
from broadphase.world.hits import Around, Blockers, Hit, Movement, Response, answered, code_of
from broadphase.world.tiles import Tile, TileMap

# Of the coordinates: far more than a stopped body may stand off what stopped it, far less than anyone sees.
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
        The way.
    around : callable
        Takes bounds and returns `Blockers`: all that may lie in the way there, without the shape itself.
    tiles : TileMap, optional
        Solid and one-way tiles that block too.
    response : str or callable
        ``"slide"`` goes along the surface, ``"bounce"`` is mirrored by it, ``"touch"`` stops, ``"cross"``
        only reports; or a function that takes a `Hit` and returns one of these names, or ``None`` to ignore
        it.  What is around was asked before, so what the function moves or removes counts only from the
        next movement on.

    Returns
    -------
    Movement
        A shape that starts inside something is first pushed out the shortest way; what it was in comes
        first among the hits, with time 0.  Where there is no way out, it moves on through that.

    Raises
    ------
    TypeError, ValueError
        ``dx`` or ``dy`` is no finite number, the way leads beyond 1e300, or a response has no such name.

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
    dx, dy = checked_way(shape.x, dx, "dx"), checked_way(shape.y, dy, "dy")
    if not callable(response):
        code_of(response)
    way = _way_of(shape, dx, dy, around, depenetration.NO_TILES if tiles is None else tiles.grid, response)
    hits: list[Hit] = []
    passed, after, turns, first = 0.0, way.BEFORE_ALL, 0, True
    while turns < sweep.MOST_TURNS:
        inside, found, place, normal = way.next_hit(after, first)
        if first and inside:
            hits, first = way.leave(response), False
            continue
        first = False
        if found[0] > 1.0:
            way.x, way.y = way.goal_x, way.goal_y
            break
        time, body = passed + (1.0 - passed) * found[0], int(found[2])
        others = way.blockers.others
        other = others[body] if body < len(others) else Tile(int(found[4]), int(found[3]))
        hit, code = answered(Hit(other, time, normal, place), response)
        if hit is not None:
            hits.append(hit)
        if code == sweep.CROSS:
            after = found
            continue
        passed, after, turns = time, way.BEFORE_ALL, turns + 1
        if not way.turn(place, normal, code):
            break
    return Movement(way.x, way.y, tuple(hits))


class _Way:
    """Where a mover is, where it is to come to, and what is around."""

    BEFORE_ALL: tuple[float, ...]

    def __init__(
        self, shape: Shape, dx: float, dy: float, blockers: Blockers, around: Around, grid: TileGrid
    ) -> None:
        self.dx, self.dy, self.blockers, self.around, self.grid = dx, dy, blockers, around, grid
        self.x, self.y = shape.x, shape.y
        self.goal_x, self.goal_y = shape.x + dx, shape.y + dy

    def next_hit(self, after: tuple[float, ...], first: bool) -> Any:
        """The first hit behind the hit ``after``: ``inside, hit, place, normal``, as kernels have it."""
        raise NotImplementedError

    def leave(self, response: Response) -> list[Hit]:
        """Out of what it starts in; what that was."""
        raise NotImplementedError

    def turn(self, place: depenetration.Place, normal: depenetration.Place, code: int) -> bool:
        """Stopped at a place: whether it goes on from there."""
        self.x, self.y = place
        self.goal_x, self.goal_y = sweep.turn(*place, self.goal_x, self.goal_y, *normal, code)
        return self.goal_x != self.x or self.goal_y != self.y


class _BoxWay(_Way):
    """A box among boxes: what may be in its way is asked once."""

    BEFORE_ALL = sweep.BEFORE_ALL

    def __init__(
        self,
        box: Box,
        dx: float,
        dy: float,
        blockers: Blockers,
        around: Around,
        grid: TileGrid,
        mirrored: bool,
    ) -> None:
        super().__init__(box, dx, dy, blockers, around, grid)
        self.width, self.height, self.mirrored = box.width, box.height, mirrored

    def next_hit(self, after: tuple[float, ...], first: bool) -> Any:
        bounds = self.blockers.bounds
        box = self.x, self.y, self.width, self.height
        rows = np.arange(len(bounds))
        return sweep.next_hit(*box, self.goal_x, self.goal_y, bounds, rows, self.grid, after, first)

    def leave(self, response: Response) -> list[Hit]:
        box = self.x, self.y, self.width, self.height
        (self.x, self.y), hits = depenetration.leave_as_box(
            box, self.blockers, self.around, self.grid, response
        )
        self.goal_x, self.goal_y = self.x + self.dx, self.y + self.dy
        way = region(self.x, self.y, self.width, self.height, self.dx, self.dy, self.mirrored)
        self.blockers = self.around(way)
        return hits


class _ShapeWay(_Way):
    """A shape of any kind, among shapes: along a slant it leaves the straight way, so each leg asks again."""

    BEFORE_ALL = sweep_shapes.BEFORE_ALL

    def __init__(
        self, shape: Shape, dx: float, dy: float, blockers: Blockers, around: Around, grid: TileGrid
    ) -> None:
        super().__init__(shape, dx, dy, blockers, around, grid)
        self.mover = columns_of(shape)
        # What it slid along at this place; two that face each other hold a shape.
        self.held: list[depenetration.Place] = []
        # A way that is lost in the rounding of the place meets nothing, not even what it starts in.
        self.stays = self.goal_x == self.x and self.goal_y == self.y

    def next_hit(self, after: tuple[float, ...], first: bool) -> Any:
        table, rows = depenetration.blocker_table(self.blockers)
        goal = self.goal_x, self.goal_y
        inside, *found = sweep_shapes.next_hit(self.mover, *goal, table, rows, self.grid, after)
        return inside or self.stays, *found

    def leave(self, response: Response) -> list[Hit]:
        hits = depenetration.leave_as_shape(self.mover, self.blockers, self.around, self.grid, response)
        start, (self.x, self.y) = (self.x, self.y), depenetration.place_of(self.mover)
        self.goal_x, self.goal_y = self.x + self.dx, self.y + self.dy
        if (self.x, self.y) != start:
            self.blockers = self.around(_padded(depenetration.bounds_of(self.mover), self.dx, self.dy))
        return hits

    def turn(self, place: depenetration.Place, normal: depenetration.Place, code: int) -> bool:
        if math.dist(place, (self.x, self.y)) > _tolerance(depenetration.bounds_of(self.mover)):
            self.held.clear()
        goes_on = super().turn(place, normal, code)
        self.mover.x[0], self.mover.y[0] = place
        dx, dy = self.goal_x - self.x, self.goal_y - self.y
        if not goes_on or (code == sweep.SLIDE and self._is_held(dx, dy)):
            return False
        self.held.append(normal)
        self.blockers = self.around(_padded(depenetration.bounds_of(self.mover), dx, dy))
        return True

    def _is_held(self, dx: float, dy: float) -> bool:
        """Whether a way leads into something that the shape slid along at this very place."""
        length = math.hypot(dx, dy)
        return any(dx * nx + dy * ny < -1e-12 * length for nx, ny in self.held)


def _way_of(
    shape: Shape, dx: float, dy: float, around: Around, grid: TileGrid, response: Response
) -> _BoxWay | _ShapeWay:
    if isinstance(shape, Box):
        mirrored = callable(response) or response == "bounce"
        blockers = around(region(shape.x, shape.y, shape.width, shape.height, dx, dy, mirrored))
        if depenetration.all_boxes(blockers):
            return _BoxWay(shape, dx, dy, blockers, around, grid, mirrored)
    near = around(_padded(shape.bounds, dx, dy))
    if isinstance(shape, Box) and depenetration.all_boxes(near):
        # What is round lies only where the way may be mirrored to: there it counts as its bounds.
        return _BoxWay(shape, dx, dy, blockers, around, grid, mirrored)
    return _ShapeWay(shape, dx, dy, near, around, grid)


# ---- regions


def region(x: float, y: float, width: float, height: float, dx: float, dy: float, mirrored: bool) -> Bounds:
    """All that a box can pass on its way; a way that may be mirrored leads to both sides.

    Examples
    --------
    >>> region(0.0, 0.0, 1.0, 1.0, 5.0, -2.0, False)
    (0.0, -2.0, 6.0, 1.0)
    """
    if mirrored:
        pad_x = abs(dx) + 1e-12 * (abs(x) + abs(dx) + width)
        pad_y = abs(dy) + 1e-12 * (abs(y) + abs(dy) + height)
        return x - pad_x, y - pad_y, x + width + pad_x, y + height + pad_y
    goal_x, goal_y = x + dx, y + dy
    return min(x, goal_x), min(y, goal_y), max(x + width, goal_x + width), max(y + height, goal_y + height)


def _padded(bounds: Bounds, dx: float, dy: float) -> Bounds:
    """As `region`, and a little more, for the gap that is kept before slanted surfaces."""
    left, top, right, bottom = bounds
    left, top, right, bottom = region(left, top, right - left, bottom - top, dx, dy, False)
    pad = _tolerance(bounds)
    return left - pad, top - pad, right + pad, bottom + pad


def _tolerance(bounds: Bounds) -> float:
    return TOLERANCE * max(map(abs, bounds))


def checked_way(start: float, way: float, name: str) -> float:
    """A part of a way as a float; ``ValueError`` or ``TypeError`` where it is no number to go by."""
    number = finite(way, name)
    if not abs(number) < sweep.FARTHEST or not abs(start + number) < sweep.FARTHEST:
        raise ValueError(f"{name} = {number:g} leads beyond {sweep.FARTHEST:g}")
    return number


# ---- the ground check


def beside(
    shape: Shape,
    direction: depenetration.Place,
    around: Around,
    tiles: TileMap | None = None,
    largest: float = 0.0,
) -> Hit | None:
    """What keeps a shape from going in a direction: what a body stands on, for ``(0, 1)`` with y downward.

    Parameters
    ----------
    shape, around, tiles
        As for `resolve`.
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
    return first_against(direction, resolve(shape, *way, around, tiles, "touch"))


def step_beside(bounds: Bounds, direction: depenetration.Place, largest: float = 0.0) -> depenetration.Place:
    """The way to what is right beside something with these bounds."""
    dx, dy = direction
    length = math.hypot(dx, dy)
    if not 0.0 < length < math.inf:
        raise ValueError(f"direction = {direction} must be finite, and have a length")
    step = _BESIDE * max(largest, *map(abs, bounds)) or _BESIDE
    return dx / length * step, dy / length * step


def first_against(direction: depenetration.Place, move: Movement) -> Hit | None:
    """The first thing that a movement hit whose side faces against a direction."""
    dx, dy = direction
    for hit in move.hits:
        if hit.normal[0] * dx + hit.normal[1] * dy < 0.0:
            return hit
    return None
