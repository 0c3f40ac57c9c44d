"""Opens the built site in Chromium and looks for what a reader would stumble over: ``python docs/look.py``.

Every page that is named here, every method and every step of the tour, at four sizes, light and dark: no
error on the console, no sideways scrolling, no code of a method that is cut off, nothing over something
else, nothing that moves while it loads, and, at the widest and the narrowest, nothing that axe finds wrong
(contrast, names for screen readers).  What a reader searches for is among the first three pages found (of a
whole build: Sphinx forgets the index of words in the pages that it does not write again).  In
WebKit, where there is one, a ball is dragged 300 times.  ``--shots FOLDER`` keeps pictures.
"""

import argparse
import functools
import shutil
import sys
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import webkit
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright

SITE = Path(__file__).parent / "_build" / "html"
PAGES = [
    "index",
    "tutorials/index",
    "tutorials/first",
    "tutorials/shooter",
    "how-to/slow-pygame",
    "how-to/slow-arcade",
    "how-to/install",
    "dungeon",
    "how-to/browser",
    "explanation/index",
    "explanation/methods",
    "how-it-is-fast",
    "choosing",
    *(f"methods/{page.stem}" for page in sorted((Path(__file__).parent / "methods").glob("*.md"))),
    "words",
    "results",
    "reference/arrays",
    "reference/made/broadphase.pairs",
    "reference/command",
    "gallery_built/index",
    "gallery_built/plot_balls",
    "gallery_built/plot_cell_sizes",
]
STEPS = (
    "all",
    "sorted",
    "kept",
    "cells",
    "twice",
    "slots",
    "tree",
    "strips",
    "lists",
    "together",
    "moving",
    "yours",
)
SIZES = ((390, 844), (820, 1180), (1024, 768), (1440, 900))
OVERLAPS = (Path(__file__).parent / "overlaps.js").read_text("utf-8").partition("\n")[2]
MOST_SHIFT = 0.1
SHIFT = """
() => new Promise((done) => {
    let moved = 0;
    const add = (list) => { for (const { value } of list.getEntries()) moved += value; };
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => done(moved), 200);
})
"""
SEARCHES = {
    "3D": "words",
    "deterministic": "words",
    "licence": "words",
    "trigger": "words",
    "GPU": "gpu",
    "touching": "words",
    "pairs": "broadphase.pairs",
    "pygame": "slow-pygame",
    "rays": "rays",
    "sort and sweep": "sort_and_sweep",
    **dict.fromkeys(["toroidal", "serialize", "quadtree", "avoid each other", "line of sight"], "words"),
    "pathfinding": "how-to/tiles",
    "performance": "from-how-many",
    "cell size": "uniform_grid",
    "one-way platforms": "platformers",
    **dict.fromkeys(["camera", "culling", "viewport"], "culling"),
    **dict.fromkeys(["mouse", "picking", "mouse picking"], "picking"),
    "bullets enemies": "words",
    "tour": "tour",
    **dict.fromkeys(["tower", "turret", "towers and turrets"], "recipes/towers"),
    **dict.fromkeys(["nearest", "nearest enemy"], "nearest"),
    **dict.fromkeys(["closest", "in range"], "words"),
    "field of view": "field-of-view",
    "who stands on this tile": "tiles-taken",
    "polygons": "how-to/polygons",
    "3-D boxes": "three-dimensions",
    "from how many": "from-how-many",
    "threads": "how-to/threads",
    **dict.fromkeys(["raycast", "cast a ray"], "how-to/rays"),
    **dict.fromkeys(["kd-tree", "pygame group collide", "numpy pairs"], "words"),
    "save game": "how-to/save",
    "save and load": "how-to/save",
}
"""What a reader types, and a part of the address of a page that must be among the first found."""
ALONE = {"preload": False}
"""Axe would fetch the stylesheets again, and look for what they import next to the page."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def complaints(
    browser: Browser, address: str, size: tuple[int, int], scheme: str, shots: Path | None
) -> list[str]:
    """What is wrong with the pages at one size in one scheme."""
    width, height = size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    found: list[str] = []
    where = ""
    page.on("console", lambda said: found.append(f"{where}: {said.text}") if said.type == "error" else None)
    page.on("pageerror", lambda error: found.append(f"{where}: {error}"))
    for name in [*PAGES, *(f"tour/index#{step}" for step in STEPS)]:
        where = f"{name} at {width}, {scheme}"
        page.goto("about:blank")  # else a step is opened within the page of the last one
        page.goto(f"{address}/{name.replace('#', '.html#') if '#' in name else f'{name}.html'}")
        page.wait_for_load_state("networkidle")
        if (moved := page.evaluate(SHIFT)) >= MOST_SHIFT:
            found.append(f"{where}: things move while it loads, by {moved:.2f}")
        found += [f"{where}: over each other: {pair}" for pair in page.evaluate(OVERLAPS)]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{where}: scrolls sideways")
        if page.evaluate(
            "[...document.querySelectorAll('.idea pre')].some((pre) => pre.scrollWidth > pre.clientWidth)"
        ):
            found.append(f"{where}: code is cut off")
        if shots:
            page.screenshot(path=shots / f"{name.replace('/', '_').replace('#', '_')}-{width}-{scheme}.png")
        if size not in (SIZES[0], SIZES[-1]):
            continue
        for violation in Axe().run(page, options=ALONE).response["violations"]:
            nodes = [node["html"][:90] for node in violation["nodes"]]
            found.append(f"{where}: {violation['help']} ({len(nodes)}), {nodes[0]}")
    page.close()
    return found


def not_found(browser: Browser, address: str) -> list[str]:
    """What the search does not find among the first three."""
    page = browser.new_page()
    found = []
    for words, wanted in SEARCHES.items():
        page.goto(f"{address}/search.html?q={words}")
        page.wait_for_selector("#search-results ul.search li a")
        page.wait_for_load_state("networkidle")
        links = page.eval_on_selector_all(
            "#search-results ul.search li > a", "all => all.map(({ href }) => href)"
        )
        if not any(wanted in link for link in links[:3]):
            found.append(f"the search for {words!r} finds {links[:3]}")
    page.close()
    return found


def stuck_in_webkit(address: str) -> list[str]:
    """What does not follow the mouse in WebKit, which allows a hundred addresses in ten seconds."""
    found = []
    with webkit.opened() as browser:
        for step in ("cells", "together"):
            browser.open("about:blank")
            browser.open(f"{address}/tour/index.html?slider=1#{step}")
            time.sleep(1)
            browser.run("addEventListener('error', ({ message }) => { globalThis.wrong = message; });")
            x, y, scale = browser.run(
                "const { x, y, width } = document.querySelector('.room').getBoundingClientRect();"
                "const { handle, window: [left, top, wide] } = tour.picture;"
                "const scale = width / wide;"
                "return [x + (handle.x - left) * scale, y + (handle.y - top) * scale, scale];"
            )
            before = browser.run("return [tour.picture.handle.x, tour.picture.handle.y, tour.drawn];")
            way = [(round(x - 90 * scale * k / 300), round(y + 20 * scale * (k % 2))) for k in range(1, 301)]
            start = time.perf_counter()
            browser.drag((round(x), round(y)), way)
            seconds = time.perf_counter() - start
            time.sleep(1)
            after = browser.run("return [tour.picture.handle.x, tour.picture.handle.y, tour.drawn];")
            rate = (after[2] - before[2]) / seconds
            print(f"WebKit, {step}: 300 moves in {seconds:.1f} s, {rate:.0f} pictures a second")
            if abs(after[0] - before[0] + 90) * scale > 2:  # pixels
                found.append(f"WebKit, {step}: the ball went from {before[:2]} to {after[:2]}")
            if wrong := browser.run("return globalThis.wrong ?? '';"):
                found.append(f"WebKit, {step}: {wrong}")
    return found


def main() -> None:
    """Look, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shots", type=Path)
    shots = parser.parse_args().shots
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    chromium = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        address = f"http://127.0.0.1:{server.server_port}"
        found = [
            line
            for size in SIZES
            for scheme in ("light", "dark")
            for line in complaints(browser, address, size, scheme, shots)
        ]
        found += not_found(browser, address)
        browser.close()
    if webkit.is_there():
        found += stuck_in_webkit(address)
    print(
        "\n".join(found)
        or f"{len(PAGES)} pages, {len(STEPS)} steps of the tour, {len(SIZES)} sizes, light and dark: "
        "nothing to complain about"
    )
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
