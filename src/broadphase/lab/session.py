"""One browser tab: a scene, its methods, and a thread that runs them as fast as the page can draw.

A method that is slow runs in a thread of its own (`Runner`), and the page shows the others without it.
`Quota` limits how much memory all tabs take in the server.
"""

import contextlib
import ctypes
import json
import logging
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from broadphase.inputs.boxes import BoxArray
from broadphase.lab import frames, tracing
from broadphase.lab.frames import Shown, encode
from broadphase.lab.lanes import Lane, measure_growth, scene_frames
from broadphase.lab.messages import FILE, REPLAY, BadMessage, Growth, Mailbox, Message, Pointer, Setup, Show
from broadphase.lab.replays import Named, Replay, ReplayLane
from broadphase.lab.scenes import MOST, SCENES, Scene, make_scene, still
from broadphase.lab.snippet import snippet
from broadphase.lab.uploads import Uploads
from broadphase.methods.choose import explain
from broadphase.runtime import memory
from broadphase.runtime.slices import stop_if_unwanted
from broadphase.runtime.threads import Cancelled, CancelToken, cancelled, cancelled_by

# ---- how much all tabs may hold

MOST_OF_ONE = 200_000
"""Bodies times methods of one tab."""
MOST_OF_ALL = 600_000
"""Bodies times methods of all tabs."""


class Quota:
    """How much each open tab holds: every body in every lane takes memory.

    Examples
    --------
    >>> quota = Quota()
    >>> quota.take("a tab", 100_000, 2)
    >>> quota.take("a tab", 100_000, 4)
    Traceback (most recent call last):
    broadphase.lab.messages.BadMessage: 100,000 bodies times 4 methods are more than the 200,000 that a tab may hold; take fewer bodies or fewer methods
    """  # noqa: E501

    def __init__(self) -> None:
        self._held: dict[Any, int] = {}
        self._lock = Lock()

    def take(self, holder: Any, bodies: int, methods: int) -> None:
        """Record what a tab holds, in place of what it held before.

        Raises
        ------
        BadMessage
            It is more than the quota; nothing has changed.
        """
        wanted = bodies * methods
        request = f"{bodies:,} bodies times {methods} methods are more than"
        if wanted > MOST_OF_ONE:
            raise BadMessage(
                f"{request} the {MOST_OF_ONE:,} that a tab may hold; take fewer bodies or fewer methods"
            )
        with self._lock:
            others = sum(self._held.values()) - self._held.get(holder, 0)
            if others + wanted > MOST_OF_ALL:
                raise BadMessage(
                    f"{request} the {max(MOST_OF_ALL - others, 0):,} that other tabs leave; "
                    "close one of them, or take fewer bodies or fewer methods"
                )
            self._held[holder] = wanted

    def leave(self, holder: Any) -> None:
        """Record that a tab holds nothing."""
        with self._lock:
            self._held.pop(holder, None)

    def __len__(self) -> int:
        return sum(self._held.values())


# ---- one lane, in a thread of its own if it is slow

_QUICK = 0.05  # seconds; a faster lane needs no thread
_MEASURE_EVERY = 0.5
_MEASURED = 0.01  # seconds; for a slower lane, a single call is accurate enough


