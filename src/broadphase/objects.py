"""Lists of objects: which of them touch, and which are in range of which.

For programs that hold enemies, bullets or towers as objects of their own.  The place and size of each object
are read once, the pairs are found by one kernel or by `broadphase.pairs`, `broadphase.join` and
`broadphase.neighbors`, and the objects come back.  Cost: reading, some 0.1 us an object, and the search.  It
loses to a `World` or an index where the same objects are asked about several times a frame and few of them
have moved.
"""

from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, TypeVar, Unpack, overload

import numpy as np

from broadphase.api.one_shot import join, pairs
from broadphase.geometry.shapes import Circle, Polygon
from broadphase.inputs.arrays import POINTS, plain_rows, rectangle_of
from broadphase.inputs.numeric import not_negative
from broadphase.kernels.points.objects import (
    BOXES,
    CIRCLES,
    DOTTED,
    ITSELF,
    NAMED,
    NEAREST_FIRST,
    NUMBER,
    RECTANGLES,
    TOUCHING,
    WITHIN,
    near_objects,
)
from broadphase.points.neighborhoods import neighbors
from broadphase.runtime.arrays import Floats
from broadphase.runtime.memory import PairArray

T = TypeVar("T")
S = TypeVar("S")
Place: TypeAlias = str | tuple[str, str] | Callable[[Any], Any]
Measure: TypeAlias = str | float | tuple[Any, Any] | Callable[[Any], Any]
_Rule: TypeAlias = tuple[int, Any, Any]
"""What objects are; where their centre or rectangle is; their radius or sides."""
_SHAPES = -1
"""Circles among boxes and rectangles."""


class _Shapes(NamedTuple):
    """What a list of objects occupies: boxes, or circles about points."""

    cores: Floats
    """``(n, 2 * dim)``: the boxes; of circles, the centres as boxes without extent."""
    radii: Floats
    """``(n,)``, 0 for boxes; or one for all, ``(1,)``."""


class _How(TypedDict, total=False):
    """What objects are, for the signatures that type checkers read."""

    at: Place
    radius: Measure | None
    size: Measure | None
    rect: str | Callable[[Any], Any] | None
    margin: float


