"""The picture of the demo: the whole world, and a close-up of its middle with cells and pairs.

It is drawn as pixels by Pillow or as the text of an SVG file.  Both measure in pixels from the upper left
corner and take colours as ``"#rrggbb"``. matplotlib could do the same, but takes four times as long to
install as Pillow, and 0.3 s to import (Pillow: 0.01).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import IO, Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from broadphase import methods
from broadphase import pairs as find_pairs
from broadphase.api.one_shot import search
from broadphase.cli.terminal import DISAGREEMENT, Steps, complain
from broadphase.errors import FileError, need
from broadphase.inputs.boxes import BoxArray, as_boxes
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.rules import as_filter
from broadphase.io.tables import whole_file
from broadphase.methods.pair_order import one_array
from broadphase.methods.task import Found, Task
from broadphase.plot import DARKEST_CELL, OVERLAPPING, PLAIN, count_cells
from broadphase.runtime import threads
from broadphase.runtime.memory import PairArray, Scratch

# ---- surfaces to draw on

FORMATS = ("png", "webp", "jpg", "jpeg", "gif", "tif", "tiff", "bmp", "pdf", "svg")
"""The formats of pictures: endings of file names."""
_LONG = {"jpg": "jpeg", "tif": "tiff"}
"""What Pillow calls a format, where that is not its ending."""

_FINER = 2
"""Pixels are drawn this many times finer and then averaged, because Pillow's edges are jagged."""

Point = tuple[float, float]


class Surface(Protocol):
    """A surface to draw on."""

    def rectangle(
        self, low: Point, high: Point, *, fill: str, opacity: float, edge: str | None, width: float
    ) -> None:
        """Draw a rectangle between two corners."""

    def circle(self, centre: Point, radius: float, *, color: str, width: float) -> None:
        """Draw a circle that is not filled."""

    def line(self, begin: Point, end: Point, *, color: str, width: float) -> None:
        """Draw a straight line."""

    def text(self, middle: Point, text: str, *, size: float, halo: float = 0) -> None:
        """Write text centred on a point, in black with a white outline of this width."""

    def put(self, other: Self, corner: Point) -> None:
        """Draw another surface of this kind, with its upper left corner at a point."""

    def save(self, file: IO[bytes], kind: str) -> None:
        """Write a file of one of the `FORMATS`."""


def surface(kind: str, width: int, height: int) -> Surface:
    """An empty white surface for a picture of one of the `FORMATS`.

    Raises
    ------
    MissingExtraError
        Pillow is not installed.
    """
    return _Vectors(width, height) if kind == "svg" else _Pixels(width, height)


def _channels(color: str) -> list[int]:
    return [int(color[k : k + 2], 16) for k in (1, 3, 5)]


def _finer(*places: Point) -> list[float]:
    return [_FINER * number for place in places for number in place]


class _Pixels:
    def __init__(self, width: int, height: int) -> None:
        image, draw, font = (
            need(f"PIL.{module}", extra="cli", purpose="drawing the last frame")
            for module in ("Image", "ImageDraw", "ImageFont")
        )
        self._font = cache(font.load_default)  # each font size is loaded once
        self._size = width, height
        self._image = image.new("RGB", (_FINER * width, _FINER * height), "white")
        self._draw = draw.Draw(self._image, "RGBA")

    def rectangle(
        self, low: Point, high: Point, *, fill: str, opacity: float, edge: str | None, width: float
    ) -> None:
        inside = (*_channels(fill), round(255 * opacity))
        self._draw.rectangle(_finer(low, high), inside, edge, max(1, round(_FINER * width)))

    def circle(self, centre: Point, radius: float, *, color: str, width: float) -> None:
        (x, y), line = centre, max(1, round(_FINER * width))
        around = _finer((x - radius, y - radius), (x + radius, y + radius))
        self._draw.ellipse(around, None, color, line)

    def line(self, begin: Point, end: Point, *, color: str, width: float) -> None:
        self._draw.line(_finer(begin, end), color, max(1, round(_FINER * width)))

    def text(self, middle: Point, text: str, *, size: float, halo: float = 0) -> None:
        outline = {"stroke_width": round(_FINER * halo), "stroke_fill": "white"}
        self._draw.text(_finer(middle), text, "black", self._font(_FINER * size), "mm", **outline)

    def put(self, other: Self, corner: Point) -> None:
        self._image.paste(other._image, [round(number) for number in _finer(corner)])

    def save(self, file: IO[bytes], kind: str) -> None:
        self._image.resize(self._size).save(file, _LONG.get(kind, kind))


