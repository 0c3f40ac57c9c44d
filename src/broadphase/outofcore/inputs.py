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
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import compute, fs, ipc, parquet

from broadphase.errors import FileError, need
from broadphase.files import WITH_PYARROW, kind_of
from broadphase.inputs.arrays import Layout, names_without_header
from broadphase.inputs.boxes import BoxArray, as_boxes
from broadphase.inputs.search import bit_sets
from broadphase.io.arrow import (
    as_texts,
    check_no_nulls,
    edge_numbers,
    fields_to_read,
    flat_fields,
    flat_names,
    layout_in,
    one_error,
    open_arrow,
)
from broadphase.io.tables import as_file_error, boxes_from_columns

_OTHERS = " (other formats: give an iterable of arrays or record batches)"
KINDS = {**WITH_PYARROW, ".npy": "npy"}
RULE_TYPES = {"static": pa.uint8(), "categories": pa.uint32(), "masks": pa.uint32()}
_BATCH_ROWS = 1 << 16
_GROUP_ROWS = 1 << 20  # rows of a .npy file that are read together
_BUFFER = 1 << 18  # bytes of a Parquet column that are read at a time
_NUMBER = re.compile(r"(\d+)")


class InputFile(NamedTuple):
    """A file of boxes, what messages call it, and what a memory map has of it: offset, type and shape."""

    path: str
    kind: str
    name: str
    mapped: tuple[int, str, tuple[int, ...]] | None = None


# ---- files of a source


def file_system(path: str) -> tuple[Any, str]:
    """The file system of a path, of fsspec where it has ``://``, and the path in it."""
    if "://" not in path:
        return fs.LocalFileSystem(), path
    fsspec = need("fsspec.core", extra="dask", purpose=f"{path}: a path with ://")
    system, inner = fsspec.url_to_fs(path)
    return fs.PyFileSystem(fs.FSSpecHandler(system)), inner


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
    system, inner = file_system(path)
    remote = None if inner is path else system.handler.fs
    kind = system.get_file_info(inner).type
    if kind == fs.FileType.Directory:
        entries = system.get_file_info(fs.FileSelector(inner, recursive=True))
        paths = [entry.path for entry in entries if _is_data(os.path.relpath(entry.path, inner))]
    elif kind == fs.FileType.File:
        paths = [inner]
    elif remote is not None:
        paths = remote.glob(inner)
    else:
        anchor = Path(Path(inner).anchor)
        paths = [str(file) for file in anchor.glob(os.path.relpath(inner, anchor)) if file.is_file()]
    if not paths:
        wanted = ", ".join(KINDS)
        raise FileNotFoundError(errno.ENOENT, f"No such file, and no files of boxes ({wanted}) there", path)
    # By name, with numbers in it by their value: ``part.10`` comes after ``part.2``.
    paths.sort(key=lambda path: [(s.isdigit(), int(s) if s.isdigit() else s) for s in _NUMBER.split(path)])
    paths = paths if remote is None else list(map(remote.unstrip_protocol, paths))
    return [InputFile(path, kind_of(path, KINDS, _OTHERS), path) for path in paths]


def _is_data(path: str) -> bool:
    """Whether a file in a folder is data: names that begin with a dot or an underscore are not."""
    return Path(path).suffix.lower() in KINDS and not any(part[0] in "._" for part in Path(path).parts)


def identity(file: InputFile) -> list[Any]:
    """A value that changes when the file does: its path, size and time."""
    system, inner = file_system(file.path)
    if inner is not file.path:
        status = system.handler.fs.info(inner)
        keys = ("size", "ETag", "etag", "mtime", "LastModified", "created")
        return [file.path, *(str(status.get(key)) for key in keys)]
    status = system.get_file_info(inner)
    return [str(Path(inner).resolve()), status.size, status.mtime_ns, str(file.mapped)]


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
        if not _is_table(batch) or hasattr(type(batch), "geom_type"):
            batch = _boxes_of(batch, batch_name, [*([] if ids is None else [ids]), *rules])
        file, table = InputFile(str(folder / f"{number:06}.arrow"), "Arrow", batch_name), pa.table(batch)
        layout = _layout_of(table.schema, file, ids, rules)
        table = table.flatten().select(_columns(layout, ids, rules))
        with pa.OSFile(file.path, "wb") as opened, ipc.new_file(opened, table.schema) as writer:
            writer.write_table(table, max_chunksize=_GROUP_ROWS)
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


def _boxes_of(batch: Any, name: str, columns: Sequence[str]) -> Any:
    """An array of boxes, or the bounds of the shapes of a GeoDataFrame or GeoSeries; and these columns."""
    boxes = as_boxes(batch, name)
    table = pa.table(list(boxes.T.copy()), names_without_header(boxes.shape[1]))
    for column in columns:
        if column not in getattr(batch, "columns", ()):
            raise ValueError(f"{name}: no column {column!r}; an array has none, give tables")
        table = table.append_column(column, pa.array(batch[column]))
    return table


# ---- what a file says of itself


class OpenFile(NamedTuple):
    """A file that is open: the rows of its row groups or batches, and what reads columns of one."""

    schema: Any
    sizes: list[int]
    read: Callable[[int, list[str]], Iterator[Any]]


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
    system, inner = file_system(file.path)
    with system.open_input_file(inner) as source:
        with one_error(file.name, file.kind):
            found = _open_parquet(source) if file.kind == "Parquet" else _open_ipc(source)
            flat_fields(found.schema)  # raises where a name is no text
        yield found


