"""Movement among the bodies and tiles of a world: as far as the way is free, one body or thousands."""

from collections.abc import Iterable

import numpy as np

from broadphase.shapes.kinds import Bounds, Box, Shape
from broadphase.world.arguments import as_two
from broadphase.world.body import Body
from broadphase.world.body_store import as_shape
from broadphase.world.hits import NOTHING, Around, Blockers, Hit, Movement, Response
from broadphase.world.layers import ALL, closed
from broadphase.world.movement import resolve, way_around
from broadphase.world.movement_shapes import resolve_shape
from broadphase.world.probe import beside, blocker_at
from broadphase.world.pushing import Push, push
from broadphase.world.state import State


class Moving(State):
    """The part of `World` that moves bodies.

    What blocks: every body that is no sensor and that the categories and masks let through, and solid
    tiles.  The moving body may be a sensor itself.
    """

    def move(self, body: Body, dx: float, dy: float, response: Response = "slide") -> Movement:
        """Move a body as far as it can; nothing is jumped over, however fast.

        Parameters
        ----------
        body : Body
        dx, dy : float
            The way.
        response : str or callable
            What to do at a hit: ``"slide"`` keeps the free axis, ``"touch"`` stops, ``"cross"`` only
            reports, ``"bounce"`` mirrors what is left of the way.  Or a function that takes a `Hit` and
            returns one of these names, or ``None`` to ignore it.

        Returns
        -------
        Movement
            ``x, y, hits``, and ``blocked, left, right, top, bottom``.  Hits come by time, then by id,
            bodies before tiles.  A body that starts inside a blocker is first pushed out the shortest way.

        Raises
        ------
        TypeError, ValueError
            The body is not in this world, ``dx`` or ``dy`` is no finite number, or the way leads beyond
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
        """
        row = self._store.row(body)
        movement = self._resolve(row, dx, dy, self._around(row), response)
        if body.alive:  # a response may have removed it
            self._store.put(row, movement.x, movement.y)
        return movement

    def try_move(self, body: Body, dx: float, dy: float) -> object | None:
        """Move a body if nothing is in the way; else leave it where it is.

        Returns
        -------
        Body, Tile or None
            The first thing in the way; ``None`` where the body has moved.

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
        row = self._store.row(body)
        movement = self._resolve(row, dx, dy, self._around(row), "touch")
        if movement.hits:
            other: object = movement.hits[0].other
            return other
        self._store.put(row, movement.x, movement.y)
        return None

    def grounded(self, body: Body, direction: tuple[float, float] = (0.0, 1.0)) -> Hit | None:
        """What keeps a body from going in a direction: what it stands on, where y points down.

        Returns
        -------
        Hit or None
            ``None`` where it is free to go.

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
        row = self._store.row(body)
        return beside(self._store.shape(row), as_two(direction, "direction"), self._around(row), self._tiles)

    def blocker(self, shape: Shape | Body, *, ignore: Body | Iterable[Body] = ()) -> object | None:
        """The first thing that would block at a place: may I stand up, or appear, here?

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
        """
        others = [ignore] if isinstance(ignore, Body) else list(ignore)
        unseen = {self._store.row(one, "ignore") for one in others}
        if isinstance(shape, Body):
            row = self._store.row(shape)
            return blocker_at(self._store.shape(row), self._around(row, unseen), self._tiles)
        return blocker_at(as_shape(shape), self._around(None, unseen), self._tiles)

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
            The first thing in the way; ``None`` where the body has the new shape.

        Raises
        ------
        TypeError, ValueError
            The body is not in this world, or the shape is none.

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
        row = self._store.row(body)
        known = as_shape(shape)
        found = blocker_at(known, self._around(row), self._tiles)
        if found is None:
            self._store.put_shape(row, known)
        return found

    def push(self, body: Body, dx: float, dy: float, *, down: tuple[float, float] = (0.0, 1.0)) -> Push:
        """Move a platform all the way, with what stands on it, pushing aside what is in the way.

        The platform itself is stopped by nothing.  What stands on it, or on what does, goes along as far
        as it can.  What is in the way is moved on as far as it can, and pushes what is in its own way.
        What has no room ends up inside the platform: it is ``squeezed``, and what becomes of it is the
        caller's choice.

        Parameters
        ----------
        body : Body
            The platform; usually static, which keeps others from being held against it twice.
        dx, dy : float
            The way.
        down : (float, float)
            The direction in which things stand.

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
        """
        return push(self, body, dx, dy, down)

    # ---- what they share

    def _resolve(self, row: int, dx: float, dy: float, around: Around, response: Response) -> Movement:
        shape = self._store.table.form(row)
        if isinstance(shape, Box):
            place = (self._store.x.item(row), self._store.y.item(row), shape.width, shape.height)
            if not self._store.any_round:
                return resolve(place, dx, dy, around, self._tiles, response)
            first = way_around(place, dx, dy, around, response)
            if first.table is None:  # only boxes near the way
                return resolve(place, dx, dy, _known_first(first, around), self._tiles, response)
        return resolve_shape(self._store.shape(row), dx, dy, around, self._tiles, response)

    def _around(
        self, row: int | None, unseen: Iterable[int] = (), layers: tuple[int, ...] = ALL, by_id: bool = False
    ) -> Around:
        """What blocks a body, or anybody, but for itself and what is not to be seen."""
        store = self._store
        hidden = {*unseen} if row is None else {row, *unseen}
        category, mask = (-1, -1) if row is None else (int(store.category[row]), int(store.mask[row]))

        def around(bounds: Bounds) -> Blockers:
            self._layers.sync()
            rows = self._layers.in_box(closed(bounds), layers)
            rows = [other for other in rows if other not in hidden and not store.sensor[other]]
            if store.any_sets:
                rows = [
                    other
                    for other in rows
                    if category & int(store.mask[other]) and mask & int(store.category[other])
                ]
            if not rows:
                return NOTHING
            bounds_of = np.array([store.bounds(other) for other in rows])
            others = rows if by_id else [store.bodies[other] for other in rows]
            if store.any_round and not all(isinstance(store.table.form(other), Box) for other in rows):
                return Blockers(bounds_of, others, store.table.columns, np.array(rows, np.int64))
            return Blockers(bounds_of, others)

        return around


def _known_first(first: Blockers, around: Around) -> Around:
    """As ``around``, but the answer to the first question is known."""
    answers = [first]
    return lambda bounds: answers.pop() if answers else around(bounds)
