"""A part of the output: the pairs of one task in a Parquet file.

Rows are packed as differences of what came before: the first column of a part is sorted, so it nearly
vanishes, and the second keeps as many bits as the input has rows.  Two columns of int64 take 4.4 bytes a pair
and not 16.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from broadphase.outofcore.chunk_file import TEXT

GROUP = 1 << 20
"""Pairs of a row group."""


def schema_for(id_types: Sequence[str | None]) -> Any:
    """The two columns: rows as ``i`` and ``j``, ids as ``id_i`` and ``id_j``."""
    return pa.schema(
        [
            pa.field(name if kind is None else f"id_{name}", _type(kind), nullable=False)
            for name, kind in zip("ij", id_types, strict=True)
        ]
    )


def _type(kind: str | None) -> Any:
    if kind == TEXT:
        return pa.large_string()
    return pa.int64() if kind is None else pa.type_for_alias(kind)


def open_part(path: str, schema: Any) -> Any:
    """A writer of Parquet for such columns."""
    text = [field.name for field in schema if field.type == pa.large_string()]
    numbers = {field.name: "DELTA_BINARY_PACKED" for field in schema if field.name not in text}
    return parquet.ParquetWriter(
        path,
        schema,
        compression={name: "snappy" if name in text else "none" for name in schema.names},
        use_dictionary=text or False,
        column_encoding=numbers or None,
        write_statistics=[schema.names[0]],
    )
