"""Boxes and pairs in Parquet and in Arrow (also known as Feather), with pyarrow.

pyarrow believes what an Arrow file says of itself, and takes as much memory as it claims.  So the numbers
of rows, columns and bytes are checked first (`Limits`).  Only the columns that are needed are read, and they
are validated before they are used: a damaged offset would be an address outside the file.

How much an Arrow file holds is read here (`ArrowLayout`), because pyarrow does not report it without
decoding. Each message of a file has a header, a flatbuffer with the number of rows and the places of the
buffers of the columns in its body.  A compressed buffer begins with its length when decompressed, which
pyarrow takes memory for and does not exceed.  Only the few fields that are needed are read.
(https://arrow.apache.org/docs/format/Columnar.html, "Serialization and IPC")
"""

import json
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc, parquet

from broadphase.errors import FileError
from broadphase.inputs.foreign import Axis, Column, Layout
from broadphase.io.tables import Limits, Table, boxes_from_columns, find_layout, object_array

_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
# All other types become text.  Lists and structures are not ids; runs may stand for any number of rows.
_NO_IDS = (pa.types.is_nested, pa.types.is_run_end_encoded)
_PARQUET_BUFFER = 1 << 16  # bytes of a Parquet column that are read at a time

_MAGIC = b"ARROW1"
_GOES_ON = 0xFFFFFFFF
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3
_BLOCK, _BUFFER = 24, 16  # bytes of the structures Block and Buffer
# How many buffers a column has by its type, where types are the numbers of `Type` in Arrow's Schema.fbs.
# Those of its children (of lists and structures) come on top.  Unions and views are missing, because their
# types do not determine the number.
_BUFFERS = {
    **dict.fromkeys((2, 3, 6, 7, 8, 9, 10, 11, 15, 18), 2),  # numbers, bool, times, bytes of one length
    **dict.fromkeys((4, 5, 19, 20), 3),  # bytes and texts
    **dict.fromkeys((12, 17, 21), 2),  # lists and maps
    **dict.fromkeys((13, 16), 1),  # structures and lists of one length
    **dict.fromkeys((25, 26), 3),  # views of lists
    **dict.fromkeys((1, 22), 0),  # null, and runs, whose ends and values are its children
}
_OF_A_DICTIONARY, _DEEPEST = 2, 64


def read(file: BinaryIO, name: str, kind: str, id_column: str | None, limits: Limits) -> Table:
    """Read the boxes from a file of the ``kind`` ``"Parquet"`` or ``"Arrow"``."""
    with one_error(name, kind):
        source = _Parquet(file, name, limits) if kind == "Parquet" else _Ipc(file, name, limits)
    layout = layout_in(source.schema, name, id_column)
    _check_types(source.types, layout, name)
    with one_error(name, kind):
        table = source.read([*layout.edges, *([layout.id] if layout.id is not None else [])])
    columns = {edge: edge_numbers(table.column(edge), edge, name) for edge in layout.edges}
    boxes = boxes_from_columns(layout, columns, name, lambda row: f"row {row}")
    return Table(boxes, None if layout.id is None else _ids(table.column(layout.id), layout.id, name))


@contextmanager
def one_error(name: str, kind: str) -> Iterator[None]:
    """Turn all exceptions for a damaged file, pyarrow's own and Python's, into one `FileError`."""
    try:
        yield
    except (FileError, MemoryError):
        raise
    except Exception as error:
        what = " ".join(str(error).split()) or type(error).__name__
        raise FileError(f"{name}: is no {kind} file that can be read: {what}") from None


class _Parquet:
    """A Parquet file; a column inside a structure is named ``structure.column``."""

    def __init__(self, file: BinaryIO, name: str, limits: Limits) -> None:
        self._name, self._limits = name, limits
        self._size = os.fstat(file.fileno()).st_size
        file.seek(max(self._size - 8, 0))
        tail = file.read(8)
        if tail[4:] == b"PAR1":
            limits.check_own(name, min(self._size, *struct.unpack("<I4x", tail)))
        file.seek(0)
        self._source = file
        self._file = parquet.ParquetFile(file, buffer_size=_PARQUET_BUFFER)
        about = self._file.metadata
        limits.check_columns(name, about.num_columns)
        limits.check_rows(name, about.num_rows)
        self.schema = self._file.schema_arrow
        self.types = flat_fields(self.schema)

    def read(self, names: list[str]) -> Any:
        self._limits.check_size(self._name, self._decoded(names), self._size)
        # Texts are read as a dictionary and indices: a long text that occurs a million times is stored once.
        texts = [name for name, kind in self.types if name in names and _is_text(kind)]
        with parquet.ParquetFile(self._source, read_dictionary=texts) as file:
            table = file.read(columns=names, use_threads=False)
        table.validate(full=True)
        return table.flatten()

    def _decoded(self, names: list[str]) -> int:
        """The least that the columns take: rows times the bytes of a number, or what the file says."""
        about, size = self._file.metadata, 0
        wanted = [k for k in range(about.num_columns) if about.schema.column(k).path in names]
        for number in range(about.num_row_groups):
            # `group.column` ends the process where a column is damaged, but reading the column raises.  So
            # zero rows of the columns are read first, which decodes nothing.
            next(self._file.reader.iter_batches(0, [number], wanted, use_threads=False), None)
            group = about.row_group(number)
            for column in map(group.column, wanted):
                size += max(8 * group.num_rows, 8 * column.num_values, column.total_uncompressed_size)
        return size


