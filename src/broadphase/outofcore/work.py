"""The work folder: what is done lies in it under its final name, what is not has another.

Nothing is ever changed in place.  A file is written under a name of its own and renamed when it is complete,
so a run that is killed at any moment leaves whole files and some that nobody looks at.  Two tasks that do the
same, because the first was believed dead, write the same.
"""

import json
import secrets
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broadphase.errors import FileError

REPORT = "_broadphase.json"
"""The file in a finished output folder that says what was asked and what came out."""


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """Names in a work folder."""

    root: Path

    @property
    def plan(self) -> Path:
        """What was asked for, and the sizes that were settled then."""
        return self.root / "plan.json"

    @property
    def lock(self) -> Path:
        """Held by the run that is at work; it stands beside the folder."""
        return self.root.with_name(f"{self.root.name}.lock")

    @property
    def cut(self) -> Path:
        """The cut."""
        return self.root / "cut.npz"

    @property
    def spool(self) -> Path:
        """Input that can be read only once."""
        return self.root / "spool"

    @property
    def parts(self) -> Path:
        """The output, until it is whole."""
        return self.root / "parts"

    def chunk(self, number: int) -> Path:
        """The file of a chunk."""
        return self.root / "chunks" / f"{number:06}"

    def part(self, number: int) -> Path:
        """The pairs of a task."""
        return self.parts / part_name(number)

    def mark(self, number: int) -> Path:
        """Says how many pairs a task has found and what its part is like, once it has."""
        return self.root / "done" / f"{number:06}"

    def make(self) -> None:
        """Make the folder and what must be in it."""
        for name in ("chunks", "parts", "done", "begun"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    @contextmanager
    def appearing(self, path: Path) -> Iterator[Path]:
        """A name to write to; what was written appears under ``path`` if all went well."""
        part = self.root / "begun" / f"{path.name}.{secrets.token_hex(4)}"
        try:
            yield part
            part.replace(path)
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise

    def note(self, path: Path, told: Any) -> None:
        """Write JSON that is there whole or not at all."""
        with self.appearing(path) as part:
            part.write_text(json.dumps(told, sort_keys=True), "utf-8")

    def planned(self) -> dict[str, Any]:
        """What the plan says."""
        return unsealed(self.plan.read_bytes(), str(self.plan), str(self.root))

    def marked(self) -> dict[int, "Mark"]:
        """The marks of all tasks that are done, by number; what is no mark is a task to be done again."""
        found = {}
        for path in (self.root / "done").iterdir():
            try:
                found[int(path.name)] = Mark(*json.loads(path.read_text("utf-8")))
            except (ValueError, TypeError):
                continue
        return found

    def clear(self) -> None:
        """Remove all that is in the folder."""
        for path in list(self.root.iterdir()):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def remove(self) -> None:
        """Remove the folder and all that is in it; the plan last, which says whose the rest is."""
        if self.root.is_dir():
            for path in list(self.root.iterdir()):
                if path != self.plan:
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
            shutil.rmtree(self.root, ignore_errors=True)
        self.lock.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Mark:
    """What a task has found: its pairs, and the size and checksum of its part if it has one."""

    pairs: int
    size: int | None = None
    checksum: int | None = None

    @classmethod
    def of(cls, pairs: int, path: Path) -> "Mark":
        """The mark of a part that is in a file."""
        return cls(pairs, path.stat().st_size, _checksum(path))

    def fits(self, path: Path) -> bool:
        """Whether the file is the part as it was written."""
        return path.is_file() and path.stat().st_size == self.size and _checksum(path) == self.checksum


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            checksum = zlib.crc32(data, checksum)
    return checksum


def sealed(told: dict[str, Any]) -> dict[str, Any]:
    """With a checksum of all that is told."""
    return {**told, "checksum": zlib.crc32(json.dumps(told, sort_keys=True).encode())}


def unsealed(text: bytes, path: str, folder: str) -> dict[str, Any]:
    """What was `sealed` and written as JSON to the file ``path``.

    Raises
    ------
    FileError
        The file was damaged; it says to remove the ``folder``.
    """
    try:
        told = json.loads(text)
        rest = {key: value for key, value in dict(told).items() if key != "checksum"}
        if sealed(rest) == told:
            return rest
    except (ValueError, TypeError, RecursionError):
        pass
    raise FileError(
        f"{path}: is damaged, or from another version of broadphase; remove {folder} and call again"
    )


def part_name(number: int) -> str:
    """What the output of a task is called."""
    return f"part-{number:06}.parquet"


@contextmanager
def alone_in(folder: WorkFolder) -> Iterator[None]:
    """Let no other run work in the same folder; a run that dies lets go of it.

    Raises
    ------
    BlockingIOError
        Another run is at work there.
    """
    try:
        import fcntl
    except ImportError:  # where there is none, the caller has to know
        yield
        return
    with folder.lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BlockingIOError(
                error.errno, "another run is at work in this folder", str(folder.root)
            ) from None
        try:
            yield
        finally:
            folder.lock.unlink(missing_ok=True)
