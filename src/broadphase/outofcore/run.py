"""One call from beginning to end: plan, partition, join, and move the output into place.

`count`, `plan_only`, `batches` and `write` are the four kinds of calls.  Each makes a `Run`, which works in
its folder and resumes there what an earlier run of the same call left.
"""

import errno
import json
import logging
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyarrow import parquet

from broadphase.errors import PairLimitExceeded
from broadphase.outofcore.inputs import (
    InputFile,
    Unit,
    buffer_to_files,
    file_system,
    input_files,
    is_files,
    is_remote,
)
from broadphase.outofcore.joining import ChunkTable, JoinOptions, TaskSpec, join_tile, open_part, schema_for
from broadphase.outofcore.planning import MOST_ROWS, FullPlan, check_disk_space, make_plan
from broadphase.outofcore.request import Plan, Reporter, Request, Written, digest, fingerprint, rule_arrays
from broadphase.outofcore.tiling import partition_unit, read_counts
from broadphase.outofcore.work import (
    REPORT,
    Mark,
    WorkFolder,
    checked_content,
    locked,
    part_name,
    run_tasks,
    with_checksum,
)
from broadphase.runtime import threads

_log = logging.getLogger("broadphase.outofcore")
_DISK_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_CANNOT_BE_REMOVED = {errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS}
_OWN = {"chunks", "sampled", "parts", "done", "begun", "spool", "cut.npz"}


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
        if request.out is not None and not is_remote(request.out):
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
        if self.folder.plan.exists():
            before = self.folder.read_plan().get("request", {})
            differ = [key for key in self.identity if before.get(key) != self.identity[key]]
            if self.files is not None and differ:
                raise FileExistsError(
                    f"{self.folder.root}: holds the work of another call, whose {', '.join(differ)} differ; "
                    "give the same arguments to go on, or remove the folder"
                )
        elif any(path.name not in _OWN for path in self.folder.root.iterdir()):
            raise FileExistsError(
                f"{self.folder.root}: is no work folder of ours and not empty; name another with work="
            )
        if self.files is None or not self.folder.plan.exists():
            self.folder.clear()

    def make_plan(self) -> None:
        """Inspect the input and plan how to divide the work."""
        files = self._buffered() if self.files is None else self.files
        self.plan = make_plan(self.request, self.identity, files, self.folder, self.reporter)
        _log.info("%s", self.plan.summary)
        self.reporter.set_plan(self.plan.summary)

    def _buffered(self) -> list[list[InputFile]]:
        """The files of all sources; other sources are written to a file first."""
        request = self.request
        self.reporter.begin("copy", 0, 0)
        return [
            input_files(source)
            if is_files(source)
            else buffer_to_files(
                source,
                name,
                self.folder.buffer / str(side),
                request.ids[side],
                list(request.rules.values()),
                MOST_ROWS,
                lambda rows: self.reporter.advance(rows, 0),
            )
            for side, (name, source) in enumerate(request.sources.items())
        ]

    def prepare(self, remote: str | None = None) -> None:
        """Plan, partition the input, and list the tasks that join."""
        self.make_plan()
        self.chunks = self._partition()
        self.specs = self.chunks.specs(self.plan.sizes.boxes)
        request, kinds = self.request, self.plan.input.id_types
        # If there are fewer tasks than cores, each of them searches with several threads.
        own_threads = max(1, threads.cores() // max(len(self.specs), 1)) if request.executor is None else 1
        self.options = JoinOptions(
            str(self.folder.root),
            self.plan.partition.columns,
            (kinds[0], kinds[-1]),
            request.touching,
            request.store,
            self.plan.sizes.pairs,
            request.max_pairs,
            own_threads,
            remote,
        )

    def _partition(self) -> ChunkTable:
        """Write all input to files by tile, except what is done already."""
        request, folder, plan = self.request, self.folder, self.plan
        total, tiles, rows = plan.input.total, plan.partition.tiling.tiles, plan.sizes.rows
        given = rule_arrays(request.given, total)
        units = [
            unit
            for unit in plan.input.units
            if not all(
                folder.chunk(number).exists()
                for number in range(unit.first_chunk, unit.first_chunk - (-unit.rows // rows))
            )
        ]
        todo = sum(unit.rows for unit in units)
        if todo == total:
            check_disk_space(folder, plan.summary.temporary_bytes - plan.buffered)
        self.reporter.begin("partition", total, todo, done=total - todo)

        def own_rows(unit: Unit) -> dict[str, Any]:
            rows = slice(unit.first_row, unit.first_row + unit.rows)
            return {rule: values[rows] for rule, values in given.items()}

        tasks = ((unit.number, (unit, plan.partition, own_rows(unit))) for unit in units)
        run_tasks(
            request.executor,
            request.workers,
            partition_unit,
            tasks,
            lambda _, done: self.reporter.advance(done, done),
        )
        counts = [read_counts(folder.chunk(number), tiles) for number in range(len(plan.chunks))]
        return ChunkTable(plan.chunks, counts, len(plan.input.rows), tiles)

    def join_all(self) -> int:
        """Do all tasks that are not done; returns how many pairs there are."""
        marks = self.folder.marks()
        self.reporter.add_pairs(sum(mark.pairs for mark in marks.values()))
        self._check_limit()
        todo = [number for number in range(len(self.specs)) if number not in marks]
        self.reporter.begin("join", len(self.specs), sum(self.specs[k].boxes for k in todo), done=len(marks))
        self.join(todo)
        # Parts of earlier runs are read again at the end, except remote ones: a run that is killed soon after
        # its start spends its time on tasks that are not done.
        damaged = [
            number
            for number, mark in marks.items()
            if mark.size is not None
            and self.options.remote is None
            and not mark.matches(self.folder.part(number))
        ]
        self.reporter.add_pairs(-sum(marks[number].pairs for number in damaged))
        self.join(damaged)
        return self.reporter.pairs

    def join(self, numbers: Iterable[int]) -> None:
        """Do these tasks."""

        def done(number: int, pairs: int) -> None:
            self.reporter.add_pairs(pairs)
            self.reporter.advance(1, self.specs[number].boxes)
            self._check_limit()

        tiling = self.plan.partition.tiling
        tasks = ((k, (self.chunks.task(k, self.specs[k], tiling), self.options)) for k in numbers)
        run_tasks(self.request.executor, self.request.workers, join_tile, tasks, done)

    def _check_limit(self) -> None:
        """Raise `PairLimitExceeded` if there are more pairs than the caller allows."""
        if self.reporter.pairs > self.request.max_pairs:
            raise PairLimitExceeded(self.request.max_pairs)


# ---- the four kinds of calls


def count(request: Request) -> int:
    """How many pairs there are."""
    run = Run(request)
    with run.working():
        run.prepare()
        return run.join_all()


def plan_only(request: Request) -> Plan:
    """What a call would take; its folder is removed."""
    # In a folder of its own, not in that of an interrupted call.
    run = Run(replace(request, work=tempfile.mkdtemp(prefix="broadphase-plan-")))
    with run.working():
        run.make_plan()
        return run.plan.summary


def batches(request: Request) -> Iterator[Any]:
    """The pairs as record batches, those of some tasks at a time; nothing is left at the end."""
    run = Run(request)
    with run.working():
        run.prepare()
        tasks = len(run.specs)
        run.reporter.begin("join", tasks, sum(spec.boxes for spec in run.specs))
        at_once = 2 * request.workers
        for begin in range(0, tasks, at_once):
            some = range(begin, min(begin + at_once, tasks))
            run.join(some)
            for number in some:
                part = run.folder.part(number)
                if part.exists():
                    with parquet.ParquetFile(part) as file:
                        yield from file.iter_batches()
                    part.unlink()


def write(request: Request) -> Written:
    """Find all pairs and write them to the folder ``request.out``."""
    out = request.out
    assert out is not None
    run = Run(request)
    before = _report_in(out)
    same_call = before is not None and run.files is not None and before.get("request") == run.identity
    if before is not None and same_call and _is_intact(out, before):
        if _work_is_left(run):  # killed between the last two steps
            run.folder.remove()
        return Written(out, before["pairs"], before["boxes"], before["tiles"], was_done=True)
    _check_free(out, before if same_call else None)
    with run.working():
        run.prepare(remote=out if is_remote(out) else None)
        pairs, plan = run.join_all(), run.plan.summary
        report = {"request": run.identity, "pairs": pairs, "boxes": plan.boxes, "tiles": plan.tiles}
        _put_in_place(run, out, report, before)
    return Written(out, pairs, plan.boxes, plan.tiles, was_done=False)


# ---- the output folder: a local one appears as a whole; in a remote one the report is written last


def _work_is_left(run: Run) -> bool:
    """Whether the work folder belongs to the run that is finished."""
    root = run.folder.root
    if not run.folder.plan.exists():
        return not root.exists() or (root.is_dir() and not any(root.iterdir()))
    return bool(run.folder.read_plan().get("request") == run.identity)


def _report_in(out: str) -> dict[str, Any] | None:
    """The report in a folder, if there is one; it has the size and the checksum of each part."""
    if is_remote(out):
        system, inner = file_system(out)
        path = f"{inner}/{REPORT}"
        return checked_content(system.cat_file(path), path, out) if system.exists(path) else None
    report = Path(out) / REPORT
    return checked_content(report.read_bytes(), str(report), out) if report.exists() else None


def _is_intact(out: str, report: dict[str, Any]) -> bool:
    """Whether all parts are as they were written; for remote parts only the size is compared."""
    parts = report["parts"].items()
    if is_remote(out):
        system, inner = file_system(out)
        paths = {f"{inner}/{name}": size for name, (size, _) in parts}
        return all(system.exists(path) and system.size(path) == size for path, size in paths.items())
    return all(Mark(0, size, checksum).matches(Path(out) / name) for name, (size, checksum) in parts)


def _check_free(out: str, before: dict[str, Any] | None) -> None:
    """Refuse a folder that holds anything other than the output of the same call."""
    if is_remote(out):
        system, inner = file_system(out)
        taken = before is None and system.exists(f"{inner}/{REPORT}")
    else:
        place = Path(out)
        if place.exists() and not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "is a file; the pairs become a folder of files", out)
        own = set() if before is None else {*before["parts"], REPORT}
        taken = place.is_dir() and any(path.name not in own for path in place.iterdir())
    if taken:
        raise FileExistsError(
            errno.EEXIST,
            "holds something already, and not what this call would write; name another folder",
            out,
        )


def _put_in_place(run: Run, out: str, report: dict[str, Any], before: dict[str, Any] | None) -> None:
    """Move the output to its place; ``before`` is the report of the same call with damaged parts."""
    folder = run.folder
    marks = {part_name(number): mark for number, mark in sorted(folder.marks().items())}
    if not report["pairs"]:  # an empty part, so that readers of the folder see the names of the columns
        with folder.appearing(folder.part(0)) as part:
            open_part(str(part), schema_for(run.options.id_types)).close()
        marks[part_name(0)] = Mark.of(0, folder.part(0))
    parts = {name: [mark.size, mark.checksum] for name, mark in marks.items() if mark.size is not None}
    sealed = with_checksum({**report, "parts": parts})
    if is_remote(out):
        system, inner = file_system(out)
        if not report["pairs"]:
            system.put_file(str(folder.part(0)), f"{inner}/{part_name(0)}")
        system.pipe_file(f"{inner}/{REPORT}", json.dumps(sealed, sort_keys=True).encode())
        return
    folder.write_json(folder.parts / REPORT, sealed)
    place = Path(out).resolve()  # what a link leads to
    if before is not None:  # the report last: after a kill at this point the next call does the same again
        for path in sorted(place.iterdir(), key=lambda path: path.name == REPORT):
            path.unlink()
    _move(folder.parts, place)


def _move(parts: Path, place: Path) -> None:
    """Move the finished parts to a place that does not exist or is an empty folder; it appears as a whole.

    A folder that cannot be removed, such as the root of a file system, is filled instead, the report last.
    """
    if place.exists():
        try:
            place.rmdir()
        except OSError as error:
            if error.errno not in _CANNOT_BE_REMOVED:
                raise
            _fill(place, parts)
            return
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        parts.rename(place)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # The work folder is in another file system: copied beside the place first.
        beside = place.with_name(f"{place.name}.{secrets.token_hex(4)}")
        beside.mkdir()
        try:
            _fill(beside, parts)
            beside.rename(place)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise


def _fill(place: Path, parts: Path) -> None:
    """Copy all parts into an empty folder, the report last; or none."""
    names = sorted((path.name for path in parts.iterdir()), key=lambda name: name == REPORT)
    try:
        for name in names:
            shutil.copyfile(parts / name, place / name)
    except BaseException:
        for name in names:
            (place / name).unlink(missing_ok=True)
        raise
