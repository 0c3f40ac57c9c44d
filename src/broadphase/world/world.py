"""The world: bodies with shapes and tags, and listeners that are called when they touch.

In each frame, move bodies (`Body.move_to`, `move`), then call `update`.  It finds the contacts and calls the
listeners: for each pair ``begin``, ``stay``..., ``end``; see `on`.

`World` only forwards calls.  Its parts, in the order in which to read them: `State` holds the bodies
(`bodies.py`), the broad phase, the contacts and the space (with a period or without); `Dispatch` calls
listeners; `Motion` and `ManyMotion` move; `Character` walks; `Queries` answers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from broadphase.errors import hinting, instead, nearest_name, no_attribute, with_hints
from broadphase.geometry.shapes import Bounds, Shape
from broadphase.indexes import Choice, arguments
from broadphase.indexes.base import Index
from broadphase.indexes.results import Nearest, RayHit, RayHits
from broadphase.indexes.storage import EVERY_BIT
from broadphase.inputs import OneBox, Place, Rectangle, RowsLike, Sprite
from broadphase.inputs.numeric import whole
from broadphase.inputs.periods import as_period
from broadphase.methods import brute_force, strips  # noqa: F401 - "auto" imports what it picks
from broadphase.methods.task import pair_limit
from broadphase.runtime.arrays import Floats
from broadphase.world.arguments import as_bounds, as_tags, as_two
from broadphase.world.bodies import LISTENED, Body, Categories, Rows
from broadphase.world.body_arrays import Bodies
from broadphase.world.checks import Checks, SpriteWatch
from broadphase.world.contacts import Events
from broadphase.world.dispatch import Dispatch
from broadphase.world.hits import Answer, Hit, Movement, Movements, Response, Walk, code_of
from broadphase.world.listeners import Callback, Listener, ManyCallback
from broadphase.world.movement.as_one import move_as_one, turn_as_one
from broadphase.world.movement.character import Character
from broadphase.world.movement.motion import Motion, Rollback
from broadphase.world.movement.motion_many import ManyMotion
from broadphase.world.movement.platforms import Push, push, with_riders
from broadphase.world.movement.separation import separate
from broadphase.world.outlines import KINDS, SHOWN, Kind, Outline, outlines
from broadphase.world.queries import Queries, is_batch
from broadphase.world.snapshot import Snapshot, restore, snapshot
from broadphase.world.space import check_fills
from broadphase.world.state import State
from broadphase.world.tile_listeners import TileCallback, TileListener
from broadphase.world.tiles import Tile, TileMap

BodyOrBodies: TypeAlias = Body | Iterable[Body]
_Places: TypeAlias = Place | Body | Bodies | RowsLike


class _Which(TypedDict, total=False):
    """The rules of a query, which bodies it may find, for the signatures that type checkers read."""

    tag: Any
    category: Categories | None
    mask: Categories | None
    ignore: Any


class WorldStats(NamedTuple):
    """What a world holds, and what its last update did."""

    bodies: int
    static: int
    listened: int
    """How many bodies have listeners."""
    moved: int
    """How many bodies with listeners had moved or changed when it began."""
    candidates: int
    """How many pairs the narrow phase tested."""
    contacts: int
    began: int
    stayed: int
    ended: int
    calls: int
    """How many functions were called."""


_OTHER_NAMES = {
    **dict.fromkeys(["save", "dump"], "pickle.dumps(world.snapshot()) are its bytes"),
    **dict.fromkeys(["load", "loads"], "world.restore() takes what world.snapshot() was"),
    **dict.fromkeys(["query", "query_rect"], "it is query_box here"),
    **dict.fromkeys(["query_circle"], "it is query_radius here"),
    **dict.fromkeys(
        ["contacts", "collisions"], "update() returns those of tags that a listener waits for: on(ANY, ANY)"
    ),
    "gravity": "gravity is what you add to velocities in each frame",
    **dict.fromkeys(["find_path", "flow_field", "visible_from"], "the tile map has it: world.tiles"),
    **dict.fromkeys(
        ["on_collision", "on_contact", "add_listener", "collision_handler"],
        "it is on(tag, tag, function) here",
    ),
    **dict.fromkeys(["move_to", "teleport"], "the body does it: body.move_to(x, y)"),
    **dict.fromkeys(["add_circle", "add_box", "add_polygon", "add_body", "spawn"], "it is add(shape) here"),
    **dict.fromkeys(["remove_body", "delete"], "it is remove(body) here"),
    **dict.fromkeys(["get", "get_bodies", "find"], "bodies(tag) are those of a tag, body(number) is one"),
    **dict.fromkeys(["ray_cast", "cast_ray"], "it is raycast here"),
    **dict.fromkeys(
        ["colliderect", "colliding", "overlap", "overlaps", "overlapping", "touching"],
        "query_shape, query_box, query_point and query_radius find what is somewhere",
    ),
}
"""What methods are called elsewhere, or where they are."""


@hinting
@instead(_OTHER_NAMES)
class World:
    """Bodies that touch, move and are found by queries.

    Shapes that share only an edge or a point are not in contact, and do not stop each other.  A world is
    for one thread at a time.  Two worlds that are given the same calls stay the same, bit for bit.

    Parameters
    ----------
    broadphase : str or Index
        ``"auto"``, a name of `broadphase.INDEXES`, or an empty 2-D float64 index: it serves as the pattern
        for the indexes that the world keeps.
    period : (float, float), float, optional
        The world is periodic with these lengths on x and y.  ``None`` or inf is an axis without a period; one
        number is for both axes.  Positions are wrapped into ``0 <= x < period``; a body across the border
        touches, blocks and is found on both sides.  See `period`.
    check : bool
        For debugging: sets ``check_sprites``, and warns once of each tag of a listener, of `set_response`, of
        ``pushes`` or of a query that no body has had for 600 updates, 60 if it resembles another, and of each
        of `on_tile` that no tile has had; of a name in a mask that no body has as its category, at once where
        it is a tag; and, likewise with `broadphase.WorldWarning`,
        if `update` is never called, a static body has a velocity or is moved into another, a walker falls up,
        a body begins to move in a solid tile, a sensor that is to stop flies through a static body, a ray
        hits the body at whose centre it begins, or `step` is given more than a second.
    check_sprites : bool
        For debugging: whether each `update` checks the bodies whose ``data`` is a sprite (of pygame, arcade,
        pyglet), and warns of those whose picture has moved while the body stayed, once each, with
        `broadphase.WorldWarning`.  Costs some microseconds a sprite; nothing if it is off.
    max_pairs : int, optional
        The most pairs of bodies with overlapping bounds in an `update`.  If there are more, it raises
        `broadphase.PairLimitExceeded`, and nothing has changed.  By default as many as fit into free memory.

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

    @with_hints(
        gravity=_OTHER_NAMES["gravity"],
        bounds="a world has no bounds; for one that repeats there is period=",
        cell_size="no cells need a size; World(bp.SpatialHash(cell_size=64)) chooses the method",
        tiles="set them: world.tiles = tiles",
    )
    def __init__(
        self,
        broadphase: Choice | Index = "auto",
        *,
        period: Any = None,
        check: bool = False,
        check_sprites: bool = False,
        max_pairs: int | None = None,
    ) -> None:
        lengths = as_period(period, 2)
        self._state = state = State(broadphase, lengths)
        self._dispatch = Dispatch(state)
        self._motion = Motion(state)
        if arguments.flag(check, "check"):
            self._dispatch.checks = Checks(state, self._dispatch.on_tiles)
        self._queries = Queries(state)
        self._many = ManyMotion(state, self._motion)
        self._walker = Character(state, self._motion, self._many)
        self.check_sprites = check or check_sprites
        pair_limit(max_pairs)  # raises where it is not a limit
        state.contacts.max_pairs = max_pairs

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute that a world has; a subclass may have more."""
        if type(self) is World and not (name.startswith("_") or hasattr(World, name)):
            nearest = nearest_name(name, dir(self))
            said = f"the nearest is {nearest}" if nearest else "only a subclass of World may have more"
            raise no_attribute(self, name, {name: said} | _OTHER_NAMES)
        object.__setattr__(self, name, value)

    def __copy__(self) -> World:
        return deepcopy(self)  # what has the same bodies would move those of this one

    # ---- bodies

    @with_hints(
        "a shape is one argument, such as Box(x, y, width, height), and tag= and the others have names",
        layer="use category= and mask=",
        kinematic="every body that is not static is moved by your program alone",
        velocity="set it afterwards: body.velocity = (vx, vy)",
        one_way='set it afterwards: body.one_way = "top"',
    )
    def add(
        self,
        shape: Shape | Rectangle | Sprite | Bounds,
        *,
        tag: Any = None,
        static: bool = False,
        sensor: bool = False,
        category: Categories = 1,
        mask: Categories = EVERY_BIT,
        data: Any = None,
    ) -> Body:
        """Put a body into the world, whatever is there.

        Parameters
        ----------
        shape : Box, Circle or Polygon
            Its shape and place.
        tag : hashable, optional
            The tag for `on` and queries; several in a set, list or tuple.
        static : bool
            Whether it hardly ever moves: a wall.  Two static bodies are never in contact.
        sensor : bool
            Whether it has contacts but does not block.
        category, mask : int, str, or several str
            32-bit sets: two bodies meet, and block each other, where each one's category and the other's
            mask share a bit.  Or names of categories: ``category="shot", mask=["wall", "monster"]``; each
            name stands for a bit, from the second on, in the order in which a world first hears of them.
        data : object, optional
            Found again as ``body.data``.

        Returns
        -------
        Body

        Raises
        ------
        TypeError, ValueError
            An argument is not of these kinds; nothing has changed.
        """
        return self._state.store.add(shape, tag, static, sensor, category, mask, data)

    def remove(self, body: Body) -> None:
        """Take a body out.  Its contacts end with the next `update`.

        Raises
        ------
        TypeError, ValueError
            It is not a body, was removed before, or belongs to another world.
        """
        self._state.store.remove(body)

    def clear(self) -> None:
        """Remove all bodies; listeners stay registered."""
        self._state.store.remove_many(self._state.store.rows())

    def __len__(self) -> int:
        return self._state.store.live

    def __iter__(self) -> Iterator[Body]:
        """All bodies by id, as they are now: bodies may be added and removed during the iteration."""
        return iter([*filter(None, self._state.store.bodies)])

    def __contains__(self, body: object) -> bool:
        return isinstance(body, Body) and body._store is self._state.store and body.alive

    @with_hints('several tags are one argument: bodies(["a", "b"])')
    def bodies(self, tag: Any = None) -> Bodies:
        """All bodies by id, or those with a tag.

        Parameters
        ----------
        tag : optional
            A tag, or several in a set, list or tuple: bodies with any of them.

        Returns
        -------
        Bodies
            A sequence of `Body` that also has the ids, positions and velocities of all as arrays.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> hero, coin = world.add(bp.Box(0, 0, 1, 1), tag="hero"), world.add(bp.Box(5, 5, 1, 1), tag="coin")
        >>> world.bodies("coin") == [coin], world.bodies().positions.tolist()
        (True, [[0.0, 0.0], [5.0, 5.0]])
        """
        store = self._state.store
        rows = store.rows() if tag is None else store.rows_with(as_tags(tag))
        return Bodies(self, store, rows, store.handles(rows))

    def body(self, id: int) -> Body:  # noqa: A002 - the word that users know
        """The body that has an id now.

        Raises
        ------
        TypeError, ValueError
            It is not a whole number, or no body has it.
        """
        if isinstance(id, str):
            raise TypeError(f"id must be an integer; got {id!r}; world.bodies({id!r}) are those with a tag")
        rows = self._state.store.rows_of(np.array([whole(id, "id")]), "id")
        return self._motion.body(int(rows[0]))

    def add_many(
        self,
        shapes: Any,
        *,
        tag: Any = None,
        static: bool = False,
        sensor: bool = False,
        category: Categories = 1,
        mask: Categories = EVERY_BIT,
        data: Sequence[Any] | None = None,
    ) -> Bodies:
        """Put many bodies into the world: `add` for lists and arrays.

        Parameters
        ----------
        shapes : list of Box, Circle and Polygon, or array_like, shape (m, 4)
            An array is of boxes, ``min_x, min_y, max_x, max_y``.
        tag, static, sensor, category, mask
            As of `add`, the same for all: of ``tag=["red", "blue"]`` each body has both tags.
        data : sequence, optional
            ``body.data``, one each.

        Returns
        -------
        Bodies
            A sequence of `Body` that also has their ids, positions and velocities as arrays.

        Raises
        ------
        TypeError, ValueError
            An argument is not of these kinds; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> coins = world.add_many([[0, 0, 4, 4], [10, 0, 14, 4]], tag="coin", data=["a", "b"])
        >>> [body.data for body in world.query_point((12, 2))]
        ['b']
        >>> coins.positions += 100, 0
        >>> coins[1].x
        110.0
        >>> coins.remove()
        >>> len(world)
        0
        """
        store = self._state.store
        return Bodies(self, store, *store.add_many(shapes, data, (tag, static, sensor, category, mask)))

    def remove_many(self, bodies: Any) -> None:
        """Take many bodies out, see `remove`.

        Parameters
        ----------
        bodies : Bodies, list of Body, or array of ids

        Raises
        ------
        TypeError, ValueError
            One is not in this world, or named twice; nothing has changed.
        """
        store = self._state.store
        store.remove_many(store.rows_of(bodies))

    @property
    def ids(self) -> Any:
        """``(len,)`` int32: the ids of all bodies, ascending."""
        return self._state.store.rows()

    @property
    def positions(self) -> Floats:
        """``(len, 2)``: where all bodies are, by id; a copy.  Set it to move them all, see `move_all`."""
        store = self._state.store
        return store.places(store.rows())

    @positions.setter
    def positions(self, positions: Any) -> None:
        self.move_all(self.ids, positions)

    @property
    def tiles(self) -> TileMap | None:
        """The map whose solid tiles block; set it, and change its tiles, at any time."""
        return self._state.tiles

    @tiles.setter
    def tiles(self, tiles: TileMap | None) -> None:
        if tiles is not None and not isinstance(tiles, TileMap):
            raise TypeError(f"tiles must be a TileMap(rows, tile_size) or None; got {tiles!r}")
        if tiles is not None and self._state.space.periodic:
            check_fills(tiles, self._state.space)
        self._state.tiles = tiles

    # ---- contacts

    @with_hints(callback="the function is begin=, stay= or end=")
    def on(
        self,
        a: Any,
        b: Any,
        begin: Callback | None = None,
        stay: Callback | None = None,
        end: Callback | None = None,
        *,
        many: ManyCallback | None = None,
    ) -> Listener:
        """Listen for contacts between bodies with tag ``a`` and bodies with tag ``b``.

        For each pair of bodies a listener gets ``begin``, then ``stay`` in each further update, then ``end``.
        A contact lasts as long as both bodies touch and have the tags.  A listener that is added during a
        contact gets ``begin`` in the next update, and so do bodies that get the tags while they touch; bodies
        that lose the tags get ``end``.  Changes of other tags do not matter.  A body that crosses another
        within one `move` gets begin and end in the same update.  A body that was stopped by another is in
        contact with it at the next update, although they only touch.  After ``off`` a listener gets no more
        calls, not even ``end``.  These rules hold in every order of `add`, `remove`, tags, `on`, `off`,
        `snapshot` and `restore`, also within calls, and whatever a call raises.

        Pairs of tags without a listener are not even tested.

        Parameters
        ----------
        a, b : hashable
            Tags, also the same one twice; or `broadphase.ANY`.
        begin, stay, end : callable, optional
            Called by `update` with a `Contact` whose ``a`` has tag ``a`` and whose ``b`` has tag ``b``; where
            both bodies have both, ``a`` is that with the lower id.  Without any of them, the contacts are
            only found in what `update` returns.
        many : callable, optional
            Called once by an `update` in which contacts begin, with all of them as arrays: ids of both sides,
            normals and depths, see `broadphase.ContactRows`.  It comes after all calls of ``begin``; contacts
            whose bodies these removed are left out.

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

        All hits of an update in one call, as arrays:

        >>> bullets = world.add_many([[x, 50, x + 2, 52] for x in (0, 10, 20)], tag="bullet")
        >>> rocks = world.add_many([[x, 50, x + 4, 54] for x in (0, 20)], tag="rock")
        >>> listener = world.on("bullet", "rock", many=lambda hits: print(hits.a.tolist(), hits.b.tolist()))
        >>> events = world.update()
        [2, 4] [5, 6]
        """
        return self._state.listeners.add(a, b, begin, stay, end, many)

    def on_tile(
        self,
        tag: Any,
        tile: Any,
        enter: TileCallback | None = None,
        stay: TileCallback | None = None,
        leave: TileCallback | None = None,
    ) -> TileListener:
        """Listen for bodies with a tag in tiles with a tag: water, lava, ice, a trigger.

        For each such body a listener gets ``enter``, then ``stay`` in each further `update`, then ``leave``:
        all tiles with the tag count as one.  What counts is where a body is at the update; a tile that blocks
        counts for a body that touches one of its sides.  A body that was removed, or lost its tag, leaves.

        Parameters
        ----------
        tag, tile : hashable
            A tag of bodies, or `broadphase.ANY`, and one of tiles: see `TileMap.set_data`.
        enter, stay, leave : callable, optional
            Called by `update`, after the listeners for contacts, with a `TileContact`: ``body, tag, tiles``.

        Returns
        -------
        TileListener
            ``remove()`` ends it, and so does `off`.  As a decorator it takes the function as ``enter``.

        Raises
        ------
        TypeError
            A tag is not hashable, or a function cannot be called.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> world.tiles = bp.TileMap([[False, False, False]], 10)
        >>> world.tiles.set_data(1, 0, "lava")
        >>> hero = world.add(bp.Box(2, 2, 6, 6), tag="hero")
        >>> @world.on_tile("hero", "lava")
        ... def burn(contact):
        ...     print("ouch", contact.tiles)
        >>> for _ in range(3):
        ...     move = world.move(hero, 5, 0)
        ...     events = world.update()
        ouch (Tile(column=1, row=0),)
        """
        return self._dispatch.on_tiles.add(tag, tile, enter, stay, leave)

    def off(self, what: Listener | TileListener | Callback | ManyCallback) -> None:
        """Remove a listener: pass what `on` or `on_tile` returned, or a function, to remove all that call it.

        Contacts that have no listener any more end in the next `update`, without a call.

        Raises
        ------
        ValueError
            Nothing listens by this name.
        """
        of_tiles, of_bodies = self._dispatch.on_tiles.of(what), self._state.listeners.of(what)
        if not (of_tiles or of_bodies):
            raise ValueError(f"{what!r} is not listening")
        for listener in of_tiles:
            listener.remove()
        if of_bodies:
            self._state.listeners.remove(of_bodies)

    @with_hints("it takes no time: step(dt) moves what has a velocity, and update() comes after")
    def update(self) -> Events:
        """Find all contacts and call the listeners; see `on` for the rules.

        The order of calls: for bodies that keep touching while tags or listeners changed, each ``end``, then
        each ``begin``; then all contacts that began, all that stayed, all that ended.  Within a group calls
        are ordered by the ids of the bodies, then by the age of the listener.  A function may add, move and
        remove bodies and listeners; what it adds or moves counts from the next update on.  If a body is
        removed by such a call, its remaining ``begin`` and ``stay`` are not called.  The next update calls
        ``end`` for listeners that got ``begin``, and for listeners that have no ``begin`` function.

        Pairs that crossed each other in a `move` since the last update, and that are in contact neither
        before nor after it, begin and end, once each, with depth 0.

        Returns
        -------
        Events
            ``began``, ``stayed``, ``ended``: all contacts between tags that have a listener, whether or not a
            function was called.  Without any `on` they are empty; ``on(ANY, ANY)`` listens to all.

        Raises
        ------
        RuntimeError
            It was called from a function that it calls.
        Exception
            What a function raises comes through.  The world is sound then, and the calls that were left
            over (of what began or ended) are made first by the next update.
        """
        return self._dispatch.update()

    @property
    def events(self) -> Events:
        """What the last update found, also if a function raised."""
        return self._dispatch.events

    # ---- movement

    def move(
        self,
        body: Body,
        dx: Any,
        dy: float | None = None,
        response: Response = "slide",
        *,
        dry: bool = False,
        ignore: BodyOrBodies = (),
    ) -> Movement:
        """Move a body as far as it can; it never tunnels, however fast it is.

        What blocks: every body that is not a sensor and that the categories and masks select, and solid
        tiles.  A moving body that is a sensor itself is blocked by tiles only.  A body that stopped a
        movement is in contact with what it stopped at the next update: `update` calls ``begin``, ``stay``
        while it is stopped again before each update, then ``end``.

        What is crossed: sensors that the categories and masks select, all such bodies if the moving body is a
        sensor, and bodies whose response was ``"cross"`` or ``None``; tags and listeners do not matter.  They
        are found by the same test that blocks; those that the body starts in are crossed at time 0.  `update`
        calls the listeners.  `Body.move_to` and `move_all` teleport bodies, which crosses nothing.

        Parameters
        ----------
        body : Body
        dx, dy : float
            The displacement; or one vector, a ``Vector2`` or a tuple: ``move(body, (dx, dy))``.
        response : str or callable
            What to do at a hit: ``"slide"`` keeps the free axis, ``"touch"`` stops, ``"cross"`` only
            reports, ``"bounce"`` mirrors the rest of the displacement.  Or a function that takes a `Hit` and
            returns one of these names, or ``None`` to ignore it.  It may add, move and remove bodies; what it
            changes counts from the next movement on.
        dry : bool
            Whether to return what would happen and leave all as it is: the body, contacts and listeners.
        ignore : Body or bodies
            What neither blocks nor is crossed: a bullet's shooter.

        Returns
        -------
        Movement
            ``x, y, hits, crossed``, and ``blocked, left, right, top, bottom``: the sides say so in the
            movement in which a surface is reached exactly, too, unless a function answers, which might let
            the body through.  Hits come by time, then by
            id, bodies before tiles.  A body that starts inside a static body or tiles is first pushed out by
            the shortest displacement.  Out of another body that it starts in it is pushed if there is room;
            in a crowd only a little, at most as far as the deepest overlap, and it does not stop at those
            that it is still in.  ``crossed`` are the bodies that it crossed without being stopped.

        Raises
        ------
        TypeError, ValueError
            The body is not in this world, ``dx`` or ``dy`` is not a finite number, or the goal lies beyond
            1e300.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> player = world.add(bp.Box(0, 0, 10, 10))
        >>> wall = world.add(bp.Box(15, -50, 10, 100), static=True)
        >>> move = world.move(player, 20, 8)
        >>> player.position, move.right, move.hits[0].other is wall, move.hits[0].time
        ((5.0, 8.0), True, True, 0.25)
        >>> coin = world.add(bp.Circle(10, -20, 2), sensor=True)
        >>> [(hit.other is coin, hit.time) for hit in world.move(player, 0, -40).crossed]
        [(True, 0.65)]
        """
        if dy is None:
            dx, dy = as_two(dx, "dx, dy")
        motion, store = self._motion, self._state.store
        row, ignored = store.row(body), store.ignored(ignore)
        if dry is not False and arguments.flag(dry, "dry"):
            return motion.dry(row, dx, dy, response, ignored)
        self._dispatch.moves(body)
        if not store.any_one_way:
            return motion.move_row(row, dx, dy, response, ignored)
        return with_riders(
            motion, [row], (dx, dy), ignored, lambda ignored: motion.move_row(row, dx, dy, response, ignored)
        )

    def shape_cast(
        self, shape: Shape | Body, dx: Any, dy: float | None = None, *, ignore: BodyOrBodies = ()
    ) -> Movement:
        """How far a shape would come before something blocks it: `raycast` for a ray as thick as the shape.

        Parameters
        ----------
        shape : Box, Circle, Polygon or Body
            Where it starts.  A body stands for its shape, its categories and masks count, and it does not
            block itself.
        dx, dy : float
            The displacement.
        ignore : Body or bodies
            What does not count.

        Returns
        -------
        Movement
            As of `move` with ``"touch"``: ``hits`` has what blocks it, with time, normal and the place where
            the shape touches; it is empty if nothing does.  Nothing has moved.

        Raises
        ------
        TypeError, ValueError
            As of `move`.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> wall = world.add(bp.Box(50, 0, 10, 100), static=True)
        >>> cast = world.shape_cast(bp.Circle(0, 50, 10), 100, 0)
        >>> cast.x, cast.hits[0].other is wall, cast.hits[0].time
        (40.0, True, 0.4)
        """
        if isinstance(shape, Body):
            return self.move(shape, dx, dy, "touch", dry=True, ignore=ignore)
        if dy is None:
            dx, dy = as_two(dx, "dx, dy")
        return self._motion.shape_cast(shape, dx, dy, ignore)

    def try_move(
        self, body: Body, dx: Any, dy: float | None = None, *, ignore: BodyOrBodies = ()
    ) -> Body | Tile | None:
        """Move a body if nothing is in the way; else leave it where it is.

        If it has moved, the next `update` calls the listeners of what it crossed.  A body in the way is
        returned, but is not a contact, because nothing has moved.

        Parameters
        ----------
        body : Body
        dx, dy : float
            The displacement.
        ignore : Body or bodies
            What neither blocks nor is crossed.

        Returns
        -------
        Body, Tile or None
            The first body or tile in the way; ``None`` if the body has moved.

        Raises
        ------
        TypeError, ValueError
            As of `move`.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> world.tiles = bp.TileMap([[False, False, True]], tile_size=32)
        >>> monster = world.add(bp.Box(2, 2, 28, 28))
        >>> world.try_move(monster, 60, 0), monster.x
        (Tile(column=2, row=0), 2.0)
        """
        if dy is None:
            dx, dy = as_two(dx, "dx, dy")
        motion, store = self._motion, self._state.store
        row, ignored = store.row(body), store.ignored(ignore)
        self._dispatch.moves(body)
        return with_riders(
            motion, [row], (dx, dy), ignored, lambda ignored: motion.try_move(row, dx, dy, ignored)
        )

    def move_many(
        self,
        bodies: Any,
        dx: Any,
        dy: Any = None,
        response: Answer = "slide",
        *,
        movers_block: bool = False,
        ignore: BodyOrBodies = (),
    ) -> Movements:
        """Move many bodies among static bodies and tiles, in one call.

        Each body moves as with `move`.  Bodies that are not static are not obstacles, unless ``movers_block``
        is set: they are crossed like sensors if the two have a listener.  A static body among the movers is
        treated as if it stayed where it was when the call began.  A body that starts inside walls or tiles
        takes as long as in a call of `move`; all others take far less.

        Parameters
        ----------
        bodies : Bodies, list of Body, or array of ids
        dx, dy : float or array_like, shape (m,)
            The displacements; or one array of shape (m, 2), or one vector for all, as ``dx``.
        response : str
            ``"slide"``, ``"touch"``, ``"cross"`` or ``"bounce"``.
        movers_block : bool
            Whether bodies that are not static block too, those that move in this call among them: each is
            moved in turn, and the next sees it at its new place, as with a call of `move` for each.  Only
            what a one-way body carries is found for all when the call begins.
        ignore : Body or bodies
            What neither blocks nor is crossed, by any of them.

        Returns
        -------
        Movements
            ``places``, where each came to, and ``hits`` and ``crossed`` as arrays; ``others`` in them are
            ids, see `body`.  Each mover sees those before it at their new places.

        Raises
        ------
        TypeError, ValueError
            A body is not in this world or named twice, a number is not finite, or the lengths differ;
            nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> wall = world.add(bp.Box(50, 0, 10, 100), static=True)
        >>> shots = [world.add(bp.Box(0, y, 2, 2)) for y in (10, 30, 150)]
        >>> moved = world.move_many(shots, 1000, 0, "touch")
        >>> moved.places.tolist(), moved.hits.movers.tolist(), moved.hits.others.tolist() == [wall.id] * 2
        ([[48.0, 10.0], [48.0, 30.0], [1000.0, 150.0]], [0, 1], True)
        """
        self._dispatch.moves("move_many")
        return self._many.move_many(bodies, dx, dy, response, movers_block, ignore)

    def step(self, dt: float, *, movers_block: bool = False, ignore: BodyOrBodies = ()) -> Movements:
        """Move everything that has a velocity by ``velocity * dt``, as `move_many` does.

        What happens at a hit is the body's own `Body.response`, else what `set_response` says for its tag,
        else ``"slide"``.  Velocities follow: what slides loses the part that points into the surface, what
        bounces is mirrored, what was stopped by ``"touch"`` has none, ``"cross"`` changes nothing.  Bodies
        are moved in the order of their ids.

        This is not a physics engine: nothing has a mass, nothing pushes anything, gravity is what you add to
        velocities.  For joints, stacks and friction take pymunk.  `update` is a call of its own.

        Parameters
        ----------
        dt : float
            How much time passes.
        movers_block : bool
            As of `move_many`: whether bodies that are not static block, too.
        ignore : Body or bodies
            What neither blocks nor is crossed, by any of them.

        Returns
        -------
        Movements
            ``ids`` of the bodies that have a velocity; ``places``, ``hits``, ``crossed`` as of `move_many`.

        Raises
        ------
        TypeError, ValueError
            ``dt`` is not a finite number, or a way leads too far; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> wall = world.add(bp.Box(50, 0, 10, 100), static=True)
        >>> world.set_response("ball", "bounce")
        >>> ball, walker = world.add(bp.Box(20, 10, 4, 4), tag="ball"), world.add(bp.Box(20, 30, 4, 4))
        >>> ball.velocity, walker.velocity = (60, 0), (60, 6)
        >>> stepped = world.step(1.0)
        >>> ball.position, ball.velocity
        ((12.0, 10.0), (-60.0, 0.0))
        >>> walker.position, walker.velocity, stepped.hits.others.tolist() == [wall.id] * 2
        ((46.0, 36.0), (0.0, 6.0), True)
        """
        self._dispatch.moves("step")
        if self._dispatch.checks is not None:
            self._dispatch.checks.stepped(dt)
        return self._many.step(dt, movers_block, ignore)

    def set_response(self, tag: Any, response: Answer | None) -> None:
        """Say what `step` does where a body with a tag hits something; ``None``: nothing special again.

        Of several tags of a body, the one that was set first counts.  `Body.response` comes before.

        Raises
        ------
        TypeError, ValueError
            The tag is not hashable, or the response is none of ``"slide"``, ``"touch"``, ``"cross"`` and
            ``"bounce"``.
        """
        if response is None:
            self._state.responses.pop(tag, None)
        else:
            self._state.responses[tag] = code_of(response)

    def move_all(self, bodies: Any, positions: Any) -> None:
        """Put many bodies somewhere else, whatever is there: `Body.move_to` for arrays.

        Parameters
        ----------
        bodies : Bodies, list of Body, or array of ids
        positions : array_like, shape (m, 2)

        Raises
        ------
        TypeError, ValueError
            A body is not in this world, a coordinate is not finite, or the lengths differ; nothing has
            changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> balls = [world.add(bp.Circle(0, 0, 1)) for _ in range(3)]
        >>> world.move_all(balls, [[1, 2], [3, 4], [5, 6]])
        >>> balls[1].position, world.positions.tolist()
        ((3.0, 4.0), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        """
        self._many.move_all(bodies, positions)

    def grounded(
        self, body: Body, direction: tuple[float, float] = (0.0, 1.0), *, ignore: BodyOrBodies = ()
    ) -> Hit | None:
        """The body or tile that blocks a body in a direction: what it stands on, if y points down.

        Parameters
        ----------
        body : Body
        direction : (float, float)
            Of any length but 0.
        ignore : Body or bodies
            What does not count.

        Returns
        -------
        Hit or None
            ``None`` if nothing blocks it.

        Raises
        ------
        TypeError, ValueError
            The body is not in this world, or the direction has no length.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> floor = world.add(bp.Box(0, 10, 100, 5), static=True)
        >>> player = world.add(bp.Box(20, 0, 5, 10))
        >>> world.grounded(player).other is floor, world.grounded(player, (1, 0))
        (True, None)
        """
        return self._motion.grounded(body, direction, ignore)

    def blocker(self, shape: Shape | Body, *, ignore: BodyOrBodies = ()) -> object | None:
        """The first body or tile that would block a shape at its place; None if the place is free.

        Parameters
        ----------
        shape : Box, Circle, Polygon or Body
            A body stands for its shape, its categories and masks count, and it does not block itself.
        ignore : Body or bodies
            What does not count.

        Returns
        -------
        Body, Tile or None
            Of several bodies that with the lowest id; a tile only where no body blocks.

        Raises
        ------
        TypeError, ValueError
            It is no shape or body of this world, or a shape longer than a world with a period.
        """
        return self._motion.blocker(shape, ignore)

    def resize(self, body: Body, shape: Shape) -> object | None:
        """Give a body another shape and place if nothing is in the way there: to stand up, to grow.

        Parameters
        ----------
        body : Body
        shape : Box, Circle or Polygon
            Where the body is to be, too.

        Returns
        -------
        Body, Tile or None
            The first body or tile in the way; ``None`` if the body has the new shape.

        Raises
        ------
        TypeError, ValueError
            The body is not in this world, or the shape is not one.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> ceiling = world.add(bp.Box(0, 0, 100, 10), static=True)
        >>> player = world.add(bp.Box(20, 16, 8, 8))
        >>> world.resize(player, bp.Box(20, 8, 8, 16)) is ceiling
        True
        >>> world.resize(player, bp.Box(20, 12, 8, 12)), player.bounds
        (None, (20.0, 12.0, 28.0, 24.0))
        """
        return self._motion.resize(body, shape)

    def try_turn(self, body: Body, angle: float, about: tuple[float, float] | None = None) -> object | None:
        """Turn a body if nothing is in the way at the new angle; else leave it as it is.

        Only the new angle counts, not what the body sweeps over while it turns.

        Parameters
        ----------
        body : Body
        angle : float
            In degrees: what `Body.angle` is to be.
        about : (float, float), optional
            A point that stays where it is; the centre of its shape if not given.

        Returns
        -------
        Body, Tile or None
            The first body or tile in the way; ``None`` if the body has turned.

        Raises
        ------
        TypeError, ValueError
            As of `Body.turn_to`.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> wall = world.add(bp.Box(0, 0, 100, 10), static=True)
        >>> tank = world.add(bp.Box(20, 12, 30, 10))
        >>> world.try_turn(tank, 90) is wall, tank.angle
        (True, 0.0)
        >>> tank.y = 25
        >>> world.try_turn(tank, 90), tank.bounds
        (None, (30.0, 15.0, 40.0, 45.0))
        """
        return self._motion.try_turn(body, angle, about)

    def move_as_one(
        self,
        bodies: Any,
        dx: Any,
        dy: float | None = None,
        response: Answer = "slide",
        *,
        ignore: BodyOrBodies = (),
    ) -> Movement:
        """Move a body of several shapes: as far as none of its parts is stopped, all by the same way.

        The parts are bodies of their own, which do not block each other: those of a concave object of Tiled,
        or of a boss.  `push` moves such a platform.

        Parameters
        ----------
        bodies : Bodies, list of Body, or array of ids
        dx, dy : float
            The displacement.
        response : str
            As of `move`.
        ignore : Body or bodies
            What neither blocks nor is crossed.

        Returns
        -------
        Movement
            Where the first of them came to, and what stopped them.

        Raises
        ------
        TypeError, ValueError
            As of `move`, or there are no bodies; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> wall = world.add(bp.Box(50, 0, 10, 100), static=True)
        >>> boss = world.add_many([[0, 0, 20, 10], [20, 0, 30, 40]], tag="boss")
        >>> move = world.move_as_one(boss, 40, 5)
        >>> boss.positions.tolist(), move.right, move.hits[0].other is wall
        ([[20.0, 5.0], [40.0, 5.0]], True, True)
        """
        if dy is None:
            dx, dy = as_two(dx, "dx, dy")
        self._dispatch.moves("move_as_one")
        return move_as_one(self._motion, bodies, dx, dy, response, ignore)

    def turn_as_one(self, bodies: Any, by: float, about: tuple[float, float] | None = None) -> object | None:
        """Turn a body of several shapes if nothing is in the way at the new angle; see `move_as_one`.

        Parameters
        ----------
        bodies : Bodies, list of Body, or array of ids
        by : float
            How far from where they are, in degrees, from x towards y.
        about : (float, float), optional
            A point that stays where it is; the middle of all their bounds if not given.

        Returns
        -------
        Body, Tile or None
            The first body or tile in the way; ``None`` if they have turned.

        Raises
        ------
        TypeError, ValueError
            As of `try_turn`, or there are no bodies.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> cross = world.add_many([[0, 10, 30, 20], [10, 0, 20, 30]])
        >>> world.turn_as_one(cross, 90), [one.bounds for one in cross]
        (None, [(10.0, 0.0, 20.0, 30.0), (0.0, 10.0, 30.0, 20.0)])
        """
        return turn_as_one(self._motion, bodies, by, about)

    def turn_many(self, bodies: Any, angles: Any) -> None:
        """Turn many bodies about their centres, whatever is there: `Body.turn_to` for arrays.

        Parameters
        ----------
        bodies : Bodies, list of Body, or array of ids
        angles : float or array_like, shape (m,)
            In degrees.

        Raises
        ------
        TypeError, ValueError
            A body is not in this world, named twice, or a box without width or height; an angle is not
            finite, or the lengths differ; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> blades = [world.add(bp.Box(x, 0, 10, 2)) for x in (0, 20)]
        >>> world.turn_many(blades, [90, 180])
        >>> blades[0].bounds, blades[1].angle
        ((4.0, -4.0, 6.0, 6.0), 180.0)
        """
        self._many.turn_many(bodies, angles)

    def push(
        self,
        body: BodyOrBodies,
        dx: Any,
        dy: float | None = None,
        *,
        down: tuple[float, float] = (0.0, 1.0),
        ignore: BodyOrBodies = (),
    ) -> Push:
        """Move a platform to its goal, carrying what stands on it and pushing aside what is in the way.

        Nothing stops the platform.  Bodies that stand on it, on a side that slopes by less than 60 degrees,
        or on each other, are carried as far as they can move.  Bodies in the way are pushed as far as they
        can move, and push what is in their own way.  A body that has no room ends up inside the platform: it
        is ``squeezed``, and the caller decides what happens to it.  What pushes and what is pushed are in
        contact at the next update.

        Parameters
        ----------
        body : Body or bodies
            The platform; usually static, which keeps others from being held against it twice.  Several bodies
            move as one: what stands on two of them is carried once.
        dx, dy : float
            The displacement.
        down : (float, float)
            The direction of gravity: what lies against it stands on the platform.
        ignore : Body or bodies
            Bodies that are neither carried nor pushed, and block nothing.

        Returns
        -------
        Push
            ``carried, pushed, squeezed``: lists of bodies, by id.

        Raises
        ------
        TypeError, ValueError
            As of `move`.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> lift = world.add(bp.Box(0, 20, 30, 5), static=True)
        >>> player = world.add(bp.Box(10, 10, 5, 10))
        >>> world.push(lift, 4, -8).carried == [player], player.position
        (True, (14.0, 2.0))
        >>> wing = world.add(bp.Box(34, 12, 30, 5), static=True)
        >>> world.push([lift, wing], 1, 0).carried == [player], player.position
        (True, (15.0, 2.0))
        """
        if dy is None:
            dx, dy = as_two(dx, "dx, dy")
        self._dispatch.moves(body if isinstance(body, Body) else "push")
        store = self._state.store
        ignored = store.ignored(ignore)
        with Rollback(self._state, store.rows()):
            return push(self._motion, body, dx, dy, down, ignored)

    def separate(
        self, bodies: Any, strength: float = 0.5, max_step: float | None = None, *, ignore: BodyOrBodies = ()
    ) -> Movements:
        """Let overlapping bodies of a crowd push each other apart, a little in each call.

        Each two of them that overlap are pushed apart by a share of the depth, half of it each, along the
        normal of their contact; less, for a body that is in more than four such pairs, so that a dense crowd
        does not shake.  All pushes are found first and then made, as by `move_many` with
        ``"slide"``: walls, static bodies and tiles stop them, and no other body does.  The result does not
        depend on the order of the bodies.  Call it in each frame, after the crowd has moved: overlaps fade
        within a few frames, and where there is no room for all, they even out.

        Pairs that the categories and masks do not select pass through each other.  Sensors and static bodies
        are not pushed and push nobody.  Where bodies lie so close that there are far more than 16 pairs a
        body, only some of the pairs count in a call, so that it takes milliseconds even then.

        Parameters
        ----------
        bodies : Bodies, list of Body, or array of ids
        strength : float
            The share of each overlap, from 0 to 1.
        max_step : float, optional
            The farthest that a body is pushed in a call; half the shorter side of its bounds if not given.
        ignore : Body or bodies
            Bodies that are not pushed, push nobody, and stop nobody.

        Returns
        -------
        Movements
            As of `move_many`, of all bodies in the order given: where they are now, and what stopped them.

        Raises
        ------
        TypeError, ValueError
            A body is not in this world or named twice, or a number is out of range; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> zombies = world.add_many([[0, 0, 10, 10], [6, 0, 16, 10]])
        >>> world.separate(zombies).places.tolist()
        [[-1.0, 0.0], [7.0, 0.0]]
        >>> for _ in range(20):
        ...     moved = world.separate(zombies)
        >>> zombies.positions[:, 0].round(3).tolist()
        [-2.0, 8.0]
        """
        self._dispatch.moves("separate")
        return separate(self._state, self._many, bodies, strength, max_step, ignore)

    # ---- characters

    def walk(
        self,
        body: Body,
        dx: Any,
        dy: float | None = None,
        *,
        snap: float = 0.0,
        steepest: float = 45.0,
        step: float = 0.0,
        corner: float = 0.0,
        drop: bool = False,
        down: tuple[float, float] = (0.0, 1.0),
        probe: float = 0.0,
        pushes: Any = None,
        ignore: BodyOrBodies = (),
    ) -> Walk:
        """Move a character: horizontally by ``dx``, then vertically by ``dy``.

        The order is fixed, so that ``walk(body, dx, dy)`` and ``walk(body, dx, 0)`` followed by
        ``walk(body, 0, dy)`` are the same: of a box except for rounding.  A round character that rolls over
        an edge may rest there between the two, and fall farther in one call; one that slides down beside
        something round may end a thousandth of its radius apart.

        - **Horizontally.**  A character on a floor follows it up and down all slopes up to ``steepest``, by
          ``dx`` in each call however steep the slope; it does not catch on seams between tiles and bodies.
          If it walks off an edge, it steps down to a floor at most ``snap`` below.  In the air it moves
          straight.
        - **Down.**  A fall ends on any surface that is level enough to stand on, where a character neither
          slides nor drifts; on a steeper surface it slides down.
        - **Up.**  A jump ends at a ceiling that is as level as a floor, unless ``corner`` lets it slip past
          the edge of the ceiling; along a steeper side it slides up.

        The obstacles are those of `move`, including slopes and one-way tiles.  A character keeps a distance
        of about 1e-13 of its coordinates from slanted sides.

        Round corners, of the character or of what it walks on, are polygons of 32 sides on the way; where it
        stands or is stopped, it is on the corner itself.  So a round character rolls over the end of a floor
        until the side there is too steep, and walks up what is as low as such a side: 0.29 of its radius at
        45 degrees.  What is higher takes ``step``.

        Parameters
        ----------
        body : Body
            A circle, or a box, capsule or `RoundedBox` whose sides lie along the axes.
        dx, dy : float
            The displacement.  Add gravity in each call: the floor stops it.
        snap : float
            How far it steps down to a lower floor without falling.
        steepest : float
            The steepest slope that it walks and stands on, in degrees, less than 90.
            One-way bodies have no sides that are steeper than 60 degrees: see `Body.one_way`.
        step : float
            How high an edge may be that it walks up.
        corner : float
            How far it may be moved aside, in all, if its head hits only the ends of ceilings.
        drop : bool
            Whether it falls through one-way tiles and ladders, which block on their top only.
        down : (float, float)
            The direction of gravity: ``(0, 1)``, or ``(0, -1)`` if y points up; or to the side, ``(1, 0)`` or
            ``(-1, 0)``: then it walks along y, by ``dy``, and jumps and falls along x.
        probe : float
            How far to look ahead of a walker on a floor, towards ``dx``, for the edge of the floor and for a
            wall; takes as long as two more walks.
        pushes : optional
            Tags of bodies that are not static, one or several: crates that it pushes ahead of it, as far as
            they can move, and they those in their way.  What pushes and what is pushed are in contact for the
            next `update`.
        ignore : Body or bodies
            What neither blocks nor is crossed.

        Returns
        -------
        Walk
            ``x, y, hits, crossed, floor, normal, ladder``, and ``blocked, left, right, top, bottom``; with
            ``probe``, ``edge`` and ``wall``.

        Raises
        ------
        TypeError, ValueError
            The body is not in this world or has a shape that can not walk, or a number is not finite or out
            of range; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> world.tiles = bp.TileMap([[False] * 4, [True] * 4], 32)
        >>> world.tiles.set_slope(2, 0, 0, 1)
        >>> hero = world.add(bp.Box(20, 8, 16, 24))
        >>> walk = world.walk(hero, 44, 5)
        >>> walk.x, round(walk.y, 9), walk.floor, walk.bottom
        (64.0, -8.0, Tile(column=2, row=0), True)
        >>> world.walk(hero, 0, -10).floor is None
        True

        A monster that turns around at edges and walls:

        >>> monster = world.add(bp.Box(0, 16, 16, 16))
        >>> walk = world.walk(monster, -2, 1, probe=4)
        >>> walk.edge, walk.wall
        (True, None)
        """
        if dy is None:
            dx, dy = as_two(dx, "dx, dy")
        rules = snap, steepest, step, corner, drop, down
        tags = as_tags(pushes)
        self._state.store.row(body)  # raises where it is none
        self._dispatch.moves(body)
        walk = self._walker.walk(body, dx, dy, rules, probe, tags, ignore)
        if self._dispatch.checks is not None:
            self._dispatch.checks.pushed(tags)
            self._dispatch.checks.walked(body.id, dy, down[1], walk)
        return walk

    def walk_many(
        self,
        bodies: Any,
        dx: Any,
        dy: Any,
        *,
        snap: float = 0.0,
        steepest: float = 45.0,
        step: float = 0.0,
        corner: float = 0.0,
        drop: bool = False,
        down: tuple[float, float] = (0.0, 1.0),
        movers_block: bool = False,
        ignore: BodyOrBodies = (),
    ) -> Movements:
        """Move many characters among static bodies and tiles, in one call; each as `walk` would.

        Parameters
        ----------
        bodies : Bodies, list of Body, or array of ids
            As of `walk`.
        dx, dy : float or array_like, shape (m,)
            The displacements.
        snap, steepest, step, corner, drop, down
            As of `walk`, the same for all.
        movers_block : bool
            As of `move_many`: whether bodies that are not static block too.
        ignore : Body or bodies
            What neither blocks nor is crossed, by any of them.

        Returns
        -------
        Movements
            ``places, hits, crossed, floors, normals, ladders`` as arrays, and ``on_floor``.

        Raises
        ------
        TypeError, ValueError
            As of `walk`, or a body is named twice, or the lengths differ; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> floor = world.add(bp.Box(0, 50, 400, 10), static=True)
        >>> crowd = [world.add(bp.Box(x, 0, 10, 20)) for x in (0, 100, 500)]
        >>> walks = world.walk_many(crowd, [5, -5, 0], 40)
        >>> walks.places.tolist(), walks.on_floor.tolist()
        ([[5.0, 30.0], [95.0, 30.0], [500.0, 40.0]], [True, True, False])
        """
        rules = snap, steepest, step, corner, drop, down
        self._dispatch.moves("walk_many")
        return self._walker.walk_many(bodies, dx, dy, rules, movers_block, ignore)

    # ---- queries

    @overload  # a list of numbers is one box, here and below one point or way
    def query_box(  # type: ignore[overload-overlap]
        self, box: Shape | Body | OneBox, *, as_ids: Literal[False] = ..., **which: Unpack[_Which]
    ) -> list[Body]: ...
    @overload
    def query_box(
        self, box: Shape | Body | OneBox | RowsLike, *, as_ids: bool = ..., **which: Unpack[_Which]
    ) -> Rows: ...
    @with_hints(
        "a box is one argument, (min_x, min_y, max_x, max_y) or Box(x, y, width, height); "
        "tag=, ignore= and the like are keywords"
    )
    def query_box(
        self,
        box: Any,
        *,
        tag: Any = None,
        category: Categories | None = None,
        mask: Categories | None = None,
        ignore: BodyOrBodies = (),
        as_ids: bool = False,
    ) -> Any:
        """The bodies that overlap a box, by id.

        Shapes are open sets: what only shares an edge or a point does not count.

        Parameters
        ----------
        box : Box, (float, float, float, float) or array_like, shape (m, 4)
            Four numbers are ``min_x, min_y, max_x, max_y``; they may be infinite.  Of another shape, or a
            body, the bounds count, and the body is found too; `query_shape` is for the shape itself.
        tag, category, mask, ignore
            ``tag`` leaves the bodies that have it (or one of several), ``category`` those whose mask has one
            of its bits, ``mask`` those whose category has; both may be names, see `add`.  ``ignore``, a body
            or several, leaves these out.
        as_ids : bool
            Whether to return the ids as an int32 array instead of the bodies.

        Returns
        -------
        list of Body, or numpy.ndarray
            Of an array of boxes ``(n, 2)`` int32 rows ``[query, id of a body]``, sorted; see `body`.

        Raises
        ------
        TypeError, ValueError
            It is not a valid box.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> ball = world.add(bp.Circle(0, 0, 5), tag="ball")
        >>> world.query_box((4, 4, 9, 9)), world.query_box((3, 3, 9, 9)) == [ball]
        ([], True)
        >>> world.query_box((3, 3, 9, 9), as_ids=True)
        array([0], dtype=int32)
        >>> world.query_box([[4, 4, 9, 9], [3, 3, 9, 9]]).tolist()
        [[1, 0]]
        """
        return self._queries.box(box, self._queries.rules(tag, category, mask, ignore), as_ids)

    @overload
    def query_shape(
        self, shape: Shape | Body, *, as_ids: Literal[False] = ..., **which: Unpack[_Which]
    ) -> list[Body]: ...
    @overload
    def query_shape(self, shape: Shape | Body, *, as_ids: Literal[True], **which: Unpack[_Which]) -> Rows: ...
    def query_shape(
        self,
        shape: Shape | Body,
        *,
        tag: Any = None,
        category: Categories | None = None,
        mask: Categories | None = None,
        ignore: BodyOrBodies = (),
        as_ids: bool = False,
    ) -> list[Body] | Rows:
        """The bodies that overlap a shape, or other bodies that overlap a body; see `query_box`."""
        return self._queries.shape(shape, self._queries.rules(tag, category, mask, ignore), as_ids)

    @overload
    def query_cone(
        self,
        origin: Place | Body,
        direction: Place,
        angle: float,
        r: float,
        *,
        sight: bool = ...,
        as_ids: Literal[False] = ...,
        **which: Unpack[_Which],
    ) -> list[Body]: ...
    @overload
    def query_cone(
        self,
        origin: Place | Body | RowsLike,
        direction: Place | RowsLike,
        angle: float,
        r: Any,
        *,
        sight: bool = ...,
        as_ids: bool = ...,
        **which: Unpack[_Which],
    ) -> Rows: ...
    def query_cone(
        self,
        origin: Any,
        direction: Any,
        angle: float,
        r: Any,
        *,
        sight: bool = False,
        tag: Any = None,
        category: Categories | None = None,
        mask: Categories | None = None,
        ignore: BodyOrBodies = (),
        as_ids: bool = False,
    ) -> Any:
        """The bodies in a cone of vision, by id: what a guard sees.

        Parameters
        ----------
        origin : Body, (float, float) or array_like, shape (m, 2)
            A body stands for its centre, and is not found itself.
        direction : (float, float) or array_like, shape (m, 2)
            The middle of the cone, of any length but 0.
        angle : float
            How wide it is, in degrees, up to 360.
        r : float or array_like, shape (m,)
            How far it reaches.  The round side is a polygon around the arc, at most 0.04 % farther.
        sight : bool
            Whether only bodies are found whose centre is in `line_of_sight`; that takes some microseconds
            for each body in the cone.
        tag, category, mask, ignore
            As of `query_box`; what blocks the view is all but what is ignored, and sensors.
        as_ids : bool
            As of `query_box`.

        Returns
        -------
        list of Body, or numpy.ndarray
            Of many cones ``(n, 2)`` int32 rows ``[cone, id of a body]``, sorted.

        Raises
        ------
        TypeError, ValueError
            An argument is not of these kinds.

        See Also
        --------
        ray_fan : with `raycast`, what a cone shows of walls.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> guard = world.add(bp.Circle(0, 0, 5))
        >>> thief, cat = world.add(bp.Circle(50, 20, 5)), world.add(bp.Circle(-50, 0, 5))
        >>> world.query_cone(guard, (1, 0), 60, 100) == [thief]
        True
        >>> wall = world.add(bp.Box(30, 0, 5, 50), static=True)
        >>> world.query_cone(guard, (1, 0), 60, 100, sight=True) == [wall]
        True
        """
        rules = self._queries.rules(tag, category, mask, ignore)
        return self._queries.cone(origin, direction, angle, r, sight, rules, as_ids)

    @overload
    def query_point(  # type: ignore[overload-overlap]
        self, point: Place | Body, *, as_ids: Literal[False] = ..., **which: Unpack[_Which]
    ) -> list[Body]: ...
    @overload
    def query_point(
        self, point: Place | Body | RowsLike, *, as_ids: bool = ..., **which: Unpack[_Which]
    ) -> Rows: ...
    @with_hints("a point is one argument, (x, y); tag=, ignore= and the like are keywords")
    def query_point(
        self,
        point: Any,
        *,
        tag: Any = None,
        category: Categories | None = None,
        mask: Categories | None = None,
        ignore: BodyOrBodies = (),
        as_ids: bool = False,
    ) -> Any:
        """The bodies that contain a point, or rows for points ``(m, 2)``; see `query_box`.

        A body stands for its centre, and is not found itself.
        """
        return self._queries.point(point, self._queries.rules(tag, category, mask, ignore), as_ids)

    @overload
    def query_radius(
        self, center: Place | Body, r: float, *, as_ids: Literal[False] = ..., **which: Unpack[_Which]
    ) -> list[Body]: ...
    @overload
    def query_radius(
        self, center: Place | Body | RowsLike, r: Any, *, as_ids: bool = ..., **which: Unpack[_Which]
    ) -> Rows: ...
    @with_hints("a center is one argument, (x, y); tag=, ignore= and the like are keywords")
    def query_radius(
        self,
        center: Any,
        r: Any,
        *,
        tag: Any = None,
        category: Categories | None = None,
        mask: Categories | None = None,
        ignore: BodyOrBodies = (),
        as_ids: bool = False,
    ) -> Any:
        """The bodies less than ``r`` away from a point, such as those hit by a blast; see `query_box`.

        Parameters
        ----------
        center : (float, float), Body or array_like, shape (m, 2)
            A body stands for its centre, and is not found itself.
        r : float or array_like, shape (m,)
            Not negative; infinity is legal.
        tag, category, mask, ignore, as_ids
            As of `query_box`.
        """
        return self._queries.radius(center, r, self._queries.rules(tag, category, mask, ignore), as_ids)

    @overload
    def raycast(  # type: ignore[overload-overlap]
        self,
        origin: Place | Body,
        direction: Place,
        max_distance: float = ...,
        *,
        tiles: bool = ...,
        **which: Unpack[_Which],
    ) -> RayHit | None: ...
    @overload
    def raycast(
        self,
        origin: Place | RowsLike,
        direction: Place | RowsLike,
        max_distance: Any = ...,
        *,
        tiles: bool = ...,
        **which: Unpack[_Which],
    ) -> RayHits: ...
    @with_hints(
        **dict.fromkeys(
            ["start", "end", "distance", "length"], "a ray is raycast(origin, direction, max_distance)"
        )
    )
    def raycast(
        self,
        origin: Any,
        direction: Any,
        max_distance: Any = math.inf,
        *,
        tag: Any = None,
        category: Categories | None = None,
        mask: Categories | None = None,
        tiles: bool = True,
        ignore: Any = (),
    ) -> RayHit | RayHits | None:
        """The first body or solid tile that a ray hits, or each of many; of equals, that of the lowest id.

        Parameters
        ----------
        origin, direction : (float, float) or array_like, shape (m, 2)
            Directions are of any length but 0.  Arrays may have several leading axes, such as
            ``(robots, rays, 2)``; they broadcast, and results have them.
        max_distance : float or array_like, shape (m,)
            In world units; what is exactly so far away is hit.
        tag, category, mask
            As of `query_box`.
        tiles : bool
            Whether tiles stop rays.
        ignore : Body or bodies
            Bodies that a ray passes through, such as the one that casts it: a ray from inside a body hits
            that first.  For many rays, one body for all or one for each, as bodies or ids; ``None`` or -1 for
            none.  An array of ids is fastest.

        Returns
        -------
        RayHit or None
            Of one ray: ``id, distance, normal``, with ``other``, a body or a tile, and ``point``.
        RayHits
            Of many ``ids, distances, normals`` as arrays, with ``tiles``.

        Raises
        ------
        TypeError, ValueError
            A number is not one or not finite, a direction is zero, ``max_distance`` is negative, lengths do
            not match, or ``ignore`` names what is not a body of this world.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> wall = world.add(bp.Box(10, -5, 1, 10), static=True)
        >>> hit = world.raycast((0, 0), (1, 0))
        >>> hit.other is wall, hit.distance, hit.normal
        (True, 10.0, (-1.0, 0.0))

        Two robots look left and right, and neither sees itself:

        >>> world = bp.World()
        >>> world.tiles = bp.TileMap([[True, False, False, False]], 10)
        >>> robots = [world.add(bp.Circle(x, 5, 2)) for x in (15, 30)]
        >>> hits = world.raycast(
        ...     [[15, 5], [15, 5], [30, 5], [30, 5]],
        ...     [[-1, 0], [1, 0], [-1, 0], [1, 0]],
        ...     ignore=[0, 0, 1, 1],
        ... )
        >>> hits.ids.tolist(), hits.distances.tolist()
        ([-1, 1, 0, -1], [5.0, 13.0, 13.0, inf])
        >>> hits.tiles[0].tolist(), hits.normals[1].tolist()
        ([0, 0], [-1.0, 0.0])
        """
        if (
            is_batch(origin)
            or is_batch(direction)
            or not (type(max_distance) in (float, int) or np.ndim(max_distance) == 0)
        ):
            rules = self._queries.rules(tag, category, mask, None)
            found: Any = self._queries.rays(origin, direction, max_distance, tiles, rules, ignore)
        else:
            rules = self._queries.rules(tag, category, mask, ignore)
            found = self._queries.first(origin, direction, max_distance, tiles, rules)
        if self._dispatch.checks is not None:
            self._dispatch.checks.cast(origin, found)
        return found  # type: ignore[no-any-return]

    @overload
    def query_ray(
        self,
        origin: Any,
        direction: Any,
        max_distance: float = ...,
        *,
        tiles: bool = ...,
        as_ids: Literal[False] = ...,
        **which: Unpack[_Which],
    ) -> list[RayHit]: ...
    @overload
    def query_ray(
        self,
        origin: Any,
        direction: Any,
        max_distance: float = ...,
        *,
        tiles: bool = ...,
        as_ids: Literal[True],
        **which: Unpack[_Which],
    ) -> RayHits: ...
    def query_ray(
        self,
        origin: Any,
        direction: Any,
        max_distance: float = math.inf,
        *,
        tag: Any = None,
        category: Categories | None = None,
        mask: Categories | None = None,
        tiles: bool = True,
        ignore: BodyOrBodies = (),
        as_ids: bool = False,
    ) -> list[RayHit] | RayHits:
        """All bodies that a ray hits, by distance, then id, up to the first solid tile, which comes last.

        Parameters
        ----------
        origin, direction, max_distance, tag, category, mask, tiles, ignore
            As of `raycast`.
        as_ids : bool
            Whether to return arrays, a `RayHits` with a row for each hit, instead of a list.
        """
        rules = self._queries.rules(tag, category, mask, ignore)
        found = self._queries.ray_hits if as_ids else self._queries.ray
        return found(origin, direction, max_distance, tiles, rules)

    @overload
    def line_of_sight(  # type: ignore[overload-overlap]
        self, a: Place | Body, b: Place | Body, *, tiles: bool = ..., **which: Unpack[_Which]
    ) -> bool: ...
    @overload
    def line_of_sight(
        self,
        a: _Places,
        b: _Places,
        *,
        tiles: bool = ...,
        **which: Unpack[_Which],
    ) -> npt.NDArray[np.bool_]: ...
    def line_of_sight(
        self,
        a: Any,
        b: Any,
        *,
        tag: Any = None,
        category: Categories | None = None,
        mask: Categories | None = None,
        tiles: bool = True,
        ignore: BodyOrBodies = (),
    ) -> Any:
        """Whether no body and no solid tile lies between two bodies or points; sensors do not block the view.

        Parameters
        ----------
        a, b : Body, (float, float), several bodies or array_like, shape (m, 2)
            A body stands for its centre, and does not block its own view.  In a periodic world the line goes
            to the nearest image.  One and many work too.
        tag, category, mask : optional
            As of `query_box`: only such bodies block the view.
        tiles : bool
            Whether tiles block it.
        ignore : Body or bodies
            Bodies that do not block the view, of all lines.

        Returns
        -------
        bool, or (m,) bool
            In the axes of the points where these have several.

        Raises
        ------
        TypeError, ValueError
            A point is not a pair of finite numbers, a body is not in this world, or lengths do not match.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> guard, thief = world.add(bp.Circle(0, 0, 1)), world.add(bp.Circle(20, 0, 1))
        >>> wall = world.add(bp.Box(10, -5, 1, 10), static=True)
        >>> world.line_of_sight(guard, thief), world.line_of_sight(guard, thief, ignore=wall)
        (False, True)
        >>> world.line_of_sight(guard, [(5, 0), (15, 0), (15, 20)]).tolist()
        [True, False, True]
        """
        return self._queries.line_of_sight(a, b, tiles, self._queries.rules(tag, category, mask, ignore))

    @with_hints(
        n="how many is k=",
        **dict.fromkeys(["radius", "r", "max_distance"], "query_radius finds what is within a distance"),
    )
    def nearest(
        self,
        point: Place | Body | RowsLike,
        k: int = 1,
        *,
        tag: Any = None,
        category: Categories | None = None,
        mask: Categories | None = None,
        ignore: Any = (),
    ) -> Nearest:
        """The ``k`` bodies nearest to a point, or to each of many, by distance, then id; 0 inside a body.

        Parameters
        ----------
        point : (float, float) or array_like, shape (m, 2)
            Results have several leading axes where points have.
        k : int
            At least 1.
        tag, category, mask
            As of `query_box`.
        ignore : Body or bodies
            As of `raycast`.

        Returns
        -------
        Nearest
            ``ids, distances`` of up to ``k``, with ``bodies``, a list; of many points ``ids, distances`` of
            shape ``(m, k)``, filled up with -1 and inf.

        Raises
        ------
        TypeError, ValueError
            A point is not a pair of finite numbers, ``k`` is less than 1, lengths do not match, or ``ignore``
            names what is not a body of this world.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> _ = [world.add(bp.Circle(x, 0, 1), tag="monster") for x in (5, 9, 20)]
        >>> found = world.nearest((0, 0), k=2, tag="monster")
        >>> found.bodies == world.bodies()[:2], found.ids, found.distances
        (True, array([0, 1], dtype=int32), array([4., 8.]))

        The neighbour of each:

        >>> found = world.nearest(world.positions, ignore=world.ids)
        >>> found.ids.tolist(), found.distances.tolist()
        ([[1], [0], [1]], [[3.0], [3.0], [10.0]])
        """
        if is_batch(point):
            rules = self._queries.rules(tag, category, mask, None)
            return self._queries.nearest_many(point, k, rules, ignore)
        return self._queries.nearest(point, k, self._queries.rules(tag, category, mask, ignore))

    def outlines(
        self, view: Any = None, *, show: Collection[Kind] = SHOWN, colors: Mapping[Any, Any] | None = None
    ) -> list[Outline]:
        """What the world sees, as arrays of lines by colour: to draw it over a game with any engine.

        `broadphase.adapters.pygame.draw_world`, `broadphase.adapters.arcade.draw_world` and
        `broadphase.plot.draw_world` draw it in one call.

        Parameters
        ----------
        view : Box or (float, float, float, float), optional
            What is seen of the world, ``min_x, min_y, max_x, max_y``; all of it if not given.
        show : collection of str
            ``"body"`` and ``"sensor"`` by their tags, ``"tile"``, ``"slope"``, ``"ladder"``; ``"data"``: what
            `TileMap.set_data` says that tiles are, by tags; ``"one_way"``: the sides of tiles and bodies that
            block, with a tick where from;
            ``"contact"``: those of the last update, with normals; ``"ray"``: rays and lines of sight that
            were asked for since the call before, the first of which starts it; ``"index"``, which alone is
            not shown by default: the nodes or cells of the broad phase.
        colors : dict, optional
            Colours by tag, or by one of these words; they come back as they are.

        Returns
        -------
        list of Outline
            ``kind, tags, color, boxes, circles, polygons, lines``, from back to front.

        Raises
        ------
        TypeError, ValueError
            It is no valid box, or ``show`` has another word.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> _ = world.add(bp.Circle(5, 5, 2), tag="ball"), world.add(bp.Box(900, 0, 1, 1))
        >>> [(one.kind, one.color, one.circles.tolist()) for one in world.outlines((0, 0, 640, 360))]
        [('body', (230, 159, 0), [[5.0, 5.0, 2.0]])]
        """
        unknown = [kind for kind in show if kind not in KINDS]
        if isinstance(show, str) or unknown:
            raise ValueError(f"show = {show!r} must be several of {', '.join(KINDS)}")
        area = np.array((-np.inf, -np.inf, np.inf, np.inf) if view is None else as_bounds(view))
        if view is None and self.period is not None:
            area = np.array([0.0, 0.0, *(length or np.inf for length in self.period)])
        return outlines(self._state, self._queries.asked, area, show, colors or {})

    # ---- snapshots

    def snapshot(self, *, tiles: bool = False) -> Snapshot:
        """Save the state of the world, for `restore`.

        It holds bodies with places, shapes, tags, rules, velocities and order of ids; contacts, so that the
        next update finds what began and ended; and calls that an exception left over or, if it is taken
        within a call, that have not been made: the next update after `restore` makes them first.  ``data``
        is kept by reference: the object itself is not restored.  Listeners and what `set_response` said stay
        as they are: for listeners added later, contacts in progress begin.  1,000 bodies take some 20
        microseconds, and `restore` 40.

        A snapshot can be pickled, and restored in any world with the same period: in another process, on
        another machine.  ``data`` and functions are not pickled; tags must allow it.

        Parameters
        ----------
        tiles : bool
            Whether to save the cells of the tile map, too; else `restore` leaves the map as it is.

        Returns
        -------
        Snapshot
            It can be restored any number of times.

        Examples
        --------
        >>> import pickle
        >>> import broadphase as bp
        >>> def level():
        ...     world = bp.World()
        ...     world.add_many([[0, 0, 4, 4], [9, 0, 13, 4]], tag="crate", data=["left", "right"])
        ...     return world
        >>> here, there = level(), level()
        >>> here.body(1).x = 2
        >>> message = pickle.dumps(here.snapshot())
        >>> there.restore(pickle.loads(message))
        >>> there.body(1).x, there.body(1).data
        (2.0, 'right')
        """
        return snapshot(self._state, self._dispatch, tiles)

    def restore(self, moment: Snapshot) -> None:
        """Restore the state of a snapshot.

        Handles of bodies that were alive then are valid again, even if they were removed since; bodies that
        were added since are removed.  The same calls then give the same results, events and calls of
        listeners as before, bit for bit.

        If the snapshot was pickled, or is of another world, bodies are matched by id.  They keep their handle
        and ``data``; missing ones are added, with ``data`` None: `body` finds them.  Listeners are matched by
        their two tags and their order.  Tiles are written into the map of this world if it has the same size,
        else into a new one.  `events` is empty until the next update.

        Parameters
        ----------
        moment : Snapshot

        Raises
        ------
        TypeError
            It is not a snapshot.
        ValueError
            The snapshot is of a world with another period, or was pickled by another version.
        RuntimeError
            It was called from a function that `update` calls.
        """
        if self._dispatch.calling:
            raise RuntimeError(
                "restore() was called from a function that update() calls; let it return first"
            )
        restore(self._state, self._dispatch, moment)

    # ---- about itself

    @property
    def period(self) -> tuple[float | None, float | None] | None:
        """The length of the world on x and y, ``None`` for an axis without one; ``None`` if both have none.

        In a world with a period:

        - All positions that it returns are wrapped into ``0 <= x < period``: those of bodies (their ``x``;
          ``bounds`` may reach beyond), movements, hits and rays.  Positions that you pass may lie anywhere.
        - A move across the border is one move, up to 100 times around.  A body that it reaches again is hit
          again; ``crossed`` lists each body once.
        - A contact is with the nearest image.  If long bodies touch on both sides, the deeper contact counts.
        - Rays wrap around until their maximum distance, which must be finite; each body is hit once, where it
          is hit first.  ``query_box`` with a box longer than the world finds everything on that axis.
        - A body may be at most as long as the period.
        - A tile map reaches from 0 to the period on each axis that has one.

        Positions beyond the border are rounded like all others.

        Examples
        --------
        >>> import broadphase as bp
        >>> space = bp.World(period=(800, 600))
        >>> ship = space.add(bp.Circle(790, 300, 8))
        >>> rock = space.add(bp.Circle(20, 300, 10), static=True)
        >>> move = space.move(ship, 5, 0)
        >>> move.x, space.move(ship, 50, 0).hits[0].other is rock, round(ship.x, 9)
        (795.0, True, 2.0)
        >>> space.nearest((799, 300)).bodies == [ship], [body.id for body in space.query_point((-1, 300))]
        (True, [0])
        """
        return self._state.space.period

    @property
    def check_sprites(self) -> bool:
        """Whether each `update` warns of sprites whose picture has moved while their body stayed."""
        return self._dispatch.watch is not None

    @check_sprites.setter
    def check_sprites(self, check_sprites: bool) -> None:
        if arguments.flag(check_sprites, "check_sprites") != self.check_sprites:
            self._dispatch.watch = SpriteWatch() if check_sprites else None

    @property
    def stats(self) -> WorldStats:
        """What the world holds, and what its last update did."""
        store, dispatch, contacts = self._state.store, self._dispatch, self._state.contacts
        began, stayed, ended = map(len, dispatch.events)
        listened = LISTENED >> store.layer & 1 != 0
        return WorldStats(
            bodies=store.live,
            static=int((store.alive & store.static).sum()),
            listened=int((store.alive & listened).sum()),
            moved=contacts.changed,
            candidates=contacts.candidates,
            contacts=len(contacts.found.ids),
            began=began,
            stayed=stayed,
            ended=ended,
            calls=dispatch.made,
        )

    def validate(self) -> None:
        """Check the inner invariants, for tests.

        Raises
        ------
        AssertionError
            One is broken; the message says which.
        """
        self._state.store.check()
        self._state.broad_phase.check()

    def __repr__(self) -> str:
        tiles = "" if self.tiles is None else f", {self.tiles!r}"
        around = "" if self.period is None else f", period={self.period}"
        return f"<World of {len(self)} bodies{tiles}{around}>"
