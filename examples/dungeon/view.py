"""Draws a level: the ground is painted once, figures each frame, and the light over everything."""

import math
from typing import TYPE_CHECKING

import numpy as np
import pygame

from broadphase import Tile
from examples.dungeon import pictures
from examples.dungeon.level import TILE, Level
from examples.dungeon.light import Light
from examples.dungeon.missiles import SIDE
from examples.dungeon.monsters import SIDES
from examples.stage import Game

if TYPE_CHECKING:
    from examples.dungeon.play import Dungeon

PUFF = 14
"""Frames for which a killed monster stays visible."""


class View:
    """The camera."""

    def __init__(self) -> None:
        self.size = Game.size
        self.light = Light(self.size)
        self.puffs: list[tuple[float, float, int]] = []
        self.frame = self.changes = 0
        self.camera = (0, 0)

    def enter(self, level: Level) -> None:
        """Start a level."""
        self.level = level
        self.light.enter(level.tiles)
        self.puffs = []
        tiles = level.tiles
        self.ground = pygame.Surface((tiles.columns * TILE, tiles.rows * TILE))
        if pygame.display.get_surface():
            self.ground = self.ground.convert()
        self.chances = np.random.default_rng(7).integers(0, 1 << 16, tiles.solid.shape)
        self.paint(range(tiles.columns), range(tiles.rows))

    def repaint(self, changed: list[Tile]) -> None:
        """Repaint an opened door."""
        columns, rows = [tile.column for tile in changed], [tile.row for tile in changed]
        self.paint(range(min(columns) - 1, max(columns) + 2), range(min(rows) - 1, max(rows) + 2))

    def paint(self, columns: range, rows: range) -> None:
        """Paint tiles of the ground."""
        self.changes += 1
        solid = self.level.tiles.solid
        border = np.pad(solid, 1, constant_values=True)
        for row in rows:
            for column in columns:
                x, y = column * TILE, row * TILE
                if (column, row) in self.level.doors:
                    pictures.door_tile(self.ground, x, y)
                elif not solid[row, column]:
                    pictures.floor_tile(self.ground, x, y, int(self.chances[row, column]))
                else:
                    around = border[row : row + 3, column : column + 3]
                    sides = ~np.array([around[0, 1], around[1, 0], around[1, 2]])
                    pictures.wall_tile(self.ground, x, y, not around[2, 1], sides)

    def puff(self, middles: np.ndarray) -> None:
        """Show that a monster was killed."""
        self.puffs += [(x, y, self.frame) for x, y in middles.tolist()]

    def draw(self, surface: pygame.Surface, game: "Dungeon") -> None:
        """One frame."""
        self.frame += 1
        middle = game.hero.middle
        room = self.ground.get_width() - self.size[0], self.ground.get_height() - self.size[1]
        self.camera = tuple(
            round(min(max(middle[axis] - self.size[axis] / 2, 0), max(room[axis], 0))) for axis in (0, 1)
        )
        surface.blit(self.ground, (-self.camera[0], -self.camera[1]))
        surface.fblits(self.items(game) + self.figures(game) + self.missiles(game))
        self.draw_puffs(surface)
        self.light.look(middle, self.changes)
        self.light.draw(surface, self.camera, middle)

    def items(self, game: "Dungeon") -> list:
        """Draw the visible items."""
        left, top = self.camera
        found = []
        for body in game.world.query_box((left, top, left + self.size[0], top + self.size[1]), tag="item"):
            picture = pictures.item(body.data)
            float_up = 0 if body.data == "stairs" else round(2 * math.sin(self.frame / 12 + body.id))
            x = body.x + 10 - picture.get_width() / 2 - left
            found.append((picture, (x, body.y + 10 - picture.get_height() / 2 - top + float_up)))
        return found

    def figures(self, game: "Dungeon") -> list:
        """Draw the visible monsters and the hero, from back to front."""
        monsters, (left, top) = game.monsters, self.camera
        feet = monsters.places + SIDES[monsters.kinds][:, None] * (0.5, 1.0) - (left, top)
        rows = np.flatnonzero(
            (feet > (-40, -10)).all(axis=1) & (feet < np.add(self.size, (40, 70))).all(axis=1)
        )
        rows = rows[np.argsort(feet[rows, 1])]
        strides = ((self.frame // 8 + rows) % 2).tolist()
        looks_left = (monsters.middles[rows, 0] > game.hero.middle[0]).tolist()
        flashes = (monsters.flash[rows] > 0).tolist()
        found = []
        # Only visible monsters are looped over; the game itself has no loop over monsters.
        for kind, stride, is_left, flash, (x, y) in zip(
            monsters.kinds[rows].tolist(), strides, looks_left, flashes, feet[rows].tolist(), strict=True
        ):
            picture = pictures.monster(kind, stride, is_left, flash)
            found.append((picture, (x - picture.get_width() / 2, y - picture.get_height() + 3)))
        hero = game.hero
        direction = round(math.atan2(hero.look[1], hero.look[0]) / (math.pi / 4)) % 8
        picture = pictures.hero(direction, hero.steps // 6 % 4)
        x, y = hero.middle[0] - left, hero.middle[1] + 11 - top
        if hero.unhurt % 8 < 4:  # blinks while invulnerable
            before = int(np.searchsorted(feet[rows, 1], y))
            found.insert(before, (picture, (x - picture.get_width() / 2, y - picture.get_height() + 3)))
        return found

    def missiles(self, game: "Dungeon") -> list:
        """Arrows and fire."""
        left, top = self.camera
        found = []
        arrows = game.arrows
        for (x, y), (dx, dy) in zip(arrows.places.tolist(), arrows.velocities.tolist(), strict=True):
            picture = pictures.arrow(round(math.degrees(math.atan2(dy, dx)) / 11.25) % 32)
            found.append((picture, (x + SIDE / 2 - 12 - left, y + SIDE / 2 - 12 - top)))
        picture = pictures.fire(self.frame // 4 % 2)
        found += [(picture, (x - 6 - left, y - 6 - top)) for x, y in game.fires.places.tolist()]
        return found

    def draw_puffs(self, surface: pygame.Surface) -> None:
        """Growing rings where monsters were killed."""
        self.puffs = [puff for puff in self.puffs if self.frame - puff[2] < PUFF]
        for x, y, begin in self.puffs:
            age = self.frame - begin
            place = x - self.camera[0], y - self.camera[1]
            pygame.draw.circle(surface, pictures.WHITE, place, 4 + age, max(1, 5 - age // 3))
