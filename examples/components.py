"""Components: a spaceship collects coins among mines, as an entity-component game on esper.

Arrow keys steer the ship; a coin counts one, a mine costs five.  TAB shows boxes, and how many are in each
cell of 150 pixels, about three times the ship.  Each entity has only the components that it needs: sparks
have no `Collider`, so the broad phase never sees them.
"""

import math
import random
from dataclasses import dataclass
from functools import cache
from itertools import count

import esper
import pygame

import broadphase as bp
from broadphase.adapters import pygame as sprite
from broadphase.adapters.esper import Callbacks, Collider, CollisionProcessor, Tag
from examples.stage import BLUE, GREY, LIGHT, ORANGE, TEXT, Game, font, main

CELL = 150
SPEED = 4.0
GOLD, RED, SPACE = (250, 206, 90), (236, 84, 60), (14, 16, 28)
SHIP, MINE, COIN = 24, 12, 6
"""Radii."""
WORLDS = count()


@dataclass
class Place:
    """The position of an entity."""

    x: float
    y: float


@dataclass
class Drift:
    """Its displacement per frame."""

    dx: float
    dy: float


@dataclass
class Look:
    """How it is drawn."""

    color: tuple[int, int, int]
    radius: float


@dataclass
class Spark:
    """It fades, and vanishes after so many frames."""

    left: int


