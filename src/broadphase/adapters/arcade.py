"""Drop-ins for arcade's collision functions: one sprite against sprite lists, with hit boxes.

Change one import and a game is faster::

    from broadphase.adapters.arcade import check_for_collision_with_list   # instead of: from arcade import

The answers are arcade's own, also where hit boxes just touch.  They come in the order of the list; with a
spatial hash arcade's come in no order, and these, in lists of thousands, in that in which sprites were added.

arcade goes through all sprites in Python, or keeps a spatial hash, which costs some microseconds whenever
a sprite moves.  But it also keeps places and sizes of all sprites in arrays, for the graphics card.  A kernel
runs over those in a few nanoseconds a sprite, so nothing has to be kept in step: up to some thousand sprites
that move, do without ``use_spatial_hash``.

Cost: some ten microseconds and 3 n nanoseconds a call, and a few microseconds for each sprite that is near
enough to look at the hit boxes.
"""

from array import array
from collections.abc import Iterable
from functools import cache
from itertools import accumulate, chain
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from broadphase.extras import need
from broadphase.kernels.shapes import sprite_hits

__all__ = ["check_for_collision_with_list", "check_for_collision_with_lists"]

# Below, arcade's loop is over before the arrays are at hand.
_FEW_SPRITES = 24
# From here on a look into the spatial hash, where there is one, costs less than a pass over the arrays.
_MANY_SPRITES = 3_000

# What keeps the arrays in step with the sprites.
_KEEPERS = (
    *("__iter__", "__len__", "_update_all", "_update_position", "_update_position_x", "_update_position_y"),
    *("_update_size", "_update_width", "_update_height", "_update_texture"),
)


class _Slots(NamedTuple):
    """Where the sprites of a list stand in its arrays."""

    order: "array[int]"
    """The list's own account when this was made."""
    length: int
    slots: npt.NDArray[np.int32]


_known: WeakKeyDictionary[Any, _Slots] = WeakKeyDictionary()


def check_for_collision_with_list(sprite: Any, sprite_list: Any, method: int = 0) -> list[Any]:
    """The sprites of a list that a sprite meets; see ``arcade.check_for_collision_with_list``.

    Parameters
    ----------
    sprite : Sprite
        It does not meet itself.
    sprite_list : SpriteList
    method : int
        Taken for arcade's sake: the way is always the same, and so is the answer.

    Returns
    -------
    list of Sprite
        In the order of the list.

    Raises
    ------
    TypeError
        As in arcade.
    """
    found = _find(sprite, sprite_list)
    if found is None:
        found = _own(
            _arcade().sprite_list.collision.check_for_collision_with_list(sprite, sprite_list, method)
        )
    return found


def check_for_collision_with_lists(sprite: Any, sprite_lists: Iterable[Any], method: int = 0) -> list[Any]:
    """The sprites of several lists that a sprite meets; see ``arcade.check_for_collision_with_lists``.

    Parameters
    ----------
    sprite, method
        As of `check_for_collision_with_list`.
    sprite_lists : iterable of SpriteList

    Returns
    -------
    list of Sprite
        List by list; a sprite that is in several of them comes several times.

    Raises
    ------
    TypeError
        As in arcade.
    """
    if not isinstance(sprite, _arcade().BasicSprite):
        return _own(
            _arcade().sprite_list.collision.check_for_collision_with_lists(sprite, sprite_lists, method)
        )
    return [
        other
        for sprite_list in sprite_lists
        for other in check_for_collision_with_list(sprite, sprite_list, method)
    ]


@cache
def _arcade() -> Any:
    """The library; imported when needed, because it does not load without the system's graphics."""
    return need("arcade", extra="arcade", purpose="the arcade adapter")


def _own(found: Any) -> list[Any]:
    """What arcade's functions found; those of the inner module, for somebody may put ours in their place."""
    answer: list[Any] = found
    return answer


