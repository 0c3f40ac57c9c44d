"""Two small games as their programmers would write them, and after the change that a page shows.

    python -m pip install pygame-ce
    python benchmarks/small_games.py

A tower defence with sprites (`docs/recipes/towers.md`, `docs/how-to/slow-pygame.md`) and a bullet hell with
objects that are no sprites (`docs/how-to/objects.md`), without drawing.  Both versions of a game must be in
the same state after each frame.  Printed is how many times as long a whole frame of the first takes; frames
take turns, and the median of each counts.
"""

import random
import statistics
import time

import pygame

import broadphase as bp
from broadphase.adapters.pygame import WorldGroup, groupcollide

FRAMES, REACH = 240, 90


class Creep(pygame.sprite.Sprite):
    """Walks to the right, and comes back on the left."""

    def __init__(self, group, chance, side):
        super().__init__(group)
        self.side, self.health, self.speed = side, 3, chance.choice((1, 2, 3))
        self.rect = pygame.Rect(chance.randrange(side), chance.randrange(side), 12, 12)

    def update(self):
        """Walk."""
        self.rect.x = (self.rect.x + self.speed) % self.side


class Shot(pygame.sprite.Sprite):
    """Flies straight and ends after a while."""

    def __init__(self, group, center, way):
        super().__init__(group)
        self.rect, self.way, self.left = pygame.Rect(0, 0, 4, 4), way, 20
        self.rect.center = center

    def update(self):
        """Fly."""
        self.rect.move_ip(self.way)
        self.left -= 1
        if self.left == 0:
            self.kill()


class Towers:
    """A third as many towers as creeps; each shoots at the nearest creep in range, if it is ready."""

    def __init__(self, n, changed):
        chance, side = random.Random(n), int(60 * n**0.5)
        self.changed, self.collide = changed, groupcollide if changed else pygame.sprite.groupcollide
        self.creeps, self.shots = (WorldGroup if changed else pygame.sprite.Group)(), pygame.sprite.Group()
        self.towers, self.chance, self.side = [], chance, side
        for _ in range(max(n // 3, 1)):
            tower = pygame.sprite.Sprite()
            tower.rect, tower.wait = pygame.Rect(chance.randrange(side), chance.randrange(side), 20, 20), 0
            self.towers.append(tower)
        for _ in range(n):
            Creep(self.creeps, chance, side)

    def targets(self):
        """The nearest creep in range of each tower."""
        if self.changed:
            near = self.creeps.in_range(self.towers, REACH, sort="distance")
            return [creeps[0] if creeps else None for creeps in near]
        found = []
        for tower in self.towers:
            here, best, target = pygame.Vector2(tower.rect.center), REACH, None
            for creep in self.creeps:
                distance = here.distance_to(creep.rect.center)
                if distance < best or (distance == best and target is None):
                    best, target = distance, creep
            found.append(target)
        return found

    def frame(self):
        """Walk, aim, shoot, hit."""
        self.creeps.update()
        self.shots.update()
        for tower, target in zip(self.towers, self.targets(), strict=True):
            tower.wait = max(tower.wait - 1, 0)
            if target is not None and tower.wait == 0:
                x, y = (b - a for a, b in zip(tower.rect.center, target.rect.center, strict=True))
                Shot(self.shots, tower.rect.center, (x // 8, y // 8))
                tower.wait = 12
        for creeps in self.collide(self.shots, self.creeps, True, False).values():
            for creep in creeps:
                creep.health -= 1
                if creep.health == 0:
                    creep.kill()
                    Creep(self.creeps, self.chance, self.side)

    def state(self):
        """Everything that the game shows."""
        shown = [(*creep.rect, creep.health) for creep in self.creeps]
        return shown, [(*shot.rect, shot.left) for shot in self.shots]


class Thing:
    """A circle of a bullet hell."""

    def __init__(self, chance, side, radius, speed):
        self.pos = pygame.Vector2(chance.uniform(0, side), chance.uniform(0, side))
        self.way = pygame.Vector2(speed, 0).rotate(chance.uniform(0, 360))
        self.radius, self.side, self.hits = radius, side, 0

    def update(self):
        """Move, and turn at the edges."""
        self.pos += self.way
        for axis in range(2):
            if not 0 <= self.pos[axis] <= self.side:
                self.way[axis] = -self.way[axis]
                self.pos[axis] = min(max(self.pos[axis], 0), self.side)


class Bullets:
    """As many bullets as enemies; enemies that touch turn round, bullets that hit one count."""

    def __init__(self, n, changed):
        chance, side = random.Random(n), 60 * n**0.5
        self.changed = changed
        self.enemies = [Thing(chance, side, chance.uniform(6, 12), 1.5) for _ in range(n)]
        self.bullets = [Thing(chance, side, 3, 5) for _ in range(n)]

    def frame(self):
        """Move, turn round, hit."""
        for one in self.enemies:
            one.update()
        for one in self.bullets:
            one.update()
        if self.changed:
            touching = bp.colliding(self.enemies, radius="radius")
            hits = bp.colliding(self.bullets, self.enemies, radius="radius")
        else:
            touching, hits = [], []
            for k, a in enumerate(self.enemies):
                for b in self.enemies[k + 1 :]:
                    if a.pos.distance_to(b.pos) < a.radius + b.radius:
                        touching.append((a, b))
            for a in self.bullets:
                for b in self.enemies:
                    if a.pos.distance_to(b.pos) < a.radius + b.radius:
                        hits.append((a, b))
        for a, b in touching:
            a.way, b.way = b.way, a.way
        for _, enemy in hits:
            enemy.hits += 1

    def state(self):
        """Everything that the game shows."""
        return [(*one.pos, one.hits) for one in (*self.enemies, *self.bullets)]


def gain(game, n):
    """How many times as long a frame takes before the change."""
    before, after = game(n, False), game(n, True)
    times = [], []
    for _ in range(FRAMES if n <= 100 else FRAMES // 8):
        for one, spent in zip((before, after), times, strict=True):
            begin = time.perf_counter()
            one.frame()
            spent.append(time.perf_counter() - begin)
        if before.state() != after.state():
            raise SystemExit(f"{game.__name__} of {n} go different ways")
    return statistics.median(times[0]) / statistics.median(times[1])


def main():
    sizes = (10, 30, 100, 300, 1000)
    print(f"| game | {' | '.join(map(str, sizes))} |")
    print(f"|---|{'--:|' * len(sizes)}")
    for name, game in (("tower defence", Towers), ("bullet hell", Bullets)):
        print(f"| {name} | {' | '.join(f'{gain(game, n):.2f}' for n in sizes)} |", flush=True)


if __name__ == "__main__":
    main()
