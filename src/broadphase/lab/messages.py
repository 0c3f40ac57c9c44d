"""The messages of the page: one small JSON object each, checked here, and the mailbox that holds them.

A message that does not match the classes below raises `BadMessage`; the session reports it and continues.
"""

import json
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from broadphase import indexes
from broadphase.lab.lanes import MOST_STRIPS
from broadphase.lab.scenes import FEWEST, MOST, SCENES

LONGEST = 2048
"""Bytes of a message."""
MOST_LANES = 4
METHODS = indexes.INDEXES
REPLAY = "replay"
"""The scene that shows a recording, if the lab was given one."""
FILE = "file"
"""The scene that shows uploaded boxes."""

_FARTHEST = 1e15
_SCALES = (1 / 64, 64.0)
_SLOTS = (0.05, 50.0)
_RATES = (0.1, 60.0)
_LARGEST_SEED = 2**31 - 1

Made = TypeVar("Made")


class BadMessage(ValueError):  # noqa: N818 - what it is, not what happened
    """A message that is not valid; the text says why."""


@dataclass(frozen=True)
class Setup:
    """Show this scene with these methods."""

    scene: str
    count: int
    seed: int
    methods: tuple[str, ...]
    cell_scale: float | None
    """Cell size in units of the suggested one; None: the index chooses."""
    slots: float | None
    """Slots of the hash table per body; None: the index chooses."""
    file: str
    """The token of the upload if the scene is `FILE`."""
    strips: int | None = None
    """How many strips; None: the engine chooses."""

    @property
    def world(self) -> tuple[Any, ...]:
        """What determines where the bodies are."""
        return self.scene, self.count, self.seed, self.file


@dataclass(frozen=True)
class Show:
    """What to draw besides the bodies."""

    tests: bool
    structure: bool


@dataclass(frozen=True)
class Play:
    """Run or pause, and how many frames per second."""

    playing: bool
    rate: float


@dataclass(frozen=True)
class Step:
    """Advance by one frame, then pause."""


@dataclass(frozen=True)
class Restart:
    """Start the scene from its first frame."""


@dataclass(frozen=True)
class Seek:
    """Go to this frame of a recording."""

    frame: int


@dataclass(frozen=True)
class Pointer:
    """The pointer grabs a body, drags it, or releases it."""

    phase: str
    x: float
    y: float
    reach: float


@dataclass(frozen=True)
class Ack:
    """A frame has been read."""

    frame: int


@dataclass(frozen=True)
class Growth:
    """Measure time and tests against the number of bodies, or stop that."""

    run: bool
    methods: tuple[str, ...]


@dataclass(frozen=True)
class Ask:
    """Answer with a text: ``"explain"`` or ``"code"``."""

    what: str


Message = Setup | Show | Play | Step | Seek | Restart | Pointer | Ack | Growth | Ask


def parse(text: str) -> Message:
    """The message in ``text``.

    Raises
    ------
    BadMessage
        The message is not valid; nothing has happened.

    Examples
    --------
    >>> parse('{"type": "play", "playing": true, "rate": 60}')
    Play(playing=True, rate=60.0)
    >>> parse('{"type": "play", "playing": true, "rate": 1e9}')
    Traceback (most recent call last):
    broadphase.lab.messages.BadMessage: rate must be between 0.1 and 60; got 1000000000.0
    """
    if len(text) > LONGEST:
        raise BadMessage(f"a message has at most {LONGEST} bytes; got {len(text)}")
    try:
        fields = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"a message is one JSON object; {str(error)[:80]}") from None
    if not isinstance(fields, dict):
        raise BadMessage("a message is one JSON object")
    kind = fields.pop("type", None)
    if not isinstance(kind, str) or kind not in _READERS:
        raise BadMessage(f"unknown type {_shown(kind)}; choose one of {', '.join(_READERS)}")
    reader = _Reader(fields)
    message = _READERS[kind](reader)
    if fields:
        raise BadMessage(f"{kind} has no {_shown(next(iter(fields)))}")
    return message


