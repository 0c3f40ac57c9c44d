"""One browser tab: a scene, its methods and a thread that runs them as fast as the page can draw."""

import contextlib
import ctypes
import json
import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from broadphase import memory
from broadphase.boxes import BoxArray
from broadphase.choose import explain
from broadphase.indexes import make_index
from broadphase.lab import growth, painting, tracing
from broadphase.lab.frames import encode
from broadphase.lab.lanes import Lane
from broadphase.lab.mailbox import Mailbox
from broadphase.lab.messages import FILE, REPLAY, BadMessage, Growth, Message, Pointer, Setup, Show
from broadphase.lab.replays import Named, Replay, ReplayLane
from broadphase.lab.room import Room
from broadphase.lab.runners import Runner
from broadphase.lab.scenes import MOST, SCENES, Scene, make_scene
from broadphase.lab.scenes.worlds import still
from broadphase.lab.snippet import snippet
from broadphase.lab.uploads import Uploads
from broadphase.threads import GivenUp, Wish, given_up, wanted_by

log = logging.getLogger("broadphase.lab")

Send = Callable[[bytes | str], None]
"""Hands a frame or an answer to the event loop; does not wait."""

_BETWEEN_REPORTS = 0.4  # seconds
# Seconds that a picture waits for slow lanes before it is sent without them.
_PATIENCE, _PATIENCE_AT_FIRST = 0.04, 0.3
_GONE = "The lab does not hold the file of these boxes any more. Choose the file again, or another scene."
_MOST_GROWN = 50_000


