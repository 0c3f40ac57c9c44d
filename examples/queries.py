"""Queries: what is near, what is in sight, what a ray hits.

Walk with the arrow keys and point with the mouse.  The ray stops at the first wall or guard; the nearest
guard is linked; guards that see you are orange.  A click throws a bomb that pushes away the guards near it.
TAB shows the ranges and boxes of the queries and the time of each.
"""

import math
import random

import numpy as np
import pygame

import broadphase as bp
from broadphase.adapters.pygame import draw_boxes
from broadphase.world.bodies import Body
from examples.stage import BLUE, GREEN, GREY, LIGHT, ORANGE, TEXT, Game, main

TILE = 32
SPEED = 3.0
SIGHT = 320.0
BLAST = 120.0
QUESTIONS = "walking", "sight", "ray", "nearest"


def level(columns: int, rows: int, rng: random.Random) -> bp.TileMap:
    """Walls around, and some blocks inside."""
    solid = np.zeros((rows, columns), bool)
    solid[[0, -1], :] = solid[:, [0, -1]] = True
    for _ in range(22):
        column, row = rng.randrange(2, columns - 4), rng.randrange(2, rows - 4)
        wide = rng.random() < 0.5
        solid[row : row + (1 if wide else 3), column : column + (3 if wide else 1)] = True
    return bp.TileMap(solid, TILE)


