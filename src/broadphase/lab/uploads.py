"""Uploaded files of boxes: each is read by a process of its own, and the last few are kept.

The process is this module::

    python -m broadphase.lab.uploads FILE NAME BOXES.npy

writes the boxes of FILE to ``BOXES.npy`` and prints one line of JSON: a note, or what is wrong with the file.

A process, because the libraries that read files hold the GIL (the standard library's JSON for seconds), use
any amount of memory, and cannot be stopped.  Linux and Windows limit the memory of a process whatever a
file contains (macOS limits its processor time alone), a process can be killed at any moment, and all its
memory is freed.  It costs a third of a second per file.
"""

import contextlib
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
from broadphase.errors import FileError
from broadphase.inputs.boxes import BoxArray, as_boxes
from broadphase.lab.scenes import MOST
from broadphase.methods.choose import explain
from broadphase.runtime import windows

MEMORY = 256 << 20
"""Bytes that a reading process may allocate."""
SECONDS = 20
"""Processor time that a reading process may take."""
# If all boxes overlap all others, memory cannot hold the pairs.
MOST_PAIRS = 5_000_000
LIMITS = files.Limits(
    rows=MOST, columns=1_000, size=64 << 20, inflation=0.0, way_out="give the lab a part of it"
)
TOO_MUCH = f"takes more than {MEMORY >> 20} MB or {SECONDS} s to read; give the lab a part of it"

_TABLES = (".parquet", ".pq", ".arrow", ".feather", ".ipc")

LARGEST = 16 * 2**20
"""Bytes of a file."""
MOST_KEPT = 8
# Seconds; a process that takes longer is not waiting for the processor.
_PATIENCE = 3 * SECONDS
# One thread per reader: more would take memory, and processor time from the tabs.
_ALONE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
}


class Upload(NamedTuple):
    """The boxes of an uploaded file."""

    name: str
    boxes: BoxArray
    """``(n, 4)`` float64."""
    note: str
    """What was changed, if anything."""


class Uploads:
    """The last few uploads, by tokens that cannot be guessed."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Upload] = OrderedDict()
        self._readers: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()

    def add(self, name: str, content: bytes | bytearray) -> tuple[str, Upload]:
        """Read a file and keep its boxes; returns its token.

        Raises
        ------
        FileError
            It holds no boxes, too many, or too many that overlap, or reading it takes too much.
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
        """Keep an upload and drop the oldest; returns its token."""
        token = secrets.token_urlsafe(12)
        with self._lock:
            self._kept[token] = upload
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return token

    def get(self, token: str) -> Upload | None:
        """The upload, or None if it is no longer kept."""
        with self._lock:
            if token in self._kept:
                self._kept.move_to_end(token)
            return self._kept.get(token)

    def close(self) -> None:
        """Kill the processes that still read."""
        for reader in list(self._readers):
            reader.kill()

    def _read(self, path: Path, shown: str, boxes: Path) -> str:
        """Let another process write the boxes; returns its note."""
        command = [sys.executable, "-m", __name__, str(path), shown, str(boxes)]
        with subprocess.Popen(
            command,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as reader:
            self._readers.add(reader)
            try:
                output, _ = reader.communicate(timeout=_PATIENCE)
            except subprocess.TimeoutExpired:
                output = b""
            finally:
                reader.kill()
                self._readers.discard(reader)
        answer = json.loads(output) if output else {"error": f"{shown}: {TOO_MUCH}"}
        if "error" in answer:
            raise FileError(answer["error"])
        note: str = answer["note"]
        return note


def endings() -> list[str]:
    """The endings of the names of files that can be read here; some need pyarrow."""
    has_pyarrow = find_spec("pyarrow") is not None
    return [ending for ending in files.endings() if has_pyarrow or not files.needs_pyarrow(ending)]


def _environment() -> dict[str, str]:
    """The environment of the server, so that the process imports the same package."""
    home = str(Path(broadphase.__file__).parent.parent)
    paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, **_ALONE, "PYTHONPATH": os.pathsep.join(paths)}


# ---- the process that reads one file


def read(path: Path) -> tuple[BoxArray, str]:
    """The boxes of a file as the lab shows them, and what was changed, if anything.

    Raises
    ------
    FileError
        It holds no boxes, too many, or too many that overlap.
    """
    boxes = as_boxes(files.read_boxes(path, limits=LIMITS).boxes).astype(np.float64)
    note = ""
    if boxes.shape[1] == 6:
        boxes = np.ascontiguousarray(boxes[:, [0, 1, 3, 4]])
        note = "The boxes are 3-D; the lab shows them from above, with x and y only."
    if not len(boxes):
        raise FileError(f"{path}: 0 boxes; the lab shows 1 to {MOST}")
    pairs = len(boxes) * explain(boxes).pairs_per_box
    if pairs > MOST_PAIRS:
        raise FileError(f"{path}: about {pairs:.2g} pairs overlap; the lab shows up to {MOST_PAIRS:.2g}")
    return boxes, note


def limit_this_process(path: Path) -> None:
    """Limit the memory and processor time of this process, if the system can do that."""
    if path.suffix in _TABLES:
        with contextlib.suppress(ImportError):
            # Before the limit, so that its own memory does not count.
            import pyarrow.ipc  # noqa: F401
            import pyarrow.parquet  # noqa: F401
    try:
        import resource
    except ImportError:  # Windows
        windows.limit_this_process(MEMORY, SECONDS)
        return
    own = _address_space()
    for kind, most in ((resource.RLIMIT_AS, own + MEMORY), (resource.RLIMIT_CPU, SECONDS)):
        with contextlib.suppress(OSError, ValueError):
            if own or kind == resource.RLIMIT_CPU:
                resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def _address_space() -> int:
    """The address space of this process in bytes; 0 if the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def answer(path: Path, name: str, boxes: str) -> dict[str, str]:
    """Read a file, called ``name`` in messages, and write its boxes; returns a note or an error."""
    try:
        found, note = read(path)
        np.save(boxes, found)
    except ImportError as error:
        return {"error": f"{name}: {error}"}
    except (FileError, MemoryError) as error:
        if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
            return {"error": f"{name}: {TOO_MUCH}"}
        return {"error": str(error).replace(str(path), name)}
    return {"note": note}


if __name__ == "__main__":
    file, name, boxes = sys.argv[1:]
    limit_this_process(Path(file))
    print(json.dumps(answer(Path(file), name, boxes)))
