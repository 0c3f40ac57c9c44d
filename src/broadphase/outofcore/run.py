"""The public functions, and a call from beginning to end: plan, partition, join, move the output into place.

`pairs`, `join`, `count_pairs` and `plan` make a `Run`, which works in its folder and resumes there what an
earlier run of the same call left.
"""

import errno
import json
import logging
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

from broadphase.errors import FileError, PairLimitExceeded, need, refuse_in_browser

refuse_in_browser("broadphase.outofcore", "processes and keeps no files")
need("pyarrow", extra="io", purpose="broadphase.outofcore")

import numpy as np
from pyarrow import fs, parquet

from broadphase.inputs.search import bit_sets, static_flags
from broadphase.outofcore.inputs import (
    InputFile,
    Unit,
    buffer_to_files,
    file_system,
    input_files,
    is_files,
)
from broadphase.outofcore.planning import (
    PAIRS_A_BOX,
    FullPlan,
    Plan,
    Progress,
    Reporter,
    Request,
    Written,
    digest,
    fingerprint,
    make_plan,
)
from broadphase.outofcore.tiles import (
    ChunkTable,
    JoinOptions,
    TaskSpec,
    join_tile,
    open_part,
    output_schema,
    partition_unit,
)
from broadphase.outofcore.work import WorkFolder, load, locked, run_tasks, size_and_checksum
from broadphase.runtime import threads

_log = logging.getLogger("broadphase.outofcore")
_DISK_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_CANNOT_BE_MOVED = {errno.EXDEV, errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS}
REPORT = "_broadphase.json"  # in a finished output folder: the request and the result


