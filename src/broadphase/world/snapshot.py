"""Snapshots: save the state of a world and restore it.

A snapshot refers to what belongs to its world: bodies, their ``data``, listeners, the tile map.  A pickled
one names them: a body by its id, a listener by its tags.  `restore` looks for them in the world that it is
given, and makes the bodies that are missing there.
"""

import math
import pickle
import zlib
from collections.abc import Iterable
from io import BytesIO
from itertools import chain, zip_longest
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.geometry.shapes import Box, Circle, Polygon
from broadphase.geometry.table import Base, shapes_of
from broadphase.kernels.movement.motion import list_many_replaced
from broadphase.runtime.arrays import Floats
from broadphase.world.bodies import GONE, Body, BodyStore, Remains
from broadphase.world.contacts import Call, Contacts, Events, FoundContacts, Notes, none_found
from broadphase.world.dispatch import Dispatch, between
from broadphase.world.listeners import Listener, Matcher
from broadphase.world.state import State
from broadphase.world.tile_listeners import TileContact
from broadphase.world.tiles import TileMap

# The arrays by row that are saved; the others describe the state of the broad phase, which is not restored.
_KEPT = (
    *("alive", "static", "sensor", "category", "mask", "group", "layer", "touched", "renewed", "serial"),
    *("velocity_x", "velocity_y", "response", "one_way", "x", "y"),
)
_kept_of = attrgetter(*_KEPT)
_OF_STORE = ("retagged", "any_round", "any_sensor", "any_one_way", "_others")
# What a pickle begins with: another number for each other `_Moment`.
_FORMAT = 9


class _Moment(NamedTuple):
    """All that changes in a world, with references to what is its own."""

    store: BodyStore
    period: tuple[float | None, float | None] | None
    reach: tuple[Floats, Floats]
    columns: list[npt.NDArray[Any]]
    angles: Floats
    forms: list[Base]
    """Their shapes, before they are turned."""
    bodies: list[Body | None]
    data: list[Any]
    removed: dict[Body, Remains]
    """Removed bodies to which anything here refers."""
    gone: dict[int, Body]
    category_bits: dict[str, int]
    of_store: list[bool]
    found: FoundContacts
    notes: Notes
    matcher: Matcher
    """The listeners, and the sets of tags by the numbers of then."""
    calls: tuple[Call, ...]
    unheard_begins: frozenset[tuple[Listener, Body, Body]]
    inside: list[tuple[tuple[Any, Any, int], list[TileContact]]]
    """What listeners for tiles have been told of, each by its tags and its number among those for both."""
    events: Events
    tiles: tuple[TileMap | None, TileMap | None] | None
    """The map, and a copy of it."""


class Snapshot:
    """The saved state of a world; see `World.snapshot`.

    Pickled, a box or circle takes some 20 to 60 bytes; `World.restore` says what comes back elsewhere.
    """

    __slots__ = ("_count", "_kept")

    def __init__(self, count: int, kept: _Moment | bytes) -> None:
        self._count = count
        self._kept = kept

    def __reduce__(self) -> tuple[Any, ...]:
        kept = self._kept
        return Snapshot, (self._count, kept if isinstance(kept, bytes) else _packed(kept))

    def __repr__(self) -> str:
        return f"<Snapshot of {self._count} bodies>"


def snapshot(state: State, dispatch: Dispatch, tiles: bool) -> Snapshot:
    """Save the state of a world; see `World.snapshot`."""
    store, space, contacts = state.store, state.space, state.contacts
    bodies, calls, events = store.bodies[:], dispatch.remaining(), dispatch.events
    n = len(bodies)
    named = chain(
        *(store.gone.values(), events.ended._gone.values()),
        *(between(call)[1:] for call in calls if call[1] != "many"),
        *(bodies for _, *bodies in dispatch.unheard_begins),
        *(one.inside for one in dispatch.on_tiles.listeners),
    )
    moment = _Moment(
        store,
        space.period,
        (space.low, space.high),
        [column[:n].copy() for column in _kept_of(store)],
        store.table.angles[:n],
        store.table.bases[:n],
        bodies,
        [body and body.data for body in bodies],
        {body: body._was for body in named if not body.alive},
        dict(store.gone),
        store.category_bits,
        [getattr(store, name) for name in _OF_STORE],
        contacts.found,
        [*contacts.notes],
        state.listeners.matcher,
        calls,
        frozenset(dispatch.unheard_begins),
        [(key, [*one.inside.values()]) for key, one in _keyed(dispatch.on_tiles.listeners).items()],
        events,
        (state.tiles, state.tiles and state.tiles.copy()) if tiles else None,
    )
    return Snapshot(store.live, moment)


