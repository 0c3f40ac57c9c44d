"""Boxes and pairs in Parquet and in Arrow (also known as Feather), with pyarrow.

pyarrow believes what a file says of itself, and takes as much memory as it claims.  So the numbers of rows,
columns and bytes are checked (`Limits`): of Parquet before anything is decoded, of Arrow, which does not say
how large it is when decompressed, batch by batch.  Only the columns that are needed are read, and they are
validated before they are used: a damaged offset would be an address outside the file.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc, parquet

from broadphase.errors import FileError
from broadphase.inputs.arrays import Axis, FloatArray, Layout
from broadphase.io.tables import Limits, Table, boxes_from_columns, find_layout, object_array

_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
# All other types become text.  Lists and structures are not ids; runs may stand for any number of rows.
_NO_IDS = (pa.types.is_nested, pa.types.is_run_end_encoded)
_TEXTS = (pa.string(), pa.binary(), pa.large_string())
_PARQUET_BUFFER = 1 << 16  # bytes of a Parquet column that are read at a time
_MAGIC = b"ARROW1"


def read(file: BinaryIO, name: str, kind: str, id_column: str | None, limits: Limits) -> Table:
    """Read the boxes from a file of the ``kind`` ``"Parquet"`` or ``"Arrow"``."""
    size = os.fstat(file.fileno()).st_size
    with one_error(name, kind):
        parquet_file = parquet.ParquetFile(file, buffer_size=_PARQUET_BUFFER) if kind == "Parquet" else None
        schema = open_arrow(file)[1].schema if parquet_file is None else parquet_file.schema_arrow
        limits.check_columns(name, sum(map(_count, schema.types)))
        fields = flat_fields(schema)
    layout = layout_in(schema, name, id_column)
    _check_types(fields, layout, name)
    names = [*layout.edges, *([layout.id] if layout.id is not None else [])]
    with one_error(name, kind):
        if parquet_file is None:
            table = _read_arrow(file, schema, names, name, limits, size)
        else:
            limits.check_rows(name, parquet_file.metadata.num_rows)
            limits.check_size(name, _decoded(parquet_file, names), size)
            # Texts are read as a dictionary and indices: one that occurs a million times is stored once.
            texts = [column for column, type_ in fields if column in names and type_ in _TEXTS]
            with parquet.ParquetFile(file, read_dictionary=texts) as again:
                table = again.read(columns=names, use_threads=False)
        table.validate(full=True)
        table = table.flatten()
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


def _count(kind: Any) -> int:
    """How many columns a column of this type is, with those inside of it."""
    return 1 + sum(_count(kind.field(k).type) for k in range(kind.num_fields))


def _decoded(file: Any, names: list[str]) -> int:
    """The least that columns of a Parquet file take: rows times the bytes of a number, or what it says."""
    about, size = file.metadata, 0
    wanted = [k for k in range(about.num_columns) if about.schema.column(k).path in names]
    for number in range(about.num_row_groups):
        # `group.column` ends the process where a column is damaged, but reading the column raises.  So zero
        # rows of the columns are read first, which decodes nothing.
        next(file.reader.iter_batches(0, [number], wanted, use_threads=False), None)
        group = about.row_group(number)
        for column in map(group.column, wanted):
            size += max(8 * group.num_rows, 8 * column.num_values, column.total_uncompressed_size)
    return size


def _read_arrow(
    file: BinaryIO, schema: Any, names: list[str], name: str, limits: Limits, file_size: int
) -> Any:
    """Columns of an Arrow file or stream, until there are too many rows or bytes."""
    is_file, reader = open_arrow(file, fields_to_read(schema, names))
    batches, rows, size = [], 0, 0
    for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader:
        rows, size = rows + batch.num_rows, size + batch.nbytes
        limits.check_rows(name, rows)
        limits.check_size(name, size, file_size)
        batches.append(batch)
    return pa.Table.from_batches(batches, reader.schema)


def fields_to_read(schema: Any, names: list[str]) -> Any:
    """The options with which `open_arrow` reads only the fields in which these columns are."""
    fields = [k for k, field in enumerate(schema) if not set(names).isdisjoint(flat_names([field]))]
    return ipc.IpcReadOptions(included_fields=fields)


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


def edge_numbers(column: Any, name: str, file: str, first_row: int = 0) -> FloatArray:
    """A column of edges as numbers; ``first_row`` is where in the file it begins."""
    if not any(is_kind(column.type) for is_kind in _NUMBERS):
        raise FileError(f"{file}: column {name} holds {column.type}, where numbers belong")
    check_no_nulls(column, name, file, first_row)
    if not pa.types.is_float32(column.type):
        column = column.cast(pa.float64(), safe=False)
    numbers: FloatArray = column.to_numpy()
    return numbers


def _ids(column: Any, name: str, file: str) -> npt.NDArray[Any]:
    if pa.types.is_integer(column.type) and not column.null_count:
        numbers: npt.NDArray[Any] = column.to_numpy()
        return numbers
    parts = [object_array([])]
    for chunk in column.chunks:
        if pa.types.is_dictionary(chunk.type):  # each text once, and references to it
            texts = object_array([*_texts(chunk.dictionary, name, file), ""])
            numbers = chunk.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)
            parts.append(texts[numbers])
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
