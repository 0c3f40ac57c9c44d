"""Who is told what, and when.

One rule: for each listener and pair of bodies the calls are ``begin``, then ``stay`` at each further update,
then ``end``; then it may begin anew.  A contact concerns a listener as long as the two bodies touch and have
its tags, from the first update at which it listens.  Whatever is added, removed, retagged, moved, snapshotted
or restored, between updates or within a call, and whatever a call raises, the rule holds; only who listens no
longer is told no ``end``.

So what a listener is told follows from what concerned it at the last update and what concerns it at this one.
Both are found from the contacts and the listeners of these moments; nothing is kept by listener, except calls
that an exception left over (``_due``) and begins that nobody was told because a body was gone (``_untold``).
All of it goes back with a snapshot.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from broadphase.indexes import Choice
from broadphase.indexes.base import Index
from broadphase.world.body import Body
from broadphase.world.contact import Contact
from broadphase.world.events import Changes, Events, Handed
from broadphase.world.layers import LISTENED
from broadphase.world.listeners import Callback, Listener
from broadphase.world.sprites import SpriteWatch
from broadphase.world.state import State


class Call(NamedTuple):
    """What one listener is told of one contact."""

    listener: Listener
    phase: str
    contact: Contact

    @property
    def between(self) -> tuple[Listener, Body, Body]:
        """Who is told about whom."""
        return self.listener, self.contact.a, self.contact.b


class Telling(State):
    """The part of `World` that finds contacts and tells of them."""

    def __init__(self, broadphase: Choice | Index) -> None:
        super().__init__(broadphase)
        self._due: Changes | tuple[Call, ...] = ()
        """What is told now, or was left over."""
        self._done = 0
        """How many calls of it have been made."""
        self._untold: set[tuple[Listener, Body, Body]] = set()
        self._calling = False
        self._made = self._sent = 0
        self._watch: SpriteWatch | None = None
        self._events = self._tracker.update().events

    def on(
        self,
        a: Any,
        b: Any,
        begin: Callback | None = None,
        stay: Callback | None = None,
        end: Callback | None = None,
    ) -> Listener:
        """Listen for contacts between bodies with tag ``a`` and bodies with tag ``b``.

        Of each pair of bodies a listener is told ``begin``, then ``stay`` with each further update, then
        ``end``.  A contact concerns it as long as both bodies touch and have the tags: one in progress begins
        with the next update for who comes late, and for bodies that get the tags while they touch; it ends
        for those that lose them, and goes on where other tags change.  A body that passes another within
        one `World.move` begins and ends with the same update.  After ``off`` nothing is told any more, no
        ``end`` either.  This holds in every order of `add`, `remove`, tags, `on`, `off`, `snapshot` and
        `restore`, also within calls, and whatever a call raises.

        Pairs of tags that nobody listens for are not even tested.

        Parameters
        ----------
        a, b : hashable
            Tags, also the same one twice; or `broadphase.ANY`.
        begin, stay, end : callable, optional
            Called by `update` with a `Contact` whose ``a`` has tag ``a`` and whose ``b`` has tag ``b``; where
            both bodies have both, ``a`` is that with the lower id.  Without any of them, the contacts are
            only found in what `update` returns.

        Returns
        -------
        Listener
            ``remove()`` ends it.  As a decorator it takes the function as ``begin``.

        Raises
        ------
        TypeError
            A tag is not hashable, or a function cannot be called.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> fox, hen = (world.add(bp.Box(0, 0, 5, 5), tag=tag) for tag in ("fox", "hen"))
        >>> words = [lambda contact, word=word: print(word) for word in ("bite", "chew", "flee")]
        >>> listener = world.on("fox", "hen", *words)
        >>> events = world.update(), world.update()
        bite
        chew
        >>> hen.x = 20
        >>> events = world.update()
        flee
        """
        return self._listeners.add(a, b, begin, stay, end)

    def off(self, what: Listener | Callback) -> None:
        """Listen no longer: what `on` returned, or a function that was given to it (wherever it was).

        Contacts that nobody listens for any more have ended with the next `update`, which calls nobody.

        Raises
        ------
        ValueError
            Nothing listens by this name.
        """
        known = self._listeners.matcher.listeners
        gone = [one for one in known if one is what or what in (one.begin, one.stay, one.end)]
        if not gone:
            raise ValueError(f"{what!r} is not listening")
        self._listeners.remove(gone)

    def update(self) -> Events:
        """Find what is in contact, and call whoever listens; see `on` for the rule.

        Calls come in this order: where bodies go on touching while tags or listeners changed, each ``end``,
        then each ``begin``; all that began, all that stayed, all that ended.  In each they come by the ids
        of the bodies, then by who listened first.  A function may add, move and remove bodies and listeners:
        what it adds or moves counts from the next update on.  For a body that is removed on the way nobody
        is told any more that a contact began or stayed; whoever was told, or has not asked, that it began is
        told by the next update that it has ended.

        Pairs that `World.move` has brought past each other since the last update, and that were in contact
        neither then nor now, begin and end, once each, with depth 0.

        Returns
        -------
        Events
            ``began``, ``stayed``, ``ended``: all contacts between tags that somebody listens for, whether
            or not a function was called.

        Raises
        ------
        RuntimeError
            It was called from a function that it calls.
        Exception
            What a function raises comes through.  The world is sound then, and the calls that were left
            over (of what began or ended) are made first by the next update.
        """
        if self._calling:
            raise RuntimeError("update() was called from a function that it calls; let it return first")
        if self._watch is not None:
            self._watch.look(list(self._store))
        self._made = 0
        left = self._to_come()
        if left:
            self._due, self._done = left, 0
            self._call_all()
        self._layers.sync(LISTENED)
        self._sent = self._layers.sent
        changes = self._tracker.update()
        # No calls in these lines: what has changed is told, whatever comes in between.
        self._events, self._due, self._done = changes.events, changes, 0
        self._call_all()
        return changes.events

    @property
    def events(self) -> Events:
        """What the last update found, also if a function raised."""
        return self._events

    # ---- making the calls

    def _call_all(self) -> None:
        self._calling = True
        try:
            for call in islice(_calls(self._due), self._done, None):
                self._made += 1
                self._call(call)
            self._due, self._done = (), 0
        finally:
            self._calling = False

    def _to_come(self) -> tuple[Call, ...]:
        """The calls of this update that an interruption would leave over."""
        rest = islice(_calls(self._due), self._done, None)
        return tuple(call for call in rest if call.phase != "stay")

    def _call(self, call: Call) -> None:
        """Make a call, which counts as done before anything can come in between."""
        listener, contact, between = call.listener, call.contact, call.between
        if call.phase == "end":
            if between in self._untold:
                self._done += 1
                self._untold.remove(between)
                return
        elif not (contact.a.alive and contact.b.alive):
            unheard = call.phase == "begin" and listener.end is not None
            self._done += 1
            if unheard:
                self._untold.add(between)
            return
        function = getattr(listener, call.phase)
        self._done += 1
        if listener.active and function is not None:
            function(contact)


def _calls(due: Changes | tuple[Call, ...]) -> Iterator[Call]:
    """What is to be told, the same whenever it is asked for."""
    return _calls_of(due) if isinstance(due, Changes) else iter(due)


def _calls_of(changes: Changes) -> Iterator[Call]:
    """Made one by one: a hundred thousand at once would keep Python's garbage collector busy."""
    events, begun = changes.events, set()
    for call in _handed_over(changes.handed):
        if call.phase == "begin" and call.listener.stay is not None:
            begun.add(call.between)
        if getattr(call.listener, call.phase) is not None:
            yield call
    for match, contact in events.began.told("begin"):
        yield Call(match.listener, "begin", contact)
    for match, contact in events.stayed.told("stay"):
        call = Call(match.listener, "stay", contact)
        if not begun or call.between not in begun:
            yield call
    for match, contact in events.ended.told("end"):
        yield Call(match.listener, "end", contact)


def _handed_over(handed: Handed) -> Iterator[Call]:
    """Who is told of a contact no longer, then who is from now on."""
    if not len(handed.now):
        return
    for before, now in zip(handed.before.by_pair(), handed.now.by_pair(), strict=True):
        for match, contact in before.items():
            if match not in now:
                yield Call(match.listener, "end", contact)
        for match, contact in now.items():
            if match not in before:
                yield Call(match.listener, "begin", contact)