class DriftProcessor(esper.Processor):
    """Moves everything that has a velocity; the screen wraps around."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size

    def process(self) -> None:
        """One frame."""
        width, height = self.size
        for _, (place, drift) in esper.get_components(Place, Drift):
            place.x = (place.x + drift.dx) % width
            place.y = (place.y + drift.dy) % height


class SparkProcessor(esper.Processor):
    """Sparks burn down."""

    def process(self) -> None:
        """One frame."""
        for entity, spark in esper.get_component(Spark):
            spark.left -= 1
            if spark.left == 0:
                esper.delete_entity(entity)


@cache
def glow(color: tuple[int, int, int], radius: int) -> pygame.Surface:
    """Light around a point, to be added to what is drawn."""
    picture = pygame.Surface((2 * radius, 2 * radius))
    for r in range(radius, 0, -1):
        share = 0.55 * (1 - r / radius) ** 2
        pygame.draw.circle(picture, [round(share * part) for part in color], (radius, radius), r)
    return picture


class Components(Game):
    """A ship, coins and mines."""

    title = "components"
    keys = "arrows steer"
    engine = "boxes, and how many a grid would have in each cell of 150 pixels: if none is shared, no contact"

    def __init__(self, coins: int = 200, mines: int = 40) -> None:
        super().__init__()
        esper.switch_world(f"components {next(WORLDS)}")
        self.rng = random.Random(2)
        self.coins = self.hits = 0
        self.heading, self.age = 0.0, 0
        self.stars = [
            (self.rng.randrange(self.size[0]), self.rng.randrange(self.size[1]), self.rng.randint(40, 130))
            for _ in range(260)
        ]
        self.collisions = CollisionProcessor(position=Place)
        esper.add_processor(DriftProcessor(self.size), priority=2)
        esper.add_processor(SparkProcessor())
        esper.add_processor(self.collisions, priority=1)
        self.ship = esper.create_entity(
            Place(400, 300),
            Drift(0, 0),
            Look(BLUE, SHIP),
            Collider(bp.Circle(400, 300, SHIP)),
            Tag("ship"),
            Callbacks(begin={"coin": self.collect, "mine": self.explode}),
        )
        for _ in range(coins):
            self.add_coin()
        for _ in range(mines):
            self.create("mine", RED, MINE, 1.0)

    def create(self, tag: str, color: tuple[int, int, int], radius: float, speed: float) -> int:
        """Add an entity at a random position with a random velocity."""
        x, y, angle = (
            self.rng.uniform(0, self.size[0]),
            self.rng.uniform(0, self.size[1]),
            self.rng.uniform(0, 7),
        )
        drift = Drift(speed * math.cos(angle), speed * math.sin(angle))
        collider = Collider(bp.Circle(x, y, radius), sensor=True)
        return esper.create_entity(Place(x, y), drift, Look(color, radius), collider, Tag(tag))

    def add_coin(self) -> None:
        """One more coin."""
        self.create("coin", GOLD, COIN, 0.5)

    def burst(self, entity: int, color: tuple[int, int, int], number: int, speed: float = 2.5) -> None:
        """Sparks fly from an entity in all directions."""
        place = esper.component_for_entity(entity, Place)
        for _ in range(number):
            angle, far = self.rng.uniform(0, 7), self.rng.uniform(0.2, speed)
            drift = Drift(far * math.cos(angle), far * math.sin(angle))
            spark = Spark(self.rng.randint(15, 40))
            esper.create_entity(Place(place.x, place.y), drift, Look(color, 3), spark)

    def collect(self, ship: int, coin: int, contact: bp.Contact) -> None:
        """Callback of ship and coin: a new coin appears elsewhere."""
        self.coins += 1
        self.burst(coin, GOLD, 10)
        esper.delete_entity(coin)
        self.add_coin()

    def explode(self, ship: int, mine: int, contact: bp.Contact) -> None:
        """Callback of ship and mine: the ship is pushed out along the contact normal."""
        self.hits += 1
        self.coins = max(self.coins - 5, 0)
        self.burst(mine, RED, 50, speed=5)
        (nx, ny), drift = contact.normal, esper.component_for_entity(ship, Drift)
        drift.dx, drift.dy = 2 * SPEED * nx, 2 * SPEED * ny

    def update(self) -> None:
        """Steer, drift, collide."""
        self.age += 1
        place, drift = (esper.component_for_entity(self.ship, kind) for kind in (Place, Drift))
        keys = pygame.key.get_pressed()
        ahead = keys[pygame.K_RIGHT] - keys[pygame.K_LEFT], keys[pygame.K_DOWN] - keys[pygame.K_UP]
        if self.by_itself:
            ahead = self.steer()
        drift.dx += (SPEED * ahead[0] - drift.dx) / 8
        drift.dy += (SPEED * ahead[1] - drift.dy) / 8
        if any(ahead):
            self.heading = math.atan2(drift.dy, drift.dx)
            behind, aside = self.heading + math.pi, self.rng.uniform(-0.8, 0.8)
            x, y = place.x + SHIP * math.cos(behind), place.y + SHIP * math.sin(behind)
            flame = Drift(2 * math.cos(behind + aside), 2 * math.sin(behind + aside))
            esper.create_entity(Place(x, y), flame, Look(BLUE, 3), Spark(25))
        with self.timer.part("components"):
            esper.process()

    def steer(self) -> tuple[float, float]:
        """Unattended: to the nearest coin, and around mines."""
        here = esper.component_for_entity(self.ship, Place)
        x = y = 0.0
        nearest = math.inf
        for _, (place, tag) in esper.get_components(Place, Tag):
            dx, dy = (
                (gap + side / 2) % side - side / 2  # across the edge if that is nearer
                for gap, side in zip((place.x - here.x, place.y - here.y), self.size, strict=True)
            )
            far = math.hypot(dx, dy) or 1.0
            if "mine" in tag.names and far < 110:
                x, y = x - 3 * (110 - far) / 60 * dx / far, y - 3 * (110 - far) / 60 * dy / far
            elif "coin" in tag.names and far < nearest:
                nearest, to = far, (dx / far, dy / far)
        if nearest < math.inf:
            x, y = x + to[0], y + to[1]
        length = max(math.hypot(x, y), 1.0)
        return x / length, y / length

    def draw(self, surface: pygame.Surface) -> None:
        """Stars, sparks, coins, mines and the ship."""
        surface.fill(SPACE)
        for x, y, shade in self.stars:
            surface.fill((shade, shade, shade + 30), (x, y, 2, 2))
        lights = []
        for _, (place, look) in esper.get_components(Place, Look):
            radius = round(3 * look.radius)
            lights.append((glow(look.color, radius), (place.x - radius, place.y - radius)))
        surface.fblits(lights, pygame.BLEND_RGB_ADD)
        for entity, (place, look) in esper.get_components(Place, Look):
            middle = pygame.Vector2(place.x, place.y)
            if entity == self.ship:
                corners = ((SHIP, 0), (-0.8 * SHIP, 0.7 * SHIP), (-0.4 * SHIP, 0), (-0.8 * SHIP, -0.7 * SHIP))
                turned = [middle + pygame.Vector2(corner).rotate_rad(self.heading) for corner in corners]
                pygame.draw.polygon(surface, look.color, turned)
                pygame.draw.polygon(surface, TEXT, turned, 2)
            elif look.color == RED and look.radius == MINE:
                for k in range(8):
                    spike = pygame.Vector2(MINE + 3, 0).rotate(45 * k + self.age)
                    pygame.draw.line(surface, ORANGE, middle - spike, middle + spike, 2)
                pygame.draw.circle(surface, RED, middle, MINE - 3)
                pygame.draw.circle(surface, SPACE, middle, 4)
            elif look.radius == COIN:
                wide = COIN * abs(math.cos(self.age / 14 + entity)) + 1
                pygame.draw.ellipse(surface, GOLD, (place.x - wide, place.y - COIN, 2 * wide, 2 * COIN))
            else:
                surface.fill(look.color, (place.x - 1, place.y - 1, 2, 2))

    def write(self, surface: pygame.Surface) -> None:
        """The score in large type, and the lines of every example."""
        score = font(96).render(f"{self.coins}", True, GOLD)
        surface.blit(score, score.get_rect(midtop=(self.size[0] // 2, 12)))
        super().write(surface)

    def draw_engine(self, surface: pygame.Surface) -> None:
        """Boxes, and the cells with their counts."""
        bounds = [
            collider.body.bounds for _, collider in esper.get_component(Collider) if collider.body is not None
        ]
        sprite.draw_boxes(surface, bounds, color=GREY)
        sprite.draw_cells(surface, bounds, CELL, color=LIGHT)

    def lines(self) -> list[str]:
        """Coins, and what the collisions cost."""
        stats = self.collisions.world.stats
        every = stats.bodies * (stats.bodies - 1) // 2
        return [
            f"{self.coins} coins, {self.hits} mines hit",
            f"{stats.bodies} bodies, {stats.moved} moved, {stats.candidates} pairs tested of {every:,}",
        ]


if __name__ == "__main__":
    main(Components)
