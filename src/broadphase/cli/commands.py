"""What the command can do, and its options."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter, validators

import broadphase
from broadphase.cli.beyond import Beyond, answer, is_beyond
from broadphase.cli.exits import complain
from broadphase.errors import FileError

Method = Literal["auto", "brute_force", "sort_and_sweep", "uniform_grid", "spatial_hash", "tree", "strips"]
SingleMethod = Literal["brute_force", "sort_and_sweep", "uniform_grid", "spatial_hash", "tree", "strips"]
IndexName = Literal[
    "brute_force", "sort_and_sweep", "sweep_and_prune", "uniform_grid", "spatial_hash", "box_tree", "strips"
]
Scene = Literal[
    "uniform",
    "mixed_sizes",
    "far_clusters",
    "line",
    "walls",
    "brownian",
    "mixed_cubes",
    "sphere_surface",
    "skewed",
    "spiral_sparse",
    "spiral",
    "spiral_dense",
    "spiral_mega_dense",
    "gsap",
    "kitten",
    "atoms",
    "few_movers",
    "large_and_small",
]


def _no_option(kind: Any, name: str | None) -> None:
    if name is not None and name.startswith("-") and name != "-":
        raise ValueError(f"There is no such option; a file of that name is ./{name}.")


File = Annotated[str, Parameter(allow_leading_hyphen=True, validator=_no_option)]
Output = Annotated[File, Parameter(name=["--output", "-o"])]
Methods = Annotated[list[SingleMethod] | None, Parameter(consume_multiple=True, negative="")]
Indexes = Annotated[list[IndexName] | None, Parameter(consume_multiple=True, negative="")]
Scenes = Annotated[list[Scene] | None, Parameter(consume_multiple=True, negative="")]
Sizes = Annotated[list[int] | None, Parameter(consume_multiple=True, negative="")]
Dims = Annotated[list[Literal[2, 3]] | None, Parameter(name="--dim", consume_multiple=True, negative="")]
Threads = Annotated[int | None, Parameter(validator=validators.Number(gte=1))]
Count = Annotated[bool, Parameter(negative="")]
Trust = Annotated[bool, Parameter(negative="")]
IdColumn = Annotated[str | None, Parameter(name="--id")]

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
def pairs(
    file: File,
    /,
    *,
    output: Output = "-",
    method: Method = "auto",
    touching: bool = True,
    count: Count = False,
    id: IdColumn = None,  # noqa: A002 - the option's name
    trust: Trust = False,
    memory: str | None = None,
    dask: str | None = None,
    workers: Threads = None,
    work: File | None = None,
) -> None:
    """Find every pair of boxes in FILE that overlap.

    Parameters
    ----------
    file
        CSV, TSV, .npy, Parquet, Arrow or GeoJSON by the name's ending; "-" is CSV on standard input.
        Tables have columns min_x, min_y, max_x, max_y (in 3-D also min_z, max_z) or x, y, width, height.
    output
        CSV, TSV, .npy, Parquet or Arrow by the name's ending; "-" is CSV on standard output. Pairs are row
        numbers, counted from 0, or ids where FILE has a column "id".
    method
        How to search; all methods find the same pairs.
    touching
        Whether boxes that share only an edge or a corner count.
    count
        Print only how many pairs there are.
    id
        The column (GeoJSON: property) that holds the ids, if it is not called "id".
    trust
        Read the file however much memory it asks for.
    memory
        Search on disk and hold at most so much, such as "2GB". So it is done too where the files do not fit,
        are many (a folder, a pattern in quotes) or lie behind a "://". The output is a folder of Parquet
        files then.
    dask
        The address of a Dask scheduler whose workers do it, such as "tcp://10.0.0.1:8786"; they must see the
        same files.
    workers
        How many tasks run at the same time.
    work
        The folder for temporary files; the output's name with ".work" behind it if it is not given.
    """
    _answer([file], [id], method, touching, output, count, trust, Beyond(memory, dask, workers, work))


@app.command
def join(
    a: File,
    b: File,
    /,
    *,
    output: Output = "-",
    method: Method = "auto",
    touching: bool = True,
    count: Count = False,
    id: IdColumn = None,  # noqa: A002 - the option's name
    trust: Trust = False,
    memory: str | None = None,
    dask: str | None = None,
    workers: Threads = None,
    work: File | None = None,
) -> None:
    """Find every box in A with every box in B that it overlaps.

    Parameters
    ----------
    a
        CSV, TSV, .npy, Parquet, Arrow or GeoJSON by the name's ending; "-" is CSV on standard input.
    b
        The same for the other side.
    output
        CSV, TSV, .npy, Parquet or Arrow by the name's ending; "-" is CSV on standard output. Column i
        holds the rows (or ids) of A, column j those of B.
    method
        How to search; all methods find the same pairs.
    touching
        Whether boxes that share only an edge or a corner count.
    count
        Print only how many pairs there are.
    id
        The column (GeoJSON: property) that holds the ids, if it is not called "id".
    trust
        Read the files however much memory they ask for.
    memory
        Search on disk and hold at most so much, such as "2GB". So it is done too where the files do not fit,
        are many (a folder, a pattern in quotes) or lie behind a "://". The output is a folder of Parquet
        files then.
    dask
        The address of a Dask scheduler whose workers do it, such as "tcp://10.0.0.1:8786"; they must see the
        same files.
    workers
        How many tasks run at the same time.
    work
        The folder for temporary files; the output's name with ".work" behind it if it is not given.
    """
    _answer([a, b], [id, id], method, touching, output, count, trust, Beyond(memory, dask, workers, work))


@app.command
def demo(
    *,
    balls: int = 10_000,
    frames: int = 50,
    seed: int = 1,
    methods: Methods = None,
    output: Output = "broadphase-demo.png",
) -> int:
    """Let many balls fly, find the pairs in every frame by every method, and compare.

    Parameters
    ----------
    balls
        How many balls.
    frames
        How many frames.
    seed
        Another seed gives other balls; the same seed gives the same ones.
    methods
        Which methods, one or more; all of them if it is not given. Leave brute_force out for very many balls.
    output
        The picture of the last frame: .png, .webp, .jpg, .gif, .tif, .bmp, .pdf or .svg.
    """
    from broadphase.cli.demo import demo as run

    return run(balls, frames, seed, methods, output)


@app.command
def lab(
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=65535))] = 8008,
    browser: bool = True,
    export: Path | None = None,
) -> int:
    """Serve the lab: a guided tour of the methods, and a sandbox in which they can be watched at work.

    Parameters
    ----------
    host
        The address to listen on. Only this machine can reach the default.
    port
        The port to listen on; 0 takes any that is free.
    browser
        Whether to open the page.
    export
        Serve nothing; record the tour with the engine and write it to this folder, for any web server.
    """
    if export is not None:
        from broadphase.cli.lab import export_tour

        return export_tour(export)
    from broadphase.cli.lab import lab as run

    return run(host, port, browser)


@app.command
def replay(
    file: File,
    /,
    *,
    table: Annotated[bool, Parameter(negative="")] = False,
    methods: Indexes = None,
    slowest: Annotated[int, Parameter(validator=validators.Number(gte=0))] = 10,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=65535))] = 8008,
    browser: bool = True,
) -> int:
    """Open a recording in the lab: any frame of a game, by any method.

    Parameters
    ----------
    file
        What broadphase.Recorder has written.
    table
        Print a table instead: bodies, pairs and milliseconds by method of every frame, then the slowest.
    methods
        With --table: which methods, one or more; all but brute_force if it is not given.
    slowest
        With --table: how many of the slowest frames to tell about.
    host
        The address to listen on. Only this machine can reach the default.
    port
        The port to listen on; 0 takes any that is free.
    browser
        Whether to open the page.
    """
    from broadphase.cli import replay as replaying

    if table:
        return replaying.table(file, methods, slowest)
    return replaying.replay(file, host, port, browser)


@app.command
def bench(
    *,
    scenes: Scenes = None,
    sizes: Sizes = None,
    dim: Dims = None,
    methods: Methods = None,
    peers: bool = True,
    threads: Threads = None,
    seconds: float = 0.3,
    memory: bool = True,
    json: File | None = None,
    chart: File | None = None,
    markdown: File | None = None,
) -> int:
    """Time the methods on named scenes, beside the other libraries that are installed.

    Every number of pairs is checked first; then the contestants take turns and the best of each counts.

    Parameters
    ----------
    scenes
        Which scenes, one or more; uniform and mixed_sizes if it is not given.
    sizes
        How many boxes, one or more numbers; 1000, 10000 and 100000 if it is not given.
    dim
        2, 3 or both; 2 if it is not given, and 3 for scenes that have only that.
    methods
        Methods to time beside the default arguments and sort=False.
    peers
        Whether other libraries and the yardstick in C++ take part, as far as they are there.
    threads
        The most threads that ours use; all cores if it is not given.
    seconds
        For how long each contestant takes its turns, at each size of each scene.
    memory
        Whether to measure memory too, each contestant in a process of its own at the largest size.
    json
        A file for all figures, with machine and versions.
    chart
        A file for a picture, in any format that matplotlib writes.
    markdown
        A file for the tables as a page.
    """
    from broadphase.cli.bench import bench as run

    return run(scenes, sizes, dim, methods, peers, threads, seconds, memory, json, chart, markdown)


def _answer(
    names: list[str],
    id_columns: list[str | None],
    method: Method,
    touching: bool,
    output: str,
    count: bool,
    trust: bool,
    beyond: Beyond,
) -> None:
    """Read the boxes of the one file or of both, search, and write."""
    on_disk = is_beyond(names, beyond)
    _check(names, output, count, on_disk)
    from broadphase import files

    if on_disk:
        if method != "auto":
            raise FileError("beyond memory each tile has its own method; leave out --method")
        answer(names, id_columns, touching, output, count, beyond)
        return

    write_with_progress = output != files.STANDARD or not sys.stdout.isatty()  # lines and bars do not mix
    limits = None if trust else files.Limits(way_out="--trust reads it")
    from broadphase.cli.progress import Steps  # rich takes 80 ms, for which the lab need not wait

    with Steps() as steps:
        tables = [
            files.read_boxes(name, id_column=column, progress=steps.step(f"Reading {name}"), limits=limits)
            for name, column in zip(names, id_columns, strict=True)
        ]
        steps.step(f"Comparing {' with '.join(str(len(table.boxes)) for table in tables)} boxes")
        result = _search([table.boxes for table in tables], method, touching, count)
        ids = tables[0].ids, tables[-1].ids
        if not count and write_with_progress:
            files.write_pairs(output, result, ids=ids, progress=steps.step(f"Writing {len(result)} pairs"))
    if count:
        print(result)
    elif not write_with_progress:
        files.write_pairs(output, result, ids=ids)


def _search(sides: list[Any], method: Method, touching: bool, count: bool) -> Any:
    if len(sides) == 1 and count:
        return broadphase.count_pairs(sides[0], method=method, touching=touching)
    if len(sides) == 1:
        return broadphase.pairs(sides[0], method=method, touching=touching)
    try:
        found = broadphase.join(*sides, method=method, touching=touching, sort=not count)
    except ValueError as error:  # one side is 2-D, the other 3-D
        raise FileError(str(error)) from None
    return len(found) if count else found


def _check(names: list[str], output: str, count: bool, on_disk: bool) -> None:
    """Refuse before any work what could only fail after it."""
    from broadphase import files

    if names.count(files.STANDARD) > 1:
        raise FileError("standard input cannot be both A and B")
    if output == files.STANDARD:
        return
    if count:
        raise FileError("--count prints a number and writes no pairs; leave out --output")
    if not on_disk:
        files.check_output(output)
    if any(Path(name).exists() and Path(output).exists() and Path(name).samefile(output) for name in names):
        raise FileError(f"{output}: is also an input; write the pairs to another file")
