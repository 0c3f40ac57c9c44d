"""Input: the files of a source, their metadata, how they are divided into units, and how a unit is read.

In this order: `input_files` finds the files of a source; `buffer_to_files` first writes other sources
(arrays, tables, iterables) to Arrow files; `file_info` reads the metadata of a file; `divide` divides the
files into units that can be read independently; `chunks_of` reads a unit as chunks of boxes.

Files are read some thousand rows at a time.  So decoded columns are still in the processor's cache when they
become boxes, and a row group of any length takes no more memory than a short one.
"""

import errno
import mmap
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc, parquet

from broadphase.errors import FileError, need
from broadphase.inputs.boxes import BoxArray, as_boxes
from broadphase.inputs.foreign import Layout, names_without_header
from broadphase.inputs.rules import bit_sets
from broadphase.io import WITH_PYARROW
from broadphase.io.arrow import (
    as_texts,
    check_no_nulls,
    edge_numbers,
    flat_fields,
    flat_names,
    layout_in,
    one_error,
    open_arrow,
)
from broadphase.io.tables import as_file_error, boxes_from_columns

KINDS = {**WITH_PYARROW, ".npy": "npy"}
RULE_TYPES = {"static": "uint8", "categories": "uint32", "masks": "uint32"}
TEXT = "text"
"""The type of text ids."""
BATCH_ROWS = 1 << 16
"""Rows that are decoded at a time."""
_BUFFER = 1 << 18  # bytes of a Parquet column that are read at a time
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of boxes; ``memory`` is the offset, type and shape of the numbers of a memory map."""

    path: str
    kind: str
    memory: tuple[int, str, tuple[int, ...]] | None = None


@dataclass(frozen=True, slots=True)
class FileInfo:
    """The metadata of a file."""

    dim: int
    single: bool
    """Whether its edges are float32."""
    groups: list[int]
    """Rows of its row groups or record batches; one entry if it has no such parts."""
    id_type: str | None = None
    """``"int64"``, ``"uint64"`` or ``"text"``."""


# ---- files of a source


def is_remote(path: str) -> bool:
    """Whether a path is opened by fsspec."""
    return "://" in path


def file_system(path: str) -> tuple[Any, str]:
    """The file system of a remote path, and the path in it."""
    fsspec = need("fsspec.core", extra="dask", purpose=f"{path}: a path with ://")
    found: tuple[Any, str] = fsspec.url_to_fs(path)
    return found


def open_input(path: str) -> Any:
    """A file that pyarrow reads from; raises ``OSError`` if there is none."""
    if is_remote(path):
        system, inner = file_system(path)
        return pa.PythonFile(system.open(inner, "rb"), mode="r")
    return pa.OSFile(path)


def is_files(source: Any) -> bool:
    """Whether a source consists of files, which can be read more than once and by other processes."""
    if isinstance(source, np.memmap):
        return bool(isinstance(source.base, mmap.mmap) and source.flags.c_contiguous and source.filename)
    if isinstance(source, (list, tuple)):
        return (
            len(source) > 0
            and all(isinstance(one, (str, os.PathLike, np.memmap)) for one in source)
            and all(map(is_files, source))
        )
    return isinstance(source, (str, os.PathLike))


def input_files(source: Any) -> list[InputFile]:
    """The files of a path, a glob, a folder, a memory map or a list of such."""
    if isinstance(source, np.memmap):
        return [InputFile(str(source.filename), "npy", (source.offset, source.dtype.str, source.shape))]
    if isinstance(source, (list, tuple)):
        return [file for one in source for file in input_files(one)]
    path = os.fspath(source)
    found = _remote_paths(path) if is_remote(path) else _local_paths(path)
    if not found:
        raise FileNotFoundError(errno.ENOENT, f"no files of boxes ({', '.join(KINDS)}) there", path)
    return [InputFile(one, _kind(one)) for one in found]


def _kind(path: str) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in KINDS:
        raise FileError(
            f"{path}: the ending {suffix!r} is not known; it may be {', '.join(KINDS)} "
            "(other formats: give an iterable of arrays or record batches)"
        )
    return KINDS[suffix]


def _local_paths(path: str) -> list[str]:
    place = Path(path)
    if place.is_dir():
        return _in_order([str(file) for file in place.rglob("*") if _is_data(file.relative_to(place).parts)])
    if _WILD.search(path) and not place.exists():
        anchor = Path(place.anchor)
        return _in_order(
            [str(file) for file in anchor.glob(str(place.relative_to(anchor))) if file.is_file()]
        )
    with place.open("rb"):  # raises if it cannot be read
        return [path]


def _remote_paths(path: str) -> list[str]:
    system, inner = file_system(path)
    if _WILD.search(inner):
        found = system.glob(inner)
    elif system.isdir(inner):
        found = [file for file in system.find(inner) if _is_data(Path(os.path.relpath(file, inner)).parts)]
    else:
        found = [inner] if system.exists(inner) else []
    return _in_order([system.unstrip_protocol(one) for one in found])


def _is_data(parts: Sequence[str]) -> bool:
    """Whether a file in a folder is data: names that begin with a dot or an underscore are not."""
    return Path(parts[-1]).suffix.lower() in KINDS and not any(part.startswith((".", "_")) for part in parts)


def _in_order(paths: list[str]) -> list[str]:
    """Sorted by name, with numbers in it by their value: ``part.10`` comes after ``part.2``."""
    return sorted(
        paths,
        key=lambda path: [
            (part.isdigit(), int(part) if part.isdigit() else part) for part in re.split(r"(\d+)", path)
        ],
    )


def identity(file: InputFile) -> list[Any]:
    """A value that changes when the file does: its path, size and time."""
    if is_remote(file.path):
        system, inner = file_system(file.path)
        status = system.info(inner)
        marks = [status.get(key) for key in ("size", "ETag", "etag", "mtime", "LastModified", "created")]
        return [file.path, *map(str, marks)]
    local = Path(file.path).stat()
    return [str(Path(file.path).resolve()), local.st_size, local.st_mtime_ns, str(file.memory)]


# ---- the metadata of a file


def file_info(file: InputFile, ids: str | None, more: Sequence[str], rows: int) -> FileInfo:
    """Read the metadata of a file; a file without row groups or batches gets parts of ``rows`` rows.

    Raises
    ------
    FileError
        It cannot be read, has no columns for edges, or lacks the column ``ids`` or one of ``more``.
    """
    if file.kind == "npy":
        return _npy_info(file, ids, more, rows)
    with open_input(file.path) as opened, one_error(file.path, file.kind):
        if file.kind == "Parquet":
            parquet_file = parquet.ParquetFile(opened)
            metadata = parquet_file.metadata
            groups = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
            schema = parquet_file.schema_arrow
        else:
            is_file, reader = open_arrow(opened)
            if is_file:
                groups = [reader.get_batch(k).num_rows for k in range(reader.num_record_batches)]
            else:
                groups = [sum(batch.num_rows for batch in reader)]
            schema = reader.schema
    layout = _layout_of(schema, file.path, ids, more)
    types = dict(flat_fields(schema))
    single = all(types[edge] == pa.float32() for edge in layout.edges)
    sized = any(axis.sized for axis in layout.axes)
    id_type = None if ids is None or layout.id is None else _id_type(types[layout.id])
    return FileInfo(len(layout.axes), single and not sized, groups, id_type)


def _layout_of(schema: Any, path: str, ids: str | None, more: Sequence[str]) -> Layout:
    """Which column is which; all needed columns must exist."""
    layout, names = layout_in(schema, path, ids), flat_names(schema)
    for needed in more:
        if names.count(needed) != 1:
            raise FileError(f"{path}: {names.count(needed) or 'no'} columns {needed!r}; there must be one")
    return layout


def _extra_columns(layout: Layout, ids: str | None, more: Sequence[str]) -> list[str]:
    """The columns that are read in addition to the edges."""
    return [*([layout.id] if ids is not None and layout.id is not None else []), *more]


def own_id_column(file: InputFile) -> str | None:
    """The column ``id`` or ``fid`` of a file, if it has one."""
    if file.kind == "npy":
        return None
    with open_input(file.path) as opened, one_error(file.path, file.kind):
        schema = parquet.read_schema(opened) if file.kind == "Parquet" else open_arrow(opened)[1].schema
    return layout_in(schema, file.path).id


def _id_type(kind: Any) -> str:
    if pa.types.is_integer(kind):
        return "uint64" if kind == pa.uint64() else "int64"
    return TEXT


def _npy_array(file: InputFile) -> Any:
    """The numbers of a ``.npy`` file or a memory map, not yet read."""
    if file.memory is not None:
        offset, kind, shape = file.memory
        return np.memmap(file.path, kind, "r", offset, shape)
    with one_error(file.path, "npy"):
        return np.load(file.path, mmap_mode="r")


def _npy_info(file: InputFile, ids: str | None, more: Sequence[str], rows: int) -> FileInfo:
    needed = ([ids] if ids is not None else []) + list(more)
    if needed:
        raise FileError(f"{file.path}: no column {needed[0]!r}; a .npy file has none")
    if is_remote(file.path):
        raise FileError(
            f"{file.path}: a .npy file is mapped into memory and must be local; use Parquet or Arrow"
        )
    array = _npy_array(file)
    if array.ndim != 2 or array.shape[1] not in (4, 6) or array.dtype.kind not in "iuf":
        raise FileError(
            f"{file.path}: holds {array.dtype} of shape {array.shape}, not numbers of shape (n, 4) or (n, 6)"
        )
    groups = [min(rows, len(array) - begin) for begin in range(0, len(array), rows)]
    return FileInfo(array.shape[1] // 2, array.dtype == np.float32, groups)


# ---- buffering: sources that are not files


def buffer_to_files(
    source: Any,
    name: str,
    folder: Path,
    ids: str | None,
    more: Sequence[str],
    rows: int,
    report: Callable[[int], None],
) -> list[InputFile]:
    """Write all batches of ``source`` to Arrow files in ``folder``, in batches of at most ``rows`` rows.

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
        report(table.num_rows)
    return files


