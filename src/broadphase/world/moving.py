"""Movement among the bodies and tiles of a world: as far as the way is free, one body or thousands."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from broadphase.kernels.movement.go import NEVER
from broadphase.shapes.kinds import Shape
from broadphase.world.arguments import as_shape, as_two
from broadphase.world.body import Body
from broadphase.world.going import Going, Whole
from broadphase.world.hits import Hit, Movement, Response
from broadphase.world.probe import blocker_at, first_against, step_beside

if TYPE_CHECKING:
    from broadphase.world.pushing import Push


class Moving(Going):
    """The part of `World` that moves bodies.

    What blocks: every body that is no sensor and that the categories and masks let through, and solid
    tiles.  The moving body may be a sensor itself.

    What is crossed: sensors that the categories and masks let through, and bodies whose hit was answered
    with ``"cross"`` or ``None``; tags and listeners do not matter.  It is found by the test that blocks, also
    where a body starts in it, at time 0.  `World.update` tells listeners of it.  `Body.move_to` and
    `World.move_all` put bodies somewhere else: on the way there nothing is crossed.
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
            ``x, y, hits, crossed``, and ``blocked, left, right, top, bottom``.  Hits come by time, then by
            id, bodies before tiles.  A body that starts inside a blocker is first pushed out the shortest
            way.  ``crossed`` are the bodies that it passed without being stopped, see `Moving`.

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
        >>> coin = world.add(bp.Circle(10, -20, 2), sensor=True)
        >>> [(hit.other is coin, hit.time) for hit in world.move(player, 0, -40).crossed]
        [(True, 0.65)]
        """
        return self._go_whole(self._store.row(body), dx, dy, response)

    def try_move(self, body: Body, dx: float, dy: float) -> object | None:
        """Move a body if nothing is in the way; else leave it where it is.

        Listeners are told of what it crossed only where it has moved.

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
        movement = self._go_whole(self._store.row(body), dx, dy, "touch", only_if_free=True)
        if movement.hits:
            other: object = movement.hits[0].other
            return other
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
        towards = as_two(direction, "direction")
        way = step_beside(self._store.bounds(row), towards)
        move = self._go_at_once(row, *way, "touch", NEVER)
        if move is not None:
            return first_against(towards, move)
        return self._beside(row, towards, self._around(row), self._tiles)

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

    def push(self, body: Body, dx: float, dy: float, *, down: tuple[float, float] = (0.0, 1.0)) -> "Push":
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
        from broadphase.world.pushing import push  # here: few worlds have platforms

        with Whole(self, self._store.rows()):
            return push(self, body, dx, dy, down)
