"""The commands and their options; `demo` has a file of its own."""

import glob
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from cyclopts import App, CycloptsError, Parameter, validators

import broadphase
from broadphase.cli.terminal import DISAGREEMENT, Steps, complain
from broadphase.errors import FileError, need
from broadphase.indexes import CLASSES
from broadphase.indexes import Choice as IndexName
from broadphase.methods import Name as SingleMethod
from broadphase.runtime.memory import available_memory

if TYPE_CHECKING:
    from broadphase.doctor import MethodRun, Subject
    from broadphase.recording.reader import RecordedFrame, Recording


_BYTES_PER_BOX = 250  # of memory for reading, searching and writing, with two pairs per box
_BINARY = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".npy")
_TEXT = (".csv", ".txt", ".tsv", ".tab", ".json", ".geojson")
_PURPOSE = "searching on disk"
_ROUNDS = 3  # of a replay, with each method
_BUSIEST = 3  # stretches of busy frames that the table explains


Method = Literal["auto", SingleMethod]


def _no_option(kind: Any, name: str | None) -> None:
    if name is not None and name.startswith("-") and name != "-":
        raise ValueError(f"There is no such option; a file of that name is ./{name}.")


File = Annotated[str, Parameter(allow_leading_hyphen=True, validator=_no_option)]
Output = Annotated[File, Parameter(name=["--output", "-o"])]
Methods = Annotated[list[SingleMethod] | None, Parameter(consume_multiple=True, negative="")]
Indexes = Annotated[list[IndexName] | None, Parameter(consume_multiple=True, negative="")]
Threads = Annotated[int | None, Parameter(validator=validators.Number(gte=1))]
Count = Annotated[bool, Parameter(negative="")]
Trust = Annotated[bool, Parameter(negative="")]
IdColumn = Annotated[str | None, Parameter(name="--id")]


@Parameter(name="*")
@dataclass(frozen=True)
class SearchOptions:
    """The options of a search.

    Parameters
    ----------
    output
        CSV, TSV, .npy, Parquet or Arrow by the name's ending; "-" is CSV on standard output. Pairs are row
        numbers, counted from 0, or ids where a file has a column "id"; column i is of A, column j of B.
    method
        How to search; all methods find the same pairs.
    touching
        Whether boxes that share only an edge or a corner count.
    count
        Print only how many pairs there are.
    id
        The column (GeoJSON: property) that holds the ids, if it is not called "id".
    trust
        Read the files however much memory they need.
    memory
        Search on disk with at most this much memory, such as "2GB". A search is on disk too if the files do
        not fit into memory, are many (a folder, a pattern in quotes) or have an address with "://". The
        output is then a folder of Parquet files.
    dask
        The address of a Dask scheduler, such as "tcp://10.0.0.1:8786", whose workers search; they need access
        to the same files.
    workers
        How many tasks run at the same time.
    work
        The folder for temporary files; the name of the output with ".work" added if it is not given.
    """

    output: Output = "-"
    method: Method = "auto"
    touching: bool = True
    count: Count = False
    id: IdColumn = None
    trust: Trust = False
    memory: str | None = None
    dask: str | None = None
    workers: Threads = None
    work: File | None = None

    @property
    def on_disk(self) -> bool:
        """Whether any option is given that only a search on disk has."""
        return (self.memory, self.dask, self.workers, self.work) != (None, None, None, None)


_USUAL = SearchOptions()

app = App(
    name="broadphase",
    help="Find everything that touches: the overlapping pairs among boxes.",
    version=broadphase.__version__,
    suppress_keyboard_interrupt=False,
)