@overload
def colliding(ones: Iterable[T], others: None = None, **how: Unpack[_How]) -> list[tuple[T, T]]: ...
@overload
def colliding(ones: Iterable[T], others: Iterable[S], **how: Unpack[_How]) -> list[tuple[T, S]]: ...
def colliding(
    ones: Iterable[Any],
    others: Iterable[Any] | None = None,
    *,
    at: Place = "pos",
    radius: Measure | None = None,
    size: Measure | None = None,
    rect: str | Callable[[Any], Any] | None = None,
    margin: float = 0.0,
) -> list[tuple[Any, Any]]:
    """The pairs of objects that touch: circles, boxes about a centre, or rectangles.

    Sprites and rectangles of pygame and arcade are known as rectangles without more arguments, and so are
    `Box` and `Circle`, and bodies that have one of these shapes: mixed as you like, such as circles in one
    list and rectangles in the other; a period of their world does not count.  Objects that are flush,
    sharing an edge or a point only, do not touch.

    Parameters
    ----------
    ones : iterable
        Objects, such as a list or a group of sprites.
    others : iterable, optional
        Find pairs of one of ``ones`` and one of these, instead of pairs among ``ones``.
    at : str, (str, str) or callable
        Where the centre of an object is: an attribute that holds two (or three) numbers, such as a vector; a
        pair of attributes, ``("x", "y")``; or a function of the object.  Attributes may be dotted:
        ``"rect.center"``.  Vectors and tuples are centres themselves; a sprite without the attribute
        has its ``rect.center``, which a ``Rect`` of pygame rounds down to a pixel.
    radius : str, float or callable, optional
        The objects are circles: an attribute that holds their radius, a number for all, or a function.
    size : str, float, pair or callable, optional
        The objects are boxes about their centres: an attribute that holds the side, or width and height; a
        number, a pair of numbers or of attributes; or a function.
    rect : str or callable, optional
        The objects are rectangles: an attribute or function that gives one of pygame or arcade, or
        ``(x, y, width, height)``.
    margin : float
        Pairs whose distance is less than this count too.

    Returns
    -------
    list of (object, object)
        In the order of the lists: that of `itertools.combinations` within one, of `itertools.product` with
        two.

    Raises
    ------
    TypeError, ValueError
        An object lacks an attribute, or what it holds is not of these kinds; the first such object is named.

    See Also
    --------
    in_range : centre to centre, a list for each object.
    pairs : for arrays of boxes.
    World : for objects that move and are asked about all the time.

    Examples
    --------
    >>> from types import SimpleNamespace as Enemy
    >>> import broadphase as bp
    >>> a, b, c = Enemy(pos=(0, 0), size=3), Enemy(pos=(4, 0), size=2), Enemy(pos=(9, 0), size=1)
    >>> bp.colliding([a, b, c], radius="size") == [(a, b)]
    True
    >>> bp.colliding([a, b], [c], radius="size", margin=2.5) == [(b, c)]
    True
    >>> len(bp.colliding([bp.Circle(0, 0, 2), bp.Circle(3, 0, 2)], [bp.Box(4, 1, 5, 5)]))
    1
    """
    things = _several(ones, "ones")
    targets = things if others is None else _several(others, "others")
    margin = not_negative(margin, "margin")
    if (radius is not None) + (size is not None) + (rect is not None) > 1:
        raise TypeError(
            "give one of radius=, size= and rect=, which holds for both lists; circles and rectangles in one "
            "call are lists of bp.Circle and of bp.Box, without any of these"
        )
    if not things or not targets:
        return []
    read, rule = other_read, other_rule = _read_as(things, "ones", at, radius, size, rect)
    if targets is not things:
        other_read, other_rule = _read_as(targets, "others", at, radius, size, rect)
    found: list[Any] = []
    kept = things, targets, found
    if _few(read, other_read, rule, other_rule, margin, TOUCHING, kept):
        in_turn = iter(found)
        return list(zip(in_turn, in_turn))  # noqa: B905 - strict takes a tenth of the call
    shapes = _shapes_of(read, "ones", *rule)
    other_shapes = None if targets is things else _shapes_of(other_read, "others", *other_rule)
    touching = _touching(shapes, other_shapes, margin)
    return [(things[one], targets[other]) for one, other in touching.tolist()]


