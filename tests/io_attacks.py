"""Small files that claim to hold much; they are made here, so that one can read what they do."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import ipc, parquet

EDGES = ["min_x", "min_y", "max_x", "max_y"]


def _write(path: Path, batch: pa.RecordBatch, times: int) -> Path:
    options = ipc.IpcWriteOptions(compression="zstd")
    with ipc.new_file(path, batch.schema, options=options) as writer:
        for _ in range(times):
            writer.write_batch(batch)
    return path


def many_rows(folder: Path) -> Path:
    """320 MB of zeros, compressed."""
    zeros = pa.array(np.zeros(1_000_000))
    return _write(folder / "rows.arrow", pa.record_batch([zeros] * 4, names=EDGES), 10)


def same_batch(folder: Path) -> Path:
    """A file whose footer names its one batch 150 times."""
    zeros = pa.array(np.zeros(70_000))
    path = _write(folder / "again.arrow", pa.record_batch([zeros] * 4, names=EDGES), 150)
    data = path.read_bytes()
    first = data.index(b"\xff\xff\xff\xff", 16)  # behind the schema
    second = data.index(b"\xff\xff\xff\xff", first + 4)
    end = data.rindex(b"\xff\xff\xff\xff\0\0\0\0")
    footer = bytearray(data[end:])
    block = footer.index(first.to_bytes(8, "little"))
    footer[block : block + 24 * 150] = footer[block : block + 24] * 150
    path.write_bytes(data[:second] + footer)
    return path


def nested(folder: Path) -> Path:
    """0.3 GB of numbers in lists, under the name of an id."""
    lists = pa.ListArray.from_arrays(np.linspace(0, 40_000_000, 51).astype(np.int32), np.zeros(40_000_000))
    ones = np.ones(50)
    path = folder / "nested.parquet"
    table = pa.table({"id": lists, "x": ones, "y": ones, "w": ones, "h": ones})
    # Statistics would take most of the time.
    parquet.write_table(table, path, compression="zstd", use_dictionary=False, write_statistics=False)
    return path


def one_text(folder: Path) -> Path:
    """A text of a megabyte, a hundred thousand times."""
    rows = 100_000
    ids = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), ["x" * (1 << 20)])
    batch = pa.record_batch([ids, *[pa.array(np.zeros(rows))] * 4], names=["id", *EDGES])
    return _write(folder / "text.arrow", batch, 1)


def one_line(folder: Path) -> Path:
    """A table whose header has three million columns."""
    return _text(folder / "line.csv", "x," * 3_000_000)


def quoted_lines(folder: Path) -> Path:
    """The same, with a line break in quotes in each."""
    return _text(folder / "quoted.csv", '"\n",' * 3_000_000)


def _text(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


ATTACKS = {
    "many rows": (many_rows, r"when they are decoded, the limit is 128\.0 MiB"),
    "the same batch again": (same_batch, r"when they are decoded, the limit is 128\.0 MiB"),
    "nested": (nested, "column id holds list<.*>, which does not serve as an id"),
    "one text": (one_text, "100000 boxes"),
    "one line": (one_line, "holds 3,000,001 columns, the limit is 10,000"),
    "quoted lines": (quoted_lines, "holds 3,000,001 columns, the limit is 10,000"),
}
"""How to make one, and what reading it says."""
