"""`pairs` and `join` of what does not fit into memory: when that is, and how far it is."""

import glob
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from broadphase.errors import FileError
from broadphase.extras import need

_BYTES_A_BOX = 250  # what reading, searching and writing take in memory, with two pairs a box
_BINARY = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".npy")
_TEXT = (".csv", ".txt", ".tsv", ".tab", ".json", ".geojson")
_STEPS = {"copy": "Copying", "sample": "Sampling", "partition": "Cutting", "join": "Joining"}


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
    free = _available_memory()
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
    from broadphase.outofcore.files_of import head_of, input_files

    files = [file for name in names for file in input_files(name, "FILE")]
    return sum(sum(head_of(file, None, (), 1 << 20).groups) for file in files)


def _available_memory() -> int | None:
    """Bytes that can be taken without swapping; None where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def answer(
    names: list[str], id_columns: list[str | None], touching: bool, output: str, count: bool, beyond: Beyond
) -> None:
    """Search on disk, and say how far it is."""
    from broadphase import outofcore
    from broadphase.outofcore.files_of import input_files, own_id_column

    if not count and output == "-":
        raise FileError("beyond memory the pairs are a folder of Parquet files; name it with --output")
    if not count and Path(output).suffix.lower() not in (".parquet", ".pq"):
        raise FileError(
            f"{output}: beyond memory the pairs are a folder of Parquet files; end its name in .parquet"
        )
    memory: Any = beyond.memory or (_available_memory() or 4_000_000_000) // 2
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
                column or own_id_column(input_files(name, "FILE")[0])
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
    if done.was_done and sys.stderr is not None:
        print(f"broadphase: {output} was done before: {done.pairs} pairs", file=sys.stderr)


class Bar:
    """A line on stderr: the step, how much of it is done, the pairs so far, the time left.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to show it; stderr if it is not given, and nothing where that is no terminal.
    """

    def __init__(self, console: Console | None = None) -> None:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[told]}", markup=False),
            console=console or Console(stderr=True),
            transient=True,
            disable=console is None and not is_terminal,
        )
        self._task = self._progress.add_task("Looking", total=None, told="")

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *about: object) -> None:
        self._progress.stop()

    def tell(self, now: Any) -> None:
        """Show a `broadphase.outofcore.Progress`."""
        self._progress.update(
            self._task,
            description=_STEPS[now.step],
            completed=now.done,
            total=now.total or None,
            told=told(now),
        )


def told(now: Any) -> str:
    """What stands behind the bar."""
    what = "tiles" if now.step == "join" else "boxes"
    parts = [f"{now.done:,}/{now.total:,} {what}" if now.total else f"{now.done:,} {what}"]
    if now.step == "join":
        parts.append(f"{now.pairs:,} pairs")
    if now.seconds_left is not None:
        minutes, seconds = divmod(round(now.seconds_left), 60)
        parts.append(f"{minutes}:{seconds:02} left")
    return ", ".join(parts)
