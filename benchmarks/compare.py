"""Every method and the other libraries that are installed, on named scenes, timed in turns in one process.

``python benchmarks/compare.py --scenes uniform atoms --sizes 1000 10000`` prints tables; ``--help`` lists all
options, and the extra ``bench`` installs the libraries.  The number of pairs is checked first; then the
contestants take turns, and the best time of each counts.  From the bottom up: `catalogue` (what is searched),
`timing`, `peers` (other libraries, and the yardstick in C++), `contest` (the contestants; time and memory),
`measure` (a whole run), `report` (tables and the chart).
"""

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from json import dumps
from pathlib import Path

from catalogue import CATALOGUE
from contest import DisagreementError
from measure import Options, measure, places
from report import markdown, save_chart, show
from rich.console import Console
from rich.markup import escape

from broadphase.methods import NAMES

LARGEST = 100_000_000  # boxes of a scene
WIDE = 1_000  # columns, so that no number is cut to fit a window


def main(arguments: Sequence[str]) -> int:
    """Measure, print the tables and write the files; 1 if contestants disagree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--scenes", nargs="+", choices=CATALOGUE, default=Options.scenes, metavar="SCENE")
    parser.add_argument("--sizes", nargs="+", type=int, default=Options.sizes, metavar="BOXES")
    parser.add_argument("--dim", nargs="+", type=int, choices=(2, 3), dest="dims")
    parser.add_argument("--methods", nargs="+", choices=NAMES, default=(), metavar="METHOD")
    parser.add_argument("--no-peers", action="store_false", dest="peers", help="only broadphase")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--seconds", type=float, default=Options.seconds, help="for each contestant and size")
    parser.add_argument("--no-memory", action="store_false", dest="memory", help="measure no memory")
    for name, what in (("json", "all results"), ("chart", "a picture"), ("markdown", "the tables")):
        parser.add_argument(f"--{name}", type=Path, help=f"a file for {what}")
    given = vars(parser.parse_args(arguments))
    files = {name: given.pop(name) for name in ("json", "chart", "markdown")}
    chosen = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    options = Options(**chosen)
    try:
        check(options, files["chart"])
        for file in filter(None, files.values()):
            file.touch()  # what cannot be written fails before the measurement
    except (ValueError, OSError) as error:
        parser.error(str(error))
    console, status = Console(soft_wrap=True, highlight=False, width=WIDE), Console(stderr=True)
    try:
        with status.status("") if status.is_terminal else nullcontext() as line:
            progress: Callable[[str], None] = lambda doing: line and line.update(escape(doing))  # noqa: E731
            report = measure(options, progress)
    except DisagreementError as error:
        print(error, file=sys.stderr)
        return 1
    show(report, console)
    command = shlex.join(["python", "benchmarks/compare.py", *arguments])
    if files["json"]:
        files["json"].write_text(dumps(asdict(report), indent=1) + "\n", "utf-8")
    if files["chart"]:
        with files["chart"].open("wb") as picture:
            save_chart(report, picture, files["chart"].suffix.removeprefix("."))
    if files["markdown"]:
        files["markdown"].write_text(markdown(report, command), "utf-8")
    return 0


def check(options: Options, chart: Path | None) -> None:
    """Raise ``ValueError`` for what cannot be measured."""
    for size in options.sizes:
        if not 2 <= size <= LARGEST:
            raise ValueError(f"a scene has from 2 to {LARGEST:,} boxes; got --sizes {size}")
    if not 0 < options.seconds < float("inf"):
        raise ValueError(f"every contestant needs some time; got --seconds {options.seconds:g}")
    if options.threads is not None and options.threads < 1:
        raise ValueError(f"there is at least one thread; got --threads {options.threads}")
    from matplotlib.backend_bases import FigureCanvasBase  # takes 0.15 s

    formats = FigureCanvasBase.get_supported_filetypes()
    if chart and chart.suffix.removeprefix(".") not in formats:
        raise ValueError(f"{chart}: the name of a picture ends in .{', .'.join(formats)}")
    places(options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
