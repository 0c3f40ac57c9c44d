"""What thousands of movers have crossed in one call, as one by one `World.move` would tell it."""

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.shapes.table import BOX
from broadphase.shapes.kinds import Shape
from broadphase.world.bodies import Floats, Rows
from broadphase.world.crossing import Crossings, Legs, Shapes, crossed, first_of_each, legs_of
from broadphase.world.movement_many import HitArrays, Movements
from broadphase.world.state import State
from broadphase.world.tags import ALL, MOVING

Numbers = npt.NDArray[np.integer[Any]]


class Before(NamedTuple):
    """What is remembered until the movers have moved."""

    starts: Floats
    """``(m, 2)``: where they were."""
    crossable: Rows
    """What may be crossed."""
    lets_through: npt.NDArray[np.bool_]
    """By row: whether a body does not block those that are no sensors."""
    bounds: Floats
    """Where that was."""
    places: Floats


def before_moving(state: State, rows: Rows, layers: tuple[int, ...], unseen: Collection[int] = ()) -> Before:
    """To be asked before movers move among what is in these layers and not unseen."""
    store = state.store
    n = len(store.bodies)
    wanted = np.zeros(n, np.bool_)
    if store.sensors:
        wanted |= store.sensor[:n]
    if layers != ALL:
        wanted |= store.layer[:n] == MOVING
    lets_through = wanted
    if store.sensor[rows].any():  # a moving sensor crosses all bodies
        wanted = np.ones(n, np.bool_)
    wanted = wanted & store.alive[:n]
    wanted[list(unseen)] = False
    crossable = np.flatnonzero(wanted).astype(np.int32)
    return Before(
        np.column_stack((store.x[rows], store.y[rows])),
        crossable,
        lets_through,
        _bounds(state, crossable),
        np.column_stack((store.x[crossable], store.y[crossable])),
    )


def cross_many(state: State, rows: Rows, before: Before, movements: Movements, response: str) -> Movements:
    """The movements with what was crossed, which listeners will be told of."""
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
    """Bodies that would have blocked."""
    bodies = hits.others >= 0
    values = np.column_stack((hits.times, hits.normals, hits.touches))
    return Crossings(hits.movers[bodies], hits.others[bodies], values[bodies])


def _passed(state: State, rows: Rows, before: Before, movements: Movements, response: str) -> Crossings:
    """Sensors and bodies that do not block here, and their images."""
    from broadphase.one_shot import join  # here, because few games move thousands at once

    store, space, crossable = state.store, state.space, before.crossable
    table = store.table
    legs = _legs_between(before, movements, response)
    reach = _reach_of(state, rows, legs)
    of, turns = space.turns_near(reach)
    # Who stands where: each as it was when the call began, and behind all of these as it is now.
    bounds = np.concatenate((before.bounds, _bounds(state, crossable)))
    places = np.concatenate((before.places, np.column_stack((store.x[crossable], store.y[crossable]))))
    near = join(reach[of] - np.tile(space.shift(turns), 2), _hull(*np.split(bounds, 2)))
    movers, shift, others = of[near[:, 0]], space.shift(turns[near[:, 0]]), crossable[near[:, 1]]
    met = _may_cross(state, before, rows[movers], others)
    movers, shift, others, at = movers[met], shift[met], others[met], near[met, 1]
    # A mover meets those before it where they have come to.
    turn = np.full(len(store.bodies), len(rows))
    turn[rows] = np.arange(len(rows))
    at = at + np.where(turn[others] < movers, len(crossable), 0)
    places, bounds = places[at] + shift, bounds[at] + np.tile(shift, 2)

    def shape(number: int) -> Shape:
        return table.form(int(others[number])).moved_to(*places[number].tolist())

    columns = table.columns
    sizes = np.column_stack((np.zeros((len(rows), 2)), columns.width[rows], columns.height[rows]))
    return crossed(
        Shapes(columns.kinds[rows] == BOX, sizes, lambda at: table.form(int(rows[at]))),
        legs,
        Shapes(columns.kinds[others] == BOX, bounds, shape),
        others,
        _by_leg(legs, np.column_stack((movers, np.arange(len(movers)))), len(rows)),
    )


def _legs_between(before: Before, movements: Movements, response: str) -> Legs:
    """The ways of movers that have moved."""
    hits = movements.hits
    turns = slice(0, 0) if response == "cross" else slice(None)
    return legs_of(
        before.starts, movements.places, hits.movers[turns], hits.touches[turns], hits.times[turns]
    )


def _may_cross(state: State, before: Before, movers: Rows, others: Rows) -> npt.NDArray[np.bool_]:
    """Of movers and others row by row: which somebody is told of."""
    store = state.store
    may: npt.NDArray[np.bool_] = (movers != others) & (before.lets_through[others] | store.sensor[movers])
    if store.ruled:
        may &= store.category[movers] & store.mask[others] != 0
        may &= store.category[others] & store.mask[movers] != 0
    may &= (
        store.sensor[others]
        | store.sensor[movers]
        | state.contacts.concerned(np.column_stack((movers, others)))
    )
    return may


def _reach_of(state: State, rows: Rows, legs: Legs) -> Floats:
    """The bounds of each mover's whole way, and a hair more."""
    first = np.searchsorted(legs.movers, np.arange(len(rows)))
    low = np.minimum.reduceat(np.minimum(legs.ways[:, :2], legs.ways[:, 2:]), first)
    high = np.maximum.reduceat(np.maximum(legs.ways[:, :2], legs.ways[:, 2:]), first)
    places = np.column_stack((state.store.x[rows], state.store.y[rows]))
    own = state.store.table.bounds(rows) - np.hstack((places, places))
    reach = np.hstack((low, high)) + own
    hair = 1e-9 * np.abs(np.hstack((reach, own))).max(axis=1, keepdims=True)
    return np.hstack((reach[:, :2] - hair, reach[:, 2:] + hair))


def _bounds(state: State, rows: Rows) -> Floats:
    return state.store.table.bounds(rows).astype(np.float64, copy=False)


def _hull(a: Floats, b: Floats) -> Floats:
    return np.hstack((np.minimum(a[:, :2], b[:, :2]), np.maximum(a[:, 2:], b[:, 2:])))


def _by_leg(legs: Legs, near: Numbers, count: int) -> Numbers:
    """Rows ``leg, other`` from rows ``mover, other``."""
    starts = np.searchsorted(legs.movers, np.arange(count + 1))
    parts = np.diff(starts)[near[:, 0]]
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.column_stack((np.repeat(starts[near[:, 0]], parts) + number, np.repeat(near[:, 1], parts)))
