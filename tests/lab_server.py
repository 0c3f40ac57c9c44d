"""A lab of its own for tests, in a process of its own, and a page that reads as fast as it comes."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from websockets.sync.client import ClientConnection, connect

import broadphase
from broadphase.lab.frames import Decoded, decode

WAIT = 120.0  # seconds; only what hangs takes so long, or a first compilation
_PATHS = [str(Path(broadphase.__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(_PATHS)}
"""In which a process imports the same package."""


class Running(NamedTuple):
    """A server that runs."""

    process: "subprocess.Popen[str]"
    port: int
    errors: Path

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return f"http://{self.host}/"


@contextlib.contextmanager
def running(
    folder: Path, port: int = 0, recording: Path | None = None, program: str = ""
) -> Iterator[Running]:
    """A lab on ``port``, or on any that is free; with a recording, or by another program, if one is given."""
    errors = folder / "lab-errors.txt"
    what = ["lab"] if recording is None else ["replay", str(recording)]
    command = [sys.executable, "-W", "error", "-m", "broadphase", *what, "--no-browser", "--port", str(port)]
    if program:
        command = [sys.executable, "-W", "error", "-c", program]
    with errors.open("a") as stderr:
        process = subprocess.Popen(
            command,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    with process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("The lab is at http://127.0.0.1:"), line + errors.read_text()
            yield Running(process, int(line.split("/")[2].partition(":")[2]), errors)
        finally:
            process.terminate()
            process.wait(WAIT)


def setup_message(**changes: Any) -> str:
    """A set-up as the page sends it."""
    fields: dict[str, Any] = {
        "type": "setup",
        "scene": "balls",
        "count": 40,
        "seed": 1,
        "methods": ["brute_force"],
        "cell_scale": None,
        "slots": None,
        "file": "",
        "strips": None,
    }
    return json.dumps(fields | changes)


class Tab:
    """A page without a browser."""

    def __init__(self, server: Running) -> None:
        self._open = contextlib.ExitStack()
        self.socket: ClientConnection = self._open.enter_context(
            connect(
                f"ws://{server.host}/live",
                origin=f"http://{server.host}",
                compression=None,
                max_size=None,
                close_timeout=1,  # what a page that no longer reads would wait for
            )
        )
        self.words: list[dict[str, Any]] = []
        self.frames: list[Decoded] = []

    def __enter__(self) -> "Tab":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave."""
        self._open.close()

    def send(self, text: str | bytes) -> None:
        self.socket.send(text)

    def say(self, kind: str, **fields: Any) -> None:
        self.send(json.dumps({"type": kind, **fields}))

    def read(self, *, acknowledge: bool = True, timeout: float = WAIT) -> Decoded | dict[str, Any]:
        """The next frame or the next words; a frame is acknowledged."""
        got = self.socket.recv(timeout)
        if isinstance(got, bytes):
            frame = decode(got)
            self.frames.append(frame)
            if acknowledge:
                self.say("ack", frame=frame.serial)
            return frame
        words: dict[str, Any] = json.loads(got)
        self.words.append(words)
        return words

    def frame(self, wanted: int | None = None) -> Decoded:
        """The next frame, or the one with this number."""
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            got = self.read()
            if isinstance(got, Decoded) and wanted in (None, got.frame):
                return got
        raise AssertionError("no such frame came")

    def read_to_the_end(self) -> None:
        """Until nothing more comes, or the server hangs up."""
        while True:
            self.read()

    def hear(self, kind: str) -> dict[str, Any]:
        """The next words of a kind."""
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            got = self.read()
            if isinstance(got, dict) and got["type"] == kind:
                return got
        raise AssertionError(f"no message of kind {kind}")


def fetch(server: Running, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes, Any]:
    """Status, content and headers of a request."""
    request = Request(f"{server.address}{path}", body, headers)
    try:
        with urlopen(request, timeout=WAIT) as answer:
            return answer.status, answer.read(), answer.headers
    except HTTPError as error:
        with error:
            return error.code, error.read(), error.headers
