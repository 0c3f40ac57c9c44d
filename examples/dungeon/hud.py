"""Health, keys, score, the minimap, and messages."""

from typing import TYPE_CHECKING

import numpy as np
import pygame

from examples.dungeon import pictures
from examples.dungeon.hero import HEALTH
from examples.dungeon.level import TILE
from examples.stage import KEYS, font

if TYPE_CHECKING:
    from examples.dungeon.play import Dungeon

PANEL, TEXT, FAINT = (16, 16, 24), (240, 236, 226), (150, 150, 164)
WALLS, FLOOR, DOORS = (120, 124, 150), (58, 56, 66), (190, 130, 70)
SCALE = 2
MESSAGES = {
    "pause": ("PAUSE", "P goes on"),
    "dead": ("THE MONSTERS HAVE WON", "R begins again"),
    "won": ("THE AMULET IS YOURS", "R begins again"),
}


class Hud:
    """Everything that is drawn over the level."""

    def __init__(self) -> None:
        self.help = True
        self.picture: pygame.Surface | None = None
        self.age = 0

    def draw(self, surface: pygame.Surface, game: "Dungeon") -> None:
        """All of it."""
        self.panel(surface, game)
        self.map(surface, game)
        if self.help:
            line = font(18).render(f"{game.keys}    {KEYS}    H hides this", True, TEXT)
            place = line.get_rect(midbottom=(surface.get_width() // 2, surface.get_height() - 8))
            ground(surface, place.inflate(20, 8))
            surface.blit(line, place)
        state = "pause" if game.paused else game.state
        if state in MESSAGES:
            self.say(surface, *MESSAGES[state])
        elif game.since < 120:
            words = font(34).render(game.message, True, TEXT)
            words.set_alpha(min(255, 4 * (120 - game.since)))
            surface.blit(words, words.get_rect(center=(surface.get_width() // 2, 150)))

    def panel(self, surface: pygame.Surface, game: "Dungeon") -> None:
        """Health, score and keys."""
        hero = game.hero
        ground(surface, pygame.Rect(8, 8, 234, 82))
        surface.blit(pictures.heart(), (16, 16))
        pygame.draw.rect(surface, (70, 30, 36), (42, 18, 190, 16), border_radius=5)
        if hero.health:
            width = round(190 * hero.health / HEALTH)
            pygame.draw.rect(surface, pictures.RED, (42, 18, width, 16), border_radius=5)
        small = font(18).render(f"{hero.health} of {HEALTH}", True, TEXT)
        surface.blit(small, small.get_rect(center=(137, 26)))
        surface.blit(font(24).render(f"{hero.score:,}", True, pictures.GOLD), (16, 42))
        text = f"level {game.depth} of {len(game.levels)}    {len(game.monsters)} monsters"
        surface.blit(font(18).render(text, True, TEXT), (16, 68))
        for k in range(min(hero.keys, 6)):
            surface.blit(pictures.item("key"), (92 + 23 * k, 38))

    def map(self, surface: pygame.Surface, game: "Dungeon") -> None:
        """The minimap, painted six times a second."""
        if self.picture is None or self.age % 10 == 0:
            self.picture = self.paint_map(game)
        self.age += 1
        place = self.picture.get_rect(topright=(surface.get_width() - 12, 12))
        ground(surface, place.inflate(8, 8))
        surface.blit(self.picture, place)

    def paint_map(self, game: "Dungeon") -> pygame.Surface:
        """The explored part of the level."""
        light, level = game.view.light, game.level
        solid = level.tiles.solid
        colors = np.zeros((*solid.shape, 3), np.uint8)
        colors[:] = PANEL
        colors[light.explored & solid] = WALLS
        colors[light.explored & ~solid] = FLOOR
        for column, row in level.doors:
            if light.explored[row, column]:
                colors[row, column] = DOORS
        columns, rows = (game.monsters.middles // TILE).astype(int).T
        seen = light.bright[rows, columns] > 0.5
        colors[rows[seen], columns[seen]] = pictures.RED
        for body in game.world.query_box(level.tiles.bounds, tag=("stairs", "amulet")):
            row, column = int(body.y // TILE), int(body.x // TILE)
            if light.explored[row, column]:
                colors[row, column] = pictures.GEM
        tile = game.hero_tile
        colors[tile.row - 1 : tile.row + 2, tile.column] = pictures.WHITE
        colors[tile.row, tile.column - 1 : tile.column + 2] = pictures.WHITE
        picture = pygame.surfarray.make_surface(colors.swapaxes(0, 1))
        return pygame.transform.scale_by(picture, SCALE)

    def say(self, surface: pygame.Surface, title: str, line: str) -> None:
        """A large message in the middle."""
        large, small = font(56).render(title, True, TEXT), font(26).render(line, True, FAINT)
        middle = surface.get_rect().center
        ground(surface, large.get_rect(center=middle).inflate(60, 90))
        surface.blit(large, large.get_rect(center=(middle[0], middle[1] - 14)))
        surface.blit(small, small.get_rect(center=(middle[0], middle[1] + 28)))


def ground(surface: pygame.Surface, area: pygame.Rect) -> None:
    """A dark plate under text."""
    plate = pygame.Surface(area.size, pygame.SRCALPHA)
    pygame.draw.rect(plate, (*PANEL, 200), plate.get_rect(), border_radius=8)
    surface.blit(plate, area)
