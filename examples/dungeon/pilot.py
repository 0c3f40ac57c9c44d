"""The unattended player: walks to the nearest item and shoots at the nearest monster.

It uses a flow field like the monsters do, with all items as goals at once.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from examples.dungeon.level import TILE

if TYPE_CHECKING:
    from examples.dungeon.play import Dungeon

RANGE = 220.0


class Pilot:
    """Steers the hero of a dungeon."""

    def __init__(self, game: "Dungeon") -> None:
        self.game = game
        self.still, self.last = 0, (0.0, 0.0)

    def steer(self) -> tuple[tuple[float, float], bool]:
        """The direction to walk, and whether to shoot."""
        direction = self.direction_to_items()
        target = self.target()
        if target is None:
            return direction, False
        self.game.hero.look = target
        if self.game.hero.reload:
            return direction, False
        return (0.0, 0.0), True  # stands still while it shoots, so that it faces the target

    def direction_to_items(self) -> tuple[float, float]:
        """Along the field to the nearest item; doors count as open if the hero has a key."""
        game = self.game
        here = game.hero.middle
        goals = self.goals()
        tiles: Any = game.level.tiles
        if game.hero.keys and game.level.doors:
            tiles = tiles.copy()
            for column, row in game.level.doors:
                tiles.set(column, row, False)
        if not len(goals):
            return 0.0, 0.0
        field = tiles.flow_field(goals)
        if not math.isfinite(field.distances_at([here])[0]):
            return 0.0, 0.0
        direction = field.ways_at([here])[0]
        if not direction.any():  # the item lies on this tile
            direction = self.nearest_middle(goals, here)
        self.still = self.still + 1 if here == self.last else 0
        self.last = here
        if self.still > 20:  # a monster is in the way
            direction = np.array([-direction[1], direction[0]])
        return float(direction[0]), float(direction[1])

    def goals(self) -> np.ndarray:
        """The tiles of the items to fetch: food at low health, then the rest, the stairs last."""
        hero, tiles = self.game.hero, self.game.level.tiles
        wanted = ("key", "gold", "gem", "food") if hero.health < 80 else ("key", "gold", "gem")
        found = self.game.world.query_box(tiles.bounds, tag=wanted)
        if found:
            middles = np.array([(body.x + 10, body.y + 10) for body in found])
            reached = np.isfinite(tiles.flow_field(self.game.hero_tile).distances_at(middles))
            if reached.any():
                return np.floor(middles[reached] / TILE)
        exits = self.game.world.query_box(tiles.bounds, tag=("stairs", "amulet"))
        return np.array([(body.x // TILE, body.y // TILE) for body in exits]).reshape(-1, 2)

    def nearest_middle(self, goals: np.ndarray, here: tuple[float, float]) -> np.ndarray:
        """Straight to the centre of the nearest goal."""
        offsets = (goals + 0.5) * TILE - here
        direction = offsets[np.argmin(np.hypot(*offsets.T))]
        return direction / max(np.hypot(*direction), 1.0)

    def target(self) -> tuple[float, float] | None:
        """The direction of the nearest monster in sight."""
        game = self.game
        if not len(game.monsters):
            return None
        here = np.array(game.hero.middle)
        offsets = game.monsters.middles - here
        far = np.hypot(*offsets.T)
        near = int(np.argmin(far))
        if far[near] > RANGE or not game.level.tiles.line_of_sight(tuple(here), tuple(here + offsets[near])):
            return None
        dx, dy = offsets[near] / max(far[near], 1.0)
        return float(dx), float(dy)
