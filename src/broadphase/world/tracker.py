"""Which bodies are in contact, and what has changed since the last update.

Only pairs with a body that was touched in between are looked for and tested; all others are as they were.
Where few bodies were touched, the broad phase is asked about these, else for all its pairs.  The narrow
phase takes all candidates of a kind in one kernel call.

A movement notes here what it has crossed: a pair that is in contact neither at the last update nor at this
one has begun and ended in between.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.pairs.contacts import split_rows
from broadphase.world.body import Body
from broadphase.world.body_store import BodyStore
from broadphase.world.events import (
    Changes,
    Contacts,
    Events,
    Found,
    Handed,
    Passing,
    RowPairs,
    Rows,
    none_found,
)
from broadphase.world.few import Few
from broadphase.world.layers import Layers
from broadphase.world.listeners import MOVING, STATIC
from broadphase.world.narrow import contacts_of

# Above this share of touched bodies, finding all pairs costs less than asking about each.
_SHARE = 4

Crossed = dict[tuple[Body, Body], tuple[float, float]]
"""Who passed whom, and the unit vector out of the side of the other that was crossed."""


class Tracker:
    """The contacts at the last update."""

    def __init__(self, store: BodyStore, layers: Layers) -> None:
        self._store = store
        self._layers = layers
        self._few = Few(store, layers)
        self.found = self._nothing()
        self.crossed: Crossed = {}
        """What movements have crossed since the last update, where somebody listens."""
        self.candidates = 0
        """How many pairs the narrow phase of the last update tested."""

    def note(self, mover: Body, other: Body, normal: tuple[float, float]) -> None:
        """A movement has crossed something; remembered where somebody listens for the two."""
        store = self._store
        i, j = store.row(mover), store.row(other)
        if not (store.static[i] and store.static[j]) and self._concerns(i, j):
            self.crossed.setdefault((mover, other), normal)

    def note_many(
        self, movers: npt.NDArray[Any], others: npt.NDArray[Any], normals: npt.NDArray[np.float64]
    ) -> None:
        """As `note`, by rows; what was in contact at the last update need not be remembered."""
        store = self._store
        pairs = np.column_stack((movers, others)).astype(np.int32)
        pairs.sort(axis=1)
        known = _among(pairs, self.found.ids) & ~store.renewed[pairs].any(axis=1)
        for at in np.flatnonzero(~known & self.concerned(pairs)).tolist():
            mover, other = store.bodies[int(movers[at])], store.bodies[int(others[at])]
            if mover is not None and other is not None:
                self.note(mover, other, (normals.item(at, 0), normals.item(at, 1)))

    def forget(self, known: int) -> None:
        """Keep only so many of what `crossed` holds: the others were noted by what was interrupted."""
        for pair in [*self.crossed][known:]:
            del self.crossed[pair]

    def update(self) -> Changes:
        """Find what is in contact now, and compare."""
        store, before = self._store, self.found
        few = self._few.renewed(before)
        now, self.candidates = (self._find_all(before), self.candidates) if few is None else few
        if now.matcher is not before.matcher:
            for listener in now.matcher.listeners:
                listener.asked = True
        same = now is before and not (self.crossed or store.retagged)
        changes = self._unchanged(now) if same else self._changes(before, now)
        n = len(store.bodies)
        # No calls from here on: nothing can come in between.
        self.found, self.crossed = now, {}
        store.touched[:n] = store.renewed[:n] = False
        store.retagged = False
        store.gone = {}
        return changes

    def concerned(self, pairs: RowPairs) -> npt.NDArray[np.bool_]:
        """For each two rows, whether somebody listens for them and their categories and masks agree."""
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

    # ---- finding

    def _nothing(self) -> Found:
        return none_found(self._store.listeners.matcher)

    def _concerns(self, i: int, j: int) -> bool:
        store = self._store
        return bool(store.listeners.matcher.matches(int(store.group[i]), int(store.group[j])))

    def _find_all(self, before: Found) -> Found:
        store = self._store
        touched = store.touched
        still = ~(touched[before.ids[:, 0]] | touched[before.ids[:, 1]])
        listening = (store.layer == MOVING) | (store.layer == STATIC)
        rows = np.flatnonzero(touched & store.alive & listening).astype(np.int32)
        self.candidates = 0
        fresh = self._narrow(self._candidates(rows)) if len(rows) else self._nothing()
        if not still.any():
            return fresh
        ids = np.concatenate((before.ids[still], fresh.ids))
        normals = np.concatenate((before.normals[still], fresh.normals))
        depths = np.concatenate((before.depths[still], fresh.depths))
        order = np.argsort(_keys(ids))
        groups = store.group[ids[order]]
        return Found(ids[order], normals[order], depths[order], groups, fresh.matcher)

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
        pairs = pairs[self.concerned(pairs)]
        keys = np.minimum(pairs[:, 0], pairs[:, 1]).astype(np.int64) << 32
        keys |= np.maximum(pairs[:, 0], pairs[:, 1])
        keys.sort()
        if not anew or len(static):  # a pair may have been found from both sides
            keys = keys[np.diff(keys, prepend=-1) != 0]
        return np.column_stack((keys >> 32, keys & 0xFFFFFFFF)).astype(np.int32)

    def _narrow(self, pairs: RowPairs) -> Found:
        self.candidates = len(pairs)
        contacts: Any = contacts_of(self._store.table, pairs)
        overlapping, normals, depths = contacts
        ids = pairs[overlapping]
        groups = self._store.group[ids]
        return Found(ids, normals[overlapping], depths[overlapping], groups, self._store.listeners.matcher)

    # ---- comparing

    def _unchanged(self, now: Found) -> Changes:
        """Where nothing was touched, everything has stayed."""
        self._store.shared = True
        bodies, nothing = self._store.bodies, none_found(now.matcher)
        none = Contacts(nothing, bodies, {}, {})
        stayed = Contacts(now.at(np.arange(len(now.ids))), bodies, {}, {})
        return Changes(Events(none, stayed, none), Handed(none, none))

    def _changes(self, before: Found, now: Found) -> Changes:
        store = self._store
        store.shared = True
        bodies = store.bodies
        began, stayed = np.empty((2, len(now.ids)), np.int64)
        ended, were = np.empty((2, len(before.ids)), np.int64)
        come, stay, gone = split_rows(before.ids, now.ids, store.renewed, began, stayed, ended, were)
        stayed = stayed[:stay]
        new, over = now.at(began[:come]), before.at(ended[:gone])
        passings: dict[int, Passing] = {}
        if self.crossed:
            passed = self._passed(before, now)
            new, _ = _merged(new, passed)
            over, passings = self._with_passings(over, passed)
        handed = self._handed(before, now, were[:stay], stayed)
        return Changes(
            Events(
                Contacts(new, bodies, {}, {}),
                Contacts(now.at(stayed), bodies, {}, {}),
                Contacts(over, bodies, store.gone, passings),
            ),
            Handed(*(Contacts(found, bodies, {}, {}) for found in handed)),
        )

    def _handed(self, before: Found, now: Found, then: Rows, since: Rows) -> tuple[Found, Found]:
        """Of the pairs that have stayed, those that concern other listeners than before."""
        if before.matcher is now.matcher and not self._store.retagged:
            return none_found(before.matcher), none_found(now.matcher)
        groups = np.hstack((before.groups[then], now.groups[since]))
        each, which = np.unique(groups, axis=0, return_inverse=True)
        others = [before.matcher.matches(a, b) != now.matcher.matches(c, d) for a, b, c, d in each.tolist()]
        chosen = np.array(others, np.bool_)[which.ravel()]
        return before.at(then[chosen]), now.at(since[chosen])

    def _passed(self, before: Found, now: Found) -> Found:
        """What was in contact between the last update and this one, and at neither."""
        store = self._store
        normals: dict[tuple[int, int], tuple[float, float]] = {}
        for (mover, other), (nx, ny) in self.crossed.items():
            if mover.alive and other.alive:
                i, j = store.row(mover), store.row(other)
                if self._concerns(i, j) and not (store.static[i] and store.static[j]):
                    turned = (nx, ny) if i < j else (0.0 - nx, 0.0 - ny)
                    normals.setdefault((min(i, j), max(i, j)), turned)
        ids = np.array(sorted(normals), np.int32).reshape(-1, 2)
        known = _among(ids, now.ids) | (_among(ids, before.ids) & ~store.renewed[ids].any(axis=1))
        ids = ids[~known]
        out = np.array([normals[i, j] for i, j in ids.tolist()]).reshape(-1, 2)
        return Found(ids, out, np.zeros(len(ids)), store.group[ids], now.matcher)

    def _with_passings(self, over: Found, passed: Found) -> tuple[Found, dict[int, Passing]]:
        """Those that are over, and those that have come and gone: they know their bodies and listeners."""
        bodies: list[Any] = self._store.bodies
        hidden = passed._replace(groups=np.zeros_like(passed.groups), matcher=over.matcher)
        merged, order = _merged(over, hidden)
        passings = {}
        for at in np.flatnonzero(order >= len(over.ids)).tolist():
            row = order.item(at) - len(over.ids)
            (i, j), pair = passed.ids[row].tolist(), passed.groups[row].tolist()
            passings[at] = Passing(bodies[i], bodies[j], passed.matcher.matches(*pair))
        return merged, passings


def _keys(ids: RowPairs) -> npt.NDArray[np.int64]:
    """Pairs as numbers that sort as the pairs do."""
    keys: npt.NDArray[np.int64] = ids[:, 0].astype(np.int64) << 32 | ids[:, 1]
    return keys


def _among(some: RowPairs, ids: RowPairs) -> npt.NDArray[np.bool_]:
    """Which pairs are among sorted ones."""
    keys, known = _keys(some), _keys(ids)
    if len(known) == 0:
        return np.zeros(len(keys), np.bool_)
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    among: npt.NDArray[np.bool_] = known[at] == keys
    return among


def _merged(first: Found, second: Found) -> tuple[Found, npt.NDArray[np.intp]]:
    """Both, sorted; of the same ids the first before the second; and which rows of both these are."""
    both = Found(
        np.concatenate((first.ids, second.ids)),
        np.concatenate((first.normals, second.normals)),
        np.concatenate((first.depths, second.depths)),
        np.concatenate((first.groups, second.groups)),
        first.matcher,
    )
    order = np.argsort(_keys(both.ids), kind="stable")
    return both.at(order), order
