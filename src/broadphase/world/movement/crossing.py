"""Sensors, and bodies that do not block: what movements cross.

A body is crossed if it would have been hit: at the first moment at which the mover overlaps it, at time 0 if
it starts in it.  That is part of the result of a movement, and noted for the listeners of the next update.
`kernels.movement.crossing` finds it from the path: the start, the places where the mover was stopped or
turned, and the end.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from broadphase.kernels.movement.crossing import HITS, bounds_of_paths, cross_path, cross_paths, join_hits
from broadphase.kernels.shapes.table import ShapeColumns
from broadphase.runtime.arrays import Floats, Integers
from broadphase.world.bodies import Body, Ignored, Rows
from broadphase.world.broad_phase import Near
from broadphase.world.hits import Hit, Movement, hits_of
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
    near: Rows,
    ignored_hits: list[Hit],
) -> Movement:
    """The movement with the bodies that it crossed, which are noted for listeners.

    ``near`` are the rows of bodies near the path.
    """
    bends: list[tuple[float, ...]] = []
    hits: list[Hit] = []
    for hit in (*movement.hits, *ignored_hits):
        if hit.response != "cross":
            bends.append((hit.time, 0.0, 0.0, *hit.touch))
        elif isinstance(hit.other, Body) and hit.other.alive:
            hits.append(hit)
    end = movement.x, movement.y
    if len(near):
        turns = np.array(bends).reshape(-1, 5)
        hits += crossings(state, body.id, start, end, turns, HITS, near)
    crossed = note_crossings(state, body.id, hits)
    return _new(Movement, (*movement[:3], crossed, movement.reached)) if crossed else movement


def note_crossings(state: State, row: int, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """What a body crossed, each once, in order; it is noted for listeners."""
    if len(hits) > 1:
        first: dict[Body, Hit] = {}
        for hit in sorted(hits, key=lambda hit: (hit.time, hit.other.id)):
            first.setdefault(hit.other, hit)
        hits = [*first.values()]
    for hit in hits if state.listeners.matcher.listeners else ():
        state.contacts.note(row, hit.other.id, hit.normal)
    return tuple(hits)


def crossings(
    state: State,
    row: int,
    start: Start,
    end: tuple[float, float],
    bends: Floats,
    columns: tuple[int, int],
    near: Rows,
) -> list[Hit]:
    """What a body crossed on its path, in order.

    ``bends`` are where it was stopped or turned, ``columns`` those of place and time there, and ``near`` the
    rows of bodies near the path.
    """
    store, out = state.store, np.empty((len(near) + 1, 9))
    count = cross_path(
        *(start.shapes, start.row, row, (start.x, start.y), end, bends, columns),
        *(store.marks, store.table.columns, near, state.space.lengths, NO_TILES, out),
    )
    return hits_of(store.bodies, out[:count], "cross")


# ---- many bodies


class Paths(NamedTuple):
    """The paths of movers, as kernels take them."""

    rows: Rows
    starts: Floats
    """``(m, 2)``, as are the ends."""
    ends: Floats
    bends: Floats
    """Where movers were stopped or turned, one row each."""
    columns: tuple[int, int]
    """Those of place and time in ``bends``."""
    first_bends: Integers
    """The bends of mover ``m`` are ``first_bends[m]:first_bends[m + 1]``."""

    def bounds(self, columns: ShapeColumns) -> Floats:
        """``(m, 4)``: the bounds of each mover's whole path, and a little more."""
        out = np.empty((len(self.rows), 4))
        bounds_of_paths(columns, self[:], out)
        return out


def cross_many(state: State, paths: Paths, passes: int, near: Near | None, ignored: Ignored = ()) -> Floats:
    """What movers that have moved crossed, as rows of hits by mover, time and body; it is not noted yet.

    A mover meets those before it where they are now, and those after it where they started.

    Parameters
    ----------
    state : State
    paths : Paths
    passes : int
        The bits of layers that do not block; sensors never do.
    near : Near or None
        What is near each path and counts, if that is known.
    ignored : collection of int
        The rows of bodies that do not count, if it is not.
    """
    store = state.store
    if not (len(paths.rows) and (passes or store.any_sensor)):
        return np.empty((0, 9))
    columns = store.table.columns
    number_of = np.full(len(store.bodies), -1, np.int32)
    number_of[paths.rows] = np.arange(len(paths.rows), dtype=np.int32)
    if near is None:
        near = state.broad_phase.near_movers(paths.rows, paths.bounds(columns), 0, passes)
        near = near.without(ignored) if ignored else near
    tags = store.group, store.tag_sets.bits
    parts, begin, total = [], 0, int(near.first[-1])
    capacity = total if total <= _CAPACITY else max(int(np.diff(near.first).max()), _CAPACITY)
    while begin < len(paths.rows):
        out = np.empty((capacity, 9))
        known = store.marks, tags, passes, paths[:], begin, near[:], number_of, state.space.lengths
        begin, found = cross_paths(columns, *known, NO_TILES, out)
        parts.append(out[:found])
    rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if store.tag_sets.exact or not len(rows):
        return rows
    mover_rows, other = paths.rows[rows[:, 8].astype(np.int64)], rows[:, 5].astype(np.int32)
    concerned = state.contacts.concerned(np.column_stack((mover_rows, other)))
    return rows[concerned | store.sensor[mover_rows] | store.sensor[other]]


def with_solid(crossed: Floats, hits: Floats) -> Floats:
    """What was crossed, and the bodies that would have blocked, in order."""
    solid = hits[hits[:, 5] >= 0.0]
    both = np.empty((len(solid) + len(crossed), 9))
    join_hits(solid, crossed, both)
    return both
