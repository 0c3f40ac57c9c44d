"""What a broad phase sees, drawn onto a pygame surface: boxes, contacts, and cells with their counts."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from broadphase.boxes import BoxArray, as_boxes
from broadphase.extras import need
from broadphase.plot import count_cells

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
