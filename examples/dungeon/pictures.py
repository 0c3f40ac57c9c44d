"""All pictures, drawn by code at four times their size and scaled down for smooth edges."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pygame

from examples.dungeon.level import TILE

SOFT = 4
FLOOR = [(106, 98, 94), (112, 104, 99), (101, 94, 91), (108, 102, 102)]
GROUT = (80, 74, 74)
TOP, TOP_EDGE = (66, 72, 98), (98, 106, 136)
BRICK, MORTAR = (112, 104, 116), (72, 66, 80)
WOOD, WOOD_DARK, IRON = (146, 98, 56), (104, 68, 40), (60, 60, 70)
SKIN, HOOD, BOOTS = (242, 204, 160), (58, 148, 104), (70, 52, 44)
INK, WHITE = (26, 24, 32), (250, 250, 245)
RED, GOLD, GEM, BONE = (214, 66, 62), (246, 198, 68), (92, 204, 240), (226, 222, 204)
RAT, IMP, OGRE = (142, 116, 104), (206, 84, 66), (112, 148, 84)

Canvas = pygame.Surface


def soft(size: int, paint: Callable[[Canvas], None]) -> Canvas:
    """A picture of the given size, painted on a canvas four times as large."""
    canvas = pygame.Surface((size * SOFT, size * SOFT), pygame.SRCALPHA)
    paint(canvas)
    small = pygame.transform.smoothscale(canvas, (size, size))
    return small.convert_alpha() if pygame.display.get_surface() else small


def disc(canvas: Canvas, color: tuple[int, int, int], x: float, y: float, r: float) -> None:
    """A circle, in shares of the canvas."""
    n = canvas.get_width()
    pygame.draw.circle(canvas, color, (x * n, y * n), r * n)


def oval(canvas: Canvas, color: tuple[int, ...], x: float, y: float, w: float, h: float) -> None:
    """An ellipse around a middle, in shares of the canvas."""
    n = canvas.get_width()
    pygame.draw.ellipse(canvas, color, ((x - w / 2) * n, (y - h / 2) * n, w * n, h * n))


def shape(canvas: Canvas, color: tuple[int, int, int], *points: tuple[float, float]) -> None:
    """A polygon, in shares of the canvas."""
    n = canvas.get_width()
    pygame.draw.polygon(canvas, color, [(x * n, y * n) for x, y in points])


def shadow(canvas: Canvas, wide: float = 0.7) -> None:
    """The shadow under a figure."""
    oval(canvas, (10, 10, 16, 110), 0.5, 0.9, wide, 0.18)


def eyes(canvas: Canvas, x: float, y: float, apart: float, r: float, look: tuple[float, float]) -> None:
    """Two eyes that look in a direction."""
    for side in (-1, 1):
        disc(canvas, WHITE, x + side * apart, y, r)
        disc(canvas, INK, x + side * apart + look[0] * r * 0.5, y + look[1] * r * 0.5, r * 0.55)


# ---- figures


@cache
def hero(direction: int, stride: int) -> Canvas:
    """The hero facing one of eight directions, counted from the right, in a walking pose."""
    look = math.cos(direction * math.pi / 4), math.sin(direction * math.pi / 4)

    def paint(canvas: Canvas) -> None:
        shadow(canvas, 0.6)
        foot = (0.0, 0.05, 0.0, -0.05)[stride]
        disc(canvas, BOOTS, 0.4, 0.87 + foot, 0.08)
        disc(canvas, BOOTS, 0.6, 0.87 - foot, 0.08)
        shape(canvas, HOOD, (0.34, 0.5), (0.66, 0.5), (0.74, 0.86), (0.26, 0.86))
        shape(canvas, GOLD, (0.29, 0.7), (0.71, 0.7), (0.72, 0.75), (0.28, 0.75))
        disc(canvas, HOOD, 0.5, 0.34, 0.27)
        oval(canvas, HOOD, 0.5 - look[0] * 0.2, 0.16 - look[1] * 0.04, 0.2, 0.2)
        if look[1] > -0.9:  # from behind only the hood is visible
            oval(canvas, SKIN, 0.5 + look[0] * 0.07, 0.37 + look[1] * 0.03, 0.4, 0.36)
            eyes(canvas, 0.5 + look[0] * 0.11, 0.34, 0.09, 0.06, look)
            oval(canvas, (186, 92, 84), 0.5 + look[0] * 0.11, 0.47, 0.12, 0.05)
        bow = 0.5 + look[0] * 0.36, 0.6 + look[1] * 0.3
        n = canvas.get_width()
        corner = ((bow[0] - 0.12) * n, (bow[1] - 0.16) * n, 0.24 * n, 0.32 * n)
        turn = -direction * math.pi / 4
        pygame.draw.arc(canvas, WOOD, corner, turn - 1.5, turn + 1.5, SOFT * 2)

    return soft(34, paint)


def _rat(canvas: Canvas, stride: int, look: tuple[float, float]) -> None:
    shadow(canvas)
    n, wag = canvas.get_width(), (0.08, -0.08)[stride]
    tail = [(0.5, 0.7), (0.5 - look[0] * 0.35, 0.75), (0.5 - look[0] * 0.48, 0.6 + wag)]
    pygame.draw.lines(canvas, (214, 150, 150), False, [(x * n, y * n) for x, y in tail], SOFT)
    oval(canvas, RAT, 0.48, 0.66, 0.7, 0.46)
    for side in (-0.12, 0.12):
        disc(canvas, (200, 150, 146), 0.55 + look[0] * 0.14 + side, 0.4, 0.1)
    oval(canvas, RAT, 0.52 + look[0] * 0.22, 0.56, 0.42, 0.36)
    eyes(canvas, 0.54 + look[0] * 0.26, 0.52, 0.08, 0.055, look)
    disc(canvas, (226, 140, 146), 0.53 + look[0] * 0.42, 0.62, 0.05)


def _skeleton(canvas: Canvas, stride: int, look: tuple[float, float]) -> None:
    shadow(canvas, 0.55)
    n, step = canvas.get_width(), (0.05, -0.05)[stride]
    for side in (-1, 1):
        foot = 0.5 + side * 0.12, 0.9 + side * step
        pygame.draw.line(canvas, BONE, ((0.5 + side * 0.07) * n, 0.66 * n), (foot[0] * n, foot[1] * n), SOFT)
        hand = 0.5 + side * 0.28 + look[0] * 0.1, 0.6 - side * step
        pygame.draw.line(canvas, BONE, ((0.5 + side * 0.1) * n, 0.5 * n), (hand[0] * n, hand[1] * n), SOFT)
    for k in range(3):
        oval(canvas, BONE, 0.5, 0.5 + 0.08 * k, 0.32 - 0.05 * k, 0.05)
    oval(canvas, BONE, 0.5, 0.27, 0.46, 0.42)
    shape(canvas, BONE, (0.38, 0.4), (0.62, 0.4), (0.6, 0.5), (0.4, 0.5))
    for side in (-1, 1):
        disc(canvas, INK, 0.5 + side * 0.1 + look[0] * 0.05, 0.27, 0.075)
        disc(canvas, RED, 0.5 + side * 0.1 + look[0] * 0.08, 0.27 + look[1] * 0.03, 0.03)
    shape(
        canvas, INK, (0.5 + look[0] * 0.05, 0.34), (0.46 + look[0] * 0.05, 0.4), (0.54 + look[0] * 0.05, 0.4)
    )


def _imp(canvas: Canvas, stride: int, look: tuple[float, float]) -> None:
    shadow(canvas, 0.5)
    flap = (0.12, -0.02)[stride]
    for side in (-1, 1):
        shape(
            canvas,
            (138, 50, 58),
            (0.5 + side * 0.1, 0.5),
            (0.5 + side * 0.46, 0.36 - flap),
            (0.5 + side * 0.34, 0.62 - flap / 2),
        )
        shape(
            canvas,
            GOLD,
            (0.5 + side * 0.2, 0.22),
            (0.5 + side * 0.24, 0.02),
            (0.5 + side * 0.08, 0.14),
        )
    oval(canvas, IMP, 0.5, 0.62, 0.36, 0.4)
    disc(canvas, IMP, 0.5, 0.36, 0.24)
    eyes(canvas, 0.5 + look[0] * 0.06, 0.34, 0.1, 0.075, look)
    shape(canvas, INK, (0.38, 0.46), (0.62, 0.46), (0.5, 0.54))


def _ogre(canvas: Canvas, stride: int, look: tuple[float, float]) -> None:
    shadow(canvas, 0.8)
    step, dark = (0.04, -0.04)[stride], (84, 114, 64)
    for side in (-1, 1):
        oval(canvas, dark, 0.5 + side * 0.16, 0.88 + side * step, 0.2, 0.16)
        oval(canvas, OGRE, 0.5 + side * 0.37, 0.62 - side * step, 0.18, 0.36)
    oval(canvas, OGRE, 0.5, 0.62, 0.68, 0.54)
    shape(canvas, WOOD_DARK, (0.2, 0.7), (0.8, 0.7), (0.7, 0.88), (0.3, 0.88))
    oval(canvas, OGRE, 0.5 + look[0] * 0.04, 0.31, 0.48, 0.42)
    for side in (-1, 1):
        shape(
            canvas,
            WHITE,
            (0.5 + side * 0.08 + look[0] * 0.06, 0.44),
            (0.5 + side * 0.14 + look[0] * 0.06, 0.44),
            (0.5 + side * 0.12 + look[0] * 0.06, 0.34),
        )
    eyes(canvas, 0.5 + look[0] * 0.07, 0.26, 0.1, 0.055, look)
    shape(canvas, dark, (0.32, 0.2), (0.68, 0.2), (0.64, 0.16), (0.36, 0.16))


PAINTERS = (_rat, _skeleton, _imp, _ogre)
SHOWN = (26, 32, 32, 62)
"""In pixels: figures are slightly larger than their collision boxes."""


@cache
def monster(kind: int, stride: int, left: bool, flash: bool) -> Canvas:
    """One of the four kinds, facing left or right; white if it was just hit."""
    picture = soft(SHOWN[kind], lambda canvas: PAINTERS[kind](canvas, stride, (-1.0 if left else 1.0, 0.3)))
    if flash:
        picture = picture.copy()
        picture.fill((150, 150, 150), special_flags=pygame.BLEND_RGB_ADD)
    return picture


@cache
def arrow(direction: int) -> Canvas:
    """In one of 32 directions."""

    def paint(canvas: Canvas) -> None:
        shape(canvas, WOOD, (0.1, 0.48), (0.8, 0.48), (0.8, 0.53), (0.1, 0.53))
        shape(canvas, WHITE, (0.95, 0.505), (0.74, 0.4), (0.74, 0.6))
        shape(canvas, RED, (0.05, 0.4), (0.22, 0.48), (0.22, 0.53), (0.05, 0.6))

    canvas = pygame.Surface((96, 96), pygame.SRCALPHA)
    paint(canvas)
    return pygame.transform.smoothscale(pygame.transform.rotate(canvas, -direction * 11.25), (24, 24))


@cache
def fire(stride: int) -> Canvas:
    """A ball of it."""

    def paint(canvas: Canvas) -> None:
        disc(canvas, RED, 0.5, 0.5, 0.34 + 0.06 * stride)
        disc(canvas, GOLD, 0.5, 0.5, 0.22)
        disc(canvas, WHITE, 0.5, 0.5, 0.1)

    return soft(20, paint)


# ---- items


def _food(canvas: Canvas) -> None:
    oval(canvas, WOOD, 0.45, 0.52, 0.56, 0.5)
    oval(canvas, (188, 120, 70), 0.41, 0.46, 0.34, 0.28)
    shape(canvas, BONE, (0.66, 0.64), (0.72, 0.58), (0.9, 0.78), (0.84, 0.84))
    disc(canvas, BONE, 0.9, 0.76, 0.07)
    disc(canvas, BONE, 0.84, 0.85, 0.07)


def _key(canvas: Canvas) -> None:
    n = canvas.get_width()
    pygame.draw.circle(canvas, GOLD, (0.32 * n, 0.5 * n), 0.2 * n, SOFT * 3)
    shape(canvas, GOLD, (0.48, 0.45), (0.92, 0.45), (0.92, 0.56), (0.48, 0.56))
    shape(canvas, GOLD, (0.74, 0.56), (0.81, 0.56), (0.81, 0.72), (0.74, 0.72))
    shape(canvas, GOLD, (0.86, 0.56), (0.92, 0.56), (0.92, 0.68), (0.86, 0.68))


def _gold(canvas: Canvas) -> None:
    for x, y in ((0.36, 0.66), (0.64, 0.66), (0.5, 0.46)):
        oval(canvas, (176, 128, 36), x, y + 0.06, 0.36, 0.28)
        oval(canvas, GOLD, x, y, 0.36, 0.28)


def _gem(canvas: Canvas) -> None:
    shape(canvas, GEM, (0.3, 0.28), (0.7, 0.28), (0.88, 0.46), (0.5, 0.86), (0.12, 0.46))
    shape(canvas, (190, 238, 252), (0.3, 0.28), (0.5, 0.28), (0.42, 0.46), (0.12, 0.46))
    shape(canvas, (52, 146, 196), (0.58, 0.46), (0.88, 0.46), (0.5, 0.86))


def _stairs(canvas: Canvas) -> None:
    shape(canvas, INK, (0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    for k in range(5):
        grey, left, top = 150 - 26 * k, 0.06 + 0.06 * k, 0.06 + 0.18 * k
        step = (left, top), (0.94, top), (0.94, top + 0.13), (left, top + 0.13)
        shape(canvas, (grey, grey, grey + 14), *step)


def _amulet(canvas: Canvas) -> None:
    n = canvas.get_width()
    pygame.draw.arc(canvas, GOLD, (0.16 * n, -0.2 * n, 0.68 * n, 0.9 * n), 3.3, 6.1, SOFT * 2)
    disc(canvas, GOLD, 0.5, 0.66, 0.24)
    disc(canvas, (214, 90, 200), 0.5, 0.66, 0.15)
    disc(canvas, WHITE, 0.45, 0.6, 0.05)


THINGS = {"food": _food, "key": _key, "gold": _gold, "gem": _gem, "stairs": _stairs, "amulet": _amulet}


@cache
def item(kind: str) -> Canvas:
    """The picture of an item."""
    return soft(TILE if kind in ("stairs", "amulet") else 24, THINGS[kind])


@cache
def heart() -> Canvas:
    """For the hero's health."""

    def paint(canvas: Canvas) -> None:
        disc(canvas, RED, 0.3, 0.36, 0.22)
        disc(canvas, RED, 0.7, 0.36, 0.22)
        shape(canvas, RED, (0.1, 0.44), (0.9, 0.44), (0.5, 0.92))

    return soft(20, paint)


