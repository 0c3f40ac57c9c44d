"""pygame sprites in a `broadphase.World`: bodies for sprites, groups with bodies, and drawing."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.adapters.following import Following, Give, Leader, as_leader, check_options, said_of_astray
from broadphase.errors import need, warn_of_world
from broadphase.geometry.shapes import Box, Circle, Shape, extent
from broadphase.inputs import arrays
from broadphase.inputs.boxes import BoxArray, as_boxes
from broadphase.kernels.arrays.sequences import rows_of
from broadphase.kernels.shapes import sprites as sprite_kernels
from broadphase.kernels.shapes.sprites import ASTRAY, MOVED, RESIZED, Agreed
from broadphase.objects import in_range
from broadphase.plot import count_cells
from broadphase.world.arguments import as_two
from broadphase.world.bodies import GONE, Body
from broadphase.world.hits import Answer, Movement, Movements, Response
from broadphase.world.outlines import SHOWN, Kind
from broadphase.world.world import World


class _Followed:
    """The body of a sprite, and the group through which it came."""

    __slots__ = ("body", "group", "leads", "round")

    def __init__(self, body: Body, group: Any, is_round: bool, leads: bool) -> None:
        self.body, self.group, self.round = body, group, is_round
        self.leads = leads
        """Whether the body leads, not the sprite."""


_FIRST_CAPACITY = 64


class SpriteBodies(Following[_Followed]):
    """Keeps bodies of a `broadphase.World` at the positions of sprites.

    The ``data`` of a body is its sprite.  For each sprite or group, one of the two leads:

    - ``"sprite"``: the game moves its sprites; `sync` moves their bodies.
    - ``"body"``: bodies are moved in the world; `sync` moves their sprites, and kills those whose body was
      removed.

    A rect stays at the same offset from its body; one of whole numbers is rounded.  `move`, `move_many`,
    `walk`, `walk_many` and `step` move both, whichever leads.

    Parameters
    ----------
    world : World, optional
        By default a new one.
    check_sprites : bool
        Whether the world warns about sprites that were moved without `sync` or `move`; see
        `broadphase.World`.

    Examples
    --------
    >>> import pygame
    >>> from broadphase.adapters.pygame import SpriteBodies
    >>> walls, player = pygame.sprite.Group(), pygame.sprite.Sprite()
    >>> wall = pygame.sprite.Sprite(walls)
    >>> player.rect, wall.rect = pygame.Rect(0, 0, 16, 16), pygame.Rect(50, -50, 10, 100)
    >>> bodies = SpriteBodies()
    >>> bodies.follow(walls, tag="wall", static=True)
    >>> body = bodies.add(player, tag="player")
    >>> move = bodies.move(player, 100, 5)
    >>> player.rect, move.hits[0].other.data is wall
    (Rect(34, 5, 16, 16), True)
    """

    def __init__(self, world: World | None = None, *, check_sprites: bool = False) -> None:
        super().__init__(world)
        rows = _FIRST_CAPACITY
        self._agreed = Agreed(np.empty((rows, 4)), np.empty((rows, 2)), np.empty((rows, 2)), np.empty(rows))
        if check_sprites:
            self.world.check_sprites = True

    def add(
        self,
        sprite: Any,
        *,
        round: bool = False,  # noqa: A002 - its shape
        leader: Leader = "sprite",
        **options: Any,
    ) -> Body:
        """Add a body for one sprite.

        Parameters
        ----------
        sprite : Sprite
            With a ``rect``.
        round : bool
            A circle around the centre of the rect, as wide as the rect or with the sprite's ``radius``.
        leader : {"sprite", "body"}
            Which of the two the other follows.
        **options
            As of `broadphase.World.add`: ``tag``, ``static``, ``sensor``, ``category``, ``mask``.

        Returns
        -------
        Body

        Raises
        ------
        ValueError
            The sprite has a body already, or ``leader`` is unknown.
        """
        self._refuse_known(sprite)
        return self._give(sprite, None, round, as_leader(leader), options)

    def follow(
        self,
        group: Iterable[Any],
        *,
        round: bool = False,  # noqa: A002 - as of `add`
        leader: Leader = "sprite",
        **options: Any,
    ) -> None:
        """Add a body for every sprite of a group, also for those that join later, until they leave the group.

        A sprite that joins later gets its body in the next `sync`, or before the next `move` or `walk`.

        Parameters
        ----------
        group : Group
        round, leader, **options
            As of `add`.

        Raises
        ------
        ValueError
            ``leader`` is unknown.
        """
        self._follow(group, self._giving(round, leader, options))
        self.sync(group)

    def sync(self, *groups: Iterable[Any]) -> None:
        """Move all followers to their leaders; call it before ``world.update()``.

        A body that follows its sprite is put back if the program has moved it in the world instead.  With
        ``check_sprites`` a `broadphase.WorldWarning` says so.

        Parameters
        ----------
        *groups : Group
            Only the sprites of these groups; by default all.

        Raises
        ------
        TypeError
            A sprite has lost its ``rect``.
        """
        self._follow_groups(groups)
        self._agree_all(chain.from_iterable(groups) if groups else self._known)

    def move_many(
        self, sprites: Iterable[Any], dx: Any, dy: Any = None, response: Answer = "slide", **options: Any
    ) -> Movements:
        """Move many sprites in one call; see `broadphase.World.move_many`.

        Parameters
        ----------
        sprites : Group or list of Sprite
        dx, dy : float or array_like, shape (m,)
            The ways, or one array of shape (m, 2), in the order of the sprites.
        response : str
        **options
            ``movers_block`` and ``ignore``.

        Raises
        ------
        KeyError
            A sprite has no body.

        Examples
        --------
        >>> import pygame
        >>> from broadphase.adapters.pygame import SpriteBodies
        >>> monsters = [pygame.sprite.Sprite() for _ in range(3)]
        >>> for x, monster in enumerate(monsters):
        ...     monster.rect = pygame.Rect(20 * x, 0, 8, 8)
        >>> bodies = SpriteBodies()
        >>> for monster in monsters:
        ...     body = bodies.add(monster)
        >>> moved = bodies.move_many(monsters, [1, 2, 3], 5)
        >>> [monster.rect.topleft for monster in monsters]
        [(1, 5), (22, 5), (43, 5)]
        """
        chosen, bodies = self._all_synced(sprites)
        return self._led(lambda: self.world.move_many(bodies, dx, dy, response, **options), chosen)

    def walk_many(self, sprites: Iterable[Any], dx: Any, dy: Any, **options: Any) -> Movements:
        """Let many sprites walk in one call; see `broadphase.World.walk_many`.

        Parameters
        ----------
        sprites : Group or list of Sprite
        dx, dy : float or array_like, shape (m,)
            The motions, in the order of the sprites.
        **options
            As of `broadphase.World.walk_many`.

        Raises
        ------
        KeyError
            A sprite has no body.
        ValueError
            A body has a shape that can not walk.
        """
        chosen, bodies = self._all_synced(sprites)
        walks = self.world.walk_many(bodies, dx, dy, **options)
        self._move_sprites(chosen)
        return walks

    def step(self, dt: float, **options: Any) -> Movements:
        """Move everything that has a velocity, and its sprites; see `broadphase.World.step`."""
        self.sync()
        stepped = self._led(lambda: self.world.step(dt, **options), [])
        moved = [self.world.body(number).data for number in stepped.ids.tolist()]
        self._move_sprites([sprite for sprite in moved if self._is_known(sprite)])
        return stepped

    def _giving(self, is_round: bool, leader: Leader, options: dict[str, Any]) -> Give:
        """How the sprites of a group get their bodies, for `follow` and `WorldGroup`."""
        check_options(options)
        return partial(self._give, is_round=is_round, leader=as_leader(leader), options=options)

    # ---- inside

    def _is_ready(self, sprite: Any) -> bool:
        return getattr(sprite, "rect", None) is not None

    def _give(self, sprite: Any, group: Any, is_round: bool, leader: Leader, options: dict[str, Any]) -> Body:
        body = self.world.add(_shape(sprite, is_round, _rect_of(sprite)), data=sprite, **options)
        known = _Followed(body, group, is_round, leader == "body")
        row = body.id
        if row >= len(self._agreed.rects):
            larger = (np.resize(column, (2 * row, *column.shape[1:])) for column in self._agreed)
            self._agreed = Agreed(*larger)
        self._agreed.halves[row] = 0.5 if is_round else 0.0
        self._known[sprite] = known
        self._agree(sprite)
        return body

    def _is_known(self, data: Any) -> bool:
        """Whether the data of a body is a sprite that has its body here."""
        return isinstance(data, _Sprite) and data in self._known

    def _agree(self, *sprites: Any) -> None:
        """Note rects and bodies of sprites, which are where they belong."""
        rows = np.array([self._known[one].body.id for one in sprites], np.int32)
        store, kinds = self.world._state.store, np.full(len(rows), MOVED, np.uint8)
        sprite_kernels.agree(_rects_of(sprites), rows, kinds, store.x, store.y, self._agreed)

    def _move_body(self, sprite: Any, known: _Followed) -> None:
        if self._agreed.rects[known.body._row].tolist() != [*_rect_of(sprite)] and known.body.alive:
            known.body.shape = _shape(sprite, known.round, sprite.rect)
            self._agree(sprite)

    def _all_synced(self, sprites: Iterable[Any]) -> tuple[list[Any], list[Body]]:
        self._add_new()
        chosen = list(sprites)
        bodies = [self._known[sprite].body for sprite in chosen]
        self._agree_all(chosen)
        return chosen, bodies

    def _agree_all(self, sprites: Iterable[Any]) -> None:
        """Move followers to their leaders, of those sprites that have bodies."""
        known = self._known
        led: list[Any] = []
        leading: list[Any] = []
        for sprite in sprites:
            one = known.get(sprite)
            if one is not None:
                (leading if one.leads else led).append(sprite)
        self._move_bodies(led)
        self._move_sprites(leading)

    def _move_sprite(self, sprite: Any, known: _Followed) -> None:
        """Move a sprite to its body; a rect of ints leaves the fractions to the body.

        A sprite whose body was removed leaves all groups.
        """
        row, store = known.body._row, self.world._state.store
        if row < 0:
            sprite.kill()
            self._known.pop(sprite, None)
            return
        rects, places, offsets, _ = self._agreed
        rect, x, y = sprite.rect, store.x.item(row), store.y.item(row)
        left, top = x + offsets.item(row, 0), y + offsets.item(row, 1)
        rect.topleft = (round(left), round(top)) if isinstance(rect.x, int) else (left, top)
        rects[row, 0], rects[row, 1] = rect.topleft
        places[row, 0], places[row, 1] = x, y

    def _move_bodies(self, sprites: list[Any], rows: npt.NDArray[np.int32] | None = None) -> None:
        """Move bodies, whose rows may be given, to their sprites; those of the same size in one call."""
        known, store, rects = self._known, self.world._state.store, _rects_of(sprites)
        if rows is None:
            rows = np.array([known[one].body._row for one in sprites], np.int32)
        kinds, placed, goals, resized, astray, sound = sprite_kernels.bodies_of_rects(
            rects, self._agreed, rows, store.x, store.y
        )
        if not sound:
            for sprite, rect in zip(sprites, rects.tolist(), strict=True):
                _shape(sprite, False, rect)  # says what is wrong
        for k in np.flatnonzero(kinds == RESIZED).tolist() if resized else ():
            one = known[sprites[k]]
            one.body.shape = _shape(sprites[k], one.round, rects[k].tolist())
        if astray and self.world.check_sprites:
            for k in np.flatnonzero(kinds == ASTRAY).tolist():
                warn_of_world(said_of_astray(sprites[k], known[sprites[k]].body))
        if len(placed):
            store.put_many(placed, goals)
        if len(placed) or resized:
            sprite_kernels.agree(rects, rows, kinds, store.x, store.y, self._agreed)


def _rect_of(sprite: Any) -> Any:
    rect = getattr(sprite, "rect", None)
    if rect is None:
        raise TypeError(f"{sprite!r} has no rect; set sprite.rect to a pygame.Rect")
    return rect


def _rects_of(sprites: Sequence[Any]) -> npt.NDArray[np.float64]:
    """``(n, 4)``: the rects of sprites."""
    try:
        rects = [sprite.rect for sprite in sprites]
        rows, is_known = rows_of(rects, 4, (), False)
        if not is_known:
            rows = np.fromiter(chain.from_iterable(rects), np.float64, 4 * len(rects)).reshape(-1, 4)
    except (AttributeError, TypeError):
        for sprite in sprites:
            _rect_of(sprite)
        raise
    numbers: npt.NDArray[np.float64] = rows
    return numbers


def _shape(sprite: Any, is_round: bool, rect: Any) -> Shape:
    x, y, width, height = rect
    x, width = min(x, x + width), abs(width)
    y, height = min(y, y + height), abs(height)
    if not is_round:
        return Box(x, y, width, height)
    radius = getattr(sprite, "radius", None)
    return Circle(x + width / 2, y + height / 2, max(width, height) / 2 if radius is None else radius)


# ---- a group that has a world

# A loop over the boxes of so many sprites takes 1 us, less than a query of the world.
_FEW_BOXES = 1000


class _Members(NamedTuple):
    """The sprites of a group, and their bodies."""

    sprites: list[Any]
    """In the order of the group."""
    rows: npt.NDArray[np.int32]
    """Of their bodies; -1 for those without."""
    numbers: npt.NDArray[np.intp]
    """By row, which of ``sprites`` has that body; -1 for bodies of others."""
    lead: bool
    """Whether all have bodies, which follow them."""
    looked: int
    """The departures in the world until then, see `BodyStore.left`."""


_pygame = need("pygame", extra="pygame", purpose="the pygame adapter")
_sprite = need("pygame.sprite", extra="pygame", purpose="the pygame adapter")
_Sprite = _sprite.Sprite


class WorldGroup(_sprite.Group):  # type: ignore[misc,name-defined]
    """A pygame group whose sprites have bodies in a world as long as they are in the group.

    `update` calls ``update`` of the sprites, as any group does, and then moves their bodies.  A sprite may
    join before it has its ``rect``, as in ``super().__init__(group)``.  It gets its body in the next `update`
    or `sync`, or, once it has a rect, before the next `colliding`, `move` or `SpriteBodies.move`.  ``kill``,
    ``remove`` and ``empty`` remove the body immediately.  If a sprite is in several groups with one world,
    the first that saw it gives it its body.  ``group.copy()`` is a plain group.

    Parameters
    ----------
    *sprites : Sprite
    bodies : SpriteBodies, optional
        Has the bodies; the groups of one game share it.  By default a new one, with a new world.
    round, leader, **options
        As of `SpriteBodies.add`.

    Attributes
    ----------
    bodies : SpriteBodies

    Examples
    --------
    >>> import pygame
    >>> from broadphase.adapters.pygame import SpriteBodies, WorldGroup
    >>> bodies = SpriteBodies()
    >>> walls = WorldGroup(bodies=bodies, tag="wall", static=True)
    >>> coins = WorldGroup(bodies=bodies, tag="coin", sensor=True)
    >>> wall, coin, player = (pygame.sprite.Sprite(*groups) for groups in ([walls], [coins], []))
    >>> wall.rect, coin.rect = pygame.Rect(50, -50, 10, 100), pygame.Rect(40, 0, 8, 8)
    >>> player.rect = pygame.Rect(0, 0, 16, 16)
    >>> body = bodies.add(player, tag="player")
    >>> walls.update(); coins.update()
    >>> move = bodies.move(player, 100, 0)
    >>> player.rect, coins.colliding(player) == [coin]
    (Rect(34, 0, 16, 16), True)
    >>> coin.kill()
    >>> coins.colliding(player)
    []
    """

    def __init__(
        self,
        *sprites: Any,
        bodies: SpriteBodies | None = None,
        round: bool = False,  # noqa: A002 - as of `SpriteBodies.add`
        leader: Leader = "sprite",
        **options: Any,
    ) -> None:
        if not (bodies is None or isinstance(bodies, SpriteBodies)):
            raise TypeError(f"bodies must be SpriteBodies, such as SpriteBodies(world); got {bodies!r}")
        for one in sprites:
            if isinstance(one, World | SpriteBodies):
                raise TypeError(f"a WorldGroup takes sprites and bodies=SpriteBodies(world); got {one!r}")
        self._bodies = SpriteBodies() if bodies is None else bodies
        super().__init__()
        give = self._bodies._giving(round, leader, options)
        self._followed = self._bodies._add_group(self, give, reports=True)
        self._known_members: _Members | None = None
        self.add(*sprites)

    @property
    def bodies(self) -> SpriteBodies:
        """The bodies of this group, and of those that share them."""
        return self._bodies

    @property
    def world(self) -> World:
        """The world of the bodies."""
        return self.bodies.world

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Call ``update`` of every sprite, as pygame's groups do; then `sync`."""
        if args or kwargs:
            super().update(*args, **kwargs)
        else:  # half the time where nothing is handed on
            for sprite in self.sprites():
                sprite.update()
        self.sync()

    def sync(self) -> None:
        """Move the bodies of this group to their sprites."""
        if self._bodies._came:
            self._bodies._give_bodies()
        members = self._members()
        if members.lead:
            self._bodies._move_bodies(members.sprites, members.rows)
        else:
            self._bodies.sync(self)

    def body(self, sprite: Any) -> Body:
        """The body of a sprite of this group.

        Raises
        ------
        KeyError
            The sprite is not in the group.
        """
        self._expect(sprite)
        return self.bodies.body(sprite)

    @property
    def centers(self) -> npt.NDArray[np.float64]:
        """``(n, 2)``: the centres of the sprites' rects, in the order of ``sprites()``."""
        return np.array([sprite.rect.center for sprite in self.sprites()], np.float64).reshape(-1, 2)

    def move_many(self, dx: Any, dy: Any = None, response: Answer = "slide", **options: Any) -> Movements:
        """Move all sprites of this group in one call, in the order of ``sprites()``.

        See `SpriteBodies.move_many`.

        Examples
        --------
        >>> import numpy as np, pygame
        >>> from broadphase.adapters.pygame import WorldGroup
        >>> monsters = WorldGroup(tag="monster")
        >>> for x in (0, 40, 80):
        ...     pygame.sprite.Sprite(monsters).rect = pygame.FRect(x, 0, 8, 8)
        >>> ways = np.array((44, 30)) - monsters.centers  # towards the player
        >>> ways *= 2.0 / np.linalg.norm(ways, axis=1, keepdims=True)
        >>> moved = monsters.move_many(ways, movers_block=True)
        >>> [(round(one.rect.x, 2), round(one.rect.y, 2)) for one in monsters.sprites()]
        [(1.68, 1.09), (40.0, 2.0), (78.32, 1.09)]
        """
        return self.bodies.move_many(self.sprites(), dx, dy, response, **options)

    def walk_many(self, dx: Any, dy: Any, **options: Any) -> Movements:
        """Let all sprites of this group walk in one call; see `SpriteBodies.walk_many`."""
        return self.bodies.walk_many(self.sprites(), dx, dy, **options)

    def move(self, sprite: Any, dx: Any, dy: float | None = None, response: Response = "slide") -> Movement:
        """Move a sprite of this group as far as it can; see `SpriteBodies.move`.

        Raises
        ------
        KeyError
            The sprite is not in the group.
        """
        self._expect(sprite)
        return self.bodies.move(sprite, dx, dy, response)

    def in_range(
        self, others: Iterable[Any], radius: Any, *, sort: Literal["list", "distance"] = "list"
    ) -> list[list[Any]]:
        """For each of others the sprites of this group whose centre is at most ``radius`` away.

        The rects are read as they are now, whether or not the group was updated since.

        Parameters
        ----------
        others : iterable
            Sprites, which need not be in a group, rects, vectors or ``(x, y)``.
        radius : float, str or callable
            The range in pixels: a number, or an attribute or function of each of ``others``.
        sort : str
            ``"list"``: each list in the order of the group.  ``"distance"``: nearest first.

        Returns
        -------
        list of list of Sprite
            One list for each of ``others``.

        Raises
        ------
        TypeError, ValueError
            One of ``others`` has no rect and is no place, or a radius is negative or no number.

        Examples
        --------
        >>> import pygame
        >>> from broadphase.adapters.pygame import WorldGroup
        >>> creeps = WorldGroup()
        >>> for x in (30, 8, 90):
        ...     pygame.sprite.Sprite(creeps).rect = pygame.Rect(x, 0, 8, 8)
        >>> [[creep.rect.x for creep in near] for near in creeps.in_range([(0, 4), (94, 4)], 40)]
        [[30, 8], [90]]
        """
        return in_range(others, self.sprites(), radius, sort=sort)

    def colliding(self, sprite: Any) -> list[Any]:
        """The sprites of this group whose bodies overlap a rect, or that of a sprite, without that sprite.

        They come in the order of the group; rects without width or height overlap nothing, as in pygame.
        The bodies are where the last `update` or `sync` put them; those of sprites that joined later are at
        their rects.  Other rects are not read, so this takes microseconds; ``spritecollide`` reads them all.

        Parameters
        ----------
        sprite : Sprite or Rect
            A sprite in any group or none; or a rect, also as a tuple ``x, y, width, height``.

        Returns
        -------
        list of Sprite
        """
        rect, bodies = getattr(sprite, "rect", sprite), self._bodies
        if bodies._came or len(bodies._groups) > 1:
            bodies._add_new()
        members, store = self._members(), bodies.world._state.store
        sprites: list[Any] = members.sprites
        found: list[Any] = []
        if len(members.rows) <= _FEW_BOXES and not store.space.periodic:
            known = store.table.places, members.rows, rect, sprites, sprite, found
            if sprite_kernels.put_boxes_among(*known):
                return found
        touched = map(sprites.__getitem__, self._queried(rect, members).tolist())
        return [one for one in touched if one is not sprite]

    def _queried(self, rect: Any, members: _Members) -> npt.NDArray[Any]:
        """The positions in the group of the sprites whose bodies overlap a rect, by a query of the world."""
        try:
            left, top, width, height = rect
        except (TypeError, ValueError):
            raise TypeError(
                f"sprite must be a sprite or a rect; got {rect!r}; a point x, y is (x, y, 1, 1), "
                "several are asked one by one"
            ) from None
        if not (width and height):
            return members.rows[:0]
        right, bottom = left + width, top + height
        world = self._bodies.world
        box = min(left, right), min(top, bottom), max(left, right), max(top, bottom)
        ids = world.query_box(box, as_ids=True)
        ids = ids[ids < len(members.numbers)]
        bounds = world._state.store.table.bounds(ids)
        candidates = np.sort(members.numbers[ids[(bounds[:, :2] < bounds[:, 2:]).all(axis=1)]])
        return candidates[candidates >= 0]

    def _members(self) -> _Members:
        """The sprites of this group and their bodies, looked up again if any may be another."""
        members, store = self._known_members, self._bodies.world._state.store
        if members is not None and members.looked != store.departures:
            has_left = (store.left[members.rows] > members.looked).any()
            members = self._known_members = None if has_left else members._replace(looked=store.departures)
        if members is None:
            sprites, known = self.sprites(), self._bodies._known
            handles = [known.get(sprite) for sprite in sprites]
            rows = np.array([GONE if one is None else one.body._row for one in handles], np.int32)
            present, numbers = np.flatnonzero(rows >= 0), np.full(len(store.alive), -1)
            numbers[rows[present]] = present
            is_whole = len(present) == len(rows)
            lead = is_whole and not any(one and one.leads for one in handles)
            members = _Members(sprites, rows, numbers, lead, store.departures)
            # Bodies that are gone may come back by `World.restore`.
            self._known_members = members if is_whole else None
        return members

    def add_internal(self, sprite: Any, *layer: Any) -> None:
        """Add a sprite; pygame calls this however a sprite joins.  It gets its body later."""
        super().add_internal(sprite, *layer)
        self._known_members = None
        self._bodies._note_joined(self._followed, sprite)

    def remove_internal(self, sprite: Any) -> None:
        """Remove a sprite and its body; pygame calls this however a sprite leaves."""
        super().remove_internal(sprite)
        self._known_members = None
        self._bodies._note_left(self._followed, sprite)

    def copy(self) -> Any:
        """A plain group with the same sprites, because a sprite has one body only."""
        return _sprite.Group(self.sprites())

    def _expect(self, sprite: Any) -> None:
        if not self.has_internal(sprite):
            raise KeyError(f"{sprite!r} is not in this group")


