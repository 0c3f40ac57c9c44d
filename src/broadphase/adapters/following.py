"""Who follows whom: sprites, the groups that they came with, and their bodies in a world."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, Protocol, TypeVar

from broadphase.world.bodies import Body
from broadphase.world.world import World


class Known(Protocol):
    """What is known of a sprite: its body, and the group that it was followed in, if any."""

    body: Body
    group: Any


K = TypeVar("K", bound=Known)
Give = Callable[[Any, Any], object]


class _Group:
    """A group, how its sprites are given bodies, and those that were."""

    __slots__ = ("count", "followed", "give", "group")

    def __init__(self, group: Iterable[Any], give: Give) -> None:
        self.group, self.give = group, give
        self.followed: list[Any] = []
        self.count = 0
        """How many were in the group when it was last looked at."""


class Following(Generic[K]):
    """Sprites with a body each, alone or as long as they are in a group."""

    def __init__(self, world: World | None = None) -> None:
        self.world = World() if world is None else world
        self._known: dict[Any, K] = {}
        self._groups: list[_Group] = []
        self._any_came = False
        """Whether a group has said that a sprite came; others are counted."""

    def __contains__(self, sprite: object) -> bool:
        """Whether a sprite has a body here."""
        return sprite in self._known

    def body(self, sprite: Any) -> Body:
        """The body of a sprite.

        Raises
        ------
        KeyError
            It has none.
        """
        return self._known[sprite].body

    def remove(self, sprite: Any) -> None:
        """Take the body of a sprite out of the world.

        Raises
        ------
        KeyError
            It has none.
        """
        body = self._known.pop(sprite).body
        if body.alive:
            self.world.remove(body)

    def is_of(self, sprite: Any, group: Any) -> bool:
        """Whether a sprite has its body because it is in a group that is followed."""
        return sprite in self._known and self._known[sprite].group is group

    # ---- for those that know what a sprite is

    def _refuse_known(self, sprite: Any) -> None:
        if sprite in self._known:
            raise ValueError(f"{sprite!r} has a body already")

    def _add_group(self, group: Iterable[Any], give: Give) -> None:
        self._groups.append(_Group(group, give))

    def _come_and_go(self, chosen: tuple[Any, ...] = ()) -> None:
        """Give bodies to who came into a group, of all or of the chosen, and take those of who left.

        Of several groups that a sprite is in, the first counts.
        """
        for followed in self._groups:
            group = followed.group
            if chosen and not any(group is one for one in chosen):
                continue
            self._look_at(followed, [sprite for sprite in group if sprite not in self._known])

    def _take_in(self) -> None:
        """Give bodies to sprites that came into a group since it was last looked at, and move no other.

        Whoever moves a sprite or asks about one calls this first, so that a sprite is there before its first
        `sync`.  A sprite that is not ready yet goes on waiting.  A group that does not say who comes is
        looked at where the number of its sprites has changed.
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
        """Whether a sprite has what makes its shape."""
        return True


def _count(group: Any) -> int:
    return len(group) if hasattr(group, "__len__") else 0
