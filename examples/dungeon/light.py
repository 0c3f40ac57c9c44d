"""Light around the hero: a lamp that fades with the distance, and shadows where walls are in between.

One call of `TileMap.line_of_sight` with hundreds of lines finds the tiles that the lamp reaches.
"""

import numpy as np
import pygame

import broadphase as bp
from examples.dungeon.level import TILE

REACH = 15
"""In tiles."""
COARSE = 8
"""Screen pixels per pixel of the light map: light is smooth, so a coarse map is enough."""
WARM, NIGHT = np.array([255, 242, 216.0]), np.array([46, 50, 84.0])


def lamp(size: tuple[int, int]) -> pygame.Surface:
    """Light around the middle of a surface."""
    x, y = np.ogrid[: size[0], : size[1]]
    far = np.hypot(x - size[0] / 2, y - size[1] / 2) * COARSE
    share = np.clip(1.2 - far / 500, 0, 1)[..., None] ** 1.2
    surface = pygame.Surface(size)
    pygame.surfarray.blit_array(surface, (NIGHT + share * (WARM - NIGHT)).astype(np.uint8))
    return surface


class Light:
    """What the hero sees and has seen."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self.small = size[0] // COARSE, size[1] // COARSE
        self.lamp = lamp((2 * self.small[0], 2 * self.small[1]))

    def enter(self, tiles: bp.TileMap) -> None:
        """Start a level in the dark."""
        self.tiles = tiles
        self.explored = np.zeros(tiles.solid.shape, bool)
        self.bright = np.zeros(tiles.solid.shape)
        self.goal = self.bright
        self.drawn_for: tuple[object, ...] = ()

    def look(self, middle: tuple[float, float], changed: int) -> None:
        """Move the light to the hero: visible tiles brighten and others darken over a few frames."""
        column, row = int(middle[0] // TILE), int(middle[1] // TILE)
        if self.drawn_for != (column, row, changed):
            self.drawn_for = column, row, changed
            self.goal = self._seen_from(column, row).astype(float)
            self.explored |= self.goal > 0
        self.bright += 0.18 * (self.goal - self.bright)

    def _seen_from(self, column: int, row: int) -> np.ndarray:
        """The visible floor, and the walls next to it."""
        left, top = max(column - REACH, 0), max(row - REACH, 0)
        block = np.s_[top : row + REACH + 1, left : column + REACH + 1]
        free = np.argwhere(~self.tiles.solid[block])
        middles = (free[:, ::-1] + (left, top) + 0.5) * TILE
        lit = self.tiles.line_of_sight(((column + 0.5) * TILE, (row + 0.5) * TILE), middles)
        seen = np.zeros(np.add(self.tiles.solid.shape, 2), bool)
        floor = np.zeros(self.tiles.solid.shape, bool)
        floor[block][tuple(free[lit].T)] = True
        for down in range(3):  # each visible tile lights its neighbours
            for across in range(3):
                seen[down : down + floor.shape[0], across : across + floor.shape[1]] |= floor
        seen = seen[1:-1, 1:-1]
        return seen & (floor | self.tiles.solid)

    def draw(self, surface: pygame.Surface, camera: tuple[int, int], middle: tuple[float, float]) -> None:
        """Darken what the lamp does not reach."""
        shade = pygame.Surface(self.small)
        x = (middle[0] - camera[0]) / COARSE - self.small[0]
        y = (middle[1] - camera[1]) / COARSE - self.small[1]
        shade.blit(self.lamp, (round(x), round(y)))
        left, top = camera[0] // TILE, camera[1] // TILE
        wide, high = self.size[0] // TILE + 2, self.size[1] // TILE + 2
        part = self.bright[top : top + high, left : left + wide]
        grey = (88 + 167 * part.T[..., None]).astype(np.uint8).repeat(3, axis=2)
        tiles = pygame.surfarray.make_surface(grey)
        each = TILE // COARSE
        tiles = pygame.transform.smoothscale(tiles, (tiles.get_width() * each, tiles.get_height() * each))
        offset = (left * TILE - camera[0]) / COARSE, (top * TILE - camera[1]) / COARSE
        shade.blit(tiles, (round(offset[0]), round(offset[1])), special_flags=pygame.BLEND_MULT)
        surface.blit(pygame.transform.smoothscale(shade, self.size), (0, 0), special_flags=pygame.BLEND_MULT)