class Queries(Game):
    """A walker among guards and walls."""

    title = "queries"
    keys = "arrows walk    mouse points    click bomb"
    engine = "boxes around all, the circle of guards that may see you, the line to the nearest"

    def __init__(self, guards: int = 60) -> None:
        super().__init__()
        self.rng = random.Random(5)
        self.world = bp.World()
        self.world.tiles = level(self.size[0] // TILE, self.size[1] // TILE, self.rng)
        self.walker = self.world.add(self.free_place(bp.Circle(0, 0, 10)), tag="walker")
        self.guards = [
            self.world.add(self.free_place(bp.Circle(0, 0, 9)), tag="guard") for _ in range(guards)
        ]
        self.velocities = {guard: self.any_velocity() for guard in self.guards}
        self.aim = (1.0, 0.0)
        self.blast: tuple[float, float] | None = None
        self.blast_age = self.pushed = 0
        self.seen: set[Body] = set()

    def free_place(self, shape: bp.Circle) -> bp.Circle:
        """The shape at a free position."""
        while True:
            there = shape.moved_to(self.rng.uniform(0, self.size[0]), self.rng.uniform(0, self.size[1]))
            if self.world.blocker(there) is None:
                return there

    def any_velocity(self) -> tuple[float, float]:
        """A step in any direction."""
        angle = self.rng.uniform(0, 2 * math.pi)
        return math.cos(angle), math.sin(angle)

    def handle(self, event: pygame.event.Event) -> None:
        """The mouse points; a click throws a bomb."""
        if event.type == pygame.MOUSEMOTION:
            self.look_at(event.pos)
        elif event.type == pygame.MOUSEBUTTONDOWN:
            self.explode(event.pos)

    def look_at(self, point: tuple[float, float]) -> None:
        """Point the ray."""
        dx, dy = point[0] - self.walker.x, point[1] - self.walker.y
        if dx or dy:
            self.aim = dx, dy

    def explode(self, place: tuple[float, float]) -> None:
        """Everything within the blast and in sight of it is thrown away from it."""
        self.blast, self.blast_age, self.pushed = place, 0, 0
        for guard in self.world.query_radius(place, BLAST, tag="guard"):
            if self.world.tiles.line_of_sight(place, guard.position):
                dx, dy = guard.x - place[0], guard.y - place[1]
                far = math.hypot(dx, dy) or 1.0
                push = BLAST - far
                if push > 0:
                    self.world.move(guard, push * dx / far, push * dy / far)
                    self.pushed += 1

    def update(self) -> None:
        """Move the walker and the guards, and make the queries."""
        keys = pygame.key.get_pressed()
        dx, dy = keys[pygame.K_RIGHT] - keys[pygame.K_LEFT], keys[pygame.K_DOWN] - keys[pygame.K_UP]
        if self.by_itself:
            turn = self.timer.frames / 50
            dx, dy = math.cos(turn), math.sin(turn)
            self.aim = math.cos(-1.3 * turn), math.sin(-1.3 * turn)
            if self.timer.frames % 60 == 40:
                self.explode(self.nearest_guard().position)
        with self.timer.part("walking"):
            self.world.move(self.walker, SPEED * dx, SPEED * dy)
            self.walk_guards()
        with self.timer.part("sight"):
            self.seen = self.who_sees(self.walker.position)
        with self.timer.part("ray"):
            self.hit = self.world.raycast(self.walker.position, self.aim, 600, ignore=self.walker)
        with self.timer.part("nearest"):
            self.nearest = self.nearest_guard()
        self.blast_age += 1

    def walk_guards(self) -> None:
        """All in one call; a guard that is stopped turns around."""
        velocities = np.array([self.velocities[guard] for guard in self.guards])
        moved = self.world.move_many(self.guards, velocities[:, 0], velocities[:, 1], "touch")
        for k in set(moved.hits.movers.tolist()):
            self.velocities[self.guards[k]] = self.any_velocity()

    def who_sees(self, place: tuple[float, float]) -> set[Body]:
        """The guards near enough, and with no wall between: all lines in one call."""
        near = self.world.query_radius(place, SIGHT, tag="guard")
        if not near:
            return set()
        visible = self.world.tiles.line_of_sight(place, np.array([guard.position for guard in near]))
        return {guard for guard, sees in zip(near, visible.tolist(), strict=True) if sees}

    def nearest_guard(self) -> Body:
        """The guard nearest to the walker."""
        return self.world.nearest(self.walker.position, tag="guard").bodies[0]

    def draw(self, surface: pygame.Surface) -> None:
        """Walls, guards, sight, ray and blast."""
        for row, column in np.argwhere(self.world.tiles.solid).tolist():
            surface.fill(GREY, (column * TILE, row * TILE, TILE - 1, TILE - 1))
        here = self.walker.position
        for guard in self.guards:
            if guard in self.seen:
                pygame.draw.line(surface, (70, 55, 45), here, guard.position)
            pygame.draw.circle(surface, ORANGE if guard in self.seen else BLUE, guard.position, 9)
        pygame.draw.line(surface, GREEN, here, self.nearest.position, 2)
        length = math.hypot(*self.aim)
        end = (
            self.hit.point
            if self.hit
            else tuple(p + 600 * a / length for p, a in zip(here, self.aim, strict=True))
        )
        pygame.draw.line(surface, TEXT, here, end)
        pygame.draw.circle(surface, TEXT, end, 4)
        pygame.draw.circle(surface, GREEN, here, 10)
        if self.blast is not None and self.blast_age < 30:
            pygame.draw.circle(surface, ORANGE, self.blast, BLAST, 2)

    def draw_engine(self, surface: pygame.Surface) -> None:
        """The regions of the queries."""
        draw_boxes(surface, [guard.bounds for guard in self.guards], color=LIGHT)
        pygame.draw.circle(surface, LIGHT, self.walker.position, SIGHT, 1)
        gap = math.dist(self.walker.position, self.nearest.position)
        pygame.draw.circle(surface, GREEN, self.walker.position, gap, 1)

    def lines(self) -> list[str]:
        """The results of the queries."""
        hit = "nothing" if self.hit is None else "a guard" if isinstance(self.hit.other, Body) else "a wall"
        parts = [f"{name} {self.timer.milliseconds(name):.2f} ms" for name in QUESTIONS]
        return [
            f"{len(self.guards)} guards, {len(self.seen)} see you; the ray hits {hit}",
            f"the last bomb pushed {self.pushed}",
            *([", ".join(parts)] if self.engine_shown else []),
        ]


if __name__ == "__main__":
    main(Queries)
