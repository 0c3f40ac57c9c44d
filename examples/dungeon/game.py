"""The game: arrow keys to walk, space to shoot the way you look; food is life, keys open doors."""

import math
import random
from dataclasses import dataclass

import numpy as np
import pygame

import broadphase as bp
from broadphase.world.body import Body
from examples.dungeon.cells import NOWHERE, Cells
from examples.dungeon.level import TILE, Level
from examples.dungeon.pilot import Pilot
from examples.stage import BLUE, GREEN, GREY, ORANGE, TEXT, Game, main

SIZE = 22.0  # of a figure: its box is smaller than its tile
SPEED = 3.0
SHOT = 9.0
FLOOR = (34, 36, 44)
DOOR = (140, 100, 60)
RED = (200, 70, 70)


@dataclass(eq=False)
class Figure:
    """The player or a monster."""

    x: float
    y: float
    speed: float
    size: float = SIZE
    cells: tuple[range, range] = NOWHERE
    body: Body | None = None


@dataclass(eq=False)
class Shot:
    """On its way."""

    body: Body
    dx: float
    dy: float


class Dungeon(Game):
    """Walls, doors, monsters, shots and food."""

    title = "the dungeon"

    def __init__(
        self, monsters: int = 500, food: int = 80, across: int = 6, down: int = 5, seed: int = 3
    ) -> None:
        super().__init__()
        self.rng = random.Random(seed)
        self.level = Level(across, down, self.rng)
        self.cells = Cells(self.level.tiles)
        self.world = bp.World()
        self.world.tiles = self.level.tiles
        self.world.on("player", "food", begin=self.eat)
        self.health, self.keys, self.killed, self.eaten = 500, 0, 0, 0
        middle = TILE * (across // 2 * 12 + 6.0), TILE * (down // 2 * 12 + 6.0)
        self.player = self.create("player", *middle, SPEED)
        self.look = (1, 0)
        self.shots: list[Shot] = []
        self.monsters: list[Figure] = []
        self.moved: list[Figure] = []
        for _ in range(monsters):
            self.monsters.append(
                self.create("monster", *self.free_place(6 * TILE), self.rng.uniform(0.6, 1.6))
            )
        for k in range(food):
            x, y = self.free_place(0)
            self.world.add(
                bp.Circle(x + 11, y + 11, 7), tag="food", sensor=True, data="key" if k % 5 == 0 else "food"
            )
        self.pilot = Pilot(self)

    def create(self, tag: str, x: float, y: float, speed: float) -> Figure:
        """A figure with its body and its cells."""
        figure = Figure(x, y, speed)
        figure.body = self.world.add(bp.Box(x, y, SIZE, SIZE), tag=tag, data=figure)
        self.cells.occupy(figure, x, y)
        return figure

    def free_place(self, away: float) -> tuple[float, float]:
        """Where nothing is, not too near to the player."""
        left, top, right, bottom = self.level.tiles.bounds
        while True:
            x, y = self.rng.uniform(left, right - TILE), self.rng.uniform(top, bottom - TILE)
            far = math.hypot(x - self.player.x, y - self.player.y) >= away
            if far and self.cells.occupied(x, y, SIZE) is None:
                return x, y

    # ---- a frame

    def handle(self, event: pygame.event.Event) -> None:
        """Space shoots."""
        if event.type == pygame.KEYDOWN and event.key == pygame.K_SPACE:
            self.shoot()

    def update(self) -> None:
        """Everybody has a turn."""
        if self.health <= 0:
            return
        with self.timer.part("player"):
            self.walk(*(self.pilot.steer() if self.by_itself else self.steer()))
        with self.timer.part("monsters"):
            self.walk_monsters()
        with self.timer.part("shots"):
            self.fly()
        with self.timer.part("world"):
            self.world.update()

    def steer(self) -> tuple[int, int]:
        """What the arrow keys say."""
        keys = pygame.key.get_pressed()
        return keys[pygame.K_RIGHT] - keys[pygame.K_LEFT], keys[pygame.K_DOWN] - keys[pygame.K_UP]

    def walk(self, dx: int, dy: int) -> None:
        """The player slides along walls and monsters; a door in the way opens to a key."""
        if not (dx or dy):
            return
        self.look = dx, dy
        body = self.player.body
        move = self.world.move(body, SPEED * dx, SPEED * dy)
        self.cells.occupy(self.player, move.x, move.y)
        for hit in move.hits:
            if isinstance(hit.other, bp.Tile) and self.keys and self.level.open(hit.other):
                self.keys -= 1

    def walk_monsters(self) -> None:
        """Each takes a step toward the player: the longer way first, else the other; never into another."""
        player, try_move = self.player, self.cells.try_move
        moved = self.moved
        moved.clear()
        for monster in self.monsters:
            dx, dy = player.x - monster.x, player.y - monster.y
            step = monster.speed
            first = (math.copysign(min(step, abs(dx)), dx), 0.0)
            second = (0.0, math.copysign(min(step, abs(dy)), dy))
            if abs(dy) > abs(dx):
                first, second = second, first
            blocker = try_move(monster, *first)
            if blocker is not None and blocker is not player:
                blocker = try_move(monster, *second)
            if blocker is player:
                self.health -= 1
            elif blocker is None:
                moved.append(monster)
        if moved:
            places = np.array([(monster.x, monster.y) for monster in moved])
            self.world.move_all([monster.body for monster in moved], places)

    def shoot(self) -> None:
        """One more shot, out of the middle of the player."""
        middle = self.player.x + SIZE / 2, self.player.y + SIZE / 2
        body = self.world.add(bp.Circle(*middle, 3), tag="shot", sensor=True)
        self.shots.append(Shot(body, SHOT * self.look[0], SHOT * self.look[1]))

    def fly(self) -> None:
        """Shots go on until something is in the way."""
        for shot in self.shots[:]:
            move = self.world.move(shot.body, shot.dx, shot.dy, self.pass_player)
            for hit in move.hits:
                self.shots.remove(shot)
                self.world.remove(shot.body)
                if isinstance(hit.other, Body):
                    self.kill(hit.other.data)
                break

    def pass_player(self, hit: bp.Hit) -> str | None:
        """Shots begin inside the player."""
        return None if hit.other is self.player.body else "touch"

    def kill(self, monster: Figure) -> None:
        """Out of the world and out of its cells."""
        self.killed += 1
        self.monsters.remove(monster)
        self.cells.leave(monster)
        self.world.remove(monster.body)

    def eat(self, contact: bp.Contact) -> None:
        """The player stands on food, or on a key."""
        if contact.b.data == "key":
            self.keys += 1
        else:
            self.health += 50
        self.eaten += 1
        self.world.remove(contact.b)

    # ---- what there is to see

    def draw(self, surface: pygame.Surface) -> None:
        """What lies about the player."""
        width, height = self.size
        left, top = self.player.x + SIZE / 2 - width / 2, self.player.y + SIZE / 2 - height / 2
        view = (left, top, left + width, top + height)
        surface.fill(FLOOR)
        for column, row in self.level.tiles.tiles_in(view).tolist():
            place = (column * TILE - left, row * TILE - top, TILE, TILE)
            surface.fill(DOOR if (column, row) in self.level.doors else GREY, place)
        for body in self.world.query_box(view, tag="food"):
            color = BLUE if body.data == "key" else GREEN
            pygame.draw.circle(surface, color, (body.x - left, body.y - top), 7)
        for body in self.world.query_box(view, tag="monster"):
            surface.fill(RED, (body.x - left, body.y - top, SIZE - 1, SIZE - 1))
        for shot in self.shots:
            pygame.draw.circle(surface, ORANGE, (shot.body.x - left, shot.body.y - top), 3)
        surface.fill(TEXT, (self.player.x - left, self.player.y - top, SIZE, SIZE))

    def lines(self) -> list[str]:
        """How it goes."""
        over = "   the monsters have won" if self.health <= 0 else ""
        return [
            f"health {self.health}, keys {self.keys}{over}",
            f"{len(self.monsters)} monsters, {self.killed} killed, {self.eaten} things eaten or found",
        ]


if __name__ == "__main__":
    main(Dungeon)
