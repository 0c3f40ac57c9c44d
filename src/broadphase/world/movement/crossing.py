"""Sensors, and bodies that do not block: what movements cross.

A body is crossed if it would have been hit: at the first moment at which the mover overlaps it, at time 0 if
it starts in it.  That is part of the result of a movement, and noted for the listeners of the next update.
`kernels.movement.crossing` finds it from the path: the start, the places where the mover was stopped or
turned, and the end.
"""

from collections.abc import Sequence

import numpy as np

from broadphase.kernels.movement.crossing import HITS, cross_path
from broadphase.kernels.shapes.table import ShapeColumns
from broadphase.world.bodies import Body, Rows
from broadphase.world.hits import Hit, Movement, hits_of
from broadphase.world.state import State
from broadphase.world.tiles import NO_TILES

_new = tuple.__new__  # a named tuple in half the time


def cross(
    state: State,
    body: Body,
    mover: tuple[ShapeColumns, int],
    start: tuple[float, float],
    movement: Movement,
    near: Rows,
    ignored_hits: list[Hit],
) -> Movement:
    """The movement with the bodies that it crossed, which are noted for listeners.

    ``mover`` are shapes and its row among them, ``near`` the rows of bodies near the path.
    """
    bends: list[tuple[float, ...]] = []
    hits: list[Hit] = []
    for hit in (*movement.hits, *ignored_hits):
        if hit.response != "cross":
            bends.append((hit.time, 0.0, 0.0, *hit.touch))
        elif isinstance(hit.other, Body) and hit.other.alive:
            hits.append(hit)
    if len(near):
        store, out = state.store, np.empty((len(near) + 1, 9))
        way = start, movement[:2], np.array(bends).reshape(-1, 5), HITS
        known = store.marks, store.table.columns, near, state.space.lengths, NO_TILES, out
        count = cross_path(*mover, body.id, way, *known)
        hits += hits_of(store.bodies, out[:count], "cross")
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
