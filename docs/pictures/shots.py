"""Pictures of running programs: the lab's page in Chromium, the dungeon without a window."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCENE = "sandbox?scene=balls&n=240&methods=spatial_hash,strips&play=0"
FRAMES = 700


def lab() -> None:
    """The sandbox of `broadphase lab`: two methods on the same balls."""
    command = [sys.executable, "-m", "broadphase", "lab", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        said = next(line for line in server.stdout if "http://" in line)
        found = re.search(r"http://[\d.:]+", said)
        assert found is not None, said
        try:
            _look(found[0])
        finally:
            server.terminate()


def _look(address: str) -> None:
    chromium = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1280, "height": 760}, color_scheme=scheme)
            page.goto(f"{address}/{SCENE}")
            page.wait_for_selector(".lane:nth-child(2) canvas")
            page.wait_for_timeout(3000)  # the page's policy forbids the driver to look into its variables
            shot = HERE / f"lab-{scheme}.png"
            page.screenshot(path=shot)
            Image.open(shot).convert("P", palette=Image.Palette.ADAPTIVE, colors=96).save(shot, optimize=True)
            page.close()
        browser.close()


def dungeon() -> None:
    """The example, after it has played by itself for a while.  It is dark there in either scheme."""
    shot = HERE / "dungeon.png"
    play = ["-m", "examples", "dungeon", "--frames", str(FRAMES), "--screenshot", str(shot)]
    quiet = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    subprocess.run([sys.executable, *play], check=True, cwd=HERE.parents[1], env={**os.environ, **quiet})
    Image.open(shot).convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(shot, optimize=True)
