"""Reads one uploaded file, in a process of its own::

    python -m broadphase.lab.reading FILE NAME BOXES.npy

writes its boxes to ``BOXES.npy`` and prints one line of JSON: a note, or what is wrong with the file.

Why a process: the libraries that read files keep the interpreter to themselves (the JSON of the standard
library, for seconds), take what memory they please, and cannot be stopped.  A process has a limit of memory,
which the operating system holds it to whatever a file contains, can be ended at any moment, and all of its
memory comes back.  It costs a third of a second, once a file.
"""

import contextlib
import json
import os
import sys
from pathlib import Path

import numpy as np

from broadphase import files
from broadphase.boxes import BoxArray, as_boxes
from broadphase.choose import explain
from broadphase.errors import FileError
from broadphase.lab.scenes import MOST

MEMORY = 256 << 20
"""Bytes that reading may take."""
SECONDS = 20
"""Of processor time."""
# Everything overlapping everything would be more pairs than memory holds.
MOST_PAIRS = 5_000_000
LIMITS = files.Limits(
    rows=MOST, columns=1_000, size=64 << 20, inflation=0.0, way_out="give the lab a part of it"
)
TOO_MUCH = f"takes more than {MEMORY >> 20} MB or {SECONDS} s to read; give the lab a part of it"

_TABLES = (".parquet", ".pq", ".arrow", ".feather", ".ipc")


def read(path: Path) -> tuple[BoxArray, str]:
    """The boxes of a file as the lab shows them, and what was done to them, if anything.

    Raises
    ------
    FileError
        It holds no boxes, too many, or too many that overlap.
    """
    boxes = as_boxes(files.read_boxes(path, limits=LIMITS).boxes).astype(np.float64)
    note = ""
    if boxes.shape[1] == 6:
        boxes = np.ascontiguousarray(boxes[:, [0, 1, 3, 4]])
        note = "The boxes are 3-D; the lab looks at them from above and knows only x and y."
    if not len(boxes):
        raise FileError(f"{path}: 0 boxes; the lab shows 1 to {MOST}")
    pairs = len(boxes) * explain(boxes).pairs_per_box
    if pairs > MOST_PAIRS:
        raise FileError(f"{path}: about {pairs:.2g} pairs overlap; the lab shows up to {MOST_PAIRS:.2g}")
    return boxes, note


def limit_this_process(path: Path) -> None:
    """From here on so much memory and time, where the system can hold a process to it."""
    if path.suffix in _TABLES:
        with contextlib.suppress(ImportError):
            import pyarrow.ipc
            import pyarrow.parquet  # noqa: F401 - before the limit: what it takes for itself does not count
    try:
        import resource
    except ImportError:  # Windows
        return
    own = _address_space()
    for kind, most in ((resource.RLIMIT_AS, own + MEMORY), (resource.RLIMIT_CPU, SECONDS)):
        with contextlib.suppress(OSError, ValueError):
            if own or kind == resource.RLIMIT_CPU:
                resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def _address_space() -> int:
    """Bytes that this process takes already; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def answer(path: Path, name: str, boxes: str) -> dict[str, str]:
    """Read a file, which messages call ``name``, and write its boxes: a note, or an error."""
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
