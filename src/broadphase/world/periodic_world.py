"""A `World` with a period: of a class of its own, so that no other pays for it."""

from typing import Any

from broadphase.world.body_store import BodyStore
from broadphase.world.periodic_asking import PeriodicAsking
from broadphase.world.periodic_contacts import PeriodicTracker
from broadphase.world.periodic_store import PeriodicStore
from broadphase.world.periodic_walking import PeriodicWalking
from broadphase.world.tiles import TileMap
from broadphase.world.torus import Torus
from broadphase.world.tracker import Tracker


class PeriodicWorld(PeriodicWalking, PeriodicAsking):
    """What a `World` with a period does differently."""

    _torus: Torus

    @property
    def period(self) -> tuple[float | None, float | None]:
        """The length of the world on each axis, None where it goes on."""
        return self._torus.period

    @property
    def tiles(self) -> TileMap | None:
        """Always ``None``: a tile map has an end."""
        return None

    @tiles.setter
    def tiles(self, tiles: TileMap | None) -> None:
        if tiles is not None:
            raise ValueError(
                f"tiles = {tiles!r} do not go around in a world with period={self.period}; add static "
                "bodies, for example with add_many, or leave the period away"
            )

    def _new_store(self) -> BodyStore:
        return PeriodicStore(self._listeners, self._torus)

    def _new_tracker(self) -> Tracker:
        return PeriodicTracker(self._store, self._layers, self._torus)


_MADE: dict[type[Any], type[Any]] = {}


def periodic(plain: type[Any]) -> type[Any]:
    """The class of such worlds with a period; it goes by the same name."""
    if plain in _MADE:
        return _MADE[plain]
    about = {"__doc__": plain.__doc__, "__module__": plain.__module__, "__qualname__": plain.__qualname__}
    made = _MADE[plain] = type(plain.__name__, (PeriodicWorld, plain), about)
    return made
