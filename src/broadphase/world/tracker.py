"""Which bodies are in contact, and what has changed since the last update.

Only pairs with a body that was touched in between are looked for and tested; all others are as they were.
Where few bodies were touched, the broad phase is asked about these, else for all its pairs.  The narrow
phase takes all candidates of a kind in one kernel call.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.pairs.pair_changes import split_changes
from broadphase.world.body import Body
from broadphase.world.body_store import BodyStore, Floats, Rows
from broadphase.world.events import Contacts, Events, RowPairs
from broadphase.world.layers import Layers
from broadphase.world.listeners import MOVING, STATIC
from broadphase.world.narrow import contacts_of

# Above this share of touched bodies, finding all pairs costs less than asking about each.
_SHARE = 4


class Found(NamedTuple):
    """Contacts side by side, sorted by the ids of their bodies."""

    ids: RowPairs
    normals: Floats
    depths: Floats
    groups: RowPairs


NOTHING = Found(np.empty((0, 2), np.int32), np.empty((0, 2)), np.empty(0), np.empty((0, 2), np.int32))


class Tracker:
    """The contacts at the last update."""

    def __init__(self, store: BodyStore, layers: Layers) -> None:
        self._store = store
        self._layers = layers
        self.found = NOTHING
        self.candidates = 0
        """How many pairs the narrow phase of the last update tested."""

    def update(self) -> Events:
        """Find what is in contact now, and compare."""
        store, before = self._store, self.found
        now = self._find_all(before)
        began, ended = _split(before, now, store.renewed)
        events = self._events(before, now, began, ended)
        self.found = now
        n = len(store.bodies)
        store.touched[:n] = store.renewed[:n] = False
        store.gone = {}
        return events

    def _find_all(self, before: Found) -> Found:
        store = self._store
        touched = store.touched
        still = ~(touched[before.ids[:, 0]] | touched[before.ids[:, 1]])
        listening = (store.layer == MOVING) | (store.layer == STATIC)
        rows = np.flatnonzero(touched & store.alive & listening).astype(np.int32)
        self.candidates = 0
        fresh = self._narrow(self._candidates(rows)) if len(rows) else NOTHING
        if not still.any():
            return fresh
        ids = np.concatenate((before.ids[still], fresh.ids))
        normals = np.concatenate((before.normals[still], fresh.normals))
        depths = np.concatenate((before.depths[still], fresh.depths))
        order = np.argsort(_keys(ids))
        return Found(ids[order], normals[order], depths[order], store.group[ids[order]])

    def _candidates(self, rows: Rows) -> RowPairs:
        """Pairs of bodies whose bounds overlap, one of ``rows`` among them; sorted, each once."""
        store, layers = self._store, self._layers
        moving = rows[store.layer[rows] == MOVING]
        static = rows[store.layer[rows] == STATIC]
        anew = len(moving) * _SHARE > len(layers.indexes[MOVING])
        parts = []
        if anew:
            pairs = layers.pairs()
            if len(moving) < len(layers.indexes[MOVING]):
                touched = store.touched
                pairs = pairs[touched[pairs[:, 0]] | touched[pairs[:, 1]]]
            parts.append(pairs)
        for asking, asked in ((moving, (STATIC,) if anew else (MOVING, STATIC)), (static, (MOVING,))):
            if len(asking):
                pairs = layers.in_boxes(store.table.bounds(asking), asked)
                pairs[:, 0] = asking[pairs[:, 0]]
                parts.append(pairs)
        pairs = np.concatenate(parts) if len(parts) > 1 else parts[0]
        pairs = pairs[self._may_pair(pairs)]
        keys = np.minimum(pairs[:, 0], pairs[:, 1]).astype(np.int64) << 32
        keys |= np.maximum(pairs[:, 0], pairs[:, 1])
        keys.sort()
        if not anew or len(static):  # a pair may have been found from both sides
            keys = keys[np.diff(keys, prepend=-1) != 0]
        return np.column_stack((keys >> 32, keys & 0xFFFFFFFF)).astype(np.int32)

    def _may_pair(self, pairs: RowPairs) -> npt.NDArray[np.bool_]:
        store = self._store
        i, j = pairs[:, 0], pairs[:, 1]
        bits = store.listeners.bits()
        may: npt.NDArray[np.bool_] = bits[store.group[i], 0] & bits[store.group[j], 1] != 0
        may &= i != j
        if store.any_sets:
            may &= store.category[i] & store.mask[j] != 0
            may &= store.category[j] & store.mask[i] != 0
        if not store.listeners.exact:
            at = np.flatnonzero(may)
            may[at] = store.listeners.matcher.chosen(store.group[pairs[at]], bool)
        return may

    def _narrow(self, pairs: RowPairs) -> Found:
        self.candidates = len(pairs)
        contacts: Any = contacts_of(self._store.table, pairs)
        overlapping, normals, depths = contacts
        ids = pairs[overlapping]
        return Found(ids, normals[overlapping], depths[overlapping], self._store.group[ids])

    def _events(self, before: Found, now: Found, began: RowPairs, ended: RowPairs) -> Events:
        store = self._store
        store.shared = True
        began_at = np.searchsorted(_keys(now.ids), _keys(began))
        ended_at = np.searchsorted(_keys(before.ids), _keys(ended))
        stays = np.ones(len(now.ids), np.bool_)
        stays[began_at] = False
        matcher, bodies = store.listeners.matcher, store.bodies

        def contacts(found: Found, at: npt.NDArray[Any], gone: dict[int, Body]) -> Contacts:
            ids, normals, depths, groups = (column[at] for column in found)
            return Contacts(ids, groups, normals, depths, bodies, gone, matcher)

        return Events(
            contacts(now, began_at, {}), contacts(now, stays, {}), contacts(before, ended_at, store.gone)
        )


def _keys(ids: RowPairs) -> npt.NDArray[np.int64]:
    """Pairs as numbers that sort as the pairs do."""
    keys: npt.NDArray[np.int64] = ids[:, 0].astype(np.int64) << 32 | ids[:, 1]
    return keys


def _split(before: Found, now: Found, renewed: npt.NDArray[np.bool_]) -> tuple[RowPairs, RowPairs]:
    began, come, ended, gone = split_changes(before.ids, now.ids, renewed)
    return began[:come], ended[:gone]
