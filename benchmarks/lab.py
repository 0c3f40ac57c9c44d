"""The lab in a browser: frames a second, and how old a frame is when the page has drawn it.

Run it with Chromium installed: ``python benchmarks/lab.py``.  Server and browser share this machine, and a
browser without a graphics card draws on the same cores.  ``--without-browser`` reads the frames as fast as
they come and draws nothing: the speed of the server alone.
"""

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from websockets.sync.client import ClientConnection, connect

from broadphase.lab.frames import decode

if TYPE_CHECKING:
    from playwright.sync_api import Page

VIEWS = (
    ("2,000 balls, two methods", 2_000, ("strips", "spatial_hash"), 60, 100),
    ("20,000 bodies, one method", 20_000, ("strips",), 30, None),
)
SECONDS = 8.0
WARM_UP = 120.0  # the first frames compile
FIRST_FRAME = 2  # seconds that the first one may take


@contextlib.contextmanager
def server() -> Iterator[int]:
    """The command as users call it."""
    command = [sys.executable, "-m", "broadphase", "lab", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline().split("/")[2].partition(":")[2])
        process.terminate()


def connected(host: str) -> ClientConnection:
    """A socket like that of the page."""
    return connect(f"ws://{host}/live", origin=f"http://{host}", compression=None, max_size=None)


def without_browser(count: int, methods: tuple[str, ...]) -> tuple[float, list[float]]:
    """Frames a second, and the age of each frame in milliseconds when it is read."""
    setup = {"type": "setup", "scene": "balls", "count": count, "seed": 1, "methods": methods}
    setup |= {"cell_scale": None, "slots": None, "strips": None, "file": ""}
    with server() as port, connected(f"127.0.0.1:{port}") as socket:
        socket.send(json.dumps({"type": "play", "playing": True, "rate": 60}))
        socket.send(json.dumps(setup))
        seen, ages, until = 0, [], time.perf_counter() + WARM_UP
        while time.perf_counter() < until:
            wire = socket.recv()
            if isinstance(wire, str):
                continue
            frame = decode(wire)
            socket.send(json.dumps({"type": "ack", "frame": frame.serial}))
            seen += 1
            if seen == 60:  # by now everything is compiled
                until, ages = time.perf_counter() + SECONDS, []
            ages.append(time.time() * 1e3 - frame.made)
    return len(ages) / SECONDS, ages


def processor_time(words: str) -> float:
    """Seconds of processor time of all processes whose command line holds these words; Linux only."""
    total = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if words in (folder / "cmdline").read_text(errors="replace"):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def with_browser(count: int, methods: tuple[str, ...]) -> tuple[float, list[float]]:
    """The same on a page, for drawn frames: the age of a frame when its picture is finished."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"] if root else [])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        begin = time.perf_counter()
        with server() as port:
            page.goto(f"http://127.0.0.1:{port}/sandbox?n={count}&methods={','.join(methods)}")
            wait_for(page, drawn=1)
            took = time.perf_counter() - begin
            print(f"the first frame is drawn {took:.1f} s after the command (wanted: {FIRST_FRAME})")
            wait_for(page, drawn=60)
            result = watch(page)
        browser.close()
    return result


def wait_for(page: "Page", drawn: int) -> None:
    """Wait until the page has drawn this many frames."""
    until = time.perf_counter() + WARM_UP
    while time.perf_counter() < until and page.evaluate("globalThis.lab?.drawn ?? 0") < drawn:
        page.wait_for_timeout(20)


def watch(page: "Page") -> tuple[float, list[float]]:
    """Frames a second that a page draws, and how old they are."""
    first = page.evaluate("lab.ages.length = 0, lab.drawn")
    begin, spent = time.perf_counter(), processor_time("type=renderer")
    page.wait_for_timeout(SECONDS * 1000)
    last, ages = page.evaluate("[lab.drawn, [...lab.ages]]")
    seconds, spent = time.perf_counter() - begin, processor_time("type=renderer") - spent
    print(f"the page takes {1e3 * spent / max(last - first, 1):.1f} ms of processor time a drawn frame")
    return (last - first) / seconds, ages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--without-browser", action="store_true")
    measure = without_browser if parser.parse_args().without_browser else with_browser
    for title, count, methods, wanted, oldest in VIEWS:
        rate, ages = measure(count, methods)
        print(
            f"{title}: {rate:.1f} frames/s (wanted: {wanted}); age of a frame: median "
            f"{statistics.median(ages):.0f} ms, oldest {max(ages):.0f} ms"
            + (f" (wanted: {oldest})" if oldest else "")
        )


if __name__ == "__main__":
    main()
