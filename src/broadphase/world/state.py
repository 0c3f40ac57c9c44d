"""The state that the parts of a world share: its space, bodies, broad phase, contacts and tile map."""

from typing import Any

from broadphase.indexes import Choice
from broadphase.indexes.base import Index
from broadphase.inputs.periods import Period
from broadphase.kernels.tiles.grid import TileGrid
from broadphase.world.bodies import BodyStore
from broadphase.world.broad_phase import BroadPhase
from broadphase.world.contacts import ContactTracker
from broadphase.world.listeners import Listeners
from broadphase.world.space import Space
from broadphase.world.tiles import NO_TILES, TileMap


class State:
    """The parts of a world that hold something."""

    def __init__(self, broadphase: Choice | Index, lengths: Period | None) -> None:
        self.space = Space(lengths)
        self.store = BodyStore(self.space)
        self.listeners = Listeners(self.store)
        self.broad_phase = BroadPhase(broadphase, self.store)
        self.contacts = ContactTracker(self.store, self.broad_phase, self.listeners)
        self.tiles: TileMap | None = None
        self.responses: dict[Any, int] = {}
        """By tag, how `World.step` answers hits; see `World.set_response`."""

    @property
    def grid(self) -> TileGrid:
        """The tiles as kernels take them; along a period they go around."""
        if self.tiles is None:
            return NO_TILES
        return self.tiles.grid._replace(around=self.space.around) if self.space.around else self.tiles.grid
