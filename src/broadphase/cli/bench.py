"""``broadphase bench``: options are checked, the bench runs, and the results are shown and written."""

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from broadphase.cli.terminal import complain
from broadphase.errors import FileError, need
from broadphase.io.tables import whole_file

DISAGREEMENT = 1
_LARGEST = 100_000_000
_WIDE = 1_000  # columns, so that no number is cut to fit a window


def bench(
    scenes: Sequence[str] | None,
    sizes: Sequence[int] | None,
    dims: Sequence[int] | None,
    methods: Sequence[str] | None,
    peers: bool,
    threads: int | None,
    seconds: float,
    memory: bool,
    json_file: str | None,
    chart: str | None,
    markdown: str | None,
) -> int:
    """Measure, print, and write the requested files; returns 1 if contestants disagree."""
    from broadphase.bench.contest import DisagreementError
    from broadphase.bench.run import Options, measure, places

    _check(sizes, seconds, json_file, chart, markdown)
    given = {"scenes": scenes, "sizes": sizes, "dims": dims, "methods": methods}
    chosen: dict[str, Any] = {name: tuple(value) for name, value in given.items() if value}
    options = Options(peers=peers, threads=threads, seconds=seconds, memory=memory, **chosen)
    try:
        places(options)
    except ValueError as error:
        raise FileError(str(error)) from None
    try:
        with _progress() as progress:
            report = measure(options, progress)
    except DisagreementError as error:
        return complain(str(error), DISAGREEMENT)
    from broadphase.bench import report as reports

    reports.show(report, Console(soft_wrap=True, highlight=False, width=_WIDE))
    if json_file:
        with whole_file(Path(json_file)) as file:
            file.write((json.dumps(asdict(report), indent=1) + "\n").encode())
    if chart:
        with whole_file(Path(chart)) as file:
            reports.save_chart(report, file, _ending(chart))
    if markdown:
        with whole_file(Path(markdown)) as file:
            file.write(reports.markdown(report, _command(options)).encode())
    return 0


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """One line on stderr that says what is being done; nothing if stderr is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda doing: None
        return
    with Console(stderr=True).status("") as status:
        yield lambda doing: status.update(escape(doing))


def _check(
    sizes: Sequence[int] | None,
    seconds: float,
    json_file: str | None,
    chart: str | None,
    markdown: str | None,
) -> None:
    """Raise for what would fail only after the measurement."""
    for size in sizes or ():
        if not 2 <= size <= _LARGEST:
            raise FileError(f"a scene has from 2 to {_LARGEST:,} boxes; got --sizes {size}")
    if not 0 < seconds < float("inf"):
        raise FileError(f"every contestant needs some time; got --seconds {seconds:g}")
    for name in filter(None, (json_file, chart, markdown)):
        if not Path(name).resolve().parent.is_dir():
            raise FileError(f"{name}: No such folder")
        if Path(name).is_dir():
            raise FileError(f"{name}: Is a directory")
    if chart:
        bases = need("matplotlib.backend_bases", extra="bench", purpose="the chart")
        formats = bases.FigureCanvasBase.get_supported_filetypes()
        if _ending(chart) not in formats:
            raise FileError(f"{chart}: the name of a picture ends in .{', .'.join(formats)}")


def _ending(name: str) -> str:
    return Path(name).suffix.lower().removeprefix(".")


def _command(options: object) -> str:
    """The command that repeats the run."""
    words = ["broadphase", "bench"]
    names = {"dims": "--dim"}
    for name, value in vars(options).items():
        if name == "slow" or value is None or value == ():
            continue
        option = names.get(name, f"--{name}")
        if isinstance(value, bool):
            words += [] if value else [f"--no-{name}"]
        else:
            words += [option, *(map(str, value) if isinstance(value, tuple) else [str(value)])]
    return shlex.join(words)
