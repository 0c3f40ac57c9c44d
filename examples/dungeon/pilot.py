"""The unattended player: walks to the stairs, takes what lies near the way and shoots at the nearest monster.

It uses flow fields like the monsters do, with all items of a kind as goals at once.
"""

from typing import TYPE_CHECKING

import numpy as np

from examples.dungeon.level import TILE

if TYPE_CHECKING:
    from examples.dungeon.play import Dungeon

RANGE = 220.0
"""It shoots at monsters this close."""
CLOSE = 60.0
"""It steps back from monsters this close while it reloads."""
NEAR, FOOD_NEAR = 160.0, 700.0
"""It walks so far out of its way for treasure, and for food when its health is below `HURT`."""
HURT = 75


class Pilot:
    """Steers the hero of a dungeon."""

    def __init__(self, game: "Dungeon") -> None:
        self.game = game
        self.still, self.last = 0, (0.0, 0.0)

    def steer(self) -> tuple[tuple[float, float], bool]:
        """The direction to walk, and whether to shoot."""
        direction = self.direction_to_goal()
        target = self.target()
        if target is None:
            return direction, False
        self.game.hero.look = target
        if self.game.hero.reload:
            return (direction if self.far > CLOSE else (-target[0], -target[1])), False
        return (0.0, 0.0), True  # stands still while it shoots, so that it faces the target

    def direction_to_goal(self) -> tuple[float, float]:
        """Along the field to food if hurt, to treasure nearby, else along the way that the arrow shows."""
        game = self.game
        here = game.hero.middle
        near = self.near()
        field = game.level.tiles.flow_field(near) if len(near) else game.way()[1]
        direction = field.ways_at([here])[0]
        self.still = self.still + 1 if here == self.last else 0
        self.last = here
        if self.still > 20:  # a monster is in the way
            direction = np.array([-direction[1], direction[0]])
        return float(direction[0]), float(direction[1])

    def near(self) -> np.ndarray:
        """The tiles of what is worth leaving the way: food if hurt, keys and treasure nearby."""
        game = self.game
        field = game.level.tiles.flow_field(game.hero_tile)
        food = FOOD_NEAR if game.hero.health < HURT else 0.0
        for kinds, within in ((("food",), food), (("key", "gold", "gem"), NEAR)):
            found = game.world.query_box(game.level.tiles.bounds, tag=kinds)
            middles = np.array([(body.x + 10, body.y + 10) for body in found]).reshape(-1, 2)
            middles = middles[field.distances_at(middles) < within]
            if len(middles):
                return np.floor(middles / TILE)
        return np.empty((0, 2))

    def target(self) -> tuple[float, float] | None:
        """The direction of the nearest monster in sight."""
        game = self.game
        if not len(game.monsters):
            return None
        here = np.array(game.hero.middle)
        offsets = game.monsters.middles - here
        far = np.hypot(*offsets.T)
        near = int(np.argmin(far))
        self.far = far[near]
        if far[near] > RANGE or not game.level.tiles.line_of_sight(tuple(here), tuple(here + offsets[near])):
            return None
        dx, dy = offsets[near] / max(far[near], 1.0)
        return float(dx), float(dy)
