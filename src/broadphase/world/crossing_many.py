"""What thousands of movers have crossed in one call, as one by one `World.move` would tell it."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.kernels.shapes.table import BOX
from broadphase.shapes.kinds import Shape
from broadphase.world.body_rows import Floats, Rows
from broadphase.world.crossing import Crossings, Legs, Shapes, crossed, first_of_each, legs_of
from broadphase.world.going import Going
from broadphase.world.layers import ALL
from broadphase.world.listeners import MOVING
from broadphase.world.movement_many import HitArrays, Movements

Numbers = npt.NDArray[np.integer[Any]]


class Before(NamedTuple):
    """What is remembered until the movers have moved."""

    starts: Floats
    """``(m, 2)``: where they were."""
    crossable: Rows
    """What may be crossed."""
    bounds: Floats
    """Where that was."""
    places: Floats


Passed: TypeAlias = Callable[[Going, Rows, Before, Movements, str], Crossings]


def before_moving(world: Going, rows: Rows, layers: tuple[int, ...]) -> Before:
    """To be asked before movers move among what is in these layers."""
    store = world._store
    n = len(store.bodies)
    wanted = np.zeros(n, np.bool_)
    if store.any_sensors:
        wanted |= store.sensor[:n]
    if layers != ALL:
        wanted |= store.layer[:n] == MOVING
    crossable = np.flatnonzero(wanted & store.alive[:n]).astype(np.int32)
    return Before(
        np.column_stack((store.x[rows], store.y[rows])),
        crossable,
        _bounds(world, crossable),
        np.column_stack((store.x[crossable], store.y[crossable])),
    )


def cross_many(
    world: Going,
    rows: Rows,
    before: Before,
    movements: Movements,
    response: str,
    passed: Passed | None = None,
) -> Movements:
    """The movements with what was crossed, which listeners will be told of.

    ``passed`` finds what does not block; without, the world has no period.
    """
    parts = []
    if response == "cross":
        parts.append(_solid(movements.hits))
    if len(before.crossable) and len(rows):
        parts.append((passed or _passed)(world, rows, before, movements, response))
    if not parts:
        return movements
    found = first_of_each(Crossings(*map(np.concatenate, zip(*parts, strict=True))))
    values = found.values
    movers, ids = found.movers.astype(np.int64), found.ids.astype(np.int64)
    world._tracker.note_many(rows[movers], ids, values[:, 1:3])
    tiles = np.full((len(ids), 2), -1)
    times, normals, places = values[:, 0], values[:, 1:3], values[:, 3:5]
    return movements._replace(crossed=HitArrays(movers, ids, tiles, times, normals, places))


def _solid(hits: HitArrays) -> Crossings:
    """Bodies that would have blocked."""
    bodies = hits.others >= 0
    values = np.column_stack((hits.times, hits.normals, hits.touches))
    return Crossings(hits.movers[bodies], hits.others[bodies], values[bodies])


def _passed(world: Going, rows: Rows, before: Before, movements: Movements, response: str) -> Crossings:
    """Sensors and bodies that do not block here."""
    store, table, crossable = world._store, world._store.table, before.crossable
    legs = legs_between(before, movements, response)
    after = _bounds(world, crossable)
    from broadphase.one_shot import join  # here, because few games move thousands at once

    near = join(reach_of(world, rows, legs), _hull(before.bounds, after))
    near = near[may_cross(world, rows[near[:, 0]], crossable[near[:, 1]])]
    # A mover meets those before it where they have come to.
    turn = np.full(len(store.bodies), len(rows))
    turn[rows] = np.arange(len(rows))
    gone_on = turn[crossable[near[:, 1]]] < near[:, 0]
    near[:, 1] += np.where(gone_on, len(crossable), 0)
    twice = np.concatenate((crossable, crossable))
    places = np.concatenate((before.places, np.column_stack((store.x[crossable], store.y[crossable]))))

    def shape(at: int) -> Shape:
        return table.form(int(twice[at])).moved_to(*places[at].tolist())

    columns = table.columns
    sizes = np.column_stack((np.zeros((len(rows), 2)), columns.width[rows], columns.height[rows]))
    return crossed(
        Shapes(columns.kinds[rows] == BOX, sizes, lambda at: table.form(int(rows[at]))),
        legs,
        Shapes(columns.kinds[twice] == BOX, np.concatenate((before.bounds, after)), shape),
        twice,
        by_leg(legs, near, len(rows)),
    )


def legs_between(before: Before, movements: Movements, response: str) -> Legs:
    """The ways of movers that have moved."""
    hits = movements.hits
    turns = slice(0, 0) if response == "cross" else slice(None)
    return legs_of(
        before.starts, movements.places, hits.movers[turns], hits.touches[turns], hits.times[turns]
    )


def may_cross(world: Going, movers: Rows, others: Rows) -> npt.NDArray[np.bool_]:
    """Of movers and others row by row: which somebody is told of."""
    store = world._store
    may: npt.NDArray[np.bool_] = movers != others
    if store.any_sets:
        may &= store.category[movers] & store.mask[others] != 0
        may &= store.category[others] & store.mask[movers] != 0
    may &= store.sensor[others] | world._tracker.concerned(np.column_stack((movers, others)))
    return may


def reach_of(world: Going, rows: Rows, legs: Legs) -> Floats:
    """The bounds of each mover's whole way, and a hair more."""
    first = np.searchsorted(legs.movers, np.arange(len(rows)))
    low = np.minimum.reduceat(np.minimum(legs.ways[:, :2], legs.ways[:, 2:]), first)
    high = np.maximum.reduceat(np.maximum(legs.ways[:, :2], legs.ways[:, 2:]), first)
    places = np.column_stack((world._store.x[rows], world._store.y[rows]))
    own = world._store.table.bounds(rows) - np.hstack((places, places))
    reach = np.hstack((low, high)) + own
    hair = 1e-9 * np.abs(np.hstack((reach, own))).max(axis=1, keepdims=True)
    return np.hstack((reach[:, :2] - hair, reach[:, 2:] + hair))


def _bounds(world: Going, rows: Rows) -> Floats:
    return world._store.table.bounds(rows).astype(np.float64, copy=False)


def _hull(a: Floats, b: Floats) -> Floats:
    return np.hstack((np.minimum(a[:, :2], b[:, :2]), np.maximum(a[:, 2:], b[:, 2:])))


def by_leg(legs: Legs, near: Numbers, count: int) -> Numbers:
    """Rows ``leg, other`` from rows ``mover, other``."""
    starts = np.searchsorted(legs.movers, np.arange(count + 1))
    parts = np.diff(starts)[near[:, 0]]
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.column_stack((np.repeat(starts[near[:, 0]], parts) + number, np.repeat(near[:, 1], parts)))
