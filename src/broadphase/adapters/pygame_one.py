"""One of pygame's sprites against a group.

By rects pygame's loop takes no longer than a list of the rects does to make, so that is pygame's own: asked
in C about such a list, it gained between nothing and a third, and lost where sprites are few.  Masks are
asked only where they may overlap.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from broadphase.extras import need

_sprite = need("pygame.sprite", extra="pygame", purpose="the pygame adapter")

# pygame's own as they are now: somebody may put ours in their place.
_spritecollide = _sprite.spritecollide
_spritecollideany = _sprite.spritecollideany
_collide_mask = _sprite.collide_mask

_STOCK_GROUPS = {_sprite.AbstractGroup.__iter__, list.__iter__, tuple.__iter__}
# Below, pygame has often found one before a generator is begun.
_FEW_MASKS = 30
# Further away pygame's numbers overflow.
_FARTHEST = 2**30

Collided = Callable[[Any, Any], Any] | None


def spritecollide(sprite: Any, group: Iterable[Any], dokill: bool, collided: Collided = None) -> list[Any]:
    """The sprites of a group that a sprite meets; see ``pygame.sprite.spritecollide``.

    Parameters
    ----------
    sprite : Sprite
    group : Group or iterable of sprites
    dokill : bool
        Remove those found from all their groups.
    collided : callable, optional
        Of two sprites; by default their rects decide.  ``collide_mask`` is asked only where masks may
        overlap; all else is pygame's own.

    Returns
    -------
    list
        In the order of the group.
    """
    if collided is not _collide_mask or not _is_known(group, 1):
        return _theirs(sprite, group, dokill, collided)
    try:
        found = list(_of_masks(sprite, group))
    except Exception:  # pygame's way raises what there is to raise
        return _theirs(sprite, group, dokill, collided)
    if dokill:
        for other in found:
            other.kill()
    return found


def spritecollideany(sprite: Any, group: Iterable[Any], collided: Collided = None) -> Any:
    """The first sprite of a group that a sprite meets; see ``pygame.sprite.spritecollideany``.

    Parameters
    ----------
    sprite, group, collided
        As of `spritecollide`.

    Returns
    -------
    Sprite or None
    """
    if collided is not _collide_mask or not _is_known(group, _FEW_MASKS):
        return _spritecollideany(sprite, group, collided)
    try:
        return next(_of_masks(sprite, group), None)
    except Exception:  # pygame's way raises what there is to raise
        return _spritecollideany(sprite, group, collided)


def _theirs(*arguments: Any) -> list[Any]:
    """Pygame's way."""
    answer: list[Any] = _spritecollide(*arguments)
    return answer


def _is_known(group: Any, few: int) -> bool:
    """Whether a group is gone through as pygame's are, and is long enough."""
    try:
        return len(group) >= few and type(group).__iter__ in _STOCK_GROUPS
    except TypeError:  # iterators are taken as pygame takes them
        return False


def _of_masks(sprite: Any, group: Iterable[Any]) -> Iterator[Any]:
    """Those whose masks overlap; asked only where the outlines of the masks do, within a pixel."""
    x, y = sprite.rect[0], sprite.rect[1]
    width, height = sprite.mask.get_size()
    for other in group:
        rect, mask = other.rect, other.mask
        right, down = rect[0] - x, rect[1] - y
        if not (-_FARTHEST < right < _FARTHEST and -_FARTHEST < down < _FARTHEST):
            raise OverflowError
        if right > width or down > height:
            continue
        other_width, other_height = mask.get_size()
        if not (right < -other_width or down < -other_height) and _collide_mask(sprite, other):
            yield other