# ---- drawing

Color = tuple[int, int, int] | str
Point = tuple[float, float]

BOXES = (0, 114, 178)
CELLS = (128, 128, 128)
_FAR = 1e6  # pixels, beyond any surface
_FAINT = (60, 60, 60)


def draw_boxes(
    surface: Any, boxes: Any, *, color: Color = BOXES, camera: Point = (0.0, 0.0), width: int = 1
) -> None:
    """Outline boxes.

    Parameters
    ----------
    surface : pygame.Surface
    boxes : array_like, shape (n, 4), or iterable of sprites
        For sprites, their rects.
    color : pygame colour
    camera : (float, float)
        The point of the world at the upper left corner of the surface.
    width : int
        The width of the lines in pixels; 0 fills the boxes.
    """
    edges = np.clip(_read(boxes) - np.array([*camera, *camera], np.float64), -_FAR, _FAR)
    for left, top, right, bottom in edges.tolist():
        area = (round(left), round(top), max(round(right - left), 1), max(round(bottom - top), 1))
        _pygame.draw.rect(surface, color, area, width)


def draw_cells(
    surface: Any, boxes: Any, cell_size: float, *, color: Color = CELLS, camera: Point = (0.0, 0.0)
) -> None:
    """Outline the cells of a grid that hold boxes, with the number of boxes in each.

    Parameters
    ----------
    surface, boxes, color, camera
        As for `draw_boxes`.
    cell_size : float
        The side of a cell; cells start at 0, 0 of the world.

    Raises
    ------
    ValueError
        There are more than a million cells, or ``cell_size`` is not positive.
    """
    rows = _read(boxes)
    if not len(rows):
        return
    columns, lines, counts = count_cells(rows, cell_size)
    font = _font(max(10, min(20, int(cell_size / 4))))
    for row, column in np.argwhere(counts).tolist():
        area = _pygame.Rect(
            round(columns[column] - camera[0]),
            round(lines[row] - camera[1]),
            round(cell_size) + 1,
            round(cell_size) + 1,
        )
        if area.colliderect(surface.get_rect()):
            _pygame.draw.rect(surface, color, area, 1)
            number = font.render(str(counts[row, column]), True, color)
            surface.blit(number, number.get_rect(center=area.center))


