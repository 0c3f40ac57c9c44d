"""A `World` with a period: of a class of its own, so that no other pays for it."""

import math
from typing import Any

from broadphase.world.arguments import as_two
from broadphase.world.body import Body
from broadphase.world.body_store import BodyStore
from broadphase.world.periodic_asking import PeriodicAsking
from broadphase.world.periodic_contacts import PeriodicTracker
from broadphase.world.periodic_store import PeriodicStore
from broadphase.world.periodic_walking import PeriodicWalking
from broadphase.world.torus import Torus
from broadphase.world.tracker import Tracker
from broadphase.world.turning import Turning


class PeriodicWorld(PeriodicWalking, PeriodicAsking, Turning):
    """What a `World` with a period does differently."""

    _torus: Torus

    @property
    def period(self) -> tuple[float | None, float | None]:
        """The length of the world on each axis, None where it goes on."""
        return self._torus.period

    def try_turn(self, body: Body, angle: float, about: tuple[float, float] | None = None) -> object | None:
        """See `World.try_turn`."""
        left, top, right, bottom = body.bounds
        around = right - left + bottom - top
        if about is not None:
            around += 2.0 * math.dist(as_two(about, "about"), (left, top))
        with self._tiles_around((left - around, top - around, right + around, bottom + around)):
            return self._named_as_seen(super().try_turn(body, angle, about))

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
