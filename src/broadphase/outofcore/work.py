"""The work folder: what is done lies in it under its final name, what is not has another.

Nothing is ever changed in place.  A file is written under a name of its own and renamed when it is complete,
so a run that is killed at any moment leaves whole files and some that nobody looks at.  Two tasks that do the
same, because the first was believed dead, write the same.
"""

import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
        """Says how many pairs a task has found, once it has."""
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

    def marked(self) -> dict[int, int]:
        """The pairs of every task that is done, by its number."""
        folder = self.root / "done"
        return {int(path.name): int(path.read_text("utf-8")) for path in folder.iterdir()}

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
