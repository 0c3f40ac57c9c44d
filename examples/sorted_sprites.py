"""Sorted sprites: 1,200 asteroids, three ways to find those that touch, and what each takes, in large type.

Keys 1 to 3 choose: pygame's groups (every sprite with every sprite), a sort by the left edge in plain Python,
or broadphase.  All find the same pairs.  TAB shows which sprites the one next to the mouse is compared with.
"""

import math
import random
import time
from collections import deque
from functools import cache
from statistics import median

import pygame

import broadphase as bp
from broadphase.adapters import pygame as sprite
from examples.stage import BLUE, GREEN, GREY, LIGHT, TEXT, Game, font, main, write

NAMES = ["groups", "sorted", "broadphase"]
SHOWN = ["pygame's groups", "sort by the left edge, in Python", "broadphase"]
STONE, GLOW, PANEL = (104, 128, 158), (255, 150, 70), (16, 18, 24)
FRAME = 1000 / 60
"""Milliseconds."""
Pairs = list[tuple[sprite.Sprite, sprite.Sprite]]


@cache
def rock(size: int, shape: int, hit: bool) -> pygame.Surface:
    """A picture of an asteroid, in one of eight shapes; orange if it touches another."""
    chance, middle = random.Random(shape), size / 2
    points = [
        (middle + far * math.cos(k * math.pi / 4), middle + far * math.sin(k * math.pi / 4))
        for k, far in enumerate(chance.uniform(0.72, 1.05) * middle for _ in range(8))
    ]
    picture = pygame.Surface((size, size), pygame.SRCALPHA)
    color = GLOW if hit else STONE
    pygame.draw.polygon(picture, [part // 2 for part in color], points)
    pygame.draw.polygon(picture, color, [(0.86 * x, 0.86 * y) for x, y in points])
    return picture


class Asteroid(sprite.Sprite):
    """A rock that drifts."""

    def __init__(self, rng: random.Random, width: int, height: int, *groups: sprite.Group) -> None:
        super().__init__(*groups)
        size = rng.randint(6, 16)
        self.shape = rng.randrange(8)
        self.rect = pygame.FRect(rng.uniform(0, width), rng.uniform(0, height), size, size)
        self.drift = rng.uniform(-1, 1), rng.uniform(-1, 1)
        self.hit = False

    def update(self, width: int, height: int) -> None:
        """Move; a sprite that leaves on one side comes back on the other."""
        self.rect.move_ip(self.drift)
        self.rect.center = self.rect.centerx % width, self.rect.centery % height
        self.hit = False


class SortedSprites(Game):
    """Many sprites, and three methods to find those that touch."""

    title = "sorted sprites"
    keys = "1 groups    2 sort    3 broadphase"
    engine = "lines: with whom the sprite next to the mouse is compared; of broadphase, what it picks"

    def __init__(self, count: int = 1200) -> None:
        super().__init__()
        rng = random.Random(1)
        self.asteroids = sprite.Group()
        for _ in range(count):
            Asteroid(rng, *self.size, self.asteroids)
        self.method = self.chosen = 2
        self.took = [deque[float](maxlen=15) for _ in range(3)]
        """The last times of each method, in milliseconds."""
        self.pairs: Pairs = []
        self.looked = self.age = 0

    def handle(self, event: pygame.event.Event) -> None:
        """Choose a method with the keys 1, 2 and 3."""
        if event.type == pygame.KEYDOWN and event.key in (pygame.K_1, pygame.K_2, pygame.K_3):
            self.chosen = event.key - pygame.K_1

    def update(self) -> None:
        """Move, and find the sprites that touch."""
        with self.timer.part("drifting"):
            self.asteroids.update(*self.size)
        # Each once, so that three times can be compared; then the one that was chosen.
        unmeasured = [k for k in range(3) if not self.took[k]]
        self.method = unmeasured[0] if unmeasured else self.chosen
        if self.by_itself:
            self.method = self.age % 3
        self.age += 1
        begin = time.perf_counter()
        with self.timer.part(NAMES[self.method]):
            self.pairs = [self.by_groups, self.by_sorting, self.by_broadphase][self.method]()
        self.took[self.method].append(1e3 * (time.perf_counter() - begin))
        for pair in self.pairs:
            for one in pair:
                one.hit = True

    def by_groups(self) -> Pairs:
        """Pygame's own function: every sprite of one group against every sprite of the other."""
        found = pygame.sprite.groupcollide(self.asteroids, self.asteroids, False, False)
        order = {one: k for k, one in enumerate(self.asteroids)}
        return [(a, b) for a, others in found.items() for b in others if order[a] < order[b]]

    def by_sorting(self) -> Pairs:
        """The idea of the article: once a sprite begins beyond my right edge, all later ones do too."""
        by_left = sorted(self.asteroids, key=lambda one: one.rect.left)
        order = {one: k for k, one in enumerate(self.asteroids)}
        found = []
        self.looked = 0
        for k, a in enumerate(by_left):
            right = a.rect.right
            for b in by_left[k + 1 :]:
                if b.rect.left > right:
                    break
                self.looked += 1
                if a.rect.colliderect(b.rect):
                    found.append((a, b) if order[a] < order[b] else (b, a))
        return sorted(found, key=lambda pair: (order[pair[0]], order[pair[1]]))

    def by_broadphase(self) -> Pairs:
        """One call of broadphase."""
        return sprite.collide(self.asteroids)

    def draw(self, surface: pygame.Surface) -> None:
        """Draw asteroids; those that touch another one in a second colour."""
        surface.fblits([(rock(one.rect.w, one.shape, one.hit), one.rect) for one in self.asteroids])

    def write(self, surface: pygame.Surface) -> None:
        """What each method takes, in large type, with a bar that is as long as the time."""
        super().write(surface)
        width, height = self.size[0] // 3 - 16, 176
        milliseconds = [median(took or [0.0]) for took in self.took]
        slowest = max(milliseconds)
        for k in range(3):
            plate = pygame.Surface((width, height))
            plate.fill(PANEL)
            color = GLOW if k == self.method else BLUE
            took = milliseconds[k]
            number = f"{took:.0f}" if took >= 10 else f"{took:.1f}"
            large = font(130).render(number, True, color)
            plate.blit(large, (14, 12))
            plate.blit(font(40).render("ms", True, color), (22 + large.get_width(), 62))
            plate.blit(font(22).render(f"{k + 1}  {SHOWN[k]}", True, TEXT), (16, 108))
            times = f"{slowest / took:,.0f} times as fast" if took and took < slowest else ""
            frames = f"{took / FRAME:.1f} frames of a game" if took > FRAME else ""
            plate.blit(font(20).render(times or frames, True, LIGHT), (16, 130))
            share = took / slowest if slowest else 0.0
            plate.fill(GREY, (16, 156, width - 32, 8))
            plate.fill(color, (16, 156, max(round(share * (width - 32)), 2), 8))
            pygame.draw.rect(plate, color if k == self.chosen else GREY, plate.get_rect(), 2)
            plate.set_alpha(225)
            surface.blit(plate, (12 + k * (width + 12), self.size[1] - height - 72))

    def draw_engine(self, surface: pygame.Surface) -> None:
        """Lines from one sprite to those that it is compared with; what broadphase picks, it says itself."""
        here = pygame.Vector2(self.size) / 2 if self.by_itself else pygame.Vector2(pygame.mouse.get_pos())
        one = min(self.asteroids, key=lambda other: here.distance_squared_to(other.rect.center))
        others: list[Asteroid] = []
        if self.method == 0:
            others = list(self.asteroids)
        elif self.method == 1:
            left, right = one.rect.left, one.rect.right
            surface.fill(GREY, (left, 0, 1, self.size[1]))
            surface.fill(GREY, (right, 0, 1, self.size[1]))
            others = [o for o in self.asteroids if o.rect.left <= right and left <= o.rect.right]
        else:
            rects = [(o.rect.left, o.rect.top, o.rect.right, o.rect.bottom) for o in self.asteroids]
            write(surface, str(bp.explain(rects)).splitlines()[3:4], (0, 128))
        for other in others:
            pygame.draw.line(surface, GREEN, one.rect.center, other.rect.center)
        pygame.draw.circle(surface, TEXT, one.rect.center, 14, 2)

    def lines(self) -> list[str]:
        """How many pairs each method looks at."""
        n = len(self.asteroids)
        looked = f"pairs looked at: {n * n:,} by groups, {self.looked:,} by sorting"
        return [f"{n:,} sprites, {len(self.pairs)} pairs touch", looked]


if __name__ == "__main__":
    main(SortedSprites)
