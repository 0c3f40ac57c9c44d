"""Finds the bodies that a movement crosses without being stopped: sensors, and others that do not block.

The path of a body is a sequence of straight segments, from its start through all places at which it was
stopped or turned, to its end.  Each segment is tested against nearby bodies with the same test that blocks,
so a body is reported as crossed exactly if it would have been hit.

`cross` is for one body, whose movement has gathered the bodies near its path; `cross_many` is for thousands,
and searches for them.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.api.one_shot import join
from broadphase.kernels.movement import sweep_shapes
from broadphase.kernels.movement.crossing import cross_path
from broadphase.kernels.movement.depenetration import overlapping_shapes
from broadphase.kernels.movement.sweep import cross_rows
from broadphase.kernels.shapes.table import BOX, ShapeColumns
from broadphase.world.bodies import ALL, MOVING, Body, Rows
from broadphase.world.hits import Hit, HitArrays, Movement, Movements
from broadphase.world.space import placed_columns
from broadphase.world.state import State
from broadphase.world.tiles import NO_TILES

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]

_Values = tuple[float, float, float, float, float]


# ---- paths


class Legs(NamedTuple):
    """The straight segments of the paths of many movers, by mover, then in order."""

    movers: Integers
    """``(l,)``"""
    segments: Floats
    """``(l, 4)``: start and end."""
    times: Floats
    """``(l, 2)``: the times of start and end, in 0..1 of the whole path."""


class Crossings(NamedTuple):
    """The bodies that movers crossed, each once a mover, by mover, then by time, then by id."""

    movers: Integers
    ids: Integers
    values: Floats
    """``(h, 5)``: time, normal and place, as a hit has them."""


def legs_of(starts: Floats, ends: Floats, movers: Integers, bends: Floats, times: Floats) -> Legs:
    """The paths from starts to ends through the places where movers were stopped or turned.

    Parameters
    ----------
    starts, ends : numpy.ndarray
        ``(m, 2)``
    movers, bends, times : numpy.ndarray
        ``(b,)``, ``(b, 2)`` and ``(b,)``, for each mover by time.

    Examples
    --------
    >>> one, none = np.array([[0.0, 0.0]]), np.empty((0, 2))
    >>> legs_of(one, one + 4, np.array([], int), none, none[:, 0]).segments.tolist()
    [[0.0, 0.0, 4.0, 4.0]]
    >>> legs_of(one, one + 4, np.array([0]), one + 3, np.array([0.5])).times.tolist()
    [[0.0, 0.5], [0.5, 1.0]]
    """
    each = np.arange(len(starts))
    movers_of = np.concatenate((each, movers, each))
    order = np.argsort(movers_of, kind="stable")
    movers_of = movers_of[order]
    places = np.concatenate((starts, bends, ends))[order]
    at = np.concatenate((np.zeros(len(starts)), times, np.ones(len(starts))))[order]
    segments = np.hstack((places[:-1], places[1:]))
    first = np.diff(movers_of, prepend=-1)[:-1] != 0
    kept = (movers_of[1:] == movers_of[:-1]) & (first | (segments[:, :2] != segments[:, 2:]).any(axis=1))
    return Legs(movers_of[:-1][kept], segments[kept], np.column_stack((at[:-1], at[1:]))[kept])


def crossed(
    movers: ShapeColumns, legs: Legs, others: ShapeColumns, bounds: Floats, ids: Integers, pairs: Integers
) -> Crossings:
    """Which of the others each mover crosses on its path, or starts in.

    Parameters
    ----------
    movers : ShapeColumns
        At any place.
    legs : Legs
    others, bounds : ShapeColumns, numpy.ndarray
        ``bounds`` are ``(n, 4)``.
    ids : numpy.ndarray
        ``(n,)``: the id of each of the others; one with two images comes twice.
    pairs : numpy.ndarray
        ``(k, 2)``: leg, number of the other.

    Examples
    --------
    >>> from broadphase.geometry.shapes import Box
    >>> from broadphase.geometry.table import columns_of, table_of
    >>> square, coins = columns_of(Box(0, 0, 1, 1)), table_of([Box(5, 0, 1, 1), Box(9, 9, 1, 1)])
    >>> legs = Legs(np.array([0]), np.array([[0.0, 0.0, 8.0, 0.0]]), np.array([[0.0, 1.0]]))
    >>> ids, pairs = np.array([3, 4]), np.array([[0, 0], [0, 1]])
    >>> found = crossed(square, legs, coins.columns, coins.bounds(), ids, pairs)
    >>> found.ids.tolist(), found.values.tolist()
    ([3], [[0.5, -1.0, 0.0, 4.0, 0.0]])
    """
    values = np.empty((len(pairs), 5))
    movers_of = legs.movers[pairs[:, 0]]
    of_boxes = (movers.kinds[movers_of] == BOX) & (others.kinds[pairs[:, 1]] == BOX)
    sizes = movers.width[legs.movers], movers.height[legs.movers]
    rows = np.column_stack((legs.segments[:, :2], *sizes, legs.segments[:, 2:]))
    some = np.empty((int(of_boxes.sum()), 5))
    cross_rows(rows, bounds, np.ascontiguousarray(pairs[of_boxes], np.int64), some)
    values[of_boxes] = some
    for k in np.flatnonzero(~of_boxes).tolist():
        leg, other = pairs[k, 0], pairs[k, 1:].astype(np.int32)
        start, goal = np.split(legs.segments[leg], 2)
        values[k] = _first_on_leg(
            placed_columns(movers, movers_of[k : k + 1], *start[:, None]), goal, others, other
        )
    return first_of_each(_on_whole_paths(legs, ids, pairs, values))


def first_of_each(found: Crossings) -> Crossings:
    """The crossings in order, and only the first of each two bodies."""
    movers, ids, values = found
    order = np.lexsort((values[:, 0], ids, movers))
    first = np.ones(len(order), np.bool_)
    first[1:] = (np.diff(movers[order]) != 0) | (np.diff(ids[order]) != 0)
    order = order[first]
    movers, ids, values = movers[order], ids[order], values[order]
    order = np.lexsort((ids, values[:, 0], movers))
    return Crossings(movers[order], ids[order], values[order])


def _first_on_leg(mover: ShapeColumns, goal: Floats, others: ShapeColumns, other: Rows) -> _Values:
    """Where a mover on its way to a goal first meets another; ``mover`` and ``other`` are one each."""
    inside, start = np.empty((1, 7)), (mover.x.item(), mover.y.item())
    if overlapping_shapes(mover, others, other, NO_TILES, inside):
        nx, ny = inside[0, 3:5].tolist()
        return 0.0, nx, ny, *start
    obstacles = others, other, NO_TILES, sweep_shapes.BEFORE_ALL
    _, hit, (x, y), _ = sweep_shapes.next_hit(mover, *goal.tolist(), *obstacles)
    return hit[0], hit[5], hit[6], x, y


def _on_whole_paths(legs: Legs, ids: Integers, pairs: Integers, values: Floats) -> Crossings:
    met = values[:, 0] <= 1.0
    leg, values = pairs[met, 0], values[met]
    begin, end = legs.times[leg].T
    values[:, 0] = begin + values[:, 0] * (end - begin)
    return Crossings(legs.movers[leg], ids[pairs[met, 1]], values)


# ---- one body


class Start(NamedTuple):
    """A mover before its movement."""

    shapes: ShapeColumns
    row: int
    """Its row among the shapes, wherever they are."""
    x: float
    y: float


def cross(
    state: State, body: Body, start: Start, movement: Movement, passed: set[int], ignored_hits: list[Hit]
) -> Movement:
    """The movement with the bodies that it crossed, which are noted for listeners.

    ``passed`` are the rows of bodies near the path that do not block.
    """
    bends = [(*hit.touch, hit.time) for hit in movement.hits if hit.response != "cross"]
    hits = [
        hit
        for hit in (*movement.hits, *ignored_hits)
        if hit.response == "cross" and isinstance(hit.other, Body) and hit.other.alive
    ]
    crossed = noted_crossings(state, body.id, start, bends, (movement.x, movement.y), passed, hits)
    return movement._replace(crossed=crossed) if crossed else movement


def noted_crossings(
    state: State,
    row: int,
    start: Start,
    bends: Sequence[Sequence[float]],
    end: tuple[float, float],
    passed: Collection[int],
    hits: Sequence[Hit] = (),
) -> tuple[Hit, ...]:
    """What a body crossed on its path, each once, in order; it is noted for listeners.

    ``bends`` are ``x, y, time`` where it was stopped or turned, ``passed`` the rows of bodies near the path
    that do not block, and ``hits`` are crossings that are known.
    """
    if passed:
        path = np.array([(start.x, start.y, 0.0), *bends, (*end, 1.0)])
        hits = [*hits, *_passed_by_one(state, start, path, sorted(passed))]
    first: dict[Body, Hit] = {}
    for hit in sorted(hits, key=lambda hit: (hit.time, hit.other.id)):
        if hit.other not in first:
            first[hit.other] = hit
            state.contacts.note(row, hit.other.id, hit.normal)
    return tuple(first.values())


def _passed_by_one(state: State, start: Start, path: Floats, rows: list[int]) -> list[Hit]:
    """The hits of those bodies near the path that the body has crossed; one for each image."""
    store, space = state.store, state.space
    columns, known = store.table.columns, np.array([row for row in rows if store.alive[row]], np.int32)
    ids = known.tolist()
    if space.periodic:
        left, top = (path[:, :2].min(axis=0) - space.longest).tolist()
        right, bottom = (path[:, :2].max(axis=0) + space.longest).tolist()
        images = space.images_of(columns, known, (left, top, right, bottom))
        columns, known = space.gathered(columns, images), np.arange(len(images.rows), dtype=np.int32)
        ids = images.rows.tolist()
    values = np.empty((len(known), 5))
    cross_path(start.shapes, start.row, path, columns, known, NO_TILES, values)
    bodies: list[Any] = store.bodies
    return [
        Hit(bodies[row], time, (nx, ny), (x, y), "cross")
        for row, (time, nx, ny, x, y) in zip(ids, values.tolist(), strict=True)
        if time <= 1.0
    ]


# ---- many bodies


class Before(NamedTuple):
    """The state before a call moves bodies."""

    starts: Floats
    """``(m, 2)``: the places of the movers."""
    crossable: Rows
    """The rows of bodies that may be crossed."""
    lets_through: npt.NDArray[np.bool_]
    """By row: whether a body lets movers through that are not sensors."""
    bounds: Floats
    """Of the crossable bodies, as are the places."""
    places: Floats


def before_moving(
    state: State, rows: Rows, layers: tuple[int, ...], ignored_rows: Collection[int] = ()
) -> Before:
    """The state before movers move among the bodies of some layers."""
    store = state.store
    n = len(store.bodies)
    wanted = np.zeros(n, np.bool_)
    if store.any_sensor:
        wanted |= store.sensor[:n]
    if layers != ALL:
        wanted |= store.layer[:n] == MOVING
    lets_through = wanted
    if store.sensor[rows].any():  # a moving sensor crosses all bodies
        wanted = np.ones(n, np.bool_)
    wanted = wanted & store.alive[:n]
    wanted[list(ignored_rows)] = False
    crossable, table = np.flatnonzero(wanted).astype(np.int32), store.table
    return Before(
        np.column_stack((store.x[rows], store.y[rows])),
        crossable,
        lets_through,
        table.bounds(crossable),
        np.column_stack((store.x[crossable], store.y[crossable])),
    )


def cross_many(state: State, rows: Rows, before: Before, movements: Movements, response: str) -> Movements:
    """The movements with the bodies that were crossed, which are noted for listeners."""
    parts = []
    if response == "cross":
        parts.append(_solid(movements.hits))
    if len(before.crossable) and len(rows):
        parts.append(_passed(state, rows, before, movements, response))
    if not parts:
        return movements
    found = first_of_each(Crossings(*map(np.concatenate, zip(*parts, strict=True))))
    values = found.values
    movers, ids = found.movers.astype(np.int64), found.ids.astype(np.int64)
    state.contacts.note_many(rows[movers], ids, values[:, 1:3])
    tiles = np.full((len(ids), 2), -1)
    times, normals, places = values[:, 0], values[:, 1:3], values[:, 3:5]
    return movements._replace(crossed=HitArrays(movers, ids, tiles, times, normals, places))


def _solid(hits: HitArrays) -> Crossings:
    """The bodies that would have blocked."""
    bodies = hits.others >= 0
    values = np.column_stack((hits.times, hits.normals, hits.touches))
    return Crossings(hits.movers[bodies], hits.others[bodies], values[bodies])


def _passed(state: State, rows: Rows, before: Before, movements: Movements, response: str) -> Crossings:
    """The sensors, and bodies that do not block in this call, that were crossed; images included."""
    store, space, crossable = state.store, state.space, before.crossable
    table = store.table
    legs = _legs_between(before, movements, response)
    reach = _reach_of(state, rows, legs)
    of, turns = space.turns_near(reach)
    # The place of each body when the call began, followed by the place of each body now.
    bounds = np.concatenate((before.bounds, table.bounds(crossable)))
    places = np.concatenate((before.places, np.column_stack((store.x[crossable], store.y[crossable]))))
    near = join(reach[of] - np.tile(space.shift(turns), 2), _hull(*np.split(bounds, 2)))
    movers, shift, others = of[near[:, 0]], space.shift(turns[near[:, 0]]), crossable[near[:, 1]]
    met = _may_cross(state, before, rows[movers], others)
    movers, shift, others, at = movers[met], shift[met], others[met], near[met, 1]
    # A mover meets those before it at their new places.
    turn = np.full(len(store.bodies), len(rows))
    turn[rows] = np.arange(len(rows))
    at = at + np.where(turn[others] < movers, len(crossable), 0)
    places, bounds = places[at] + shift, bounds[at] + np.tile(shift, 2)

    own = placed_columns(table.columns, rows, *before.starts.T)
    met_columns = placed_columns(table.columns, others, *np.ascontiguousarray(places.T))
    pairs = _by_leg(legs, np.column_stack((movers, np.arange(len(movers)))), len(rows))
    return crossed(own, legs, met_columns, bounds, others, pairs)


def _legs_between(before: Before, movements: Movements, response: str) -> Legs:
    """The paths of movers that have moved."""
    hits = movements.hits
    turns = slice(0, 0) if response == "cross" else slice(None)
    return legs_of(
        before.starts, movements.places, hits.movers[turns], hits.touches[turns], hits.times[turns]
    )


def _may_cross(state: State, before: Before, movers: Rows, others: Rows) -> npt.NDArray[np.bool_]:
    """Whether a mover may cross another body in a way that has a listener, row by row."""
    store = state.store
    may: npt.NDArray[np.bool_] = (movers != others) & (before.lets_through[others] | store.sensor[movers])
    if store.any_ruled:
        may &= store.category[movers] & store.mask[others] != 0
        may &= store.category[others] & store.mask[movers] != 0
    may &= (
        store.sensor[others]
        | store.sensor[movers]
        | state.contacts.concerned(np.column_stack((movers, others)))
    )
    return may


def _reach_of(state: State, rows: Rows, legs: Legs) -> Floats:
    """The bounds of each mover's whole path, and a little more."""
    first = np.searchsorted(legs.movers, np.arange(len(rows)))
    low = np.minimum.reduceat(np.minimum(legs.segments[:, :2], legs.segments[:, 2:]), first)
    high = np.maximum.reduceat(np.maximum(legs.segments[:, :2], legs.segments[:, 2:]), first)
    places = np.column_stack((state.store.x[rows], state.store.y[rows]))
    own = state.store.table.bounds(rows) - np.hstack((places, places))
    reach = np.hstack((low, high)) + own
    pad = 1e-9 * np.abs(np.hstack((reach, own))).max(axis=1, keepdims=True)
    return np.hstack((reach[:, :2] - pad, reach[:, 2:] + pad))


def _hull(a: Floats, b: Floats) -> Floats:
    return np.hstack((np.minimum(a[:, :2], b[:, :2]), np.maximum(a[:, 2:], b[:, 2:])))


def _by_leg(legs: Legs, near: Integers, count: int) -> Integers:
    """Rows ``leg, other`` from rows ``mover, other``."""
    starts = np.searchsorted(legs.movers, np.arange(count + 1))
    parts = np.diff(starts)[near[:, 0]]
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.column_stack((np.repeat(starts[near[:, 0]], parts) + number, np.repeat(near[:, 1], parts)))
