"""A unit of input becomes chunks of boxes, with what is known of each box beside them.

Files are read some thousand rows at a time, so that what was decoded is still near when it becomes boxes, and
a row group of any length takes no more memory than a short one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc, parquet

from broadphase.boxes import BoxArray, as_boxes, bit_sets
from broadphase.columns import Layout
from broadphase.errors import FileError
from broadphase.files.arrow import edge_numbers, flat_names, one_error
from broadphase.files.columns import boxes_from_columns
from broadphase.outofcore.files_of import layout_of, npy_array, open_input
from broadphase.outofcore.sources import Piece, Unit

AT_ONCE = 1 << 16  # rows
_BUFFER = 1 << 18  # bytes of a column that are read at a time

RULES = ("static", "categories", "masks")
RULE_TYPES = {"static": "uint8", "categories": "uint32", "masks": "uint32"}


@dataclass(frozen=True, slots=True)
class Reading:
    """How input is read."""

    dim: int
    dtype: str
    rows: int
    """The most rows of a chunk."""
    ids: tuple[str | None, ...]
    """The column of the ids of each side."""
    id_types: tuple[str | None, ...]
    rules: Mapping[str, str]
    """Which column holds the static flags, the categories, the masks."""


@dataclass(slots=True)
class Chunk:
    """Boxes, and by name what is known of each of them."""

    boxes: BoxArray
    columns: dict[str, Any]
    """Arrays of NumPy; of text, of pyarrow."""


def chunks_of(unit: Unit, reading: Reading, given: Mapping[str, npt.NDArray[Any]]) -> Iterator[Chunk]:
    """The boxes of a unit, ``reading.rows`` at a time; ``given`` are rules that came as arrays.

    Raises
    ------
    FileError
        A row is unsound, or a file is not what it was when it was looked at first.
    """
    boxes, parts = _empty(reading), []
    filled = done = 0
    for piece in unit.pieces:
        for batch in batches_of(piece, unit.side, reading):
            at = 0
            while at < len(batch.boxes):
                take = min(len(batch.boxes) - at, reading.rows - filled)
                boxes[filled : filled + take] = batch.boxes[at : at + take]
                parts.append({name: values[at : at + take] for name, values in batch.columns.items()})
                filled, at = filled + take, at + take
                if filled == reading.rows:
                    yield Chunk(boxes, _together(parts, given, done, filled))
                    boxes, parts, done, filled = _empty(reading), [], done + filled, 0
    if filled:
        yield Chunk(boxes[:filled], _together(parts, given, done, filled))
    if done + filled != unit.rows:
        raise FileError(
            f"{unit.pieces[0].file.path}: has {done + filled} rows where there were {unit.rows} before; "
            "it was written to during the call"
        )


def _empty(reading: Reading) -> BoxArray:
    return np.empty((reading.rows, 2 * reading.dim), reading.dtype)


def _together(
    parts: list[dict[str, Any]], given: Mapping[str, npt.NDArray[Any]], begin: int, rows: int
) -> dict[str, Any]:
    columns = {
        name: np.concatenate([part[name] for part in parts])
        if isinstance(parts[0][name], np.ndarray)
        else pa.chunked_array([part[name] for part in parts]).combine_chunks()
        for name in parts[0]
    }
    return columns | {name: values[begin : begin + rows] for name, values in given.items()}


def batches_of(piece: Piece, side: int, reading: Reading) -> Iterator[Chunk]:
    """The rows of a piece, some thousand at a time."""
    if piece.file.kind == "npy":
        array = npy_array(piece.file)
        for begin in range(piece.first, piece.last, AT_ONCE):
            rows = np.array(array[begin : min(begin + AT_ONCE, piece.last)])
            yield Chunk(_sound(rows, piece.file.path, begin), {})
        return
    row = piece.file_row
    tables = _parquet_tables if piece.file.kind == "Parquet" else _arrow_tables
    for table, layout in tables(piece, reading.ids[side], tuple(reading.rules.values())):
        yield chunk_from(table, layout, piece.file.path, row, reading.rules, reading.id_types[side])
        row += table.num_rows


def _sound(rows: npt.NDArray[Any], path: str, first: int) -> BoxArray:
    try:
        return as_boxes(rows, path)
    except ValueError:
        low, high = np.split(rows, 2, axis=1)
        bad = int(np.flatnonzero(~(low <= high).all(axis=1))[0])
        try:
            return as_boxes(rows[bad : bad + 1], path)
        except ValueError as error:
            raise FileError(str(error).replace(f"{path}[0]", f"{path}: row {first + bad}", 1)) from None


def _parquet_tables(piece: Piece, ids: str | None, more: Sequence[str]) -> Iterator[tuple[Any, Layout]]:
    path = piece.file.path
    with open_input(path) as opened:
        with one_error(path, "Parquet"):
            file = parquet.ParquetFile(opened, buffer_size=_BUFFER)
            names = flat_names(file.schema_arrow)
        layout = layout_of(names, path, ids, more)
        wanted = [*layout.edges, *([layout.id] if ids is not None else []), *more]
        batches = file.iter_batches(AT_ONCE, range(piece.first, piece.last), wanted, use_threads=False)
        while (batch := _next(batches, path, "Parquet")) is not None:
            yield pa.table(batch).flatten(), layout


def _arrow_tables(piece: Piece, ids: str | None, more: Sequence[str]) -> Iterator[tuple[Any, Layout]]:
    path = piece.file.path
    with open_input(path) as opened:
        with one_error(path, "Arrow"):
            is_file = opened.read(6) == b"ARROW1"
            opened.seek(0)
            make = ipc.open_file if is_file else ipc.open_stream
            schema = make(opened).schema
            opened.seek(0)
        names = flat_names(schema)
        layout = layout_of(names, path, ids, more)
        wanted = {*layout.edges, *([layout.id] if ids is not None else []), *more}
        fields = [k for k, field in enumerate(schema) if not wanted.isdisjoint(flat_names([field]))]
        with one_error(path, "Arrow"):
            reader = make(opened, options=ipc.IpcReadOptions(included_fields=fields))
        batches = map(reader.get_batch, range(piece.first, piece.last)) if is_file else iter(reader)
        while (batch := _next(batches, path, "Arrow")) is not None:
            for begin in range(0, batch.num_rows, AT_ONCE):
                yield pa.table(batch.slice(begin, AT_ONCE)).flatten(), layout


def _next(batches: Iterator[Any], path: str, kind: str) -> Any:
    with one_error(path, kind):
        batch = next(batches, None)
        if batch is not None:
            batch.validate(full=True)  # pyarrow believes what a file says of itself
        return batch


def chunk_from(
    table: Any, layout: Layout, path: str, first_row: int, rules: Mapping[str, str], id_type: str | None
) -> Chunk:
    """The boxes of a table whose first row is row ``first_row`` of ``path``, and their columns."""
    edges = {edge: edge_numbers(table.column(edge), edge, path, first_row) for edge in layout.edges}
    boxes = boxes_from_columns(layout, edges, path, lambda row: f"row {first_row + row}")
    columns = {rule: _rule(table.column(name), rule, name, path, first_row) for rule, name in rules.items()}
    if id_type is not None and layout.id is not None:
        columns["ids"] = _ids(table.column(layout.id), layout.id, path, first_row, id_type)
    return Chunk(boxes, columns)


def _no_nulls(column: Any, name: str, path: str, first_row: int) -> None:
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise FileError(f"{path}: row {first_row + row}, column {name}: is empty (null)")


def _rule(column: Any, rule: str, name: str, path: str, first_row: int) -> npt.NDArray[Any]:
    _no_nulls(column, name, path, first_row)
    fits = pa.types.is_boolean if rule == "static" else pa.types.is_integer
    if not fits(column.type):
        wanted = "bool" if rule == "static" else "integers, sets of 32 bits,"
        raise FileError(f"{path}: column {name} holds {column.type}, where {wanted} belong for {rule}")
    values = column.to_numpy(zero_copy_only=False)
    if rule == "static":
        return np.asarray(values, np.uint8)
    try:
        return bit_sets(values, len(values), f"{path}: column {name}, from row {first_row}")
    except ValueError as error:
        raise FileError(str(error)) from None


def _ids(column: Any, name: str, path: str, first_row: int, id_type: str) -> Any:
    _no_nulls(column, name, path, first_row)
    if id_type != "text":
        return column.cast(pa.type_for_alias(id_type)).to_numpy()
    try:
        return column.cast(pa.large_string()).combine_chunks()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise FileError(f"{path}: column {name} holds {column.type}, which does not serve as an id") from None
