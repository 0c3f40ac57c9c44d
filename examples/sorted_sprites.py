"""Sorted sprites against groups: the 1-D sort of the blog post, by hand, and what the library makes of it.

Asteroids drift through each other.  Keys 1 to 3 choose how to find those that touch: pygame's groups (every
sprite with every sprite), a sort by the left edge in plain Python, or broadphase.  All find the same.
TAB shows which sprites the one next to the mouse is compared with.
"""

import random
import time

import pygame

import broadphase as bp
from broadphase.adapters import pygame as sprite
from examples.stage import BLUE, GREEN, GREY, ORANGE, TEXT, Game, main, write

NAMES = ["groups", "sorted", "broadphase"]
SHOWN = ["pygame's groups", "sort by the left edge, in Python", "broadphase"]
Pairs = list[tuple[sprite.Sprite, sprite.Sprite]]


class Asteroid(sprite.Sprite):
    """A square that drifts."""

    def __init__(self, rng: random.Random, width: int, height: int, *groups: sprite.Group) -> None:
        super().__init__(*groups)
        size = rng.randint(4, 12)
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

    def __init__(self, count: int = 600) -> None:
        super().__init__()
        rng = random.Random(1)
        self.asteroids = sprite.Group()
        for _ in range(count):
            Asteroid(rng, *self.size, self.asteroids)
        self.method = 2
        self.milliseconds = dict.fromkeys(range(3), 0.0)
        self.pairs: Pairs = []
        self.looked = 0

    def handle(self, event: pygame.event.Event) -> None:
        """Choose a method with the keys 1, 2 and 3."""
        if event.type == pygame.KEYDOWN and event.key in (pygame.K_1, pygame.K_2, pygame.K_3):
            self.method = event.key - pygame.K_1

    def update(self) -> None:
        """Move, and find the sprites that touch."""
        with self.timer.part("drifting"):
            self.asteroids.update(*self.size)
        if self.by_itself:
            self.method = self.timer.frames % 3
        begin = time.perf_counter()
        with self.timer.part(NAMES[self.method]):
            self.pairs = [self.by_groups, self.by_sorting, self.by_broadphase][self.method]()
        self.milliseconds[self.method] = 1e3 * (time.perf_counter() - begin)
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
        """Draw squares; those that touch another one in a second colour."""
        for one in self.asteroids:
            surface.fill(ORANGE if one.hit else BLUE, one.rect)

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
        """The last time of each method."""
        n = len(self.asteroids)
        shown = [f"{k + 1}: {SHOWN[k]}: {self.milliseconds[k]:.2f} ms" for k in range(3)]
        shown[self.method] += "   <"
        looked = f"pairs looked at: {n * n:,} by groups, {self.looked:,} by sorting"
        return [f"{n} sprites, {len(self.pairs)} pairs touch", *shown, looked]


if __name__ == "__main__":
    main(SortedSprites)
