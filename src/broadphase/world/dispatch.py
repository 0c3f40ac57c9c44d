"""Event dispatch: which listeners are called for which contacts, and when.

One rule: for each listener and pair of bodies the calls are ``begin``, then ``stay`` at each further update,
then ``end``; then it may begin again.  A contact concerns a listener as long as the two bodies touch and have
its tags, from the first update at which it listens.  The rule holds whatever is added, removed, retagged,
moved, snapshotted or restored, between updates or within a call, and whatever a call raises.  Only a listener
that was removed gets no ``end``.

Bodies touch at an update if they overlap, or if one was stopped by the other since the update before, even
though the two only share an edge.  Bodies that a movement crossed, and that are apart again, begin and end in
the same update.

So the calls of a listener follow from what concerned it at the last update and what concerns it at this one.
Both are found from the contacts and the listeners of these moments; nothing is kept by listener, except calls
that an exception left over (``due``) and begins that were not called because a body was removed
(``unheard_begins``).  A snapshot saves and restores all of it.
"""

from collections.abc import Iterator
from itertools import islice

from broadphase.world.bodies import Body
from broadphase.world.checks import Checks
from broadphase.world.contacts import Call, Changes, Events, Handed
from broadphase.world.listeners import Listener
from broadphase.world.sprites import SpriteWatch
from broadphase.world.state import State
from broadphase.world.tile_listeners import TileListeners


class Dispatch:
    """Finds the contacts of each update, and calls the listeners."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.due: Changes | tuple[Call, ...] = ()
        """The calls of this update, or those left over from the one before."""
        self.done = 0
        """How many calls of ``due`` have been made."""
        self.unheard_begins: set[tuple[Listener, Body, Body]] = set()
        """Begins that were not called, because a body was removed."""
        self.calling = False
        self.made = 0
        """How many functions the last update called."""
        self.watch: SpriteWatch | None = None
        self.checks: Checks | None = None
        self.on_tiles = TileListeners(state)
        self.events: Events
        """What the last update found, also if a function raised."""
        state.contacts.update(self)
        self.due = ()

    def moves(self, what: Body | str) -> None:
        """Let the checks know that a body, or a call of many, is about to move."""
        if self.checks is not None:
            self.checks.moved(what)

    def update(self) -> Events:
        """See `World.update`."""
        if self.calling:
            raise RuntimeError("update() was called from a function that it calls; let it return first")
        if self.watch is not None:
            self.watch.look(list(self._state.store))
        if self.checks is not None:
            self.checks.look()
        self.made = 0
        if self.due:
            self.due, self.done = self.remaining(), 0
            self._call_all()
        changes = self._state.contacts.update(self)
        self._call_all()
        if self.on_tiles.listeners:
            self.calling = True
            try:
                self.on_tiles.update()
            finally:
                self.calling = False
        return changes.events

    # ---- making the calls

    def _call_all(self) -> None:
        """Make all calls; each is counted as done first, so that an interrupt never repeats it."""
        self.calling = True
        try:
            for listener, phase, contact in islice(_calls(self.due), self.done, None):
                self.made += 1
                if phase == "many":
                    began = contact.still(self._state.store)
                    self.done += 1
                    if listener.active and listener.many is not None and len(began.a):
                        listener.many(began)
                    continue
                if phase == "end":
                    if (
                        self.unheard_begins
                        and (key := (listener, contact.a, contact.b)) in self.unheard_begins
                    ):
                        self.done += 1
                        self.unheard_begins.remove(key)
                        continue
                elif contact[0]._row < 0 or contact[1]._row < 0:  # one was removed
                    self.done += 1
                    if phase == "begin" and listener.end is not None:
                        self.unheard_begins.add((listener, contact.a, contact.b))
                    continue
                function = getattr(listener, phase)
                self.done += 1
                if listener.active and function is not None:
                    function(contact)
            self.due, self.done = (), 0
        finally:
            self.calling = False

    def remaining(self) -> tuple[Call, ...]:
        """The calls of this update that an interruption would leave over."""
        rest = islice(_calls(self.due), self.done, None)
        return tuple(call for call in rest if call[1] != "stay")


def between(call: Call) -> tuple[Listener, Body, Body]:
    """The listener of a call and the two bodies."""
    listener, _, contact = call
    return listener, contact.a, contact.b


def _calls(due: Changes | tuple[Call, ...]) -> Iterator[Call]:
    """The calls to make, the same each time.

    They are made one by one: a hundred thousand at once would keep Python's garbage collector busy.
    """
    if not isinstance(due, Changes):
        yield from due
        return
    (began, stayed, ended), begun = due.events, set()
    if due.handed is not None:
        for call in _handed_over(due.handed):
            listener, phase, _ = call
            if phase == "begin" and listener.stay is not None:
                begun.add(between(call))
            if getattr(listener, phase) is not None:
                yield call
    if began.ids.size:
        yield from began.calls("begin")
    yield from due.many
    if stayed.ids.size:
        stays = stayed.calls("stay")
        yield from (call for call in stays if between(call) not in begun) if begun else stays
    if ended.ids.size:
        yield from ended.calls("end")


def _handed_over(handed: Handed) -> Iterator[Call]:
    """The ends for listeners that a contact no longer concerns, then the begins for new ones."""
    for before, now in zip(handed.before.by_pair(), handed.now.by_pair(), strict=True):
        for match, contact in before.items():
            if match not in now:
                yield match.listener, "end", contact
        for match, contact in now.items():
            if match not in before:
                yield match.listener, "begin", contact