def _batches(source: Any, name: str) -> Iterator[Any]:
    if _is_one_batch(source):
        return iter([source])
    if isinstance(source, Iterable):
        return iter(source)
    raise TypeError(
        f"{name} must be a path, a glob, a folder, an array, or an iterable of arrays or record batches; "
        f"got {type(source).__name__}"
    )


def _is_one_batch(source: Any) -> bool:
    """Whether this is one batch and not a sequence of them."""
    if isinstance(source, pa.RecordBatchReader):
        return False
    if isinstance(source, list) and source:
        return isinstance(source[0], (list, tuple)) or np.isscalar(source[0])
    return hasattr(source, "__array__") or _is_table(source)


def _is_table(batch: Any) -> bool:
    return hasattr(batch, "__arrow_c_stream__") or hasattr(batch, "__arrow_c_array__")


def _table(batch: Any, name: str, ids: str | None, more: Sequence[str]) -> Any:
    """The columns of a batch that are needed, checked."""
    if hasattr(type(batch), "geom_type"):
        return _shapes_table(batch, name, ids, more)
    if not _is_table(batch) or isinstance(batch, np.ndarray):
        if ids is not None or more:
            raise ValueError(f"{name}: no column {ids or more[0]!r}; an array has none, give record batches")
        return _edges_table(as_boxes(batch, name))
    table = pa.table(batch)
    layout, table = _layout_of(table.schema, name, ids, more), table.flatten()
    numbers = {edge: edge_numbers(table.column(edge), edge, name) for edge in layout.edges}
    checked = _edges_table(boxes_from_columns(layout, numbers, name, lambda row: f"row {row}"))
    for column in _extra_columns(layout, ids, more):
        checked = checked.append_column(column, table.column(column))
    return checked