class Session:
    """What one page shows; `put` is called by the event loop, everything else happens in a thread.

    Parameters
    ----------
    send : callable
        Given bytes (a frame) or text (JSON).
    uploads : Uploads
        Where the scene ``file`` finds its boxes.
    room : Room
        How much all sessions may hold.
    recording : Named, optional
        What the scene ``replay`` shows.
    """

    def __init__(self, send: Send, uploads: Uploads, room: Room, recording: Named | None = None) -> None:
        self._send = send
        self._uploads = uploads
        self._room = room
        self._recording = recording
        self.mail = Mailbox()
        self._setup: Setup | None = None
        self._scene: Scene | None = None
        self._file_name = ""
        self._lanes: list[Runner] = []
        self._epoch = 0
        self._first = False
        self._reported = 0.0
        self._wish = Wish()
        """That of the page: with it ends whatever is computed for it, in any thread."""
        self._growing: threading.Thread | None = None
        self._growth_wish = Wish()
        self._thread = threading.Thread(target=self._run, name="lab session", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def put(self, message: Message) -> None:
        """Take in a message of the page.

        Raises
        ------
        BadMessage
            It cannot be obeyed now.
        """
        if isinstance(message, Growth):
            self._grow(message)
        else:
            self.mail.put(message)

    def close(self) -> None:
        """End soon: what is being computed is given up, and what was held is free.

        Not by an exception raised in these threads from here.  A thread that one of them is just starting
        goes by the number of its parent for a moment (Python 3.11); then the child died of it, and the parent
        waited for its start for ever.
        """
        self._wish.given_up = True
        self.mail.close()

    def join(self, timeout: float) -> None:
        """Wait for the thread to end."""
        self._thread.join(timeout)

    # ---- the thread

    def _run(self) -> None:
        with contextlib.suppress(GivenUp), wanted_by(self._wish):
            self._work()
        self._scene = None
        self._keep_only([])
        self._room.leave(self)
        _give_memory_back()

    def _work(self) -> None:
        while self.mail.wait():
            try:
                self._turn()
            except GivenUp:
                raise
            except BadMessage as error:
                self.mail.pause()
                self._say("refused", text=str(error))
            except Exception as error:  # one bad scene must not end the session
                log.exception("a frame failed")
                self.mail.pause()
                self._say("error", text=f"{type(error).__name__}: {error}"[:400])

    def _turn(self) -> None:
        """Whatever is to be done now, at most one frame."""
        for what in sorted(self.mail.take_asked()):
            self._answer(what)
        if not self.mail.may_draw():
            return
        setup = self.mail.take_setup()
        if self.mail.take_restart() and self._setup is not None:
            setup, self._scene = setup or self._setup, None
        if setup is not None:
            self._set_up(setup)
        pointers, moves_on = self.mail.take_pointers(), self.mail.take_frame()
        if self._scene is None:
            return
        sought = self.mail.take_sought()
        if sought is not None and isinstance(self._scene, Replay):
            self._seek(self._scene, sought)
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
        self._room.take(self, len(scene), len(setup.methods))
        if scene is not self._scene:
            self._scene, self._file_name = scene, file_name
            self._keep_only([])
        old = {} if before is None else dict(zip(_lane_keys(before), self._lanes, strict=False))
        boxes, static, frame = scene.boxes(), scene.static, scene.frame
        lanes = []
        for key in _lane_keys(setup):
            # What has not changed goes on with all that it has kept; two lanes never share an index.
            kept = old.pop(key, None)
            if kept is None:
                if isinstance(scene, Replay):
                    make: Callable[[], Lane] = partial(ReplayLane, key[0], scene, *key[1:4])
                else:
                    make = partial(Lane, key[0], boxes, static, *key[1:4])
                kept = Runner(make, frame, self.mail.redraw, self._wish)
            lanes.append(kept)
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

    def _keep_only(self, lanes: list[Runner]) -> None:
        """Show these lanes; what others compute is given up."""
        before, self._lanes = self._lanes, lanes
        for runner in before:
            if runner not in lanes:
                runner.give_up()

    def _seek(self, scene: Replay, number: int) -> None:
        """To the frame before one: that one is then a step like any other, also for who measures it."""
        assert self._setup is not None
        number = min(number, len(scene.recording) - 1)
        scene.go_to(max(number - 1, 0))
        lanes = [
            Runner(partial(ReplayLane, key[0], scene, *key[1:4]), scene.frame, self.mail.redraw, self._wish)
            for key in _lane_keys(self._setup)
        ]
        self._keep_only(lanes)
        for runner in self._lanes:
            # What is built with the first call is no part of the frame.
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
        """Send what the lanes have found; the bodies come without those that need longer."""
        patience = _PATIENCE_AT_FIRST if self._first else _PATIENCE
        # What is replayed is read by its lanes as they go: it must not move on before they are done.
        until = time.monotonic() + (threading.TIMEOUT_MAX / 2 if isinstance(scene, Replay) else patience)
        for runner in self._lanes:
            runner.wait(until - time.monotonic())
        shown = [runner.shown for runner in self._lanes]
        found = [one.seen.outcome.pairs for one in shown if one is not None and one.frame == scene.frame]
        if any(not np.array_equal(pairs, found[0]) for pairs in found[1:]):
            raise AssertionError("the methods disagree about the pairs")
        first = self._first or (isinstance(scene, Replay) and scene.changed)
        sections = painting.sections(scene, shown, show, first=first)
        self._first = False
        self._send(encode(self._epoch, scene.frame, self.mail.next_serial(), sections))
        moment = time.monotonic()
        if isinstance(scene, Replay) and (
            not self.mail.playing or moment - self._reported > _BETWEEN_REPORTS
        ):
            self._say("replay", **scene.told())
        if moment - self._reported > _BETWEEN_REPORTS:
            self._reported = moment
            lanes = [None if one.lane is None or one.is_busy else one.lane.report() for one in self._lanes]
            self._say("lanes", epoch=self._epoch, lanes=lanes)

    # ---- words

    def _say(self, kind: str, **fields: Any) -> None:
        self._send(json.dumps({"type": kind, **fields}))

    def _answer(self, what: str) -> None:
        if self._scene is None or self._setup is None:
            return
        if what == "code":
            lanes = [(one.lane, one.born) for one in self._lanes if one.lane is not None]
            text = snippet(self._setup, self._scene, lanes, self._file_name)
        else:
            lasting = make_index("auto").name
            text = (
                f"{explain(_boxes_of(self._scene))}\n\n"
                f'Between frames, make_index("auto") makes a {lasting}: it suits every scene, whatever comes.'
            )
        self._say(what, text=text)

    # ---- growth

    def _grow(self, wish: Growth) -> None:
        self._growth_wish.given_up = True
        if not wish.run:
            return
        if self._growing is not None:
            self._growing.join(0.0)
            if self._growing.is_alive():
                raise BadMessage("the measurement before has not stopped yet; try again")
        if self._setup is None:
            raise BadMessage("there is no scene to measure yet")
        self._growth_wish = Wish(self._wish)
        self._growing = threading.Thread(
            target=self._measure, args=(wish.methods, self._setup, self._growth_wish), daemon=True
        )
        self._growing.start()

    def _measure(self, methods: tuple[str, ...], setup: Setup, wish: Wish) -> None:
        with wanted_by(wish):
            try:
                self._measure_all(methods, setup)
            except GivenUp:
                pass
            except Exception as error:
                log.exception("a measurement failed")
                self._say("error", text=f"{type(error).__name__}: {error}"[:400])
            self._say("growth", ended=True, stopped=given_up())
        _give_memory_back()

    def _measure_all(self, methods: tuple[str, ...], setup: Setup) -> None:
        upload = self._uploads.get(setup.file) if setup.scene == FILE else None
        given = None if upload is None else upload.boxes
        if isinstance(self._scene, Replay):
            given = _boxes_of(self._scene)
        name = setup.scene if setup.scene in SCENES else "balls"
        frames = growth.scene_frames(name, setup.seed, given)
        most = min(_MOST_GROWN, MOST if given is None else len(given))
        growth.measure(methods, frames, most, lambda point: self._say("growth", **point))


def _boxes_of(scene: Scene) -> BoxArray:
    """The boxes of all bodies that are there."""
    return scene.boxes()[scene.alive] if isinstance(scene, Replay) else scene.boxes()


def _give_memory_back() -> None:
    """To the system: a page that showed much is gone."""
    memory.let_go()
    with contextlib.suppress(OSError, AttributeError):  # only the C library of GNU keeps freed memory
        ctypes.CDLL(None).malloc_trim(0)


def _lane_keys(setup: Setup) -> list[tuple[Any, ...]]:
    """What makes a lane what it is; the last number tells lanes with the same method apart."""
    keys = []
    for number, method in enumerate(setup.methods):
        scale = setup.cell_scale if method in ("uniform_grid", "spatial_hash") else None
        slots = setup.slots if method == "spatial_hash" else None
        cut = setup.strips if method == "strips" else None
        keys.append((method, scale, slots, cut, setup.methods[:number].count(method)))
    return keys
