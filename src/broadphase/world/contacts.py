"""Which bodies are in contact, and what has changed since the last update.

Only pairs with a body that was touched since the last update are tested; all others are unchanged.  What is
near those bodies is known from the movement of many before, or is searched (`BroadPhase.near_regions`).  One
kernel tests it and compares.  Contacts stay in arrays until they are read.

A movement notes here what it has crossed: a pair that is in contact neither at the last update nor at this
one has begun and ended in between.

In a periodic space each body is tested against all images of the other.  Where several images of a body
touch another, which only long bodies do, the deepest contact counts: for boxes and circles that of the
nearest image.  A box as long as the world has no ends on that axis.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, repeat
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from broadphase.errors import PairLimitExceeded
from broadphase.kernels.movement.sweep import CROSS
from broadphase.kernels.pairs import changes as kernel
from broadphase.methods.task import NO_LIMIT
from broadphase.runtime.arrays import Floats, Integers
from broadphase.runtime.memory import usable_memory
from broadphase.world.bodies import LISTENED, Body, BodyStore
from broadphase.world.broad_phase import BroadPhase, Near
from broadphase.world.hits import NO_HITS, HitArrays
from broadphase.world.listeners import (
    EVERYONE,
    READER,
    Contact,
    ContactRows,
    Listener,
    Listeners,
    Match,
    Matcher,
)

RowPairs = npt.NDArray[np.int32]
Rows = npt.NDArray[np.integer[Any]]

_new: Any = tuple.__new__  # a named tuple in half the time

# So many contacts become objects at once: NumPy converts a hundred numbers as fast as one.
_AT_ONCE = 256
# So few touched bodies have few pairs, too.
_FEW = 64
# Up to so many touched bodies query the broad phase one by one; beyond, a batch costs less.
_VERY_FEW = 4

Call: TypeAlias = tuple[Listener, str, Any]
"""One call of a listener: its ``begin``, ``stay`` or ``end`` with a `Contact`, or ``many`` with a `Began`."""

Notes: TypeAlias = list[Any]
"""What movements have noted, in order: lists or arrays of rows of seven numbers.

A row is the mover, the other body (by row), the serial numbers of both, the unit vector out of the side of
the other that was met, and whether it was `STOPPED` or `CROSSED`.
"""


# So few bodies have few pairs for any memory; finding out how much is free takes 20 us.
_FEW_BODIES = 3_000
# Memory for each pair: an update takes 112 bytes to find, sort and test it, and the contacts of the update
# before are still there.
_BYTES_A_PAIR = 250


class FoundContacts(NamedTuple):
    """Contacts as columns, sorted by the ids of their bodies, and the listeners when they were found."""

    ids: RowPairs
    normals: Floats
    depths: Floats
    groups: RowPairs
    """The numbers of the bodies' sets of tags, as the matcher knows them."""
    overlaps: npt.NDArray[np.bool_]
    """Which of them overlap; of the others, one was stopped by the other."""
    matcher: Matcher

    def at(self, rows: Rows) -> "FoundContacts":
        """Some of them."""
        # `take` copies rows of two in a tenth of the time of an index; on 32 bits it refuses int64.
        places = rows.astype(np.intp, copy=False)
        columns = [column.take(places, 0) for column in self[:5]]
        found: FoundContacts = _new(FoundContacts, (*columns, self.matcher))
        return found


_NO_PAIRS = np.empty((0, 2), np.int32)
_NONE_GONE: Mapping[int, Body] = {}
_NO_ROWS, _NO_REGIONS, _NO_NOTES = np.empty(0, np.int32), np.empty((0, 4)), np.empty((0, 7))
_ANYWHERE = np.array([[-np.inf, -np.inf, np.inf, np.inf]] * _VERY_FEW)
_NOT_SEARCHED: Any = _NO_ROWS, _NO_REGIONS, np.zeros(1, np.int64), _NO_ROWS


def none_found(matcher: Matcher) -> FoundContacts:
    """No contacts."""
    return FoundContacts(_NO_PAIRS, np.empty((0, 2)), np.empty(0), _NO_PAIRS, np.empty(0, np.bool_), matcher)


class Portion(NamedTuple):
    """Contacts as listeners get them: the body with the listener's tag ``a`` first."""

    contacts: Integers
    """Which contacts they are."""
    which: Integers
    """Which of ``matches``."""
    rows: ContactRows
    matches: list[Match]