class _Reader:
    """Removes fields from a message one by one and checks each."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def _take(self, name: str) -> Any:
        if name not in self._fields:
            raise BadMessage(f"{name} is missing")
        return self._fields.pop(name)

    def flag(self, name: str) -> bool:
        value = self._take(name)
        if not isinstance(value, bool):
            raise BadMessage(f"{name} must be true or false; got {_shown(value)}")
        return value

    def number(self, name: str, low: float, high: float) -> float:
        value = self._take(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadMessage(f"{name} must be a number; got {_shown(value)}")
        # Checked before the conversion: an integer of a thousand digits is not a float.
        if not low <= value <= high:
            raise BadMessage(f"{name} must be between {low:g} and {high:g}; got {_shown(value)}")
        return float(value)

    def whole(self, name: str, low: int, high: int) -> int:
        value = self._take(name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadMessage(f"{name} must be a whole number; got {_shown(value)}")
        if not low <= value <= high:
            raise BadMessage(f"{name} must be between {low} and {high}; got {_shown(value)}")
        return value

    def or_none(self, read: Callable[..., Made], name: str, low: float, high: float) -> Made | None:
        if name in self._fields and self._fields[name] is None:
            del self._fields[name]
            return None
        return read(name, low, high)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        value = self._take(name)
        if not isinstance(value, str) or value not in choices:
            raise BadMessage(f"{name} must be one of {', '.join(choices)}; got {_shown(value)}")
        return value

    def token(self, name: str) -> str:
        value = self._take(name)
        if not isinstance(value, str) or len(value) > 64:
            raise BadMessage(f"{name} must be a short text; got {_shown(value)}")
        return value

    def methods(self, most: int) -> tuple[str, ...]:
        value = self._take("methods")
        if not isinstance(value, list) or not 1 <= len(value) <= most:
            raise BadMessage(f"methods must be a list of 1 to {most} names; got {_shown(value)}")
        for name in value:
            if not isinstance(name, str) or name not in METHODS:
                raise BadMessage(f"methods must be among {', '.join(METHODS)}; got {_shown(name)}")
        return tuple(value)


def _setup(reader: _Reader) -> Setup:
    return Setup(
        reader.choice("scene", (*SCENES, FILE, REPLAY)),
        reader.whole("count", FEWEST, MOST),
        reader.whole("seed", 0, _LARGEST_SEED),
        reader.methods(MOST_LANES),
        reader.or_none(reader.number, "cell_scale", *_SCALES),
        reader.or_none(reader.number, "slots", *_SLOTS),
        reader.token("file"),
        reader.or_none(reader.whole, "strips", 1, MOST_STRIPS),
    )


def _pointer(reader: _Reader) -> Pointer:
    return Pointer(
        reader.choice("phase", ("grab", "drag", "release")),
        reader.number("x", -_FARTHEST, _FARTHEST),
        reader.number("y", -_FARTHEST, _FARTHEST),
        reader.number("reach", 0.0, _FARTHEST),
    )


_READERS: dict[str, Callable[[_Reader], Message]] = {
    "setup": _setup,
    "show": lambda reader: Show(reader.flag("tests"), reader.flag("structure")),
    "play": lambda reader: Play(reader.flag("playing"), reader.number("rate", *_RATES)),
    "step": lambda reader: Step(),
    "seek": lambda reader: Seek(reader.whole("frame", 0, _LARGEST_SEED)),
    "restart": lambda reader: Restart(),
    "pointer": _pointer,
    "ack": lambda reader: Ack(reader.whole("frame", 0, 2**53)),
    "growth": lambda reader: Growth(reader.flag("run"), reader.methods(len(METHODS))),
    "ask": lambda reader: Ask(reader.choice("what", ("explain", "code"))),
}


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number here")


def _shown(value: Any) -> str:
    """A value, short enough for an answer and a log line."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**18:
        return "a huge number"
    if isinstance(value, float) and math.isinf(value):
        return "infinity"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


# ---- the mailbox between the event loop and the thread that runs a scene

IN_FLIGHT = 2
"""Frames that may be sent before the page has acknowledged one."""
_MOST_STEPS, _MOST_POINTERS = 4, 16


