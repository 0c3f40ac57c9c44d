"""The sprite lists of arcade, read from the arrays that they keep for the graphics card."""

from array import array
from collections.abc import Iterable
from functools import cache
from itertools import accumulate, chain
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from broadphase.errors import need
from broadphase.kernels.shapes import sprites as sprite_kernels

# With fewer sprites, a loop takes less time than setting up the arrays.
FEW_SPRITES = 24

# The methods that update the arrays when sprites change.
_KEEPERS = (
    *("__iter__", "__len__", "_update_all", "_update_position", "_update_position_x", "_update_position_y"),
    *("_update_size", "_update_width", "_update_height", "_update_texture"),
)
# A little more than half of the diagonal of a unit square.
_REACH = 0.71
_ROUNDING = 1e-12


class Slots(NamedTuple):
    """The rows of the sprites of a list in its arrays."""

    order: "array[int]"
    """A copy of the list's index data from when this was made."""
    slots: npt.NDArray[np.int32]
    textures: list[Any]
    """Those of the sprites when their sizes were noted, in a list that was never drawn."""


known_slots: WeakKeyDictionary[Any, Slots] = WeakKeyDictionary()


@cache
def arcade() -> Any:
    """The module arcade; imported when needed, because it does not load without a graphics system."""
    return need("arcade", extra="arcade", purpose="the arcade adapter")


@cache
def keeps_arrays(kind: Any) -> bool:
    """Whether a class is a sprite list that updates its arrays as arcade's own class does."""
    stock = arcade().SpriteList
    return (
        isinstance(kind, type)
        and issubclass(kind, stock)
        and all(getattr(kind, name) is getattr(stock, name) for name in _KEEPERS)
    )


def has_arrays(sprite_list: Any) -> bool:
    """Whether the arrays are valid and worth using."""
    kind: Any = type(sprite_list)
    return keeps_arrays(kind) and len(sprite_list) >= FEW_SPRITES


def near_slots(sprite_list: Any, x: float, y: float, size: float) -> list[Any] | None:
    """The sprites that may pass arcade's first test for a sprite of this position and size.

    ``None`` if the program has sorted the inner list, so that rows and sprites do not match.
    """
    known = slots_of(sprite_list)
    result = np.empty(len(known.slots), np.int32)
    # The views end with this call, because an array with views cannot grow.
    places = np.frombuffer(sprite_list._sprite_pos_angle_data, np.float32)
    sizes = np.frombuffer(sprite_list._sprite_size_data, np.float32)
    found = sprite_kernels.near_sprites(places, sizes, known.slots, float(x), float(y), float(size), result)
    slot_of, sprites, slots = sprite_list.sprite_slot, sprite_list.sprite_list, known.slots
    nearby = []
    for k in result[:found].tolist():
        if slot_of.get(sprites[k]) != slots[k]:
            del known_slots[sprite_list]
            return None
        nearby.append(sprites[k])
    return nearby


def slots_of(sprite_list: Any) -> Slots:
    """The row of each sprite, in the order of the list; its size is in the arrays."""
    order = sprite_list._sprite_index_data
    known = known_slots.get(sprite_list)
    if known is None or len(known.slots) != len(sprite_list) or known.order != order:
        slot_of = sprite_list.sprite_slot
        slots = np.array([slot_of[sprite] for sprite in sprite_list.sprite_list], np.int32)
        known = known_slots[sprite_list] = Slots(order[:], slots, [])
    return known if sprite_list._initialized else _with_sizes(sprite_list, known)


def _with_sizes(sprite_list: Any, known: Slots) -> Slots:
    """The same after the sizes of new textures were noted, which a list does only once it has been drawn."""
    textures = [sprite._texture for sprite in sprite_list.sprite_list]
    if textures == known.textures:  # 30 ns a sprite; arcade's loop takes ten times as long
        return known
    sizes = sprite_list._sprite_size_data
    for sprite, slot in sprite_list.sprite_slot.items():
        sizes[2 * slot], sizes[2 * slot + 1] = sprite._width, sprite._height
    known = known_slots[sprite_list] = known._replace(textures=textures)
    return known


def squares_of(sprites: list[Any]) -> npt.NDArray[np.float64]:
    """``(n, 4)``: squares about sprites; those of two overlap if the sprites pass arcade's first test."""
    places, sizes = _places_of(sprites)
    reach = _REACH * np.abs(sizes) + _ROUNDING * (np.abs(places).max(axis=1, initial=0.0) + np.abs(sizes))
    return np.hstack((places - reach[:, None], places + reach[:, None]))


def outlines_of(sprites: list[Any]) -> sprite_kernels.Outlines:
    """Sprites as kernels take them."""
    return sprite_kernels.Outlines(*corners_of(sprites), *_places_of(sprites))


def _places_of(sprites: list[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Where sprites are, and the longer side of each."""
    places = np.array([one._position for one in sprites], np.float64).reshape(-1, 2)
    return places, np.array([max(one._width, one._height) for one in sprites], np.float64)


def corners_of(sprites: Iterable[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The corners of the hit boxes of sprites, concatenated, and the end row of each."""
    outlines = [one.hit_box.get_adjusted_points() for one in sprites]
    ends = np.fromiter(accumulate(map(len, outlines)), np.int64, len(outlines))
    count = int(ends[-1]) if outlines else 0
    corners = np.fromiter(chain.from_iterable(chain.from_iterable(outlines)), np.float64, 2 * count)
    return corners.reshape(-1, 2), ends
