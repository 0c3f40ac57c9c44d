"""A call from beginning to end: settle, partition, join, and the output takes its place."""

import contextlib
import errno
import logging
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy.typing as npt
from pyarrow import parquet

from broadphase import threads
from broadphase.errors import FileError, PairLimitExceeded
from broadphase.outofcore import executors
from broadphase.outofcore.asked import Question, description, digest, rule_arrays
from broadphase.outofcore.chunk_file import read_counts
from broadphase.outofcore.files_of import InputFile, input_files, is_files, is_remote
from broadphase.outofcore.joining import Joining, join_tile
from broadphase.outofcore.partition import Partition, partition_unit
from broadphase.outofcore.progress import Plan, Teller
from broadphase.outofcore.settling import Settled, check_room, settle
from broadphase.outofcore.sizes import MOST_ROWS
from broadphase.outofcore.spooling import spooled
from broadphase.outofcore.tasks import Asked, Chunks
from broadphase.outofcore.work import Mark, WorkFolder, alone_in

_log = logging.getLogger("broadphase.outofcore")
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


class Run:
    """One call at work in its folder."""

    def __init__(self, question: Question) -> None:
        self.question = question
        plain = all(map(is_files, question.sources))
        self.files = (
            [input_files(*both) for both in zip(question.sources, question.names, strict=True)]
            if plain
            else None
        )
        self.told = description(question, self.files)
        self.folder = WorkFolder(self._root())
        self.tell = Teller(question.progress)

    def _root(self) -> Path:
        """Where the caller says; beside the output; or under a name that the next call finds again."""
        question = self.question
        if question.work is not None:
            return Path(question.work).resolve()
        if question.out is not None and not is_remote(question.out):
            out = Path(question.out).resolve()
            return out.with_name(f"{out.name}.work")
        return Path(tempfile.gettempdir()) / f"broadphase-{digest({**self.told, 'out': question.out})}"

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """The folder, for this run alone; what is in it afterwards depends on how it ends.

        What the input or the limit forbids leaves nothing.  What comes from outside (a full disk, a worker
        that died, Ctrl-C) leaves all that is done, and the same call goes on there.
        """
        root = self.folder.root
        root.mkdir(parents=True, exist_ok=True)
        try:
            with alone_in(self.folder):
                self._check_before()
                self.folder.make()
                yield
                self.folder.remove()
        except _DamagedPlanError:
            raise
        except (ValueError, TypeError, PairLimitExceeded, GeneratorExit):
            self.folder.remove()
            raise
        except OSError as error:
            self._remove_if_in_vain()
            if error.errno in _FULL:
                raise OSError(
                    error.errno,
                    f"{error.strerror}; what is done is kept, so make room and call again to go on",
                    str(root),
                ) from error
            raise
        except BaseException:
            self._remove_if_in_vain()
            raise

    def _remove_if_in_vain(self) -> None:
        """What was read only once cannot be compared with what is read the next time."""
        if self.files is None:
            self.folder.remove()

    def _check_before(self) -> None:
        """Go on only where the same call began."""
        if self.folder.plan.exists():
            try:
                before = self.folder.planned()["asked"]
            except FileError as error:  # it may be somebody else's
                raise _DamagedPlanError(str(error)) from None
            differ = [key for key in self.told if before.get(key) != self.told[key]]
            if self.files is not None and differ:
                raise _OtherCallError(
                    f"{self.folder.root}: holds the work of another call, whose {', '.join(differ)} differ; "
                    "give the same arguments to go on, or remove the folder"
                )
        elif any(path.name not in _OWN for path in self.folder.root.iterdir()):
            raise _OtherCallError(
                f"{self.folder.root}: is no work folder of ours and not empty; name another with work="
            )
        if self.files is None or not self.folder.plan.exists():
            self.folder.clear()

    def settled(self) -> Settled:
        """Look at the input and settle how to divide the work."""
        question = self.question
        files = self.files if self.files is not None else self._spool()
        settled = settle(question, self.told, files, self.folder, self.tell)
        _log.info("%s", settled.plan)
        self.tell.plan(settled.plan)
        return settled

    def _spool(self) -> list[list[InputFile]]:
        question = self.question
        self.tell.begin("copy", 0, 0)
        return [
            input_files(source, name)
            if is_files(source)
            else spooled(
                source,
                name,
                self.folder.spool / str(side),
                question.ids[side],
                list(question.rules.values()),
                MOST_ROWS,
                lambda rows: self.tell.did(rows, 0),
            )
            for side, (source, name) in enumerate(zip(question.sources, question.names, strict=True))
        ]

    def partition(self, settled: Settled) -> Chunks:
        """Write all input into tiles, as far as that is not done."""
        question, folder = self.question, self.folder
        given = rule_arrays(question.given, settled.input.total)
        how = Partition(str(folder.root), settled.reading, settled.cut, settled.columns, settled.most_copies)
        numbers = range(len(settled.chunks))
        missing = {number for number in numbers if not folder.chunk(number).exists()}
        rows = settled.sizes.rows
        units = [
            unit
            for unit in settled.input.units
            if missing & set(range(unit.first_chunk, unit.first_chunk - (-unit.rows // rows)))
        ]
        todo = sum(unit.rows for unit in units)
        if todo == settled.input.total:
            check_room(folder, settled.plan.temporary_bytes - settled.copied)
        self.tell.begin("partition", settled.input.total, todo, done=settled.input.total - todo)
        calls = executors.numbered(
            partition_unit, ((unit.number, (unit, how, _rows_of(given, unit))) for unit in units)
        )
        executors.run(question.executor, question.workers, calls, lambda _, done: self.tell.did(done, done))
        counts = [read_counts(folder.chunk(number), settled.cut.tiles) for number in numbers]
        return Chunks(settled.chunks, counts, len(settled.input.rows), settled.cut.tiles)

    def joining(self, settled: Settled, tasks: int, *, remote: str | None = None) -> Joining:
        """What the tasks have to be told that join."""
        question = self.question
        alone = max(1, threads.cores() // max(tasks, 1)) if question.executor is None else 1
        kinds = settled.input.id_types
        return Joining(
            str(self.folder.root),
            settled.columns,
            (kinds[0], kinds[-1]),
            question.touching,
            question.store,
            settled.sizes.pairs,
            question.max_pairs,
            alone,
            remote,
        )

    def join(self, settled: Settled, chunks: Chunks, tasks: list[Asked], how: Joining) -> int:
        """Do all tasks that are not done; returns how many pairs there are."""
        done = self._sound_marks(how.remote is not None)
        self.tell.pairs(sum(mark.pairs for mark in done.values()))
        self.check_limit()
        todo = [number for number in range(len(tasks)) if number not in done]
        self.tell.begin("join", len(tasks), sum(tasks[k].boxes for k in todo), done=len(done))

        def joined(number: int, pairs: int) -> None:
            self.tell.pairs(pairs)
            self.tell.did(1, tasks[number].boxes)
            self.check_limit()

        calls = executors.numbered(
            join_tile, ((k, (chunks.task(k, tasks[k], settled.cut), how)) for k in todo)
        )
        executors.run(self.question.executor, self.question.workers, calls, joined)
        return self.tell.found

    def _sound_marks(self, remote: bool) -> dict[int, Mark]:
        """The marks of tasks whose parts are as they were written; remote parts are not looked at."""
        part = self.folder.part
        return {
            number: mark
            for number, mark in self.folder.marked().items()
            if mark.size is None or remote or mark.fits(part(number))
        }

    def check_limit(self) -> None:
        """Raise `PairLimitExceeded` where there are more pairs than the caller wants."""
        if self.tell.found > self.question.max_pairs:
            raise PairLimitExceeded(self.question.max_pairs)


class _OtherCallError(FileExistsError):
    """The work folder is somebody else's; it is left alone."""


class _DamagedPlanError(FileError):
    """Whose the work folder is cannot be told; it is left alone."""


_OWN = {"chunks", "parts", "done", "begun", "spool", "cut.npz"}


def _rows_of(given: Mapping[str, npt.NDArray[Any]], unit: Any) -> dict[str, npt.NDArray[Any]]:
    return {rule: values[unit.first_row : unit.first_row + unit.rows] for rule, values in given.items()}


def counted(question: Question) -> int:
    """How many pairs there are."""
    run = Run(question)
    with run.working():
        settled = run.settled()
        chunks = run.partition(settled)
        tasks = chunks.tasks(settled.sizes.boxes)
        return run.join(settled, chunks, tasks, run.joining(settled, len(tasks)))


def planned(question: Question) -> Plan:
    """What a call would take; nothing of it is left."""
    # In a folder of its own, not where a call that was interrupted would go on.
    run = Run(replace(question, work=tempfile.mkdtemp(prefix="broadphase-plan-")))
    with run.working():
        return run.settled().plan


def batches(question: Question) -> Iterator[Any]:
    """The pairs as record batches, some tasks' at a time; nothing is left at the end."""
    run = Run(question)
    with run.working():
        settled = run.settled()
        chunks = run.partition(settled)
        tasks = chunks.tasks(settled.sizes.boxes)
        how = run.joining(settled, len(tasks))
        run.tell.begin("join", len(tasks), sum(task.boxes for task in tasks))

        def joined(number: int, pairs: int) -> None:
            run.tell.pairs(pairs)
            run.tell.did(1, tasks[number].boxes)
            run.check_limit()

        at_once = 2 * question.workers
        for begin in range(0, len(tasks), at_once):
            some = range(begin, min(begin + at_once, len(tasks)))
            calls = executors.numbered(
                join_tile, ((k, (chunks.task(k, tasks[k], settled.cut), how)) for k in some)
            )
            executors.run(question.executor, question.workers, calls, joined)
            for number in some:
                part = run.folder.part(number)
                if part.exists():
                    with parquet.ParquetFile(part) as file:
                        yield from file.iter_batches()
                    part.unlink()
