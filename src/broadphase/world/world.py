"""The world: bodies with shapes and tags, and who hears when they meet.

A frame is: move bodies (`Body.move_to`, `World.move`), then `World.update`, which finds what is in contact
and calls whoever listens.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from broadphase.indexes.base import Index
from broadphase.indexes.storage import EVERY_BIT
from broadphase.shapes.kinds import Shape
from broadphase.shapes.narrow_phase import Contact
from broadphase.world.asking import Asking
from broadphase.world.body import Body
from broadphase.world.body_store import Floats
from broadphase.world.events import Contacts, Events
from broadphase.world.layers import LISTENED
from broadphase.world.listeners import Callback, Listener
from broadphase.world.moving_many import MovingMany
from broadphase.world.snapshot import Snapshot, restore, snapshot


@dataclass(frozen=True, slots=True)
class WorldStats:
    """What a world holds, and what its last update did."""

    bodies: int
    static: int
    listened: int
    """How many bodies somebody listens for."""
    moved: int
    """How many boxes the last update handed to the broad phase."""
    candidates: int
    """How many pairs the narrow phase tested."""
    contacts: int
    began: int
    stayed: int
    ended: int
    calls: int
    """How many functions were called."""


class _Call(NamedTuple):
    listener: Listener
    phase: str
    contact: Contact


class World(MovingMany, Asking):
    """Bodies that meet, move and are looked for.

    Shapes that share only an edge or a point are not in contact, and do not stop each other.  A world is
    for one thread at a time.  Two worlds that are given the same calls stay the same, bit for bit.

    Parameters
    ----------
    broadphase : str or Index
        ``"auto"``, a name of `broadphase.INDEXES`, or an empty 2-D float64 index: it serves as the pattern
        for the indexes that the world keeps.

    Examples
    --------
    >>> import broadphase as bp
    >>> world = bp.World()
    >>> player = world.add(bp.Box(0, 0, 10, 10), tag="player")
    >>> coin = world.add(bp.Circle(30, 5, 3), tag="coin", sensor=True)
    >>> @world.on("player", "coin")
    ... def take(contact):
    ...     print("taken")
    ...     world.remove(contact.b)
    >>> _ = world.update()
    >>> move = world.move(player, 25, 0)
    >>> events = world.update()
    taken
    >>> len(events.began), len(world)
    (1, 1)
    """

    def __init__(self, broadphase: str | Index = "auto") -> None:
        super().__init__(broadphase)
        self._left: tuple[_Call, ...] = ()
        self._skipped: set[tuple[Listener, Body, Body]] = set()
        self._calling = False
        self._made = self._sent = 0
        self._events = self._tracker.update()

    # ---- bodies

    def add(
        self,
        shape: Shape,
        *,
        tag: Any = None,
        static: bool = False,
        sensor: bool = False,
        category: int = 1,
        mask: int = EVERY_BIT,
        data: Any = None,
    ) -> Body:
        """Put a body into the world, whatever is there.

        Parameters
        ----------
        shape : Box, Circle or Polygon
            Where it is, too.
        tag : hashable, optional
            What `on` knows it by; several in a set, list or tuple.
        static : bool
            Whether it hardly ever moves: a wall.  Two static bodies are never in contact.
        sensor : bool
            Whether it has contacts but does not block.
        category, mask : int
            32-bit sets: two bodies meet, and block each other, where each one's category and the other's
            mask share a bit.
        data : object, optional
            Found again as ``body.data``.

        Returns
        -------
        Body

        Raises
        ------
        TypeError, ValueError
            An argument is none of these; nothing has changed.
        """
        return self._store.add(shape, tag, static, sensor, category, mask, data)

    def remove(self, body: Body) -> None:
        """Take a body out.  Its contacts end with the next `update`.

        Raises
        ------
        TypeError, ValueError
            It is no body, was removed before, or belongs to another world.
        """
        self._store.remove(body)

    def clear(self) -> None:
        """Take all bodies out; who listens goes on listening."""
        self._store.clear()

    def __len__(self) -> int:
        return self._store.live

    def __iter__(self) -> Iterator[Body]:
        """All bodies by id, as they are now: bodies may be added and removed on the way."""
        return iter([body for body in self._store.bodies if body is not None])

    def __contains__(self, body: object) -> bool:
        return isinstance(body, Body) and body._store is self._store and body.alive

    def body(self, id: int) -> Body:  # noqa: A002 - the word that users know
        """The body that has an id now.

        Raises
        ------
        ValueError
            None has.
        """
        return self._body(int(self._store.rows_of(np.array([id]))[0]))

    # ---- contacts

    def on(
        self,
        a: Any,
        b: Any,
        begin: Callback | None = None,
        stay: Callback | None = None,
        end: Callback | None = None,
    ) -> Listener:
        """Listen for contacts between bodies with tag ``a`` and bodies with tag ``b``.

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
        self._skipped = {one for one in self._skipped if one[0].active}

    def update(self) -> Events:
        """Find what is in contact, and call whoever listens.

        Calls come in this order: all that began, all that stayed, all that ended; in each by the ids of the
        bodies, then by who listened first.  A function may add, move and remove bodies and listeners: what
        it adds or moves counts from the next update on.  For a body that is removed on the way nobody is
        told any more that a contact began or stayed; whoever was told, or has not asked, that it began is
        told by the next update that it has ended.

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
        self._made = 0
        left, self._left = self._left, ()
        self._call_all(iter(left))
        self._layers.sync(LISTENED)
        self._sent = self._layers.sent
        events = self._events = self._tracker.update()
        phases = zip(events, ("begin", "stay", "end"), strict=True)
        self._call_all(call for contacts, phase in phases for call in self._calls(contacts, phase))
        return events

    @property
    def events(self) -> Events:
        """What the last update found, also if a function raised."""
        return self._events

    def _calls(self, contacts: Contacts, phase: str) -> Iterator["_Call"]:
        """Made one by one: a hundred thousand at once would keep Python's garbage collector busy."""
        if not len(contacts) or not any(getattr(one, phase) for one in contacts.matcher.listeners):
            return
        heard = contacts.matcher.chosen(
            contacts.groups, lambda found: any(getattr(match.listener, phase) for match in found)
        )
        for match, contact in contacts.told(np.flatnonzero(heard)):
            if getattr(match.listener, phase) is not None:
                yield _Call(match.listener, phase, contact)

    def _call_all(self, calls: Iterator["_Call"]) -> None:
        self._calling = True
        try:
            for call in calls:
                self._made += 1
                self._call(call)
        except BaseException:
            self._left = tuple(call for call in calls if call.phase != "stay")
            raise
        finally:
            self._calling = False

    def _call(self, call: _Call) -> None:
        listener, contact = call.listener, call.contact
        between = (listener, contact.a, contact.b)
        if call.phase == "end":
            if between in self._skipped:
                self._skipped.remove(between)
                return
        elif not (contact.a.alive and contact.b.alive):
            if call.phase == "begin" and listener.end is not None:
                self._skipped.add(between)
            return
        function = getattr(listener, call.phase)
        if listener.active and function is not None:
            function(contact)

    # ---- many at once

    @property
    def ids(self) -> Any:
        """``(len,)`` int32: the ids of all bodies, ascending."""
        return self._store.rows()

    @property
    def positions(self) -> Floats:
        """``(len, 2)``: where all bodies are, by id; a copy.  Set it to move them all, see `move_all`."""
        rows = self._store.rows()
        return np.column_stack((self._store.x[rows], self._store.y[rows]))

    @positions.setter
    def positions(self, positions: Any) -> None:
        self.move_all(self._store.rows(), positions)

    # ---- going back

    def snapshot(self, *, tiles: bool = False) -> Snapshot:
        """All that `restore` needs to come back to this moment.

        Bodies with places, shapes, tags, rules and order of ids; contacts, so that the next update says
        the right things; calls that an exception left over.  ``data`` is kept by reference: what it refers
        to does not go back.  Listeners stay as they are.

        Parameters
        ----------
        tiles : bool
            Whether to keep the cells of the tile map too; without, the map is left alone.

        Returns
        -------
        Snapshot
            Good for any number of calls of `restore`.
        """
        return snapshot(self, tiles)

    def restore(self, moment: Snapshot) -> None:
        """Come back to the moment of a snapshot.

        Handles of bodies that were there then are good again, also if they were removed since; those of
        bodies that were added since are removed.

        Raises
        ------
        ValueError
            The snapshot is of another world.
        RuntimeError
            It was called from a function that `update` calls.
        """
        if self._calling:
            raise RuntimeError(
                "restore() was called from a function that update() calls; let it return first"
            )
        restore(self, moment)

    # ---- about itself

    @property
    def stats(self) -> WorldStats:
        """What the world holds, and what its last update did."""
        store, (began, stayed, ended) = self._store, map(len, self._events)
        listened = (store.layer == LISTENED[0]) | (store.layer == LISTENED[1])
        return WorldStats(
            bodies=store.live,
            static=int((store.alive & store.static).sum()),
            listened=int((store.alive & listened).sum()),
            moved=self._sent,
            candidates=self._tracker.candidates,
            contacts=began + stayed,
            began=began,
            stayed=stayed,
            ended=ended,
            calls=self._made,
        )

    def validate(self) -> None:
        """Check the inner invariants, for tests.

        Raises
        ------
        AssertionError
            One is broken; the message says which.
        """
        self._store.check()
        self._layers.check()

    def __repr__(self) -> str:
        tiles = "" if self._tiles is None else f", {self._tiles!r}"
        return f"<World of {len(self)} bodies{tiles}>"