class Runner:
    """One lane of a session.

    Parameters
    ----------
    make : callable
        Makes the lane, which may take long too.
    born : int
        The frame in which the lane is made.
    finished : callable
        Called when a thread ends after `wait` has timed out.
    token : CancelToken
        That of the session; this lane is cancelled with it.
    """

    def __init__(
        self, make: Callable[[], Lane], born: int, finished: Callable[[], None], token: CancelToken
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
        self._token = CancelToken(token)
        self._missed = False
        self._failed: Exception | None = None

    def start(self, boxes: BoxArray, frame: int, show: Show) -> None:
        """Start on a frame, unless the lane is busy; a fast lane runs in the calling thread.

        Raises
        ------
        Exception
            What the frame before has failed with.
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
        """Whether this was the last frame: a second run would find that nothing moved and do no work."""
        is_same = self.shown is not None and self.shown.frame == frame and self._show == show
        return is_same and np.array_equal(boxes, self._boxes)

    @property
    def is_busy(self) -> bool:
        """Whether a thread is running."""
        return self._thread is not None and self._thread.is_alive()

    def wait(self, seconds: float) -> None:
        """Wait for the thread to end, at most this long."""
        if self._thread is not None:
            self._thread.join(max(seconds, 0.0))
        # Set before the caller reads `shown`: either it sees the result or `finished` asks for another frame.
        self._missed = self.is_busy

    def give_up(self) -> None:
        """Cancel the lane: what runs in a thread ends at its next slice."""
        self._token.cancelled = True

    def _run_apart(self, boxes: BoxArray, frame: int, show: Show) -> None:
        try:
            with cancelled_by(self._token):
                self._run(boxes, frame, show)
        except Cancelled:
            return
        except Exception as error:  # raised by the next `start`, in the session's thread
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
        self.shown = Shown(frame, frames.look(lane, outcome, show))
        self._seconds = time.perf_counter() - begun


log = logging.getLogger("broadphase.lab")

Send = Callable[[bytes | str], None]
"""Passes a frame or an answer to the event loop; does not wait."""

_BETWEEN_REPORTS = 0.4  # seconds
# Seconds that a frame waits for slow lanes before it is sent without them.
_PATIENCE, _PATIENCE_AT_FIRST = 0.04, 0.3
_GONE = "The lab does not hold the file of these boxes any more. Choose the file again, or another scene."
_MOST_GROWN = 50_000


class Session:
    """What one page shows; the event loop calls `put`, and a thread does everything else.

    Parameters
    ----------
    send : callable
        Called with bytes (a frame) or text (JSON).
    uploads : Uploads
        Has the boxes of the scene ``file``.
    quota : Quota
        Shared by all sessions.
    recording : Named, optional
        Shown by the scene ``replay``.
    """

    def __init__(self, send: Send, uploads: Uploads, quota: Quota, recording: Named | None = None) -> None:
        self._send = send
        self._uploads = uploads
        self._quota = quota
        self._recording = recording
        self.mail = Mailbox()
        self._setup: Setup | None = None
        self._scene: Scene | None = None
        self._file_name = ""
        self._lanes: list[Runner] = []
        self._epoch = 0
        self._first = False
        self._reported = 0.0
        self._token = CancelToken()
        """Cancels all that is computed for this page, in any thread."""
        self._growing: threading.Thread | None = None
        self._growth_token = CancelToken()
        self._thread = threading.Thread(target=self._run, name="lab session", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def put(self, message: Message) -> None:
        """Accept a message of the page.

        Raises
        ------
        BadMessage
            It is not possible now.
        """
        if isinstance(message, Growth):
            self._grow(message)
        else:
            self.mail.put(message)

    def close(self) -> None:
        """End soon: cancel what is being computed and free what was held.

        The threads are not stopped by an exception raised in them from here: in Python 3.11 a thread that one
        of them is just starting has the number of its parent for a moment.  The child then died of the
        exception, and the parent waited for its start forever.
        """
        self._token.cancelled = True
        self.mail.close()

    def join(self, timeout: float) -> None:
        """Wait for the thread to end."""
        self._thread.join(timeout)

    # ---- the thread

    def _run(self) -> None:
        with contextlib.suppress(Cancelled), cancelled_by(self._token):
            self._work()
        self._scene = None
        self._keep_only([])
        self._quota.leave(self)
        _give_memory_back()

    def _work(self) -> None:
        while self.mail.wait():
            try:
                self._turn()
            except Cancelled:
                raise
            except BadMessage as error:
                self.mail.pause()
                self._say("refused", text=str(error))
            except Exception as error:  # one bad scene must not end the session
                log.exception("a frame failed")
                self.mail.pause()
                self._say("error", text=f"{type(error).__name__}: {error}"[:400])

    def _turn(self) -> None:
        """Do what is due, at most one frame."""
        for what in sorted(self.mail.take_requests()):
            self._answer(what)
        if not self.mail.may_draw():
            return
        setup = self.mail.take_setup()
        if self.mail.take_restart() and self._setup is not None:
            setup, self._scene = setup or self._setup, None
        if setup is not None:
            self._set_up(setup)
        pointers, seek, moves_on = self.mail.take_pointers(), self.mail.take_seek(), self.mail.take_frame()
        if self._scene is None:
            return
        if seek is not None and isinstance(self._scene, Replay):
            self._seek(self._scene, seek)
            moves_on = False
        self._point(self._scene, pointers)
        if moves_on and setup is None:
            self._scene.step()
        else:
            self._scene.follow()
        self._draw(self._scene, self.mail.show)

    def _set_up(self, setup: Setup) -> None:
        before = self._setup
        scene, file_name = self._scene, self._file_name
        if scene is None or before is None or before.world != setup.world:
            scene, file_name = self._make_scene(setup)
        self._quota.take(self, len(scene), len(setup.methods))
        if scene is not self._scene:
            self._scene, self._file_name = scene, file_name
            self._keep_only([])
        old: dict[Any, Any] = {}
        if before is not None:
            old.update(zip(_lane_keys(before), self._lanes, strict=False))
        # A lane that has not changed keeps its index; two lanes never share one.
        lanes = [old.pop(key, None) or self._make_runner(scene, key) for key in _lane_keys(setup)]
        self._keep_only(lanes)
        self._setup = setup
        self._epoch += 1
        self._first = True
        self._reported = 0.0
        self._say(
            "scene",
            epoch=self._epoch,
            scene=setup.scene,
            count=len(scene),
            bounds=scene.bounds,
            round=scene.is_round,
            file=self._file_name,
            most_traced=tracing.MOST_TRACED,
            traced=len(scene) <= tracing.MOST_TRACED,
            structured=len(scene) <= tracing.MOST_STRUCTURE,
        )

    def _make_runner(self, scene: Scene, key: tuple[Any, ...]) -> Runner:
        if isinstance(scene, Replay):
            make: Callable[[], Lane] = partial(ReplayLane, key[0], scene, *key[1:4])
        else:
            make = partial(Lane, key[0], scene.boxes(), scene.static, *key[1:4])
        return Runner(make, scene.frame, self.mail.redraw, self._token)

    def _keep_only(self, lanes: list[Runner]) -> None:
        """Show these lanes and cancel the others."""
        before, self._lanes = self._lanes, lanes
        for runner in before:
            if runner not in lanes:
                runner.give_up()

    def _seek(self, scene: Replay, number: int) -> None:
        """Go to the frame before ``number``, so that ``number`` is an ordinary step and is timed as one."""
        assert self._setup is not None
        number = min(number, len(scene.recording) - 1)
        scene.go_to(max(number - 1, 0))
        self._keep_only([self._make_runner(scene, key) for key in _lane_keys(self._setup)])
        for runner in self._lanes:
            # The first call builds the index, which is not part of the frame.
            runner.start(scene.boxes(), scene.frame, self.mail.show)
            runner.wait(threading.TIMEOUT_MAX / 2)
        self._first = True
        self._reported = 0.0
        if number > 0:
            scene.step()

    def _make_scene(self, setup: Setup) -> tuple[Scene, str]:
        if setup.scene == REPLAY:
            if self._recording is None:
                raise BadMessage("there is no recording here; open one with: broadphase replay FILE")
            return Replay(self._recording.recording), self._recording.name
        if setup.scene != FILE:
            return make_scene(setup.scene, count=setup.count, seed=setup.seed), ""
        upload = self._uploads.get(setup.file)
        if upload is None:
            raise BadMessage(_GONE)
        return still(upload.boxes), upload.name

    def _point(self, scene: Scene, pointers: list[Pointer]) -> None:
        for pointer in pointers:
            if pointer.phase == "grab":
                scene.grab(pointer.x, pointer.y, pointer.reach)
            elif pointer.phase == "drag":
                scene.drag(pointer.x, pointer.y)
            else:
                scene.release()

    def _draw(self, scene: Scene, show: Show) -> None:
        boxes = scene.boxes()
        for runner in self._lanes:
            runner.start(boxes, scene.frame, show)
        self._send_picture(scene, show)

    def _send_picture(self, scene: Scene, show: Show) -> None:
        """Send the bodies and what the lanes have found, without lanes that take longer."""
        patience = _PATIENCE_AT_FIRST if self._first else _PATIENCE
        # Lanes of a replay read its scene while they run, so the scene must not move on before they are done.
        until = time.monotonic() + (threading.TIMEOUT_MAX / 2 if isinstance(scene, Replay) else patience)
        for runner in self._lanes:
            runner.wait(until - time.monotonic())
        shown = [runner.shown for runner in self._lanes]
        found = [one.seen.outcome.pairs for one in shown if one is not None and one.frame == scene.frame]
        if any(not np.array_equal(pairs, found[0]) for pairs in found[1:]):
            raise AssertionError("the methods disagree about the pairs")
        first = self._first or (isinstance(scene, Replay) and scene.changed)
        sections = frames.sections(scene, shown, show, first=first)
        self._first = False
        self._send(encode(self._epoch, scene.frame, self.mail.next_serial(), sections))
        moment = time.monotonic()
        if isinstance(scene, Replay) and (
            not self.mail.playing or moment - self._reported > _BETWEEN_REPORTS
        ):
            self._say("replay", **scene.summary())
        if moment - self._reported > _BETWEEN_REPORTS:
            self._reported = moment
            lanes = [None if one.lane is None or one.is_busy else one.lane.report() for one in self._lanes]
            self._say("lanes", epoch=self._epoch, lanes=lanes)

    # ---- answers in text

    def _say(self, kind: str, **fields: Any) -> None:
        self._send(json.dumps({"type": kind, **fields}))

    def _answer(self, what: str) -> None:
        if self._scene is None or self._setup is None:
            return
        if what == "code":
            lanes = [(one.lane, one.born) for one in self._lanes if one.lane is not None]
            text = snippet(self._setup, self._scene, lanes, self._file_name)
        else:
            text = (
                f"{explain(_boxes_of(self._scene))}\n\n"
                "Between frames, make_index() makes an index that takes the fastest way for each frame."
            )
        self._say(what, text=text)

    # ---- growth

    def _grow(self, growth: Growth) -> None:
        self._growth_token.cancelled = True
        if not growth.run:
            return
        if self._growing is not None and self._growing.is_alive():
            raise BadMessage("the measurement before has not stopped yet; try again")
        if self._setup is None:
            raise BadMessage("there is no scene to measure yet")
        self._growth_token = CancelToken(self._token)
        self._growing = threading.Thread(
            target=self._measure, args=(growth.methods, self._setup, self._growth_token), daemon=True
        )
        self._growing.start()

    def _measure(self, methods: tuple[str, ...], setup: Setup, token: CancelToken) -> None:
        with cancelled_by(token):
            try:
                self._measure_all(methods, setup)
            except Cancelled:
                pass
            except Exception as error:
                log.exception("a measurement failed")
                self._say("error", text=f"{type(error).__name__}: {error}"[:400])
            self._say("growth", ended=True, stopped=cancelled())
        _give_memory_back()

    def _measure_all(self, methods: tuple[str, ...], setup: Setup) -> None:
        upload = self._uploads.get(setup.file) if setup.scene == FILE else None
        given = None if upload is None else upload.boxes
        if isinstance(self._scene, Replay):
            given = _boxes_of(self._scene)
        name = setup.scene if setup.scene in SCENES else "balls"
        boxes_of = scene_frames(name, setup.seed, given)
        most = min(_MOST_GROWN, MOST if given is None else len(given))
        measure_growth(methods, boxes_of, most, lambda point: self._say("growth", **point))


def _boxes_of(scene: Scene) -> BoxArray:
    """The boxes of all bodies that exist."""
    return scene.boxes()[scene.alive] if isinstance(scene, Replay) else scene.boxes()


def _give_memory_back() -> None:
    """Return freed memory to the system after a page has closed."""
    memory.let_go()
    if sys.platform == "linux":  # only glibc keeps freed memory
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def _lane_keys(setup: Setup) -> list[tuple[Any, ...]]:
    """What identifies a lane; the last number distinguishes lanes with the same method."""
    keys = []
    for number, method in enumerate(setup.methods):
        scale = setup.cell_scale if method in ("uniform_grid", "spatial_hash") else None
        slots = setup.slots if method == "spatial_hash" else None
        cut = setup.strips if method == "strips" else None
        keys.append((method, scale, slots, cut, setup.methods[:number].count(method)))
    return keys
