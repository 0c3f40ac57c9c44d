"""The site's button "Run" in Chromium: a page with its script, a wheel, and Pyodide beside it."""

import shutil
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

from . import parts

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Run</title>
<link rel="stylesheet" href="run.css"><script src="site.js"></script>
<script type="module" src="run.js" data-pyodide="{pyodide}" data-wheel="{wheel}" data-weight="9 MB"></script>
<div class="bd-article"><div class="runnable highlight-python"><pre>{first}</pre></div>
<div class="runnable continued highlight-python"><pre>{second}</pre></div></div></html>"""
_FIRST = """import numpy as np
import broadphase as bp
corner = np.random.default_rng(7).random((2_000, 2))
boxes = np.hstack([corner, corner + 0.02])
len(bp.pairs(boxes))"""
_SECOND = "index = bp.make_index()\nindex.insert_many(boxes[:9]).tolist()\n1 / 0"
_SECONDS = 120


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
        pass


def _pairs() -> int:
    """How many pairs the first block finds, by comparing all."""
    low = np.random.default_rng(7).random((2_000, 2))
    near = (low[:, None] <= low + 0.02).all(axis=2)
    return int(np.triu(near & near.T, 1).sum())


def check(wheel: Path, pyodide: Path, place: Path) -> str:
    """Click as a reader would; what came of it, or ``AssertionError``.  ``pyodide`` is of `parts.pyodide`."""
    chromium = parts.program("chromium", "chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise parts.UnavailableError("playwright is not installed") from None
    shutil.copytree(pyodide / "package", place / "pyodide")
    for path in pyodide.glob("*.whl"):
        shutil.copy(path, place / "pyodide")
    for name in ("run.js", "run-worker.js", "answered.js", "run.py", "run.css", "site.js"):
        shutil.copy(parts.CHECKOUT / "docs/_static" / name, place)
    shutil.copy(wheel, place)
    pages = {"index": "pyodide/", "offline": "http://127.0.0.1:9/"}
    for name, address in pages.items():
        html = _PAGE.format(pyodide=address, wheel=wheel.name, first=_FIRST, second=_SECOND)
        (place / f"{name}.html").write_text(html, "utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(place)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}"
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page()
            page.set_default_timeout(1000 * _SECONDS)
            asked: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            page.goto(f"{home}/index.html")
            buttons = page.get_by_role("button", name="Run", exact=True)
            assert buttons.count() == 2
            assert not any("pyodide" in address or address.endswith(".whl") for address in asked)
            begun = time.monotonic()
            buttons.first.click()
            page.get_by_text("Ran in this page").wait_for()
            took = time.monotonic() - begun
            assert page.locator(".run-output").inner_text().strip() == str(_pairs())
            assert page.locator("canvas").count() == 1
            buttons.last.click()
            page.get_by_text("ZeroDivisionError").wait_for()
            shown = page.locator(".run-output").last.inner_text()
            assert "[0, 1, 2, 3, 4, 5, 6, 7, 8]" in shown, shown
            assert "line 3" in shown, shown
            page.locator("pre").nth(0).fill("print('edited')")
            buttons.first.click()
            page.get_by_text("edited", exact=True).last.wait_for()
            page.goto(f"{home}/offline.html")
            page.get_by_role("button", name="Run", exact=True).first.click()
            page.get_by_text("could not be loaded from 127.0.0.1:9").wait_for()
            version = browser.version
            browser.close()
    finally:
        server.shutdown()
    return (
        f"blocks, an error, edited code, no network; Chromium {version}, {took:.0f} s until the first result"
    )