def _open_parquet(source: Any) -> OpenFile:
    file = parquet.ParquetFile(source, buffer_size=_BUFFER)
    sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
    return OpenFile(
        file.schema_arrow,
        sizes,
        lambda group, columns: file.iter_batches(_BATCH_ROWS, [group], columns, use_threads=False),
    )


def _open_ipc(source: Any) -> OpenFile:
    is_file, reader = open_arrow(source)
    schema = reader.schema
    if is_file:
        sizes = [reader.get_batch(k).num_rows for k in range(reader.num_record_batches)]
    else:
        sizes = [sum(batch.num_rows for batch in reader)]

    def read(batch: int, columns: list[str]) -> Iterator[Any]:
        _, reader = open_arrow(source, fields_to_read(schema, columns))
        return map(reader.get_batch, [batch]) if is_file else iter(reader)

    return OpenFile(schema, sizes, read)


def _open_npy(file: InputFile) -> OpenFile:
    if "://" in file.path:
        raise FileError(
            f"{file.path}: a .npy file is mapped into memory and must be local; use Parquet or Arrow"
        )
    array = _numbers(file)
    if array.ndim != 2 or array.shape[1] not in (4, 6) or array.dtype.kind not in "iuf":
        raise FileError(
            f"{file.name}: holds {array.dtype} of shape {array.shape}, not numbers of shape (n, 4) or (n, 6)"
        )
    number = np.float32 if array.dtype == np.float32 else np.float64
    schema = pa.schema([(name, pa.from_numpy_dtype(number)) for name in names_without_header(array.shape[1])])
    sizes = [min(_GROUP_ROWS, len(array) - begin) for begin in range(0, len(array), _GROUP_ROWS)]

    def read(group: int, columns: list[str]) -> Iterator[Any]:
        first = group * _GROUP_ROWS
        for begin in range(first, first + sizes[group], _BATCH_ROWS):
            end = min(begin + _BATCH_ROWS, first + sizes[group])
            yield pa.record_batch(list(_numbers(file)[begin:end].T.astype(number, "C")), schema=schema)

    return OpenFile(schema, sizes, read)


def _numbers(file: InputFile) -> Any:
    """The numbers of a ``.npy`` file or a memory map, not yet read."""
    if file.mapped is not None:
        offset, kind, shape = file.mapped
        return np.memmap(file.path, kind, "r", offset, shape)
    with one_error(file.name, "npy"):
        return np.load(file.path, mmap_mode="r")


class FileInfo(NamedTuple):
    """What a file says of itself.

    ``single``: whether its edges are float32; ``sizes``: the rows of its row groups or record batches;
    ``id``: the column of ids that is asked for, else ``id`` or ``fid``; ``id_type``: int64, uint64 or text.
    """

    dim: int
    single: bool
    sizes: list[int]
    id: str | None
    id_type: Any


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
    """A row group or record batch of a file, and the row of the file at which it begins."""

    file: InputFile
    group: int
    first_row: int


class Unit(NamedTuple):
    """What one task reads: about a chunk of rows, or a row group that is larger.

    ``first_row`` is the row of all input of its side at which it begins.
    """

    side: int
    first_row: int
    first_chunk: int
    rows: int
    pieces: list[Piece]


class Input(NamedTuple):
    """All input of a call, of one side or of two: the rows of each, and the side of each chunk."""

    units: list[Unit]
    rows: list[int]
    chunk_sides: list[int]


def divide(sides: Sequence[list[InputFile]], infos: Sequence[list[FileInfo]], most: int) -> Input:
    """Divide the files into units and chunks of at most ``most`` rows; a larger row group is one unit."""
    found = Input([], [], [])
    for side, (files, side_infos) in enumerate(zip(sides, infos, strict=True)):
        sizes = [size for info in side_infos for size in info.sizes]
        pieces = [
            Piece(file, group, file_row)
            for file, info in zip(files, side_infos, strict=True)
            for group, file_row in enumerate(accumulate(info.sizes[:-1], initial=0))
            if info.sizes
        ]
        first_row = 0
        for begin, end in grouped(sizes, most):
            rows = sum(sizes[begin:end])
            found.units.append(Unit(side, first_row, len(found.chunk_sides), rows, pieces[begin:end]))
            found.chunk_sides.extend([side] * -(-rows // most))
            first_row += rows
        found.rows.append(first_row)
    return found


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


class ReadOptions(NamedTuple):
    """How input is read.

    ``rows``: the most rows of a chunk; ``ids``: the column of the ids of each side; ``rules``: which column
    holds the static flags, the categories, the masks; ``schemas``: how the boxes of each side are stored,
    ``box``, ``row``, then rules and ``id``.
    """

    rows: int
    ids: tuple[str | None, ...]
    rules: Mapping[str, str]
    schemas: list[Any]


def box_column(boxes: BoxArray) -> Any:
    """Boxes as a column of a table."""
    return pa.FixedSizeListArray.from_arrays(pa.array(boxes.reshape(-1)), boxes.shape[1])


def boxes_in(table: Any) -> BoxArray:
    """The boxes of a table."""
    column = table.column("box")
    numbers = compute.list_flatten(column).to_numpy()
    writable: BoxArray = np.require(numbers.reshape(-1, column.type.list_size), requirements="W")
    return writable


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
            batches = found.read(piece.group, _columns(layout, ids, rules))
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