def restore(state: State, dispatch: Dispatch, moment: Snapshot) -> None:
    """Restore a saved state; see `World.restore`."""
    if not isinstance(moment, Snapshot):
        raise TypeError(f"moment must be a Snapshot, as World.snapshot returns it; got {moment!r}")
    then = moment._kept
    if isinstance(then, bytes) or then.store is not state.store:
        then = _unpacked(then if isinstance(then, bytes) else _packed(then), state)
    try:
        _bring_back(state, dispatch, then)
    except BaseException:  # interrupted: run again to the end, it leaves a sound world
        _bring_back(state, dispatch, then)
        raise


def _bring_back(state: State, dispatch: Dispatch, then: _Moment) -> None:
    """Write the saved state; running it again after an interrupt gives the same result."""
    store, contacts = state.store, state.contacts
    _bring_back_bodies(store, then)
    _bring_back_rows(state, then)
    for name, value in zip(_OF_STORE, then.of_store, strict=True):
        setattr(store, name, value)
    store.gone, store.category_bits = dict(then.gone), then.category_bits
    if then.matcher.listeners != state.listeners.matcher.listeners:
        store.touched[: len(store.bodies)] |= store.alive[: len(store.bodies)]
    contacts.found, contacts.notes, contacts.searched = then.found, [*then.notes], None
    dispatch.due, dispatch.done = then.calls, 0
    dispatch.unheard_begins = set(then.unheard_begins)
    inside = dict(then.inside)
    for key, listener in _keyed(dispatch.on_tiles.listeners).items():
        listener.inside = {contact.body: contact for contact in inside.get(key, ())}
    dispatch.events = then.events
    if then.tiles is not None:
        state.tiles, kept = then.tiles
        if state.tiles is not None and kept is not None:
            state.tiles._take_cells(kept)


def _keyed(listeners: Iterable[Any]) -> dict[tuple[Any, Any, int], Any]:
    """Listeners by their tags and their number among those for both."""
    keyed: dict[tuple[Any, Any, int], Any] = {}
    seen: dict[Any, int] = {}
    for one in listeners:
        tags = (one.a, one.b) if isinstance(one, Listener) else (one.tag, one.tile)
        seen[tags] = seen.get(tags, -1) + 1
        keyed[*tags, seen[tags]] = one
    return keyed


def _bring_back_bodies(store: BodyStore, then: _Moment) -> None:
    """Restore the handles: which bodies are alive, and which are removed."""
    before = [*then.bodies, *[None] * (len(store.bodies) - len(then.bodies))]
    if store.bodies != before:
        pairs = zip_longest(store.bodies, before)
        others = [(row, now, body) for row, (now, body) in enumerate(pairs) if now is not body]
        for row, now, _ in others:
            if now is not None:
                store.bury(now, row)
        for row, _, body in others:
            if body is not None:
                body._row, body._remains = row, None
        store.bodies, store.shared = before, False
    for body, was in then.removed.items():
        body._row, body._remains = GONE, was
    for body, data in zip(then.bodies, then.data, strict=True):
        if body is not None:
            body.data = data


