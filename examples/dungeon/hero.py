"""The hero: walks, aims, carries keys, and is hurt at most twice a second."""

import math
from typing import Any

import broadphase as bp

SIZE = 22.0
SPEED = 3.0
HEALTH = 100
UNHURT = 36
"""Frames without damage after damage: standing still for five seconds does not kill."""
RELOAD = 9

HERO, MONSTER, ARROW, FIRE = 1, 2, 4, 8  # categories: what a missile hits, see `missiles`


class Hero:
    """The player's character."""

    def __init__(self) -> None:
        self.health, self.keys, self.score = HEALTH, 0, 0
        self.look = (1.0, 0.0)
        self.steps = 0
        self.unhurt = self.reload = 0
        self.body: Any = None

    def enter(self, world: bp.World, x: float, y: float) -> None:
        """Place the hero in a level with its centre at a point."""
        shape = bp.Box(x - SIZE / 2, y - SIZE / 2, SIZE, SIZE)
        self.body = world.add(shape, tag="hero", category=HERO, mask=0xFFFFFFFF)

    @property
    def middle(self) -> tuple[float, float]:
        """The point that monsters aim at."""
        return self.body.x + SIZE / 2, self.body.y + SIZE / 2

    def walk(self, world: bp.World, dx: float, dy: float) -> list[bp.Hit]:
        """Take a step of the same length in every direction; return what stopped it."""
        length = math.hypot(dx, dy)
        if length == 0:
            return []
        if length > 1:
            dx, dy = dx / length, dy / length
        self.look = dx / min(length, 1.0), dy / min(length, 1.0)
        self.steps += 1
        return list(world.move(self.body, SPEED * dx, SPEED * dy).hits)

    def rest(self) -> None:
        """Advance by a frame."""
        self.unhurt, self.reload = max(self.unhurt - 1, 0), max(self.reload - 1, 0)

    def hurt(self, damage: int) -> bool:
        """Lose health, down to 0; return whether it hurt."""
        if self.unhurt or damage <= 0:
            return False
        self.health, self.unhurt = max(self.health - damage, 0), UNHURT
        return True

    def eat(self, amount: int) -> None:
        """Gain health, up to the maximum."""
        self.health = min(self.health + amount, HEALTH)
