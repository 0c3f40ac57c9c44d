"""Input: the files of a source, how they are divided into units, and how a unit is read.

`input_files` finds the files of a source; `buffer_to_files` first writes other sources (arrays, tables,
iterables) to files.  `file_info` looks at what a file says of itself, `divide` divides the files into units
that can be read independently, and `chunks_of` reads a unit as tables of boxes.  pyarrow and NumPy read,
some thousand rows at a time: decoded columns are still in the processor's cache when they become boxes, and
a row group of any length takes no more memory than a short one.
"""

import errno
import mmap
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
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
RULE_TYPES = {"static": pa.uint8(), "categories": pa.uint32(), "masks": pa.uint32()}
_BATCH_ROWS = 1 << 16
_GROUP_ROWS = 1 << 20  # rows of a .npy file that are read together
_BUFFER = 1 << 18  # bytes of a Parquet column that are read at a time
_WILD = re.compile(r"[*?\[]")


class InputFile(NamedTuple):
    """A file of boxes."""

    path: str
    kind: str
    name: str
    """What it is called in messages."""
    mapped: tuple[int, str, tuple[int, ...]] | None = None
    """Of a memory map: the offset, type and shape of its numbers."""


# ---- files of a source


def is_remote(path: str) -> bool:
    """Whether a path is opened by fsspec."""
    return "://" in path


def file_system(path: str) -> tuple[Any, str]:
    """The file system of a remote path, and the path in it."""
    fsspec = need("fsspec.core", extra="dask", purpose=f"{path}: a path with ://")
    found: tuple[Any, str] = fsspec.url_to_fs(path)
    return found


def is_files(source: Any) -> bool:
    """Whether a source consists of files, which can be read more than once and by other processes."""
    if isinstance(source, np.memmap):
        return bool(isinstance(source.base, mmap.mmap) and source.flags.c_contiguous and source.filename)
    if isinstance(source, (list, tuple)):
        kinds = (str, os.PathLike, np.memmap)
        return len(source) > 0 and all(isinstance(item, kinds) and is_files(item) for item in source)
    return isinstance(source, (str, os.PathLike))


def input_files(source: Any) -> list[InputFile]:
    """The files of a path, a glob, a folder, a memory map or a list of such."""
    if isinstance(source, np.memmap):
        name = str(source.filename)
        return [InputFile(name, "npy", name, (source.offset, source.dtype.str, source.shape))]
    if isinstance(source, (list, tuple)):
        return [file for item in source for file in input_files(item)]
    path = os.fspath(source)
    paths = _remote_paths(path) if is_remote(path) else _local_paths(path)
    if not paths:
        raise FileNotFoundError(errno.ENOENT, f"no files of boxes ({', '.join(KINDS)}) there", path)
    # By name, with numbers in it by their value: ``part.10`` comes after ``part.2``.
    parts = {path: re.split(r"(\d+)", path) for path in paths}
    paths.sort(
        key=lambda path: [(part.isdigit(), int(part) if part.isdigit() else part) for part in parts[path]]
    )
    return [InputFile(path, _kind(path), path) for path in paths]


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
        return [str(file) for file in place.rglob("*") if _is_data(file.relative_to(place))]
    if _WILD.search(path) and not place.exists():
        anchor = Path(place.anchor)
        return [str(file) for file in anchor.glob(str(place.relative_to(anchor))) if file.is_file()]
    with place.open("rb"):  # raises if it cannot be read
        return [path]


def _remote_paths(path: str) -> list[str]:
    system, inner = file_system(path)
    if _WILD.search(inner):
        paths = system.glob(inner)
    elif system.isdir(inner):
        paths = [file for file in system.find(inner) if _is_data(Path(os.path.relpath(file, inner)))]
    else:
        paths = [inner] if system.exists(inner) else []
    return list(map(system.unstrip_protocol, paths))


def _is_data(path: Path) -> bool:
    """Whether a file in a folder is data: names that begin with a dot or an underscore are not."""
    return path.suffix.lower() in KINDS and not any(part.startswith((".", "_")) for part in path.parts)


def identity(file: InputFile) -> list[Any]:
    """A value that changes when the file does: its path, size and time."""
    if is_remote(file.path):
        system, inner = file_system(file.path)
        status = system.info(inner)
        keys = ("size", "ETag", "etag", "mtime", "LastModified", "created")
        return [file.path, *(str(status.get(key)) for key in keys)]
    status = Path(file.path).stat()
    return [str(Path(file.path).resolve()), status.st_size, status.st_mtime_ns, str(file.mapped)]


# ---- sources that are not files