def _read(boxes: Any) -> BoxArray:
    if not isinstance(boxes, np.ndarray) and isinstance(boxes, Iterable):
        boxes = list(boxes)
        if boxes and hasattr(boxes[0], "rect"):
            rects = _rects_of(boxes)
            ends = rects[:, :2] + rects[:, 2:]
            boxes = np.hstack((np.minimum(rects[:, :2], ends), np.maximum(rects[:, :2], ends)))
    return as_boxes(arrays.settled(boxes, "boxes", arrays.BOXES))


def _font(size: int) -> Any:
    """Made for each picture: one from before `pygame.quit` cannot be drawn with."""
    if not _pygame.font.get_init():
        _pygame.font.init()
    return _pygame.font.Font(None, size)


def draw_world(
    surface: Any,
    world: World,
    *,
    camera: Point = (0.0, 0.0),
    zoom: float = 1.0,
    show: Collection[Kind] = SHOWN,
    colors: Mapping[Any, Color] | None = None,
) -> None:
    """Outline what the world sees on the surface: bodies by their tags, tiles, contacts, rays.

    Sensors, which do not block, are faint.

    Parameters
    ----------
    surface : pygame.Surface
    world : World
    camera : (float, float)
        The point of the world at the upper left corner of the surface.
    zoom : float
        Pixels for each unit of the world.
    show, colors
        As of `broadphase.World.outlines`.

    Examples
    --------
    >>> import broadphase as bp, pygame
    >>> from broadphase.adapters.pygame import draw_world
    >>> world, surface = bp.World(), pygame.Surface((80, 60))
    >>> body = world.add(bp.Circle(40, 30, 10), tag="ball")
    >>> draw_world(surface, world, colors={"ball": "white"})
    >>> surface.get_at((30, 30)) == (255, 255, 255), surface.get_at((40, 30)) == (0, 0, 0)
    (True, True)
    """
    (left, top), size = as_two(camera, "camera"), np.array(surface.get_size())
    scale = extent(zoom, "zoom")
    if scale == 0.0:
        raise ValueError("zoom = 0; give the pixels for each unit of the world")
    corner, draw = np.array((left, top)), _pygame.draw
    view = np.hstack((corner, corner + size / scale))

    def on_screen(points: npt.NDArray[np.float64]) -> Any:
        return np.clip((points - corner) * scale, -_FAR, _FAR)

    for one in world.outlines(tuple(view.tolist()), show=show, colors=colors):
        color = _pygame.Color(one.color)
        if one.kind == "sensor":
            color = color.lerp(_FAINT, 0.6)
        boxes = on_screen(one.boxes.reshape(-1, 2)).round().reshape(-1, 4)
        boxes[:, 2:] = np.maximum(boxes[:, 2:] - boxes[:, :2], 1.0)
        for box in boxes.tolist():
            draw.rect(surface, color, box, 1)
        centers, radii = on_screen(one.circles[:, :2]).tolist(), np.clip(one.circles[:, 2] * scale, 1.0, _FAR)
        for center, radius in zip(centers, radii.tolist(), strict=True):
            draw.circle(surface, color, center, radius, 1)
        for corners in chain.from_iterable(on_screen(polygons).tolist() for polygons in one.polygons):
            draw.lines(surface, color, True, corners)
        for start, end in on_screen(one.lines.reshape(-1, 2, 2)).tolist():
            draw.line(surface, color, start, end)
