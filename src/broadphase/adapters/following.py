"""Bodies of a world for sprites, single ones or those of a group; shared by pygame and arcade."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np

from broadphase.geometry.shapes import Box
from broadphase.world.bodies import Body
from broadphase.world.hits import Movement, Response, Walk
from broadphase.world.world import World


class Known(Protocol):
    """The record of a sprite: its body, the group through which it got it, if any, and whether it leads."""

    body: Body
    group: Any
    leads: bool


K = TypeVar("K", bound=Known)
M = TypeVar("M")
Leader = Literal["sprite", "body"]
Give = Callable[[Any, Any], object]


class FollowedGroup:
    """A followed group, how its sprites get bodies, and its sprites at the last look.

    A group that ``reports`` tells which sprites join and leave; the others are looked through.
    """

    __slots__ = ("count", "followed", "give", "group", "reports")

    def __init__(self, group: Iterable[Any], give: Give, reports: bool) -> None:
        self.group, self.give, self.reports = group, give, reports
        self.followed: list[Any] = []
        self.count = 0
        """The size of the group at the last look."""


class _Records(dict[Any, K]):
    """The records of sprites; an unknown sprite is named with the fix."""

    def __missing__(self, sprite: Any) -> K:
        raise KeyError(f"{sprite!r} has no body; SpriteBodies.add(sprite), or follow(group), gives it one")


class Following(ABC, Generic[K]):
    """Sprites with a body each, added alone or as long as they are in a followed group."""

    _walking: Mapping[str, Any] = {}
    """Arguments of every walk."""

    def __init__(self, world: World | None = None) -> None:
        if not (world is None or isinstance(world, World)):
            raise TypeError(f"world must be a broadphase.World; got {world!r}")
        self.world = World() if world is None else world
        self._known = _Records[K]()
        self._groups: list[FollowedGroup] = []
        self._came: list[tuple[FollowedGroup, Any]] = []
        """Sprites that may need a body, with the group that would give it."""

    def __contains__(self, sprite: object) -> bool:
        """Whether a sprite has a body here."""
        return sprite in self._known and self._known[sprite].body.alive

    def body(self, sprite: Any) -> Body:
        """The body of a sprite.

        Raises
        ------
        KeyError
            The sprite has no body.
        """
        if sprite not in self._known:
            self._add_new()
        return self._known[sprite].body

    def remove(self, sprite: Any) -> None:
        """Remove the body of a sprite from the world.

        Raises
        ------
        KeyError
            The sprite has no body.
        """
        body = self._known[sprite].body
        del self._known[sprite]
        if body.alive:
            self.world.remove(body)

    def move(self, sprite: Any, dx: Any, dy: float | None = None, response: Response = "slide") -> Movement:
        """Move a sprite as far as it can, whichever leads; see `broadphase.World.move`.

        The body keeps the fractions that a ``Rect`` of ints cannot hold.

        Raises
        ------
        KeyError
            The sprite has no body.
        """
        body = self._synced(sprite).body
        return self._led(lambda: self.world.move(body, dx, dy, response), [sprite])

    def walk(self, sprite: Any, dx: Any, dy: float | None = None, **options: Any) -> Walk:
        """Let a sprite walk on floors and slopes, whichever leads; see `broadphase.World.walk`.

        Parameters
        ----------
        sprite : Sprite
            One of arcade was added with ``boxed=True``.
        dx, dy : float
            The motion; gravity is positive in pygame, whose y points down, and negative in arcade.
        **options
            As of `broadphase.World.walk`; with ``pushes`` all sprites and bodies agree first, as by `sync`.

        Raises
        ------
        KeyError
            The sprite has no body.
        ValueError
            The body has a shape that can not walk.
        """
        pushes = options.get("pushes") is not None
        if pushes:
            self.sync()
        body = self._synced(sprite).body
        rules = {**self._walking, **options}
        return self._led(lambda: self.world.walk(body, dx, dy, **rules), [sprite], pushes)

    # ---- for subclasses, which know what a sprite is, and for groups that report

    def _note_joined(self, followed: FollowedGroup, sprite: Any) -> None:
        """A sprite has joined a group: it gets its body when one is needed."""
        self._came.append((followed, sprite))

    def _note_left(self, followed: FollowedGroup, sprite: Any) -> None:
        """A sprite has left a group: if that gave it its body, another that has it gives it one."""
        if sprite in self._known and self._known[sprite].group is followed.group:
            self.remove(sprite)
            self._came += [(other, sprite) for other in self._groups if sprite in other.group]

    def _refuse_known(self, sprite: Any) -> None:
        if type(sprite).__hash__ is None:
            raise TypeError(f"{sprite!r} is no sprite; World.add(shape) adds a body without one")
        if sprite in self:
            raise ValueError(f"{sprite!r} has a body already")

    def _follow(self, group: Any, give: Give) -> None:
        """Follow a group that does not report, or nothing where one of its sprites can have no body."""
        if not isinstance(group, Iterable):
            raise TypeError(f"a group holds sprites; got {group!r}, which SpriteBodies.add gives a body")
        before, came = {*self._known}, [*self._came]
        followed = self._add_group(group, give)
        try:
            self._look_at(followed)
            self._give_bodies()
        except BaseException:
            self._groups.remove(followed)
            self._came = came
            for sprite in [sprite for sprite in self._known if sprite not in before]:
                self.remove(sprite)
            raise

    def _add_group(self, group: Any, give: Give, reports: bool = False) -> FollowedGroup:
        followed = FollowedGroup(group, give, reports)
        self._groups.append(followed)
        return followed

    def _follow_groups(self, chosen: tuple[Any, ...] = ()) -> None:
        """Add bodies of sprites that joined a group and remove those of sprites that left.

        ``chosen`` are the groups to look at; by default all.  If a sprite is in several, the first counts.
        """
        for followed in self._groups:
            if not followed.reports and (not chosen or any(followed.group is one for one in chosen)):
                self._look_at(followed)
        self._give_bodies()

    def _add_new(self) -> None:
        """Add bodies of sprites that joined a group since the last look, and move no other body.

        Called before a sprite moves or is queried, so that a sprite has a body before its first `sync`.  A
        group that does not report is looked at when its size has changed.
        """
        for followed in self._groups:
            if not followed.reports and _count(followed.group) != followed.count:
                self._look_at(followed)
        if self._came:
            self._give_bodies()

    def _look_at(self, followed: FollowedGroup) -> None:
        members = dict.fromkeys(followed.group)
        for sprite in followed.followed:
            if sprite not in members:
                self._note_left(followed, sprite)
        self._came += [(followed, sprite) for sprite in members if sprite not in self._known]
        followed.followed, followed.count = list(members), _count(followed.group)

    def _give_bodies(self) -> None:
        """Give bodies to those that came; a sprite that is not ready yet keeps waiting."""
        waiting = []
        for followed, sprite in self._came:
            if sprite in self._known or sprite not in followed.group:
                continue
            if self._is_ready(sprite):
                followed.give(sprite, followed.group)
            else:
                waiting.append((followed, sprite))
        self._came = waiting

    def _led(self, move: Callable[[], M], sprites: list[Any], pushes: bool = False) -> M:
        """Move bodies, then the sprites that they lead: those given, and what was carried or pushed."""
        store = self.world._state.store
        if not (pushes or store.any_one_way):
            moved = move()
        else:
            x, y = store.x.copy(), store.y.copy()
            moved = move()
            elsewhere = (store.x[: len(x)] != x) | (store.y[: len(y)] != y)
            rows = set(np.flatnonzero(elsewhere).tolist())
            sprites = sprites + [sprite for sprite, one in self._known.items() if one.body.id in rows]
        self._move_sprites(sprites)
        return moved

    def _synced(self, sprite: Any) -> K:
        """The record of a sprite, before both are moved; a body that follows is where its sprite is."""
        self._add_new()
        known = self._known[sprite]
        if not known.leads:
            self._move_body(sprite, known)
        return known

    def _move_sprites(self, sprites: list[Any]) -> None:
        """Move sprites to their bodies."""
        for sprite in sprites:
            known = self._known.get(sprite)
            if known is not None:  # or one before has removed this one, too
                self._move_sprite(sprite, known)

    @abstractmethod
    def sync(self) -> None:
        """Move all followers to their leaders."""

    @abstractmethod
    def _move_sprite(self, sprite: Any, known: K) -> None:
        """Move a sprite to its body; one whose body was removed leaves all groups."""

    @abstractmethod
    def _move_body(self, sprite: Any, known: K) -> None:
        """Move a body to its sprite, if that has changed."""

    def _is_ready(self, sprite: Any) -> bool:
        """Whether a sprite has what its shape is made of."""
        return True


def as_leader(leader: Leader) -> Leader:
    """Which of the two leads, checked.

    Examples
    --------
    >>> as_leader("body")
    'body'
    """
    if leader not in ("sprite", "body"):
        raise ValueError(f'leader must be "sprite" or "body"; got {leader!r}')
    return leader


def check_options(options: Mapping[str, Any]) -> None:
    """Raise if `World.add` refuses these options, also for a group that has no sprites yet.

    Examples
    --------
    >>> check_options({"tag": "wall", "static": True})
    """
    World().add(Box(0, 0, 1, 1), data=None, **options)


def said_of_astray(sprite: Any, body: Body) -> str:
    """What to say of a body that the program has moved although its sprite leads."""
    return (
        f"the body of {sprite!r} has moved to {body.position}, but it follows its sprite and goes back; "
        'move the sprite, use SpriteBodies.move, or add the sprite with leader="body"'
    )


def _count(group: Any) -> int:
    kept = getattr(group, "spritedict", group)  # pygame makes a list of a group to count it
    return len(kept) if hasattr(kept, "__len__") else 0