class Mailbox:
    """The pending messages of a session: the latest of a kind wins, so that their number is bounded.

    The event loop puts messages and never waits; the session's thread takes them.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._setup: Setup | None = None
        self._requests: set[str] = set()
        self._pointers: deque[Pointer] = deque()
        self._steps = 0
        self._show = Show(tests=True, structure=True)
        self._play = Play(playing=True, rate=60.0)
        self._sent = self._acknowledged = self._unsent = 0
        self._redraw = self._restart = self._closed = self._begun = False
        self._seek: int | None = None
        self._due = 0.0
        self._acknowledged_at = time.monotonic()

    # --- called by the event loop

    def put(self, message: Message) -> None:
        """Accept a message; never waits.

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
                    self._seek = frame
                case Step():
                    self._steps = min(self._steps + 1, _MOST_STEPS)
                case Pointer():
                    self._put_pointer(message)
                case Ask():
                    self._requests.add(message.what)
                case Ack(frame):
                    if frame > self._sent:
                        raise BadMessage(f"frame {frame} was never sent")
                    self._acknowledged = max(self._acknowledged, frame)
                    self._acknowledged_at = time.monotonic()
            self._changed.notify_all()

    def _put_pointer(self, pointer: Pointer) -> None:
        """Keep only the last of several pending drags."""
        waiting = self._pointers
        if pointer.phase == "drag" and waiting and waiting[-1].phase == "drag":
            waiting.pop()
        waiting.append(pointer)
        if len(waiting) > _MOST_POINTERS:
            waiting.popleft()

    def has_left(self) -> None:
        """Record that a frame was passed to the network."""
        with self._changed:
            self._unsent -= 1
            self._changed.notify_all()

    def redraw(self) -> None:
        """Ask for the current frame to be drawn again."""
        with self._changed:
            self._redraw = True
            self._changed.notify_all()

    def close(self) -> None:
        """End the session."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether the session ends."""
        return self._closed

    def idle_since(self) -> float | None:
        """Since when (monotonic seconds) frames wait for an acknowledgement; None if none does."""
        with self._changed:
            return self._acknowledged_at if self._sent > self._acknowledged else None

    # --- called by the session's thread

    def wait(self) -> bool:
        """Wait until there is something to do; False when the session ends."""
        with self._changed:
            while not self._closed:
                if self._requests or (self._may_send() and self._is_due()):
                    return True
                self._changed.wait(self._patience())
            return False

    def _may_send(self) -> bool:
        return max(self._sent - self._acknowledged, self._unsent) < IN_FLIGHT

    def _is_due(self) -> bool:
        if self._setup is not None:
            return True
        if not self._begun:  # messages before the first set-up wait for it
            return False
        if self._pointers or self._steps or self._redraw or self._restart or self._seek is not None:
            return True
        return self._play.playing and time.perf_counter() >= self._due

    def _patience(self) -> float | None:
        if self._begun and self._play.playing and self._may_send():
            return max(self._due - time.perf_counter(), 0.0)
        return None

    @property
    def show(self) -> Show:
        """What to draw."""
        return self._show

    @property
    def playing(self) -> bool:
        """Whether the scene is running."""
        return self._play.playing

    def take_setup(self) -> Setup | None:
        """The latest set-up, if there is a new one."""
        with self._changed:
            setup, self._setup = self._setup, None
            self._begun |= setup is not None
            return setup

    def take_restart(self) -> bool:
        """Whether the scene is to start over."""
        with self._changed:
            restart, self._restart = self._restart, False
            return restart

    def take_seek(self) -> int | None:
        """The frame to go to, if one was requested."""
        with self._changed:
            seek, self._seek = self._seek, None
            return seek

    def take_requests(self) -> set[str]:
        """The texts that were requested."""
        with self._changed:
            requests, self._requests = self._requests, set()
            return requests

    def take_pointers(self) -> list[Pointer]:
        """The pending pointer messages."""
        with self._changed:
            pointers = list(self._pointers)
            self._pointers.clear()
            return pointers

    def may_draw(self) -> bool:
        """Whether another frame may be sent."""
        with self._changed:
            return self._may_send()

    def take_frame(self) -> bool:
        """Whether the scene is to advance by a frame now; counts it as done."""
        with self._changed:
            self._redraw = False
            if self._steps:
                self._steps -= 1
                self._play = Play(False, self._play.rate)
                return True
            now = time.perf_counter()
            if not self._play.playing or now < self._due:
                return False
            # If this frame is late by less than a frame, the next one is due earlier, which keeps the rate.
            self._due = max(self._due + 1 / self._play.rate, now - 1 / self._play.rate)
            return True

    def pause(self) -> None:
        """Pause the scene."""
        with self._changed:
            self._play = Play(False, self._play.rate)

    def next_serial(self) -> int:
        """The number of the frame that is sent now."""
        with self._changed:
            if self._sent == self._acknowledged:
                self._acknowledged_at = time.monotonic()
            self._sent += 1
            self._unsent += 1
            return self._sent
