"""Drop-ins for the collision functions of ``pygame.sprite``, and what helps to look at them (pygame-ce).

Change one import and a game is faster::

    from broadphase.adapters import pygame as sprite   # instead of: from pygame import sprite

The functions take and return what pygame's do, in the same order, with the same errors and side effects;
all other names of ``pygame.sprite`` are here too.  pygame compares every sprite of one group with every one
of the other.  Here a broad phase finds the pairs whose boxes overlap, and only those are looked at.

Cost: reading the rects of n + m sprites, which is most of it, and the search.  Where few sprites meet
few, and for ``collided`` functions of your own (see `rect_first`), pygame does the work.  Where one sprite
meets a group, nearly all of pygame's time goes into reading the rects: `spritecollide` gains nothing, except
with ``collide_mask``, and `spritecollideany` by rects is pygame's own.  Ask about all sprites at once with
`groupcollide`, or keep a `broadphase.World`: a `WorldGroup` knows its own.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from broadphase.adapters.pygame_draw import draw_boxes, draw_cells, draw_contacts, draw_world
from broadphase.adapters.pygame_group import WorldGroup
from broadphase.adapters.pygame_one import spritecollide, spritecollideany
from broadphase.adapters.pygame_world import SpriteBodies
from broadphase.adapters.sprite_boxes import Plan, Sprites, plan, rect_first
from broadphase.boxes import PairArray
from broadphase.extras import need
from broadphase.one_shot import join, pairs

__all__ = [
    "SpriteBodies",
    "WorldGroup",
    "collide",
    "draw_boxes",
    "draw_cells",
    "draw_contacts",
    "draw_world",
    "groupcollide",
    "rect_first",
    "spritecollide",
    "spritecollideany",
]

_sprite = need("pygame.sprite", extra="pygame", purpose="the pygame adapter")

# pygame's own as it is now: somebody may put ours in its place.
_groupcollide = _sprite.groupcollide

Collided = Callable[[Any, Any], Any] | None

# So many tests take pygame about as long as reading the rects and asking a broad phase; tests that are
# written in Python take longer.
FEW_TESTS = 1_000
_FEW_SLOW_TESTS = 400
# After a `kill` of the user's all may be different, and everything is read anew; so often at the most.
_MOST_PASSES = 8

_STOCK_LISTS = {_sprite.AbstractGroup.sprites, _sprite.LayeredUpdates.sprites, _sprite.GroupSingle.sprites}
_STOCK_REMOVALS = {
    _sprite.AbstractGroup.remove_internal,
    _sprite.LayeredUpdates.remove_internal,
    _sprite.GroupSingle.remove_internal,
}


def __getattr__(name: str) -> Any:
    """All other names are those of ``pygame.sprite``."""
    return getattr(_sprite, name)


def groupcollide(
    groupa: Iterable[Any], groupb: Iterable[Any], dokilla: bool, dokillb: bool, collided: Collided = None
) -> dict[Any, list[Any]]:
    """Which sprites of two groups meet; see ``pygame.sprite.groupcollide``.

    Parameters
    ----------
    groupa, groupb : Group or iterable of sprites
    dokilla, dokillb : bool
        Remove those found in the first or the second group from all their groups.  Of several sprites that
        meet one of the second group, the first has it then.
    collided : callable, optional
        Of two sprites; by default their rects decide.  pygame's own and those made with `rect_first` are
        asked about few pairs, any other about all.

    Returns
    -------
    dict
        For each sprite of the first group that meets any, in the order of that group: the list of those of
        the second that it meets, in the order of theirs.
    """
    if not (_is_known(groupa) and _is_known(groupb) and _is_many(groupa, groupb, collided)):
        return _all_asked(groupa, groupb, dokilla, dokillb, collided)
    # A list is gone through as it is, not as it was: somebody's `kill` may take sprites out of it.
    if dokillb and type(groupa) is list and not all(map(_dies_quietly, groupb)):
        return _all_asked(groupa, groupb, dokilla, dokillb, collided)
    lefts = list(groupa)
    found = _Groups(lefts, groupb, dokillb, collided).collide()
    if dokilla:
        for sprite in found:
            sprite.kill()
    return found


def _all_asked(*arguments: Any) -> dict[Any, list[Any]]:
    """Pygame's way."""
    answer: dict[Any, list[Any]] = _groupcollide(*arguments)
    return answer


