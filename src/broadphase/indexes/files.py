"""Copies of indexes, in memory and in files.

An index in one ``.npz`` file is plain arrays and a line of JSON, no pickle.

What follows from the boxes is not written: the index builds it again, and a file from another version of a
structure, or a damaged one, cannot bring it into a state that it could not reach by itself.
"""

import copy
import json
import os
from collections.abc import Callable
from io import BytesIO
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from broadphase.boxes import unsound_row
from broadphase.errors import path_of
from broadphase.indexes.storage import BoxStore
from broadphase.kernels.boxes.overlap import STATIC
from broadphase.runtime.memory import PairArray
from broadphase.runtime.slices import joined

FORMAT = "broadphase index"
VERSION = 1
_BY_BOX = {"classes": np.uint8, "categories": np.uint32, "masks": np.uint32, "renewed": np.bool_}

Arrays = dict[str, npt.NDArray[Any]]
Made = TypeVar("Made")


def save(
    path: str | os.PathLike[str], about: dict[str, Any], store: BoxStore, seen: PairArray, more: Arrays
) -> None:
    """Write to a temporary file beside ``path`` and rename it: a reader never sees half an index.

    ``about`` says what to make again, as JSON can hold it; ``seen`` is the baseline of ``changes``; ``more``
    are arrays that not every index has.
    """
    ids = store.ids()
    arrays = {
        "head": np.array(json.dumps({"format": FORMAT, "version": VERSION, **about})),
        "alive": store.alive[: store.end],
        "boxes": store.live_boxes(),
        "classes": store.classes[ids],
        "categories": store.categories[ids],
        "masks": store.masks[ids],
        "renewed": store.renewed[ids],
        "seen": seen,
        **more,
    }
    import tempfile  # here, as below, because these two take a tenth of the time in which a world is there
    from pathlib import Path

    target = Path(path_of(path, "path"))
    handle, temporary = tempfile.mkstemp(prefix=target.name, suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str], make: Callable[[dict[str, Any], Arrays], Made]) -> Made:
    """Read what `save` wrote and let ``make`` an index of it; one error tells whatever is wrong with it."""
    from pathlib import Path

    name = path_of(path, "path")
    data = Path(name).read_bytes()
    try:
        return make(*_read(data))
    except Exception as error:  # damaged archives make zipfile, zlib and NumPy raise nearly anything
        raise ValueError(f"{name!r} is not a broadphase index that can be read: {error}") from error


def restore(store: BoxStore, arrays: Arrays) -> PairArray:
    """Check every array, fill the store with them, and return the baseline of ``changes``."""
    alive, boxes, seen = arrays["alive"], arrays["boxes"], arrays["seen"]
    _require(alive.ndim == 1 and alive.dtype == np.bool_, "alive is damaged")
    n = int(alive.sum())
    for name, dtype in _BY_BOX.items():
        _require(arrays[name].shape == (n,) and arrays[name].dtype == dtype, f"{name} is damaged")
    width = store.boxes.shape[1]
    _require(boxes.shape == (n, width) and boxes.flags.c_contiguous, "boxes is damaged")
    _require(unsound_row(boxes) < 0, "boxes holds nan or min > max")
    _require(bool(np.isin(arrays["classes"], [0, int(STATIC)]).all()), "classes is damaged")
    if "envs" in arrays:
        _require(arrays["envs"].shape == (n,) and arrays["envs"].dtype == np.int64, "envs is damaged")
    _require(seen.ndim == 2 and seen.shape[1] == 2 and seen.dtype == np.int32, "seen is damaged")
    _require(bool((seen[:, 0] >= 0).all() and (seen[:, 0] < seen[:, 1]).all()), "seen is damaged")
    keys = seen[:, 0].astype(np.int64) << 32 | seen[:, 1]
    _require(bool((np.diff(keys) > 0).all()), "seen is damaged")
    store.restore(alive, boxes, arrays.get("envs"), *(arrays[name] for name in _BY_BOX))
    return np.ascontiguousarray(seen)


def _read(data: bytes) -> tuple[dict[str, Any], Arrays]:
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
        optional = [name for name in ("envs",) if name in members]
        return head, {name: members[name] for name in ("alive", "boxes", *_BY_BOX, "seen", *optional)}


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


# ---- copies in memory: long arrays in pieces, so that a copy can be interrupted


def copied(thing: Any, memo: dict[int, Any]) -> Any:
    """As `copy.deepcopy`, but arrays are copied so many numbers at a time.

    Examples
    --------
    >>> one = np.arange(3)
    >>> copied([one, (one, "a")], {})
    [array([0, 1, 2]), (array([0, 1, 2]), 'a')]
    """
    if id(thing) in memo:
        return memo[id(thing)]
    if type(thing) is np.ndarray and thing.dtype != object:
        in_order = thing.flags.c_contiguous
        new: Any = joined([thing.reshape(-1)]).reshape(thing.shape) if in_order else thing.copy("K")
    elif type(thing) in (list, tuple):
        new = type(thing)([copied(part, memo) for part in thing])
    elif type(thing) is dict:
        new = {key: copied(part, memo) for key, part in thing.items()}
    elif type(thing).__module__.startswith("broadphase.") and not isinstance(thing, type):
        new = copy_of(thing, memo)
    else:
        return copy.deepcopy(thing, memo)
    memo[id(thing)] = new
    memo.setdefault(id(memo), []).append(thing)  # its id must stay its own until all is copied
    return new


def copy_of(thing: Any, memo: dict[int, Any]) -> Any:
    """A copy of an object of whatever class, by what pickle asks it for."""
    asked: tuple[Any, ...] = thing.__reduce_ex__(4)
    make, arguments = asked[:2]
    state = asked[2] if len(asked) > 2 else None
    new = make(*copied(arguments, memo))
    memo[id(thing)] = new
    if state is not None:
        state = copied(state, memo)
        if hasattr(new, "__setstate__"):
            new.__setstate__(state)
        else:
            new.__dict__.update(state)
    return new
