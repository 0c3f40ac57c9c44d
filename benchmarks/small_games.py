"""Small games as their programmers would write them, and after the change that a page shows.

    python -m pip install pygame-ce
    python benchmarks/small_games.py [NAMES]

Without drawing: a tower defence (`docs/recipes/towers.md`), a bullet hell whose objects are no sprites and a
crowd that pushes itself apart (`docs/how-to/objects.md`), a shooter (`docs/how-to/slow-pygame.md`), a
roguelike (`docs/recipes/tiles-taken.md`) and a map with a camera and a mouse (`docs/how-to/culling.md`,
`docs/how-to/picking.md`).  Both versions of a game must be in the same state after each frame.  Printed is
how many times as long a whole frame of the first takes; frames take turns, and the median of each counts.
"""

import random
import statistics
import sys
import time
from itertools import combinations

import pygame

import broadphase as bp
from broadphase.adapters.pygame import groupcollide

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
        self.creeps, self.shots = pygame.sprite.Group(), pygame.sprite.Group()
        self.towers, self.chance, self.side = [], chance, side
        for _ in range(max(n // 3, 1)):
            tower = pygame.sprite.Sprite()
            tower.rect, tower.wait = pygame.Rect(chance.randrange(side), chance.randrange(side), 20, 20), 0
            self.towers.append(tower)
        for _ in range(n):
            Creep(self.creeps, chance, side)

    def aimed(self):
        """The towers that may shoot, and the nearest creep in range of each."""
        if self.changed:
            ready = [tower for tower in self.towers if tower.wait == 0]
            near = bp.in_range(ready, self.creeps, REACH, sort="distance")
            return [(tower, creeps[0]) for tower, creeps in zip(ready, near, strict=True) if creeps]
        found = []
        for tower in self.towers:
            here, best, target = pygame.Vector2(tower.rect.center), REACH, None
            for creep in self.creeps:
                distance = here.distance_to(creep.rect.center)
                if distance < best or (distance == best and target is None):
                    best, target = distance, creep
            if target is not None and tower.wait == 0:
                found.append((tower, target))
        return found

    def frame(self):
        """Walk, aim, shoot, hit."""
        self.creeps.update()
        self.shots.update()
        for tower in self.towers:
            tower.wait = max(tower.wait - 1, 0)
        for tower, target in self.aimed():
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


class Shooter:
    """As many enemies as shots; both die where they meet, and new ones come."""

    def __init__(self, n, changed):
        self.chance, self.side, self.n, self.changed = random.Random(n), int(40 * n**0.5), n, changed
        self.enemies, self.shots = pygame.sprite.Group(), pygame.sprite.Group()
        self.score = 0

    def frame(self):
        """Come, fly, hit."""
        while len(self.enemies) < self.n:
            Creep(self.enemies, self.chance, self.side)
        while len(self.shots) < self.n:
            place = self.chance.randrange(self.side), self.chance.randrange(self.side)
            Shot(self.shots, place, (self.chance.randint(-3, 3), -4))
        self.enemies.update()
        self.shots.update()
        if self.changed:
            for hit in groupcollide(self.shots, self.enemies, True, True).values():
                self.score += len(hit)
        else:
            for shot in self.shots:
                for _ in pygame.sprite.spritecollide(shot, self.enemies, True):
                    shot.kill()
                    self.score += 1

    def state(self):
        """Everything that the game shows."""
        return self.score, [(*one.rect,) for one in (*self.enemies, *self.shots)]


class Crowd:
    """Objects that walk to the middle and push each other apart, one pair after the other."""

    def __init__(self, n, changed):
        chance, self.changed = random.Random(n), changed
        self.middle = pygame.Vector2(15 * n**0.5)
        self.things = [Thing(chance, 30 * n**0.5, chance.uniform(4, 7), 1) for _ in range(n)]

    def frame(self):
        """Walk, push apart."""
        for one in self.things:
            one.pos += (self.middle - one.pos) * 0.001
        if self.changed:
            pairs = bp.colliding(self.things, radius="radius", margin=8)
        else:
            pairs = combinations(self.things, 2)
        for a, b in pairs:
            way = b.pos - a.pos
            apart = a.radius + b.radius - way.length()
            if apart > 0:
                push = way.normalize() * min(0.5 * apart, 0.5)
                a.pos -= push
                b.pos += push

    def state(self):
        """Everything that the game shows."""
        return [(*one.pos,) for one in self.things]


class Monster:
    """Stands on a tile."""

    def __init__(self, place):
        self.place, self.health = place, 9


class Roguelike:
    """Monsters on tiles walk to the hero, who walks about and hits the eight around him."""

    def __init__(self, n, changed):
        self.chance, self.changed, self.side = random.Random(n), changed, int(6 + 4 * n**0.5)
        self.hero, self.taken, self.monsters = (self.side // 2, self.side // 2), {}, []
        while len(self.monsters) < n:
            place = self.chance.randrange(1, self.side), self.chance.randrange(1, self.side)
            if place != self.hero and self.who(place) is None:
                self.monsters.append(Monster(place))
                self.taken[place] = self.monsters[-1]

    def who(self, place):
        """The monster on a tile."""
        if self.changed:
            return self.taken.get(place)
        return next((one for one in self.monsters if one.place == place), None)

    def walk(self, one, goal):
        """Walk where nobody stands."""
        if goal != self.hero and self.who(goal) is None:
            if self.changed:
                self.taken[goal] = self.taken.pop(one.place)
            one.place = goal

    def frame(self):
        """Hit, walk, and let all others walk."""
        x, y = self.hero
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                hit = self.who((x + dx, y + dy))
                if hit is not None:
                    hit.health -= 1
        goal = x + self.chance.randint(-1, 1), y + self.chance.randint(-1, 1)
        if 0 < goal[0] < self.side and 0 < goal[1] < self.side and self.who(goal) is None:
            self.hero = x, y = goal
        for one in self.monsters:
            a, b = one.place
            self.walk(one, (a + (x > a) - (x < a), b + (y > b) - (y < b)))

    def state(self):
        """Everything that the game shows."""
        return self.hero, [(one.place, one.health) for one in self.monsters]


class Map:
    """Houses that stand, a camera that moves over them, and a mouse; a tenth of the houses is seen.

    Up to four hundred the pages say to ask pygame.
    """

    def __init__(self, n, changed):
        chance, self.side, self.changed = random.Random(n), int(60 * n**0.5), changed
        self.rects = [
            pygame.Rect(chance.randrange(self.side), chance.randrange(self.side), 30, 20) for _ in range(n)
        ]
        self.camera, self.seen, self.under = pygame.Rect(0, 0, self.side // 3, self.side // 3), [], []
        self.world, self.time = bp.World(), 0
        self.few = n <= 400
        if changed and not self.few:
            for rect in self.rects:
                self.world.add(rect, static=True, data=rect)

    def frame(self):
        """Move the camera, and look."""
        self.time += 1
        self.camera.x = 7 * self.time % self.side
        mouse = self.camera.x + 50, self.camera.y + self.time % self.camera.height
        if self.changed and self.few:
            self.seen = [self.rects[k] for k in self.camera.collidelistall(self.rects)]
            self.under = [self.rects[k] for k in pygame.Rect(*mouse, 1, 1).collidelistall(self.rects)]
        elif self.changed:
            self.seen = [body.data for body in self.world.query_box(self.camera)]
            self.under = [body.data for body in self.world.query_point(mouse)]
        else:
            self.seen = [rect for rect in self.rects if rect.colliderect(self.camera)]
            self.under = [rect for rect in self.rects if rect.collidepoint(mouse)]

    def state(self):
        """Everything that the game shows, but what is only flush."""
        return self.seen, [
            rect for rect in self.under if rect.inflate(-2, -2).collidepoint(self.camera.center)
        ]


GAMES = {
    "tower defence": Towers,
    "bullet hell": Bullets,
    "shooter": Shooter,
    "crowd": Crowd,
    "roguelike": Roguelike,
    "map": Map,
}


def gain(game, n):
    """How many times as long a frame takes before the change."""
    before, after = game(n, False), game(n, True)
    times = [], []
    for _ in range(FRAMES if n <= 100 else FRAMES // 8):
        for one, spent in zip((before, after), times, strict=True):
            begin = time.thread_time()
            one.frame()
            spent.append(time.thread_time() - begin)
        if before.state() != after.state():
            raise SystemExit(f"{game.__name__} of {n} go different ways")
    return statistics.median(times[0]) / statistics.median(times[1])


def main():
    sizes, names = (10, 30, 100, 300, 1000), sys.argv[1:] or GAMES
    print(f"| game | {' | '.join(map(str, sizes))} |")
    print(f"|---|{'--:|' * len(sizes)}")
    for name in names:
        gains = (f"{gain(GAMES[name], n):.2f}" for n in sizes)
        print(f"| {name} | {' | '.join(gains)} |", flush=True)


if __name__ == "__main__":
    main()
