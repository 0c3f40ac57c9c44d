"""What a broad phase sees, drawn onto a pygame surface: boxes, contacts, cells with their counts, worlds."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from broadphase.boxes import BoxArray, as_boxes
from broadphase.extras import need
from broadphase.plot import count_cells
from broadphase.shapes.kinds import Box, Circle, Shape
from broadphase.world.world import World

_pygame = need("pygame", extra="pygame", purpose="the pygame adapter")

Color = tuple[int, int, int] | str
Point = tuple[float, float]

BOXES = (0, 114, 178)
CONTACTS = (213, 94, 0)
CELLS = (128, 128, 128)
_FAR = 1e6  # pixels; surfaces end long before
_ARROW = 12.0


def draw_boxes(
    surface: Any, boxes: Any, *, color: Color = BOXES, camera: Point = (0.0, 0.0), width: int = 1
) -> None:
    """Outline boxes.

    Parameters
    ----------
    surface : pygame.Surface
    boxes : array_like, shape (n, 4), or iterable of sprites
        Sprites count by their rects.
    color : pygame colour
    camera : (float, float)
        The point of the world that lies in the surface's corner.
    width : int
        Of the lines in pixels; 0 fills the boxes.
    """
    for left, top, right, bottom in _on_screen(boxes, camera).tolist():
        area = (round(left), round(top), max(round(right - left), 1), max(round(bottom - top), 1))
        _pygame.draw.rect(surface, color, area, width)


def draw_contacts(
    surface: Any,
    boxes: Any,
    pairs: Any,
    normals: Any = None,
    *,
    color: Color = CONTACTS,
    camera: Point = (0.0, 0.0),
) -> None:
    """Outline where pairs of boxes overlap, and say with a line which way they part.

    Parameters
    ----------
    surface, color, camera
        As for `draw_boxes`.
    boxes : array_like, shape (n, 4), or iterable of sprites
    pairs : array_like, shape (m, 2)
        Rows of ``boxes``, such as `broadphase.pairs` returns.
    normals : array_like, shape (m, 2), optional
        Which way the second of each pair pushes the first, such as ``contact_boxes(...).normals``.
    """
    rows = _on_screen(boxes, camera)
    chosen = np.asarray(pairs, np.int64).reshape(-1, 2)
    first, second = rows[chosen[:, 0]], rows[chosen[:, 1]]
    low, high = np.maximum(first[:, :2], second[:, :2]), np.minimum(first[:, 2:], second[:, 2:])
    shared = np.concatenate((np.minimum(low, high), np.maximum(low, high)), axis=1)
    draw_boxes(surface, shared, color=color, width=2)
    if normals is not None:
        middles = (low + high) / 2
        ends = middles + _ARROW * np.asarray(normals, np.float64)
        for middle, end in zip(middles.tolist(), ends.tolist(), strict=True):
            _pygame.draw.line(surface, color, middle, end, 2)


def draw_cells(
    surface: Any,
    boxes: Any,
    cell_size: float,
    *,
    color: Color = CELLS,
    camera: Point = (0.0, 0.0),
) -> None:
    """Outline the cells of a grid that hold boxes, with how many lie in each.

    Parameters
    ----------
    surface, boxes, color, camera
        As for `draw_boxes`.
    cell_size : float
        Side of a cell; cells begin at 0, 0 of the world.

    Raises
    ------
    ValueError
        There would be more than a million cells, or ``cell_size`` is not positive.
    """
    rows = _read(boxes)
    if not len(rows):
        return
    columns, lines, counts = count_cells(rows, cell_size)
    font = _font(max(10, min(20, int(cell_size / 4))))
    for row, column in np.argwhere(counts).tolist():
        area = _pygame.Rect(
            round(columns[column] - camera[0]),
            round(lines[row] - camera[1]),
            round(cell_size) + 1,
            round(cell_size) + 1,
        )
        if area.colliderect(surface.get_rect()):
            _pygame.draw.rect(surface, color, area, 1)
            number = font.render(str(counts[row, column]), True, color)
            surface.blit(number, number.get_rect(center=area.center))


def _read(boxes: Any) -> BoxArray:
    if not isinstance(boxes, np.ndarray) and isinstance(boxes, Iterable):
        boxes = list(boxes)
        if boxes and hasattr(boxes[0], "rect"):
            places = np.array([tuple(sprite.rect) for sprite in boxes], np.float64)
            places[:, 2:] += places[:, :2]
            boxes = np.concatenate(
                (np.minimum(places[:, :2], places[:, 2:]), np.maximum(places[:, :2], places[:, 2:])), axis=1
            )
    return as_boxes(boxes)


def _on_screen(boxes: Any, camera: Point) -> BoxArray:
    return np.clip(_read(boxes) - np.array([*camera, *camera], np.float64), -_FAR, _FAR)


@cache
def _font(size: int) -> Any:
    if not _pygame.font.get_init():
        _pygame.font.init()
    return _pygame.font.Font(None, size)


def draw_world(
    surface: Any,
    world: World,
    *,
    color: Color = BOXES,
    static_color: Color = CELLS,
    sensor_color: Color = CONTACTS,
    camera: Point = (0.0, 0.0),
) -> None:
    """Outline all bodies, solid tiles and slopes of a world that lie on the surface, in their shapes.

    Parameters
    ----------
    surface : pygame.Surface
    world : World
    color, static_color, sensor_color : str or tuple
        Of bodies; of static bodies and tiles; of sensors.
    camera : (float, float)
        Which point of the world lies at the surface's top left corner.

    Examples
    --------
    >>> import broadphase as bp, pygame
    >>> from broadphase.adapters.pygame import draw_world
    >>> world, surface = bp.World(), pygame.Surface((80, 60))
    >>> body = world.add(bp.Circle(40, 30, 10))
    >>> draw_world(surface, world, color="white")
    >>> surface.get_at((30, 30)) == (255, 255, 255), surface.get_at((40, 30)) == (0, 0, 0)
    (True, True)
    """
    width, height = surface.get_size()
    seen = camera[0], camera[1], camera[0] + width, camera[1] + height
    for shape in _tile_shapes(world, seen):
        _draw_shape(surface, shape, static_color, camera)
    for body in world.query_box(seen):
        paint = sensor_color if body.sensor else static_color if body.static else color
        _draw_shape(surface, body.shape, paint, camera)


def _tile_shapes(world: World, seen: tuple[float, float, float, float]) -> Iterator[Shape]:
    tiles = world.tiles
    if tiles is None:
        return
    for column, row in tiles.tiles_in(seen).tolist():
        left, top, right, bottom = tiles.bounds_of(column, row)
        yield Box(left, top, right - left, bottom - top)
    for _, slope in tiles.slopes_in(seen):
        yield slope


def _draw_shape(surface: Any, shape: Shape, color: Color, camera: Point) -> None:
    """The outline; one that is grown by a radius, as its corners and the circles around them."""
    if isinstance(shape, Box):
        draw_boxes(surface, [shape.bounds], color=color, camera=camera)
        return
    if isinstance(shape, Circle):
        corners, radius = np.array([[shape.x, shape.y]]), shape.radius
    else:
        corners, radius = np.asarray(shape.points, np.float64), shape.radius
    corners = np.clip(corners - camera, -_FAR, _FAR)
    if len(corners) > 1:
        _pygame.draw.lines(surface, color, True, corners.tolist())
    if radius:
        for corner in corners.tolist():
            _pygame.draw.circle(surface, color, corner, max(min(radius, _FAR), 1.0), 1)
