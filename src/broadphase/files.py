"""Boxes are read from files and pairs are written to files.

The ending of a file's name says what it is: ``.csv``, ``.tsv``, ``.npy``, ``.parquet``, ``.arrow`` or
``.feather``, and for boxes also ``.geojson`` or ``.json``.  The name ``"-"`` is CSV on standard input or
output.  Parquet and Arrow need pyarrow (the extra ``io``).
"""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from broadphase.errors import FileError, need, path_of
from broadphase.inputs.arrays import as_plain_array
from broadphase.io import geojson, tables
from broadphase.io.tables import NONE, USUAL, Limits, Table
from broadphase.runtime.memory import PairArray

__all__ = ["FileError", "Limits", "Table", "check_output", "read_boxes", "write_pairs"]

Ids = npt.NDArray[Any] | None
Progress = Callable[[int, int], None]
"""Called with what is done and what there is to do; the second is 0 where it is unknown."""

STANDARD = "-"
WITH_PYARROW = {
    **dict.fromkeys((".parquet", ".pq"), "Parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "Arrow"),
}
_KINDS = {
    **dict.fromkeys((".csv", ".txt", ".tsv", ".tab"), "text"),
    ".npy": "npy",
    **WITH_PYARROW,
    **dict.fromkeys((".geojson", ".json"), "GeoJSON"),
}
_WRITTEN = {suffix: kind for suffix, kind in _KINDS.items() if kind != "GeoJSON"}
_TABS = (".tsv", ".tab")


def read_boxes(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    progress: Progress | None = None,
    limits: Limits | None = USUAL,
) -> Table:
    r"""Read boxes, and their ids where the file has some.

    Tables (CSV, TSV, Parquet, Arrow) have named columns: the edges ``min_x, min_y, max_x, max_y`` (in 3-D
    also ``min_z, max_z``), or ``x, y, width, height`` (``z, depth``), or the names of other tools
    (``xmin``, ``left``, ``x0`` with ``x1``, ``x1`` with ``x2``, ``minlon``, ``bbox.xmin``, ...).  A text
    table without header has 4 or 6 columns of numbers, all ``min`` before all ``max``.  A column ``id`` or
    ``fid`` holds the ids.  GeoJSON gives the bounds of each feature in x and y.  ``.npy`` holds an
    ``(n, 4)`` or ``(n, 6)`` array.

    Parameters
    ----------
    path : str or os.PathLike
        The file; ``"-"`` is CSV on standard input.
    id_column : str, optional
        The column (in GeoJSON the property) that holds the ids, if it is not called ``id``.
    progress : callable, optional
        Called with the bytes read and the bytes there are (0 where that is unknown).
    limits : Limits, optional
        How many rows, columns and decoded bytes a file may hold: a small compressed file can hold more than
        fits into memory.  None means no limits.

    Returns
    -------
    Table
        ``boxes``, ``(n, 4)`` or ``(n, 6)``, float32 or float64; ``ids``, ``(n,)``, integers or ``str``
        objects, or None.

    Raises
    ------
    FileError
        The file does not hold boxes, or more than ``limits``; the message names file, row, column and value.
        Rows count from 0, as in the pairs.
    OSError
        The file cannot be opened.
    MissingExtraError
        pyarrow is needed and not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "crates.csv")
    ...     _ = path.write_text("id,x,y,width,height\ncrate,1,2,3,4\n")
    ...     boxes, ids = read_boxes(path)
    >>> boxes, ids
    (array([[1., 2., 4., 6.]]), array(['crate'], dtype=object))
    """
    name = path_of(path, "path")
    limits = NONE if limits is None else limits
    delimiter = "\t" if Path(name).suffix.lower() in _TABS else None
    kind = "text" if name == STANDARD else kind_of(name, _KINDS)
    if name == STANDARD and sys.stdin is None:
        raise FileError("standard input is closed")
    with nullcontext(sys.stdin.buffer) if name == STANDARD else Path(name).open("rb") as file:
        name = "standard input" if name == STANDARD else name
        try:
            if kind == "text":
                return tables.read_text(file, name, delimiter, id_column, _reporter(file, progress), limits)
            if kind == "GeoJSON":
                return geojson.read(file, name, id_column, limits)
            if kind == "npy":
                if id_column is not None:
                    raise FileError(f"{name}: no column {id_column!r} for the ids; a .npy file has none")
                return tables.read_npy(file, name, limits)
            table: Table = _arrow(f"{name}: reading {kind}").read(file, name, kind, id_column, limits)
            return table
        except MemoryError as error:
            raise FileError(f"{name}: takes more memory than there is when it is read") from error


def endings() -> tuple[str, ...]:
    """The endings of the names of files that boxes are read from; some need pyarrow.

    >>> {".csv", ".parquet"} <= set(endings())
    True
    """
    return tuple(_KINDS)


def _reporter(file: BinaryIO, progress: Progress | None) -> Callable[[], None]:
    if progress is None:
        return lambda: None
    if not file.seekable():
        return lambda: progress(0, 0)
    size = os.fstat(file.fileno()).st_size
    return lambda: progress(file.tell(), size)


def _arrow(purpose: str) -> Any:
    need("pyarrow", extra="io", purpose=purpose)
    from broadphase.io import arrow

    return arrow


def kind_of(name: str, kinds: Mapping[str, str], advice: str = "") -> str:
    """The kind of a file, by the ending of its name."""
    suffix = Path(name).suffix.lower()
    if suffix not in kinds:
        ending = f"the ending {suffix!r} is not known" if suffix else "the name has no ending"
        raise FileError(f"{name}: {ending}; it may be {', '.join(kinds)}{advice}")
    return kinds[suffix]


def check_output(path: str | os.PathLike[str]) -> None:
    """Raise what `write_pairs` would raise for ``path``, before the work is done.

    Raises
    ------
    FileError
        The ending of the name is not that of a format for pairs.
    OSError
        The folder does not exist, or the name is that of a folder.
    MissingExtraError
        pyarrow is needed and not installed.
    """
    name = path_of(path, "path")
    if name == STANDARD:
        return
    kind = kind_of(name, _WRITTEN)
    if kind in WITH_PYARROW.values():
        _arrow(f"{name}: writing {kind}")
    tables.check_place(name)


def write_pairs(
    path: str | os.PathLike[str],
    pairs: PairArray,
    *,
    ids: tuple[Ids, Ids] = (None, None),
    progress: Progress | None = None,
) -> None:
    """Write pairs, as row numbers or as ids.

    The file appears completely or not at all.  Its columns are called ``i`` and ``j``, or ``id_i`` and
    ``id_j`` where they hold ids; ``.npy`` holds an ``(m, 2)`` array of integers, or of text where an id is
    text.

    Parameters
    ----------
    path : str or os.PathLike
        The file; ``"-"`` is CSV on standard output.
    pairs : numpy.ndarray
        ``(m, 2)`` row numbers.
    ids : tuple of (numpy.ndarray or None), optional
        The ids of the rows, for the first and the second column of ``pairs``.
    progress : callable, optional
        Called with the pairs written and the pairs there are.

    Raises
    ------
    FileError
        The ending of the name is not that of a format for pairs.
    OSError
        The file cannot be written.
    MissingExtraError
        pyarrow is needed and not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_pairs(f"{folder}/pairs.csv", np.array([[0, 1]], np.int32))
    ...     print(Path(folder, "pairs.csv").read_text(), end="")
    i,j
    0,1
    """
    name = path_of(path, "path")
    rows = as_plain_array(pairs, "pairs")
    if rows.size == 0:
        rows = np.empty((0, 2), np.int32)
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise TypeError(f"pairs must be (m, 2) whole numbers; got shape {rows.shape} of {rows.dtype}")
    if not isinstance(ids, (tuple, list)) or len(ids) != 2:
        raise TypeError(f"ids must be two arrays of ids, or None in the place of one; got {ids!r}")
    header = [column if labels is None else f"id_{column}" for column, labels in zip("ij", ids, strict=True)]
    columns = [rows[:, k] if labels is None else _signed(labels)[rows[:, k]] for k, labels in enumerate(ids)]
    report = progress or (lambda done, total: None)
    if name == STANDARD:
        if sys.stdout is None:
            raise FileError("standard output is closed")
        sys.stdout.flush()
        tables.write_text(sys.stdout.buffer, header, columns, ",", report)
        sys.stdout.buffer.flush()
        return
    check_output(name)
    kind = kind_of(name, _WRITTEN)
    with tables.whole_file(Path(name)) as file:
        if kind == "text":
            delimiter = "\t" if Path(name).suffix.lower() in _TABS else ","
            tables.write_text(file, header, columns, delimiter, report)
        elif kind == "npy":
            tables.write_npy(file, columns)
        else:
            _arrow(f"{name}: writing {kind}").write(file, header, columns, kind)


def _signed(ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
    # uint64 and int64 together would become float64 and lose digits; an id beyond int64 becomes text instead.
    if ids.dtype != np.uint64:
        return ids
    return ids.astype(np.int64) if ids.max(initial=0) < 2**63 else ids.astype(np.str_).astype(object)
