"""`pairs` and `join` of what does not fit into memory: when that is, and how far it is."""

import glob
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from broadphase.errors import FileError
from broadphase.extras import need
from broadphase.memory import available_memory

_BYTES_A_BOX = 250  # what reading, searching and writing take in memory, with two pairs a box
_BINARY = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".npy")
_TEXT = (".csv", ".txt", ".tsv", ".tab", ".json", ".geojson")
_PURPOSE = "searching on disk"


class Beyond(NamedTuple):
    """The options that are about memory."""

    memory: str | None
    dask: str | None
    workers: int | None
    work: str | None

    @property
    def wanted(self) -> bool:
        """Whether one was given."""
        return self != (None, None, None, None)


def is_beyond(names: list[str], beyond: Beyond) -> bool:
    """Whether these files are to be searched on disk: asked for, many, far away, or too large."""
    if beyond.wanted or any("://" in name or _is_folder(name) or _is_pattern(name) for name in names):
        return True
    free = available_memory()
    if free is None or not all(Path(name).suffix.lower() in _BINARY for name in names):
        return False
    # The least that a row can take tells most files to be small without a look inside.
    if sum(Path(name).stat().st_size for name in names if Path(name).exists()) * 16 < free:
        return False
    return _rows(names) * _BYTES_A_BOX > free


def _is_folder(name: str) -> bool:
    return Path(name).is_dir() and Path(name).suffix.lower() not in _TEXT


def _is_pattern(name: str) -> bool:
    return glob.has_magic(name) and not Path(name).exists()


def _rows(names: list[str]) -> int:
    need("pyarrow", extra="io", purpose=_PURPOSE)
    from broadphase.outofcore.inputs import file_info, input_files

    files = [file for name in names for file in input_files(name)]
    return sum(sum(file_info(file, None, (), 1 << 20).groups) for file in files)


def answer(
    names: list[str], id_columns: list[str | None], touching: bool, output: str, count: bool, beyond: Beyond
) -> None:
    """Search on disk, and say how far it is and what came of it."""
    need("pyarrow", extra="io", purpose=_PURPOSE)
    from broadphase import outofcore
    from broadphase.cli.progress import Bar
    from broadphase.outofcore.inputs import input_files, own_id_column

    if not count and output == "-":
        raise FileError("beyond memory the pairs are a folder of Parquet files; name it with --output")
    if not count and Path(output).suffix.lower() not in (".parquet", ".pq"):
        raise FileError(
            f"{output}: beyond memory the pairs are a folder of Parquet files; end its name in .parquet"
        )
    memory: Any = beyond.memory or (available_memory() or 4_000_000_000) // 2
    options: dict[str, Any] = {
        "memory": memory,
        "touching": touching,
        "work": beyond.work,
        "workers": beyond.workers,
    }
    with ExitStack() as stack:
        if beyond.dask is not None:
            distributed = need("distributed", extra="dask", purpose="--dask")
            client = stack.enter_context(distributed.Client(beyond.dask))
            options["executor"] = client.get_executor()
        bar = stack.enter_context(Bar())
        try:
            if count:
                other = names[1] if len(names) > 1 else None
                print(outofcore.count_pairs(names[0], other=other, progress=bar.tell, **options))
                return
            ids = tuple(
                column or own_id_column(input_files(name)[0])
                for name, column in zip(names, id_columns, strict=True)
            )
            if len(names) == 1:
                done = outofcore.pairs(names[0], output, ids=ids[0], progress=bar.tell, **options)
            else:
                done = outofcore.join(
                    names[0], names[1], output, ids=(ids[0], ids[1]), progress=bar.tell, **options
                )
        except (ValueError, TypeError) as error:
            raise FileError(str(error)) from None
    if sys.stderr is not None and (done.was_done or sys.stderr.isatty()):
        before = " was done before" if done.was_done else ""
        print(f"broadphase: {output}{before}: {done.pairs:,} pairs in {_files(output)}", file=sys.stderr)


def _files(folder: str) -> str:
    count = len(list(Path(folder).glob("*.parquet")))
    return f"{count} file{'' if count == 1 else 's'}"
