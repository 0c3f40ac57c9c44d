"""Drop-ins for arcade: its collision functions and its physics engines.

Change one import and a game is faster::

    from broadphase.adapters.arcade import check_for_collision_with_list   # instead of: from arcade import

The answers are arcade's own, also where hit boxes just touch.  They come in the order of the list; with a
spatial hash arcade's come in no order, and these, in lists of thousands, in that in which sprites were added.

arcade goes through all sprites in Python, or keeps a spatial hash, which costs some microseconds whenever
a sprite moves.  But it also keeps places and sizes of all sprites in arrays, for the graphics card.  A kernel
runs over those in a few nanoseconds a sprite, so nothing has to be kept in step: up to some thousand sprites
that move, do without ``use_spatial_hash``, or use `SpatialHash`, which is cheap to move in.

Cost: some ten microseconds and 3 n nanoseconds a call, and a few microseconds for each sprite that is near
enough to look at the hit boxes.

`PhysicsEngineSimple` and `PhysicsEnginePlatformer` stand in for arcade's: the same sprites, attributes and
methods.  On whole pixels they take the same path, frame by frame.  They differ from those of arcade 3.3
where that goes wrong:

- Up and down a sprite stops where hit boxes touch, not up to a quarter of a pixel (falling) or a pixel
  (rising) before.  What it would have jumped over stops it too.
- A sprite that starts in a wall is moved out the shortest way, or along with a lift that rises into it.
  arcade tries places 1, 2, 4, ... pixels away, for ever where none is free.
- Who stands on several platforms goes with that which holds most of it, not as fast as all together; also
  while walking, and not into walls.
- After ``update`` it lies in no wall that it can leave.  arcade's rounding, turning, climbing and carrying
  may leave it in one, and being squeezed between floor and ceiling takes it through the floor.
- It climbs no more at a time than itself, however fast it runs.
- Who jumps while running into a ramp goes on along it.  arcade looks whether there is room on the ramp at
  the height where the jump began, and stops; on its ``test_map_7`` longer differences begin there.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from broadphase.adapters.arcade_bodies import SpriteBodies
from broadphase.adapters.arcade_engines import PhysicsEnginePlatformer, PhysicsEngineSimple
from broadphase.adapters.arcade_hash import SpatialHash
from broadphase.adapters.arcade_lists import arcade, corners_of, has_arrays, keeps_arrays, near_slots
from broadphase.kernels.shapes import sprite_hits

__all__ = [
    "PhysicsEnginePlatformer",
    "PhysicsEngineSimple",
    "SpatialHash",
    "SpriteBodies",
    "check_for_collision_with_list",
    "check_for_collision_with_lists",
]

# From here on a look into the spatial hash, where there is one, costs less than a pass over the arrays.
_MANY_SPRITES = 3_000


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
            arcade().sprite_list.collision.check_for_collision_with_list(sprite, sprite_list, method)
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
    if not isinstance(sprite, arcade().BasicSprite):
        return _own(
            arcade().sprite_list.collision.check_for_collision_with_lists(sprite, sprite_lists, method)
        )
    return [
        other
        for sprite_list in sprite_lists
        for other in check_for_collision_with_list(sprite, sprite_list, method)
    ]


def _own(found: Any) -> list[Any]:
    """What arcade's functions found; those of the inner module, for somebody may put ours in their place."""
    answer: list[Any] = found
    return answer


def _find(sprite: Any, sprite_list: Any) -> list[Any] | None:
    """The answer; ``None`` where arcade has to say."""
    kind: Any = type(sprite_list)
    if not (keeps_arrays(kind) and isinstance(sprite, arcade().BasicSprite) and has_arrays(sprite_list)):
        return None
    slot_of = sprite_list.sprite_slot
    hashed = sprite_list.spatial_hash
    if hashed is not None and len(sprite_list) > _MANY_SPRITES:
        hit = hashed.get_sprites_near_sprite(sprite)
        others = [other for other in hit if other is not sprite and _within_reach(sprite, other)]
        others.sort(key=slot_of.__getitem__)
        return _that_meet(sprite, others)
    near = _near(sprite, sprite_list)
    if near is None:
        return None
    return _that_meet(sprite, [one for one in near if one is not sprite and _within_reach(sprite, one)])


def _near(sprite: Any, sprite_list: Any) -> list[Any] | None:
    """Those that arcade's first test may let through; ``None`` where somebody has sorted the inner list."""
    x, y = sprite._position
    return near_slots(sprite_list, x, y, max(sprite._width, sprite._height))


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
    corners, ends = corners_of((sprite, *others))
    hits = np.empty(len(others), np.bool_)
    sprite_hits.hit_polygons(corners, ends, hits)
    return [other for other, hit in zip(others, hits.tolist(), strict=True) if hit]
