"""Opens the built site in Chromium and looks for what a reader would stumble over: ``python docs/look.py``.

Every page that is named here, narrow, middling and wide, light and dark: no error on the console,
no sideways scrolling, no code of a method that is cut off, nothing that axe finds wrong (contrast, names
for screen readers).  And what a reader searches for is among the first three pages found.  ``--shots
FOLDER`` keeps pictures.
"""

import argparse
import functools
import shutil
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

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
    "explanation/index",
    "explanation/methods",
    "how-it-is-fast",
    "choosing",
    "methods/strips",
    "methods/box_tree",
    "words",
    "results",
    "reference/arrays",
    "reference/made/broadphase.pairs",
    "reference/command",
    "gallery_built/index",
    "gallery_built/plot_balls",
    "gallery_built/plot_cell_sizes",
]
WIDTHS = (390, 800, 1440)
SEARCHES = {
    "3D": "words",
    "deterministic": "words",
    "licence": "words",
    "trigger": "words",
    "GPU": "words",
    "touching": "words",
    "pairs": "broadphase.pairs",
    "pygame": "slow-pygame",
    "rays": "rays",
    "sort and sweep": "sort_and_sweep",
}
"""What a reader types, and a part of the address of a page that must be among the first found."""
ALONE = {"preload": False}
"""Axe would fetch the stylesheets again, and look for what they import next to the page."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def complaints(browser: Browser, address: str, width: int, scheme: str, shots: Path | None) -> list[str]:
    """What is wrong with the pages at one width in one scheme."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    found: list[str] = []
    where = ""
    page.on("console", lambda said: found.append(f"{where}: {said.text}") if said.type == "error" else None)
    page.on("pageerror", lambda error: found.append(f"{where}: {error}"))
    for name in PAGES:
        where = f"{name} at {width}, {scheme}"
        page.goto(f"{address}/{name}.html")
        page.wait_for_load_state("networkidle")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{where}: scrolls sideways")
        if page.evaluate(
            "[...document.querySelectorAll('.idea pre')].some((pre) => pre.scrollWidth > pre.clientWidth)"
        ):
            found.append(f"{where}: code is cut off")
        if shots:
            page.screenshot(path=shots / f"{name.replace('/', '_')}-{width}-{scheme}.png")
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
            for width in WIDTHS
            for scheme in ("light", "dark")
            for line in complaints(browser, address, width, scheme, shots)
        ]
        found += not_found(browser, address)
        browser.close()
    print(
        "\n".join(found)
        or f"{len(PAGES)} pages, {len(WIDTHS)} widths, light and dark: nothing to complain about"
    )
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
