"""The title screen, health, keys, score, the minimap, messages, and the arrow to the stairs."""

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
AHEAD = 4
"""The arrow points so many tiles ahead on the way."""
RULES = (
    ("hero", "Find the stairs, five levels down. The arrow beside you shows the way."),
    ("monsters", "Hundreds of monsters know the way to you. You shoot where you face."),
    ("key", "A locked door opens with a key: walk into it."),
    ("food", "Food heals. Gold and gems score."),
)
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
        if game.state == "title":
            self.title(surface, game)
        else:
            self.arrow(surface, game)
            self.panel(surface, game)
            self.map(surface, game)
        if self.help and game.state != "title":
            line = font(18).render(f"{game.keys}    {KEYS}    H hides this", True, TEXT)
            place = line.get_rect(midbottom=(surface.get_width() // 2, surface.get_height() - 8))
            ground(surface, place.inflate(20, 8))
            surface.blit(line, place)
        state = "pause" if game.paused else game.state
        if state in MESSAGES:
            self.say(surface, *MESSAGES[state])
        elif game.since < 120 and game.state == "play":
            words = font(34).render(game.message, True, TEXT)
            words.set_alpha(min(255, 4 * (120 - game.since)))
            surface.blit(words, words.get_rect(center=(surface.get_width() // 2, 150)))

    def title(self, surface: pygame.Surface, game: "Dungeon") -> None:
        """What the game is about; nothing moves until a key is pressed."""
        area = surface.get_rect().inflate(-140, -150)
        ground(surface, area)
        middle = area.centerx
        large = font(84).render("THE DUNGEON", True, TEXT)
        surface.blit(large, large.get_rect(center=(middle, area.top + 70)))
        for k, (name, line) in enumerate(RULES):
            y = area.top + 160 + 52 * k
            for j, picture in enumerate(self.portraits(name)):
                surface.blit(picture, picture.get_rect(center=(area.left + 70 + 34 * j, y)))
            surface.blit(font(24).render(line, True, TEXT), (area.left + 190, y - 8))
        for size, color, line, up in (
            (34, pictures.GOLD, "SPACE starts", 88),
            (20, FAINT, f"{game.keys}    {KEYS}", 34),
        ):
            words = font(size).render(line, True, color)
            surface.blit(words, words.get_rect(center=(middle, area.bottom - up)))

    def portraits(self, name: str) -> list[pygame.Surface]:
        """The pictures beside a rule."""
        if name == "hero":
            return [pictures.hero(0, 0), pictures.item("stairs")]
        if name == "monsters":
            return [pictures.monster(kind, 0, False, False) for kind in range(3)]
        return [pictures.item(kind) for kind in (("key",) if name == "key" else ("food", "gold", "gem"))]

    def arrow(self, surface: pygame.Surface, game: "Dungeon") -> None:
        """Beside the hero, along the way to the stairs or to a key, with the number of tiles."""
        kind, field = game.way()
        here = ahead = np.array(game.hero.middle)
        for _ in range(AHEAD):
            ahead = ahead + TILE * field.ways_at([ahead])[0]
        far = np.hypot(*(ahead - here))
        if not far:
            return
        along = (ahead - here) / far
        across = np.array((-along[1], along[0]))
        middle = here - game.view.camera + 44 * along
        color = pictures.GOLD if kind == "key" else pictures.GEM
        corners = [middle + 14 * along, middle - 8 * along + 10 * across, middle - 4 * along]
        pygame.draw.polygon(surface, color, [*corners, middle - 8 * along - 10 * across])
        words = font(18).render(f"{kind} {field.distances_at([here])[0] / TILE:.0f}", True, color)
        surface.blit(words, words.get_rect(center=middle + 34 * along))

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
