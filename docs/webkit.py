"""WebKit by its own driver, where Debian's packages ``webkit2gtk-driver`` and ``xvfb`` are installed."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

BROWSERS = sorted(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))
PORT, DISPLAY = 4797, ":97"
PACE = 10  # milliseconds from one place of the mouse to the next


def is_there() -> bool:
    """Whether a WebKit can be driven."""
    return bool(BROWSERS and shutil.which("WebKitWebDriver") and shutil.which("Xvfb"))


class WebKit:
    """One window."""

    def __init__(self) -> None:
        options = {"binary": str(BROWSERS[-1]), "args": ["--automation"]}
        wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        self._at = f"http://127.0.0.1:{PORT}/session"
        self._at += "/" + self._post("", wanted)["sessionId"]

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        request = Request(self._at + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def open(self, address: str) -> None:
        """Load a page."""
        self._post("/url", {"url": address})

    def run(self, script: str) -> Any:
        """What a script returns."""
        return self._post("/execute/sync", {"script": script, "args": []})

    def drag(self, start: tuple[int, int], way: list[tuple[int, int]]) -> None:
        """Press at a place, follow the way, let go."""
        moves = [{"type": "pointerMove", "duration": PACE, "x": x, "y": y} for x, y in (start, *way)]
        down, up = ({"type": f"pointer{name}", "button": 0} for name in ("Down", "Up"))
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}
        self._post("/actions", {"actions": [{**mouse, "actions": [moves[0], down, *moves[1:], up]}]})


@contextmanager
def opened() -> Iterator[WebKit]:
    """A WebKit with a screen of its own, closed at the end."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    screen = subprocess.Popen(["Xvfb", DISPLAY, "-screen", "0", "1440x900x24"], **quiet)
    # A container has no namespaces for the sandbox of WebKit; the pages are our own.
    env = {**os.environ, "DISPLAY": DISPLAY, "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}
    driver = subprocess.Popen(["WebKitWebDriver", f"--port={PORT}"], env=env, **quiet)
    try:
        yield _first()
    finally:
        driver.terminate()
        driver.wait()
        screen.terminate()
        screen.wait()


def _first() -> WebKit:
    """The driver takes a moment to listen."""
    for _ in range(50):
        try:
            return WebKit()
        except URLError:
            time.sleep(0.2)
    raise TimeoutError("WebKitWebDriver does not answer")