class Run:
    """One call at work in its folder."""

    plan: FullPlan
    chunks: ChunkTable
    specs: list[TaskSpec]
    options: JoinOptions

    def __init__(self, request: Request) -> None:
        self.request = request
        sources = request.sources.values()
        self.files = [input_files(source) for source in sources] if all(map(is_files, sources)) else None
        self.identity = fingerprint(request, self.files)
        self.folder = WorkFolder(self._root())
        self.reporter = Reporter(request.progress)

    def _root(self) -> Path:
        """The folder that the caller names, one next to the output, or one that the same call finds again."""
        request = self.request
        if request.work is not None:
            return Path(request.work).resolve()
        if request.out is not None and "://" not in request.out:
            out = Path(request.out).resolve()
            return out.with_name(f"{out.name}.work")
        return Path(tempfile.gettempdir()) / f"broadphase-{digest({**self.identity, 'out': request.out})}"

    @contextmanager
    def working(self) -> Iterator[None]:
        """Lock the folder for this run; what is in it afterwards depends on how the run ends.

        After an error in the input or in the arguments nothing is kept.  After any other (a full disk, a
        worker that died, Ctrl-C) all finished work is kept, and the same call resumes there.
        """
        root = self.folder.root
        root.mkdir(parents=True, exist_ok=True)
        with locked(self.folder):
            self._check_before()  # before the `try`: a folder of another call is never removed
            try:
                self.folder.make()
                yield
                self.folder.remove()
            except (ValueError, TypeError, PairLimitExceeded, GeneratorExit):
                self.folder.remove()
                raise
            except BaseException as error:
                if self.files is None:  # what was read once cannot be compared with that of the next call
                    self.folder.remove()
                if isinstance(error, OSError) and error.errno in _DISK_FULL:
                    raise OSError(
                        error.errno,
                        f"{error.strerror}; what is done is kept, so make room and call again to go on",
                        str(root),
                    ) from error
                raise

    def _check_before(self) -> None:
        """Resume only the work of the same call."""
        folder = self.folder
        if folder.plan.exists():
            before = json.loads(str(load(folder.plan)["request"]))
            differ = [key for key in self.identity if before.get(key) != self.identity[key]]
            if self.files is not None and differ:
                raise FileExistsError(
                    f"{folder.root}: holds the work of another call, whose {', '.join(differ)} differ; "
                    "give the same arguments to go on, or remove the folder"
                )
        elif not folder.is_ours():
            raise FileExistsError(
                f"{folder.root}: is no work folder of ours and not empty; name another with work="
            )
        if self.files is None or not folder.plan.exists():
            folder.clear()

    def make_plan(self) -> None:
        """Inspect the input and plan how to divide the work."""
        files = self._buffered() if self.files is None else self.files
        self.plan = make_plan(self.request, self.identity, files, self.folder, self.reporter)
        _log.info("%s", self.plan.summary)
        self.reporter.set_plan(self.plan.summary)

    def _buffered(self) -> list[list[InputFile]]:
        """The files of all sources; other sources are written to a file first."""
        request = self.request
        self.reporter.begin("copy", 0)
        return [
            input_files(source)
            if is_files(source)
            else buffer_to_files(
                source,
                name,
                self.folder.buffer / str(side),
                request.ids[side],
                list(request.rules.values()),
                self.reporter.advance,
            )
            for side, (name, source) in enumerate(request.sources.items())
        ]

    def prepare(self) -> None:
        """Plan, partition the input, and list the tasks that join."""
        self.make_plan()
        request, plan, schemas = self.request, self.plan, self.plan.partition.reading.schemas
        self.chunks = self._partition()
        self.specs = self.chunks.specs(plan.sizes.boxes, len(plan.input.rows))
        # If there are fewer tasks than cores, each of them searches with several threads.
        search_threads = max(1, threads.cores() // max(len(self.specs), 1)) if request.executor is None else 1
        self.options = JoinOptions(
            str(self.folder.root),
            schemas,
            output_schema(schemas),
            request.touching,
            request.store,
            PAIRS_A_BOX * plan.sizes.boxes,
            request.max_pairs,
            search_threads,
        )

    def _partition(self) -> ChunkTable:
        """Write all input to files by tile, except what is done already."""
        request, folder, plan = self.request, self.folder, self.plan
        units, chunks = plan.input.units, range(len(plan.input.chunk_sides))
        total = sum(plan.input.rows)
        given = {  # one entry for each row of all input
            rule: static_flags(values, total).astype(np.uint8)
            if rule == "static"
            else bit_sets(values, total, rule)
            for rule, values in request.given.items()
        }

        def is_done(unit: Unit) -> bool:
            last = unit.first_chunk - (-unit.rows // plan.sizes.rows)
            return all(folder.file("indexes", number).exists() for number in range(unit.first_chunk, last))

        def arguments(number: int) -> tuple[Any, ...]:
            unit = units[number]
            rows = slice(unit.first_row, unit.first_row + unit.rows)
            return unit, plan.partition, {rule: values[rows] for rule, values in given.items()}

        todo = [number for number, unit in enumerate(units) if not is_done(unit)]
        rows = sum(units[number].rows for number in todo)
        needed, free = plan.to_write, shutil.disk_usage(folder.root).free
        if rows == total and free < needed:
            raise OSError(
                errno.ENOSPC,
                f"the temporary files may take {needed / 1e9:.2f} GB and {free / 1e9:.2f} GB are free; "
                "name another folder with work=",
                str(folder.root),
            )
        self.reporter.begin("partition", total, total - rows)
        self._run(partition_unit, todo, arguments, lambda _, rows: self.reporter.advance(rows))
        indexes = [load(folder.file("indexes", number)) for number in chunks]
        return ChunkTable(plan.input.chunk_sides, indexes, plan.partition.tiling)

    def join_all(self) -> int:
        """Do all tasks that are not done; returns how many pairs there are."""
        marks = self.folder.marks()
        self.reporter.begin("join", len(self.specs), len(marks), sum(mark.pairs for mark in marks.values()))
        self._check_limit()
        self.join(number for number in range(len(self.specs)) if number not in marks)
        # Parts of earlier runs are read again at the end: a run that is killed soon after its start spends
        # its time on tasks that are not done.
        damaged = [k for k, mark in marks.items() if mark.size and not mark.matches(self.folder.part(k))]
        if damaged:
            self.reporter.advance(-len(damaged), -sum(marks[number].pairs for number in damaged))
            self.join(damaged)
        return self.reporter.pairs

    def join(self, numbers: Iterable[int]) -> None:
        """Do these tasks."""

        def done(_: int, pairs: int) -> None:
            self.reporter.advance(1, pairs)
            self._check_limit()

        def arguments(number: int) -> tuple[Any, ...]:
            return self.chunks.task(number, self.specs[number]), self.options

        self._run(join_tile, numbers, arguments, done)

    def _run(self, function: Any, numbers: Iterable[int], arguments: Any, done: Any) -> None:
        run_tasks(self.request.executor, self.request.workers, function, numbers, arguments, done)

    def _check_limit(self) -> None:
        """Raise `PairLimitExceeded` if there are more pairs than the caller allows."""
        if self.reporter.pairs > self.request.max_pairs:
            raise PairLimitExceeded(self.request.max_pairs)


# ---- the pairs as batches, or in a folder


def _batches(request: Request) -> Iterator[Any]:
    """The pairs as record batches, those of some tasks at a time; nothing is left at the end."""
    run = Run(request)
    with run.working():
        run.prepare()
        tasks = len(run.specs)
        run.reporter.begin("join", tasks)
        at_once = 2 * request.workers
        for begin in range(0, tasks, at_once):
            numbers = range(begin, min(begin + at_once, tasks))
            run.join(numbers)
            for part in map(run.folder.part, numbers):
                if part.exists():
                    with parquet.ParquetFile(part) as file:
                        yield from file.iter_batches()
                    part.unlink()


def _write(request: Request) -> Written:
    """Find all pairs and write them to the folder ``request.out``."""
    out = request.out
    assert out is not None
    run = Run(request)
    report = _report_in(out)
    same_call = report is not None and run.files is not None and report.get("request") == run.identity
    before = report if same_call else None
    if before is not None and _is_intact(out, before):
        with suppress(OSError), locked(run.folder):  # killed between the last two steps
            run._check_before()
            run.folder.remove()
        return Written(out, before["pairs"], before["boxes"], before["tiles"], was_done=True)
    _check_free(out, before)
    with run.working():
        run.prepare()
        pairs, plan = run.join_all(), run.plan.summary
        content = {"request": run.identity, "pairs": pairs, "boxes": plan.boxes, "tiles": plan.tiles}
        _put_in_place(run, out, content, before)
    return Written(out, pairs, plan.boxes, plan.tiles, was_done=False)


# ---- the output folder, and the report in it


def _sealed(content: dict[str, Any]) -> dict[str, Any]:
    """The content with a checksum of it."""
    return {**content, "checksum": zlib.crc32(json.dumps(content, sort_keys=True).encode())}


def _report_in(out: str) -> dict[str, Any] | None:
    """The report in a folder, if there is one; it has the size and the checksum of each part."""
    system, inner = file_system(out)
    try:
        with system.open_input_stream(f"{inner}/{REPORT}") as file:
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        report: dict[str, Any] = json.loads(text)
        if _sealed({key: value for key, value in report.items() if key != "checksum"}) == report:
            return report
    except (ValueError, AttributeError, RecursionError):
        pass
    raise FileError(
        f"{out}/{REPORT}: is damaged, or from another version of broadphase; remove {out} and call again"
    )


def _is_intact(out: str, report: dict[str, Any]) -> bool:
    """Whether all parts are as they were written; for remote parts only the size is compared."""
    system, inner = file_system(out)
    for name, (size, checksum) in report["parts"].items():
        path = f"{inner}/{name}"
        same = system.get_file_info(path).size == size
        if not same or (inner is out and size_and_checksum(Path(path)) != (size, checksum)):
            return False
    return True


def _check_free(out: str, before: dict[str, Any] | None) -> None:
    """Refuse a folder that holds anything but the output of the same call, whose report is ``before``."""
    system, inner = file_system(out)
    kind = system.get_file_info(inner).type
    if kind == fs.FileType.File:
        raise NotADirectoryError(errno.ENOTDIR, "is a file; the pairs become a folder of files", out)
    if kind == fs.FileType.Directory:
        known = set() if before is None else {*before["parts"], REPORT}
        if any(entry.base_name not in known for entry in system.get_file_info(fs.FileSelector(inner))):
            raise FileExistsError(
                errno.EEXIST,
                "holds something already, and not what this call would write; name another folder",
                out,
            )


def _put_in_place(run: Run, out: str, content: dict[str, Any], before: dict[str, Any] | None) -> None:
    """Move the output to its place; ``before`` is the report of the same call with damaged parts."""
    folder = run.folder
    marks = {folder.part(number).name: mark[1:] for number, mark in folder.marks().items() if mark.size}
    if not marks:  # an empty part, so that readers of the folder see the names of the columns
        open_part(str(folder.part(0)), run.options.output).close()
        marks[folder.part(0).name] = size_and_checksum(folder.part(0))
    report = json.dumps(_sealed({**content, "parts": marks}), sort_keys=True)
    (folder.parts / REPORT).write_text(report, "utf-8")
    system, inner = file_system(out)
    for name in [] if before is None else [*before["parts"], REPORT]:
        with suppress(FileNotFoundError):
            system.delete_file(f"{inner}/{name}")
    if inner is out and _moved(folder.parts, Path(out).resolve()):  # what a link leads to
        return
    # The report first: by it the same call knows a folder that it was killed in as its own.
    system.create_dir(inner)
    for path in sorted(folder.parts.iterdir(), key=lambda path: (path.name != REPORT, path.name)):
        fs.copy_files(str(path), f"{inner}/{path.name}", destination_filesystem=system)


def _moved(parts: Path, place: Path) -> bool:
    """Make the folder appear as a whole; False where it is the root of a file system, or in another one."""
    try:
        if place.exists():
            place.rmdir()
        place.parent.mkdir(parents=True, exist_ok=True)
        parts.rename(place)
    except OSError as error:
        if error.errno in _CANNOT_BE_MOVED:
            return False
        raise
    return True


# ---- the public functions


Place = str | os.PathLike[str]
ProgressCallback = Callable[[Progress], None]


class _Options(TypedDict, total=False):
    ids: str | tuple[str | None, str | None] | None
    touching: bool
    static: Any
    categories: Any
    masks: Any
    memory: int | str
    executor: Executor | None
    workers: int | None
    work: Place | None
    max_pairs: int | None
    progress: ProgressCallback | None


@overload
def pairs(source: Any, out: Place, **options: Unpack[_Options]) -> Written: ...
@overload
def pairs(source: Any, out: None = None, **options: Unpack[_Options]) -> Iterator[Any]: ...
def pairs(source: Any, out: Place | None = None, **options: Unpack[_Options]) -> Written | Iterator[Any]:
    """Find every pair of overlapping boxes among more boxes than fit into memory.

    Parameters
    ----------
    source : path, array or iterable
        A Parquet, Arrow or ``.npy`` file; a folder, a glob or a list of such files, sorted by name with
        numbers by value; a memory map; an array, a table, or an iterable of arrays, tables or record batches,
        which are written to the work folder first.  Columns are found by name as by
        `broadphase.files.read_boxes`, those of GeoParquet's ``bbox`` too.  A path with ``://`` is opened by
        fsspec.
    out : path, optional
        A folder that does not exist yet or is empty.  It gets Parquet files whose first two columns are the
        pairs, and appears when all is done.  Without it, the pairs come as an iterator.
    ids : str, optional
        A column of integers or text that is written in place of row numbers.
    touching : bool
        Whether boxes that share only an edge or a corner overlap.
    static, categories, masks : str or array_like, optional
        The rules of `broadphase.pairs`: the name of a column, or one entry for each row of all input.
    memory : int or str
        What all tasks that run at the same time may hold, such as ``"2 GB"``; Python, NumPy and pyarrow need
        about 150 MB for each process in addition.
    executor : concurrent.futures.Executor, optional
        Runs the tasks: anything with ``submit``, also Dask's ``client.get_executor()``.  By default threads
        of this process.
    workers : int, optional
        How many tasks run at the same time; by default as many as the executor has workers.
    work : path, optional
        The folder for temporary files, which all workers must see.  By default the name of ``out`` followed
        by ``.work``, or a folder in the system's folder for temporary files.  It is removed at the end.
    max_pairs : int, optional
        Raise an error rather than write more pairs than this.
    progress : callable, optional
        Called with a `Progress` after each task; its ``plan`` says what the call takes.

    Returns
    -------
    Written or iterator of pyarrow.RecordBatch
        Columns ``i`` and ``j``, int64 row numbers over all input in order, ``i < j``; or ``id_i`` and
        ``id_j``. Each part is sorted by rows; between parts there is no order.

    Raises
    ------
    ValueError
        A row holds NaN, null or ``min > max`` (file and row are named), a column is missing, or ``memory`` is
        too small.  No files are left behind.
    PairLimitExceeded
        There are more than ``max_pairs`` pairs.  No files are left behind.
    FileExistsError
        ``out`` or ``work`` hold something else.
    OSError
        A file cannot be read or written, or the disk is full.  Finished work is kept: the same call resumes
        there, as after Ctrl-C or when the process was killed.

    Examples
    --------
    >>> from broadphase import outofcore
    >>> boxes = [[0, 0, 2, 2], [1, 1, 3, 3], [3, 3, 4, 4]]
    >>> [batch.to_pydict() for batch in outofcore.pairs(boxes)]
    [{'i': [0, 1], 'j': [1, 2]}]
    """
    request = Request({"source": source}, out, **options)
    return _batches(request) if out is None else _write(request)


@overload
def join(a: Any, b: Any, out: Place, **options: Unpack[_Options]) -> Written: ...
@overload
def join(a: Any, b: Any, out: None = None, **options: Unpack[_Options]) -> Iterator[Any]: ...
def join(a: Any, b: Any, out: Place | None = None, **options: Unpack[_Options]) -> Written | Iterator[Any]:
    """Find every row of ``b`` that each row of ``a`` overlaps, among more boxes than fit into memory.

    Parameters
    ----------
    a, b : path, array or iterable
        As ``source`` in `pairs`, both 2-D or both 3-D.
    ids : str or tuple, optional
        A column of both sides that is written in place of row numbers, or one of each side or None.
    out, touching, memory, executor, workers, work, max_pairs, progress
        As for `pairs`.

    Returns
    -------
    Written or iterator of pyarrow.RecordBatch
        As for `pairs`; the first column is of ``a``, the second of ``b``.

    Raises
    ------
    ValueError, PairLimitExceeded, FileExistsError, OSError
        As for `pairs`.

    Examples
    --------
    >>> from broadphase import outofcore
    >>> shots, ships = [[0, 0, 1, 1], [8, 8, 9, 9]], [[5, 5, 7, 7], [8, 8, 10, 10], [0, 0, 2, 2]]
    >>> [batch.to_pydict() for batch in outofcore.join(shots, ships)]
    [{'i': [0, 1], 'j': [2, 1]}]
    """
    request = Request({"a": a, "b": b}, out, **options)
    return _batches(request) if out is None else _write(request)


def count_pairs(source: Any, *, other: Any = None, **options: Unpack[_Options]) -> int:
    """Count the pairs of boxes that overlap, without storing them.

    Parameters
    ----------
    source, touching, static, categories, masks, memory, executor, workers, work, progress
        As for `pairs`.
    other : path, array or iterable, optional
        Count what `join` of ``source`` and ``other`` would write; ``static``, ``categories`` and ``masks``
        are for one source only.

    Returns
    -------
    int
        The number of pairs.

    Examples
    --------
    >>> from broadphase import outofcore
    >>> outofcore.count_pairs([[0, 0, 2, 2], [1, 1, 3, 3], [3, 3, 4, 4]])
    2
    """
    request = Request(_with_other(source, other), **options)
    request.store = False
    run = Run(request)
    with run.working():
        run.prepare()
        return run.join_all()


def _with_other(source: Any, other: Any) -> dict[str, Any]:
    return {"source": source} if other is None else {"source": source, "other": other}


def plan(source: Any, *, other: Any = None, memory: int | str = "2 GB", workers: int | None = None) -> Plan:
    """Estimate from a sample what `pairs` of this source would take; with ``other``, what `join` would.

    Parameters
    ----------
    source, memory, workers
        As for `pairs`.
    other : path, array or iterable, optional
        The second side of a join.

    Returns
    -------
    Plan
        Printable; its fields say how many boxes and tiles there are, and the most that temporary files take.

    Examples
    --------
    >>> from broadphase import outofcore
    >>> outofcore.plan([[0, 0, 2, 2], [1, 1, 3, 3]]).tiles
    1
    """
    # In a folder of its own, not in that of an interrupted call.
    folder = tempfile.mkdtemp(prefix="broadphase-plan-")
    run = Run(Request(_with_other(source, other), memory=memory, workers=workers, work=folder))
    with run.working():
        run.make_plan()
        return run.plan.summary
