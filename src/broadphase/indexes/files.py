"""An index in one ``.npz`` file: plain arrays and a line of JSON, no pickle.

What follows from the boxes is not written: the index builds it again, and a file from another version of a
structure, or a damaged one, cannot bring it into a state that it could not reach by itself.
"""

import json
import os
import tempfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from broadphase.kernels.boxes.filters import STATIC
from broadphase.kernels.boxes.survey import first_unsound_row

if TYPE_CHECKING:
    from broadphase.indexes.base import Index

    AnyIndex = TypeVar("AnyIndex", bound=Index)

FORMAT = "broadphase index"
VERSION = 1
_BY_BOX = {"classes": np.uint8, "categories": np.uint32, "masks": np.uint32, "renewed": np.bool_}


def save(index: "Index", path: str | os.PathLike[str]) -> None:
    """Write to a temporary file beside ``path`` and rename it: a reader never sees half an index."""
    store = index._store
    ids = store.ids()
    head = {
        "format": FORMAT,
        "version": VERSION,
        "index": index.name,
        "dim": index.dim,
        "touching": index.touching,
        "sort": index.sort,
        "threads": index._threads,
        "options": index._options(),
    }
    arrays = {
        "head": np.array(json.dumps(head)),
        "alive": store.alive[: store.end],
        "boxes": store.live_boxes(),
        "classes": store.classes[ids],
        "categories": store.categories[ids],
        "masks": store.masks[ids],
        "renewed": store.renewed[ids],
        "seen": index._baseline(),
    }
    target = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=target.name, suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(wanted: "type[AnyIndex]", path: str | os.PathLike[str]) -> "AnyIndex":
    """Read what `save` wrote; every array is checked before an index is made of it."""
    from broadphase.indexes import class_named

    data = Path(path).read_bytes()
    try:
        head, arrays = _read(data)
        found = class_named(head["index"])
        if not issubclass(found, wanted):
            raise ValueError(f"it holds a {found.__name__}, not a {wanted.__name__}")
        index = found(
            dim=head["dim"],
            dtype=arrays["boxes"].dtype,
            touching=head["touching"],
            sort=head["sort"],
            threads=head["threads"],
            **head["options"],
        )
        _fill(index, arrays)
    except Exception as error:  # damaged archives make zipfile, zlib and NumPy raise nearly anything
        raise ValueError(
            f"{os.fspath(path)!r} is not a broadphase index that can be read: {error}"
        ) from error
    return index


def _read(data: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    if not data.startswith(b"PK"):
        raise ValueError("it is no .npz file")
    with np.load(BytesIO(data), allow_pickle=False) as members:
        if "head" not in members:
            raise ValueError("its head is missing")
        head = json.loads(str(members["head"]))
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise ValueError("its head is another program's")
        if head.get("version") != VERSION:
            raise ValueError(f"its version is {head.get('version')!r}, this program reads {VERSION}")
        return head, {name: members[name] for name in ("alive", "boxes", *_BY_BOX, "seen")}


def _fill(index: "Index", arrays: dict[str, npt.NDArray[Any]]) -> None:
    alive, boxes, seen = arrays["alive"], arrays["boxes"], arrays["seen"]
    _require(alive.ndim == 1 and alive.dtype == np.bool_, "alive is damaged")
    n = int(alive.sum())
    for name, dtype in _BY_BOX.items():
        _require(arrays[name].shape == (n,) and arrays[name].dtype == dtype, f"{name} is damaged")
    _require(boxes.shape == (n, 2 * index.dim) and boxes.flags.c_contiguous, "boxes is damaged")
    _require(int(first_unsound_row(boxes)) < 0, "boxes holds nan or min > max")
    _require(bool(np.isin(arrays["classes"], [0, int(STATIC)]).all()), "classes is damaged")
    _require(seen.ndim == 2 and seen.shape[1] == 2 and seen.dtype == np.int32, "seen is damaged")
    _require(bool((seen[:, 0] >= 0).all() and (seen[:, 0] < seen[:, 1]).all()), "seen is damaged")
    keys = seen[:, 0].astype(np.int64) << 32 | seen[:, 1]
    _require(bool((np.diff(keys) > 0).all()), "seen is damaged")
    index._store.restore(alive, boxes, *(arrays[name] for name in _BY_BOX))
    index._reset()
    index._set_baseline(np.ascontiguousarray(seen))


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
