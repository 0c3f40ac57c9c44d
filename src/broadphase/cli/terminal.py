"""What the command says on stderr: an error in one line, and the progress of work that takes longer.

No progress is shown if stderr is not a terminal.  rich takes 80 ms to import, so it is imported when needed.
"""

import sys
from collections.abc import Callable
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import ProgressColumn

DISAGREEMENT = 1
CANNOT = 2
INTERRUPTED = 130
NO_READER = 141
PATIENCE = 1.0  # seconds
_STEPS = {"copy": "Copying", "sample": "Sampling", "partition": "Cutting", "join": "Joining"}


def complain(message: str, code: int = CANNOT) -> int:
    """Print in one line on stderr what is wrong, and return the exit code."""
    if sys.stderr is not None:
        print(f"broadphase: {message}", file=sys.stderr)
    return code


class Steps:
    """The steps of some work, one line each, shown if the work takes longer than ``patience`` seconds.

    Use it as a context manager; the lines disappear at the end.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to show them; stderr by default.
    patience : float
        How long to show nothing, in seconds.
    *columns : rich.progress.ProgressColumn
        What is after the bar; by default the share that is done, and the time.
    """

    def __init__(
        self, console: "Console | None" = None, patience: float = PATIENCE, *columns: "ProgressColumn"
    ) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        # With FORCE_COLOR, rich treats a log file as a terminal.
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            *(columns or (TaskProgressColumn(), TimeElapsedColumn())),
            console=console or Console(stderr=True),
            transient=True,
            disable=console is None and not is_terminal,
        )
        self._timer = Timer(patience, self._show)
        self._timer.daemon = True
        self._lock = Lock()
        self._ended = False

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *about: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._ended = True
        self._progress.stop()

    def _show(self) -> None:
        with self._lock:
            if not self._ended:
                self._progress.start()

    def step(self, what: str) -> Callable[[int, int], None]:
        """Begin a step; call the result with how much is done and how much there is (0: unknown)."""
        for task in self._progress.tasks:
            if not task.finished:
                self._progress.update(task.id, total=1, completed=1)
        task_id = self._progress.add_task(what, total=None)

        def report(done: int, total: int) -> None:
            self._progress.update(task_id, completed=done, total=total or None)

        return report


class Bar(Steps):
    """One line: the step, how much of it is done, the pairs so far, the time left.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to show it; by default stderr, if that is a terminal.
    """

    def __init__(self, console: "Console | None" = None) -> None:
        from rich.progress import TextColumn

        super().__init__(console, 0.0, TextColumn("{task.fields[status]}", markup=False))
        self._task = self._progress.add_task("Looking", total=None, status="")

    def show(self, now: Any) -> None:
        """Show a `broadphase.outofcore.Progress`."""
        self._progress.update(
            self._task,
            description=_STEPS[now.step],
            completed=now.done,
            total=now.total or None,
            status=status(now),
        )


def status(now: Any) -> str:
    """The text after the bar."""
    what = "tiles" if now.step == "join" else "boxes"
    parts = [f"{now.done:,}/{now.total:,} {what}" if now.total else f"{now.done:,} {what}"]
    if now.step == "join":
        parts.append(f"{now.pairs:,} pairs")
    if now.seconds_left is not None:
        minutes, seconds = divmod(round(now.seconds_left), 60)
        parts.append(f"{minutes}:{seconds:02} left")
    return ", ".join(parts)
