"""Boxes and pairs in Parquet and in Arrow (also known as Feather), with pyarrow.

pyarrow believes what an Arrow file says of itself.  So only the columns that are needed are read, and these
are validated before anything looks into them: a damaged offset would be an address outside the file.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc, parquet

from broadphase.columns import Column
from broadphase.errors import FileError
from broadphase.files.columns import Table, boxes_from_columns, find_layout, object_array


def read(file: BinaryIO, name: str, kind: str, id_column: str | None) -> Table:
    """Read the boxes from a file of the ``kind`` ``"Parquet"`` or ``"Arrow"``."""
    with _one_error(name, kind):
        source = _Parquet(file) if kind == "Parquet" else _Ipc(file)
    layout = find_layout(source.names, name, id_column)
    with _one_error(name, kind):
        table = source.read([*layout.edges, *([layout.id] if layout.id is not None else [])])
    columns = {edge: _numbers(table.column(edge), edge, name) for edge in layout.edges}
    boxes = boxes_from_columns(layout, columns, name, lambda row: f"row {row}")
    return Table(boxes, None if layout.id is None else _ids(table.column(layout.id), layout.id, name))


@contextmanager
def _one_error(name: str, kind: str) -> Iterator[None]:
    """Of a damaged file pyarrow raises its own exceptions and, for names that are no text, Python's."""
    try:
        yield
    except Exception as error:
        what = " ".join(str(error).split()) or type(error).__name__
        raise FileError(f"{name}: is no {kind} file that can be read: {what}") from None


class _Parquet:
    """A Parquet file; a column inside a structure is named ``structure.column``."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = parquet.ParquetFile(file)
        self.names = _flat_names(self._file.schema_arrow)

    def read(self, names: list[str]) -> Any:
        table = self._file.read(columns=names)
        table.validate(full=True)
        return table.flatten()


class _Ipc:
    """An Arrow file, or an Arrow stream in a file."""

    def __init__(self, file: BinaryIO) -> None:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        self._open = ipc.open_file if is_file else ipc.open_stream
        self._file = file
        self._schema = self._open(file).schema
        self.names = _flat_names(self._schema)

    def read(self, names: list[str]) -> Any:
        parts = [_flat_names([field]) for field in self._schema]
        wanted = [k for k, part in enumerate(parts) if not set(part).isdisjoint(names)]
        self._file.seek(0)
        options = ipc.IpcReadOptions(included_fields=wanted)
        table = self._open(self._file, options=options).read_all()
        table.validate(full=True)
        return table.flatten().select(names)


def _flat_names(schema: Any) -> list[str]:
    names = []
    for field in schema:
        is_struct = pa.types.is_struct(field.type)
        names += [f"{field.name}.{inner.name}" for inner in field.type] if is_struct else [field.name]
    return names


def _numbers(column: Any, name: str, file: str) -> Column:
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    if not any(is_kind(column.type) for is_kind in numeric):
        raise FileError(f"{file}: column {name} holds {column.type}, where numbers belong")
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise FileError(f"{file}: row {row}, column {name}: is empty (null)")
    if not pa.types.is_float32(column.type):
        column = column.cast(pa.float64(), safe=False)
    numbers: Column = column.to_numpy()
    return numbers


def _ids(column: Any, name: str, file: str) -> npt.NDArray[Any]:
    if pa.types.is_integer(column.type) and not column.null_count:
        numbers: npt.NDArray[Any] = column.to_numpy()
        return numbers
    try:
        texts = column.cast(pa.string()).to_pylist()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise FileError(f"{file}: column {name} holds {column.type}, which does not serve as an id") from None
    return object_array(["" if text is None else text for text in texts])


def write(file: BinaryIO, header: list[str], columns: list[npt.NDArray[Any]], kind: str) -> None:
    """Write one table with the columns named in ``header``."""
    arrays = [pa.array(column, pa.string() if column.dtype == object else None) for column in columns]
    table = pa.table(arrays, names=header)
    if kind == "Parquet":
        parquet.write_table(table, file)
    else:
        with ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
