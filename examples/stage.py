"""What all examples share: a window, a loop, text, and how to run without a display.

``--frames N`` plays N frames unattended as fast as possible and prints the time of each part;
``--script N`` also prints the report of the game; ``--screenshot FILE`` writes the last frame and ``--film
FILE`` a GIF or WebP of all of them.  In the window V starts a GIF, and V again, or ten seconds, ends it.
Without a display set ``SDL_VIDEODRIVER=dummy``.
"""

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import pygame

FRAME = 1 / 60
WARM_UP = 30
"""Frames before those that are timed: the first import modules and allocate memory."""

BACKGROUND = (24, 26, 32)
TEXT = (230, 230, 230)
BLUE = (86, 156, 214)
ORANGE = (230, 126, 50)
GREEN = (90, 180, 110)
GREY = (95, 98, 108)
LIGHT = (150, 152, 160)

KEYS = "P pause    V record a GIF    R restart    ESC quit"
"""The keys of every example."""


class Timer:
    """Times of the parts of a frame."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.frames = 0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Add the time spent inside to ``name``."""
        begin = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - begin

    def milliseconds(self, name: str) -> float:
        """The time of a part per frame."""
        return 1e3 * self.seconds[name] / max(self.frames, 1)

    def table(self) -> str:
        """All parts, one line each."""
        rows = [f"{name:<18}{self.milliseconds(name):8.3f} ms" for name in self.seconds]
        total = 1e3 * sum(self.seconds.values()) / max(self.frames, 1)
        return "\n".join([*rows, f"{'a frame':<18}{total:8.3f} ms, {1e3 / max(total, 1e-9):.0f} a second"])


class Film:
    """Every third frame at half size, which makes a film of 20 frames a second."""

    longest = 200
    """Frames: ten seconds."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.seen = 0
        self.frames: list[Any] = []

    def add(self, surface: pygame.Surface) -> bool:
        """One more frame of the game; return whether the film is full."""
        from PIL import Image  # only those who record need it

        if self.seen % 3 == 0:
            half = pygame.transform.smoothscale_by(surface, 0.5)
            self.frames.append(Image.frombytes("RGB", half.get_size(), pygame.image.tobytes(half, "RGB")))
        self.seen += 1
        return len(self.frames) >= self.longest

    def save(self) -> None:
        """Write it; the ending of the name chooses the format."""
        self.frames[0].save(
            self.file, save_all=True, append_images=self.frames[1:], duration=50, loop=0, quality=60
        )


class Game:
    """An example: subclasses fill in what they need."""

    title = "broadphase"
    keys = ""
    """What the keys do, shown in one line at the bottom."""
    size = (960, 640)
    engine = ""
    """What `draw_engine` shows, in one line; if empty, TAB is an ordinary key."""

    def __init__(self) -> None:
        self.timer = Timer()
        self.by_itself = False
        """Whether the game runs unattended and plays itself."""
        self.paused = False
        self.engine_shown = False

    def restart(self) -> None:
        """Start again."""
        shown = self.engine_shown
        self.__init__()  # type: ignore[misc]
        self.engine_shown = shown

    def handle(self, event: Any) -> None:
        """A key or the mouse."""

    def update(self) -> None:
        """Advance by one sixtieth of a second."""

    def draw(self, surface: pygame.Surface) -> None:
        """Show it."""

    def draw_engine(self, surface: pygame.Surface) -> None:
        """Draw what the engine does over the game."""

    def lines(self) -> list[str]:
        """The lines in the corner."""
        return []

    def write(self, surface: pygame.Surface) -> None:
        """Write the lines in the corner, and what the keys do."""
        write(surface, [self.title, *self.lines()])
        if self.keys:
            lines = [self.engine] if self.engine_shown else []
            lines.append("    ".join([self.keys, "TAB engine", KEYS] if self.engine else [self.keys, KEYS]))
            height = font().get_linesize() * len(lines) + 12
            write(surface, lines, (0, self.size[1] - height))
        if self.paused:
            write(surface, ["paused: P goes on"], (self.size[0] // 2 - 70, self.size[1] // 2))

    def begin_script(self) -> None:
        """Called before a run that ends with `report`."""

    def report(self) -> list[str]:
        """The report after an unattended run."""
        return self.lines()


def step(game: Game, surface: pygame.Surface) -> None:
    """One frame."""
    if not game.paused:
        game.update()
    with game.timer.part("drawing"):
        surface.fill(BACKGROUND)
        game.draw(surface)
        if game.engine_shown:
            game.draw_engine(surface)
        game.write(surface)
    game.timer.frames += 1


def write(surface: pygame.Surface, lines: list[str], corner: tuple[int, int] = (0, 0)) -> None:
    """Write text on a dark background."""
    pictures = [font().render(line, True, TEXT) for line in lines]
    if pictures:
        height = font().get_linesize()
        ground = pygame.Surface((max(one.get_width() for one in pictures) + 16, height * len(lines) + 12))
        ground.set_alpha(190)
        x, y = corner
        surface.blit(ground, corner)
        surface.blits([(one, (x + 8, y + 6 + height * k)) for k, one in enumerate(pictures)])


@cache
def font(size: int = 20) -> pygame.font.Font:
    """Pygame's default font; cached until `pygame.quit`, which makes all fonts invalid."""
    if not pygame.font.get_init():
        pygame.font.init()
    pygame.register_quit(font.cache_clear)
    return pygame.font.Font(None, size)


