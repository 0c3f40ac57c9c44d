"""What a world holds, for the parts that ask it and move it."""

from typing import Any

from broadphase.indexes import Choice
from broadphase.indexes.base import Index
from broadphase.shapes.kinds import Box
from broadphase.shapes.table import columns_of
from broadphase.world.body import Body
from broadphase.world.body_store import BodyStore
from broadphase.world.layers import Layers
from broadphase.world.listeners import Listeners
from broadphase.world.tiles import TileMap
from broadphase.world.tracker import Tracker


class State:
    """The bodies, their broad phase, who listens, what is in contact, and the tile map."""

    def __init__(self, broadphase: Choice | Index) -> None:
        self._listeners = Listeners()
        self._store = self._new_store()
        self._listeners.changed = self._store.listeners_changed
        self._layers = Layers(broadphase, self._store)
        self._tracker = self._new_tracker()
        self._tiles: TileMap | None = None
        self._asked = columns_of(Box(0, 0, 0, 0))
        """The box or circle that is asked about, written over by each question."""

    def _new_store(self) -> BodyStore:
        return BodyStore(self._listeners)

    def _new_tracker(self) -> Tracker:
        return Tracker(self._store, self._layers)

    @property
    def tiles(self) -> TileMap | None:
        """The map whose solid tiles block; set it, and change its tiles, at any time."""
        return self._tiles

    @tiles.setter
    def tiles(self, tiles: TileMap | None) -> None:
        if tiles is not None and not isinstance(tiles, TileMap):
            raise TypeError(f"tiles must be a TileMap or None; got {tiles!r}")
        self._tiles = tiles

    def _body(self, row: int) -> Body:
        """The body of a row that is in use."""
        body: Any = self._store.bodies[row]
        return body  # type: ignore[no-any-return]
