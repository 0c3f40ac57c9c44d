"""Drop-ins for arcade's physics engines: the same sprites, lists, attributes and methods.

What differs, and why, stands in `broadphase.adapters.arcade`.
"""

from collections.abc import Iterable
from itertools import chain
from typing import Any, NoReturn

from broadphase.adapters.arcade_lists import arcade
from broadphase.adapters.arcade_moves import Rules, move
from broadphase.adapters.arcade_surroundings import Surroundings
from broadphase.shapes.check import extent

Lists = list[Any]


def _kept(name: str, what: str) -> property:
    """A property that is a list of sprite lists: setting adds to it, and nothing or ``del`` empties it."""

    def get(self: Any) -> Lists:
        lists: Lists = getattr(self, name)
        return lists

    def put(self: Any, lists: Any) -> None:
        if lists:
            _add(getattr(self, name), lists)
        else:
            getattr(self, name).clear()

    def drop(self: Any) -> None:
        getattr(self, name).clear()

    return property(get, put, drop, f"The sprite lists {what}.  Setting adds to them; ``None`` empties.")


def _add(kept: Lists, lists: Any) -> None:
    if isinstance(lists, arcade().SpriteSequence):
        kept.append(lists)
    elif lists:
        kept.extend(lists)


class _Engine:
    """What both engines are."""

    player_sprite: Any

    def __copy__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} does not copy, as in arcade: make another")

    def __deepcopy__(self, memo: Any) -> NoReturn:
        self.__copy__()

    def _around(self, lists: Iterable[Any], room: float = 0.0) -> Surroundings:
        player = self.player_sprite
        way = abs(player.change_x) + abs(player.change_y) + room
        return Surroundings(player, lists, way)


class PhysicsEngineSimple(_Engine):
    """One sprite among walls, seen from above; see ``arcade.PhysicsEngineSimple``.

    Parameters
    ----------
    player_sprite : Sprite
        Moved by its ``change_x``, ``change_y`` and ``change_angle``.
    walls : SpriteList or iterable of SpriteList, optional

    Examples
    --------
    >>> import os; os.environ["ARCADE_HEADLESS"] = "True"
    >>> import arcade
    >>> from broadphase.adapters.arcade import PhysicsEngineSimple
    >>> player, wall = arcade.SpriteSolidColor(10, 10), arcade.SpriteSolidColor(10, 100, center_x=40)
    >>> walls = arcade.SpriteList(lazy=True)
    >>> walls.append(wall)
    >>> engine = PhysicsEngineSimple(player, walls)
    >>> player.change_x = 100
    >>> engine.update() == [wall], player.position
    (True, (30.0, 0.0))
    """

    walls = _kept("_walls", "that stop it")

    def __init__(self, player_sprite: Any, walls: Any = None) -> None:
        self.player_sprite = player_sprite
        self._walls: Lists = []
        _add(self._walls, walls)

    def update(self) -> list[Any]:
        """Move the sprite; the sprites that it hit."""
        return move(self.player_sprite, self._around(self._walls), Rules())