class _Ipc:
    """An Arrow file, or an Arrow stream in a file."""

    def __init__(self, file: BinaryIO, name: str, limits: Limits) -> None:
        self._layout = ArrowLayout(file, name, limits)
        self._file = file
        self.schema = open_arrow(file)[1].schema
        self.types = flat_fields(self.schema)

    def read(self, names: list[str]) -> Any:
        parts = [flat_names([field]) for field in self.schema]
        wanted = [k for k, part in enumerate(parts) if not set(part).isdisjoint(names)]
        self._layout.check(wanted)
        table = open_arrow(self._file, ipc.IpcReadOptions(included_fields=wanted))[1].read_all()
        table.validate(full=True)
        return table.flatten().select(names)


def open_arrow(file: Any, options: Any = None) -> tuple[bool, Any]:
    """Whether an Arrow file has an index of its batches (else it is a stream), and its reader."""
    file.seek(0)
    is_file = file.read(6) == _MAGIC
    file.seek(0)
    return is_file, (ipc.open_file if is_file else ipc.open_stream)(file, options=options)


def flat_fields(schema: Any) -> list[tuple[str, Any]]:
    """The columns with their types, those of structures one by one."""
    found = []
    for field in schema:
        if pa.types.is_struct(field.type):
            found += [(f"{field.name}.{inner.name}", inner.type) for inner in field.type]
        else:
            found.append((field.name, field.type))
    return found


def _check_types(types: list[tuple[str, Any]], layout: Layout, file: str) -> None:
    """Check before anything is decoded that edges are numbers, and that ids are one value a row."""
    for name, kind in types:
        if name in layout.edges and not any(is_kind(kind) for is_kind in _NUMBERS):
            raise FileError(f"{file}: column {name} holds {kind}, where numbers belong")
        if name == layout.id and any(is_kind(kind) for is_kind in _NO_IDS):
            raise FileError(f"{file}: column {name} holds {kind}, which does not serve as an id")


def _is_text(kind: Any) -> bool:
    return any(
        is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_binary, pa.types.is_large_string)
    )


def flat_names(schema: Any) -> list[str]:
    """The names of the columns, those inside a structure as ``structure.column``."""
    return [name for name, _ in flat_fields(schema)]


def layout_in(schema: Any, source: str, id_column: str | None = None) -> Layout:
    """Which columns are the edges and the id: in GeoParquet the edges that its metadata names.

    Raises
    ------
    FileError
        As of `find_layout`; in GeoParquet without edges it says how to write them.
    """
    names = flat_names(schema)
    try:
        return find_layout(names, source, id_column, _covering(schema, names))
    except FileError as error:
        if b"geo" in (schema.metadata or {}) and "no columns for" in str(error):
            raise FileError(
                f"{source}: is GeoParquet without the bounds of its geometries; write them with "
                "to_parquet(..., write_covering_bbox=True) of geopandas, or WRITE_COVERING_BBOX=YES of GDAL"
            ) from None
        raise


def _covering(schema: Any, names: list[str]) -> tuple[Axis, ...] | None:
    """The edges of the geometry by the metadata of GeoParquet; None where it names none that are there."""
    try:
        about = json.loads((schema.metadata or {})[b"geo"])
        edges = about["columns"][about["primary_column"]]["covering"]["bbox"]
        paths = {edge: ".".join(path) for edge, path in edges.items()}
        axes = tuple(
            Axis(paths[f"{axis}min"], paths[f"{axis}max"], False) for axis in "xyz" if f"{axis}min" in paths
        )
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return None
    return axes if len(axes) > 1 and set(paths.values()) <= set(names) else None


def check_no_nulls(column: Any, name: str, file: str, first_row: int) -> None:
    """Raise `FileError` where a column, which begins at ``first_row`` of the file, has an empty row."""
    if column.null_count:
        row = first_row + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise FileError(f"{file}: row {row}, column {name}: is empty (null)")


