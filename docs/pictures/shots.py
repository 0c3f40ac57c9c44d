"""Pictures of running programs: the lab's page in Chromium, the dungeon and the shooter without a window."""

import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image, ImageSequence
from playwright.sync_api import Page, sync_playwright

import broadphase

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCENE = "sandbox?scene=balls&n=240&methods=spatial_hash,strips"
OVERLAPS = 15
"""So many pairs of boxes are to be seen in the picture of the sandbox."""
FRAMES = 405
FILMED = 120  # frames of the film of an example, which has every third
FLOW_FRAMES, FLOW_SEED, FLOW_SCALE, FLOW_QUALITY = 250, 3, 0.4, 25
FLOW_FAR = 300.0
"""In pixels: over this distance from the hero the colour of the steps fades."""
FLOW_COLORS = (78, 104, 158), (255, 206, 92), (30, 32, 42), (72, 80, 112)
"""Steps far from the hero, steps near it, floor, walls."""
SHOOTER_WALKS = ((0, 1, 21), (1, 0, 94), (1, 1, 12), (1, 0, 10))
"""Where the player of the tutorial walks, and for how many frames."""


def lab() -> None:
    """The sandbox of `broadphase lab`: two methods on the same balls."""
    for page in _pages(760, SCENE, "lab"):
        page.wait_for_timeout(3000)
        _stop_where_much_touches(page)
        _save(page.screenshot(), f"lab-{_scheme(page)}")


def replay() -> None:
    """A recording in the sandbox: 900 of 1,500 bodies are in one place for some frames, and found there."""
    rng = np.random.default_rng(1)
    places, steps = rng.random((1_500, 2)) * 1_992, rng.normal(0, 2, (1_500, 2))
    world = broadphase.World()
    world.add_many(np.hstack((places, places + 8)), tag="mob")
    world.on("mob", "mob")
    with TemporaryDirectory() as folder:
        with broadphase.Recorder(world, f"{folder}/game.bprec"):
            for frame in range(2_000):
                steps[(places + steps < 0) | (places + steps > 1_992)] *= -1
                places = places + steps
                crowd = rng.random((900, 2)) * 15 + (1_400, 600)
                is_piled = 810 <= frame <= 818
                world.positions = np.vstack((crowd, places[900:])) if is_piled else places
                world.update()
        where = "sandbox?scene=replay&methods=strips&play=0"
        for page in _pages(1_000, where, "replay", f"{folder}/game.bprec"):
            page.get_by_role("button", name="810").click()
            page.get_by_text("900 of 1,500 bodies").wait_for()
            page.wait_for_timeout(500)
            box = page.locator("#replay").bounding_box()
            assert box is not None
            clip = {"x": box["x"] - 12, "y": box["y"] - 8, "width": box["width"] + 24, "height": 740}
            _save(page.screenshot(clip=clip), f"replay-{_scheme(page)}")  # type: ignore[arg-type]


def _pages(height: int, address: str, *command: str) -> Iterator[Page]:
    """A page of the lab in light, then in dark."""
    running = [sys.executable, "-m", "broadphase", *command, "--no-browser", "--port", "0"]
    chromium = next(filter(None, map(shutil.which, BROWSERS)))
    with (
        subprocess.Popen(running, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server,
        sync_playwright() as playwright,
    ):
        try:
            assert server.stdout is not None
            said = next(line for line in server.stdout if "http://" in line)
            found = re.search(r"http://[\d.:]+", said)
            assert found is not None, said
            browser = playwright.chromium.launch(
                executable_path=chromium,
                args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
            )
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport={"width": 1280, "height": height}, color_scheme=scheme)
                page.goto(f"{found[0]}/{address}")
                page.wait_for_selector(".lane canvas")
                yield page
                page.close()
            browser.close()
        finally:
            server.terminate()


def _scheme(page: Page) -> str:
    return str(page.evaluate("document.documentElement.dataset.theme"))


def _stop_where_much_touches(page: Page) -> None:
    """Numbers are written less often than pictures are drawn: only at rest both are of one frame."""
    while True:
        page.locator("#play").click()
        page.wait_for_timeout(500)
        if int(page.locator("[data-number=overlaps]").first.inner_text()) >= OVERLAPS:
            return
        page.locator("#play").click()
        page.wait_for_timeout(100)


def _save(png: bytes, name: str) -> None:
    """With all its colours: what touches is a few pixels, which a palette leaves out."""
    Image.open(BytesIO(png)).convert("RGB").save(HERE / f"{name}.webp", lossless=True, method=6)


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
