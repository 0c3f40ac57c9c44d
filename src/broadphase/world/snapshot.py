"""Snapshots: save the state of a world and restore it."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.geometry.shapes import Shape
from broadphase.kernels.movement.motion import list_many_replaced
from broadphase.world.bodies import Body, BodyStore, Floats
from broadphase.world.contacts import Events
from broadphase.world.dispatch import Dispatch
from broadphase.world.listeners import Matcher
from broadphase.world.state import State
from broadphase.world.tiles import TileMap

# The arrays by row that are saved; the others describe the state of the broad phase, which is not restored.
_KEPT = ("alive", "static", "sensor", "category", "mask", "group", "touched", "renewed")
_OF_CONTACTS = ("found", "overlaps", "crossed", "stopped")


@dataclass(frozen=True, slots=True, repr=False)
class Snapshot:
    """The saved state of a world; see `World.snapshot`."""

    store: BodyStore
    columns: dict[str, npt.NDArray[Any]]
    x: Floats
    y: Floats
    forms: list[Shape]
    """Their shapes, before they are turned."""
    angles: Floats
    bodies: list[Body | None]
    data: list[Any]
    gone: dict[int, Body]
    contacts: dict[str, Any]
    groups: list[frozenset[Any]]
    """The sets of tags by their numbers at that time."""
    matcher: Matcher
    calls: tuple[Any, ...]
    unheard_begins: frozenset[Any]
    events: Events
    tiles: tuple[TileMap, TileMap] | None
    """The map, and a copy of it."""

    def __repr__(self) -> str:
        return f"<Snapshot of {int(self.columns['alive'].sum())} bodies>"


def snapshot(state: State, dispatch: Dispatch, tiles: bool) -> Snapshot:
    """Save the state of a world; see `World.snapshot`."""
    store = state.store
    n = len(store.bodies)
    return Snapshot(
        store,
        {name: getattr(store, name)[:n].copy() for name in _KEPT},
        store.x[:n].copy(),
        store.y[:n].copy(),
        [store.table.base(row) for row in range(n)],
        store.table.angles[:n],
        list(store.bodies),
        [None if body is None else body.data for body in store.bodies],
        dict(store.gone),
        {name: copy(getattr(state.contacts, name)) for name in _OF_CONTACTS},
        store.tag_sets.groups,
        state.listeners.matcher,
        dispatch.remaining(),
        frozenset(dispatch.unheard_begins),
        dispatch.events,
        (state.tiles, state.tiles.copy()) if tiles and state.tiles is not None else None,
    )


def restore(state: State, dispatch: Dispatch, moment: Snapshot) -> None:
    """Restore a saved state; see `World.restore`."""
    if not isinstance(moment, Snapshot):
        raise TypeError(f"moment must be a Snapshot, as World.snapshot returns it; got {moment!r}")
    if moment.store is not state.store:
        raise ValueError("the snapshot is of another world; restore it there")
    try:
        _bring_back(state, dispatch, moment)
    except BaseException:  # interrupted: run again to the end, it leaves a sound world
        _bring_back(state, dispatch, moment)
        raise


def _bring_back(state: State, dispatch: Dispatch, moment: Snapshot) -> None:
    """Write the saved state; running it again after an interrupt gives the same result."""
    store = state.store
    _bring_back_bodies(store, moment)
    _bring_back_rows(store, moment)
    store.retagged = True
    if moment.matcher is not state.listeners.matcher:
        store.touched[: len(store.bodies)] |= store.alive[: len(store.bodies)]
    store.gone = dict(moment.gone)
    for name, known in moment.contacts.items():
        setattr(state.contacts, name, copy(known))
    dispatch.due, dispatch.done = moment.calls, 0
    dispatch.unheard_begins = set(moment.unheard_begins)
    dispatch.events = moment.events
    if moment.tiles is not None:
        state.tiles, kept = moment.tiles
        state.tiles.solid[:] = kept.solid
        if state.tiles.one_way is not None:
            state.tiles.one_way[:] = 0 if kept.one_way is None else kept.one_way
        state.tiles._copy_ground(kept)


def _bring_back_bodies(store: BodyStore, moment: Snapshot) -> None:
    """Restore the handles: which bodies are alive, and which are removed."""
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
    """Restore the arrays, and list the changes for the broad phase."""
    n, held = len(store.bodies), len(moment.bodies)
    new = {name: _as_then(getattr(store, name)[:n], column) for name, column in moment.columns.items()}
    new["group"][:held] = groups = _groups(store, moment)
    layer, alive = store.tag_sets.layers_of(new["group"], new["static"]), new["alive"]
    others = (layer != store.layer[:n]) | (alive != store.alive[:n])
    others[:held] |= groups != store.group[:held]
    moved = (store.x[:held] != moment.x) | (store.y[:held] != moment.y)
    moved |= store.table.angles[:held] != moment.angles
    reformed = [row for row, form in enumerate(moment.forms) if store.table.base(row) is not form]
    moved[reformed] = True
    # The lists first: after an interrupt from here on it is run again.
    entering = np.flatnonzero(others).astype(np.int32)
    list_many_replaced(store.marks, entering, store.layer[entering])
    list_many_replaced(store.marks, entering, layer[entering])
    store.have_moved(np.flatnonzero(moved & alive[:held]).astype(np.int32))
    for name, column in new.items():
        getattr(store, name)[:n] = column
    store.layer[:n] = layer
    for row in reformed:
        store.table.put(row, moment.forms[row])
    turned = np.flatnonzero(store.table.angles[:held] != moment.angles)
    if len(turned):
        store.table.turn(turned, moment.angles[turned])
    store.x[:held], store.y[:held] = moment.x, moment.y
    store.count_rows()


def _as_then(now: npt.NDArray[Any], then: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column as it was; rows that were added later are empty."""
    column: npt.NDArray[Any] = np.zeros_like(now) if now.dtype == np.bool_ else now.copy()
    column[: len(then)] = then
    return column


def _groups(store: BodyStore, moment: Snapshot) -> npt.NDArray[np.int32]:
    """The numbers that the bodies' sets of tags have now."""
    group = np.where(moment.columns["alive"], moment.columns["group"], 0).astype(np.int32)
    if moment.groups is not store.tag_sets.groups:
        each, which = np.unique(group, return_inverse=True)
        now = [store.tag_sets.group_of(moment.groups[number]) for number in each.tolist()]
        group = np.array(now, np.int32)[which]
    return group