def main(make: Callable[[], Game], arguments: list[str] | None = None) -> Game:
    """Play a game from the command line."""
    parser = argparse.ArgumentParser(description=make.__doc__)
    parser.add_argument("--frames", type=int, help="play so many frames by itself, then stop")
    parser.add_argument("--script", type=int, metavar="FRAMES", help="the same, and say what was seen")
    parser.add_argument("--screenshot", metavar="FILE", help="write the last frame to this file")
    parser.add_argument("--film", metavar="FILE", help="write all frames to this .gif or .webp file")
    given = parser.parse_args(arguments)
    frames = given.script if given.frames is None else given.frames
    pygame.display.init()
    surface = pygame.display.set_mode(Game.size)
    game = make()
    game.by_itself = frames is not None
    pygame.display.set_caption(game.title)
    if frames is None:
        _play(game, surface)
    else:
        for _ in range(WARM_UP):
            step(game, surface)
        game.timer = Timer()
        if given.script is not None:
            game.begin_script()
        film = Film(given.film) if given.film else None
        begin = time.process_time()
        for _ in range(frames):
            pygame.event.pump()
            step(game, surface)
            if film is not None:
                film.add(surface)
            pygame.display.flip()
        busy = 1e3 * (time.process_time() - begin) / max(frames, 1)
        print(f"{game.title}\n{game.timer.table()}")
        # The time of a frame on a machine that runs nothing else.
        print(f"{'processor time':<18}{busy:8.3f} ms, {1e3 / max(busy, 1e-9):.0f} a second")
        if given.script is not None:
            print("\n".join(game.report()))
        if film is not None:
            film.save()
    if given.screenshot:
        pygame.image.save(surface, given.screenshot)
    pygame.display.quit()
    return game


def _play(game: Game, surface: pygame.Surface) -> None:
    clock = pygame.time.Clock()
    film = None
    while True:
        ends = False
        for event in pygame.event.get():
            key = event.key if event.type == pygame.KEYDOWN else None
            if event.type == pygame.QUIT or key == pygame.K_ESCAPE:
                return
            if key == pygame.K_v and find_spec("PIL") is None:
                pygame.display.set_caption("a GIF needs Pillow: python -m pip install pillow")
            elif key == pygame.K_v:
                ends = film is not None
                film = film or Film(f"{type(game).__name__.lower()}.gif")
            handle(game, event)
        step(game, surface)
        if film is not None:
            if film.add(surface) or ends:
                film.save()
                pygame.display.set_caption(f"{game.title}: written to {Path(film.file).resolve()}")
                film = None
            else:
                write(surface, ["recording: V ends it"], (surface.get_width() // 2 - 70, 0))
        pygame.display.flip()
        clock.tick(round(1 / FRAME))


def handle(game: Game, event: pygame.event.Event) -> None:
    """P, R and TAB do the same in every example; other keys go to the game."""
    if event.type == pygame.KEYDOWN and event.key == pygame.K_p:
        game.paused = not game.paused
    elif event.type == pygame.KEYDOWN and event.key == pygame.K_r:
        game.restart()
        game.paused = False
    elif event.type == pygame.KEYDOWN and event.key == pygame.K_TAB and game.engine:
        game.engine_shown = not game.engine_shown
    else:
        game.handle(event)