class Contacts(Sequence[Contact]):
    """A list of `Contact`, kept as arrays until one is read; equal to a list of the same contacts.

    The two bodies of a contact are in the order of the first listener that it concerns; for two with the same
    tag, or if both orders fit, the lower id comes first.  Contacts that have ended keep their bodies, and the
    last normal and depth.
    """

    __slots__ = ("_bodies", "_found", "_gone", "_now", "_passed", "_rows")

    def __init__(
        self,
        found: FoundContacts,
        bodies: list[Body | None],
        rows: Integers | None = None,
        gone: Mapping[int, Body] = _NONE_GONE,
        now: Matcher | None = None,
        passed: Collection[int] = (),
    ) -> None:
        self._found, self._rows = found, rows
        """Columns, and which rows of them; None: all."""
        self._bodies, self._gone = bodies, gone
        self._now, self._passed = now, passed
        """Contacts with these numbers began in the update in which they ended: they concern the listeners of
        ``now``, and none of their bodies is gone."""

    @property
    def _columns(self) -> FoundContacts:
        """Their columns, copied when one is first read."""
        if self._rows is not None:
            self._found, self._rows = self._found.at(self._rows), None
        return self._found

    @property
    def ids(self) -> RowPairs:
        """``(m, 2)`` int32, sorted: the ids of the bodies, the lower first."""
        return self._columns.ids

    @property
    def normals(self) -> Floats:
        """``(m, 2)``: unit vectors from the body with the higher id to that with the lower."""
        return self._columns.normals

    @property
    def depths(self) -> Floats:
        """``(m,)``"""
        return self._columns.depths

    def __len__(self) -> int:
        return len(self._found.ids if self._rows is None else self._rows)

    @overload
    def __getitem__(self, index: int) -> Contact: ...
    @overload
    def __getitem__(self, index: slice) -> list[Contact]: ...
    def __getitem__(self, index: int | slice) -> Contact | list[Contact]:
        if isinstance(index, slice):
            return list(self._some(self._numbers()[index]))
        return next(self._some(np.array([range(len(self))[index]], np.int64)))

    def __iter__(self) -> Iterator[Contact]:
        return self._some()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} contacts>" if len(self) > 3 else repr(list(self))

    def calls(self, phase: str) -> Iterable[Call]:
        """A call of each listener that has a function for a phase, for each contact that concerns it."""
        if not (phase in self._found.matcher.phases or self._passed):
            return ()
        return chain.from_iterable(self._lists_of_calls(phase))

    def _lists_of_calls(self, phase: str) -> Iterator[Iterator[Call]]:
        told = self._told(phase)
        listeners = [match.listener for match in told.matches]
        for which, contacts in self._contacts(told):
            yield zip(map(listeners.__getitem__, which), repeat(phase), contacts, strict=False)

    def by_pair(self) -> list[dict[Match, Contact]]:
        """Each contact as every listener that it concerns wants it."""
        told, pairs = self._told(EVERYONE), [dict[Match, Contact]() for _ in range(len(self))]
        numbers = iter(told.contacts.tolist())
        for which, contacts in self._contacts(told):
            for match, contact in zip(which, contacts, strict=True):
                pairs[next(numbers)][told.matches[match]] = contact
        return pairs

    def rows_for(self, listeners: list[Listener]) -> list[ContactRows]:
        """The contacts that concern each listener."""
        matcher, groups = self._found.matcher, self._found.groups
        places = self._numbers() if self._rows is None else self._rows
        numbers = matcher.numbers(groups, places)
        return [self._told_by(matcher, one, places, numbers).rows for one in listeners]

    def _numbers(self) -> Integers:
        return np.arange(len(self), dtype=np.int64)

    def _some(self, rows: Integers | None = None) -> Iterator[Contact]:
        return chain.from_iterable(contacts for _, contacts in self._contacts(self._told(READER, rows)))

    def _told(self, phase: str, rows: Integers | None = None) -> Portion:
        """Contacts, all or some, as the listeners of a phase get them; see `Matcher.told`."""
        rows, groups = self._numbers() if rows is None else rows, self._found.groups
        matcher, places = self._found.matcher, rows if self._rows is None else self._rows[rows]
        if self._now is None:
            told = self._told_by(matcher, phase, places, matcher.numbers(groups, places))
            return told._replace(contacts=rows[told.contacts])
        parts = []
        passed = np.isin(rows, [*self._passed])
        for one, chosen in ((matcher, ~passed), (self._now, passed)):
            selected = places[chosen]
            told = self._told_by(one, phase, selected, one.numbers(groups, selected))
            parts.append(told._replace(contacts=rows[chosen][told.contacts]))
        first, then = parts
        numbers = np.concatenate((first.contacts, then.contacts))
        order = np.argsort(numbers, kind="stable")
        which = np.concatenate((first.which, then.which + len(first.matches)))[order]
        columns: Any = zip(first.rows, then.rows, strict=True)
        columns = ContactRows(*map(np.concatenate, columns))
        return Portion(numbers[order], which, columns.at(order), first.matches + then.matches)

    def _told_by(self, matcher: Matcher, who: str | Listener, places: Integers, numbers: Integers) -> Portion:
        told = matcher.told(who)
        known = places, numbers, *told[:2], *self._found[:3]
        contacts, which, *columns = kernel.turned_contacts(*known)
        return Portion(contacts, which, _new(ContactRows, columns), told.matches)

    def _contacts(self, told: Portion) -> Iterator[tuple[list[int], Iterator[Contact]]]:
        """Which of the matches, and the contacts.

        They come some hundred at a time: all at once would keep Python's garbage collector busy.
        """
        bodies: list[Any] = self._bodies
        for begin in range(0, len(told.contacts), _AT_ONCE):
            portion = slice(begin, begin + _AT_ONCE)
            ids = [column[portion].tolist() for column in told.rows[:2]]
            pairs = [[bodies[i] for i in column] for column in ids]
            for k, number in enumerate(told.contacts[portion].tolist()) if self._gone else ():
                if number not in self._passed:
                    for side in (0, 1):
                        pairs[side][k] = self._gone.get(ids[side][k], pairs[side][k])
            normals = zip(*told.rows.normals[portion].T.tolist(), strict=True)
            columns = zip(*pairs, normals, told.rows.depths[portion].tolist(), strict=True)
            yield told.which[portion].tolist(), map(_new, repeat(Contact), columns)