def _bring_back_rows(state: State, then: _Moment) -> None:
    """Restore the arrays, and list the changes for the broad phase."""
    store, table = state.store, state.store.table
    n, held, matcher = len(store.bodies), len(then.bodies), then.matcher
    store.reserve(n)
    for row in range(len(table), held):  # rows that no body has used
        table.put(row, then.forms[row])
    columns = [column[:n] for column in _kept_of(store)]
    new = then.columns
    if n > held:  # rows that were added later are empty
        more = [np.zeros_like(one[held:]) if one.dtype == np.bool_ else one[held:] for one in columns]
        new = [np.concatenate(both) for both in zip(new, more, strict=True)]
    now, was = (dict(zip(_KEPT, values, strict=True)) for values in (columns, new))
    if matcher is not state.listeners.matcher:  # other listeners, or other numbers of sets of tags
        was["group"] = _groups(store, matcher.groups, was["group"], was["alive"])
        was["layer"] = store.tag_sets.layers_of(was["group"], was["static"])
    others = ((was["layer"] != now["layer"]) | (was["alive"] != now["alive"])).nonzero()[0]
    turned = (table.angles[:held] != then.angles).nonzero()[0]
    moved = (was["x"] != now["x"]) | (was["y"] != now["y"])
    reformed = []
    if table.bases[:held] != then.forms:
        reformed = [row for row, form in enumerate(then.forms) if table.bases[row] is not form]
    moved[turned] = moved[reformed] = True
    # The lists first: after an interrupt from here on it is run again.
    if len(others):
        entering = others.astype(np.int32)
        list_many_replaced(store.marks, entering, now["layer"][entering])
        list_many_replaced(store.marks, entering, was["layer"][entering])
    store.have_moved((moved & was["alive"]).nonzero()[0].astype(np.int32))
    for row in reformed:
        table.put(row, then.forms[row])
    if reformed or len(turned):
        rows = np.flatnonzero(table.angles[:held] != then.angles)
        if len(rows):
            table.turn(rows, then.angles[rows])
    for column, known in zip(columns, was.values(), strict=True):
        column[:] = known
    store.count_rows()


def _groups(
    store: BodyStore, groups: list[frozenset[Any]], group: npt.NDArray[Any], alive: npt.NDArray[Any]
) -> npt.NDArray[np.int32]:
    """The numbers that the bodies' sets of tags have now."""
    distinct, which = np.unique(np.where(alive, group, 0), return_inverse=True)
    now = [store.tag_sets.group_of(groups[number]) for number in distinct.tolist()]
    return np.array(now, np.int32)[which]


# -----------------------------------------------------------------------------------------------------------
# Pickled snapshots.


def _packed(then: _Moment) -> bytes:
    """A moment without its world."""
    file, tiles = BytesIO(), None if then.tiles is None else (None, then.tiles[1])
    nothing = Contacts(none_found(then.matcher), [])
    events = Events(nothing, nothing, nothing)
    portable = then._replace(bodies=[], data=[], forms=[], events=events, tiles=tiles)
    _Writer(file, then).dump((_FORMAT, portable, _sizes(then.forms)))
    return zlib.compress(file.getvalue(), 1)  # columns of one value, sizes, bools: to a third at once


def _unpacked(packed: bytes, state: State) -> _Moment:
    """A moment as one of this world."""
    store, reader = state.store, _Reader(BytesIO(zlib.decompress(packed)), state)
    then: _Moment
    known, then, sizes = reader.load()
    if known != _FORMAT:
        raise ValueError("the snapshot was pickled by another version of broadphase; use one on both sides")
    if then.period != state.space.period:
        raise ValueError(
            f"the snapshot is of a world with period={then.period}; this one has {state.space.period}"
        )
    state.space.reach_to(*then.reach)
    serials = then.columns[_KEPT.index("serial")]
    store.made = max(store.made, int(serials.max(initial=-1)) + 1)
    alive = then.columns[0].tolist()
    bodies = [reader.body(row) if lives else None for row, lives in enumerate(alive)]
    return then._replace(
        forms=_forms_here(store.table.bases, *sizes),
        bodies=bodies,
        data=[body and body.data for body in bodies],
        tiles=then.tiles and _tiles_here(state.tiles, then.tiles[1]),
    )


