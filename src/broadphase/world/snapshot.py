"""Going back: all that a world is, kept aside and brought back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.shapes.kinds import Shape
from broadphase.world.body import Body
from broadphase.world.body_store import NOT_IN, BodyStore, Floats
from broadphase.world.events import Events, Found
from broadphase.world.listeners import MOVING, QUIET_MOVING, QUIET_STATIC, STATIC, Matcher
from broadphase.world.telling import Telling
from broadphase.world.tiles import TileMap
from broadphase.world.tracker import Crossed

# The arrays by row that are kept; the others say what the broad phase knows, which does not go back.
_KEPT = ("alive", "static", "sensor", "category", "mask", "group", "touched", "renewed")


@dataclass(frozen=True, slots=True, repr=False)
class Snapshot:
    """A moment of a world; see `World.snapshot`."""

    store: BodyStore
    columns: dict[str, npt.NDArray[Any]]
    x: Floats
    y: Floats
    forms: list[Shape]
    """Not turned."""
    angles: Floats
    bodies: list[Body | None]
    data: list[Any]
    gone: dict[int, Body]
    found: Found
    crossed: Crossed
    groups: list[frozenset[Any]]
    """The sets of tags by the numbers of then."""
    matcher: Matcher
    calls: tuple[Any, ...]
    untold: frozenset[Any]
    events: Events
    tiles: tuple[TileMap, TileMap] | None
    """The map, and a copy of it."""

    def __repr__(self) -> str:
        return f"<Snapshot of {int(self.columns['alive'].sum())} bodies>"


def snapshot(world: Telling, tiles: bool) -> Snapshot:
    """All of a world; see `World.snapshot`."""
    store = world._store
    n = len(store.bodies)
    return Snapshot(
        store,
        {name: getattr(store, name)[:n].copy() for name in _KEPT},
        store.x.copy(),
        store.y.copy(),
        [store.table.base(row) for row in range(n)],
        store.table.angles,
        list(store.bodies),
        [None if body is None else body.data for body in store.bodies],
        dict(store.gone),
        world._tracker.found,
        dict(world._tracker.crossed),
        world._listeners.groups,
        world._listeners.matcher,
        world._left + world._to_come(),
        frozenset(world._untold),
        world._events,
        (world.tiles, world.tiles.copy()) if tiles and world.tiles is not None else None,
    )


def restore(world: Telling, moment: Snapshot) -> None:
    """Back to a moment; see `World.restore`."""
    store = world._store
    if moment.store is not store:
        raise ValueError("the snapshot is of another world; restore it there")
    _bring_back_bodies(store, moment)
    _bring_back_rows(store, moment)
    store.retagged = True
    if moment.matcher is not world._listeners.matcher:
        store.touched[: len(store.bodies)] = store.alive[: len(store.bodies)]
    store.gone = dict(moment.gone)
    world._tracker.found = moment.found
    world._tracker.crossed = dict(moment.crossed)
    world._left = moment.calls
    world._untold = set(moment.untold)
    world._events = moment.events
    if moment.tiles is not None:
        world.tiles, kept = moment.tiles
        world.tiles.solid[:] = kept.solid
        if world.tiles.one_way is not None:
            world.tiles.one_way[:] = 0 if kept.one_way is None else kept.one_way
        world.tiles._copy_ground(kept)


def _bring_back_bodies(store: BodyStore, moment: Snapshot) -> None:
    """The handles: who is there, and who is not."""
    before = [*moment.bodies, *[None] * (len(store.bodies) - len(moment.bodies))]
    for row, (now, then) in enumerate(zip(store.bodies, before, strict=True)):
        if now is not None and now is not then:
            store.bury(now, row)
    for row, (body, data) in enumerate(zip(moment.bodies, moment.data, strict=True)):
        if body is not None:
            body._row, body._remains, body.data = row, None, data
    store.bodies = before
    store.shared = False


def _bring_back_rows(store: BodyStore, moment: Snapshot) -> None:
    """The arrays; and what the broad phase has to be told for it."""
    n, held = len(store.bodies), len(moment.bodies)
    alive = np.zeros(n, np.bool_)
    alive[:held] = moment.columns["alive"]
    group = store.group[:held].copy()
    for name, column in moment.columns.items():
        getattr(store, name)[:held] = column if name != "group" else _groups(store, moment)
        getattr(store, name)[held:n] = False if column.dtype == np.bool_ else getattr(store, name)[held:n]
    layer = _layers(store, n)
    known = store.index_id[:n] != NOT_IN
    stays = known & alive & (layer == store.layer[:n])
    stays[:held] &= group == store.group[:held]
    for row in np.flatnonzero(known & ~stays).tolist():
        store.leaving.append((int(store.layer[row]), int(store.index_id[row])))
        store.index_id[row] = NOT_IN
    store.layer[:n] = layer
    moved = alive & ~stays
    moved[:held] |= (store.x[:held] != moment.x) | (store.y[:held] != moment.y)
    for row, form in enumerate(moment.forms):
        if store.table.base(row) is not form:
            store.table.put(row, form)
            moved[row] = True
    turned = np.flatnonzero(store.table.angles[:held] != moment.angles)
    if len(turned):
        store.table.turn(turned, moment.angles[turned])
        store.any_round = True
        moved[turned] = True
    store.x[:held], store.y[:held] = moment.x, moment.y
    store.late[:n] |= moved
    store.many_late = True
    store.count_rows()


def _layers(store: BodyStore, n: int) -> npt.NDArray[np.int8]:
    """Where each body belongs."""
    hears = store.listeners.bits()[store.group[:n], 1] != 0
    moving, static = np.where(hears, MOVING, QUIET_MOVING), np.where(hears, STATIC, QUIET_STATIC)
    return np.where(store.static[:n], static, moving).astype(np.int8)


def _groups(store: BodyStore, moment: Snapshot) -> npt.NDArray[np.int32]:
    """The numbers that the bodies' sets of tags have now."""
    group = np.where(moment.columns["alive"], moment.columns["group"], 0).astype(np.int32)
    if moment.groups is not store.listeners.groups:
        each, which = np.unique(group, return_inverse=True)
        now = [store.listeners.group_of(moment.groups[number]) for number in each.tolist()]
        group = np.array(now, np.int32)[which]
    return group