class Events(NamedTuple):
    """How the contacts of a world have changed since the update before."""

    began: Contacts
    stayed: Contacts
    ended: Contacts


class Handed(NamedTuple):
    """Pairs that stay in contact while tags or listeners have changed: as they were, and as they are."""

    before: Contacts
    now: Contacts

    def calls(self) -> Iterator[Call]:
        """The ends for listeners that a contact no longer concerns, then the begins for new ones."""
        for before, now in zip(self.before.by_pair(), self.now.by_pair(), strict=True):
            for match, contact in before.items():
                if match not in now:
                    yield match.listener, "end", contact
            for match, contact in now.items():
                if match not in before:
                    yield match.listener, "begin", contact


class Began(NamedTuple):
    """The contacts that began for a listener, and the serial numbers of their bodies at that time."""

    rows: ContactRows
    serials: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

    def still(self, store: BodyStore) -> ContactRows:
        """Those of which no body was removed since."""
        (a, b), (serial_a, serial_b) = self.rows[:2], self.serials
        remain = (store.serial[a] == serial_a) & (store.serial[b] == serial_b)
        return self.rows.at(np.flatnonzero(remain & store.alive[a] & store.alive[b]))


class Changes(NamedTuple):
    """All that an update found."""

    events: Events
    handed: Handed | None
    many: tuple[Call, ...] = ()
    """The calls of ``many`` of all listeners."""


