"""Boxes and pairs in Parquet and in Arrow (also known as Feather), with pyarrow."""

from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc, parquet

from broadphase.errors import FileError
from broadphase.files.columns import Column, Table, boxes_from_columns, find_layout, object_array


def read(file: BinaryIO, name: str, kind: str, id_column: str | None) -> Table:
    """Read the boxes from a file of the ``kind`` ``"Parquet"`` or ``"Arrow"``."""
    try:
        source = _Parquet(file) if kind == "Parquet" else _Ipc(file)
        layout = find_layout(source.names, name, id_column)
        table = source.read([*layout.edges, *([layout.id] if layout.id is not None else [])])
    except (pa.ArrowException, OSError) as error:
        raise FileError(
            f"{name}: is no {kind} file that can be read: {' '.join(str(error).split())}"
        ) from None
    columns = {edge: _numbers(table.column(edge), edge, name) for edge in layout.edges}
    boxes = boxes_from_columns(layout, columns, name, lambda row: f"row {row}")
    return Table(boxes, None if layout.id is None else _ids(table.column(layout.id), layout.id, name))


class _Parquet:
    """A Parquet file; a column inside a structure is named ``structure.column``."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = parquet.ParquetFile(file)
        self.names = _flat_names(self._file.schema_arrow)

    def read(self, names: list[str]) -> Any:
        return self._file.read(columns=names).flatten()


class _Ipc:
    """An Arrow file, or an Arrow stream in a file."""

    def __init__(self, file: BinaryIO) -> None:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        self._table = (ipc.open_file(file) if is_file else ipc.open_stream(file)).read_all().flatten()
        self.names = self._table.column_names

    def read(self, names: list[str]) -> Any:
        return self._table.select(names)


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
