"""What is passed on the way without being stopped: sensors, and whatever else does not block.

The way of a body is a row of straight legs, from its start over all places at which it was stopped or turned
to its end.  Each leg is held against what is near by the very test that blocks, so that what is told to be
crossed is what would have been hit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.movement import travel_shapes
from broadphase.kernels.movement.cross import cross_rows
from broadphase.shapes.kinds import Box, Shape
from broadphase.shapes.table import columns_of
from broadphase.world.depenetration import NO_TILES

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]

_FIRST = np.zeros(1, np.int64)
_Values = tuple[float, float, float, float, float]


class Legs(NamedTuple):
    """The ways of many movers in straight parts, by mover, then in order."""

    movers: Integers
    """``(l,)``"""
    ways: Floats
    """``(l, 4)``: from where to where."""
    times: Floats
    """``(l, 2)``: from when to when, in 0..1 of the whole way."""


class Crossings(NamedTuple):
    """Who passed what, each once, by mover, then by time, then by id."""

    movers: Integers
    ids: Integers
    values: Floats
    """``(h, 5)``: time, normal and place, as a hit has them."""


def legs_of(starts: Floats, ends: Floats, movers: Integers, bends: Floats, times: Floats) -> Legs:
    """The ways from starts to ends over the places where movers were stopped or turned.

    Parameters
    ----------
    starts, ends : numpy.ndarray
        ``(m, 2)``
    movers, bends, times : numpy.ndarray
        ``(b,)``, ``(b, 2)`` and ``(b,)``, for each mover by time.

    Examples
    --------
    >>> one, none = np.array([[0.0, 0.0]]), np.empty((0, 2))
    >>> legs_of(one, one + 4, np.array([], int), none, none[:, 0]).ways.tolist()
    [[0.0, 0.0, 4.0, 4.0]]
    >>> legs_of(one, one + 4, np.array([0]), one + 3, np.array([0.5])).times.tolist()
    [[0.0, 0.5], [0.5, 1.0]]
    """
    each = np.arange(len(starts))
    who = np.concatenate((each, movers, each))
    order = np.argsort(who, kind="stable")
    who = who[order]
    places = np.concatenate((starts, bends, ends))[order]
    at = np.concatenate((np.zeros(len(starts)), times, np.ones(len(starts))))[order]
    ways = np.hstack((places[:-1], places[1:]))
    first = np.diff(who, prepend=-1)[:-1] != 0
    kept = (who[1:] == who[:-1]) & (first | (ways[:, :2] != ways[:, 2:]).any(axis=1))
    return Legs(who[:-1][kept], ways[kept], np.column_stack((at[:-1], at[1:]))[kept])


class Shapes(NamedTuple):
    """Movers, or what they may pass."""

    boxes: npt.NDArray[np.bool_]
    """``(n,)``: whether each is a box."""
    bounds: Floats
    """``(n, 4)``; of movers rows ``0, 0, width, height``."""
    shape: Callable[[int], Shape]
    """The shape of one of them; of a mover only the form counts."""


def crossed(movers: Shapes, legs: Legs, others: Shapes, ids: Integers, pairs: Integers) -> Crossings:
    """Which of the others each mover passes on its way, or is in at its start.

    Parameters
    ----------
    movers, others : Shapes
    legs : Legs
    ids : numpy.ndarray
        ``(n,)``: the name of each of the others; one that stands at two places comes twice.
    pairs : numpy.ndarray
        ``(k, 2)``: leg, number of the other.

    Examples
    --------
    >>> square, coins = Box(0, 0, 1, 1), [Box(5, 0, 1, 1), Box(9, 9, 1, 1)]
    >>> mover = mover_shapes([square])
    >>> others = Shapes(np.ones(2, bool), np.array([coin.bounds for coin in coins]), coins.__getitem__)
    >>> legs = Legs(np.array([0]), np.array([[0.0, 0.0, 8.0, 0.0]]), np.array([[0.0, 1.0]]))
    >>> found = crossed(mover, legs, others, np.array([3, 4]), np.array([[0, 0], [0, 1]]))
    >>> found.ids.tolist(), found.values.tolist()
    ([3], [[0.5, -1.0, 0.0, 4.0, 0.0]])
    """
    values = np.empty((len(pairs), 5))
    who = legs.movers[pairs[:, 0]]
    of_boxes = movers.boxes[who] & others.boxes[pairs[:, 1]]
    rows = np.hstack((legs.ways[:, :2], movers.bounds[legs.movers, 2:], legs.ways[:, 2:]))
    some = np.empty((int(of_boxes.sum()), 5))
    cross_rows(rows, others.bounds, np.ascontiguousarray(pairs[of_boxes], np.int64), some)
    values[of_boxes] = some
    for k in np.flatnonzero(~of_boxes).tolist():
        leg, other = pairs[k].tolist()
        x, y, goal_x, goal_y = legs.ways[leg].tolist()
        shape = movers.shape(who.item(k)).moved_to(x, y)
        values[k] = _shapes(shape, goal_x, goal_y, others.shape(other))
    return first_of_each(_on_the_whole_way(legs, ids, pairs, values))


def mover_shapes(forms: list[Shape]) -> Shapes:
    """Movers of any form."""
    sizes = [(0.0, 0.0, form.width, form.height) if isinstance(form, Box) else (0.0,) * 4 for form in forms]
    boxes = np.array([isinstance(form, Box) for form in forms], np.bool_)
    return Shapes(boxes, np.array(sizes).reshape(-1, 4), forms.__getitem__)


def first_of_each(found: Crossings) -> Crossings:
    """In order, and of several that tell of the same two only the first."""
    movers, ids, values = found
    order = np.lexsort((values[:, 0], ids, movers))
    first = np.ones(len(order), np.bool_)
    first[1:] = (np.diff(movers[order]) != 0) | (np.diff(ids[order]) != 0)
    order = order[first]
    movers, ids, values = movers[order], ids[order], values[order]
    order = np.lexsort((ids, values[:, 0], movers))
    return Crossings(movers[order], ids[order], values[order])


def _shapes(shape: Shape, goal_x: float, goal_y: float, other: Shape) -> _Values:
    mover, table = columns_of(shape), columns_of(other)
    inside = np.empty((1, 7))
    if travel_shapes.overlapping(mover, table, _FIRST, NO_TILES, inside):
        nx, ny = inside[0, 3:5].tolist()
        return 0.0, nx, ny, shape.x, shape.y
    scratch = travel_shapes.shape_scratch()
    _, hit, (x, y) = travel_shapes.next_hit(
        mover, goal_x, goal_y, table, _FIRST, NO_TILES, travel_shapes.BEFORE_ALL, scratch
    )
    return hit[0], hit[5], hit[6], x, y


def _on_the_whole_way(legs: Legs, ids: Integers, pairs: Integers, values: Floats) -> Crossings:
    met = values[:, 0] <= 1.0
    leg, values = pairs[met, 0], values[met]
    begin, end = legs.times[leg].T
    values[:, 0] = begin + values[:, 0] * (end - begin)
    return Crossings(legs.movers[leg], ids[pairs[met, 1]], values)
