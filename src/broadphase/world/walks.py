"""What comes out of a walk."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.world.hits import Hit, Movement
from broadphase.world.movement_many import HitArrays
from broadphase.world.tiles import Tile

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Walk(NamedTuple):
    """Where a walker came to, what stopped it, and what it stands on."""

    x: float
    y: float
    hits: tuple[Hit, ...]
    """What stopped or held it, in order; what the body started in comes first."""
    crossed: tuple[Hit, ...]
    """As of `Movement`."""
    floor: Any
    """The body or `Tile` that it stands on now, ``None`` in the air and on what is too steep: no memory of
    the frame before, and no need for one."""
    normal: tuple[float, float] | None
    """Out of the floor: straight up on level ground."""
    ladder: Tile | None
    """The ladder in which its middle is, or its feet."""

    @property
    def blocked(self) -> bool:
        """Whether anything stopped or held it."""
        return self._movement.blocked

    @property
    def left(self) -> bool:
        """Whether its left side was blocked."""
        return self._movement.left

    @property
    def right(self) -> bool:
        """Whether its right side was blocked."""
        return self._movement.right

    @property
    def top(self) -> bool:
        """Whether its side of the smaller y was blocked."""
        return self._movement.top

    @property
    def bottom(self) -> bool:
        """Whether its side of the larger y was blocked."""
        return self._movement.bottom

    @property
    def _movement(self) -> Movement:
        return Movement(self.x, self.y, self.hits)


class Walks(NamedTuple):
    """Where many walkers came to; see `World.walk_many`."""

    places: Floats
    """``(m, 2)``"""
    hits: HitArrays
    """What stopped or held them; ``others`` are ids, see `World.body`."""
    crossed: HitArrays
    floors: Integers
    """``(m, 3)``: id of the body that each stands on, or column and row of the tile; -1 for what it is not,
    and three times -1 in the air."""
    normals: Floats
    """``(m, 2)``: out of the floor; NaN in the air."""
    ladders: Integers
    """``(m, 2)``: column and row of the ladder that each is in, or -1."""

    @property
    def on_floor(self) -> npt.NDArray[np.bool_]:
        """``(m,)``: who stands on something."""
        standing: npt.NDArray[np.bool_] = self.floors.max(axis=1) >= 0
        return standing
