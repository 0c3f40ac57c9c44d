"""What the page may ask for: one small JSON object a message, checked here and nowhere else.

A message that is not exactly what is written below raises `BadMessage`; the session answers it and goes on.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from broadphase import indexes
from broadphase.lab.cutting import MOST_STRIPS
from broadphase.lab.scenes import FEWEST, MOST, SCENES

LONGEST = 2048
"""Bytes of a message."""
MOST_LANES = 4
METHODS = (*indexes.CLASSES, "auto")
REPLAY = "replay"
"""The scene that shows a recording, where the lab was given one."""
FILE = "file"
"""The scene that shows uploaded boxes."""

_FARTHEST = 1e15
_SCALES = (1 / 64, 64.0)
_SLOTS = (0.05, 50.0)
_RATES = (0.1, 60.0)
_LARGEST_SEED = 2**31 - 1


class BadMessage(ValueError):  # noqa: N818 - what it is, not what happened
    """A message that is none; the text says why."""


@dataclass(frozen=True)
class Setup:
    """Show this scene with these methods."""

    scene: str
    count: int
    seed: int
    methods: tuple[str, ...]
    cell_scale: float | None
    """Cell size in units of what suits the scene; None: as the index chooses."""
    slots: float | None
    """Slots of the hash table a body; None: as the index chooses."""
    file: str
    """Which upload, where the scene is `FILE`."""
    strips: int | None = None
    """Into how many strips the world is cut; None: as the engine chooses."""

    @property
    def world(self) -> tuple[Any, ...]:
        """What decides where the bodies are."""
        return self.scene, self.count, self.seed, self.file


@dataclass(frozen=True)
class Show:
    """What to draw besides the bodies."""

    tests: bool
    structure: bool


@dataclass(frozen=True)
class Play:
    """Run or pause, and how many frames a second."""

    playing: bool
    rate: float


@dataclass(frozen=True)
class Step:
    """One frame, then pause."""


@dataclass(frozen=True)
class Restart:
    """The scene from its first frame."""


@dataclass(frozen=True)
class Seek:
    """To this frame of a recording."""

    frame: int


@dataclass(frozen=True)
class Pointer:
    """The pointer takes hold of a body, drags it, or lets go."""

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
    """Answer with words: ``"explain"`` or ``"code"``."""

    what: str


Message = Setup | Show | Play | Step | Seek | Restart | Pointer | Ack | Growth | Ask


def parse(text: str) -> Message:
    """The message in ``text``.

    Raises
    ------
    BadMessage
        It is none; nothing has happened.

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
    """Takes fields out of a message one by one, each with its bounds."""

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
        # Before it becomes a float: an integer of a thousand digits would not.
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

    def number_or_none(self, name: str, bounds: tuple[float, float]) -> float | None:
        if name in self._fields and self._fields[name] is None:
            del self._fields[name]
            return None
        return self.number(name, *bounds)

    def whole_or_none(self, name: str, low: int, high: int) -> int | None:
        if name in self._fields and self._fields[name] is None:
            del self._fields[name]
            return None
        return self.whole(name, low, high)

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
        reader.number_or_none("cell_scale", _SCALES),
        reader.number_or_none("slots", _SLOTS),
        reader.token("file"),
        reader.whole_or_none("strips", 1, MOST_STRIPS),
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
    """What was given, short enough for an answer and a log line."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**18:
        return "a huge number"
    if isinstance(value, float) and math.isinf(value):
        return "infinity"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
