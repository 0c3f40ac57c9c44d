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
from PIL import Image
from playwright.sync_api import Page, sync_playwright

import broadphase

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCENE = "sandbox?scene=balls&n=240&methods=spatial_hash,strips"
OVERLAPS = 15
"""So many pairs of boxes are to be seen in the picture of the sandbox."""
FRAMES = 620
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
    """The example, after it has played by itself for a while.  It is dark there in either scheme."""
    quiet = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    with TemporaryDirectory() as folder:
        shot = Path(folder, "dungeon.png")
        play = ["-m", "examples", "dungeon", "--frames", str(FRAMES), "--screenshot", str(shot)]
        subprocess.run([sys.executable, *play], check=True, cwd=HERE.parents[1], env={**os.environ, **quiet})
        _save(shot.read_bytes(), "dungeon")


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
