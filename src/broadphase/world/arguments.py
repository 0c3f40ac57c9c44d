"""Checks of the arguments of a world: points, bounds and grids of cells, each checked once."""

import math
from collections.abc import Iterable
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from broadphase.geometry.shapes import Bounds, Box, Capsule, Shape, finite, known_shape
from broadphase.geometry.vectors import Rect, Vector
from broadphase.inputs.arrays import BOXES, NUMBERS, POINTS, Wanted, place_hint, rectangle_of, settled
from broadphase.inputs.numeric import plain
from broadphase.kernels.movement.sweep import FARTHEST
from broadphase.kernels.tiles.grid import SIDES, Side

_PLAIN = frozenset((float, int))
_LARGEST = 2.0**1000  # what is not so far away fits into a float


def is_plain(values: Any, count: int) -> TypeGuard[tuple[float, ...]]:
    """Whether it is a tuple of this many Python numbers, which can be checked without an array."""
    return type(values) is tuple and len(values) == count and _PLAIN.issuperset(map(type, values))


def as_bounds(box: Shape | Any) -> Bounds:
    """A shape's bounds, or four numbers checked.

    Examples
    --------
    >>> as_bounds([0, 0, 1, 2])
    (0.0, 0.0, 1.0, 2.0)
    """
    if is_plain(box, 4):
        left, top, right, bottom = box  # the usual case, without an array
        if -_LARGEST < left <= right < _LARGEST and -_LARGEST < top <= bottom < _LARGEST:
            return float(left), float(top), float(right), float(bottom)
    edges = None if type(box) is tuple else edges_of(box)
    if edges is not None:
        return edges
    left, top, right, bottom = (float(value) for value in as_row(box, 4, "box", BOXES))
    if not (left <= right and top <= bottom):
        raise ValueError(
            f"box = {[left, top, right, bottom]} must be min_x, min_y, max_x, max_y, no NaN; "
            "of x, y, width, height make a Box(x, y, width, height)"
        )
    return left, top, right, bottom


def edges_of(box: Shape | Any) -> Bounds | None:
    """The bounds of a shape, or the edges of a rectangle of pygame or arcade; None for anything else.

    Examples
    --------
    >>> from broadphase import Circle
    >>> edges_of(Circle(0, 0, 1)), edges_of((0, 0, 1, 1))
    ((-1.0, -1.0, 1.0, 1.0), None)
    """
    bounds = getattr(box, "bounds", None)
    if type(bounds) is tuple and not hasattr(box, "geom_type"):
        return bounds
    rectangle = rectangle_of(box)
    if rectangle is None:
        return None
    left, top, width, height = rectangle
    if type(box).__module__ in ("pygame.rect", "pygame"):
        RECTANGLES.add(type(box))
    is_plain_one = type(left) is type(top) is type(width) is type(height) in _PLAIN
    if is_plain_one and 0 <= width < _LARGEST > height >= 0 and abs(left) < _LARGEST > abs(top):
        return float(left), float(top), float(left) + width, float(top) + height
    return Box(box).bounds


def as_row(values: Any, count: int, name: str, wanted: Wanted = NUMBERS) -> npt.NDArray[np.floating[Any]]:
    """``values`` as so many real numbers, in an array of the call's own."""
    array: npt.NDArray[np.floating[Any]] = settled(values, name, wanted)
    if array.shape != (count,):
        raise ValueError(f"{name} must be {count} numbers; got shape {array.shape}")
    return array


def as_points(values: Any, name: str, wanted: Wanted = POINTS) -> npt.NDArray[np.float64]:
    """One point ``(2,)`` or points ``(m, 2)``, finite; float64, in an array of the call's own."""
    return checked_points(settled(values, name, wanted), name)


