"""Bodies of a world that follow pygame's sprites, and groups whose sprites have bodies."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from broadphase.adapters.following import Following
from broadphase.shapes.kinds import Box, Circle, Shape
from broadphase.world.bodies import Body
from broadphase.world.hits import Movement, Response
from broadphase.world.walks import Walk
from broadphase.world.world import World


class _Followed:
    """A body, and the rect that it was last made to agree with."""

    __slots__ = ("body", "group", "round", "seen")

    def __init__(self, body: Body, group: Any, is_round: bool, seen: Any) -> None:
        self.body = body
        self.group = group
        self.round = is_round
        self.seen = seen


class SpriteBodies(Following[_Followed]):
    """Keeps bodies of a `broadphase.World` where sprites are.

    A body's ``data`` is its sprite.  Sprites move as they like; `sync` takes their bodies after them.  Or let
    the world move them, see `move`: then the sprite follows.

    Parameters
    ----------
    world : World, optional
        By default a new one.
    check_sprites : bool
        Whether the world warns of sprites that were moved without `sync` or `move`; see `broadphase.World`.

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
        if check_sprites:
            self.world.check_sprites = True

    def add(self, sprite: Any, *, round: bool = False, **options: Any) -> Body:  # noqa: A002 - its shape
        """Give one sprite a body.

        Parameters
        ----------
        sprite : Sprite
            With a ``rect``.
        round : bool
            A circle as wide as the rect about its centre, or of the sprite's ``radius``, instead of a box.
        **options
            As of `broadphase.World.add`: ``tag``, ``static``, ``sensor``, ``category``, ``mask``.

        Returns
        -------
        Body

        Raises
        ------
        ValueError
            The sprite has a body.
        """
        self._refuse_known(sprite)
        return self._give(sprite, None, round, options)

    def follow(self, group: Iterable[Any], *, round: bool = False, **options: Any) -> None:  # noqa: A002
        """Give every sprite of a group a body, also those that come later, until they leave the group.

        Who comes later gets its body with the next `sync`, or before the next `move` or `walk` of any sprite.

        Parameters
        ----------
        group : Group
        round, **options
            As of `add`.
        """
        self._add_group(group, partial(self._give, is_round=round, options=options))
        self.sync(group)

    def sync(self, *groups: Iterable[Any]) -> None:
        """Bring bodies to where their sprites are; call it before ``world.update()``.

        Parameters
        ----------
        *groups : Group
            Only the sprites of these groups that are followed; by default all.
        """
        self._come_and_go(groups)
        chosen = (sprite for group in groups for sprite in group if sprite in self._known)
        self._move_bodies(chosen if groups else self._known)

    def move(self, sprite: Any, dx: float, dy: float, response: Response = "slide") -> Movement:
        """Move a sprite as far as it can; see `broadphase.World.move`.

        The body keeps the fractions that a ``Rect`` of whole numbers cannot hold.

        Raises
        ------
        KeyError
            The sprite has no body.
        """
        self._take_in()
        known = self._caught_up(sprite)
        before = known.body.position
        movement = self.world.move(known.body, dx, dy, response)
        _take_after(sprite, known, before)
        return movement

    def walk(self, sprite: Any, dx: float, dy: float, **options: Any) -> Walk:
        """Let a sprite walk on floors and slopes; see `broadphase.World.walk`.

        Parameters
        ----------
        sprite : Sprite
        dx, dy : float
            The way; gravity is positive, for y points down.
        **options
            ``snap``, ``steepest``, ``step``, ``corner``, ``drop``.

        Raises
        ------
        KeyError
            The sprite has no body.
        ValueError
            The body is no box.
        """
        self._take_in()
        known = self._caught_up(sprite)
        before = known.body.position
        walk = self.world.walk(known.body, dx, dy, **options)
        _take_after(sprite, known, before)
        return walk

    def body(self, sprite: Any) -> Body:
        """The body of a sprite.

        Raises
        ------
        KeyError
            It has none.
        """
        if sprite not in self._known:
            self._take_in()
        return super().body(sprite)

    # ---- inside

    def _is_ready(self, sprite: Any) -> bool:
        return getattr(sprite, "rect", None) is not None

    def _give(self, sprite: Any, group: Any, is_round: bool, options: dict[str, Any]) -> Body:
        body = self.world.add(_shape(sprite, is_round), data=sprite, **options)
        self._known[sprite] = _Followed(body, group, is_round, sprite.rect.copy())
        return body

    def _caught_up(self, sprite: Any) -> _Followed:
        known = self._known[sprite]
        if not _equal(sprite.rect, known.seen):
            known.body.shape = _shape(sprite, known.round)
            known.seen = sprite.rect.copy()
        return known

    def _move_bodies(self, sprites: Iterable[Any]) -> None:
        """Those that only moved go in one call."""
        bodies, places = [], []
        for sprite in sprites:
            known = self._known[sprite]
            rect = sprite.rect
            if _equal(rect, known.seen) or not known.body.alive:
                continue
            if rect.size != known.seen.size:
                self._caught_up(sprite)
                continue
            known.seen = rect.copy()
            shape = _shape(sprite, known.round)
            bodies.append(known.body)
            places.append((shape.x, shape.y))
        if bodies:
            self.world.move_all(bodies, np.array(places))


def _equal(rect: Any, seen: Any) -> bool:
    # A Rect takes an FRect for equal that lies a fraction further; an FRect does not.
    return bool(rect == seen and seen == rect)


def _take_after(sprite: Any, known: _Followed, before: tuple[float, float]) -> None:
    """Move a sprite as its body was moved; what a rect of whole numbers cannot hold stays in the body."""
    (old_x, old_y), (x, y) = before, known.body.position
    rect = sprite.rect
    if isinstance(rect.x, int):
        rect.move_ip(round(x) - round(old_x), round(y) - round(old_y))
    else:
        rect.move_ip(x - old_x, y - old_y)
    known.seen = rect.copy()


def _shape(sprite: Any, is_round: bool) -> Shape:
    x, y, width, height = sprite.rect
    x, width = min(x, x + width), abs(width)
    y, height = min(y, y + height), abs(height)
    if not is_round:
        return Box(x, y, width, height)
    radius = getattr(sprite, "radius", None)
    return Circle(x + width / 2, y + height / 2, max(width, height) / 2 if radius is None else radius)
