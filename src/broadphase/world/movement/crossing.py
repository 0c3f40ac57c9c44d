"""Sensors, and bodies that do not block: what movements cross.

A body is crossed if it would have been hit: at the first moment at which the mover overlaps it, at time 0 if
it starts in it.  That is part of the result of a movement, and noted for the listeners of the next update.
`kernels.movement.crossing` finds it from the path: the start, the places where the mover was stopped or
turned, and the end.
"""

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.movement.crossing import bounds_of_paths, cross_path, cross_paths, join_hits
from broadphase.kernels.shapes.table import ShapeColumns
from broadphase.runtime.arrays import Floats, Integers
from broadphase.world.bodies import Body, Ignored, Rows
from broadphase.world.broad_phase import Near
from broadphase.world.hits import Hit, Movement
from broadphase.world.space import starts_of
from broadphase.world.state import State
from broadphase.world.tiles import NO_TILES

_new = tuple.__new__  # a named tuple in half the time

# Room for so many results at a time, if no mover has more bodies near; only what is written takes memory.
_CAPACITY = 1 << 20


# ---- one body


class Start(NamedTuple):
    """A mover before its movement."""

    shapes: ShapeColumns
    row: int
    """Its row among the shapes, wherever they are."""
    x: float
    y: float


def cross(
    state: State,
    body: Body,
    start: Start,
    movement: Movement,
    passed: Collection[int],
    ignored_hits: list[Hit],
) -> Movement:
    """The movement with the bodies that it crossed, which are noted for listeners.

    ``passed`` are the rows of bodies near the path that do not block.
    """
    bends: list[tuple[float, float, float]] = []
    hits: list[Hit] = []
    for hit in (*movement.hits, *ignored_hits):
        if hit.response != "cross":
            bends.append((*hit.touch, hit.time))
        elif isinstance(hit.other, Body) and hit.other.alive:
            hits.append(hit)
    crossed = noted_crossings(state, body.id, start, bends, (movement.x, movement.y), passed, hits)
    return _new(Movement, (*movement[:3], crossed, movement.reached)) if crossed else movement


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
        # From a flat list in half the time of a list of rows.
        path = np.array([start.x, start.y, 0.0, *chain(*bends), *end, 1.0]).reshape(-1, 3)
        hits = [*hits, *_passed_by_one(state, start, path, sorted(passed))]
    if len(hits) > 1:
        first: dict[Body, Hit] = {}
        for hit in sorted(hits, key=lambda hit: (hit.time, hit.other.id)):
            first.setdefault(hit.other, hit)
        hits = [*first.values()]
    for hit in hits:
        state.contacts.note(row, hit.other.id, hit.normal)
    return tuple(hits)


def _passed_by_one(state: State, start: Start, path: Floats, rows: list[int]) -> list[Hit]:
    """The hits of those bodies near the path that the body has crossed."""
    store, ids = state.store, [row for row in rows if state.store.alive.item(row)]
    values = np.empty((len(ids), 5))
    cross_path(
        *(start.shapes, start.row, path, store.table.columns, np.array(ids, np.int32)),
        *(state.space.lengths, NO_TILES, values),
    )
    bodies: list[Any] = store.bodies
    return [
        _new(Hit, (bodies[row], time, (nx, ny), (x, y), "cross"))
        for row, (time, nx, ny, x, y) in zip(ids, values.tolist(), strict=True)
        if time <= 1.0
    ]


# ---- many bodies


class Paths(NamedTuple):
    """The paths of movers, as kernels take them."""

    rows: Rows
    starts: Floats
    """``(m, 2)``, as are the ends."""
    ends: Floats
    bends: Floats
    """``(b, 3)``: the places where movers were stopped or turned, and the times."""
    first_bends: Integers
    """The bends of mover ``m`` are ``first_bends[m]:first_bends[m + 1]``."""

    def bounds(self, columns: ShapeColumns) -> Floats:
        """``(m, 4)``: the bounds of each mover's whole path, and a little more."""
        out = np.empty((len(self.rows), 4))
        bounds_of_paths(columns, self[:], out)
        return out


def paths_of(rows: Rows, starts: Floats, ends: Floats, movers: Floats, bends: Floats) -> Paths:
    """Paths with these bends, which are in order of the ``movers`` and, for each, in order of time."""
    return Paths(rows, starts, ends, np.ascontiguousarray(bends), starts_of(movers, len(rows)))


def cross_many(state: State, paths: Paths, passes: int, near: Near | None, ignored: Ignored) -> Floats:
    """What movers that have moved crossed, as rows of hits by mover, time and body; it is not noted yet.

    A mover meets those before it where they are now, and those after it where they started.

    Parameters
    ----------
    state : State
    paths : Paths
    passes : int
        The bits of layers that do not block; sensors never do.
    near : Near or None
        What is near each path, if that is known.
    ignored : collection of int
        The rows of bodies that do not count.
    """
    store = state.store
    if not (len(paths.rows) and (passes or store.any_sensor)):
        return np.empty((0, 9))
    columns = store.table.columns
    number_of = np.full(len(store.bodies), -1, np.int32)
    number_of[paths.rows] = np.arange(len(paths.rows), dtype=np.int32)
    if near is None:
        near = state.broad_phase.near_movers(paths.rows, paths.bounds(columns), 0, passes)
    tags = store.group, store.tag_sets.bits
    parts, begin, total = [], 0, int(near.first[-1])
    capacity = total if total <= _CAPACITY else max(int(np.diff(near.first).max()), _CAPACITY)
    while begin < len(paths.rows):
        out = np.empty((capacity, 9))
        known = store.marks, tags, passes, paths[:], begin, near[:], number_of, state.space.lengths
        begin, found = cross_paths(columns, *known, NO_TILES, out)
        parts.append(out[:found])
    rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return _wanted(state, paths, rows, ignored) if len(rows) else rows


def _wanted(state: State, paths: Paths, rows: Floats, ignored: Ignored) -> Floats:
    """The rows without bodies that are ignored, and without what nobody listens to."""
    store = state.store
    kept = np.ones(len(rows), np.bool_)
    if ignored:
        kept &= ~np.isin(rows[:, 5], list(ignored))
    if not store.tag_sets.exact:
        own, other = paths.rows[rows[:, 8].astype(np.int64)], rows[:, 5].astype(np.int32)
        concerned = state.contacts.concerned(np.column_stack((own, other)))
        kept &= concerned | store.sensor[own] | store.sensor[other]
    return rows if kept.all() else rows[kept]


def with_solid(crossed: Floats, hits: Floats) -> Floats:
    """What was crossed, and the bodies that would have blocked, in order."""
    solid = hits[hits[:, 5] >= 0.0]
    both = np.empty((len(solid) + len(crossed), 9))
    join_hits(solid, crossed, both)
    return both
