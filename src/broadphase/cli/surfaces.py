"""What the demo's picture is drawn on: pixels, by Pillow, or the text of an SVG file.

Both measure in pixels from the upper left corner, and take colours as ``"#rrggbb"``.  matplotlib would do
the same and more; it takes four times as long to install as Pillow, and 0.3 s to import (Pillow: 0.01).
"""

from functools import cache
from html import escape
from typing import IO, Any, Protocol, Self

from broadphase.extras import need

FORMATS = {
    "png": "PNG",
    "webp": "WEBP",
    "jpg": "JPEG",
    "jpeg": "JPEG",
    "gif": "GIF",
    "tif": "TIFF",
    "tiff": "TIFF",
    "bmp": "BMP",
    "pdf": "PDF",
    "svg": "SVG",
}
"""What pictures are written as, by the ending of their names."""

_FINER = 2
"""Pixels are drawn so many times as fine, then averaged: Pillow's own edges are jagged."""

Point = tuple[float, float]


class Surface(Protocol):
    """Something to draw on."""

    def rectangle(
        self, low: Point, high: Point, *, fill: str, opacity: float, edge: str | None, width: float
    ) -> None:
        """Draw a rectangle between two corners."""

    def circle(self, centre: Point, radius: float, *, color: str, width: float) -> None:
        """Draw a circle that is not filled."""

    def line(self, begin: Point, end: Point, *, color: str, width: float) -> None:
        """Draw a straight line."""

    def text(self, middle: Point, text: str, *, size: float, halo: float = 0) -> None:
        """Write around a point, in black with a white seam of this width."""

    def put(self, other: Self, corner: Point) -> None:
        """Put another surface of this kind on this one, with its upper left corner here."""

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
        self._font = cache(font.load_default)  # the font of a size is read once
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
        seam = {"stroke_width": round(_FINER * halo), "stroke_fill": "white"}
        self._draw.text(_finer(middle), text, "black", self._font(_FINER * size), "mm", **seam)

    def put(self, other: Self, corner: Point) -> None:
        self._image.paste(other._image, [round(number) for number in _finer(corner)])

    def save(self, file: IO[bytes], kind: str) -> None:
        self._image.resize(self._size).save(file, FORMATS[kind])


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
        seam = {"stroke": "white", "stroke_width": 2 * halo, "paint_order": "stroke"} if halo else {}
        places = {"x": middle[0], "y": middle[1], "text_anchor": "middle", "dominant_baseline": "central"}
        self._add("text", escape(text), **places, font_size=size, font_family="sans-serif", **seam)

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
