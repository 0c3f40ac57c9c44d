"""Progress on stderr for work that takes longer than a second; nothing where stderr is no terminal."""

import sys
from collections.abc import Callable
from threading import Lock, Timer
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

PATIENCE = 1.0  # seconds


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
        # rich takes FORCE_COLOR for a terminal; a log file is none, whatever its colours.
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=console or Console(stderr=True),
            transient=True,
            disable=console is None and not is_terminal,
        )
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
