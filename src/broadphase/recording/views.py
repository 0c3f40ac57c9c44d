"""A world or an index, as rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes.base import Index
from broadphase.kernels.boxes.filters import STATIC
from broadphase.recording.rows import Held
from broadphase.world.tiles import TileMap
from broadphase.world.world import World


class Tags:
    """Texts of tags, each with a number; 0 is that of no tag."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {frozenset(): 0}
        self.fresh: list[str] = []
        """Those that nobody has written yet."""

    def number(self, tags: frozenset[Any]) -> int:
        """Of a set of tags."""
        known = self._numbers.get(tags)
        if known is None:
            known, text = len(self._numbers), ", ".join(sorted(map(str, tags)))
            # No calls from here on: nothing can come in between.
            self.fresh += (text,)
            self._numbers[tags] = known
        return known


def held_by(target: World | Index, tags: Tags) -> Held:
    """All that a world or an index holds now; arrays that nobody else writes to."""
    return _held_by_world(target, tags) if isinstance(target, World) else _held_by_index(target)


def _held_by_world(world: World, tags: Tags) -> Held:
    store = world._state.store
    n = len(store.bodies)
    alive = store.alive[:n].copy()
    dead = ~alive
    number = np.array([tags.number(group) for group in store.tag_sets.groups], np.int32)
    columns: dict[str, npt.NDArray[Any]] = {
        "static": store.static[:n] & alive,
        "sensor": store.sensor[:n] & alive,
        "category": np.where(dead, np.uint32(1), store.category[:n]),
        "mask": np.where(dead, np.uint32(0xFFFFFFFF), store.mask[:n]),
        "tag": np.where(dead, np.int32(0), number[np.where(dead, 0, store.group[:n])]),
    }
    numbers = np.column_stack((store.x[:n], store.y[:n]))
    numbers[dead] = 0
    forms = [form if lives else None for form, lives in zip(store.table.forms, alive.tolist(), strict=False)]
    return Held(numbers, alive, columns, forms)


def _held_by_index(index: Index) -> Held:
    store = index._store
    n = store.end
    alive = store.alive[:n].copy()
    numbers = store.boxes[:n].copy()
    numbers[~alive] = 0
    columns: dict[str, npt.NDArray[Any]] = {
        "static": (store.classes[:n] & STATIC) != 0,
        "sensor": np.zeros(n, np.bool_),
        "category": np.where(alive, store.categories[:n], np.uint32(1)),
        "mask": np.where(alive, store.masks[:n], np.uint32(0xFFFFFFFF)),
        "tag": np.zeros(n, np.int32),
    }
    return Held(numbers, alive, columns)


def tiles_of(target: World | Index) -> TileMap | None:
    """The tile map, if there is one."""
    return target.tiles if isinstance(target, World) else None