def _find(sprite: Any, sprite_list: Any) -> list[Any] | None:
    """The answer; ``None`` where arcade has to say."""
    kind: Any = type(sprite_list)
    if not (_keeps_arrays(kind) and isinstance(sprite, _arcade().BasicSprite)):
        return None
    # Before a list is first drawn it does not note the size of a new texture.
    if len(sprite_list) < _FEW_SPRITES or not sprite_list._initialized:
        return None
    slot_of = sprite_list.sprite_slot
    hashed = sprite_list.spatial_hash
    if hashed is not None and len(sprite_list) > _MANY_SPRITES:
        near = hashed.get_sprites_near_sprite(sprite)
        others = [other for other in near if other is not sprite and _within_reach(sprite, other)]
        others.sort(key=slot_of.__getitem__)
        return _that_meet(sprite, others)
    known = _slots_of(sprite_list)
    others = []
    for k in _near(sprite, sprite_list, known):
        other = sprite_list.sprite_list[k]
        if slot_of.get(other) != known.slots[k]:  # somebody has sorted the inner list
            del _known[sprite_list]
            return None
        if other is not sprite and _within_reach(sprite, other):
            others.append(other)
    return _that_meet(sprite, others)


@cache
def _keeps_arrays(kind: Any) -> bool:
    """Whether it is a sprite list that writes places and sizes into its arrays, as arcade's own does."""
    stock = _arcade().SpriteList
    return (
        isinstance(kind, type)
        and issubclass(kind, stock)
        and all(getattr(kind, name) is getattr(stock, name) for name in _KEEPERS)
    )


def _slots_of(sprite_list: Any) -> _Slots:
    """Where each sprite stands, in the order of the list."""
    order = sprite_list._sprite_index_data
    known = _known.get(sprite_list)
    if known is None or known.length != len(sprite_list) or known.order != order:
        slot_of = sprite_list.sprite_slot
        slots = np.array([slot_of[sprite] for sprite in sprite_list.sprite_list], np.int32)
        known = _known[sprite_list] = _Slots(order[:], len(slots), slots)
    return known


def _near(sprite: Any, sprite_list: Any, known: _Slots) -> list[int]:
    """Positions in the list of those that arcade's first test may let through."""
    x, y = sprite._position
    size = max(sprite._width, sprite._height)
    room = np.empty(known.length, np.int32)
    # Views end with this call: an array cannot grow while there are any.
    places = np.frombuffer(sprite_list._sprite_pos_angle_data, np.float32)
    sizes = np.frombuffer(sprite_list._sprite_size_data, np.float32)
    found = sprite_hits.near_sprites(places, sizes, known.slots, float(x), float(y), float(size), room)
    near: list[int] = room[:found].tolist()
    return near


def _within_reach(sprite: Any, other: Any) -> bool:
    """The first test as arcade makes it."""
    reach = 0.71 * (max(sprite._width, sprite._height) + max(other._width, other._height))
    squared = reach * reach
    (x, y), (other_x, other_y) = sprite._position, other._position
    dx, dy = x - other_x, y - other_y
    along_x, along_y = dx * dx, dy * dy
    return not (along_x > squared or along_y > squared or along_x + along_y > squared)


def _that_meet(sprite: Any, others: list[Any]) -> list[Any]:
    """The second test: no edge of one hit box parts it from the other."""
    if not others:
        return []
    outlines = [one.hit_box.get_adjusted_points() for one in (sprite, *others)]
    ends = np.fromiter(accumulate(map(len, outlines)), np.int64, len(outlines))
    corners = np.fromiter(chain.from_iterable(chain.from_iterable(outlines)), np.float64, 2 * int(ends[-1]))
    hits = np.empty(len(others), np.bool_)
    sprite_hits.hit_polygons(corners.reshape(-1, 2), ends, hits)
    return [other for other, hit in zip(others, hits.tolist(), strict=True) if hit]