class _Groups:
    """One call of `groupcollide`, which may have to begin anew after a sprite was killed."""

    def __init__(self, lefts: Sprites, groupb: Any, dokillb: bool, collided: Collided) -> None:
        self.lefts = lefts
        self.groupb = groupb
        self.dokillb = dokillb
        self.collided = collided
        self.found: dict[Any, list[Any]] = {}

    def collide(self) -> dict[Any, list[Any]]:
        done = 0
        for _ in range(_MOST_PASSES):
            if done == len(self.lefts):
                return self.found
            rights = list(self.groupb)
            planned = _plan(self.lefts[done:], rights, self.collided)
            if planned is None:
                break
            done += self._pass(done, rights, planned)
        for left in self.lefts[done:]:
            met = spritecollide(left, self.groupb, self.dokillb, self.collided)
            if met:
                self.found[left] = met
        return self.found

    def _pass(self, first: int, rights: Sprites, planned: Plan) -> int:
        """Take up the hits in order; how many left sprites are settled by them."""
        gone: set[int] = set()
        count = len(self.lefts) - first
        asked = count  # with nobody left to meet, pygame asks no more
        for i, rows in _by_left(_in_list_order(planned, _overlapping(planned))):
            met = rows
            if gone or planned.confirm is not None:
                met = [j for j in rows if j not in gone and _confirmed(planned, i, j)]
            if not met:
                continue
            self.found[self.lefts[first + i]] = [rights[j] for j in met]
            if self.dokillb and not self._kill(rights, met, gone):
                asked = count = i + 1
                break
            if len(gone) == len(rights):
                asked = i + 1
                break
        _keep(planned, asked)
        return count

    def _kill(self, rights: Sprites, rows: list[int], gone: set[int]) -> bool:
        """Kill what was hit; whether nothing but the groups has changed."""
        harmless = True
        for j in rows:
            sprite = rights[j]
            harmless = harmless and _dies_quietly(sprite)
            sprite.kill()
            if harmless and not (isinstance(self.groupb, list | tuple) or self.groupb.has_internal(sprite)):
                gone.add(j)
        return harmless


def collide(sprites: Iterable[Any], collided: Collided = None) -> list[tuple[Any, Any]]:
    """Every pair of sprites of one list that meet.

    Parameters
    ----------
    sprites : Group or iterable of sprites
    collided : callable, optional
        As of `groupcollide`; asked with the earlier sprite first.

    Returns
    -------
    list of (Sprite, Sprite)
        The earlier one first, in the order of the list.

    Examples
    --------
    >>> import pygame
    >>> from broadphase.adapters import pygame as sprite
    >>> def box(*rect):
    ...     made = sprite.Sprite()
    ...     made.rect = pygame.Rect(rect)
    ...     return made
    >>> a, b, c = box(0, 0, 9, 9), box(5, 5, 9, 9), box(14, 5, 9, 9)
    >>> sprite.collide([a, b, c]) == [(a, b)]
    True
    """
    things = list(sprites)
    planned = _plan(things, things, collided) if _is_many(things, things, collided) else None
    if planned is None:
        meet = _sprite.collide_rect if collided is None else collided
        return [(a, b) for i, a in enumerate(things) for b in things[i + 1 :] if meet(a, b)]
    rows = pairs(planned.left.boxes, touching=planned.touching)
    _keep(planned, len(things))
    return [
        (things[i], things[j]) for i, j in _in_list_order(planned, rows).tolist() if _confirmed(planned, i, j)
    ]


def _is_many(groupa: Any, groupb: Any, collided: Collided) -> bool:
    try:
        return len(groupa) * len(groupb) > (FEW_TESTS if collided is None else _FEW_SLOW_TESTS)
    except TypeError:  # iterators are taken as pygame takes them
        return False


def _is_known(group: Any) -> bool:
    """Whether the members are in a list, or kept as pygame's groups keep them."""
    kind = type(group)
    if kind is list or kind is tuple:
        return True
    return (
        getattr(kind, "__iter__", None) is _sprite.AbstractGroup.__iter__
        and getattr(kind, "sprites", None) in _STOCK_LISTS
    )


def _dies_quietly(sprite: Any) -> bool:
    """Whether ``kill`` does no more than to take the sprite out of its groups."""
    kill = getattr(sprite, "kill", None)
    return getattr(kill, "__func__", None) is _sprite.Sprite.kill and all(
        getattr(group.remove_internal, "__func__", None) in _STOCK_REMOVALS for group in sprite.groups()
    )


def _plan(lefts: Sprites, rights: Sprites, collided: Collided) -> Plan | None:
    try:
        return plan(lefts, rights, collided)
    except Exception:  # pygame's way raises what there is to raise
        return None


def _overlapping(planned: Plan) -> PairArray:
    return join(planned.left.boxes, planned.right.boxes, touching=planned.touching)


def _in_list_order(planned: Plan, rows: PairArray) -> PairArray:
    """Rows of boxes as rows of sprites: both ascend alike."""
    for column, side in enumerate((planned.left, planned.right)):
        if side.rows is not None:
            rows[:, column] = side.rows[rows[:, column]]
    return rows


def _by_left(rows: PairArray) -> Iterator[tuple[int, list[int]]]:
    """Each left row, and the right rows beside it."""
    if not len(rows):
        return
    lefts, rights = rows.T.tolist()
    start = 0
    for left, same in groupby(lefts):
        end = start + len(list(same))
        yield left, rights[start:end]
        start = end


def _confirmed(planned: Plan, i: int, j: int) -> Any:
    return planned.confirm is None or planned.confirm(i, j)


def _keep(planned: Plan, asked: int) -> None:
    if planned.keep is not None:
        planned.keep(asked)
