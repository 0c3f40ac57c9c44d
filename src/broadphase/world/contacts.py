"""Which bodies are in contact, and what has changed since the last update.

Only pairs with a body that was touched since the last update are tested; all others are unchanged.
If few bodies were touched, each of them queries the broad phase and one kernel does the rest
(`ContactTracker._find_few`: the incremental update).  Otherwise all pairs of the broad phase are taken.  The
narrow phase takes all candidates of a kind in one kernel call.  Contacts stay in arrays until they are read.

A movement notes here what it has crossed: a pair that is in contact neither at the last update nor at this
one has begun and ended in between.

In a periodic space each body is tested against all images of the other.  Where several images of a body
touch another, which only long bodies do, the deepest contact counts: for boxes and circles that of the
nearest image.  A box as long as the world has no ends on that axis.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from broadphase.api.one_shot import stored_pairs
from broadphase.errors import PairLimitExceeded
from broadphase.geometry.narrow_phase import ContactArrays
from broadphase.kernels.boxes.overlap import STATIC as STATIC_CLASS
from broadphase.kernels.boxes.overlap import no_filter
from broadphase.kernels.pairs import changes as kernel
from broadphase.kernels.shapes.contact import contact_shapes
from broadphase.kernels.shapes.table import ShapeColumns
from broadphase.methods.task import NO_LIMIT
from broadphase.periods.images import Turns
from broadphase.runtime.arrays import Floats
from broadphase.runtime.memory import available_memory
from broadphase.runtime.slices import ranges
from broadphase.world.bodies import ALL, LISTENED, MOVING, STATIC, Body, BodyStore, Layers
from broadphase.world.broad_phase import SPARSE, BroadPhase, Near
from broadphase.world.listeners import Contact, ContactRows, Listener, Listeners, Match, Matcher
from broadphase.world.space import Images, Space, bounds_of

RowPairs = npt.NDArray[np.int32]
Rows = npt.NDArray[np.integer[Any]]

_new: Any = tuple.__new__  # a named tuple in half the time

# The layers of bodies with listeners.
_HEARD = 1 << MOVING | 1 << STATIC
# So many contacts become objects at once: NumPy converts a hundred numbers as fast as one.
_AT_ONCE = 256
# Up to so many touched bodies take the incremental update; more are found as arrays.
FEW = 64
# Up to so many touched bodies query the broad phase one by one; beyond, a batch costs less.
_VERY_FEW = 4
_SORTED_HERE = 64
_MOST_CANDIDATES = 1_024
# Above one touched body in so many, finding all pairs costs less than a query for each.
_SHARE = 4

Call: TypeAlias = tuple[Listener, str, Any]
"""One call of a listener: its ``begin``, ``stay`` or ``end`` with a `Contact`, or ``many`` with a `Began`."""

Notes: TypeAlias = list[Any]
"""What movements have noted, in order: rows of six numbers, or arrays of such rows.

A row is the mover, the other body (by row), the serial numbers of both, and the unit vector out of the side
of the other that was met.
"""


# So few bodies have few pairs for any memory; finding out how much is free takes 20 us.
_FEW_BODIES = 3_000
# Memory for each pair: an update takes 112 bytes to find, sort and test it, and the contacts of the update
# before are still there.  Where the system does not tell how much is free, 4 GB are taken to be.
_BYTES_A_PAIR, _USUAL_MEMORY = 250, 4_000_000_000


class FoundContacts(NamedTuple):
    """Contacts as columns, sorted by the ids of their bodies, and the listeners when they were found."""

    ids: RowPairs
    normals: Floats
    depths: Floats
    groups: RowPairs
    """The numbers of the bodies' sets of tags, as the matcher knows them."""
    matcher: Matcher

    def at(self, rows: npt.NDArray[Any] | slice) -> "FoundContacts":
        """Some of them."""
        ids, normals, depths, groups, matcher = self
        return FoundContacts(ids[rows], normals[rows], depths[rows], groups[rows], matcher)


class Searched(NamedTuple):
    """What a movement of many bodies found near them; it serves the next update if nothing else changes."""

    rows: Rows
    regions: Floats
    """``(m, 4)``: each mover was expected to stay within its region."""
    near: Near
    matcher: Matcher


_NO_PAIRS = np.empty((0, 2), np.int32)
_NO_NORMALS, _NO_DEPTHS = np.empty((0, 2)), np.empty(0)
_NO_REGIONS = np.empty((0, 4))
# So many pairs are tested in one call of the kernel, so that Ctrl-C is answered.
_AT_A_TIME = 1_000_000