def buffer_to_files(
    source: Any, name: str, folder: Path, ids: str | None, rules: Sequence[str], report: Callable[[int], None]
) -> list[InputFile]:
    """Write all batches of ``source`` to files in ``folder``.

    Raises
    ------
    TypeError, ValueError
        A batch holds no boxes; batch, row and value are named.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not _is_one_batch(source) and not isinstance(source, Iterable):
        raise TypeError(
            f"{name} must be a path, a glob, a folder, an array, or an iterable of arrays or record batches; "
            f"got {type(source).__name__}"
        )
    files: list[InputFile] = []
    for number, batch in enumerate([source] if _is_one_batch(source) else source):
        batch_name = f"{name}, batch {number}"
        if hasattr(type(batch), "geom_type"):
            batch = _bounds_of(batch, batch_name, [*([] if ids is None else [ids]), *rules])
        if _is_table(batch):
            file = InputFile(str(folder / f"{number:06}.arrow"), "Arrow", batch_name)
            table = pa.table(batch)
            layout = _layout_of(table.schema, file, ids, rules)
            table = table.flatten().select(_columns(layout, ids, rules))
            with pa.OSFile(file.path, "wb") as opened, ipc.new_file(opened, table.schema) as writer:
                writer.write_table(table, max_chunksize=_GROUP_ROWS)
        else:
            file = InputFile(str(folder / f"{number:06}.npy"), "npy", batch_name)
            np.save(file.path, as_boxes(batch, batch_name))
        files.append(file)
        report(sum(file_info(file, ids, rules).sizes))
    return files


def _is_one_batch(source: Any) -> bool:
    """Whether this is one batch and not a sequence of them."""
    if isinstance(source, pa.RecordBatchReader):
        return False
    if isinstance(source, list) and source:
        return isinstance(source[0], (list, tuple)) or np.isscalar(source[0])
    return hasattr(source, "__array__") or _is_table(source)


def _is_table(batch: Any) -> bool:
    return hasattr(batch, "__arrow_c_stream__") or hasattr(batch, "__arrow_c_array__")


def _bounds_of(shapes: Any, name: str, columns: Sequence[str]) -> Any:
    """The bounds of the shapes of a GeoDataFrame or GeoSeries, and these columns."""
    boxes = as_boxes(shapes, name)
    table = pa.table(list(boxes.T.copy()), names_without_header(boxes.shape[1]))
    for column in columns:
        if column not in getattr(shapes, "columns", ()):
            raise ValueError(f"{name}: no column {column!r}")
        table = table.append_column(column, pa.array(shapes[column]))
    return table


# ---- what a file says of itself


class OpenFile(NamedTuple):
    """A file that is open."""

    schema: Any
    sizes: list[int]
    """The rows of its row groups, record batches or, in ``.npy``, equal shares."""
    read: Callable[[range, list[str]], Iterator[Any]]
    """Reads some of them; only some columns of each."""


@contextmanager
def opened(file: InputFile) -> Iterator[OpenFile]:
    """Open a file.

    Raises
    ------
    FileError
        It cannot be read.
    """
    if file.kind == "npy":
        yield _open_npy(file)
        return
    with _source(file.path) as source:
        with one_error(file.name, file.kind):
            found = _open_parquet(source) if file.kind == "Parquet" else _open_ipc(source)
        yield found


def _source(path: str) -> Any:
    if is_remote(path):
        system, inner = file_system(path)
        return pa.PythonFile(system.open(inner, "rb"), mode="r")
    return pa.OSFile(path)


def _open_parquet(source: Any) -> OpenFile:
    file = parquet.ParquetFile(source, buffer_size=_BUFFER)
    sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
    return OpenFile(
        file.schema_arrow,
        sizes,
        lambda groups, columns: file.iter_batches(_BATCH_ROWS, groups, columns, use_threads=False),
    )


def _open_ipc(source: Any) -> OpenFile:
    is_file, reader = open_arrow(source)
    schema = reader.schema
    if is_file:
        sizes = [reader.get_batch(k).num_rows for k in range(reader.num_record_batches)]
    else:
        sizes = [sum(batch.num_rows for batch in reader)]

    def read(batches: range, columns: list[str]) -> Iterator[Any]:
        fields = [k for k, field in enumerate(schema) if not {*columns}.isdisjoint(flat_names([field]))]
        _, reader = open_arrow(source, ipc.IpcReadOptions(included_fields=fields))
        return map(reader.get_batch, batches) if is_file else iter(reader)

    return OpenFile(schema, sizes, read)


def _open_npy(file: InputFile) -> OpenFile:
    if is_remote(file.path):
        raise FileError(
            f"{file.path}: a .npy file is mapped into memory and must be local; use Parquet or Arrow"
        )
    if file.mapped is not None:
        offset, kind, shape = file.mapped
        array = np.memmap(file.path, kind, "r", offset, shape)
    else:
        with one_error(file.name, "npy"):
            array = np.load(file.path, mmap_mode="r")
    if array.ndim != 2 or array.shape[1] not in (4, 6) or array.dtype.kind not in "iuf":
        raise FileError(
            f"{file.name}: holds {array.dtype} of shape {array.shape}, not numbers of shape (n, 4) or (n, 6)"
        )
    number = pa.float32() if array.dtype == np.float32 else pa.float64()
    schema = pa.schema([(name, number) for name in names_without_header(array.shape[1])])
    starts = range(0, len(array), _GROUP_ROWS)

    def read(groups: range, columns: list[str]) -> Iterator[Any]:
        for begin in range(
            groups.start * _GROUP_ROWS, min(groups.stop * _GROUP_ROWS, len(array)), _BATCH_ROWS
        ):
            rows = array[begin : begin + _BATCH_ROWS].T.astype(number.to_pandas_dtype(), "C")
            yield pa.record_batch(list(rows), schema=schema)

    return OpenFile(schema, [min(_GROUP_ROWS, len(array) - begin) for begin in starts], read)


@dataclass(frozen=True, slots=True)
class FileInfo:
    """What a file says of itself."""

    dim: int
    single: bool
    """Whether its edges are float32."""
    sizes: list[int]
    """The rows of its row groups or record batches."""
    id: str | None
    """The column of ids: the one that is asked for, else ``id`` or ``fid``."""
    id_type: Any
    """int64, uint64 or text."""


def file_info(file: InputFile, ids: str | None = None, rules: Sequence[str] = ()) -> FileInfo:
    """Look at the schema of a file.

    Raises
    ------
    FileError
        It cannot be read, has no columns for edges, or lacks the column ``ids`` or one of ``rules``.
    """
    with opened(file) as found:
        schema, sizes = found.schema, found.sizes
    layout = _layout_of(schema, file, ids, rules)
    types = dict(flat_fields(schema))
    single = all(types[edge] == pa.float32() for edge in layout.edges)
    sized = any(axis.sized for axis in layout.axes)
    id_type = None
    if layout.id is not None:
        id_type = types[layout.id]
        is_number = pa.types.is_integer(id_type)
        id_type = pa.large_string() if not is_number else pa.int64() if id_type != pa.uint64() else id_type
    return FileInfo(len(layout.axes), single and not sized, sizes, layout.id, id_type)


def _layout_of(schema: Any, file: InputFile, ids: str | None, rules: Sequence[str]) -> Layout:
    """Which column is which; all needed columns must exist."""
    needed = [*([] if ids is None else [ids]), *rules]
    if file.kind == "npy" and needed:
        raise FileError(f"{file.name}: no column {needed[0]!r}; an array has none, give tables")
    layout, names = layout_in(schema, file.name, ids), flat_names(schema)
    for column in rules:
        if (count := names.count(column)) != 1:
            raise FileError(f"{file.name}: {count or 'no'} columns {column!r}; there must be one")
    return layout


def _columns(layout: Layout, ids: str | None, rules: Sequence[str]) -> list[str]:
    """The columns to read."""
    return [*layout.edges, *rules, *([] if ids is None or layout.id is None else [layout.id])]


# ---- units of work


class Piece(NamedTuple):
    """Row groups or record batches of a file that follow each other."""

    file: InputFile
    groups: range
    first_row: int
    """The row of the file at which it begins."""


class Unit(NamedTuple):
    """What one task reads: about a chunk of rows, or a row group that is larger."""

    side: int
    first_row: int
    """The row of all the input of its side at which it begins."""
    first_chunk: int
    rows: int
    pieces: tuple[Piece, ...]


class Input(NamedTuple):
    """All input of a call, of one side or of two."""

    units: list[Unit]
    rows: list[int]
    """Of each side."""
    chunk_sides: list[int]
    """The side of each chunk."""
    schemas: list[Any]
    """Of each side, as chunks are stored: ``box``, ``row``, then rules and ``id``."""


def divide(
    sides: Sequence[list[InputFile]], infos: Sequence[list[FileInfo]], schemas: list[Any], most: int
) -> Input:
    """Divide the files into units and chunks of at most ``most`` rows; a larger row group is one unit."""
    units: list[Unit] = []
    chunk_sides: list[int] = []
    totals = []
    for side, (files, side_infos) in enumerate(zip(sides, infos, strict=True)):
        pieces, sizes = [], []
        for file, info in zip(files, side_infos, strict=True):
            file_row = 0
            for k, size in enumerate(info.sizes):
                pieces.append(Piece(file, range(k, k + 1), file_row))
                sizes.append(size)
                file_row += size
        first_row = 0
        for begin, end in grouped(sizes, most):
            rows = sum(sizes[begin:end])
            units.append(Unit(side, first_row, len(chunk_sides), rows, tuple(pieces[begin:end])))
            chunk_sides += [side] * -(-rows // most)
            first_row += rows
        totals.append(first_row)
    return Input(units, totals, chunk_sides, schemas)


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

    rows: int
    """The most rows of a chunk."""
    ids: tuple[str | None, ...]
    """The column of the ids of each side."""
    rules: Mapping[str, str]
    """Which column holds the static flags, the categories, the masks."""
    schemas: list[Any]
    """Of each side, see `Input`."""


def box_column(boxes: BoxArray) -> Any:
    """Boxes as a column of a table."""
    return pa.FixedSizeListArray.from_arrays(pa.array(boxes.reshape(-1)), boxes.shape[1])


def boxes_in(table: Any) -> BoxArray:
    """The boxes of a table."""
    column = table.column("box")
    numbers = np.empty((len(column), column.type.list_size), column.type.value_type.to_pandas_dtype())
    begin = 0
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        numbers[begin : begin + len(chunk)] = chunk.flatten().to_numpy().reshape(-1, numbers.shape[1])
        begin += len(chunk)
    return numbers


def chunks_of(unit: Unit, options: ReadOptions) -> Iterator[Any]:
    """The boxes of a unit as tables, ``options.rows`` at a time.

    Raises
    ------
    FileError
        A row is invalid, or a file changed since `file_info` looked at it.
    """
    held: list[Any] = []
    count = total = 0
    for table in tables_of(unit, options):
        while table.num_rows:
            held.append(table.slice(0, options.rows - count))
            table = table.slice(options.rows - count)
            count += held[-1].num_rows
            total += held[-1].num_rows
            if count == options.rows:
                yield pa.concat_tables(held)
                held, count = [], 0
    if held:
        yield pa.concat_tables(held)
    if total != unit.rows:
        raise FileError(
            f"{unit.pieces[0].file.name}: has {total} rows where there were {unit.rows} before; "
            "it was written to during the call"
        )


def tables_of(unit: Unit, options: ReadOptions) -> Iterator[Any]:
    """The boxes of a unit as tables of some thousand rows, in the order of the rows."""
    ids, rules = options.ids[unit.side], list(options.rules.values())
    for piece in unit.pieces:
        file, row = piece.file, piece.first_row
        with opened(file) as found:
            layout = _layout_of(found.schema, file, ids, rules)
            batches = found.read(piece.groups, _columns(layout, ids, rules))
            while (batch := _next(batches, file)) is not None:
                for begin in range(0, batch.num_rows, _BATCH_ROWS):
                    table = pa.table(batch.slice(begin, _BATCH_ROWS)).flatten()
                    yield _checked(table, layout, file.name, row, options, unit.side)
                    row += table.num_rows


def _next(batches: Iterator[Any], file: InputFile) -> Any:
    with one_error(file.name, file.kind):
        batch = next(batches, None)
        if batch is not None:
            batch.validate(full=True)  # pyarrow trusts a file's metadata
        return batch


def _checked(table: Any, layout: Layout, name: str, first_row: int, options: ReadOptions, side: int) -> Any:
    """The boxes of a table that begins at ``first_row`` of its file, its rules and its ids."""
    schema = options.schemas[side]
    edges = {edge: edge_numbers(table.column(edge), edge, name, first_row) for edge in layout.edges}
    boxes = boxes_from_columns(layout, edges, name, lambda row: f"row {first_row + row}")
    kind = schema.field("box").type.value_type.to_pandas_dtype()
    columns = {"box": box_column(boxes.astype(kind, copy=False))}
    for rule, column in options.rules.items():
        columns[rule] = _rule_column(table.column(column), rule, column, name, first_row)
    if options.ids[side] is not None and layout.id is not None:
        ids = table.column(layout.id)
        check_no_nulls(ids, layout.id, name, first_row)
        kind = schema.field("id").type
        columns["id"] = ids.cast(kind) if pa.types.is_integer(kind) else as_texts(ids, layout.id, name)
    return pa.table(columns)


def _rule_column(column: Any, rule: str, name: str, path: str, first_row: int) -> Any:
    check_no_nulls(column, name, path, first_row)
    fits = pa.types.is_boolean if rule == "static" else pa.types.is_integer
    if not fits(column.type):
        expected = "bool" if rule == "static" else "integers, sets of 32 bits,"
        raise FileError(f"{path}: column {name} holds {column.type}, where {expected} belong for {rule}")
    if rule == "static":
        return column.cast(RULE_TYPES[rule])
    values = column.to_numpy()
    with as_file_error():
        return pa.array(bit_sets(values, len(values), f"{path}: column {name}, from row {first_row}"))