def checked_points(given: npt.NDArray[Any], name: str) -> npt.NDArray[np.float64]:
    """`as_points` from an array of the call's own."""
    array: npt.NDArray[np.float64] = given.astype(np.float64, copy=False)
    if array.ndim not in (1, 2) or array.shape[-1] != 2:
        raise ValueError(f"{name} must be (x, y) or have shape (m, 2); got shape {array.shape}")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array.reshape(-1, 2)).all(axis=1))[0])
        raise ValueError(f"{name}[{row}] = {array.reshape(-1, 2)[row].tolist()} must be finite")
    return array


def as_places(given: npt.NDArray[Any], count: int, name: str) -> npt.NDArray[np.float64]:
    """``(count, 2)``: places that bodies may have, from an array of the call's own."""
    places: npt.NDArray[np.float64] = given.astype(np.float64, copy=False)
    if places.shape != (count, 2) and (places.size or count):
        raise ValueError(f"{name} must have shape ({count}, 2), one a body; got shape {places.shape}")
    places = places.reshape(-1, 2)
    sound = np.abs(places) < FARTHEST
    if np.count_nonzero(sound) < sound.size:  # a tenth of `all`
        bad_row = int(np.argmin(sound)) // 2
        raise ValueError(
            f"{name}[{bad_row}] = {places[bad_row].tolist()} must be finite numbers within {FARTHEST:g}"
        )
    return places


def of_one_length(
    a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], name_a: str, name_b: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Two arrays of points, a single one repeated to match the other."""
    a, b = np.atleast_2d(a), np.atleast_2d(b)
    if len(a) != len(b) and len(a) != 1 and len(b) != 1:
        raise ValueError(f"{name_a} has {len(a)} rows and {name_b} has {len(b)}")
    count = len(b) if len(a) == 1 else len(a)
    return (
        np.repeat(a, count, axis=0) if len(a) == 1 else a.copy(),
        np.repeat(b, count, axis=0) if len(b) == 1 else b.copy(),
    )


def as_cells(values: Any, dtype: type[np.generic], name: str, advice: str) -> npt.NDArray[Any]:
    """A writable C-contiguous grid of the given type: the caller's own array where it is one."""
    array = np.asarray(values)
    if array.size == 0 and not isinstance(values, np.ndarray):
        array = array.astype(dtype)
    if array.dtype != dtype:
        raise TypeError(f"{name} must be an array of {advice}; got dtype {array.dtype}")
    if array.ndim != 2:
        raise ValueError(f"{name} must be 2-D, indexed [row, column]; got shape {array.shape}")
    if not (array.flags.c_contiguous and array.flags.writeable):
        return array.copy(order="C")
    return array


RECTANGLES: set[type] = {Rect}
"""Types whose numbers are ``x, y, width, height``; those of pygame are known when one is first seen."""
# The types whose numbers are unpacked: a look here takes half the time of asking a type for its module.
PAIRS: set[type] = {tuple, Vector}


def _is_pair(value: Any) -> bool:
    """Whether it is a tuple or one of pygame's vectors; their types are known from then on."""
    known = isinstance(value, tuple) or type(value).__module__ == "pygame.math"
    if known:
        PAIRS.add(type(value))
    return known


def as_two(value: Any, name: str, *, one_for_both: bool = False) -> tuple[float, float]:
    """Two finite numbers; where ``one_for_both`` a single one stands for both."""
    # The usual cases, without an array: 0.1 microseconds; a `Vector2` took 19.
    if type(value) in PAIRS or _is_pair(value):
        if len(value) != 2:
            raise ValueError(f"{name} must be 2 numbers; got {len(value)}")
        x, y = value
        if type(x) is type(y) is float and math.isfinite(x + y):
            return x, y
        return finite(x, name), finite(y, name)
    value = plain(value, name)
    is_row = isinstance(value, np.void) or hasattr(value, "geom_type") or hasattr(type(value), "__dlpack__")
    if not is_row and np.ndim(value) == 0:
        if one_for_both:
            number = finite(value, name)
            return number, number
        raise TypeError(f"{name} must be 2 numbers; got {value!r}{place_hint(value)}")
    first, second = as_row(value, 2, name, POINTS)
    return finite(float(first), name), finite(float(second), name)


