"""Work: tasks for an executor, and the folder that keeps what is done.

A task is done by a thread of this process, or by anything with ``submit`` as in `concurrent.futures`.  An
executor is only given as many tasks as its workers can soon begin, so little work is lost when one fails.

No file in the work folder is changed in place.  It is written under a temporary name and gets its final
name when it is complete.  So a run that is killed at any moment leaves complete files, and some temporary
ones that are never read.  If a task is done twice, because its first worker was believed dead, both write the
same bytes.
"""

import errno
import json
import secrets
import shutil
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from broadphase.errors import FileError
from broadphase.runtime import threads

Tasks = Iterator[tuple[int, tuple[Any, ...]]]
"""The number of each task, and the arguments of its function."""
Calls = Iterator[tuple[int, Callable[[], Any]]]
Done = Callable[[int, Any], None]
"""Called with the number of a task and its result."""

_AHEAD = 2  # tasks that wait, for each one that runs
_LOOK_AGAIN = 0.1  # seconds; on Windows no Ctrl-C ends a wait that has no end of its own

REPORT = "_broadphase.json"
"""The file in a finished output folder that holds the request and the result."""


class WorkFolder:
    """Names in a work folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.plan = root / "plan.json"
        """The request, and the sizes that were planned for it; written before any boxes are read."""
        self.lock = root.with_name(f"{root.name}.lock")
        """Held by the run that works in the folder; the file is next to the folder."""
        self.tiling = root / "cut.npz"
        """The tiles, and what else the sample says."""
        self.buffer = root / "spool"
        """Input that can be read only once."""
        self.parts = root / "parts"
        """The output, until it is complete."""

    def chunk(self, number: int) -> Path:
        """The file of a chunk."""
        return self.root / "chunks" / f"{number:06}"

    def sample(self, number: int) -> Path:
        """The boxes that were taken as a sample from a unit."""
        return self.root / "sampled" / f"{number:06}.npz"

    def part(self, number: int) -> Path:
        """The pairs of a task."""
        return self.parts / part_name(number)

    def mark(self, number: int) -> Path:
        """The `Mark` of a task that is done."""
        return self.root / "done" / f"{number:06}"

    def make(self) -> None:
        """Make the folder and its subfolders."""
        for name in ("chunks", "sampled", "parts", "done", "begun"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    @contextmanager
    def appearing(self, path: Path) -> Iterator[Path]:
        """A temporary name to write to; the file appears under ``path`` if all went well."""
        part = self.root / "begun" / f"{path.name}.{secrets.token_hex(4)}"
        try:
            yield part
            part.replace(path)
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise

    def write_json(self, path: Path, content: Any) -> None:
        """Write JSON that appears completely or not at all."""
        with self.appearing(path) as part:
            part.write_text(json.dumps(content, sort_keys=True), "utf-8")

    def read_plan(self) -> dict[str, Any]:
        """The content of the plan."""
        return checked_content(self.plan.read_bytes(), str(self.plan), str(self.root))

    def marks(self) -> dict[int, "Mark"]:
        """The marks of all tasks that are done, by number; without damaged ones, whose tasks are repeated."""
        found = {}
        for path in (self.root / "done").iterdir():
            try:
                found[int(path.name)] = Mark(*json.loads(path.read_text("utf-8")))
            except (ValueError, TypeError):
                continue
        return found

    def clear(self) -> None:
        """Remove the contents of the folder."""
        for path in list(self.root.iterdir()):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def remove(self) -> None:
        """Remove the folder; the plan last, because it says which request the rest belongs to."""
        if self.root.is_dir():
            for path in list(self.root.iterdir()):
                if path != self.plan:
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
            shutil.rmtree(self.root, ignore_errors=True)
        with suppress(PermissionError):  # open, on Windows: `locked` removes it at its end
            self.lock.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Mark:
    """The result of a task: how many pairs, and the size and checksum of its part if it wrote one."""

    pairs: int
    size: int | None = None
    checksum: int | None = None

    @classmethod
    def of(cls, pairs: int, path: Path) -> "Mark":
        """The mark of a part that was written to a file."""
        return cls(pairs, path.stat().st_size, _checksum(path))

    def matches(self, path: Path) -> bool:
        """Whether the file is still as it was written."""
        return path.is_file() and path.stat().st_size == self.size and _checksum(path) == self.checksum


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            checksum = zlib.crc32(data, checksum)
    return checksum


def with_checksum(content: dict[str, Any]) -> dict[str, Any]:
    """The content with a checksum of it."""
    return {**content, "checksum": zlib.crc32(json.dumps(content, sort_keys=True).encode())}


def checked_content(text: bytes, path: str, folder: str) -> dict[str, Any]:
    """The content that `with_checksum` was given before it was written as JSON to the file ``path``.

    Raises
    ------
    FileError
        The file was damaged; the message says to remove the ``folder``.
    """
    try:
        read = json.loads(text)
        content = {key: value for key, value in dict(read).items() if key != "checksum"}
        if with_checksum(content) == read:
            return content
    except (ValueError, TypeError, RecursionError):
        pass
    raise FileError(
        f"{path}: is damaged, or from another version of broadphase; remove {folder} and call again"
    )


def part_name(number: int) -> str:
    """The name of the output of a task."""
    return f"part-{number:06}.parquet"


@contextmanager
def locked(folder: WorkFolder) -> Iterator[None]:
    """Keep other runs out of the folder; the system releases the lock of a run that dies.

    Raises
    ------
    BlockingIOError
        Another run works there.
    """
    with folder.lock.open("ab") as file:
        try:
            _lock(file.fileno())
        except BlockingIOError:
            raise BlockingIOError(
                errno.EWOULDBLOCK, "another run is at work in this folder", str(folder.root)
            ) from None
        try:
            yield
        finally:
            try:
                folder.lock.unlink(missing_ok=True)
            except PermissionError:  # Windows removes no open file; once it is closed another run may have it
                file.close()
                with suppress(PermissionError):
                    folder.lock.unlink(missing_ok=True)


def _lock(handle: int) -> None:
    """Lock a file until it is closed; raises where another process has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:  # its number is that of whatever the system has met
            raise BlockingIOError from None
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def run_tasks(
    executor: Executor | None, workers: int, function: Callable[..., Any], tasks: Tasks, done: Done
) -> None:
    """Call ``function`` for all tasks, and ``done`` with the number and result of each, one at a time.

    Tasks end in any order.  The first exception of ``function`` or ``done`` ends all: tasks that were handed
    over already are cancelled or waited for.
    """
    calls = ((number, partial(function, *arguments)) for number, arguments in tasks)
    if executor is None:
        _run_on_threads(workers, calls, done)
    else:
        _run_on_executor(executor, workers * _AHEAD, calls, done)


def _run_on_threads(workers: int, calls: Calls, done: Done) -> None:
    taking, reporting = Lock(), Lock()
    failed: list[None] = []

    def work() -> None:
        try:
            while not failed:
                if threads.cancelled():
                    raise threads.Cancelled
                with taking:
                    number, call = next(calls, (-1, None))
                if call is None:
                    return
                result = call()
                with reporting:
                    done(number, result)
        except BaseException:
            failed.append(None)
            raise

    threads.run_all([work] * workers, workers)


def _run_on_executor(executor: Executor, most: int, calls: Calls, done: Done) -> None:
    running: dict[Future[Any], int] = {}
    try:
        while True:
            while len(running) < most and (following := next(calls, None)) is not None:
                number, call = following
                running[executor.submit(call)] = number
            if not running:
                return
            for future in wait(running, _LOOK_AGAIN, FIRST_COMPLETED).done:
                done(running.pop(future), future.result())
    except BaseException as error:
        for future in running:
            future.cancel()
        if isinstance(error, Exception):  # after Ctrl-C the user should not wait
            wait(running)
        raise
