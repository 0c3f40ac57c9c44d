"""What the command says on stderr: an error in one line, and the progress of work that takes longer.

No progress is shown if stderr is not a terminal.  rich takes 80 ms to import, so it is imported when needed.
"""

import sys
from collections.abc import Callable
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.console import Console

DISAGREEMENT = 1
CANNOT = 2
INTERRUPTED = 130
NO_READER = 141
PATIENCE = 1.0  # seconds
_NAMES = {"copy": "Copying", "sample": "Sampling", "partition": "Cutting", "join": "Joining"}


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
    """

    def __init__(self, console: "Console | None" = None, patience: float = PATIENCE) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        # With FORCE_COLOR, rich treats a log file as a terminal.
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
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

    def show(self, now: Any) -> None:
        """Show a `broadphase.outofcore.Progress`: each of its steps is one."""
        name = _NAMES[now.step]
        if name not in (task.description.partition(":")[0] for task in self._progress.tasks):
            self.step(name)
        self._progress.update(
            self._progress.task_ids[-1],
            description=f"{name}: {now.pairs:,} pairs" if now.step == "join" else name,
            completed=now.done,
            total=now.total or None,
        )