class ContactTracker:
    """The contacts at the last update."""

    def __init__(self, store: BodyStore, broad_phase: BroadPhase, listeners: Listeners) -> None:
        self._store = store
        self._broad_phase = broad_phase
        self._listeners = listeners
        self.max_pairs: int | None = None
        """How many pairs an update may find; None for as many as memory allows."""
        self.found = none_found(listeners.matcher)
        self.notes: Notes = []
        """What has stopped movements, or was crossed, since the last update, where it concerns a listener."""
        self.searched: Any = None
        """What the last movement of many found near them, if nothing else has changed since: their rows, the
        region ``(m, 4)`` of each, `Near`, and the matcher."""
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
            how = kernel.STOPPED if stopped else kernel.CROSSED
            self.notes.append([(mover, other, serial.item(mover), serial.item(other), *normal, how)])

    def report(
        self, rows: RowPairs, responses: npt.NDArray[np.int8], hits: Floats, crossed: Floats
    ) -> tuple[HitArrays, HitArrays]:
        """What movers hit and crossed as arrays, from hits as kernels write them; `note` for all of it."""
        store, sets = self._store, self._store.tag_sets
        if not sets.heard_now.exact:
            movers, others = rows[crossed[:, 8].astype(np.int64)], crossed[:, 5].astype(np.int32)
            crossed = crossed[self._concern(movers, others) | store.sensor[movers] | store.sensor[others]]
        if not (len(hits) or len(crossed)):
            return NO_HITS, NO_HITS
        tags, more = (sets.bits, store.group, store.category, store.mask), (store.renewed, store.serial)
        known = tags, more, self.found.ids, store.space.lengths
        met, passed, notes = kernel.report_hits(rows, responses, CROSS, hits, crossed, *known)
        notes = self._wanted_notes(notes)
        if len(notes):
            self.notes.append(notes)
        return _new(HitArrays, met), _new(HitArrays, passed)

    def forget(self, noted: int) -> None:
        """Keep only what was noted at that time: the rest belongs to a movement that was interrupted."""
        del self.notes[noted:]

    def find(self) -> tuple[FoundContacts, Changes]:
        """What is in contact now, and how it differs from the last update; nothing has changed yet."""
        store, before = self._store, self.found
        matcher = self._listeners.matcher
        is_idle = not (self.notes or store.retagged or np.count_nonzero(store.touched[: len(store.bodies)]))
        if is_idle and before.matcher is matcher and before.overlaps.all():
            now, changes = before, self._unchanged(before)
        else:
            now, changes = self._renewed(matcher)
        if self.max_pairs is not None and self.candidates > self.max_pairs:
            raise PairLimitExceeded(self.max_pairs)
        return now, changes

    # ---- finding

    def concerns(self, i: int, j: int) -> bool:
        """Whether two rows concern a listener."""
        matcher, group = self._listeners.matcher, self._store.group
        return bool(matcher.listeners and matcher.matches(group.item(i), group.item(j)))

    def _concern(self, i: Rows, j: Rows) -> npt.NDArray[np.bool_]:
        """`concerns` for many, where bits alone do not decide it."""
        group, bits = self._store.group, self._store.tag_sets.bits
        may: npt.NDArray[np.bool_] = bits[group[i], 0] & bits[group[j], 1] != 0
        may[may] = self._listeners.matcher.concern(np.column_stack((group[i[may]], group[j[may]])))
        return may

    def _limit(self) -> int:
        """How many pairs this update may find."""
        if self.max_pairs is not None:
            return self.max_pairs
        if self._store.live < _FEW_BODIES:
            return NO_LIMIT
        return usable_memory() // _BYTES_A_PAIR

    def _near(self, rows: npt.NDArray[np.int32]) -> tuple[Any, ...]:
        """What is near rows that were touched, as `kernels.pairs.changes.renew` takes it."""
        store, broad_phase = self._store, self._broad_phase
        bounds = _ANYWHERE[: len(rows)]
        if len(rows) <= _VERY_FEW:
            found = [broad_phase.gathered(store.bounds(row), layers=LISTENED) for row in rows.tolist()]
            neighbors = Near(np.array([0, *accumulate(map(len, found))], np.int64), np.concatenate(found))
        else:
            bounds, limit = store.table.bounds(rows), self._limit() if len(rows) > _FEW else NO_LIMIT
            neighbors = broad_phase.near_regions(rows, bounds, LISTENED, limit, moving=False)
        return rows, bounds, *self._wanted(rows, neighbors)

    def _wanted(self, rows: Rows, neighbors: Near) -> Near:
        """What concerns a listener of what is near some rows, where bits alone do not decide that."""
        if self._store.tag_sets.heard_now.exact:
            return neighbors
        counts = np.diff(neighbors.first).astype(np.intp, copy=False)
        return neighbors.at(self._concern(np.repeat(rows, counts), neighbors.rows))

    def _wanted_notes(self, notes: Floats) -> Floats:
        """The same of notes."""
        if self._store.tag_sets.heard_now.exact:
            return notes
        return notes[self._concern(*notes[:, :2].astype(np.int32).T)]

    # ---- comparing: which pairs began, stayed and ended

    def _unchanged(self, now: FoundContacts) -> Changes:
        """If nothing was touched, all contacts stay: 30,000 boxes at rest take a sixth of comparing them."""
        self._store.shared, self.changed, self.candidates = True, 0, 0
        bodies, nothing = self._store.bodies, none_found(now.matcher)
        none = Contacts(nothing, bodies)
        stayed = Contacts(now, bodies) if len(now.ids) else none
        return Changes(Events(none, stayed, none), None)

    def _renewed(self, matcher: Matcher) -> tuple[FoundContacts, Changes]:
        """All contacts now, and which began, which stayed and which ended."""
        store, before, sets = self._store, self.found, self._store.tag_sets
        one = len(self.notes) == 1  # not copied where all have moved in one call
        notes = np.asarray(self.notes[0]) if one else np.concatenate([_NO_NOTES, *self.notes])
        notes = self._wanted_notes(notes)
        neighbors, last = _NOT_SEARCHED, self.searched
        if last is not None and last[4] is matcher and not store.retagged:
            neighbors = last[:4]
            if not sets.heard_now.exact:
                neighbors = (*last[:2], *self._wanted(last[0], Near(*last[2:4])))
        columns = store.table.columns, store.marks, (store.alive, store.renewed, store.serial)
        known = *columns, LISTENED, len(store.bodies), store.space.lengths
        others = notes, before[:5], (sets.bits, store.group)
        state, *found, touched = kernel.renew(*known, -1, neighbors, *others)
        self.changed = len(touched)
        if state == kernel.SEARCH:
            _, *found, _ = kernel.renew(*known, self.changed, self._near(touched), *others)
        contacts, all_pairs, (began, stayed, were, ended), (over, self.candidates) = found
        now: FoundContacts = _new(FoundContacts, (*contacts, matcher))
        every: FoundContacts = _new(FoundContacts, (*all_pairs, matcher))
        bodies, store.shared = store.bodies, True
        other, passed, ends = None, set[int](), every
        if before.matcher is not matcher or (over and store.gone):
            other, ends = matcher, every._replace(matcher=before.matcher)
            passed = {len(every.ids) - 1 - row for row in began.tolist() if row >= len(now.ids)}
        handed = None
        if before.matcher is not matcher or store.retagged:
            handed = self._handed(before, now, were, stayed)
        over_now = Contacts(ends, bodies, ended, store.gone, other, passed)
        begun, stays = Contacts(every, bodies, began), Contacts(now, bodies, stayed)
        events: Events = _new(Events, (begun, stays, over_now))
        many = tuple(self._many(events.began, handed)) if "many" in matcher.phases else ()
        return now, _new(Changes, (events, handed, many))

    def _many(self, began: Contacts, handed: Handed | None) -> Iterator[Call]:
        """The calls of listeners that want all contacts that began at once."""
        listeners = [one for one in began._found.matcher.listeners if one.many is not None]
        handed_over = [] if handed is None else [*handed.calls()]
        for listener, rows in zip(listeners, began.rows_for(listeners), strict=True):
            more = [contact for one, phase, contact in handed_over if one is listener and phase == "begin"]
            if more:
                a, b, *others = zip(*more, strict=True)
                columns = [body.id for body in a], [body.id for body in b], *others
                both: Any = zip(rows, columns, strict=True)
                rows = ContactRows(*(np.concatenate((x, y), dtype=x.dtype) for x, y in both))
                rows = rows.at(np.lexsort((np.maximum(rows.a, rows.b), np.minimum(rows.a, rows.b))))
            if len(rows.a):
                serial = self._store.serial
                yield listener, "many", Began(rows, (serial[rows.a], serial[rows.b]))

    def _handed(self, before: FoundContacts, now: FoundContacts, then: Integers, since: Integers) -> Handed:
        """The pairs that stayed but concern other listeners than before."""
        groups = np.hstack((before.groups[then], now.groups[since]))
        distinct, which = np.unique(groups, axis=0, return_inverse=True)
        others = [
            before.matcher.matches(a, b) != now.matcher.matches(c, d) for a, b, c, d in distinct.tolist()
        ]
        chosen = np.array(others, np.bool_)[which.ravel()]
        bodies = self._store.bodies
        return Handed(Contacts(before, bodies, then[chosen]), Contacts(now, bodies, since[chosen]))