def in_range(
    ones: Iterable[Any],
    others: Iterable[T],
    radius: Measure,
    *,
    at: Place = "pos",
    sort: Literal["list", "distance"] = "list",
) -> list[list[T]]:
    """For each object those of others whose centre is at most ``radius`` away: the targets of each tower.

    Parameters
    ----------
    ones : iterable
        Objects, such as towers.
    others : iterable
        Objects, such as creeps.  An object that is in both lists is in range of itself.
    radius : float, str or callable
        The range: a number, or an attribute or function of each of ``ones``.
    at : str, (str, str) or callable
        Where the centre of an object is, as for `colliding`.
    sort : str
        ``"list"``: each list in the order of ``others``.  ``"distance"``: nearest first.

    Returns
    -------
    list of list
        One list for each of ``ones``.

    Raises
    ------
    TypeError, ValueError
        An object lacks an attribute, or what it holds is not of these kinds; the first such object is named.

    See Also
    --------
    colliding : which objects touch.
    neighbors : for arrays of points.

    Examples
    --------
    >>> import broadphase as bp
    >>> bp.in_range([(0, 0), (10, 0)], [(3, 4), (1, 0), (7, 0)], 5)
    [[(3, 4), (1, 0)], [(7, 0)]]
    >>> bp.in_range([(0, 0)], [(3, 4), (1, 0)], 5, sort="distance")
    [[(1, 0), (3, 4)]]
    """
    things, targets = _several(ones, "ones"), _several(others, "others")
    if sort not in ("list", "distance"):
        raise ValueError(f'sort must be "list" or "distance"; got {sort!r}')
    reached: list[list[T]] = [[] for _ in things]
    if not things or not targets:
        return reached
    rule = CIRCLES, _center_of(things[0], at), radius
    target_rule = CIRCLES, _center_of(targets[0], at), 0.0
    order = WITHIN if sort == "list" else NEAREST_FIRST
    if _few(things, targets, rule, target_rule, 0.0, order, (things, targets, reached)):
        return reached
    circles, points = _shapes_of(things, "ones", *rule), _shapes_of(targets, "others", *target_rule)
    dim = circles.cores.shape[1] // 2
    reach = np.broadcast_to(circles.radii, len(things))
    within = neighbors(circles.cores[:, :dim], reach, other=points.cores[:, : points.cores.shape[1] // 2])
    found = np.column_stack((within.i, within.j))
    if sort == "distance":
        found = found[np.lexsort((within.distance, within.i))]
    for one, other in found.tolist():
        reached[one].append(targets[other])
    return reached


# -----------------------------------------------------------------------------------------------------------
# What to read of the objects of a list.


def _read_as(
    things: list[Any], name: str, place: Place, radius: Measure | None, size: Measure | None, rect: Any
) -> tuple[list[Any], _Rule]:
    """The objects, or their shapes, and what to read of them."""
    some_have = radius is size is rect is None and any(map(_may_have_shape, set(map(type, things))))
    if some_have and any(map(_shape_of, {type(one): one for one in things}.values())):
        return _shapes_among(things, name)
    return things, _rule_of(things[0], name, place, radius, size, rect)


def _rule_of(
    thing: Any, name: str, place: Place, radius: Measure | None, size: Measure | None, rect: Any
) -> _Rule:
    """What objects like this are; where their centre or rectangle is; and their radius or sides."""
    if radius is not None:
        return CIRCLES, _center_of(thing, place), radius
    if size is not None:
        return BOXES, _center_of(thing, place), size
    if rect is not None:
        return RECTANGLES, rect, 0.0
    if hasattr(thing, "rect"):
        return RECTANGLES, "rect", 0.0
    if rectangle_of(thing) is not None:
        return RECTANGLES, None, 0.0
    if _is_place(thing):
        return CIRCLES, _center_of(thing, place), 0.0
    raise TypeError(
        f"{name}[0] is {_named(thing)}: say how large it is by radius=, size= or rect=, "
        'the name of an attribute, a number or a function, such as radius="radius"'
    )


@cache
def _may_have_shape(kind: type) -> bool:
    """Whether `_shape_of` finds a shape: kept, as it takes longer than to read the rects of ten sprites."""
    return issubclass(kind, (Circle, Polygon)) or hasattr(kind, "shape")


def _shape_of(thing: Any) -> Any:
    """A circle or polygon of this library, or the shape of a body; None for anything else."""
    if isinstance(thing, (Circle, Polygon)):
        return thing
    shape = thing.shape if hasattr(type(thing), "shape") else None
    return shape if hasattr(shape, "moved_to") else None


def _shapes_among(things: list[Any], name: str) -> tuple[list[Any], _Rule]:
    """Circles, or boxes and rectangles as tuples, or both; of bodies and of this library."""
    shapes = [_shape_of(thing) or thing for thing in things]
    for k, shape in enumerate(shapes):
        if isinstance(shape, Polygon):
            raise TypeError(
                f"{name}[{k}] is a {type(shape).__name__}: colliding takes circles and boxes; pairs of any "
                "shapes are found by ShapeIndex(shapes).pairs(), those of bodies by world.update()"
            )
    circles = sum(isinstance(shape, Circle) for shape in shapes)
    if circles == len(shapes):
        return shapes, (CIRCLES, ("x", "y"), "radius")
    if circles:
        return shapes, (_SHAPES, None, 0.0)
    return [rectangle_of(shape) or shape for shape in shapes], (RECTANGLES, None, 0.0)


def _several(things: Any, name: str) -> list[Any]:
    if type(things) is list or (hasattr(type(things), "__iter__") and not isinstance(things, str)):
        several = list(things)
        # Two numbers are the coordinates of a point, four those of a rectangle.
        if len(several) < 2 or not isinstance(several[0], (int, float)):
            return several
    raise TypeError(f"{name} must be several objects; got {things!r}; give one as [{name[:-1]}]")


def _center_of(thing: Any, place: Place) -> Place | None:
    """Where the centre of objects like this is; None for one that is a centre itself."""
    if place != "pos" or hasattr(thing, "pos"):
        return place
    if hasattr(thing, "rect"):
        return "rect.center"
    if _is_place(thing):
        return None
    return "center" if hasattr(thing, "center") else place


# -----------------------------------------------------------------------------------------------------------
# Few objects: one kernel reads and compares them.  What it does not understand goes the way of all others,
# which also words the error.

_NO_RADII = np.zeros(1)
# So many comparisons take 0.1 ms; from here on reading all into arrays and a search take less.
_MOST_TESTS = 2**18
# So many are sorted by distance as they are found.
_MOST_TO_SORT = 256


def _few(
    things: list[Any],
    others: list[Any],
    rule: _Rule,
    other_rule: _Rule,
    margin: float,
    order: int,
    result: tuple[list[Any], list[Any], list[Any]],
) -> Any:
    """Whether there are few objects that the kernel knows; then it has found those within a margin.

    ``result`` is what goes into pairs, and the list that takes them, one object after the other.
    """
    kind = rule[0]
    if kind == _SHAPES or kind != other_rule[0] or len(things) * len(others) > _MOST_TESTS:
        return False
    if order == NEAREST_FIRST and len(others) > _MOST_TO_SORT:
        return False
    among = others is things
    a = _read_by(things, "ones", rule)
    b = a if among else _read_by(others, "others", other_rule)
    if a is None or b is None:
        return False
    return near_objects(*a, *b, (kind, among, margin, order), *result)


def _read_by(things: list[Any], name: str, rule: _Rule) -> Any:
    """What the kernel reads of objects, and how; None if their measure is none that it knows."""
    kind, place, measure = rule
    places: list[Any] = things
    how = NAMED
    if type(place) is not str:
        places, place, how = _values(things, name, place, "rect" if kind == RECTANGLES else "at"), "", ITSELF
    elif "." in place:
        place, how = place.split("."), DOTTED
    if isinstance(measure, (int, float)):
        return places, place, things, "", (how, NUMBER, float(measure), float(measure))
    if type(measure) is str and "." not in measure and places is things:
        return places, place, things, measure, (how, NAMED, 0.0, 0.0)
    is_pair = isinstance(measure, tuple)
    if is_pair and (kind != BOXES or not all(isinstance(side, str) for side in measure)):
        return None
    if not (is_pair or isinstance(measure, str) or callable(measure)):
        return None
    argument = "size" if kind == BOXES else "radius"
    return places, place, _values(things, name, measure, argument), "", (how, ITSELF, 0.0, 0.0)


# -----------------------------------------------------------------------------------------------------------
# Many objects: a search for bounds that overlap, and then the exact test.


def _touching(a: _Shapes, b: _Shapes | None, margin: float) -> PairArray:
    """The pairs that touch or are nearer than the margin, in order."""
    other = a if b is None else b
    bounds = _bounds(a, margin)
    found = pairs(bounds) if b is None else join(bounds, _bounds(other, 0.0))
    i, j = found[:, 0], found[:, 1]
    low, high = np.hsplit(a.cores[i], 2)
    other_low, other_high = np.hsplit(other.cores[j], 2)
    gaps = np.maximum(low - other_high, other_low - high)
    distances = np.hypot.reduce(np.maximum(gaps, 0.0), axis=1)
    limits = _radii(a, i) + _radii(other, j) + margin
    touching: PairArray = found[(gaps < 0.0).all(axis=1) | (distances < limits)]
    return touching


def _radii(shapes: _Shapes, rows: Any) -> Floats:
    return shapes.radii if len(shapes.radii) == 1 else shapes.radii[rows]


def _bounds(shapes: _Shapes, margin: float) -> Floats:
    """Bounds that are larger by a margin, never smaller by rounding."""
    wide = (shapes.radii + margin)[:, None]
    low, high = np.hsplit(shapes.cores, 2)
    return np.hstack((np.nextafter(low - wide, -np.inf), np.nextafter(high + wide, np.inf)))


# -----------------------------------------------------------------------------------------------------------
# Reading objects.


def _shapes_of(things: list[Any], name: str, kind: int, place: Any, measure: Any) -> _Shapes:
    if kind == _SHAPES:
        return _cores_of(things, name)
    if kind == RECTANGLES:
        return _Shapes(_boxes_of(_values(things, name, place, "rect"), name), _NO_RADII)
    centers = _rows(_values(things, name, place), name, "at")
    if kind == CIRCLES:
        radii = np.atleast_1d(_lengths_of(things, name, "radius", measure))
        return _Shapes(np.hstack((centers, centers)), radii)
    half = 0.5 * _sides_of(things, name, measure, centers.shape[1])
    return _Shapes(np.hstack((centers - half, centers + half)), _NO_RADII)


_FIXES = {
    "at": 'name the one that it has, such as at="position" or at=("x", "y")',
    **dict.fromkeys(
        ("radius", "size", "rect"),
        "name one that all have, or give a function; circles and rectangles in one call are lists of "
        "bp.Circle and of bp.Box, without radius=, size= and rect=",
    ),
}
"""What to do where an object lacks the attribute that an argument names."""


def _cores_of(shapes: list[Any], name: str) -> _Shapes:
    """Circles among boxes and rectangles."""
    radii = np.array([shape.radius if isinstance(shape, Circle) else 0.0 for shape in shapes])
    rects = [(shape.x, shape.y, 0, 0) if isinstance(shape, Circle) else shape for shape in shapes]
    return _Shapes(_boxes_of(rects, name), radii)


def _values(things: list[Any], name: str, what: Any, argument: str = "at") -> list[Any]:
    """What each object holds in an attribute, or in several, or a function says of it, or it is itself."""
    if what is None:
        return things
    if callable(what):
        return [what(thing) for thing in things]
    get = attrgetter(what) if isinstance(what, str) else attrgetter(*what)
    try:
        return [get(thing) for thing in things]
    except AttributeError:
        for k, thing in enumerate(things):
            try:
                get(thing)
            except AttributeError as error:
                raise TypeError(
                    f"{name}[{k}], {_named(thing)}, has no attribute {what!r} ({error}); {_FIXES[argument]}"
                ) from None
        raise


def _sides_of(things: list[Any], name: str, size: Any, dim: int) -> Floats:
    """``(n, dim)``, or what becomes it by broadcasting: the sides of boxes."""
    if isinstance(size, (tuple, list)):
        columns = [_lengths_of(things, name, "size", one) for one in size]
        sides = np.stack(np.broadcast_arrays(*columns), axis=-1)
    elif not isinstance(size, str) and not callable(size):
        sides = np.array([_lengths_of(things, name, "size", size)])
    else:
        values = _values(things, name, size, "size")
        sides = _rows(values, name, "size") if _is_place(values[0]) else _line(values, name, "size")[:, None]
        _check_signs(sides, name, "size")
    if sides.shape[-1] not in (1, dim):
        raise ValueError(f"size has {sides.shape[-1]} sides, the centres have {dim} coordinates")
    return sides


def _lengths_of(things: list[Any], name: str, argument: str, what: Any) -> Any:
    """``(n,)``, or one float for all: numbers of objects."""
    numbers: Any
    if isinstance(what, str) or callable(what):
        numbers = _line(_values(things, name, what, argument), name, argument)
    else:
        try:
            numbers = float(what)
        except (TypeError, ValueError):
            raise TypeError(
                f"{argument} must be a number, the name of an attribute or a function; got {what!r}"
            ) from None
        if not np.isfinite(numbers):
            raise ValueError(f"{argument} must be finite; got {what}")
    _check_signs(numbers, name, argument)
    return numbers


def _check_signs(numbers: Any, name: str, argument: str) -> None:
    if not np.all(np.asarray(numbers) >= 0.0):
        if isinstance(numbers, float):
            raise ValueError(f"{argument} must not be negative; got {numbers:g}")
        k = int(np.argwhere(~(numbers >= 0.0))[0, 0])
        raise ValueError(f"{argument} of {name}[{k}] must not be negative; got {numbers[k].tolist()}")


def _boxes_of(rects: list[Any], name: str) -> Floats:
    """``(n, 4)``: the edges of rectangles."""
    rows = []
    for k, rect in enumerate(rects):
        edges = rectangle_of(rect)
        if edges is None and isinstance(rect, (tuple, list)) and len(rect) == 4:
            edges = tuple(rect)  # x, y, width, height
        if edges is None:
            raise TypeError(f"{name}[{k}] must be or have a rectangle; got {_named(rect)}")
        rows.append(edges)
    boxes = _rows(rows, name, "rect")
    _check_signs(boxes[:, 2:], name, "width and height of the rectangle")
    boxes[:, 2:] += boxes[:, :2]
    return boxes


def _is_place(value: Any) -> bool:
    """Whether it is a vector or a tuple of two or three numbers."""
    return hasattr(type(value), "__getitem__") and hasattr(type(value), "__len__") and len(value) in (2, 3)


def _rows(values: list[Any], name: str, argument: str) -> Floats:
    """``(n, width)``: sequences of numbers, as long as the first."""
    width = len(values[0]) if hasattr(type(values[0]), "__len__") else 0
    read: Floats | None = plain_rows(values, POINTS)
    if read is not None and read.shape[1] == width:
        return read
    try:
        rows = np.fromiter(chain.from_iterable(values), np.float64)
        is_table = width > 0 and len(rows) == width * len(values)
        is_table = is_table and all(len(value) == width for value in values)
    except (TypeError, ValueError):
        is_table = False
    if not is_table:
        k = next(k for k, value in enumerate(values) if not _is_row(value, width))
        raise TypeError(f"{argument} of {name}[{k}] must be {width or 2} numbers; got {values[k]!r}")
    rows = rows.reshape(-1, width)
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        k = int(np.flatnonzero(~finite)[0])
        raise ValueError(f"{argument} of {name}[{k}] must be finite; got {values[k]!r}")
    return rows


def _is_row(value: Any, width: int) -> bool:
    try:
        return len([float(one) for one in value]) == width > 0
    except (TypeError, ValueError):
        return False


def _line(values: list[Any], name: str, argument: str) -> Floats:
    """``(n,)``: finite numbers."""
    try:
        numbers = np.fromiter(values, np.float64, len(values))
    except (TypeError, ValueError):
        for k, value in enumerate(values):
            try:
                float(value)
            except (TypeError, ValueError):
                raise TypeError(f"{argument} of {name}[{k}] must be a number; got {value!r}") from None
        raise
    if not np.isfinite(numbers).all():
        k = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"{argument} of {name}[{k}] must be finite; got {values[k]!r}")
    return numbers


def _named(value: Any) -> str:
    return f"a {type(value).__name__}"
