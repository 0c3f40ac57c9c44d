"""Walks in a world that begins again: the walkers and images of what is near, in a scene of their own."""

from typing import Any

import numpy as np

from broadphase.kernels.movement.walk_scene import Rules
from broadphase.world.body_rows import Floats, Rows
from broadphase.world.layers import ALL
from broadphase.world.movement_many import HitArrays
from broadphase.world.periodic_moving_many import PeriodicMovingMany
from broadphase.world.torus import Images
from broadphase.world.trip import Scene, Trip
from broadphase.world.walking import Walking
from broadphase.world.walks import Walks


class PeriodicWalking(PeriodicMovingMany, Walking):
    """What walks where a world has a period."""

    def _walk_rows(self, rows: Rows, ways: Floats, rules: Rules, layers: tuple[int, ...]) -> Walks:
        self._torus.check_turns(ways, "dx, dy")
        if layers == ALL and len(rows) > 1:  # what walks in this call has images that walk too
            alone = [
                self._walk_rows(rows[k : k + 1], ways[k : k + 1], rules, layers) for k in range(len(rows))
            ]
            return _together(alone)
        reach = self._trip(rows, ways, rules, layers)._reach()
        inner = self._torus.are_inner(reach)
        with self._tiles_around_all(rows, reach, inner):
            walks = super()._walk_rows(rows, ways, rules, layers)
            moved = self._all_inside(rows, walks, inner)
            floors = np.column_stack((walks.floors[:, :1], self._all_numbered(walks.floors[:, 1:])))
            return walks._replace(
                places=moved.places,
                hits=moved.hits,
                crossed=moved.crossed,
                floors=floors,
                ladders=self._all_numbered(walks.ladders),
            )

    def _trip(self, rows: Rows, ways: Floats, rules: Rules, layers: tuple[int, ...]) -> Trip:
        return _PeriodicTrip(self, rows, ways, rules, layers)


class _PeriodicTrip(Trip):
    world: PeriodicWalking

    def _scene(self) -> Scene:
        world = self.world
        images = world._images(self.rows, self._reach(), self.layers)
        count = len(self.rows)
        rows = np.concatenate((self.rows, images.rows)).astype(np.int64)
        turns = np.concatenate((np.zeros((count, 2), np.int64), images.turns))
        columns = world._torus.gathered(world._store.table.columns, Images(np.zeros_like(rows), rows, turns))
        near = count + np.arange(len(images.rows))
        starts = np.searchsorted(images.asked, np.arange(count + 1))
        return Scene(columns, np.arange(count), near, starts, rows)

    def _have_walked(self, scene: Scene, begin: int, end: int, before: tuple[Any, Any, int]) -> None:
        """Some walkers have come to other places, in the scene; what they met is named by its row there."""
        assert scene.owners is not None
        self.world._store.put_many(self.rows[begin:end], self.places[begin:end])
        named = self.floors[begin:end, 0], self.log.numbers[before[2] : self.log.counts.item(0), 1]
        for names in named:
            bodies = names >= 0
            names[bodies] = scene.owners[names[bodies]]


def _together(walks: list[Walks]) -> Walks:
    """The walks of one walker each, as those of many."""
    places, floors, normals, ladders = (
        np.concatenate(parts)
        for parts in zip(*((one.places, one.floors, one.normals, one.ladders) for one in walks), strict=True)
    )
    hits, crossed = _hits([one.hits for one in walks]), _hits([one.crossed for one in walks])
    return Walks(places, hits, crossed, floors, normals, ladders)


def _hits(found: list[HitArrays]) -> HitArrays:
    numbered = [some._replace(movers=some.movers + at) for at, some in enumerate(found)]
    return HitArrays(*(np.concatenate(columns) for columns in zip(*numbered, strict=True)))
