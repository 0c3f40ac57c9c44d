"""A lane that may be slow: then it works on in a thread of its own, and the others are shown without it."""

import threading
import time
from collections.abc import Callable

import numpy as np

from broadphase.boxes import BoxArray
from broadphase.lab import painting, tracing
from broadphase.lab.lanes import Lane
from broadphase.lab.messages import Show
from broadphase.lab.painting import Shown
from broadphase.slices import stop_if_unwanted
from broadphase.threads import GivenUp, Wish, wanted_by

_QUICK = 0.05  # seconds; what took less is not worth a thread
_MEASURE_EVERY = 0.5
_MEASURED = 0.01  # what takes longer is not measured in a loop: a single call says it well enough


class Runner:
    """One lane of a session.

    Parameters
    ----------
    make : callable
        Makes the lane; that may take a while too.
    born : int
        The frame in which it is made.
    finished : callable
        Called when a thread of its own has come to an end that was waited for in vain.
    asker : Wish
        Of the session: when that is given up, so is this lane.
    """

    def __init__(
        self, make: Callable[[], Lane], born: int, finished: Callable[[], None], asker: Wish
    ) -> None:
        self._make, self._finished = make, finished
        self.born = born
        self.lane: Lane | None = None
        self.shown: Shown | None = None
        self._boxes: BoxArray = np.empty((0, 4))
        self._show: Show | None = None
        self._seconds = float("inf")
        self._measured = 0.0
        self._thread: threading.Thread | None = None
        self._wish = Wish(asker)
        self._missed = False
        self._failed: Exception | None = None

    def start(self, boxes: BoxArray, frame: int, show: Show) -> None:
        """Work on a frame, unless an earlier one is still at work; what is quick is done here and now.

        Raises
        ------
        Exception
            Whatever the frame before has failed with.
        """
        if self.is_busy:
            return
        if self._failed is not None:
            failed, self._failed = self._failed, None
            raise failed
        if self._has_seen(boxes, frame, show):
            return
        if self._seconds < _QUICK:
            self._run(boxes, frame, show)
            return
        self._thread = threading.Thread(target=self._run_apart, args=(boxes, frame, show), daemon=True)
        self._thread.start()

    def _has_seen(self, boxes: BoxArray, frame: int, show: Show) -> bool:
        """Whether it has just looked at this: once more, nothing would have moved and nothing been done."""
        known = self.shown is not None and self.shown.frame == frame and self._show == show
        return known and np.array_equal(boxes, self._boxes)

    @property
    def is_busy(self) -> bool:
        """Whether a thread of its own is at work."""
        return self._thread is not None and self._thread.is_alive()

    def wait(self, seconds: float) -> None:
        """Wait for the thread to end, but not longer than this."""
        if self._thread is not None:
            self._thread.join(max(seconds, 0.0))
        # Said before anybody looks at what is shown, so that either it is seen or another look is asked for.
        self._missed = self.is_busy

    def give_up(self) -> None:
        """Nobody wants this lane any more: what it computes in a thread of its own ends at its next slice."""
        self._wish.given_up = True

    def _run_apart(self, boxes: BoxArray, frame: int, show: Show) -> None:
        try:
            with wanted_by(self._wish):
                self._run(boxes, frame, show)
        except GivenUp:
            return
        except Exception as error:  # told by the next start, in the session's thread
            self._failed = error
            self._missed = True
        if self._missed:
            self._finished()

    def _run(self, boxes: BoxArray, frame: int, show: Show) -> None:
        begun = time.perf_counter()
        if self.lane is None:
            self.lane = self._make()
        lane = self.lane
        stop_if_unwanted()
        trace = show.tests and len(boxes) <= tracing.MOST_TRACED
        outcome = lane.run(boxes, remember=trace and tracing.needs_before(lane.index))
        stop_if_unwanted()
        if outcome.seconds < _MEASURED and begun - self._measured > _MEASURE_EVERY:
            self._measured = begun
            lane.measure()
        self._boxes, self._show = boxes, show
        self.shown = Shown(frame, painting.look(lane, outcome, show))
        self._seconds = time.perf_counter() - begun
