"""What all examples share: a window, a loop, text, and the way to run without a display.

``--frames N`` plays N frames as fast as they come, by itself, and prints what each part took;
``--screenshot FILE`` writes the last frame.  Without a display set ``SDL_VIDEODRIVER=dummy``.
"""

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import pygame

FRAME = 1 / 60

BACKGROUND = (24, 26, 32)
TEXT = (230, 230, 230)
BLUE = (86, 156, 214)
ORANGE = (230, 126, 50)
GREEN = (90, 180, 110)
GREY = (95, 98, 108)
LIGHT = (150, 152, 160)


class Timer:
    """How long the parts of a frame take."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.frames = 0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what happens inside to ``name``."""
        begin = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - begin

    def milliseconds(self, name: str) -> float:
        """A frame's share of a part."""
        return 1e3 * self.seconds[name] / max(self.frames, 1)

    def table(self) -> str:
        """All parts, a line each."""
        rows = [f"{name:<12}{self.milliseconds(name):8.3f} ms" for name in self.seconds]
        total = 1e3 * sum(self.seconds.values()) / max(self.frames, 1)
        return "\n".join([*rows, f"{'a frame':<12}{total:8.3f} ms, {1e3 / max(total, 1e-9):.0f} a second"])


class Game:
    """An example: subclasses fill in what they need."""

    title = "broadphase"
    size = (960, 640)

    def __init__(self) -> None:
        self.timer = Timer()
        self.by_itself = False
        """Whether nobody is at the keys, so that the game plays itself."""

    def handle(self, event: Any) -> None:
        """A key or the mouse."""

    def update(self) -> None:
        """One sixtieth of a second passes."""

    def draw(self, surface: pygame.Surface) -> None:
        """Show it."""

    def lines(self) -> list[str]:
        """What is written in the corner."""
        return []


def step(game: Game, surface: pygame.Surface) -> None:
    """One frame."""
    game.update()
    with game.timer.part("drawing"):
        surface.fill(BACKGROUND)
        game.draw(surface)
        write(surface, [game.title, *game.lines()])
    game.timer.frames += 1


def write(surface: pygame.Surface, lines: list[str]) -> None:
    """Text in the corner, on a ground that keeps it legible."""
    pictures = [_font().render(line, True, TEXT) for line in lines]
    if pictures:
        height = _font().get_linesize()
        ground = pygame.Surface((max(one.get_width() for one in pictures) + 16, height * len(lines) + 12))
        ground.set_alpha(190)
        surface.blit(ground, (0, 0))
        surface.blits([(one, (8, 6 + height * k)) for k, one in enumerate(pictures)])


@cache
def _font() -> pygame.font.Font:
    if not pygame.font.get_init():
        pygame.font.init()
    return pygame.font.Font(None, 20)


def main(make: Callable[[], Game], arguments: list[str] | None = None) -> Game:
    """Play a game from the command line."""
    parser = argparse.ArgumentParser(description=make.__doc__)
    parser.add_argument("--frames", type=int, help="play so many frames by itself, then stop")
    parser.add_argument("--screenshot", help="write the last frame to this file")
    given = parser.parse_args(arguments)
    pygame.display.init()
    game = make()
    game.by_itself = given.frames is not None
    surface = pygame.display.set_mode(game.size)
    pygame.display.set_caption(game.title)
    if given.frames is None:
        _play(game, surface)
    else:
        for _ in range(30):  # the first frames import and make what all others use
            step(game, surface)
        game.timer = Timer()
        for _ in range(given.frames):
            pygame.event.pump()
            step(game, surface)
            pygame.display.flip()
        print(f"{game.title}\n{game.timer.table()}")
    if given.screenshot:
        pygame.image.save(surface, given.screenshot)
    pygame.display.quit()
    return game


def _play(game: Game, surface: pygame.Surface) -> None:
    clock = pygame.time.Clock()
    while True:
        for event in pygame.event.get():
            if event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and event.key == pygame.K_ESCAPE):
                return
            game.handle(event)
        step(game, surface)
        pygame.display.flip()
        clock.tick(round(1 / FRAME))
