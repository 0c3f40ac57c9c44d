"""Bodies of a world for sprites, single ones or those of a group; shared by pygame and arcade."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, Literal, Protocol, TypeVar

from broadphase.world.bodies import Body
from broadphase.world.world import World


class Known(Protocol):
    """The record of a sprite: its body, and the group through which it got it, if any."""

    body: Body
    group: Any


K = TypeVar("K", bound=Known)
Leader = Literal["sprite", "body"]
Give = Callable[[Any, Any], object]


class _Group:
    """A followed group, how its sprites get bodies, and the sprites at the last look."""

    __slots__ = ("count", "followed", "give", "group")

    def __init__(self, group: Iterable[Any], give: Give) -> None:
        self.group, self.give = group, give
        self.followed: list[Any] = []
        self.count = 0
        """The size of the group at the last look."""


class Following(Generic[K]):
    """Sprites with a body each, added alone or as long as they are in a followed group."""

    def __init__(self, world: World | None = None) -> None:
        self.world = World() if world is None else world
        self._known: dict[Any, K] = {}
        self._groups: list[_Group] = []
        self._any_came = False
        """Whether a group has reported a new sprite; for other groups the size is compared."""

    def __contains__(self, sprite: object) -> bool:
        """Whether a sprite has a body here."""
        return sprite in self._known

    def body(self, sprite: Any) -> Body:
        """The body of a sprite.

        Raises
        ------
        KeyError
            The sprite has no body.
        """
        return self._known[sprite].body

    def remove(self, sprite: Any) -> None:
        """Remove the body of a sprite from the world.

        Raises
        ------
        KeyError
            The sprite has no body.
        """
        body = self._known.pop(sprite).body
        if body.alive:
            self.world.remove(body)

    def is_of(self, sprite: Any, group: Any) -> bool:
        """Whether a sprite got its body through this group."""
        return sprite in self._known and self._known[sprite].group is group

    # ---- for subclasses, which know what a sprite is

    def _refuse_known(self, sprite: Any) -> None:
        if sprite in self._known:
            raise ValueError(f"{sprite!r} has a body already")

    def _add_group(self, group: Iterable[Any], give: Give) -> None:
        self._groups.append(_Group(group, give))

    def _follow_groups(self, chosen: tuple[Any, ...] = ()) -> None:
        """Add bodies of sprites that joined a group and remove those of sprites that left.

        ``chosen`` are the groups to look at; by default all.  If a sprite is in several, the first counts.
        """
        for followed in self._groups:
            group = followed.group
            if chosen and not any(group is one for one in chosen):
                continue
            self._look_at(followed, [sprite for sprite in group if sprite not in self._known])

    def _add_new(self) -> None:
        """Add bodies of sprites that joined a group since the last look, and move no other body.

        Called before a sprite moves or is queried, so that a sprite has a body before its first `sync`.  A
        sprite that is not ready yet is added later.  A group that does not report new sprites is checked when
        its size has changed.
        """
        came, self._any_came = self._any_came, False
        for followed in self._groups:
            if came or _count(followed.group) != followed.count:
                waiting = [sprite for sprite in followed.group if sprite not in self._known]
                ready = [sprite for sprite in waiting if self._is_ready(sprite)]
                self._any_came |= len(ready) < len(waiting)
                self._look_at(followed, ready)

    def _look_at(self, followed: _Group, new: list[Any]) -> None:
        group = followed.group
        members = dict.fromkeys(group)
        for sprite in followed.followed:
            if sprite not in members and self.is_of(sprite, group):
                self.remove(sprite)
        for sprite in dict.fromkeys(new):
            followed.give(sprite, group)
        followed.followed = list(members)
        followed.count = _count(group)

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


def _count(group: Any) -> int:
    return len(group) if hasattr(group, "__len__") else 0
