"""Who plays when nobody is at the keys: walks to the nearest food and shoots at what is in the way."""

from collections import deque
from typing import TYPE_CHECKING

from examples.dungeon.level import TILE

if TYPE_CHECKING:
    from examples.dungeon.game import Dungeon

Cell = tuple[int, int]
STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))


class Pilot:
    """Steers the player of a dungeon."""

    def __init__(self, game: "Dungeon") -> None:
        self.game = game
        self.path: list[Cell] = []
        self.patience = 0
        self.frame = 0

    def steer(self) -> Cell:
        """The direction of the next step; may shoot."""
        game, self.frame = self.game, self.frame + 1
        here = game.player.x + game.player.size / 2, game.player.y + game.player.size / 2
        if self.frame % 8 == 0:
            self.shoot_at_nearest(here)
        if not self.path or self.patience == 0:
            self.path, self.patience = self.find_path((int(here[0] // TILE), int(here[1] // TILE))), 60
        self.patience -= 1
        if not self.path:
            return 0, 0
        goal = self.path[0]
        way = [(goal[axis] + 0.5) * TILE - here[axis] for axis in (0, 1)]
        if max(map(abs, way)) < 4:
            self.path.pop(0)
            return self.steer() if self.path else (0, 0)
        return tuple((part > 2) - (part < -2) for part in way)

    def shoot_at_nearest(self, here: tuple[float, float]) -> None:
        """If there is a monster in sight in one of the eight directions, or about so."""
        game = self.game
        near = game.world.nearest(here, tag="monster")
        if near.bodies and near.distances[0] < 200:
            monster = near.bodies[0]
            dx, dy = monster.x + 11 - here[0], monster.y + 11 - here[1]
            far = max(abs(dx), abs(dy), 1.0)
            game.look = round(dx / far), round(dy / far)
            game.shoot()

    def find_path(self, start: Cell) -> list[Cell]:
        """The shortest way, cell by cell, to any food: breadth first; a door counts as open to a key."""
        game = self.game
        goals = {(int(body.x // TILE), int(body.y // TILE)) for body in game.world if body.tag == "food"}
        before: dict[Cell, Cell] = {start: start}
        queue = deque([start])
        while queue:
            cell = queue.popleft()
            if cell in goals:
                path = []
                while cell != start:
                    path.append(cell)
                    cell = before[cell]
                return path[::-1]
            for dx, dy in STEPS:
                after = cell[0] + dx, cell[1] + dy
                free = not game.level.tiles.is_solid(*after) or (game.keys and after in game.level.doors)
                if after not in before and free:
                    before[after] = cell
                    queue.append(after)
        return []
