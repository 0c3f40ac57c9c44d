"""The picture that the demo leaves: the whole world, and its middle close up with cells and pairs."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import pairs as find_pairs
from broadphase.boxes import BoxArray, PairArray
from broadphase.cli.surfaces import FORMATS, Point, Surface, surface
from broadphase.errors import FileError
from broadphase.io.tables import whole_file
from broadphase.plot import DARKEST_CELL, OVERLAPPING, PLAIN, count_cells

CELL_SIZE = 6.0  # twice the widest ball
_CELLS_ACROSS = 6

_SIZE = 1500, 800
_SIDE = 700
_TOP = 52
_LEFT = 42, 796


def check_output(output: str) -> None:
    """Raise before the work what `save_picture` would raise after it.

    Raises
    ------
    FileError
        There is no such folder, or no picture has such a name.
    MissingExtraError
        Pillow is not installed.
    """
    if _format(output) not in FORMATS:
        raise FileError(f"{output}: the name of a picture ends in .{', .'.join(FORMATS)}")
    surface(_format(output), 1, 1)  # needs what the picture will need
    if not Path(output).resolve().parent.is_dir():
        raise FileError(f"{output}: No such folder")


def _format(output: str) -> str:
    return Path(output).suffix.lower().removeprefix(".")


def save_picture(boxes: BoxArray, pairs: PairArray, radii: npt.NDArray[Any], output: str) -> None:
    """Draw the boxes of the balls and their pairs, and write the file ``output``, whole or not at all.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    kind = _format(output)
    sheet = surface(kind, *_SIZE)
    whole = _Window(kind, boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0), margin=0.01)
    _draw_boxes(whole, boxes, pairs)
    overlapping = len(np.unique(pairs))
    title = f"{len(boxes)} balls, {len(pairs)} pairs of boxes overlap ({overlapping} boxes, orange)"
    whole.put(sheet, _LEFT[0], title)
    centre = (boxes[:, :2].min(axis=0) + boxes[:, 2:].max(axis=0)) / 2
    low = np.floor(centre / CELL_SIZE - _CELLS_ACROSS / 2) * CELL_SIZE
    middle = _Window(kind, low, low + _CELLS_ACROSS * CELL_SIZE)
    _draw_middle(middle, boxes, radii)
    middle.put(sheet, _LEFT[1], "The middle, with the number of boxes in each cell")
    with whole_file(Path(output)) as file:
        sheet.save(file, kind)


class _Window:
    """A square part of the world, drawn on a surface of its own."""

    def __init__(self, kind: str, low: Any, high: Any, margin: float = 0.0) -> None:
        width = float(max(high - low)) or 1.0
        self.low = np.asarray(low, np.float64) - margin * width
        self.high = self.low + (1 + 2 * margin) * width
        self.scale = _SIDE / float((self.high - self.low)[0])
        self.surface = surface(kind, _SIDE, _SIDE)

    def place(self, x: float, y: float) -> Point:
        """Where a point of the world lies on the surface."""
        return (x - float(self.low[0])) * self.scale, _SIDE - (y - float(self.low[1])) * self.scale

    def rectangles(self, boxes: npt.NDArray[Any], fill: str, opacity: float, edge: str | None = None) -> None:
        """Draw boxes ``[min_x, min_y, max_x, max_y]``."""
        for left, bottom, right, top in boxes.tolist():
            low, high = self.place(left, top), self.place(right, bottom)
            self.surface.rectangle(low, high, fill=fill, opacity=opacity, edge=edge, width=1)

    def put(self, sheet: Surface, left: float, title: str) -> None:
        """Put it on a sheet, with a frame, round numbers beside it, and a title."""
        sheet.put(self.surface, (left, _TOP))
        right, bottom = left + _SIDE, _TOP + _SIDE
        sheet.text(((left + right) / 2, _TOP - 16), title, size=17)
        for x in _round_numbers(float(self.low[0]), float(self.high[0])):
            across = left + self.place(x, 0)[0]
            sheet.line((across, bottom), (across, bottom + 5), color="#000000", width=1)
            sheet.text((across, bottom + 15), f"{x:g}", size=13)
        for y in _round_numbers(float(self.low[1]), float(self.high[1])):
            down = _TOP + self.place(0, y)[1]
            sheet.line((left - 5, down), (left, down), color="#000000", width=1)
            sheet.text((left - 22, down), f"{y:g}", size=13)
        frame = (left, _TOP), (right, bottom)
        sheet.rectangle(*frame, fill="#ffffff", opacity=0, edge="#000000", width=1)


def _round_numbers(low: float, high: float) -> list[float]:
    """About eight multiples of one, two or five times a power of ten."""
    rough = (high - low) / 8
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(times for times in (1, 2, 5, 10) if times * power >= rough)
    first, last = int(np.ceil(low / step)), int(np.floor(high / step))
    return [number * step for number in range(first, last + 1)]


def _draw_boxes(window: _Window, boxes: BoxArray, pairs: PairArray) -> None:
    overlapping = np.zeros(len(boxes), np.bool_)
    overlapping[pairs] = True
    window.rectangles(boxes[~overlapping], PLAIN, 0.25, PLAIN)
    window.rectangles(boxes[overlapping], OVERLAPPING, 0.35, OVERLAPPING)


def _draw_middle(window: _Window, boxes: BoxArray, radii: npt.NDArray[Any]) -> None:
    seen = ((boxes[:, 2:] > window.low) & (boxes[:, :2] < window.high)).all(axis=1)
    boxes, radii = boxes[seen], radii[seen]
    numbers = _draw_cells(window, boxes)
    pairs = find_pairs(boxes)
    _draw_boxes(window, boxes, pairs)
    centres = [window.place(x, y) for x, y in ((boxes[:, :2] + boxes[:, 2:]) / 2).tolist()]
    for centre, radius in zip(centres, radii.tolist(), strict=True):
        window.surface.circle(centre, radius * window.scale, color="#000000", width=0.6)
    for a, b in pairs.tolist():
        window.surface.line(centres[a], centres[b], color="#000000", width=1)
    for place, number in numbers:
        window.surface.text(place, str(number), size=19, halo=2)


def _draw_cells(window: _Window, boxes: BoxArray) -> list[tuple[Point, int]]:
    """Draw cells, the fuller the darker; returns where their numbers belong."""
    columns, rows, counts = count_cells(boxes.astype(np.float64), CELL_SIZE)
    fullest = int(counts.max())
    numbers = []
    for row, column in np.argwhere(counts).tolist():
        count = int(counts[row, column])
        grey = f"{round(255 * (1 - DARKEST_CELL * count / fullest)):02x}"
        left, right = columns[column : column + 2].tolist()
        bottom, top = rows[row : row + 2].tolist()
        cell = np.array([[left, bottom, right, top]])
        window.rectangles(cell, f"#{grey * 3}", 1, "#d0d0d0")
        numbers.append((window.place((left + right) / 2, (bottom + top) / 2), count))
    return numbers
