"""Pictures of programs: the page of a recording in Chromium, the dungeon and the shooter without a window."""

import math
import os
import re
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image, ImageSequence
from playwright.sync_api import sync_playwright

import broadphase
from broadphase.cli import run

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FRAMES = 405
FILMED = 120  # frames of the film of an example, which has every third
FLOW_FRAMES, FLOW_SEED, FLOW_SCALE, FLOW_QUALITY = 250, 3, 0.4, 25
FLOW_FAR = 300.0
"""In pixels: over this distance from the hero the colour of the steps fades."""
FLOW_COLORS = (78, 104, 158), (255, 206, 92), (30, 32, 42), (72, 80, 112)
"""Steps far from the hero, steps near it, floor, walls."""
SHOOTER_WALKS = ((0, 1, 21), (1, 0, 94), (1, 1, 12), (1, 0, 10))
"""Where the player of the tutorial walks, and for how many frames."""


def _save(png: bytes, name: str) -> None:
    """With all its colours: what touches is a few pixels, which a palette leaves out."""
    Image.open(BytesIO(png)).convert("RGB").save(HERE / f"{name}.webp", lossless=True, method=6)


def replay() -> None:
    """The page of a recording: 900 of 1,500 bodies are in one place for some frames, and found there."""
    rng = np.random.default_rng(1)
    places, steps = rng.random((1_500, 2)) * 1_992, rng.normal(0, 2, (1_500, 2))
    world = broadphase.World()
    world.add_many(np.hstack((places, places + 8)), tag="mob")
    world.on("mob", "mob")
    chromium = next(filter(None, map(shutil.which, BROWSERS)))
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        with broadphase.Recorder(world, f"{folder}/game.bprec"):
            for frame in range(2_000):
                steps[(places + steps < 0) | (places + steps > 1_992)] *= -1
                places = places + steps
                crowd = rng.random((900, 2)) * 15 + (1_400, 600)
                is_piled = 810 <= frame <= 818
                world.positions = np.vstack((crowd, places[900:])) if is_piled else places
                world.update()
        page_path = Path(folder, "game.html")
        assert run(["replay", f"{folder}/game.bprec", "--html", str(page_path)]) == 0
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
            page.goto(page_path.as_uri())
            page.get_by_role("button", name="810").click()
            page.get_by_text("900 of 1,500 bodies").last.wait_for()
            page.wait_for_timeout(500)
            _save(page.screenshot(), f"replay-{scheme}")
        browser.close()


def dungeon() -> None:
    """The example, after it has played by itself for a while, and a film of that: always in the dark."""
    quiet = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    with TemporaryDirectory() as folder:
        shot, film = Path(folder, "dungeon.png"), Path(folder, "dungeon.webp")
        play = [
            "-m",
            "examples",
            "dungeon",
            "--frames",
            str(FRAMES),
            "--screenshot",
            str(shot),
            "--film",
            str(film),
        ]
        subprocess.run([sys.executable, *play], check=True, cwd=HERE.parents[1], env={**os.environ, **quiet})
        _save(shot.read_bytes(), "dungeon")
        frames = [frame.convert("RGB") for frame in ImageSequence.Iterator(Image.open(film))][:FILMED:2]
    frames[0].save(
        HERE / "dungeon-film.webp", save_all=True, append_images=frames[1:], duration=100, quality=20, loop=0
    )


def flow() -> None:
    """A film of the dungeon from above: each tile has the step to the hero, and 400 monsters follow them."""
    os.environ.update(SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy")
    sys.path.insert(0, str(HERE.parents[1]))
    import pygame

    from examples.dungeon import Dungeon
    from examples.dungeon.level import TILE

    pygame.display.init()
    pygame.display.set_mode(Dungeon.size)
    game = Dungeon(monsters=400, rooms=(4, 3), seed=FLOW_SEED)
    game.by_itself = True
    while game.level.doors:
        game.level.open(next(iter(game.level.doors)))
    ground = pygame.Surface(game.view.ground.get_size())
    ground.fill(FLOW_COLORS[2])
    for row, column in zip(*game.level.tiles.solid.nonzero(), strict=True):
        ground.fill(FLOW_COLORS[3], (column * TILE, row * TILE, TILE, TILE))
    game.view.size = ground.get_size()  # the whole level
    frames = []
    for frame in range(FLOW_FRAMES):
        game.hero.health = 100
        game.update()
        if frame % 5 == 0:
            game.view.frame = frame
            surface = ground.copy()
            field = game.level.tiles.flow_field(game.hero_tile)
            for row, column in zip(*field.directions.any(axis=2).nonzero(), strict=True):
                x, y = (column + 0.5) * TILE, (row + 0.5) * TILE
                dx, dy = 13 * field.directions[row, column]
                near = math.exp(-field.distances[row, column] / FLOW_FAR)
                far, close = np.array(FLOW_COLORS[:2])
                color = (far + near * (close - far)).round()
                pygame.draw.line(surface, color, (x, y), (x + dx, y + dy), 3)
                pygame.draw.circle(surface, color, (x, y), 4)
            surface.fblits(game.view.figures(game) + game.view.missiles(game))
            small = pygame.transform.smoothscale_by(surface, FLOW_SCALE)
            frames.append(Image.frombytes("RGB", small.get_size(), pygame.image.tobytes(small, "RGB")))
    pygame.display.quit()
    frames[0].save(
        HERE / "flow.webp",
        save_all=True,
        append_images=frames[1:],
        duration=70,
        loop=0,
        quality=FLOW_QUALITY,
        method=6,
    )


def shooter() -> None:
    """The game of the tutorial after some seconds of play: the player walks and shoots at monsters."""
    page = (HERE.parent / "tutorials" / "shooter.md").read_text("utf-8")
    game: dict[str, Any] = {}
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL)[:-1]:  # the last is the loop
        exec(block, game)
    game["player"] = player = game["start"]()
    world, number = game["world"], 0
    for x, y, frames in SHOOTER_WALKS:
        for _ in range(frames):
            number += 1
            seen = [one for one in world.bodies("monster") if world.line_of_sight(one, player)]
            if seen and number % 9 == 0:
                game["fire"](max(seen, key=lambda one: math.dist(one.center, player.center)).center)
            game["frame"](x, y)
    png = BytesIO()
    game["draw"](game["screen"])
    game["pygame"].image.save(game["screen"], png, "shooter.png")
    _save(png.getvalue(), "shooter")