class PhysicsEnginePlatformer(_Engine):
    """One sprite with gravity, walls, moving platforms and ladders; see ``arcade.PhysicsEnginePlatformer``.

    Parameters
    ----------
    player_sprite : Sprite
    platforms : SpriteList or iterable of SpriteList, optional
        Walls that move: by ``change_x`` between ``boundary_left`` and ``boundary_right``, by ``change_y``
        between ``boundary_bottom`` and ``boundary_top``.
    gravity_constant : float
        Taken from the sprite's ``change_y`` with each update.
    ladders : SpriteList or iterable of SpriteList, optional
        On them there is no gravity.
    walls : SpriteList or iterable of SpriteList, optional
    snap : float
        arcade does not have it: how far below the floor may be while walking, that the sprite is set down
        on it.  With 0 it hops down slopes, as in arcade.

    Raises
    ------
    TypeError
        ``player_sprite`` is no ``Sprite``, or ``snap`` no number.
    ValueError
        ``snap`` is negative or not finite.

    Examples
    --------
    >>> import os; os.environ["ARCADE_HEADLESS"] = "True"
    >>> import arcade
    >>> from broadphase.adapters.arcade import PhysicsEnginePlatformer
    >>> player, floor = arcade.SpriteSolidColor(10, 10, 0, 30), arcade.SpriteSolidColor(200, 20, 0, -10)
    >>> walls = arcade.SpriteList(lazy=True)
    >>> walls.append(floor)
    >>> engine = PhysicsEnginePlatformer(player, walls=walls, gravity_constant=0.7)
    >>> for _ in range(60):
    ...     _ = engine.update()
    >>> player.bottom, engine.can_jump()
    (0.0, True)
    """

    platforms = _kept("_platforms", "of moving platforms")
    ladders = _kept("_ladders", "of ladders")
    walls = _kept("_walls", "that stop it and stand still")

    def __init__(
        self,
        player_sprite: Any,
        platforms: Any = None,
        gravity_constant: float = 0.5,
        ladders: Any = None,
        walls: Any = None,
        *,
        snap: float = 0.0,
    ) -> None:
        if not isinstance(player_sprite, arcade().Sprite):
            raise TypeError(f"player_sprite must be a Sprite; got {player_sprite!r}")
        self.player_sprite = player_sprite
        self._platforms: Lists = []
        self._ladders: Lists = []
        self._walls: Lists = []
        for kept, lists in ((self._platforms, platforms), (self._ladders, ladders), (self._walls, walls)):
            _add(kept, lists)
        self.gravity_constant = gravity_constant
        self.jumps_since_ground = 0
        self.allowed_jumps = 1
        self.allow_multi_jump = False
        self.snap = extent(snap, "snap")

    def is_on_ladder(self) -> bool:
        """Whether the sprite meets a ladder."""
        return bool(self._ladders) and not self._around(self._ladders).free(*self.player_sprite._position)

    def can_jump(self, y_distance: float = 5) -> bool:
        """Whether a floor lies within a distance below, or another jump in the air is allowed.

        Parameters
        ----------
        y_distance : float
            Nothing within it is overlooked, however thin.
        """
        x, y = self.player_sprite._position
        around = self._around(self._obstacles(), abs(y_distance))
        lands = around.first(x, y, 0.0, -y_distance) < 1.0 or not around.free(x, y - y_distance)
        if lands:
            self.jumps_since_ground = 0
        return lands or (self.allow_multi_jump and self.jumps_since_ground < self.allowed_jumps)

    def enable_multi_jump(self, allowed_jumps: int) -> None:
        """Allow so many jumps, that from the floor included."""
        self.allowed_jumps = allowed_jumps
        self.allow_multi_jump = True

    def disable_multi_jump(self) -> None:
        """Allow jumps from a floor only."""
        self.allow_multi_jump = False
        self.allowed_jumps = 1
        self.jumps_since_ground = 0

    def jump(self, velocity: float) -> None:
        """Set the sprite's ``change_y``, and count the jump."""
        self.player_sprite.change_y = velocity
        self.increment_jump_counter()

    def increment_jump_counter(self) -> None:
        """Count a jump, where several are allowed."""
        if self.allow_multi_jump:
            self.jumps_since_ground += 1

    def update(self) -> list[Any]:
        """Let gravity pull, move the platforms and then the sprite; the sprites that it hit."""
        if not self.is_on_ladder():
            self.player_sprite.change_y -= self.gravity_constant
        for platform in chain.from_iterable(self._platforms):
            _go_on(platform)
        around = self._around(self._obstacles())
        return move(self.player_sprite, around, Rules(climbs=True, snap=self.snap))

    def _obstacles(self) -> Lists:
        return [*self._walls, *self._platforms]


def _go_on(platform: Any) -> None:
    """A platform goes its way, and turns around at the ends of it."""
    if platform.change_x == 0 and platform.change_y == 0:
        return
    _turn_around(platform, "change_x", {"left": 1, "right": -1})
    platform.center_x += platform.change_x
    _turn_around(platform, "change_y", {"top": -1, "bottom": 1})
    platform.center_y += platform.change_y


def _turn_around(platform: Any, speed: str, ends: dict[str, int]) -> None:
    """At an end of its way it goes back from here on; further out it is put there first."""
    for end, back in ends.items():
        bound = getattr(platform, f"boundary_{end}")
        if bound is not None and back * (getattr(platform, end) - bound) <= 0:
            setattr(platform, end, bound)
            setattr(platform, speed, back * abs(getattr(platform, speed)))