def edge_numbers(column: Any, name: str, file: str, first_row: int = 0) -> Column:
    """A column of edges as numbers; ``first_row`` is where in the file it begins."""
    if not any(is_kind(column.type) for is_kind in _NUMBERS):
        raise FileError(f"{file}: column {name} holds {column.type}, where numbers belong")
    check_no_nulls(column, name, file, first_row)
    if not pa.types.is_float32(column.type):
        column = column.cast(pa.float64(), safe=False)
    numbers: Column = column.to_numpy()
    return numbers


def _ids(column: Any, name: str, file: str) -> npt.NDArray[Any]:
    if pa.types.is_integer(column.type) and not column.null_count:
        numbers: npt.NDArray[Any] = column.to_numpy()
        return numbers
    parts = [object_array([])]
    for chunk in column.chunks:
        if pa.types.is_dictionary(chunk.type):  # each text once, and references to it
            each = object_array([*_texts(chunk.dictionary, name, file), ""])
            numbers = chunk.indices.fill_null(len(each) - 1).to_numpy(zero_copy_only=False)
            parts.append(each[numbers])
        else:
            parts.append(object_array(_texts(chunk, name, file)))
    return np.concatenate(parts)


def _texts(column: Any, name: str, file: str) -> list[str]:
    return ["" if text is None else text for text in as_texts(column, name, file).to_pylist()]


def as_texts(column: Any, name: str, file: str) -> Any:
    """A column of ids as text."""
    try:
        return column.cast(pa.large_string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise FileError(f"{file}: column {name} holds {column.type}, which does not serve as an id") from None


def write(file: BinaryIO, header: list[str], columns: list[npt.NDArray[Any]], kind: str) -> None:
    """Write one table with the columns named in ``header``."""
    arrays = [pa.array(column, pa.string() if column.dtype == object else None) for column in columns]
    table = pa.table(arrays, names=header)
    if kind == "Parquet":
        parquet.write_table(table, file)
    else:
        with ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)


# ---- how much an Arrow file holds