def _shapes_table(shapes: Any, name: str, ids: str | None, more: Sequence[str]) -> Any:
    """The same for a GeoDataFrame or GeoSeries, whose boxes are the bounds of its shapes."""
    table = _edges_table(as_boxes(shapes, name))
    for column in [*([] if ids is None else [ids]), *more]:
        if column not in getattr(shapes, "columns", ()):
            raise ValueError(f"{name}: no column {column!r}")
        table = table.append_column(column, pa.array(shapes[column]))
    return table


def _edges_table(boxes: Any) -> Any:
    names = names_without_header(boxes.shape[1])
    return pa.table({name: np.ascontiguousarray(boxes[:, k]) for k, name in enumerate(names)})


# ---- units of work


@dataclass(frozen=True, slots=True)
class Piece:
    """Row groups, record batches or rows ``first .. last - 1`` of a file."""

    file: InputFile
    first: int
    last: int
    rows: int
    file_row: int
    """The row of the file at which it begins."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What one task reads: about a chunk of rows, or a row group that is larger."""

    number: int
    side: int
    first_row: int
    """The row of all the input of its side at which it begins."""
    first_chunk: int
    rows: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Input:
    """All input of a call, of one side or of two."""

    units: list[Unit]
    rows: tuple[int, ...]
    """Of each side."""
    id_types: tuple[str | None, ...]
    """Of each side."""

    @property
    def total(self) -> int:
        """Rows of all sides."""
        return sum(self.rows)


