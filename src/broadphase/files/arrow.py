"""Boxes and pairs in Parquet and in Arrow (also known as Feather), with pyarrow.

pyarrow believes what an Arrow file says of itself, and takes whatever memory that asks for.  So how many
rows, columns and bytes there are is looked at first (`Limits`); only the columns that are needed are read,
and they are validated before anything looks into them: a damaged offset would be an address outside the file.
"""

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc, parquet

from broadphase.columns import Column, Layout
from broadphase.errors import FileError
from broadphase.files.arrow_layout import ArrowLayout
from broadphase.files.columns import Table, boxes_from_columns, find_layout, object_array
from broadphase.files.limits import Limits

_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
# What becomes text row by row; a list or structure is no id, and runs may stand for any number of rows.
_NO_IDS = (pa.types.is_nested, pa.types.is_run_end_encoded)
_BUFFER = 1 << 16  # bytes of a Parquet column that are read at a time


def read(file: BinaryIO, name: str, kind: str, id_column: str | None, limits: Limits) -> Table:
    """Read the boxes from a file of the ``kind`` ``"Parquet"`` or ``"Arrow"``."""
    with one_error(name, kind):
        source = _Parquet(file, name, limits) if kind == "Parquet" else _Ipc(file, name, limits)
    layout = find_layout(source.names, name, id_column)
    _check_types(source.types, layout, name)
    with one_error(name, kind):
        table = source.read([*layout.edges, *([layout.id] if layout.id is not None else [])])
    columns = {edge: edge_numbers(table.column(edge), edge, name) for edge in layout.edges}
    boxes = boxes_from_columns(layout, columns, name, lambda row: f"row {row}")
    return Table(boxes, None if layout.id is None else _ids(table.column(layout.id), layout.id, name))


@contextmanager
def one_error(name: str, kind: str) -> Iterator[None]:
    """Of a damaged file pyarrow raises its own exceptions and, for names that are no text, Python's."""
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
        self._file = parquet.ParquetFile(file, buffer_size=_BUFFER)
        about = self._file.metadata
        limits.check_columns(name, about.num_columns)
        limits.check_rows(name, about.num_rows)
        self.types = flat_fields(self._file.schema_arrow)
        self.names = [column for column, _ in self.types]

    def read(self, names: list[str]) -> Any:
        self._limits.check_size(self._name, self._decoded(names), self._size)
        # Of texts the different ones and their numbers are kept: one long text a million times is no more.
        texts = [name for name, kind in self.types if name in names and _is_text(kind)]
        with parquet.ParquetFile(self._source, read_dictionary=texts) as file:
            table = file.read(columns=names, use_threads=False)
        table.validate(full=True)
        return table.flatten()

    def _decoded(self, names: list[str]) -> int:
        """What the columns take at least: rows times the bytes of a number, or what the file says."""
        about, size = self._file.metadata, 0
        wanted = [k for k in range(about.num_columns) if about.schema.column(k).path in names]
        for number in range(about.num_row_groups):
            # Asked for a damaged column, pyarrow ends the process, where reading from it raises.  So the
            # columns are read first, zero rows of them: nothing is decoded yet.
            next(self._file.reader.iter_batches(0, [number], wanted, use_threads=False), None)
            group = about.row_group(number)
            for column in map(group.column, wanted):
                size += max(8 * group.num_rows, 8 * column.num_values, column.total_uncompressed_size)
        return size


class _Ipc:
    """An Arrow file, or an Arrow stream in a file."""

    def __init__(self, file: BinaryIO, name: str, limits: Limits) -> None:
        self._layout = ArrowLayout(file, name, limits)
        file.seek(0)
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        self._open = ipc.open_file if is_file else ipc.open_stream
        self._file = file
        self._schema = self._open(file).schema
        self.types = flat_fields(self._schema)
        self.names = [column for column, _ in self.types]

    def read(self, names: list[str]) -> Any:
        parts = [[column for column, _ in flat_fields([field])] for field in self._schema]
        wanted = [k for k, part in enumerate(parts) if not set(part).isdisjoint(names)]
        self._layout.check(wanted)
        self._file.seek(0)
        options = ipc.IpcReadOptions(included_fields=wanted)
        table = self._open(self._file, options=options).read_all()
        table.validate(full=True)
        return table.flatten().select(names)


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
    """Before anything is decoded: numbers where numbers belong, and ids that are one value a row."""
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


def edge_numbers(column: Any, name: str, file: str, first_row: int = 0) -> Column:
    """A column of edges as numbers; ``first_row`` is where in the file it begins."""
    if not any(is_kind(column.type) for is_kind in _NUMBERS):
        raise FileError(f"{file}: column {name} holds {column.type}, where numbers belong")
    if column.null_count:
        row = first_row + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise FileError(f"{file}: row {row}, column {name}: is empty (null)")
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
    try:
        texts = column.cast(pa.string()).to_pylist()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise FileError(f"{file}: column {name} holds {column.type}, which does not serve as an id") from None
    return ["" if text is None else text for text in texts]


def write(file: BinaryIO, header: list[str], columns: list[npt.NDArray[Any]], kind: str) -> None:
    """Write one table with the columns named in ``header``."""
    arrays = [pa.array(column, pa.string() if column.dtype == object else None) for column in columns]
    table = pa.table(arrays, names=header)
    if kind == "Parquet":
        parquet.write_table(table, file)
    else:
        with ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