class _FlatTable:
    """A table of a flatbuffer: its fields by number, as in Arrow's Schema.fbs and Message.fbs."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - self._read("i", at)

    @classmethod
    def root(cls, data: bytes) -> "_FlatTable":
        """The root table."""
        return cls(data, struct.unpack_from("<I", data)[0])

    def number(self, field: int, kind: str) -> int:
        """A number, 0 where it is left out; ``kind`` as of `struct`."""
        at = self._place(field)
        return self._read(kind, at) if at else 0

    def table(self, field: int) -> "_FlatTable | None":
        """A nested table; None where it is left out."""
        at = self._place(field)
        return _FlatTable(self._data, at + self._read("I", at)) if at else None

    def tables(self, field: int) -> "Iterator[_FlatTable]":
        """A vector of tables."""
        begin, count = self._vector(field)
        for at in range(begin, begin + 4 * count, 4):
            yield _FlatTable(self._data, at + self._read("I", at))

    def count(self, field: int) -> int:
        """The length of a vector."""
        return self._vector(field)[1]

    def rows(self, field: int, kind: str, size: int) -> Iterator[tuple[int, ...]]:
        """A vector of structures of ``size`` bytes each."""
        begin, count = self._vector(field)
        for at in range(begin, begin + size * count, size):
            yield struct.unpack_from("<" + kind, self._data, at)

    def _vector(self, field: int) -> tuple[int, int]:
        at = self._place(field)
        if not at:
            return 0, 0
        begin = at + self._read("I", at)
        return begin + 4, self._read("I", begin)

    def _place(self, field: int) -> int:
        """Where a field is; 0 where it is left out."""
        slot = 4 + 2 * field
        if slot >= self._read("H", self._fields):
            return 0
        offset = self._read("H", self._fields + slot)
        return self._at + offset if offset else 0

    def _read(self, kind: str, at: int) -> int:
        if at < 0:
            raise ValueError("it points to somewhere before its begin")
        number: int = struct.unpack_from("<" + kind, self._data, at)[0]
        return number


class _Message(NamedTuple):
    """A message: its header, and where in the file its body begins."""

    header: _FlatTable
    body: int
    end: int

    @property
    def kind(self) -> int:
        return self.header.number(1, "B")


class ArrowLayout:
    """The schema, and the places of the batches; no body is read.

    Parameters
    ----------
    file : file
        Seekable, at its start.
    name : str
        Its name for messages.
    limits : Limits
    """

    def __init__(self, file: BinaryIO, name: str, limits: Limits) -> None:
        self._file, self._name, self._limits = file, name, limits
        self._size = os.fstat(file.fileno()).st_size
        self._is_file = file.read(len(_MAGIC)) == _MAGIC
        self._schema = self._find_schema()
        limits.check_columns(name, self._schema.count(1))
        self._count_columns(list(self._schema.tables(1)), 0, 0)

    def check(self, columns: list[int]) -> None:
        """Raise `FileError` where there are too many rows, or these columns are too large."""
        rows = size = 0
        wanted = self._wanted(columns)
        for message in self._messages():
            if message.kind not in (_DICTIONARY, _BATCH):
                continue
            batch = message.header.table(2)
            if batch is not None and message.kind == _DICTIONARY:
                batch = batch.table(1)
            if batch is None:
                continue
            if message.kind == _BATCH:
                rows += batch.number(0, "q")
                self._limits.check_rows(self._name, rows)
            size += self._decoded(batch, message.body, wanted if message.kind == _BATCH else None)
            self._limits.check_size(self._name, size, self._size)

    # -- the schema

    def _find_schema(self) -> _FlatTable:
        if self._is_file:
            found = self._footer().table(1)
        else:
            first = next(self._messages(), None)
            found = first.header.table(2) if first is not None and first.kind == _SCHEMA else None
        if found is None:
            raise ValueError("it has no schema")
        return found

    def _footer(self) -> _FlatTable:
        tail = len(_MAGIC) + 4
        (length,) = struct.unpack("<i", self._bytes(self._size - tail, 4))
        return _FlatTable.root(self._own(self._size - tail - length, length))

    def _count_columns(self, fields: list[_FlatTable], found: int, depth: int) -> int:
        found += len(fields)
        self._limits.check_columns(self._name, found)
        if depth == _DEEPEST:
            raise ValueError("its columns are nested too deeply")
        for field in fields:
            self._limits.check_columns(self._name, found + field.count(5))
            found = self._count_columns(list(field.tables(5)), found, depth + 1)
        return found

    def _wanted(self, columns: list[int]) -> set[int] | None:
        """The buffers that belong to these columns; None for all, where a column has an unknown number."""
        wanted: set[int] = set()
        at = 0
        for number, field in enumerate(self._schema.tables(1)):
            count = _buffers_of(field)
            if count is None:
                return None
            if number in columns:
                wanted.update(range(at, at + count))
            at += count
        return wanted

    # -- the batches

    def _messages(self) -> Iterator[_Message]:
        if not self._is_file:
            at = 0
            while (message := self._message(at)) is not None:
                yield message
                at = message.end
            return
        footer = self._footer()
        for blocks in (2, 3):
            for begin, own, _, _ in footer.rows(blocks, "qiiq", _BLOCK):
                message = self._message(begin)
                if message is not None:
                    yield message._replace(body=begin + own)

    def _message(self, at: int) -> _Message | None:
        head = self._bytes(at, 8, short=True)
        if len(head) < 8:
            return None
        first, second = struct.unpack("<II", head)
        begin, length = (at + 8, second) if first == _GOES_ON else (at + 4, first)
        if length == 0:
            return None
        header = _FlatTable.root(self._own(begin, length))
        body, size = begin + length, header.number(3, "q")
        if size < 0 or body + size > self._size:
            raise ValueError("it ends in the middle of a batch")
        return _Message(header, body, body + size)

    def _decoded(self, batch: _FlatTable, body: int, wanted: set[int] | None) -> int:
        """The bytes of the wanted buffers (None: of all) when they are decompressed."""
        is_compressed = batch.table(3) is not None
        size = 0
        for number, (begin, length) in enumerate(batch.rows(2, "qq", _BUFFER)):
            if length <= 0 or (wanted is not None and number not in wanted):
                continue
            if is_compressed:
                (decoded,) = struct.unpack("<q", self._bytes(body + begin, 8))
                size += length if decoded < 0 else decoded  # -1: this buffer is not compressed
            else:
                size += length
        return size

    def _own(self, begin: int, length: int) -> bytes:
        self._check_place(begin, length)
        self._limits.check_own(self._name, length)
        return self._bytes(begin, length)

    def _bytes(self, begin: int, length: int, *, short: bool = False) -> bytes:
        self._check_place(begin, 0 if short else length)
        self._file.seek(begin)
        return self._file.read(length)

    def _check_place(self, begin: int, length: int) -> None:
        if not 0 <= begin <= begin + length <= self._size:
            raise ValueError("it points to somewhere outside of itself")


def _buffers_of(field: _FlatTable) -> int | None:
    """How many buffers a column has, with those of its children; None where that is unknown."""
    if field.table(4) is not None:
        return _OF_A_DICTIONARY
    own = _BUFFERS.get(field.number(2, "B"))
    if own is None:
        return None
    for child in field.tables(5):
        inner = _buffers_of(child)
        if inner is None:
            return None
        own += inner
    return own