def common_type(sides: Sequence[list[InputFile]], infos: Sequence[list[FileInfo]]) -> tuple[int, str]:
    """The dimension that all files share, and the type in which their boxes are computed."""
    every = [
        (file, info)
        for files, own in zip(sides, infos, strict=True)
        for file, info in zip(files, own, strict=True)
    ]
    for file, info in every:
        if info.dim != every[0][1].dim:
            raise FileError(
                f"{file.path}: is {info.dim}-D and {every[0][0].path} is {every[0][1].dim}-D; "
                "all files must have the same dimension"
            )
    dim = every[0][1].dim if every else 2
    return dim, "float32" if every and all(info.single for _, info in every) else "float64"


def divide(sides: Sequence[list[InputFile]], infos: Sequence[list[FileInfo]], rows: int) -> Input:
    """Divide the files into units of about this many rows."""
    units: list[Unit] = []
    chunk = 0
    for side, (files, own) in enumerate(zip(sides, infos, strict=True)):
        first_row = 0
        pieces = list(_pieces(files, own))
        for begin, end in grouped([piece.rows for piece in pieces], rows):
            total = sum(piece.rows for piece in pieces[begin:end])
            units.append(Unit(len(units), side, first_row, chunk, total, tuple(pieces[begin:end])))
            first_row += total
            chunk += -(-total // rows)
    totals = tuple(sum(sum(info.groups) for info in own) for own in infos)
    return Input(units, totals, tuple(map(_common_id_type, infos)))


def _common_id_type(infos: list[FileInfo]) -> str | None:
    kinds = {info.id_type for info in infos}
    if len(kinds) > 1:
        return TEXT
    return kinds.pop() if kinds else None


def _pieces(files: list[InputFile], infos: list[FileInfo]) -> Iterator[Piece]:
    for file, info in zip(files, infos, strict=True):
        file_row = 0
        for k, size in enumerate(info.groups):
            first, last = (file_row, file_row + size) if file.kind == "npy" else (k, k + 1)
            if size:
                yield Piece(file, first, last, size, file_row)
            file_row += size


def grouped(sizes: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Ranges of parts that have at most this size together, or of one part; where there is nothing, none."""
    begin = held = 0
    for k, size in enumerate(sizes):
        if held and held + size > most:
            yield begin, k
            begin, held = k, 0
        held += size
    if held:
        yield begin, len(sizes)


# ---- reading a unit


@dataclass(frozen=True, slots=True)
class ReadOptions:
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
    """Boxes, and by name the other columns of their rows."""

    boxes: BoxArray
    columns: dict[str, Any]
    """NumPy arrays; text as pyarrow arrays."""


def chunks_of(unit: Unit, options: ReadOptions, given: Mapping[str, npt.NDArray[Any]]) -> Iterator[Chunk]:
    """The boxes of a unit, ``options.rows`` at a time; ``given`` are rules that came as arrays.

    Raises
    ------
    FileError
        A row is invalid, or a file changed since `file_info` looked at it.
    """
    boxes, parts = _empty(options), []
    filled = done = 0
    for piece in unit.pieces:
        for batch in batches_of(piece, unit.side, options):
            at = 0
            while at < len(batch.boxes):
                take = min(len(batch.boxes) - at, options.rows - filled)
                boxes[filled : filled + take] = batch.boxes[at : at + take]
                parts.append({name: values[at : at + take] for name, values in batch.columns.items()})
                filled, at = filled + take, at + take
                if filled == options.rows:
                    yield Chunk(boxes, _joined(parts, given, done, filled))
                    boxes, parts, done, filled = _empty(options), [], done + filled, 0
    if filled:
        yield Chunk(boxes[:filled], _joined(parts, given, done, filled))
    if done + filled != unit.rows:
        raise FileError(
            f"{unit.pieces[0].file.path}: has {done + filled} rows where there were {unit.rows} before; "
            "it was written to during the call"
        )


def _empty(options: ReadOptions) -> BoxArray:
    return np.empty((options.rows, 2 * options.dim), options.dtype)


def _joined(
    parts: list[dict[str, Any]], given: Mapping[str, npt.NDArray[Any]], begin: int, rows: int
) -> dict[str, Any]:
    columns = {
        name: np.concatenate([part[name] for part in parts])
        if isinstance(parts[0][name], np.ndarray)
        else pa.chunked_array([part[name] for part in parts]).combine_chunks()
        for name in parts[0]
    }
    return columns | {name: values[begin : begin + rows] for name, values in given.items()}


def batches_of(piece: Piece, side: int, options: ReadOptions) -> Iterator[Chunk]:
    """The rows of a piece, some thousand at a time."""
    path = piece.file.path
    if piece.file.kind == "npy":
        array = _npy_array(piece.file)
        for begin in range(piece.first, piece.last, BATCH_ROWS):
            rows = np.array(array[begin : min(begin + BATCH_ROWS, piece.last)])
            yield Chunk(_checked_rows(rows, path, begin), {})
        return
    row = piece.file_row
    for table, layout in _tables(piece, options.ids[side], tuple(options.rules.values())):
        yield _chunk_from(table, layout, path, row, options.rules, options.id_types[side])
        row += table.num_rows


def _checked_rows(rows: npt.NDArray[Any], path: str, first: int) -> BoxArray:
    try:
        return as_boxes(rows, path)
    except ValueError:
        low, high = np.split(rows, 2, axis=1)
        bad = int(np.flatnonzero(~(low <= high).all(axis=1))[0])
        try:
            return as_boxes(rows[bad : bad + 1], path)
        except ValueError as error:
            raise FileError(str(error).replace(f"{path}[0]", f"{path}: row {first + bad}", 1)) from None


def _tables(piece: Piece, ids: str | None, more: Sequence[str]) -> Iterator[tuple[Any, Layout]]:
    """The rows of a piece, at most `BATCH_ROWS` at a time, and which column is which."""
    path, kind, parts = piece.file.path, piece.file.kind, range(piece.first, piece.last)
    with open_input(path) as opened:
        with one_error(path, kind):
            file = parquet.ParquetFile(opened, buffer_size=_BUFFER) if kind == "Parquet" else None
            schema = open_arrow(opened)[1].schema if file is None else file.schema_arrow
        layout = _layout_of(schema, path, ids, more)
        columns = [*layout.edges, *_extra_columns(layout, ids, more)]
        if file is not None:
            batches = file.iter_batches(BATCH_ROWS, parts, columns, use_threads=False)
        else:
            fields = [k for k, field in enumerate(schema) if not {*columns}.isdisjoint(flat_names([field]))]
            with one_error(path, kind):
                is_file, reader = open_arrow(opened, ipc.IpcReadOptions(included_fields=fields))
            batches = map(reader.get_batch, parts) if is_file else iter(reader)
        while (batch := _next(batches, path, kind)) is not None:
            for begin in range(0, batch.num_rows, BATCH_ROWS):
                yield pa.table(batch.slice(begin, BATCH_ROWS)).flatten(), layout


def _next(batches: Iterator[Any], path: str, kind: str) -> Any:
    with one_error(path, kind):
        batch = next(batches, None)
        if batch is not None:
            batch.validate(full=True)  # pyarrow trusts a file's metadata
        return batch


def _chunk_from(
    table: Any, layout: Layout, path: str, first_row: int, rules: Mapping[str, str], id_type: str | None
) -> Chunk:
    """The boxes of a table whose first row is row ``first_row`` of ``path``, and their columns."""
    edges = {edge: edge_numbers(table.column(edge), edge, path, first_row) for edge in layout.edges}
    boxes = boxes_from_columns(layout, edges, path, lambda row: f"row {first_row + row}")
    columns = {
        rule: _rule_column(table.column(name), rule, name, path, first_row) for rule, name in rules.items()
    }
    if id_type is not None and layout.id is not None:
        columns["ids"] = _id_column(table.column(layout.id), layout.id, path, first_row, id_type)
    return Chunk(boxes, columns)


def _rule_column(column: Any, rule: str, name: str, path: str, first_row: int) -> npt.NDArray[Any]:
    check_no_nulls(column, name, path, first_row)
    fits = pa.types.is_boolean if rule == "static" else pa.types.is_integer
    if not fits(column.type):
        expected = "bool" if rule == "static" else "integers, sets of 32 bits,"
        raise FileError(f"{path}: column {name} holds {column.type}, where {expected} belong for {rule}")
    values = column.to_numpy(zero_copy_only=False)
    if rule == "static":
        return np.asarray(values, np.uint8)
    with as_file_error():
        return bit_sets(values, len(values), f"{path}: column {name}, from row {first_row}")


def _id_column(column: Any, name: str, path: str, first_row: int, id_type: str) -> Any:
    check_no_nulls(column, name, path, first_row)
    if id_type != TEXT:
        return column.cast(pa.type_for_alias(id_type)).to_numpy()
    return as_texts(column, name, path).combine_chunks()
