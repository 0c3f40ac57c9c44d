"""Bodies of a world that follow pygame's sprites."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from broadphase.shapes.kinds import Box, Circle, Shape
from broadphase.world.body import Body
from broadphase.world.hits import Movement, Response
from broadphase.world.world import World


class _Followed:
    """A body, and the rect that it was last made to agree with."""

    __slots__ = ("body", "group", "round", "seen")

    def __init__(self, body: Body, group: Any, is_round: bool, seen: tuple[float, ...]) -> None:
        self.body = body
        self.group = group
        self.round = is_round
        self.seen = seen


class SpriteBodies:
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
        self.world = World() if world is None else world
        if check_sprites:
            self.world.check_sprites = True
        self._followed: dict[Any, _Followed] = {}
        self._groups: list[tuple[Any, bool, dict[str, Any]]] = []

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
        return self._add(sprite, None, round, options)

    def follow(self, group: Iterable[Any], *, round: bool = False, **options: Any) -> None:  # noqa: A002
        """Give every sprite of a group a body, also those that come later, until they leave the group.

        Parameters
        ----------
        group : Group
        round, **options
            As of `add`.
        """
        self._groups.append((group, round, options))
        self.sync()

    def body(self, sprite: Any) -> Body:
        """The body of a sprite.

        Raises
        ------
        KeyError
            It has none.
        """
        return self._followed[sprite].body

    def remove(self, sprite: Any) -> None:
        """Take the body of a sprite out of the world.

        Raises
        ------
        KeyError
            It has none.
        """
        body = self._followed.pop(sprite).body
        if body.alive:
            self.world.remove(body)

    def sync(self) -> None:
        """Bring all bodies to where their sprites are; call it before ``world.update()``."""
        for group, is_round, options in self._groups:
            members = dict.fromkeys(group)
            followed = [sprite for sprite, known in self._followed.items() if known.group is group]
            for sprite in followed:
                if sprite not in members:
                    self.remove(sprite)
            for sprite in members:
                if sprite not in self._followed:
                    self._add(sprite, group, is_round, options)
        self._move_bodies()

    def move(self, sprite: Any, dx: float, dy: float, response: Response = "slide") -> Movement:
        """Move a sprite as far as it can; see `broadphase.World.move`.

        The body keeps the fractions that a ``Rect`` of whole numbers cannot hold.

        Raises
        ------
        KeyError
            The sprite has no body.
        """
        known = self._followed[sprite]
        self._catch_up(sprite, known)
        rect = sprite.rect
        x, y = known.body.position
        movement = self.world.move(known.body, dx, dy, response)
        if isinstance(rect.x, int):
            rect.move_ip(round(movement.x) - round(x), round(movement.y) - round(y))
        else:
            rect.move_ip(movement.x - x, movement.y - y)
        known.seen = tuple(rect)
        return movement

    # ---- inside

    def _add(self, sprite: Any, group: Any, is_round: bool, options: dict[str, Any]) -> Body:
        if sprite in self._followed:
            raise ValueError(f"{sprite!r} has a body already")
        body = self.world.add(_shape(sprite, is_round), data=sprite, **options)
        self._followed[sprite] = _Followed(body, group, is_round, tuple(sprite.rect))
        return body

    def _catch_up(self, sprite: Any, known: _Followed) -> None:
        now = tuple(sprite.rect)
        if now != known.seen:
            known.body.shape = _shape(sprite, known.round)
            known.seen = now

    def _move_bodies(self) -> None:
        """Those that only moved go in one call."""
        bodies, places = [], []
        for sprite, known in self._followed.items():
            now = tuple(sprite.rect)
            if now == known.seen:
                continue
            if now[2:] != known.seen[2:]:
                self._catch_up(sprite, known)
                continue
            known.seen = now
            shape = _shape(sprite, known.round)
            bodies.append(known.body)
            places.append((shape.x, shape.y))
        if bodies:
            self.world.move_all(bodies, np.array(places))


def _shape(sprite: Any, is_round: bool) -> Shape:
    x, y, width, height = sprite.rect
    x, width = min(x, x + width), abs(width)
    y, height = min(y, y + height), abs(height)
    if not is_round:
        return Box(x, y, width, height)
    radius = getattr(sprite, "radius", None)
    return Circle(x + width / 2, y + height / 2, max(width, height) / 2 if radius is None else radius)