class _Vectors:
    def __init__(self, width: int, height: int) -> None:
        self._size = width, height
        self._parts: list[str] = []
        self.rectangle((0, 0), (width, height), fill="#ffffff", opacity=1, edge=None, width=0)

    def rectangle(
        self, low: Point, high: Point, *, fill: str, opacity: float, edge: str | None, width: float
    ) -> None:
        self._add(
            "rect",
            x=low[0],
            y=low[1],
            width=high[0] - low[0],
            height=high[1] - low[1],
            fill=fill,
            fill_opacity=opacity,
            stroke=edge or "none",
            stroke_width=width,
        )

    def circle(self, centre: Point, radius: float, *, color: str, width: float) -> None:
        self._add(
            "circle", cx=centre[0], cy=centre[1], r=radius, fill="none", stroke=color, stroke_width=width
        )

    def line(self, begin: Point, end: Point, *, color: str, width: float) -> None:
        (x1, y1), (x2, y2) = begin, end
        self._add("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=color, stroke_width=width)

    def text(self, middle: Point, text: str, *, size: float, halo: float = 0) -> None:
        outline = {"stroke": "white", "stroke_width": 2 * halo, "paint_order": "stroke"} if halo else {}
        places = {"x": middle[0], "y": middle[1], "text_anchor": "middle", "dominant_baseline": "central"}
        self._add("text", escape(text), **places, font_size=size, font_family="sans-serif", **outline)

    def put(self, other: Self, corner: Point) -> None:
        width, height = other._size
        self._add("svg", other._inside(), x=corner[0], y=corner[1], width=width, height=height)

    def save(self, file: IO[bytes], kind: str) -> None:
        width, height = self._size
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
        file.write(f"{head}\n{self._inside()}\n</svg>\n".encode())

    def _inside(self) -> str:
        return "\n".join(self._parts)

    def _add(self, name: str, inside: str = "", **values: Any) -> None:
        written = (
            f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
            for value in values.values()
        )
        pairs = " ".join(
            f'{key.replace("_", "-")}="{value}"' for key, value in zip(values, written, strict=True)
        )
        self._parts.append(f"<{name} {pairs}>{inside}</{name}>")


CELL_SIZE = 6.0  # twice the widest ball
_CELLS_ACROSS = 6

_SIZE = 1500, 800
_SIDE = 700
_TOP = 52
_LEFT = 42, 796


def check_output(output: str) -> None:
    """Raise now what `save_picture` would raise after the work.

    Raises
    ------
    FileError
        There is no such folder, or the name has no known ending.
    MissingExtraError
        Pillow is not installed.
    """
    if _format(output) not in FORMATS:
        raise FileError(f"{output}: the name of a picture ends in .{', .'.join(FORMATS)}")
    surface(_format(output), 1, 1)  # raises if Pillow is missing
    if not Path(output).resolve().parent.is_dir():
        raise FileError(f"{output}: No such folder")


def _format(output: str) -> str:
    return Path(output).suffix.lower().removeprefix(".")


def save_picture(boxes: BoxArray, pairs: PairArray, radii: npt.NDArray[Any], output: str) -> None:
    """Draw the boxes of the balls and their pairs, and write the file ``output`` completely or not at all.

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
    """A square part of the world on a surface of its own."""

    def __init__(self, kind: str, low: Any, high: Any, margin: float = 0.0) -> None:
        width = float(max(high - low)) or 1.0
        self.low = np.asarray(low, np.float64) - margin * width
        self.high = self.low + (1 + 2 * margin) * width
        self.scale = _SIDE / float((self.high - self.low)[0])
        self.surface = surface(kind, _SIDE, _SIDE)

    def place(self, x: float, y: float) -> Point:
        """The point of the surface that shows a point of the world."""
        return (x - float(self.low[0])) * self.scale, _SIDE - (y - float(self.low[1])) * self.scale

    def rectangles(self, boxes: npt.NDArray[Any], fill: str, opacity: float, edge: str | None = None) -> None:
        """Draw boxes ``[min_x, min_y, max_x, max_y]``."""
        for left, bottom, right, top in boxes.tolist():
            low, high = self.place(left, top), self.place(right, bottom)
            self.surface.rectangle(low, high, fill=fill, opacity=opacity, edge=edge, width=1)

    def put(self, sheet: Surface, left: float, title: str) -> None:
        """Draw it on a sheet, with a frame, axis labels and a title."""
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
    """Draw cells, fuller ones darker; returns the places of their numbers."""
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


# -----------------------------------------------------------------------------------------------------------
# ``broadphase demo``: every method finds the same pairs of many balls, at very different costs.


Vectors = npt.NDArray[np.float32]

REFERENCE = "brute_force"


@dataclass
class Balls:
    """Balls in a square box; they bounce off the walls, but not off each other."""

    centers: Vectors
    velocities: Vectors
    radii: Vectors
    side: float

    @classmethod
    def scattered(cls, count: int, seed: int) -> "Balls":
        """``count`` balls of one to three units across, with about one overlap for every two balls."""
        random = np.random.default_rng(seed)
        radii = random.uniform(0.5, 1.5, count).astype(np.float32)
        side = max(4.0, 4 * count**0.5)
        centers = random.uniform(radii[:, None], side - radii[:, None], (count, 2)).astype(np.float32)
        angles = random.uniform(0, 2 * np.pi, count)
        speeds = random.uniform(0.1, 0.5, count)
        velocities = (np.stack([np.cos(angles), np.sin(angles)], 1) * speeds[:, None]).astype(np.float32)
        return cls(centers, velocities, radii, side)

    def advance(self) -> None:
        """Advance by one frame."""
        self.centers += self.velocities
        low, high = self.radii[:, None], self.side - self.radii[:, None]
        outside_low, outside_high = self.centers < low, self.centers > high
        np.copyto(self.centers, 2 * low - self.centers, where=outside_low)
        np.copyto(self.centers, 2 * high - self.centers, where=outside_high)
        self.velocities[outside_low | outside_high] *= -1

    def boxes(self) -> BoxArray:
        """The bounding box of each ball."""
        return np.hstack([self.centers - self.radii[:, None], self.centers + self.radii[:, None]])


@dataclass
class Record:
    """The results of one method, frame by frame."""

    seconds: list[float] = field(default_factory=list)
    tests: list[int] = field(default_factory=list)
    pairs: list[int] = field(default_factory=list)
    scratch: Scratch = field(default_factory=Scratch)


class DisagreementError(Exception):
    """Two methods have found different pairs."""


def demo(balls: int, frames: int, seed: int, names: Sequence[str] | None, output: str) -> int:
    """Run the demonstration; 0 if all methods agree on every frame."""
    _check(balls, frames, output)
    names = list(dict.fromkeys(names or methods.NAMES))
    scene = Balls.scattered(balls, seed)
    records = {name: Record() for name in names}
    console = Console(soft_wrap=True, highlight=False)
    try:
        with Steps(patience=0) as steps:
            _load(scene.boxes(), records)
            last_pairs = _run(scene, frames, records, steps.step(f"{balls} balls"))
            steps.step("Drawing")
            save_picture(scene.boxes(), last_pairs, scene.radii, output)
    except DisagreementError as error:
        return complain(f"{error} (replay with --balls {balls} --seed {seed})", DISAGREEMENT)
    console.print(_table(records, balls, frames))
    console.print(_summary(len(names), frames, output), markup=False)
    return 0


def _summary(methods_run: int, frames: int, output: str) -> str:
    cores = threads.cores()
    agreement = f"All {methods_run} methods found the same pairs in each of the {frames} frames.\n"
    return (
        f"{agreement if methods_run > 1 else ''}"
        f"Times are medians of the search alone, on {cores} core{'s' * (cores > 1)}.\n"
        f"The last frame is drawn in {output}."
    )


def _check(balls: int, frames: int, output: str) -> None:
    if balls < 1 or frames < 1:
        raise FileError(f"there must be at least one ball and one frame; got {balls} and {frames}")
    check_output(output)


def _task(boxes: BoxArray, scratch: Scratch) -> Task:
    return Task(as_boxes(boxes), True, as_filter(len(boxes)), thread_count(None), scratch=scratch)


def _load(boxes: BoxArray, records: dict[str, Record]) -> None:
    """Search once by each method, so that imports and first allocations are not timed."""
    for name, record in records.items():
        _found_pairs(search(name, _task(boxes, record.scratch)), len(boxes))


def _run(
    scene: Balls, frames: int, records: dict[str, Record], report: Callable[[int, int], None]
) -> PairArray:
    """Run all frames; returns the pairs of the last."""
    for frame in range(frames):
        scene.advance()
        boxes = scene.boxes()
        expected: PairArray | None = None
        for name, record in records.items():
            task = _task(boxes, record.scratch)
            start = perf_counter()
            found = search(name, task)
            record.seconds.append(perf_counter() - start)
            record.tests.append(found.tests)
            record.pairs.append(found.pairs)
            pairs = _found_pairs(found, len(boxes))
            if expected is None:
                expected = pairs
            elif not np.array_equal(pairs, expected):
                raise DisagreementError(_difference(frame, next(iter(records)), expected, name, pairs))
        report(frame + 1, frames)
    assert expected is not None
    return expected


def _found_pairs(found: Found, n: int) -> PairArray:
    return one_array(found.chunks, n, sort=True)


def _difference(frame: int, first: str, expected: PairArray, second: str, pairs: PairArray) -> str:
    in_one = sorted(set(map(tuple, expected.tolist())) ^ set(map(tuple, pairs.tolist())))
    which = f"only one of them found {in_one[0]}" if in_one else "the same ones, some more than once"
    return (
        f"the methods disagree in frame {frame}: {first} found {len(expected)} pairs, "
        f"{second} found {len(pairs)}; {which}"
    )


def _table(records: dict[str, Record], balls: int, frames: int) -> Table:
    table = Table(title=f"{balls} balls, {frames} frames")
    table.add_column("method")
    for heading in ("tests a frame", "pairs a frame", "time a frame", "gain"):
        table.add_column(heading, justify="right")
    reference = records.get(REFERENCE)
    for name, record in records.items():
        gain = "" if reference is None else f"{median(reference.seconds) / median(record.seconds):.1f} x"
        table.add_row(
            name,
            f"{mean(record.tests):,.0f}",
            f"{mean(record.pairs):,.0f}",
            f"{1e3 * median(record.seconds):.3f} ms",
            gain,
        )
    return table
