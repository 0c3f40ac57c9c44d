"""Work: tasks for an executor, and the folder that keeps what is done.

A task is done when its file has its final name, which it gets when it is complete.  So a run that is killed
at any moment leaves complete files, and some temporary ones that are never read, and a task that is done
twice, because its first worker was believed dead, writes the same bytes twice.
"""

import errno
import secrets
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager, suppress
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from broadphase.runtime import threads

_FOLDERS = ("samples", "chunks", "indexes", "parts", "marks", "begun")
_CHECKED = 4  # bytes of a checksum
_AHEAD = 2  # tasks that wait, for each one that runs
_LOOK_AGAIN = 0.1  # seconds; on Windows no Ctrl-C ends a wait that has no end of its own


class WorkFolder:
    """Names in a work folder.

    In this order a run writes ``plan``, the request and the sizes that were planned for it; ``buffer``, input
    that can be read only once; the samples of the units of input; ``tiling``; the chunks and their indexes;
    ``parts``, the output until it is complete, and the `Mark` of each.  ``lock`` is next to the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.lock = root, root.with_name(f"{root.name}.lock")
        self.plan, self.tiling = root / "plan.npz", root / "tiling.npz"
        self.buffer, self.parts = root / "input", root / "parts"

    def file(self, kind: str, number: int, ending: str = ".npz") -> Path:
        """The file of one of the ``"samples"``, ``"chunks"``, ``"indexes"`` or ``"marks"``."""
        return self.root / kind / f"{number:06}{ending}"

    def part(self, number: int) -> Path:
        """The pairs of a task."""
        return self.parts / f"part-{number:06}.parquet"

    def make(self) -> None:
        """Make the folder and its subfolders."""
        for name in _FOLDERS:
            (self.root / name).mkdir(parents=True, exist_ok=True)

    def is_ours(self) -> bool:
        """Whether it holds nothing that no run would write."""
        known = {*_FOLDERS, self.plan.name, self.tiling.name, self.buffer.name}
        return all(path.name in known for path in self.root.iterdir())

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

    def save(self, path: Path, **arrays: Any) -> None:
        """Write arrays for `load`, and a checksum, to a file that appears completely or not at all."""
        np.savez(content := BytesIO(), **arrays)
        with self.appearing(path) as part:
            part.write_bytes(sealed(content.getvalue()))

    def marks(self) -> dict[int, "Mark"]:
        """The marks of all tasks that are done, by number."""
        paths = sorted((self.root / "marks").iterdir())
        return {int(path.stem): Mark(*load(path)["mark"].tolist()) for path in paths}

    def clear(self) -> None:
        """Remove the contents of the folder; the plan last, because it says to which request it belongs."""
        for path in sorted(self.root.iterdir(), key=lambda path: path == self.plan):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the folder."""
        if self.root.is_dir():
            self.clear()
            shutil.rmtree(self.root, ignore_errors=True)


def load(path: Path) -> dict[str, Any]:
    """The arrays that `WorkFolder.save` wrote.

    Raises
    ------
    OSError
        The file is damaged; it was removed.
    """
    content = unsealed(path.read_bytes())
    if content is None:
        raise damaged(path)
    with np.load(BytesIO(content)) as arrays:
        return dict(arrays)


def sealed(content: bytes) -> bytes:
    """The content, and a checksum of it."""
    return content + zlib.crc32(content).to_bytes(_CHECKED, "little")


def unsealed(data: bytes) -> bytes | None:
    """The content that was sealed; None if it is damaged."""
    content = data[:-_CHECKED]
    return content if sealed(content) == data else None


def damaged(path: Path) -> OSError:
    """Remove a damaged file; returns the error that says so."""
    path.unlink(missing_ok=True)
    return OSError(
        errno.EIO, "was damaged and has been removed; call again to make it anew and go on", str(path)
    )


class Mark(NamedTuple):
    """The result of a task: how many pairs, and the size and checksum of its part; 0 bytes without one."""

    pairs: int
    size: int = 0
    checksum: int = 0

    def matches(self, path: Path) -> bool:
        """Whether the file is still as it was written."""
        return path.is_file() and (self.size, self.checksum) == size_and_checksum(path)


def size_and_checksum(path: Path) -> tuple[int, int]:
    """The bytes of a file, and a checksum of them."""
    size = path.stat().st_size
    if not size:
        return 0, 0
    with pa.memory_map(str(path)) as file:
        return size, zlib.crc32(file.read_buffer())


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
    executor: Executor | None,
    workers: int,
    function: Callable[..., Any],
    numbers: Iterable[int],
    arguments: Callable[[int], tuple[Any, ...]],
    done: Callable[[int, Any], None],
) -> None:
    """Call ``function`` with the arguments of each number, and ``done`` with the number and the result.

    Tasks end in any order, ``done`` is called for one at a time.  The first exception ends all: tasks that
    have begun are waited for.  Without an executor, threads of this process do the work.
    """
    if executor is not None:
        _run_on_executor(executor, workers * _AHEAD, function, iter(numbers), arguments, done)
        return
    reporting = Lock()

    def call(number: int) -> None:
        result = function(*arguments(number))
        with reporting:
            done(number, result)

    threads.run_all([partial(call, number) for number in numbers], workers)


def _run_on_executor(
    executor: Executor,
    most: int,
    function: Callable[..., Any],
    numbers: Iterator[int],
    arguments: Callable[[int], tuple[Any, ...]],
    done: Callable[[int, Any], None],
) -> None:
    """The same; at most ``most`` tasks are handed over, so little work is lost when one fails."""
    running: dict[Future[Any], int] = {}
    try:
        while True:
            for number in islice(numbers, most - len(running)):
                running[executor.submit(function, *arguments(number))] = number
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