def _sizes(bases: list[Base]) -> tuple[Floats, dict[int, Polygon]]:
    """``(n, 2)``: width and height of boxes, radius and NaN of circles; all others by row."""
    forms = shapes_of(bases)
    sizes = [
        (form.width, form.height)
        if isinstance(form, Box)
        else (form.radius if isinstance(form, Circle) else np.nan, np.nan)
        for form in forms
    ]
    others = {row: form for row, form in enumerate(forms) if isinstance(form, Polygon)}
    return np.array(sizes, np.float64).reshape(-1, 2), others


def _forms_here(known: list[Base], sizes: Floats, others: dict[int, Polygon]) -> list[Base]:
    """Shapes by row: those that are here, where they are the same."""
    forms: list[Any] = known[: len(sizes)]
    same = np.zeros(len(sizes), np.bool_)
    same[: len(forms)] = (_sizes(forms)[0].view(np.int64) == sizes[: len(forms)].view(np.int64)).all(axis=1)
    forms += [None] * (len(sizes) - len(forms))
    same[list(others)] = True
    for row in np.flatnonzero(~same).tolist():
        width, height = sizes[row].tolist()
        forms[row] = Circle(0.0, 0.0, width) if math.isnan(height) else Box(0.0, 0.0, width, height)
    for row, form in others.items():
        mine = forms[row]
        forms[row] = mine if type(mine) is type(form) and mine.moved_to(form.x, form.y) == form else form
    return forms


def _tiles_here(mine: TileMap | None, kept: TileMap | None) -> tuple[TileMap | None, TileMap | None]:
    """The map of this world, where it is as large; else a new one."""
    if mine is None or kept is None or mine.bounds != kept.bounds or mine.solid.shape != kept.solid.shape:
        mine = kept and kept.copy()
    return mine, kept


def _removed(store: BodyStore, was: Remains, free: bool) -> Body:
    """A body that had been removed: that which had its id here, where no other has it, or a new one."""
    known = store.bodies[was.id] if free and was.id < len(store.bodies) else None
    return known or Body(store, GONE, None)


class _Writer(pickle.Pickler):
    """Writes the names of what belongs to a world."""

    def __init__(self, file: BytesIO, then: _Moment) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._then = then
        self._rows = {body: row for row, body in enumerate(then.bodies)}
        self._names = {one: name for name, one in _keyed(then.matcher.listeners).items()}

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, BodyStore):
            return "store"
        if isinstance(value, Body):
            return self._rows.get(value)
        if isinstance(value, Listener):
            return self._names.get(value, (value.a, value.b, -1))
        return None

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Body):
            was = self._then.removed[value]
            return _removed, (self._then.store, was, not self._then.columns[0][was.id])
        if isinstance(value, Matcher):
            return Matcher, (value.listeners, value.groups)
        return NotImplemented


class _Reader(pickle.Unpickler):
    """Finds in a world what is named."""

    def __init__(self, file: BytesIO, state: State) -> None:
        super().__init__(file)
        self._state = state
        self._bodies: dict[int, Body] = {}
        self._listeners: dict[Any, Listener] = _keyed(state.listeners.matcher.listeners)

    def persistent_load(self, name: Any) -> Any:
        if name == "store":
            return self._state.store
        return self.body(name) if isinstance(name, int) else self._listener(*name)

    def body(self, row: int) -> Body:
        """The body of a row, or a new one."""
        if row not in self._bodies:
            store = self._state.store
            known = store.bodies[row] if row < len(store.bodies) else None
            self._bodies[row] = known or Body(store, row, None)
        return self._bodies[row]

    def _listener(self, a: Any, b: Any, number: int) -> Listener:
        """Of the listeners for two tags that with a number; if there is none, one that is never called."""
        if (a, b, number) not in self._listeners:
            self._listeners[a, b, number] = none = Listener(self._state.listeners, a, b)
            none.active = False
        return self._listeners[a, b, number]