def call(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    try:
        code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        error.verbose = False
        return complain(f"{error} See: broadphase --help")
    return code or 0


@app.command
def pairs(file: File, /, *, options: SearchOptions = _USUAL) -> None:
    """Find every pair of boxes in FILE that overlap.

    Parameters
    ----------
    file
        CSV, TSV, .npy, Parquet, Arrow or GeoJSON by the name's ending; "-" is CSV on standard input.
        Tables have columns min_x, min_y, max_x, max_y (in 3-D also min_z, max_z) or x, y, width, height.
    """
    _answer([file], options)


@app.command
def join(a: File, b: File, /, *, options: SearchOptions = _USUAL) -> None:
    """Find every box in A with every box in B that it overlaps.

    Parameters
    ----------
    a
        CSV, TSV, .npy, Parquet, Arrow or GeoJSON by the name's ending; "-" is CSV on standard input.
    b
        The same for the other side.
    """
    _answer([a, b], options)


@app.command
def demo(
    *,
    balls: int = 10_000,
    frames: int = 50,
    seed: int = 1,
    methods: Methods = None,
    output: Output = "broadphase-demo.png",
) -> int:
    """Let many balls fly, find the pairs of every frame by every method, and compare the times.

    Parameters
    ----------
    balls
        How many balls.
    frames
        How many frames.
    seed
        The same seed gives the same balls.
    methods
        Which methods, one or more; all of them if it is not given. Leave brute_force out for very many balls.
    output
        The picture of the last frame: .png, .svg, .pdf, .webp, .jpg or what else Matplotlib writes.
    """
    from broadphase.cli.demo import demo as run

    return run(balls, frames, seed, methods, output)


@app.command(help_flags=[])
def tour(*options: Annotated[str, Parameter(allow_leading_hyphen=True, show=False)]) -> int:
    """Open the tour of the methods in a browser.

    ``--port`` is the port that it listens on, ``--no-browser`` prints the address and opens nothing.
    """
    from broadphase.tour import main

    return main(options)


@app.command
def replay(
    file: File,
    /,
    *,
    methods: Indexes = None,
    slowest: Annotated[int, Parameter(validator=validators.Number(gte=0))] = 10,
    html: File | None = None,
) -> int:
    """Print the work of every frame of a recording and the busiest frames in words, or write them as a page.

    Parameters
    ----------
    file
        A file written by broadphase.Recorder.
    methods
        Which methods, one or more; all but brute_force if it is not given.
    slowest
        How many of the slowest frames to list.
    html
        Print nothing, but write this page: frames to step through, with the bodies and the tests of each. It
        needs no other file and no network.
    """
    chosen = list(methods or (name for name in CLASSES if name != "brute_force"))
    return print_table(file, chosen, slowest) if html is None else write_html(file, chosen, html)


@app.command
def doctor(
    file: File,
    /,
    *,
    method: IndexName = "auto",
    cell_size: Annotated[float | None, Parameter(validator=validators.Number(gt=0, lt=float("inf")))] = None,
    id: IdColumn = None,  # noqa: A002 - the option's name
    trust: Trust = False,
) -> int:
    """Say what is slow about boxes or a recording, and what to change; each advice is tried first.

    A change is advised if it is clearly faster and finds the same pairs, but for those that it excludes.

    Parameters
    ----------
    file
        A recording (broadphase.Recorder writes one), or boxes: all files that "broadphase pairs" reads.
    method
        The method of your program. By default that of the recording; for boxes what broadphase.pairs picks.
    cell_size
        The cell size of your program, for uniform_grid and spatial_hash.
    id
        The column (GeoJSON: property) that holds the ids, if it is not called "id".
    trust
        Read the file however much memory it needs.
    """
    from broadphase.doctor import DisagreementError, diagnose

    with Steps() as steps:
        try:
            subject = _subject(file, method, cell_size, id, trust, steps)
            diagnosis = diagnose(subject, steps.step("Trying what could help"))
        except DisagreementError as error:
            return complain(str(error), DISAGREEMENT)
    print(diagnosis)
    return 0


def _subject(
    file: str, method: str, cell_size: float | None, id_column: str | None, trust: bool, steps: Steps
) -> "Subject":
    """A file as the doctor looks at it."""
    from broadphase.doctor import look_at_boxes, look_at_recording
    from broadphase.recording.frames import MAGIC

    progress = steps.step(f"Reading {file}")
    if file != broadphase.files.STANDARD and (Path(file).is_fifo() or Path(file).is_char_device()):
        raise FileError(f"{file}: is no file that can be read twice; name a file, or - for standard input")
    is_recording = Path(file).suffix == ".bprec" or (
        file != broadphase.files.STANDARD and _begins_with(file, MAGIC)
    )
    recording = _recording(file) if is_recording else None
    if recording is not None and method == "auto":
        method = recording.about["index"]
    if cell_size is not None and method not in ("uniform_grid", "spatial_hash"):
        raise FileError("only uniform_grid and spatial_hash have cells; name one of them with --method")
    options = {} if cell_size is None else {"cell_size": cell_size}
    if recording is not None:
        return look_at_recording(file, recording, method, options, progress)
    limits = None if trust else broadphase.files.Limits(way_out="--trust reads it")
    table = broadphase.files.read_boxes(file, id_column=id_column, progress=progress, limits=limits)
    if not len(table.boxes):
        raise FileError(f"{file}: holds no boxes")
    return look_at_boxes(file, table.boxes, table.ids, method, options)


def _begins_with(file: str, mark: bytes) -> bool:
    with Path(file).open("rb") as opened:
        return opened.read(len(mark)) == mark


def _recording(file: str) -> "Recording":
    """A recording with at least one frame."""
    from broadphase.recording.reader import Recording

    recording = Recording(file)
    if not len(recording):
        raise FileError(f"{file}: holds no frame that is whole; {recording.damage or 'none was recorded'}")
    if recording.damage:
        print(f"{file}: {recording.damage}; the {len(recording)} frames before it are read", file=sys.stderr)
    return recording


def _answer(names: list[str], options: SearchOptions) -> None:
    """Read the boxes of one or two files, search, and write the pairs."""
    on_disk = is_on_disk(names, options)
    output, count = options.output, options.count
    _check(names, output, count, on_disk)

    if on_disk:
        if options.method != "auto":
            raise FileError("beyond memory each tile has its own method; leave out --method")
        search_on_disk(names, options)
        return

    # A bar would mix with the pairs.
    write_with_progress = output != broadphase.files.STANDARD or not sys.stdout.isatty()
    limits = None if options.trust else broadphase.files.Limits(way_out="--trust reads it")

    with Steps() as steps:
        tables = [
            broadphase.files.read_boxes(
                name, id_column=options.id, progress=steps.step(f"Reading {name}"), limits=limits
            )
            for name in names
        ]
        steps.step(f"Comparing {' with '.join(str(len(table.boxes)) for table in tables)} boxes")
        result = _search([table.boxes for table in tables], options)
        ids = tables[0].ids, tables[-1].ids
        if not count and write_with_progress:
            broadphase.files.write_pairs(
                output, result, ids=ids, progress=steps.step(f"Writing {len(result)} pairs")
            )
    if count:
        print(result)
    elif not write_with_progress:
        broadphase.files.write_pairs(output, result, ids=ids)


def _search(sides: list[Any], options: SearchOptions) -> Any:
    how: dict[str, Any] = {"method": options.method, "touching": options.touching}
    if len(sides) == 1:
        search: Any = broadphase.count_pairs if options.count else broadphase.pairs
        return search(sides[0], **how)
    try:
        found = broadphase.join(*sides, **how, sort=not options.count)
    except ValueError as error:  # one side is 2-D, the other 3-D
        raise FileError(str(error)) from None
    return len(found) if options.count else found


def _check(names: list[str], output: str, count: bool, on_disk: bool) -> None:
    """Raise for what would fail only after the search."""
    if names.count(broadphase.files.STANDARD) > 1:
        raise FileError("standard input cannot be both A and B")
    if output == broadphase.files.STANDARD:
        return
    if count:
        raise FileError("--count prints a number and writes no pairs; leave out --output")
    if not on_disk:
        broadphase.files.check_output(output)
    if any(Path(name).exists() and Path(output).exists() and Path(name).samefile(output) for name in names):
        raise FileError(f"{output}: is also an input; write the pairs to another file")


# ---- searching on disk


def is_on_disk(names: list[str], options: SearchOptions) -> bool:
    """Whether to search these files on disk: an option says so, or they are many, remote or too large."""
    for name in names:
        path = Path(name)
        is_folder = path.is_dir() and path.suffix.lower() not in _TEXT
        is_pattern = glob.has_magic(name) and not path.exists()
        if options.on_disk or "://" in name or is_folder or is_pattern:
            return True
    free = available_memory()
    if free is None or not all(Path(name).suffix.lower() in _BINARY for name in names):
        return False
    # A row takes at least this much, so most files are known to be small without opening them.
    if sum(Path(name).stat().st_size for name in names if Path(name).exists()) * 16 < free:
        return False
    return _rows(names) * _BYTES_PER_BOX > free


def _rows(names: list[str]) -> int:
    need("pyarrow", extra="io", purpose=_PURPOSE)
    from broadphase.outofcore.inputs import file_info, input_files

    files = [file for name in names for file in input_files(name)]
    return sum(sum(file_info(file).sizes) for file in files)


def search_on_disk(names: list[str], given: SearchOptions) -> None:
    """Search on disk with a progress bar, and print a summary."""
    need("pyarrow", extra="io", purpose=_PURPOSE)
    from broadphase import outofcore
    from broadphase.outofcore.inputs import file_info, input_files

    output = given.output
    if not given.count and output == "-":
        raise FileError("beyond memory the pairs are a folder of Parquet files; name it with --output")
    if not given.count and Path(output).suffix.lower() not in (".parquet", ".pq"):
        raise FileError(
            f"{output}: beyond memory the pairs are a folder of Parquet files; end its name in .parquet"
        )
    memory: Any = given.memory or (available_memory() or 4_000_000_000) // 2
    options: dict[str, Any] = {"memory": memory, "touching": given.touching}
    options |= {"work": given.work, "workers": given.workers}
    with ExitStack() as stack:
        if given.dask is not None:
            distributed = need("distributed", extra="dask", purpose="--dask")
            client = stack.enter_context(distributed.Client(given.dask))
            options["executor"] = client.get_executor()
        options["progress"] = stack.enter_context(Steps()).show
        try:
            if given.count:
                other = names[1] if len(names) > 1 else None
                print(outofcore.count_pairs(names[0], other=other, **options))
                return
            ids = [given.id or file_info(input_files(name)[0]).id for name in names]
            if len(names) == 1:
                done = outofcore.pairs(names[0], output, ids=ids[0], **options)
            else:
                done = outofcore.join(names[0], names[1], output, ids=(ids[0], ids[1]), **options)
        except (ValueError, TypeError) as error:
            raise FileError(str(error)) from None
    if sys.stderr is not None and (done.was_done or sys.stderr.isatty()):
        before = " was done before" if done.was_done else ""
        files = len(list(Path(output).glob("*.parquet")))
        there = f"{done.pairs:,} pairs in {files} file{'' if files == 1 else 's'}"
        print(f"broadphase: {output}{before}: {there}", file=sys.stderr)


# ---- ``replay``: a recording as tables


def write_html(file: str, methods: Sequence[str], page: str) -> int:
    """Write the page of a recording, with a progress bar."""
    from broadphase.cli.replay import check_page, write_page

    check_page(page, file)
    with Steps() as steps:
        progress = steps.step(f"Reading {file}")
        recording = _recording(file)
        drawn, written = write_page(recording, Path(file).name, page, methods, progress)
    remark = "" if drawn == len(recording) else f", of which {drawn:,} are drawn"
    print(f"{page}: {len(recording):,} frames{remark}, {written / 1e6:.1f} MB")
    return 0


def print_table(file: str, methods: Sequence[str], slowest: int) -> int:
    """Print a line per frame, then the methods, then the slowest frames."""
    from broadphase.doctor import run_methods

    recording = _recording(file)
    followed = run_methods(recording, methods, _ROUNDS)
    print(f"{file}: {recording!r}\n")
    _print_frames(recording, followed)
    print(f"\n{'method':<16}{'median ms':>12}{'slowest ms':>12}{'in frame':>10}{'median tests':>14}")
    for method, (seconds, tests) in followed.items():
        worst = int(seconds.argmax())
        print(
            f"{method:<16}{_ms(np.median(seconds)):>12}{_ms(seconds[worst]):>12}{worst:>10}"
            f"{int(np.median(tests)):>14}"
        )
    print("\nbusiest frames, by tests of a tree")
    stretches = recording.busiest(min(slowest, _BUSIEST))
    if not stretches:
        print("no frame has twice the median number of tests")
    for begin, peak, end, _ in stretches:
        more = f"; busy from frame {begin} to {end - 1}" if end - begin > 1 else ""
        print(f"{recording.explain(peak)}{more}")
    print("\nslowest frames, by what the recorded calls took")
    for number in recording.slowest(slowest):
        print(_summary(recording[number]))
    return 0


def _print_frames(recording: "Recording", followed: "dict[str, MethodRun]") -> None:
    heads = ["frame", "bodies", "moved", "pairs", "recorded ms", *(f"{method} ms" for method in followed)]
    widths = [max(8, len(head) + 2) for head in heads]
    print("".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)))
    for frame, overlaps in zip(recording, recording.counts()[:, 1].tolist(), strict=True):
        spent = [frame.seconds, *(one.seconds[frame.number] for one in followed.values())]
        cells = [frame.number, len(frame.ids), frame.moved, overlaps, *map(_ms, spent)]
        print("".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)))


def _summary(frame: "RecordedFrame") -> str:
    calls = sorted(frame.calls.items(), key=lambda item: -item[1].seconds)
    words = ", ".join(f"{name} x{call.times} {_ms(call.seconds)} ms" for name, call in calls)
    return (
        f"frame {frame.number}: {_ms(frame.seconds)} ms; {len(frame.ids)} bodies, {frame.moved} moved, "
        f"{frame.added} added, {frame.removed} removed; {words}"
    )


def _ms(seconds: Any) -> str:
    return f"{1e3 * seconds:.3f}"
