"""Objects and collision shapes of tiles as outlines at their places: turned, mirrored and stretched.

A shape that still is a box, a circle or a capsule afterwards stays one; other round shapes become polygons.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from broadphase.io.tiled.maps import (
    HEX_TURN,
    MIRRORED_X,
    MIRRORED_Y,
    TRANSPOSED,
    Object,
    Point,
    Tile,
)

CORNERS = 32
"""Corners of a polygon that replaces an ellipse; they lie on the ellipse."""
_ANCHORS = {
    "topleft": (0.0, 0.0),
    "top": (0.5, 0.0),
    "topright": (1.0, 0.0),
    "left": (0.0, 0.5),
    "center": (0.5, 0.5),
    "right": (1.0, 0.5),
    "bottomleft": (0.0, 1.0),
    "bottom": (0.5, 1.0),
    "bottomright": (1.0, 1.0),
    "unspecified": (0.0, 1.0),
}
_QUARTERS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))


class Frame(NamedTuple):
    """An affine map of points: ``x_x * x + x_y * y + x`` and ``y_x * x + y_y * y + y``."""

    x_x: float = 1.0
    y_x: float = 0.0
    x_y: float = 0.0
    y_y: float = 1.0
    x: float = 0.0
    y: float = 0.0

    def point(self, x: float, y: float) -> Point:
        """The image of a point."""
        return self.x_x * x + self.x_y * y + self.x, self.y_x * x + self.y_y * y + self.y

    def then(self, other: "Frame") -> "Frame":
        """A map that applies this one first, then the other."""
        x, y = other.point(self.x, self.y)
        return Frame(
            other.x_x * self.x_x + other.x_y * self.y_x,
            other.y_x * self.x_x + other.y_y * self.y_x,
            other.x_x * self.x_y + other.x_y * self.y_y,
            other.y_x * self.x_y + other.y_y * self.y_y,
            x,
            y,
        )

    @property
    def keeps_boxes(self) -> bool:
        """Whether axis-aligned boxes stay axis-aligned."""
        return self.x_y == self.y_x == 0.0 or self.x_x == self.y_y == 0.0

    @property
    def scale(self) -> float | None:
        """The factor by which it stretches; None where that depends on the direction."""
        one, other = math.hypot(self.x_x, self.y_x), math.hypot(self.x_y, self.y_y)
        slanted = abs(self.x_x * self.x_y + self.y_x * self.y_y)
        return one if math.isclose(one, other, rel_tol=1e-12) and slanted <= 1e-12 * one * other else None


def moved(x: float, y: float) -> Frame:
    """A frame that only moves."""
    return Frame(x=x, y=y)


def stretched(x: float, y: float) -> Frame:
    """A frame that only stretches, or mirrors."""
    return Frame(x_x=x, y_y=y)


def turned(degrees: float) -> Frame:
    """A frame that turns clockwise on the screen; quarters are exact."""
    quarters, rest = divmod(degrees, 90.0)
    cosine, sine = _QUARTERS[int(quarters % 4)]
    if rest:
        cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return Frame(cosine, sine, -sine, cosine)


class Outline(NamedTuple):
    """An outline, from which one shape is made, or several for a line or a polygon that is not convex."""

    kind: Literal["box", "polygon", "circle", "capsule", "line"]
    points: tuple[Point, ...]
    """For a box the min corner and the size, for a circle its centre, for a capsule the ends of its line."""
    radius: float = 0.0


def outlines_of(one: Object, frame: Frame, anchor: str = "bottomleft") -> Iterator[Outline]:
    """The outlines of an object; none for points and texts.

    Parameters
    ----------
    one : Object
    frame : Frame
        From the coordinates of the object to those of its outlines.
    anchor : str
        The point of a tile object that lies at its place, where its tileset does not say.
    """
    own = turned(one.rotation).then(moved(one.x, one.y)).then(frame)
    width, height = one.width, one.height
    if one.tile is not None:
        yield from _tile_object(one, one.tile, own, anchor)
    elif one.form in ("polygon", "polyline"):
        points = _without_repeats(own.point(*point) for point in one.points)
        closed = one.form == "polygon" and len(points) > 2
        if len(points) > 1:
            yield Outline("polygon" if closed else "line", points)
    elif one.form in ("point", "text") or width == height == 0.0:
        return
    elif width == 0.0 or height == 0.0:
        yield Outline("line", (own.point(0.0, 0.0), own.point(width, height)))
    elif one.form == "ellipse":
        yield _ellipse(width, height, own)
    elif one.form == "capsule":
        yield _capsule(width, height, own)
    else:
        yield _box(width, height, own)


def shapes_of_tile(tile: Tile, frame: Frame) -> Iterator[Outline]:
    """The collision shapes of a tile; the whole tile where it has none."""
    if not tile.shapes:
        yield _box(*tile.size, frame)
    for shape in tile.shapes:
        yield from outlines_of(shape, frame)


def frame_of_tile(tile: Tile, turned_by: int, size: Point | None, *, hexagonal: bool = False) -> Frame:
    """From a tile in its tileset to the same tile turned and mirrored, with its lower left corner at zero.

    Parameters
    ----------
    tile : Tile
    turned_by : int
        The upper bits of a tile's number.
    size : (float, float), optional
        The size to which it is stretched.
    hexagonal : bool
        Whether the bits are those of a hexagonal map.
    """
    width, height = tile.size
    frame = Frame()
    transposed = turned_by & TRANSPOSED and not hexagonal
    if transposed:
        frame, width, height = Frame(0.0, 1.0, 1.0, 0.0), height, width
    if turned_by & MIRRORED_X:
        frame = frame.then(stretched(-1.0, 1.0)).then(moved(width, 0.0))
    if turned_by & MIRRORED_Y:
        frame = frame.then(stretched(1.0, -1.0)).then(moved(0.0, height))
    if hexagonal and turned_by & (TRANSPOSED | HEX_TURN):
        degrees = 60.0 * bool(turned_by & TRANSPOSED) + 120.0 * bool(turned_by & HEX_TURN)
        middle = 0.5 * width, 0.5 * height
        frame = frame.then(moved(-middle[0], -middle[1])).then(turned(degrees)).then(moved(*middle))
    x, y = tile.tileset.offset
    frame = frame.then(moved(x, y - height))
    if size is not None and width > 0.0 and height > 0.0:
        frame = frame.then(stretched(size[0] / width, size[1] / height))
    return frame


def _tile_object(one: Object, tile: Tile, own: Frame, anchor: str) -> Iterator[Outline]:
    if not (one.width > 0.0 and one.height > 0.0):
        return
    alignment = tile.tileset.alignment
    x, y = _ANCHORS.get(anchor if alignment == "unspecified" else alignment, (0.0, 1.0))
    placed = moved(-x * one.width, (1.0 - y) * one.height).then(own)
    yield from shapes_of_tile(tile, frame_of_tile(tile, one.turned, (one.width, one.height)).then(placed))


# ---- shapes as outlines


def _box(width: float, height: float, frame: Frame) -> Outline:
    corners = [frame.point(x, y) for x, y in ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))]
    if not frame.keeps_boxes:
        return Outline("polygon", tuple(corners))
    (ax, ay), (bx, by) = corners[0], corners[2]
    size = (
        abs(frame.x_x * width + frame.x_y * height),
        abs(frame.y_x * width + frame.y_y * height),
    )
    return Outline("box", ((min(ax, bx), min(ay, by)), size))


def _ellipse(width: float, height: float, frame: Frame) -> Outline:
    scale = frame.scale
    if width == height and scale is not None:
        return Outline("circle", (frame.point(0.5 * width, 0.5 * height),), 0.5 * width * scale)
    if frame.keeps_boxes:
        (left, top), (across, down) = _box(width, height, frame).points
        if across == down:
            return Outline("circle", ((left + 0.5 * across, top + 0.5 * down),), 0.5 * across)
    around = [2.0 * math.pi * k / CORNERS for k in range(CORNERS)]
    points = (
        (0.5 * width * (1.0 + math.cos(angle)), 0.5 * height * (1.0 + math.sin(angle))) for angle in around
    )
    return Outline("polygon", tuple(frame.point(*point) for point in points))


def _capsule(width: float, height: float, frame: Frame) -> Outline:
    if width == height:
        return _ellipse(width, height, frame)
    radius, scale = 0.5 * min(width, height), frame.scale
    ends = ((radius, radius), (width - radius, height - radius))
    if scale is not None:
        return Outline("capsule", tuple(frame.point(*end) for end in ends), radius * scale)
    # Two half circles; the first begins at the side that has the line between the ends on its left.
    start = -0.5 * math.pi if width > height else 0.0
    points = []
    for half, (x, y) in enumerate((ends[1], ends[0])):
        for k in range(CORNERS // 2 + 1):
            angle = start + math.pi * (half + 2.0 * k / CORNERS)
            points.append((x + radius * math.cos(angle), y + radius * math.sin(angle)))
    return Outline("polygon", _without_repeats(frame.point(*point) for point in points))


def _without_repeats(points: Iterable[Point]) -> tuple[Point, ...]:
    """Without points that equal their neighbour, or the first point at the end."""
    kept: list[Point] = []
    for point in points:
        if not kept or point != kept[-1]:
            kept.append(point)
    if len(kept) > 3 and kept[0] == kept[-1]:
        kept.pop()
    return tuple(kept)