# ---- tiles


def floor_tile(canvas: Canvas, x: int, y: int, chance: int) -> None:
    """Four flagstones, some cracked."""
    canvas.fill(GROUT, (x, y, TILE, TILE))
    half = TILE // 2
    for k in range(4):
        at = x + (k % 2) * half, y + (k // 2) * half
        canvas.fill(FLOOR[(chance >> (2 * k)) % 4], (*at, half - 1, half - 1))
    if chance % 11 == 0:
        pygame.draw.lines(canvas, GROUT, False, [(x + 5, y + 4), (x + 11, y + 10), (x + 9, y + 17)])


def wall_tile(canvas: Canvas, x: int, y: int, open_below: bool, sides: np.ndarray) -> None:
    """A wall from above, with bricks on its visible face.  ``sides``: open above, left, right."""
    canvas.fill(TOP, (x, y, TILE, TILE))
    if open_below:
        face = TILE // 2 + 2
        canvas.fill(MORTAR, (x, y + TILE - face, TILE, face))
        for line in range(3):
            for k in range(-1, 3):
                left = max(x + k * 14 + (line % 2) * 7, x)
                right = min(x + k * 14 + (line % 2) * 7 + 12, x + TILE)
                if right > left:
                    canvas.fill(BRICK, (left, y + TILE - face + 1 + line * 6, right - left, 5))
        canvas.fill(TOP_EDGE, (x, y + TILE - face - 2, TILE, 2))
    above, left, right = sides
    if above:
        canvas.fill(TOP_EDGE, (x, y, TILE, 2))
    if left:
        canvas.fill(TOP_EDGE, (x, y, 2, TILE))
    if right:
        canvas.fill(TOP_EDGE, (x + TILE - 2, y, 2, TILE))


def door_tile(canvas: Canvas, x: int, y: int) -> None:
    """Planks and a lock."""
    canvas.fill(WOOD_DARK, (x, y, TILE, TILE))
    for k in range(4):
        canvas.fill(WOOD, (x + 1 + 8 * k, y + 1, 6, TILE - 2))
    canvas.fill(IRON, (x, y + 6, TILE, 4))
    canvas.fill(IRON, (x, y + 22, TILE, 4))
    pygame.draw.circle(canvas, GOLD, (x + TILE // 2, y + 16), 4)
    pygame.draw.circle(canvas, INK, (x + TILE // 2, y + 16), 2)
