"""Where cells lie in maps whose rows or columns are staggered, and what an offset is in isometric ones."""

from broadphase.files.tiled.things import Map, Point


def cell_size(level: Map) -> Point:
    """Of a cell in the space in which the map's objects have their places.

    Isometric maps are flat there: squares as high as a tile.
    """
    width, height = level.tile_size
    return (height, height) if level.orientation == "isometric" else (width, height)


def in_cells(level: Map, offset: Point) -> Point:
    """A way on the screen in the space of the map's objects."""
    if level.orientation != "isometric":
        return offset
    (x, y), (width, height) = offset, level.tile_size
    return (x / width + y / height) * height, (y / height - x / width) * height


def is_staggered(level: Map) -> bool:
    """Whether its cells lie on no grid."""
    return level.orientation in ("staggered", "hexagonal")


def height_of(level: Map) -> float:
    """Of a map that ends, in the space of its objects."""
    columns, rows = level.size
    if not is_staggered(level):
        return rows * cell_size(level)[1]
    last = max(corner_of(level, column, max(rows, 1) - 1)[1] for column in range(min(max(columns, 1), 2)))
    return last + _even(level.tile_size[1])


def corner_of(level: Map, column: int, row: int) -> Point:
    """The upper left corner of the box around a staggered cell."""
    axis, index, _ = level.stagger
    width, height = _even(level.tile_size[0]), _even(level.tile_size[1])
    x, y = _edges(level)
    odd_one = bool((column if axis == "x" else row) & 1) != (index == "even")
    if axis == "x":
        return column * (width - x), row * height + y * odd_one
    return column * width + x * odd_one, row * (height - y)


def outline_of_cell(level: Map) -> tuple[Point, ...]:
    """The corners of a staggered cell, seen from the upper left one of the box around it."""
    width, height = _even(level.tile_size[0]), _even(level.tile_size[1])
    x, y = _edges(level)
    ring = [
        (0.0, y),
        (x, 0.0),
        (width - x, 0.0),
        (width, y),
        (width, height - y),
        (width - x, height),
        (x, height),
        (0.0, height - y),
    ]
    return tuple(point for k, point in enumerate(ring) if point != ring[k - 1])


def _edges(level: Map) -> Point:
    """How far the slanted sides of a cell reach."""
    axis, _, side = level.stagger
    width, height = _even(level.tile_size[0]), _even(level.tile_size[1])
    return (width - side * (axis == "x")) // 2, (height - side * (axis == "y")) // 2


def _even(length: float) -> float:
    """As Tiled draws: whole halves."""
    return length - length % 2
