"""What can be read only once is written down first: arrays, tables and iterables of them.

The files are Arrow files with the columns that were asked for, so that from there on all input is alike.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from broadphase.boxes import as_boxes
from broadphase.columns import find_edges
from broadphase.files.arrow import edge_numbers, flat_names
from broadphase.files.columns import boxes_from_columns
from broadphase.outofcore.files_of import InputFile, layout_of


def spooled(
    source: Any,
    name: str,
    folder: Path,
    ids: str | None,
    more: Sequence[str],
    rows: int,
    tell: Callable[[int], None],
) -> list[InputFile]:
    """Write all batches of ``source`` to files in ``folder``, each of at most ``rows`` rows a batch.

    Raises
    ------
    TypeError, ValueError
        A batch holds no boxes; batch, row and value are named.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: list[InputFile] = []
    for number, batch in enumerate(_batches(source, name)):
        table = _table(batch, f"{name}, batch {number}", ids, more)
        path = folder / f"{number:06}.arrow"
        with pa.OSFile(str(path), "wb") as opened, ipc.new_file(opened, table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
        files.append(InputFile(str(path), "Arrow"))
        tell(table.num_rows)
    return files


def _batches(source: Any, name: str) -> Iterator[Any]:
    if _is_one(source):
        return iter([source])
    if isinstance(source, Iterable):
        return iter(source)
    raise TypeError(
        f"{name} must be a path, a glob, a folder, an array, or an iterable of arrays or record batches; "
        f"got {type(source).__name__}"
    )


def _is_one(source: Any) -> bool:
    """Whether this is one batch and not a sequence of them."""
    if isinstance(source, pa.RecordBatchReader):
        return False
    if isinstance(source, list) and source:
        return isinstance(source[0], (list, tuple)) or np.isscalar(source[0])
    return hasattr(source, "__array__") or _is_table(source)


def _is_table(batch: Any) -> bool:
    return hasattr(batch, "__arrow_c_stream__") or hasattr(batch, "__arrow_c_array__")


def _table(batch: Any, name: str, ids: str | None, more: Sequence[str]) -> Any:
    """A batch with the columns that are wanted, checked."""
    if not _is_table(batch) or isinstance(batch, np.ndarray):
        if ids is not None or more:
            raise ValueError(f"{name}: no column {ids or more[0]!r}; an array has none, give record batches")
        return _edges_table(as_boxes(batch, name))
    table = pa.table(batch).flatten()
    layout = layout_of(flat_names(table.schema), name, ids, more)
    edges = find_edges(table.column_names, name)
    numbers = {edge: edge_numbers(table.column(edge), edge, name) for edge in edges.edges}
    boxes = boxes_from_columns(edges, numbers, name, lambda row: f"row {row}")
    told = _edges_table(boxes)
    for wanted in [*([layout.id] if ids is not None else []), *more]:
        told = told.append_column(wanted, table.column(wanted))
    return told


def _edges_table(boxes: Any) -> Any:
    names = [f"{end}_{axis}" for end in ("min", "max") for axis in "xyz"[: boxes.shape[1] // 2]]
    return pa.table({name: np.ascontiguousarray(boxes[:, k]) for k, name in enumerate(names)})
