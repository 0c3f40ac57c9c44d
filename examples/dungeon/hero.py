"""The hero: walks, looks, carries keys, and is hurt at most twice a second."""

import math
from typing import Any

import broadphase as bp

SIZE = 22.0
SPEED = 3.0
HEALTH = 100
UNHURT = 36
"""Frames for which nothing hurts after something has: of standing still for five seconds nobody dies."""
RELOAD = 9

HERO, MONSTER, ARROW, FIRE = 1, 2, 4, 8  # categories: what a missile meets, see `missiles`


class Hero:
    """Who you are."""

    def __init__(self) -> None:
        self.health, self.keys, self.score = HEALTH, 0, 0
        self.look = (1.0, 0.0)
        self.steps = 0
        self.unhurt = self.reload = 0
        self.body: Any = None

    def enter(self, world: bp.World, x: float, y: float) -> None:
        """Stand in a level with the middle at a point."""
        shape = bp.Box(x - SIZE / 2, y - SIZE / 2, SIZE, SIZE)
        self.body = world.add(shape, tag="hero", category=HERO, mask=0xFFFFFFFF)

    @property
    def middle(self) -> tuple[float, float]:
        """The point that everybody aims at."""
        return self.body.x + SIZE / 2, self.body.y + SIZE / 2

    def walk(self, world: bp.World, dx: float, dy: float) -> list[bp.Hit]:
        """A step, the same length in every direction; what stopped it."""
        length = math.hypot(dx, dy)
        if length == 0:
            return []
        if length > 1:
            dx, dy = dx / length, dy / length
        self.look = dx / min(length, 1.0), dy / min(length, 1.0)
        self.steps += 1
        return list(world.move(self.body, SPEED * dx, SPEED * dy).hits)

    def rest(self) -> None:
        """A frame passes."""
        self.unhurt, self.reload = max(self.unhurt - 1, 0), max(self.reload - 1, 0)

    def hurt(self, damage: int) -> bool:
        """Lose health, never more than there is; whether it hurt."""
        if self.unhurt or damage <= 0:
            return False
        self.health, self.unhurt = max(self.health - damage, 0), UNHURT
        return True

    def eat(self, amount: int) -> None:
        """Gain health, never more than there can be."""
        self.health = min(self.health + amount, HEALTH)
