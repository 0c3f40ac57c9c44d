"""The world: bodies with shapes and tags, and who hears when they meet.

A frame is: move bodies (`Body.move_to`, `World.move`), then `World.update`, which finds what is in contact
and calls whoever listens: of each pair ``begin``, ``stay``..., ``end``; see `World.on`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from broadphase.indexes import Choice, arguments
from broadphase.indexes.base import Index
from broadphase.indexes.storage import EVERY_BIT
from broadphase.shapes.kinds import Shape
from broadphase.space import as_period
from broadphase.world.asking import Asking
from broadphase.world.body import Body
from broadphase.world.body_rows import Floats
from broadphase.world.layers import LISTENED
from broadphase.world.many_bodies import add_many, remove_many
from broadphase.world.sprites import SpriteWatch
from broadphase.world.telling import Telling
from broadphase.world.turning import Turning
from broadphase.world.walking import Walking

if TYPE_CHECKING:
    from broadphase.world.snapshot import Snapshot


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


class World(Walking, Turning, Asking, Telling):
    """Bodies that meet, move and are looked for.

    Shapes that share only an edge or a point are not in contact, and do not stop each other.  A world is
    for one thread at a time.  Two worlds that are given the same calls stay the same, bit for bit.

    Parameters
    ----------
    broadphase : str or Index
        ``"auto"``, a name of `broadphase.INDEXES`, or an empty 2-D float64 index: it serves as the pattern
        for the indexes that the world keeps.
    period : (float, float), float, optional
        The world begins again after so much on x and on y: it has no edges.  ``None`` or inf for an axis that
        goes on; one number is for both.  Places are brought into ``0 <= x < period``; what lies across the
        seam touches, blocks and is found at the other edge.  See `World.period`.
    check_sprites : bool
        For finding mistakes: whether each `update` looks at the bodies whose ``data`` is a sprite (of pygame,
        arcade, pyglet), and warns of those whose picture has moved while the body stayed, once each, with
        `broadphase.SpriteWarning`.  Costs some microseconds a sprite; nothing where it is off.

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

    def __init__(
        self, broadphase: Choice | Index = "auto", *, period: Any = None, check_sprites: bool = False
    ) -> None:
        lengths = as_period(period, 2)
        if lengths is not None:
            # Here: ten files more, 3 of the 60 ms that a first update takes.
            from broadphase.world.periodic_world import periodic
            from broadphase.world.torus import Torus

            self.__class__ = periodic(type(self))
            self._torus = Torus(lengths)
        super().__init__(broadphase)
        self.check_sprites = check_sprites

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

    # ---- many at once

    def add_many(
        self,
        shapes: Any,
        *,
        tag: Any = None,
        static: bool = False,
        sensor: bool = False,
        category: int = 1,
        mask: int = EVERY_BIT,
        data: Sequence[Any] | None = None,
    ) -> list[Body]:
        """Put many bodies into the world: `add` for lists and arrays.

        Parameters
        ----------
        shapes : list of Box, Circle and Polygon, or array_like, shape (m, 4)
            An array is of boxes, ``min_x, min_y, max_x, max_y``.
        tag, static, sensor, category, mask
            As of `add`, the same for all.
        data : sequence, optional
            ``body.data``, one each.

        Returns
        -------
        list of Body

        Raises
        ------
        TypeError, ValueError
            An argument is none of these; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> coins = world.add_many([[0, 0, 4, 4], [10, 0, 14, 4]], tag="coin", data=["a", "b"])
        >>> [body.data for body in world.query_point((12, 2))]
        ['b']
        >>> world.remove_many(coins)
        >>> len(world)
        0
        """
        return add_many(self._store, shapes, data, (tag, static, sensor, category, mask))

    def remove_many(self, bodies: Any) -> None:
        """Take many bodies out, see `remove`.

        Parameters
        ----------
        bodies : list of Body, or array of ids

        Raises
        ------
        TypeError, ValueError
            One is not in this world, or named twice; nothing has changed.
        """
        remove_many(self._store, bodies)

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

    def snapshot(self, *, tiles: bool = False) -> "Snapshot":
        """All that `restore` needs to come back to this moment.

        Bodies with places, shapes, tags, rules and order of ids; contacts, so that the next update says
        the right things; calls that an exception left over, or that are still to come where it is taken
        within a call: the next update after `restore` makes them first.  ``data`` is kept by reference:
        what it refers to does not go back.  Listeners stay as they are: for those that came later,
        contacts in progress begin.

        Parameters
        ----------
        tiles : bool
            Whether to keep the cells of the tile map too; without, the map is left alone.

        Returns
        -------
        Snapshot
            Good for any number of calls of `restore`.
        """
        from broadphase.world.snapshot import snapshot

        return snapshot(self, tiles)

    def restore(self, moment: "Snapshot") -> None:
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
        from broadphase.world.snapshot import restore

        restore(self, moment)

    # ---- about itself

    @property
    def period(self) -> tuple[float | None, float | None] | None:
        """The length of the world on x and y, ``None`` where it goes on; ``None`` alone if it does on both.

        In a world with a period:

        - All places that it gives are inside it: ``0 <= x < period``, of bodies (by their ``x``, so that
          ``bounds`` may reach beyond), of movements, of hits and rays.  What it is given may lie anywhere.
        - A movement through the seam is one movement, up to 100 times around.  A body that it comes by again
          is hit again; ``crossed`` names each once.
        - A contact is with the nearest image.  Where long bodies touch on both sides, the deeper one counts.
        - Rays go around until their greatest distance, which must be finite; each body is hit once, where it
          is hit first.  ``query_box`` with a box that is longer than the world finds everything on that axis.
        - A body may be as long as the period, and no longer.
        - A tile map reaches from 0 to the period, on each axis that has one.

        Beyond the seam places are rounded as all of them are.

        Examples
        --------
        >>> import broadphase as bp
        >>> space = bp.World(period=(800, 600))
        >>> ship = space.add(bp.Circle(790, 300, 8))
        >>> rock = space.add(bp.Circle(20, 300, 10), static=True)
        >>> move = space.move(ship, 5, 0)
        >>> move.x, space.move(ship, 50, 0).hits[0].other is rock, round(ship.x, 9)
        (795.0, True, 2.0)
        >>> space.nearest((799, 300)).distances[0] < 3, [body.id for body in space.query_point((-1, 300))]
        (True, [0])
        """
        return None

    @property
    def check_sprites(self) -> bool:
        """Whether each `update` warns of sprites whose picture has moved while their body stayed."""
        return self._watch is not None

    @check_sprites.setter
    def check_sprites(self, check_sprites: bool) -> None:
        if arguments.flag(check_sprites, "check_sprites") != self.check_sprites:
            self._watch = SpriteWatch() if check_sprites else None

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
            contacts=len(self._tracker.found.ids),
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
        around = "" if self.period is None else f", period={self.period}"
        return f"<World of {len(self)} bodies{tiles}{around}>"
