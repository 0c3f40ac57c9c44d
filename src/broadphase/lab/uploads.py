"""Boxes that people upload: read from memory, checked, and kept for as long as there is room."""

import secrets
import tempfile
from collections import OrderedDict
from pathlib import Path, PurePath
from threading import Lock
from typing import NamedTuple

import numpy as np

from broadphase import files
from broadphase.boxes import BoxArray, as_boxes
from broadphase.choose import explain
from broadphase.errors import FileError
from broadphase.lab.scenes import MOST

LARGEST = 16 * 2**20
"""Bytes of a file."""
MOST_KEPT = 8
# Everything overlapping everything would be more pairs than memory holds.
MOST_PAIRS = 5_000_000


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
        self._lock = Lock()

    def add(self, name: str, content: bytes) -> tuple[str, Upload]:
        """Read a file and keep its boxes; returns its token.

        Raises
        ------
        FileError
            It holds no boxes, too many, or too many that overlap.
        """
        upload = _read(name, content)
        token = secrets.token_urlsafe(12)
        with self._lock:
            self._kept[token] = upload
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return token, upload

    def get(self, token: str) -> Upload | None:
        """The upload, or None where it is not kept any more."""
        with self._lock:
            if token in self._kept:
                self._kept.move_to_end(token)
            return self._kept.get(token)


def _read(name: str, content: bytes) -> Upload:
    shown = PurePath(name.replace("\\", "/")).name[:80] or "boxes"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "boxes" + PurePath(shown).suffix.lower())
        path.write_bytes(content)
        try:
            _check_rows(path)
            table = files.read_boxes(path)
        except ImportError as error:
            raise FileError(f"{shown}: {error}") from None
        except FileError as error:
            raise FileError(str(error).replace(str(path), shown)) from None
    boxes = as_boxes(table.boxes).astype(np.float64)
    note = ""
    if boxes.shape[1] == 6:
        boxes = np.ascontiguousarray(boxes[:, [0, 1, 3, 4]])
        note = "The boxes are 3-D; the lab looks at them from above and knows only x and y."
    _check_size(shown, boxes)
    return Upload(shown, boxes, note)


def _check_rows(path: Path) -> None:
    """A compressed table may hold far more than its size says: ask before reading it."""
    if path.suffix not in (".parquet", ".pq"):
        return
    from broadphase.extras import need

    parquet = need("pyarrow.parquet", extra="io", purpose="reading Parquet")
    try:
        rows = parquet.read_metadata(path).num_rows
    except Exception:  # damaged, of which pyarrow raises nearly anything: `read_boxes` says how
        return
    if rows > MOST:
        raise FileError(f"{path}: {rows} rows; the lab shows at most {MOST}")


def _check_size(name: str, boxes: BoxArray) -> None:
    if not 1 <= len(boxes) <= MOST:
        raise FileError(f"{name}: {len(boxes)} boxes; the lab shows 1 to {MOST}")
    pairs = len(boxes) * explain(boxes).pairs_per_box
    if pairs > MOST_PAIRS:
        raise FileError(f"{name}: about {pairs:.2g} pairs overlap; the lab shows up to {MOST_PAIRS:.2g}")
