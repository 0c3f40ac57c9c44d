"""Between the event loop, which must never wait, and the thread that runs a scene: the latest wish wins."""

import threading
import time
from collections import deque

from broadphase.lab.messages import (
    Ack,
    Ask,
    BadMessage,
    Message,
    Play,
    Pointer,
    Restart,
    Seek,
    Setup,
    Show,
    Step,
)

IN_FLIGHT = 2
"""Frames that may be on their way before the page has read one."""
_MOST_STEPS, _MOST_POINTERS = 4, 16


class Mailbox:
    """What a session has been asked for and has not done yet; bounded, whatever comes in."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._setup: Setup | None = None
        self._asked: set[str] = set()
        self._pointers: deque[Pointer] = deque()
        self._steps = 0
        self._show = Show(tests=True, structure=True)
        self._play = Play(playing=True, rate=60.0)
        self._sent = self._acknowledged = self._unsent = 0
        self._redraw = self._restart = self._closed = self._begun = False
        self._sought: int | None = None
        self._due = 0.0
        self._acknowledged_at = time.monotonic()

    # ---- from the event loop

    def put(self, message: Message) -> None:
        """Take a message in; never waits.

        Raises
        ------
        BadMessage
            It acknowledges a frame that was never sent.
        """
        with self._changed:
            match message:
                case Setup():
                    self._setup = message
                case Show():
                    self._show = message
                    self._redraw = True
                case Play():
                    self._play = message
                    self._due = 0.0
                case Restart():
                    self._restart = True
                case Seek(frame):
                    self._sought = frame
                case Step():
                    self._steps = min(self._steps + 1, _MOST_STEPS)
                case Pointer():
                    self._put_pointer(message)
                case Ask():
                    self._asked.add(message.what)
                case Ack(frame):
                    if frame > self._sent:
                        raise BadMessage(f"frame {frame} was never sent")
                    self._acknowledged = max(self._acknowledged, frame)
                    self._acknowledged_at = time.monotonic()
            self._changed.notify_all()

    def _put_pointer(self, pointer: Pointer) -> None:
        """Of drags that nobody has looked at yet, only the last one matters."""
        waiting = self._pointers
        if pointer.phase == "drag" and waiting and waiting[-1].phase == "drag":
            waiting.pop()
        waiting.append(pointer)
        if len(waiting) > _MOST_POINTERS:
            waiting.popleft()

    def has_left(self) -> None:
        """A frame has been handed to the network."""
        with self._changed:
            self._unsent -= 1
            self._changed.notify_all()

    def redraw(self) -> None:
        """There is something new to be seen of the frame as it is."""
        with self._changed:
            self._redraw = True
            self._changed.notify_all()

    def close(self) -> None:
        """Nothing more will come."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether nothing more will come."""
        return self._closed

    def idle_since(self) -> float | None:
        """Since when (monotonic seconds) frames wait to be acknowledged; None where none does."""
        with self._changed:
            return self._acknowledged_at if self._sent > self._acknowledged else None

    # ---- from the session's thread

    def wait(self) -> bool:
        """Wait until there is something to do; False when all is over."""
        with self._changed:
            while not self._closed:
                if self._asked or (self._has_room() and self._is_due()):
                    return True
                self._changed.wait(self._patience())
            return False

    def _has_room(self) -> bool:
        return max(self._sent - self._acknowledged, self._unsent) < IN_FLIGHT

    def _is_due(self) -> bool:
        if self._setup is not None:
            return True
        if not self._begun:  # what came before the first set-up waits for it
            return False
        if self._pointers or self._steps or self._redraw or self._restart or self._sought is not None:
            return True
        return self._play.playing and time.perf_counter() >= self._due

    def _patience(self) -> float | None:
        if self._begun and self._play.playing and self._has_room():
            return max(self._due - time.perf_counter(), 0.0)
        return None

    @property
    def show(self) -> Show:
        """What to draw."""
        return self._show

    @property
    def playing(self) -> bool:
        """Whether the scene moves on by itself."""
        return self._play.playing

    def take_setup(self) -> Setup | None:
        """The latest wish for another scene or other methods."""
        with self._changed:
            setup, self._setup = self._setup, None
            self._begun |= setup is not None
            return setup

    def take_restart(self) -> bool:
        """Whether the scene is to begin anew."""
        with self._changed:
            restart, self._restart = self._restart, False
            return restart

    def take_sought(self) -> int | None:
        """The frame that is to be shown next, if one was asked for."""
        with self._changed:
            sought, self._sought = self._sought, None
            return sought

    def take_asked(self) -> set[str]:
        """What is to be answered in words."""
        with self._changed:
            asked, self._asked = self._asked, set()
            return asked

    def take_pointers(self) -> list[Pointer]:
        """What the pointer has done."""
        with self._changed:
            pointers = list(self._pointers)
            self._pointers.clear()
            return pointers

    def may_draw(self) -> bool:
        """Whether the page has room for a frame."""
        with self._changed:
            return self._has_room()

    def take_frame(self) -> bool:
        """Whether it is time for the scene to move on by a frame; counts it as done."""
        with self._changed:
            self._redraw = False
            if self._steps:
                self._steps -= 1
                self._play = Play(False, self._play.rate)
                return True
            now = time.perf_counter()
            if not self._play.playing or now < self._due:
                return False
            # Late by less than a frame: the next one comes a little sooner, so that the rate is kept.
            self._due = max(self._due + 1 / self._play.rate, now - 1 / self._play.rate)
            return True

    def pause(self) -> None:
        """Stop moving on by itself."""
        with self._changed:
            self._play = Play(False, self._play.rate)

    def next_serial(self) -> int:
        """Number of the frame that is sent now."""
        with self._changed:
            if self._sent == self._acknowledged:
                self._acknowledged_at = time.monotonic()
            self._sent += 1
            self._unsent += 1
            return self._sent
