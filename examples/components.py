"""Components: an entity-component game on esper, with the grid drawn and the bodies in each cell counted.

Arrow keys steer the ship; it collects coins and loses them to mines.  TAB shows boxes, and cells
of 150 as in the series of articles, two to three times the ship.  Each component knows only its tag and its
callbacks.
"""

import math
import random
from dataclasses import dataclass
from itertools import count

import esper
import pygame

import broadphase as bp
from broadphase.adapters import pygame as sprite
from broadphase.adapters.esper import Callbacks, Collider, CollisionProcessor, Tag
from examples.stage import BACKGROUND, BLUE, GREEN, GREY, LIGHT, ORANGE, TEXT, Game, main

CELL = 150
SPEED = 4.0
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


class Components(Game):
    """A ship, coins and mines."""

    title = "components"
    keys = "arrows steer"
    engine = "boxes, and how many a grid would have in each cell of 150 pixels: if none is shared, no contact"

    def __init__(self, coins: int = 150, mines: int = 40) -> None:
        super().__init__()
        esper.switch_world(f"components {next(WORLDS)}")
        self.rng = random.Random(2)
        self.coins = self.hits = 0
        self.collisions = CollisionProcessor(position=Place)
        esper.add_processor(DriftProcessor(self.size), priority=2)
        esper.add_processor(self.collisions, priority=1)
        self.ship = esper.create_entity(
            Place(400, 300),
            Drift(0, 0),
            Look(BLUE),
            Collider(bp.Box(400, 300, 64, 40)),
            Tag("ship"),
            Callbacks(begin={"coin": self.collect, "mine": self.explode}),
        )
        for _ in range(coins):
            self.add_coin()
        for _ in range(mines):
            self.create("mine", ORANGE, bp.Circle(0, 0, 12), 1.0)

    def create(self, tag: str, color: tuple[int, int, int], shape: bp.Box | bp.Circle, speed: float) -> int:
        """Add an entity at a random position with a random velocity."""
        x, y, angle = (
            self.rng.uniform(0, self.size[0]),
            self.rng.uniform(0, self.size[1]),
            self.rng.uniform(0, 7),
        )
        drift = Drift(speed * math.cos(angle), speed * math.sin(angle))
        collider = Collider(shape.moved_to(x, y), sensor=True)
        return esper.create_entity(Place(x, y), drift, Look(color), collider, Tag(tag))

    def add_coin(self) -> None:
        """One more coin."""
        self.create("coin", GREEN, bp.Box(0, 0, 10, 10), 0.5)

    def collect(self, ship: int, coin: int, contact: bp.Contact) -> None:
        """Callback of ship and coin: a new coin appears elsewhere."""
        self.coins += 1
        esper.delete_entity(coin)
        self.add_coin()

    def explode(self, ship: int, mine: int, contact: bp.Contact) -> None:
        """Callback of ship and mine: the ship is pushed out along the contact normal."""
        self.hits += 1
        self.coins = max(self.coins - 5, 0)
        (nx, ny), drift = contact.normal, esper.component_for_entity(ship, Drift)
        drift.dx, drift.dy = 2 * SPEED * nx, 2 * SPEED * ny

    def update(self) -> None:
        """Steer, drift, collide."""
        drift = esper.component_for_entity(self.ship, Drift)
        keys = pygame.key.get_pressed()
        ahead = keys[pygame.K_RIGHT] - keys[pygame.K_LEFT], keys[pygame.K_DOWN] - keys[pygame.K_UP]
        if self.by_itself:
            turn = self.timer.frames / 40
            ahead = math.cos(turn), math.sin(1.7 * turn)
        drift.dx += (SPEED * ahead[0] - drift.dx) / 8
        drift.dy += (SPEED * ahead[1] - drift.dy) / 8
        with self.timer.part("components"):
            esper.process()

    def draw(self, surface: pygame.Surface) -> None:
        """Coins, mines and the ship."""
        for entity, (collider, look) in esper.get_components(Collider, Look):
            if collider.body is None:
                continue  # it came in this frame
            left, top, right, bottom = collider.body.bounds
            area = pygame.Rect(left, top, right - left, bottom - top)
            if isinstance(collider.shape, bp.Circle):
                pygame.draw.circle(surface, look.color, collider.body.position, collider.shape.radius)
                pygame.draw.circle(surface, BACKGROUND, collider.body.position, 4)
            elif entity == self.ship:
                pygame.draw.rect(surface, look.color, area, border_radius=18)
                pygame.draw.circle(surface, TEXT, area.center, 9)
            else:
                pygame.draw.ellipse(surface, look.color, area)

    def draw_engine(self, surface: pygame.Surface) -> None:
        """Boxes, and the cells with their counts."""
        bounds = [
            collider.body.bounds
            for _, (collider, _) in esper.get_components(Collider, Look)
            if collider.body is not None
        ]
        sprite.draw_boxes(surface, bounds, color=GREY)
        sprite.draw_cells(surface, bounds, CELL, color=LIGHT)

    def lines(self) -> list[str]:
        """Coins, and what the collisions cost."""
        stats = self.collisions.world.stats
        every = stats.bodies * (stats.bodies - 1) // 2
        return [
            f"{self.coins} of the green coins, {self.hits} of the orange mines hit",
            f"{stats.bodies} bodies, {stats.moved} moved, {stats.candidates} pairs tested of {every:,}",
        ]


if __name__ == "__main__":
    main(Components)