def none_found(matcher: Matcher) -> FoundContacts:
    """No contacts."""
    return FoundContacts(_NO_PAIRS, _NO_NORMALS, _NO_DEPTHS, _NO_PAIRS, matcher)


class Passing(NamedTuple):
    """Two bodies that were in contact between two updates only: one crossed the other."""

    first: Body
    second: Body
    matches: tuple[Match, ...]


_Row: TypeAlias = tuple[tuple[Match, ...], Body, Body, tuple[float, float], float]


class Contacts(Sequence[Contact]):
    """A list of `Contact`, kept as arrays until one is read; equal to a list of the same contacts.

    The two bodies of a contact are in the order of the first listener that it concerns; for two with the same
    tag, or if both orders fit, the lower id comes first.  Contacts that have ended keep their bodies, and the
    last normal and depth.
    """

    __slots__ = ("_bodies", "_gone", "_passings", "depths", "groups", "ids", "matcher", "normals")

    def __init__(
        self,
        found: FoundContacts,
        bodies: list[Body | None],
        gone: dict[int, Body] | None = None,
        passings: dict[int, Passing] | None = None,
    ) -> None:
        self.ids = found.ids
        """``(m, 2)`` int32, sorted: the ids of the bodies, the lower first."""
        self.normals = found.normals
        """``(m, 2)``: unit vectors from the body with the higher id to that with the lower."""
        self.depths = found.depths
        """``(m,)``"""
        self.groups = found.groups
        """``(m, 2)`` int32: the numbers of the bodies' sets of tags, as listeners know them."""
        self.matcher = found.matcher
        """The listeners when they were found."""
        self._bodies = bodies
        self._gone = gone or {}
        self._passings = passings or {}

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> Contact: ...
    @overload
    def __getitem__(self, at: slice) -> list[Contact]: ...
    def __getitem__(self, at: int | slice) -> Contact | list[Contact]:
        if isinstance(at, slice):
            return list(self._some(np.arange(len(self))[at]))
        return next(self._some(np.array([range(len(self))[at]])))

    def __iter__(self) -> Iterator[Contact]:
        return self._some(np.arange(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} contacts>" if len(self) > 3 else repr(list(self))

    def calls(self, phase: str) -> Iterator[Call]:
        """A call of each listener that has a function for a phase, for each contact that concerns it."""
        wanted = any(getattr(one, phase) for one in self.matcher.listeners)
        if not (wanted or self._passings):
            return
        matches, which = self.matcher.of_rows(self.groups)
        matches = [tuple(one for one in found if getattr(one.listener, phase)) for found in matches]
        heard = np.array([bool(found) for found in matches], np.bool_)[which]
        heard[list(self._passings)] = True
        rows = np.flatnonzero(heard)
        contact, new, mixed = Contact, _new, bool(self._passings)
        for found, first, second, normal, depth in self._lists(rows, matches, which[rows]):
            for listener, turned in found:
                if mixed and getattr(listener, phase) is None:
                    continue
                if turned:
                    x, y = normal
                    yield listener, phase, new(contact, (second, first, (0.0 - x, 0.0 - y), depth))
                else:
                    yield listener, phase, new(contact, (first, second, normal, depth))

    def by_pair(self) -> Iterator[dict[Match, Contact]]:
        """Each contact as every listener that it concerns wants it."""
        for found, first, second, normal, depth in self._all():
            yield {match: _contact(first, second, normal, depth, match.turned) for match in found}

    def rows_for(self, listener: Listener, before: "Contacts | None" = None) -> ContactRows:
        """The contacts that concern a listener, as it wants them; not those that already did before."""
        turned = self.matcher.turned(listener, self.groups)
        if before is not None:
            turned[before.matcher.turned(listener, before.groups) == turned] = -1
        rows = np.flatnonzero(turned >= 0)
        ids, normals, swap = self.ids[rows], self.normals[rows], turned[rows] == 1
        ids[swap], normals[swap] = ids[swap, ::-1], 0.0 - normals[swap]
        return ContactRows(ids[:, 0], ids[:, 1], normals, self.depths[rows])

    def _some(self, rows: Rows) -> Iterator[Contact]:
        for found, first, second, normal, depth in self._lists(
            rows, *self.matcher.of_rows(self.groups[rows])
        ):
            yield _contact(first, second, normal, depth, bool(found) and found[0].turned)

    def _all(self) -> Iterator[_Row]:
        return self._lists(np.arange(len(self)), *self.matcher.of_rows(self.groups))

    def _lists(
        self, rows: Rows, matches: list[tuple[Match, ...]], which: npt.NDArray[np.intp]
    ) -> Iterator[_Row]:
        """The arguments of `_contact` for some rows, each with those of the matches that are its own."""
        bodies: list[Any] = self._bodies
        for begin in range(0, len(rows), _AT_ONCE):
            some = rows[begin : begin + _AT_ONCE]
            found = [matches[k] for k in which[begin : begin + _AT_ONCE].tolist()]
            pairs = [[bodies[i] for i in ids] for ids in self.ids[some].T.tolist()]
            if self._gone:
                pairs = [[self._gone.get(i) or bodies[i] for i in ids] for ids in self.ids[some].T.tolist()]
            for k, at in enumerate(some.tolist()) if self._passings else ():
                if at in self._passings:
                    pairs[0][k], pairs[1][k], found[k] = self._passings[at]
            normals = zip(*self.normals[some].T.tolist(), strict=True)
            yield from zip(found, *pairs, normals, self.depths[some].tolist(), strict=True)


def _contact(first: Body, second: Body, normal: tuple[float, float], depth: float, turned: bool) -> Contact:
    if turned:
        first, second, normal = second, first, (0.0 - normal[0], 0.0 - normal[1])
    contact: Contact = _new(Contact, (first, second, normal, depth))
    return contact


class Events(NamedTuple):
    """How the contacts of a world have changed since the update before."""

    began: Contacts
    stayed: Contacts
    ended: Contacts


class Handed(NamedTuple):
    """Pairs that stay in contact while tags or listeners have changed: as they were, and as they are."""

    before: Contacts
    now: Contacts


class Began(NamedTuple):
    """The contacts that began for a listener, and the serial numbers of their bodies at that time."""

    rows: ContactRows
    serials: npt.NDArray[np.int64]

    def still(self, store: BodyStore) -> ContactRows:
        """Those of which no body was removed since."""
        pairs = np.column_stack(self.rows[:2])
        here = (store.alive[pairs] & (store.serial[pairs] == self.serials)).all(axis=1)
        return self.rows.at(np.flatnonzero(here))


class Changes(NamedTuple):
    """All that an update found."""

    events: Events
    handed: Handed | None
    many: tuple[Call, ...] = ()
    """The calls of ``many`` of all listeners."""


class Reported(Protocol):
    """The object that keeps what an update found, and which calls it leads to."""

    events: Events
    due: Any
    """What listeners are to be called for."""
    done: int
    """How many of them were."""


class ContactTracker:
    """The contacts at the last update."""

    def __init__(self, store: BodyStore, broad_phase: BroadPhase, listeners: Listeners) -> None:
        self._store = store
        self._broad_phase = broad_phase
        self._listeners = listeners
        self._moving, self._static = np.empty((2, FEW), np.int32)
        self._keys = np.empty(_MOST_CANDIDATES, np.int64)
        self.max_pairs: int | None = None
        """How many pairs an update may find; None for as many as memory allows."""
        self.found = self._nothing()
        self.overlaps = self.found
        """The part of ``found`` that overlaps; the rest stopped a movement before the last update."""
        self.crossed: Notes = []
        """What movements have crossed since the last update, where this concerns a listener."""
        self.stopped: Notes = []
        """What has stopped movements since the last update, likewise."""
        self.searched: Searched | None = None
        self.candidates = 0
        """How many pairs the narrow phase of the last update tested."""
        self.changed = 0
        """How many bodies with listeners had moved or changed at the last update."""

    def note(self, mover: int, other: int, normal: tuple[float, float], *, stopped: bool = False) -> None:
        """A movement has crossed another body, or was stopped by it (by row).

        It is kept if it concerns a listener.  A body that stopped another touches it at the next update.
        """
        if self.concerns(mover, other):
            serial = self._store.serial
            noted = mover, other, serial.item(mover), serial.item(other), *normal
            (self.stopped if stopped else self.crossed).append(noted)

    def note_many(self, rows: Rows, hits: Floats, *, stopped: bool = False) -> None:
        """`note` for the hits of many movers with these rows, as kernels write them; tiles are left out."""
        if not len(hits) or not self._listeners.matcher.listeners:
            return
        store, notes = self._store, np.empty((len(hits), 6))
        known = store.tag_sets.bits, store.group, store.category, store.mask, store.serial
        # What was in contact at the last update does not begin again.
        before, first = _NO_PAIRS if stopped else self.found.ids, np.zeros(len(store.bodies) + 1, np.int64)
        noted = notes[: kernel.note_hits(rows, hits, *known, before, first, store.renewed, notes)]
        if not store.tag_sets.exact:
            noted = noted[self.concerned(noted[:, :2].astype(np.int32))]
        if len(noted):
            (self.stopped if stopped else self.crossed).append(noted)

    @property
    def noted(self) -> tuple[int, int]:
        """How much was noted since the last update, for `forget`."""
        return len(self.crossed), len(self.stopped)

    def forget(self, noted: tuple[int, int]) -> None:
        """Keep only what was noted at that time: the rest belongs to a movement that was interrupted."""
        del self.crossed[noted[0] :], self.stopped[noted[1] :]

    def update(self, reported: Reported) -> Changes:
        """Find what is in contact now, and compare; it is ``reported`` in the same moment, or never was."""
        store, before = self._store, self.found
        overlaps = self._find_few(self.overlaps) or self._find_all(self.overlaps)
        if self.max_pairs is not None and self.candidates > self.max_pairs:
            raise PairLimitExceeded(self.max_pairs)
        now = self._with_stops(overlaps) if self.stopped else overlaps
        if now.matcher is not before.matcher:
            for listener in now.matcher.listeners:
                listener.updated = True
        same = now is before and not (self.crossed or store.retagged)
        changes = self._unchanged(now) if same else self._changes(before, now)
        store.look_at_kinds()
        n, events = len(store.bodies), changes.events
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.found, self.overlaps, self.crossed, self.stopped, self.searched = now, overlaps, [], [], None
        store.touched[:n] = store.renewed[:n] = False
        store.retagged = False
        store.gone = {}
        reported.events, reported.due, reported.done = events, changes, 0
        return changes

    def concerned(self, pairs: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.bool_]:
        """For each two rows, whether they concern a listener and their categories and masks agree."""
        store = self._store
        i, j = pairs[:, 0], pairs[:, 1]
        bits = store.tag_sets.bits
        may: npt.NDArray[np.bool_] = bits[store.group[i], 0] & bits[store.group[j], 1] != 0
        may &= i != j
        if store.any_ruled:
            may &= store.category[i] & store.mask[j] != 0
            may &= store.category[j] & store.mask[i] != 0
        if not store.tag_sets.exact:
            at = np.flatnonzero(may)
            may[at] = self._listeners.matcher.chosen(store.group[pairs[at]], bool)
        return may

    # ---- finding

    def _nothing(self) -> FoundContacts:
        return none_found(self._listeners.matcher)

    def concerns(self, i: int, j: int) -> bool:
        """Whether two rows concern a listener."""
        matcher, group = self._listeners.matcher, self._store.group
        return bool(matcher.listeners and matcher.matches(group.item(i), group.item(j)))

    def _find_few(self, before: FoundContacts) -> FoundContacts | None:
        """The contacts now where few bodies were touched; ``None`` where they are too many.

        ``before`` itself where nothing was touched.
        """
        store, matcher = self._store, self._listeners.matcher
        touched, moving, static = kernel.touched_rows(
            *(store.touched, store.alive, store.layer, MOVING, STATIC, len(store.bodies)),
            *(self._moving, self._static),
        )
        self.changed = moving + static
        if touched == 0 and before.matcher is matcher:
            self.candidates = 0
            return before
        if moving + static > FEW or not store.tag_sets.exact:
            return None
        if store.space.periodic:
            bounds = store.table.bounds(np.concatenate((self._moving[:moving], self._static[:static])))
            if not store.space.are_inner(bounds).all():
                return None
        count = self._put_near(self._moving[:moving].tolist(), LISTENED, 0)
        if static:
            count = self._put_near(self._static[:static].tolist(), (MOVING,), count)
        if count < 0:
            return None
        if count > _SORTED_HERE:
            self._keys[:count].sort()  # the kernel puts each into its place, which is for few
        capacity = len(before.ids) + count
        pairs = np.empty((2, capacity, 2), np.int32)
        now = FoundContacts(pairs[0], np.empty((capacity, 2)), np.empty(capacity), pairs[1], matcher)
        found, self.candidates = kernel.renew_contacts(
            store.table.columns, store.touched, store.group, self._keys, count, before[:3], *now[:4]
        )
        return now if found == capacity else now.at(slice(found))

    def _put_near(self, rows: list[int], layers: Layers, count: int) -> int:
        """Write what may be in contact with some bodies behind ``count`` keys; -1 if they do not fit."""
        store, broad_phase = self._store, self._broad_phase
        known = (store.tag_sets.bits, store.group, store.category, store.mask)
        if len(rows) > _VERY_FEW:
            some = np.array(rows, np.int32)
            pairs = broad_phase.in_boxes(store.table.bounds(some), layers)
            return kernel.put_candidates_of_many(self._keys, count, some, pairs, *known)  # type: ignore[no-any-return]
        for row in rows:
            near = broad_phase.gather(store.bounds(row), layers=layers)
            count = kernel.put_candidates(self._keys, count, row, broad_phase.buffers.near, near, *known)
        return count

    def _find_all(self, before: FoundContacts) -> FoundContacts:
        store = self._store
        touched = store.touched
        still = ~(touched[before.ids[:, 0]] | touched[before.ids[:, 1]])
        listening = (store.layer == MOVING) | (store.layer == STATIC)
        rows = np.flatnonzero(touched & store.alive & listening).astype(np.int32)
        self.candidates, fresh = 0, self._nothing()
        if len(rows) and store.space.periodic:
            fresh = self._contacts_of_images(rows)
        elif len(rows):
            pairs = self._pairs_near(rows)
            if pairs is None:
                pairs = self._all_pairs(rows)
            fresh = self._contacts_of(self._pairs_of_indexes(rows) if pairs is None else pairs)
        if not still.any():
            return fresh
        both = _merged(fresh, before.at(np.flatnonzero(still)))
        return both._replace(groups=store.group[both.ids])

    def _limit(self) -> int:
        """How many pairs this update may find."""
        if self.max_pairs is not None:
            return self.max_pairs
        if self._store.live < _FEW_BODIES:
            return NO_LIMIT
        return (available_memory() or _USUAL_MEMORY) // _BYTES_A_PAIR

    def _pairs_near(self, touched: Rows) -> RowPairs | None:
        """As `_all_pairs`, from what the last movement found, if it covers all that was touched; else None.

        It saves half of the time of an update after `World.move_many` or `World.step`.
        """
        store, searched = self._store, self.searched
        if searched is None or searched.matcher is not self._listeners.matcher or store.retagged:
            return None
        keys = np.empty(len(searched.near.rows), np.int64)
        count, is_sorted = kernel.pairs_near(
            *(store.table.columns, store.alive, store.touched, store.static, store.layer, _HEARD),
            *(len(touched), searched.rows, searched.regions, searched.near[:], keys),
        )
        if count < 0:
            return None
        keys = keys[:count]
        if not is_sorted:
            keys.sort()
        return _pairs_of(keys)

    def _all_pairs(self, touched: Rows) -> RowPairs | None:
        """All pairs of bodies whose bounds overlap, sorted, if most bodies were touched; else None."""
        store, broad_phase = self._store, self._broad_phase
        n = len(store.bodies)
        counts = np.bincount(store.layer[:n][store.alive[:n]], minlength=len(ALL))
        moved = np.count_nonzero(store.layer[touched] == MOVING)
        if not broad_phase.searches_at_once or moved * _SHARE <= counts[MOVING]:
            return None
        if counts[STATIC] > SPARSE * moved:
            return None
        classes = 0, 0, int(STATIC_CLASS)
        rows, boxes, kinds = broad_phase.boxes_of(_HEARD, np.full(n, -1, np.int32), _NO_REGIONS, classes)
        limit, rules = self._limit(), no_filter()._replace(classes=kinds)
        if limit != NO_LIMIT and not self._all_concern(rows):
            # Pairs that nobody listens to must not count.
            of, hears = store.tag_sets.bits.T
            groups = store.group[rows]
            rules = rules._replace(categories=of[groups], masks=hears[groups])
        pairs = stored_pairs(boxes, rules, touching=False, max_pairs=limit)
        return pairs if rows[-1] == len(rows) - 1 else rows[pairs]

    def _all_concern(self, rows: Rows) -> bool:
        """Whether all pairs of these bodies that are not both static concern a listener."""
        store = self._store
        _, hears = store.tag_sets.bits[np.flatnonzero(np.bincount(store.group[rows]))].T
        static = store.static[rows]
        moving, _ = store.tag_sets.bits[np.flatnonzero(np.bincount(store.group[rows[~static]]))].T
        return bool((moving[:, None] & hears).all())

    def _contacts_of(self, pairs: RowPairs) -> FoundContacts:
        """The contacts among sorted pairs of rows."""
        store = self._store
        if not store.tag_sets.exact:
            pairs = pairs[self.concerned(pairs)]
        known = store.touched, store.tag_sets.bits, store.group, store.category, store.mask
        parts = [(_NO_PAIRS, _NO_NORMALS, _NO_DEPTHS)]
        for begin, end in ranges(0, len(pairs), _AT_A_TIME):
            ids, normals = np.empty((end - begin, 2), np.int32), np.empty((end - begin, 2))
            out = ids, normals, np.empty(end - begin)
            found, tested = kernel.contacts_of_pairs(store.table.columns, pairs, begin, end, *known, *out)
            parts.append((ids[:found].copy(), normals[:found].copy(), out[2][:found].copy()))
            self.candidates += tested
        columns = parts[1] if len(parts) == 2 else [np.concatenate(each) for each in zip(*parts, strict=True)]
        ids, normals, depths = columns
        return FoundContacts(ids, normals, depths, store.group[ids], self._listeners.matcher)

    def _pairs_of_indexes(self, rows: Rows) -> RowPairs:
        """Pairs of bodies whose bounds may overlap, one of ``rows`` among them; sorted, each once."""
        pairs, _ = self._candidates(rows)
        keys = np.minimum(pairs[:, 0], pairs[:, 1]).astype(np.int64) << 32
        keys |= np.maximum(pairs[:, 0], pairs[:, 1])
        keys.sort()
        return _pairs_of(keys[np.diff(keys, prepend=-1) != 0])

    def _candidates(self, rows: Rows) -> tuple[npt.NDArray[Any], Turns]:
        """Pairs of bodies whose bounds may overlap, one of ``rows`` among them, and turns of the second."""
        store, broad_phase = self._store, self._broad_phase
        moving = rows[store.layer[rows] == MOVING]
        static = rows[store.layer[rows] == STATIC]
        all_pairs = len(moving) * _SHARE > broad_phase.count(MOVING)
        parts: list[tuple[npt.NDArray[Any], Turns]] = []
        if all_pairs:
            pairs = broad_phase.pairs(self._limit())
            if len(moving) < broad_phase.count(MOVING):
                touched = store.touched
                pairs = pairs[touched[pairs[:, 0]] | touched[pairs[:, 1]]]
            parts.append((pairs, np.zeros_like(pairs, np.int64)))
            if store.space.periodic:
                parts.append(self._across_edges())
        for some, layers in ((moving, (STATIC,) if all_pairs else (MOVING, STATIC)), (static, (MOVING,))):
            if len(some):
                parts.append(self._near(some, layers))
        pairs, turns = (np.concatenate(part) for part in zip(*parts, strict=True))
        return pairs, turns

    def _near(self, rows: Rows, layers: Layers) -> tuple[npt.NDArray[Any], Turns]:
        """Pairs of these bodies and those in some layers whose bounds may overlap."""
        images = self._broad_phase.images_near(self._store.table.bounds(rows), layers, self._limit())
        return np.column_stack((rows[images.regions], images.rows.astype(np.int32))), images.turns

    def _across_edges(self) -> tuple[npt.NDArray[Any], Turns]:
        """Moving bodies that reach over an edge of the period, and what may touch them beyond it."""
        store = self._store
        rows = np.flatnonzero(store.alive & (store.layer == MOVING)).astype(np.int32)
        bounds = store.table.bounds(rows)
        low, high = bounds[:, :2] < 0.0, bounds[:, 2:] > store.space.lengths
        pairs, turns = self._near(rows[(low | high).any(axis=1)], (MOVING,))
        beyond = turns.any(axis=1)
        beyond &= store.touched[pairs[:, 0]] | store.touched[pairs[:, 1]]
        return pairs[beyond], turns[beyond]

    def _contacts_of_images(self, rows: Rows) -> FoundContacts:
        """The contacts of some bodies in a periodic space."""
        store = self._store
        found, turns = self._candidates(rows)
        wanted = self.concerned(found)
        pairs, turns = _each_image_once(found[wanted], turns[wanted])
        self.candidates = len(pairs)
        overlapping, normals, depths = contacts_between(store.space, store.table.columns, pairs, turns)
        chosen: npt.NDArray[Any] = np.flatnonzero(overlapping)
        chosen = chosen[_deepest(store, pairs[chosen], turns[chosen], depths[chosen])]
        ids = pairs[chosen]
        return FoundContacts(ids, normals[chosen], depths[chosen], store.group[ids], self._listeners.matcher)

    # ---- comparing: which pairs began, stayed and ended

    def _unchanged(self, now: FoundContacts) -> Changes:
        """If nothing was touched, all contacts stay."""
        self._store.shared = True
        bodies, nothing = self._store.bodies, none_found(now.matcher)
        none = Contacts(nothing, bodies)
        stayed = Contacts(now.at(np.arange(len(now.ids))), bodies) if len(now.ids) else none
        return Changes(Events(none, stayed, none), None)

    def _changes(self, before: FoundContacts, now: FoundContacts) -> Changes:
        """Which pairs began, which stayed and which ended between two updates."""
        store = self._store
        store.shared = True
        bodies, nothing = store.bodies, none_found(now.matcher)
        same_listeners = before.matcher is now.matcher
        began, stayed = np.empty((2, len(now.ids)), np.int64)
        ended, were = np.empty((2, len(before.ids)), np.int64)
        come, stay, gone = kernel.split_rows(before.ids, now.ids, store.renewed, began, stayed, ended, were)
        stayed, were = stayed[:stay], were[:stay]
        new = now.at(began[:come]) if come else nothing
        over = before.at(ended[:gone]) if gone else nothing if same_listeners else none_found(before.matcher)
        passings: dict[int, Passing] = {}
        if self.crossed:
            passed = self._passed(before, now)
            new = _merged(new, passed)
            over, passings = self._with_passings(over, passed)
        handed = None
        if not same_listeners or store.retagged:
            handed = self._handed(before, now, were, stayed)
        events = Events(
            Contacts(new, bodies),
            Contacts(now.at(stayed) if stay else nothing, bodies),
            Contacts(over, bodies, store.gone, passings),
        )
        return Changes(events, handed, tuple(self._many(events.began, handed)))

    def _many(self, began: Contacts, handed: Handed | None) -> Iterator[Call]:
        """The calls of listeners that want all contacts that began at once."""
        for listener in began.matcher.listeners:
            if listener.many is None:
                continue
            rows = began.rows_for(listener)
            if handed is not None:
                more = handed.now.rows_for(listener, handed.before)
                columns: Any = zip(rows, more, strict=True)
                rows = ContactRows(*map(np.concatenate, columns))
                rows = rows.at(np.lexsort((np.maximum(rows.a, rows.b), np.minimum(rows.a, rows.b))))
            if len(rows.a):
                yield listener, "many", Began(rows, self._store.serial[np.column_stack(rows[:2])])

    def _handed(self, before: FoundContacts, now: FoundContacts, then: Rows, since: Rows) -> Handed:
        """The pairs that stayed but concern other listeners than before."""
        groups = np.hstack((before.groups[then], now.groups[since]))
        each, which = np.unique(groups, axis=0, return_inverse=True)
        others = [before.matcher.matches(a, b) != now.matcher.matches(c, d) for a, b, c, d in each.tolist()]
        chosen = np.array(others, np.bool_)[which.ravel()]
        bodies = self._store.bodies
        return Handed(Contacts(before.at(then[chosen]), bodies), Contacts(now.at(since[chosen]), bodies))

    def _passed(self, before: FoundContacts, now: FoundContacts) -> FoundContacts:
        """The pairs that were in contact between the last update and this one only: they begin and end."""
        return self._noted(self.crossed, now, before.ids)

    def _with_stops(self, overlaps: FoundContacts) -> FoundContacts:
        """The pairs that overlap, and those of which one stopped the other: they touch with depth 0."""
        # The last way in which one stopped the other counts.
        latest = [np.reshape(note, (-1, 6))[::-1] for note in reversed(self.stopped)]
        return _merged(overlaps, self._noted(latest, overlaps, _NO_PAIRS))

    def _noted(self, notes: Notes, now: FoundContacts, before: RowPairs) -> FoundContacts:
        """The notes of movements as contacts of depth 0, if they still concern a listener.

        Without pairs that are in contact ``now``, or were ``before``.  Of several for the same two bodies,
        the first that is given counts.
        """
        store = self._store
        rows = np.concatenate([np.reshape(note, (-1, 6)) for note in notes])
        keys, chosen = np.empty((2, len(rows)), np.int64)
        known = store.tag_sets.bits, store.group, store.category, store.mask
        count = kernel.sound_notes(
            *(rows, store.alive, store.serial, store.static, *known),
            *(now.ids, before, store.renewed, keys, chosen),
        )
        keys, first = np.unique(keys[:count], return_index=True)
        rows, ids = rows[chosen[first]], _pairs_of(keys)
        if not store.tag_sets.exact:
            wanted = self.concerned(ids)
            rows, ids = rows[wanted], ids[wanted]
        normals = np.where(rows[:, :1] > rows[:, 1:2], 0.0 - rows[:, 4:], rows[:, 4:])
        return FoundContacts(ids, normals, np.zeros(len(ids)), store.group[ids], now.matcher)

    def _with_passings(
        self, over: FoundContacts, passed: FoundContacts
    ) -> tuple[FoundContacts, dict[int, Passing]]:
        """The contacts that ended, and those that began and ended.

        With their bodies and listeners, where these are others than those of what was before.
        """
        store = self._store
        if over.matcher is passed.matcher and not store.gone:
            return _merged(over, passed), {}
        bodies: list[Any] = store.bodies
        merged = _merged(over, passed._replace(groups=np.zeros_like(passed.groups), matcher=over.matcher))
        order = np.argsort(_keys(np.concatenate((over.ids, passed.ids))), kind="stable")
        passings = {}
        for at in np.flatnonzero(order >= len(over.ids)).tolist():
            row = order.item(at) - len(over.ids)
            (i, j), pair = passed.ids[row].tolist(), passed.groups[row].tolist()
            passings[at] = Passing(bodies[i], bodies[j], passed.matcher.matches(*pair))
        return merged, passings


def contacts_between(
    space: Space, columns: ShapeColumns, pairs: npt.NDArray[np.integer[Any]], turns: Turns
) -> ContactArrays:
    """Contacts of the first of each two rows with an image of the second, which may be itself.

    Normal and depth say nothing where they do not overlap.
    """
    count = len(pairs)
    both = space.gathered(
        columns,
        Images(
            np.zeros(2 * count, np.int64),
            np.concatenate((pairs[:, 0], pairs[:, 1])).astype(np.int64),
            np.concatenate((np.zeros_like(turns), turns)),
        ),
    )
    # What is as long as the world meets itself, and has no ends to be pushed out at.
    sides = ((both.x, both.width), (both.y, both.height))
    for (places, sizes), length, long in zip(sides, space.lengths, space.endless(both).T, strict=True):
        places[long] -= length
        sizes[long] += 2.0 * length
    numbers = np.arange(count, dtype=np.int32)
    overlapping, normals, depths = np.empty(count, np.bool_), np.empty((count, 2)), np.empty(count)
    contact_shapes(both, np.column_stack((numbers, numbers + count)), False, overlapping, normals, depths)
    # The test takes bounds that overlap for granted.
    a, b = np.split(bounds_of(both), 2)
    overlapping &= ((a[:, :2] < b[:, 2:]) & (b[:, :2] < a[:, 2:])).all(axis=1)
    return ContactArrays(overlapping, normals, depths)


def _deepest(
    store: BodyStore, pairs: npt.NDArray[Any], turns: Turns, depths: npt.NDArray[np.floating[Any]]
) -> npt.NDArray[np.intp]:
    """Which of some contacts are the deepest of their two bodies; of equal ones, the left or upper one."""
    first, second = map(store.places, pairs.T)
    x, y = (store.space.shift(turns) + second - first).T
    order = np.lexsort((y, x, -depths, pairs[:, 1], pairs[:, 0]))
    is_first = (np.diff(pairs[order].astype(np.int64), axis=0, prepend=-1) != 0).any(axis=1)
    chosen: npt.NDArray[np.intp] = order[is_first]
    return chosen


def _each_image_once(pairs: npt.NDArray[Any], turns: Turns) -> tuple[RowPairs, Turns]:
    """Sorted, the lower row first; what was found from both sides comes once."""
    turned = pairs[:, 0] > pairs[:, 1]
    rows = np.hstack((np.sort(pairs, axis=1).astype(np.int64), np.where(turned[:, None], -turns, turns)))
    rows = rows[np.lexsort(rows.T[::-1])]
    rows = rows[np.append(True, (np.diff(rows, axis=0) != 0).any(axis=1))[: len(rows)]]
    return rows[:, :2].astype(np.int32), rows[:, 2:]


def _keys(ids: RowPairs) -> npt.NDArray[np.int64]:
    """Pairs as numbers that sort as the pairs do."""
    keys: npt.NDArray[np.int64] = ids[:, 0].astype(np.int64) << 32 | ids[:, 1]
    return keys


def _pairs_of(keys: npt.NDArray[np.int64]) -> RowPairs:
    pairs = np.empty((len(keys), 2), np.int32)
    pairs[:, 0], pairs[:, 1] = keys >> 32, keys & 0xFFFFFFFF
    return pairs


def _merged(first: FoundContacts, second: FoundContacts) -> FoundContacts:
    """Both, sorted; of the same ids the first before the second."""
    if not len(second.ids):
        return first
    count = len(first.ids) + len(second.ids)
    pairs = np.empty((2, count, 2), np.int32)
    both = FoundContacts(pairs[0], np.empty((count, 2)), np.empty(count), pairs[1], first.matcher)
    kernel.merge_contacts(first[:4], second[:4], *both[:4])
    return both
