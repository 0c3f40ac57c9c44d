"""Arrows and fire: small boxes that fly until they hit something; one call moves all of a kind."""

import numpy as np

import broadphase as bp

SIDE = 8.0


class Missiles:
    """All missiles of one kind, one row each."""

    def __init__(self, world: bp.World, category: int, target: int, speed: float) -> None:
        self.world, self.category, self.target, self.speed = world, category, target, speed
        self.ids = np.empty(0, np.int64)
        self.places = np.empty((0, 2))
        self.velocities = np.empty((0, 2))

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, middles: np.ndarray, directions: np.ndarray) -> None:
        """Shoot from points in directions given as unit vectors."""
        corners = np.reshape(middles, (-1, 2)) - SIDE / 2
        bodies = self.world.add_many(
            np.hstack((corners, corners + SIDE)), sensor=True, category=self.category, mask=self.target
        )
        self.ids = np.append(self.ids, [body.id for body in bodies]).astype(np.int64)
        self.places = np.concatenate((self.places, corners))
        self.velocities = np.concatenate((self.velocities, self.speed * np.reshape(directions, (-1, 2))))

    def fly(self) -> np.ndarray:
        """Move all; remove those that hit something and return the ids of the bodies that were hit."""
        if not len(self):
            return np.empty(0, np.int64)
        # A sensor is stopped by tiles only; it crosses bodies, in the order in which it reaches them.
        moved = self.world.move_many(self.ids, *self.velocities.T, "touch", movers_block=True)
        self.places = moved.places.copy()
        hitting, first = np.unique(moved.crossed.movers, return_index=True)
        others = moved.crossed.others[first]
        gone = np.union1d(moved.hits.movers, hitting)
        self.world.remove_many(self.ids[gone])
        self.ids, self.places, self.velocities = (
            np.delete(column, gone, axis=0) for column in (self.ids, self.places, self.velocities)
        )
        return others
