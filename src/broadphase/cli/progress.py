"""Progress on stderr for work that takes longer; nothing where stderr is no terminal."""

import sys
from collections.abc import Callable
from threading import Lock, Timer
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

PATIENCE = 1.0  # seconds
_STEPS = {"copy": "Copying", "sample": "Sampling", "partition": "Cutting", "join": "Joining"}


def _progress(console: Console | None, *columns: ProgressColumn) -> Progress:
    """Lines with a bar, and these columns behind it."""
    # rich takes FORCE_COLOR for a terminal; a log file is none, whatever its colours.
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *columns,
        console=console or Console(stderr=True),
        transient=True,
        disable=console is None and not is_terminal,
    )


class Steps:
    """What is being done, one line each, shown once the whole has taken ``patience`` seconds.

    Use it as a context manager; the lines disappear at the end.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to show them; stderr if it is not given.
    patience : float
        How long to stay silent, in seconds.
    """

    def __init__(self, console: Console | None = None, patience: float = PATIENCE) -> None:
        self._progress = _progress(console, TaskProgressColumn(), TimeElapsedColumn())
        self._timer = Timer(patience, self._show)
        self._timer.daemon = True
        self._lock = Lock()
        self._ended = False

    def __enter__(self) -> "Steps":
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._ended = True
        self._progress.stop()

    def _show(self) -> None:
        with self._lock:
            if not self._ended:
                self._progress.start()

    def step(self, what: str) -> Callable[[int, int], None]:
        """Begin a step; call the result with what is done and what there is to do (0: unknown)."""
        for task in self._progress.tasks:
            if not task.finished:
                self._progress.update(task.id, total=1, completed=1)
        task_id = self._progress.add_task(what, total=None)

        def report(done: int, total: int) -> None:
            self._progress.update(task_id, completed=done, total=total or None)

        return report


class Bar:
    """A line on stderr: the step, how much of it is done, the pairs so far, the time left.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to show it; stderr if it is not given, and nothing where that is no terminal.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._progress = _progress(console, TextColumn("{task.fields[told]}", markup=False))
        self._task = self._progress.add_task("Looking", total=None, told="")

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *about: object) -> None:
        self._progress.stop()

    def tell(self, now: Any) -> None:
        """Show a `broadphase.outofcore.Progress`."""
        self._progress.update(
            self._task,
            description=_STEPS[now.step],
            completed=now.done,
            total=now.total or None,
            told=told(now),
        )


def told(now: Any) -> str:
    """What stands behind the bar."""
    what = "tiles" if now.step == "join" else "boxes"
    parts = [f"{now.done:,}/{now.total:,} {what}" if now.total else f"{now.done:,} {what}"]
    if now.step == "join":
        parts.append(f"{now.pairs:,} pairs")
    if now.seconds_left is not None:
        minutes, seconds = divmod(round(now.seconds_left), 60)
        parts.append(f"{minutes}:{seconds:02} left")
    return ", ".join(parts)
