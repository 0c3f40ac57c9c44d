"""The debug view of TAB: cells, boxes, the flow field, pairs and milliseconds."""

from typing import TYPE_CHECKING

import numpy as np
import pygame

from broadphase.adapters import pygame as sprite
from examples.dungeon.hud import TEXT, ground
from examples.dungeon.level import TILE
from examples.dungeon.monsters import SIDES
from examples.stage import font

if TYPE_CHECKING:
    from examples.dungeon.play import Dungeon

CELLS, BOXES, FIELD = (88, 110, 140), (120, 220, 255), (255, 214, 120)


class EngineView:
    """Drawn over the game."""

    def draw(self, surface: pygame.Surface, game: "Dungeon") -> None:
        """Cells, boxes, field, figures."""
        camera, monsters = game.view.camera, game.monsters
        boxes = np.hstack((monsters.places, monsters.places + SIDES[monsters.kinds][:, None]))
        view = np.array([*camera, camera[0] + game.size[0], camera[1] + game.size[1]])
        boxes = boxes[(boxes[:, :2] < view[2:]).all(axis=1) & (boxes[:, 2:] > view[:2]).all(axis=1)]
        if len(boxes):
            cell = game.world_cell
            sprite.draw_cells(surface, boxes, cell, color=CELLS, camera=camera)
            sprite.draw_boxes(surface, boxes, color=BOXES, camera=camera)
        self.draw_field(surface, game)
        self.write(surface, game)

    def draw_field(self, surface: pygame.Surface, game: "Dungeon") -> None:
        """The step towards the hero on each visible tile."""
        field, camera = game.level.tiles.flow_field(game.hero_tile), game.view.camera
        left, top = camera[0] // TILE, camera[1] // TILE
        steps = field.directions[top : top + 21, left : left + 31]
        for row, column in np.argwhere(steps.any(axis=2)).tolist():
            x, y = ((left + column) + 0.5) * TILE - camera[0], ((top + row) + 0.5) * TILE - camera[1]
            dx, dy = steps[row, column].tolist()
            pygame.draw.line(surface, FIELD, (x, y), (x + 9 * dx, y + 9 * dy))
            pygame.draw.circle(surface, FIELD, (x, y), 2)

    def write(self, surface: pygame.Surface, game: "Dungeon") -> None:
        """Numbers of the last frame and times of all."""
        stats, timer = game.world.stats, game.timer
        parts = [name for name in timer.seconds if name.startswith("engine")]
        lines = [
            "lines: the step to the hero from each tile, a flow field",
            "boxes: monsters; numbers: how many in each cell",
            f"{stats.bodies} bodies, {len(game.monsters)} hunt; {stats.listened} are listened for",
            f"pairs tested by shape: {stats.candidates}, in contact: {stats.contacts}",
            f"cells of {game.world_cell} pixels, flow field of {game.level.tiles.solid.size:,} tiles",
            *(f"{name:<18}{timer.milliseconds(name):6.2f} ms a frame" for name in parts),
            f"{'all of the engine':<18}{sum(map(timer.milliseconds, parts)):6.2f} ms a frame",
        ]
        ground(surface, pygame.Rect(8, 98, 372, 16 * len(lines) + 12))
        for k, line in enumerate(lines):
            surface.blit(font(18).render(line, True, TEXT), (16, 104 + 16 * k))
