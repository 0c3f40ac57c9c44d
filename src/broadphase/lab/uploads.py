"""Boxes that people upload: read by a process of its own (`reading`), and kept while there is room."""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections import OrderedDict
from importlib.util import find_spec
from pathlib import Path, PurePath
from threading import Lock
from typing import NamedTuple

import numpy as np

import broadphase
from broadphase import files
from broadphase.boxes import BoxArray
from broadphase.errors import FileError
from broadphase.lab import reading

LARGEST = 16 * 2**20
"""Bytes of a file."""
MOST_KEPT = 8
# Seconds: what takes so long waits for something else than the processor.
_PATIENCE = 3 * reading.SECONDS
# A reader works alone: threads would take memory of their own, and the processor from the tabs.
_ALONE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
}


class Upload(NamedTuple):
    """A file that somebody has uploaded."""

    name: str
    boxes: BoxArray
    """``(n, 4)`` float64."""
    note: str
    """What was done to it, if anything."""


class Uploads:
    """The last few uploads, by a name that nobody can guess."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Upload] = OrderedDict()
        self._readers: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()

    def add(self, name: str, content: bytes | bytearray) -> tuple[str, Upload]:
        """Read a file and keep its boxes; returns its token.

        Raises
        ------
        FileError
            It holds no boxes, too many, or too many that overlap, or takes too much to be read.
        """
        shown = PurePath(name.replace("\\", "/")).name[:80] or "boxes"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "boxes" + PurePath(shown).suffix.lower())
            path.write_bytes(content)
            note = self._read(path, shown, Path(folder, "read.npy"))
            boxes = np.load(Path(folder, "read.npy"), allow_pickle=False)
        upload = Upload(shown, boxes, note)
        return self.keep(upload), upload

    def keep(self, upload: Upload) -> str:
        """Keep an upload instead of the oldest; returns its token."""
        token = secrets.token_urlsafe(12)
        with self._lock:
            self._kept[token] = upload
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return token

    def get(self, token: str) -> Upload | None:
        """The upload, or None where it is not kept any more."""
        with self._lock:
            if token in self._kept:
                self._kept.move_to_end(token)
            return self._kept.get(token)

    def close(self) -> None:
        """End whoever still reads."""
        for reader in list(self._readers):
            reader.kill()

    def _read(self, path: Path, shown: str, boxes: Path) -> str:
        """Let another process write the boxes; what it notes."""
        asked = [sys.executable, "-m", reading.__name__, str(path), shown, str(boxes)]
        with subprocess.Popen(
            asked,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as reader:
            self._readers.add(reader)
            try:
                said, _ = reader.communicate(timeout=_PATIENCE)
            except subprocess.TimeoutExpired:
                said = b""
            finally:
                reader.kill()
                self._readers.discard(reader)
        answer = json.loads(said) if said else {"error": f"{shown}: {reading.TOO_MUCH}"}
        if "error" in answer:
            raise FileError(answer["error"])
        note: str = answer["note"]
        return note


def endings() -> list[str]:
    """The endings of the names of files that can be read here: some need pyarrow."""
    there = find_spec("pyarrow") is not None
    return [ending for ending in files.endings() if there or not files.needs_pyarrow(ending)]


def _environment() -> dict[str, str]:
    """That of the server, in which the same package is found."""
    home = str(Path(broadphase.__file__).parent.parent)
    paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, **_ALONE, "PYTHONPATH": os.pathsep.join(paths)}
