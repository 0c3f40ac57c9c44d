"""Boxes in files, searched out of core, and the result as sorted arrays."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from broadphase import outofcore

TIGHT = {"memory": 40_000, "workers": 2}
"""So little that a few hundred boxes need tens of tiles."""
SEVERAL = {"memory": 80_000, "workers": 2}
"""Enough for several tiles, which is quicker."""


def table(boxes, **columns):
    names = [f"{end}_{axis}" for end in ("min", "max") for axis in "xyz"[: boxes.shape[1] // 2]]
    return pa.table({name: boxes[:, k] for k, name in enumerate(names)} | columns)


def save(path: Path, boxes, *, rows=64, **columns) -> Path:
    """As Parquet with row groups of so many rows."""
    parquet.write_table(table(boxes, **columns), path, row_group_size=rows)
    return path


def array(batches, dtype=np.int64):
    """Pairs of record batches, sorted."""
    parts = [
        np.stack([column.to_numpy(zero_copy_only=False) for column in batch.columns], 1) for batch in batches
    ]
    rows = np.concatenate([np.empty((0, 2), dtype), *parts])
    return rows[np.lexsort((rows[:, 1], rows[:, 0]))]


def written(folder):
    """The pairs in a finished folder, sorted; each part of row numbers is sorted by itself."""
    parts = []
    for path in sorted(Path(folder).glob("*.parquet")):
        with parquet.ParquetFile(path) as file:  # `read_table` may close it later than it returns
            parts.append(file.read())
    for part in parts:
        if part.schema.names == ["i", "j"]:
            rows = array(part.to_batches())
            assert np.array_equal(rows, np.stack([part["i"].to_numpy(), part["j"].to_numpy()], 1))
    return array([batch for part in parts for batch in part.to_batches()])


def found(source, **options):
    """The pairs of a source, through the iterator."""
    return array(outofcore.pairs(source, **{**SEVERAL, **options}))


def joined(a, b, **options):
    return array(outofcore.join(a, b, **{**SEVERAL, **options}))


def names_in(folder):
    return sorted(path.name for path in Path(folder).iterdir())