def check_edges(origin: float, size: float, count: int, name: str) -> None:
    """Raise ``ValueError`` where cells have no width, or one that float64 cannot tell from none."""
    if not size > 0.0:
        raise ValueError(f"{name} must be positive; got {size:g}")
    farthest = max(abs(origin), abs(origin + (count + 1) * size))
    if not size > 1e3 * math.ulp(farthest):
        raise ValueError(
            f"{name} = {size:g} is too small for coordinates up to {farthest:g}: the edges would coincide"
        )


def as_shape(shape: Any, name: str = "shape") -> Shape:
    """A shape, or a rectangle or a row ``min_x, min_y, max_x, max_y`` as a box.

    Examples
    --------
    >>> as_shape((5, 0, 10, 20))
    Box(x=5.0, y=0.0, width=5.0, height=20.0)
    >>> as_shape("round")
    Traceback (most recent call last):
    ...
    TypeError: shape must be a Box, Circle or Polygon, a Rect or (min_x, min_y, max_x, max_y); got 'round'
    """
    known = known_shape(shape)
    if known is not None:
        if isinstance(known, Capsule) and known.radius == 0.0:
            raise ValueError(f"{name} = {known!r} is a segment; in a world a capsule needs a radius")
        return known
    if is_plain(shape, 4):
        left, top, right, bottom = as_bounds(shape)
        return Box(left, top, right - left, bottom - top)
    many = "; add_many() takes several" if isinstance(shape, (list, np.ndarray)) else ""
    shown = f"a {type(shape).__name__}" if many else repr(shape)
    raise TypeError(
        f"{name} must be a Box, Circle or Polygon, a Rect or (min_x, min_y, max_x, max_y); got {shown}{many}"
    )


def as_place(value: Any, name: str) -> float:
    """A coordinate that a body may have.

    Examples
    --------
    >>> as_place(3, "x")
    3.0
    """
    if type(value) is not float:
        value = finite(value, name)
    if not -FARTHEST < value < FARTHEST:
        raise ValueError(f"{name} must be a finite number within {FARTHEST:g}; got {value}")
    place: float = value
    return place


def as_sides(sides: Side | Iterable[Side]) -> int:
    """The sum of the bits of a side, or of several.

    Raises
    ------
    TypeError, ValueError
        It is a bool, or a side has another name.
    """
    bits = 0
    if isinstance(sides, bool):
        raise TypeError(f"sides must be a side or several of {', '.join(SIDES)}; got {sides}")
    for side in [sides] if isinstance(sides, str) else sides:
        if side not in SIDES:
            raise ValueError(f"unknown side {side!r}; choose from {', '.join(SIDES)}")
        bits |= int(SIDES[side])
    return bits


# ---- tags


class _Any:
    """The type of `ANY`."""

    def __repr__(self) -> str:
        return "ANY"

    def __reduce__(self) -> str:
        return "ANY"


ANY = _Any()
"""A tag that every body has, for `World.on`."""


def as_tags(tag: Any) -> frozenset[Any]:
    """The tags that a user gave: none, one, or several in a set, list or tuple.

    Examples
    --------
    >>> as_tags(None), as_tags("coin"), sorted(as_tags(["door", "wall"]))
    (frozenset(), frozenset({'coin'}), ['door', 'wall'])
    """
    if tag is None:
        return frozenset()
    try:
        tags = frozenset(tag) if isinstance(tag, (set, frozenset, list, tuple)) else frozenset((tag,))
    except TypeError:
        raise TypeError(f"tag must be hashable, or a set, list or tuple of tags; got {tag!r}") from None
    if None in tags or ANY in tags:
        raise ValueError(f"tag = {tag!r}: None and ANY are no tags of a body; leave them out")
    return tags
