"""A pygame group whose sprites have bodies in a world."""

from typing import Any

from broadphase.adapters.pygame_world import SpriteBodies
from broadphase.extras import need
from broadphase.world.bodies import Body
from broadphase.world.hits import Movement, Response
from broadphase.world.world import World

_sprite = need("pygame.sprite", extra="pygame", purpose="the pygame adapter")


class WorldGroup(_sprite.Group):  # type: ignore[misc,name-defined]
    """A pygame group that knows its world: who is in it has a body, who leaves it has none.

    `update` moves the sprites as any group does, and takes their bodies after them.  A sprite may join before
    it has its ``rect``, as in ``super().__init__(group)``: it gets its body with the next `update` or `sync`,
    or, once it has a rect, before the next `colliding`, `move` or `SpriteBodies.move`.  ``kill``, ``remove``
    and ``empty`` take it away at once.  Of several groups with one world, the one that a sprite was first
    seen in gives the body.  ``group.copy()`` is a plain group.

    Parameters
    ----------
    *sprites : Sprite
    bodies : SpriteBodies, optional
        Who keeps the bodies; the groups of one game share it.  By default a new one, with a new world.
    round, **options
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
        **options: Any,
    ) -> None:
        self.bodies = SpriteBodies() if bodies is None else bodies
        super().__init__()
        self.bodies.follow(self, round=round, **options)
        self.add(*sprites)

    @property
    def world(self) -> World:
        """The world of the bodies."""
        return self.bodies.world

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Call ``update`` of every sprite, as pygame's groups do; then `sync`."""
        super().update(*args, **kwargs)
        self.sync()

    def sync(self) -> None:
        """Bring the bodies of this group to where their sprites are."""
        self.bodies.sync(self)

    def body(self, sprite: Any) -> Body:
        """The body of a sprite of this group.

        Raises
        ------
        KeyError
            It is not in the group.
        """
        self._expect(sprite)
        return self.bodies.body(sprite)

    def move(self, sprite: Any, dx: float, dy: float, response: Response = "slide") -> Movement:
        """Move a sprite of this group as far as it can; see `SpriteBodies.move`.

        Raises
        ------
        KeyError
            It is not in the group.
        """
        self._expect(sprite)
        return self.bodies.move(sprite, dx, dy, response)

    def colliding(self, sprite: Any) -> list[Any]:
        """The sprites of this group whose bodies overlap a sprite's rect, without itself.

        Sprites that have come since the last `update` or `sync` are where their rects are; other bodies are
        where it left them: their rects are not read, which is why this takes microseconds where
        ``spritecollide`` looks at all.

        Parameters
        ----------
        sprite : Sprite
            Of any group or none.

        Returns
        -------
        list of Sprite
        """
        self.bodies._take_in()
        x, y, width, height = sprite.rect
        sides = min(x, x + width), min(y, y + height), max(x, x + width), max(y, y + height)
        found = (body.data for body in self.world.query_box(sides))
        return [one for one in found if one is not sprite and self._has(one)]

    def add_internal(self, sprite: Any, *layer: Any) -> None:
        """Let a sprite come; its body follows: pygame's groups do so by this name, however a sprite joins."""
        super().add_internal(sprite, *layer)
        self.bodies._any_came = True

    def remove_internal(self, sprite: Any) -> None:
        """Let a sprite go, and its body: pygame's groups do so by this name, however a sprite leaves."""
        super().remove_internal(sprite)
        if self.bodies.is_of(sprite, self):
            self.bodies.remove(sprite)

    def copy(self) -> Any:
        """A plain group with the same sprites: a sprite has one body."""
        return _sprite.Group(self.sprites())

    def _has(self, data: Any) -> bool:
        """Whether a body's data is a sprite of this group that has its body here."""
        return isinstance(data, _sprite.Sprite) and data in self.bodies and self.has_internal(data)

    def _expect(self, sprite: Any) -> None:
        if not self.has_internal(sprite):
            raise KeyError(f"{sprite!r} is not in this group")
        if sprite not in self.bodies:
            self.sync()
