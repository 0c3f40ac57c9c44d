"""Copies of indexes in files.

An index in one ``.npz`` file is plain arrays and a line of JSON, no pickle.

Structures are not written: the index builds them again from the boxes, so that a file of another version, or
a damaged one, cannot bring it into an invalid state.
"""

import json
import os
from collections.abc import Callable
from io import BytesIO
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from broadphase.errors import path_of
from broadphase.indexes.storage import BoxStore
from broadphase.inputs.boxes import unsound_row
from broadphase.kernels.boxes.overlap import STATIC
from broadphase.methods.pair_order import pair_keys
from broadphase.runtime.memory import PairArray

FORMAT = "broadphase index"
VERSION = 1
_BY_BOX = {
    "classes": np.uint8,
    "categories": np.uint32,
    "masks": np.uint32,
    "renewed": np.bool_,
    "envs": np.int64,  # where there are any
}

Arrays = dict[str, npt.NDArray[Any]]
Made = TypeVar("Made")


def save(path: str | os.PathLike[str], about: dict[str, Any], store: BoxStore, baseline: PairArray) -> None:
    """Write a file that appears under ``path`` only when it is complete: a reader never sees half an index.

    ``about`` are the class and its options as JSON; ``baseline`` is that of ``changes``.
    """
    ids = store.ids()
    arrays = {
        "head": np.array(json.dumps({"format": FORMAT, "version": VERSION, **about})),
        "alive": store.alive[: store.end],
        "boxes": store.live_boxes(),
        "seen": baseline,
        **{name: getattr(store, name)[ids] for name in _BY_BOX if getattr(store, name) is not None},
    }
    from pathlib import (
        Path,  # here, as below, because these take a tenth of the time that importing a world takes
    )

    from broadphase.io.tables import whole_file

    try:
        with whole_file(Path(path_of(path, "path"))) as file:
            np.savez(file, allow_pickle=False, **arrays)
    except ValueError as error:
        # An archive that was interrupted cannot be closed: `zipfile` says that in place of the interrupt.
        if error.__context__ is None:
            raise
        raise error.__context__ from None


def load(path: str | os.PathLike[str], make: Callable[[dict[str, Any], Arrays], Made]) -> Made:
    """Read what `save` wrote, and ``make`` an index from it; whatever is wrong raises one kind of error."""
    from pathlib import Path

    name = path_of(path, "path")
    try:
        data = Path(name).read_bytes()
    except MemoryError as error:
        raise ValueError(f"{name!r} takes more memory than there is when it is read") from error
    try:
        return make(*_read(data))
    except Exception as error:  # damaged archives make zipfile, zlib and NumPy raise nearly anything
        raise ValueError(
            f"{name!r} is not a broadphase index that can be read: {error}{_other_reader(name)}"
        ) from error


def _other_reader(name: str) -> str:
    """What reads a file that is no index, by the ending of its name."""
    from pathlib import Path

    from broadphase.files import endings

    ending = Path(name).suffix.lower()
    readers = {".bprec": "Recording", ".tmx": "TileMap.from_tiled", ".tmj": "TileMap.from_tiled"}
    reader = "files.read_boxes" if ending in endings() else readers.get(ending)
    return f"; broadphase.{reader} reads {ending}" if reader else ""


def restore(store: BoxStore, arrays: Arrays) -> PairArray:
    """Check every array, fill the store with them, and return the baseline of ``changes``."""
    alive, boxes, baseline = arrays["alive"], arrays["boxes"], arrays["seen"]
    _require(alive.ndim == 1 and alive.dtype == np.bool_, "alive is damaged")
    n = int(alive.sum())
    columns = {name: arrays[name] for name in _BY_BOX if name in arrays}
    for name, column in columns.items():
        _require(column.shape == (n,) and column.dtype == _BY_BOX[name], f"{name} is damaged")
    width = store.boxes.shape[1]
    _require(boxes.shape == (n, width) and boxes.flags.c_contiguous, "boxes is damaged")
    _require(unsound_row(boxes) < 0, "boxes holds nan or min > max")
    _require(bool(np.isin(arrays["classes"], [0, int(STATIC)]).all()), "classes is damaged")
    _require(baseline.ndim == 2 and baseline.shape[1] == 2 and baseline.dtype == np.int32, "seen is damaged")
    _require(bool((baseline[:, 0] >= 0).all() and (baseline[:, 0] < baseline[:, 1]).all()), "seen is damaged")
    _require(bool((np.diff(pair_keys([baseline])) > 0).all()), "seen is damaged")
    store.restore(alive, {"boxes": boxes, **columns})
    return np.ascontiguousarray(baseline)


def _read(data: bytes) -> tuple[dict[str, Any], Arrays]:
    if not data.startswith(b"PK"):
        raise ValueError("it is no .npz file")
    with np.load(BytesIO(data), allow_pickle=False) as members:
        if any(member.compress_type for member in members.zip.infolist()):
            raise ValueError("it is compressed, which `save` does not do; decoded, it could be of any size")
        if "head" not in members:
            raise ValueError("its head is missing; arrays of NumPy are read by numpy.load")
        head = json.loads(str(members["head"]))
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise ValueError("its head is another program's")
        if head.get("version") != VERSION:
            raise ValueError(f"its version is {head.get('version')!r}, this program reads {VERSION}")
        wanted = [name for name in _BY_BOX if name != "envs" or name in members]
        return head, {name: members[name] for name in ("alive", "boxes", *wanted, "seen")}


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
