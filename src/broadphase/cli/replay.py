"""``broadphase replay``: a recording in the lab, or as a table."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from broadphase.cli.lab import lab
from broadphase.errors import FileError
from broadphase.indexes import CLASSES
from broadphase.recording.following import MethodRun, run_methods
from broadphase.recording.reader import RecordedFrame, Recording

_ROUNDS = 3


def replay(file: str, host: str, port: int, browser: bool) -> int:
    """Show a recording in the lab until interrupted."""
    recording = Recording(file)
    if not len(recording):
        raise FileError(f"{file}: holds no frame that is whole; {recording.damage or 'none was recorded'}")
    if recording.damage:
        print(f"{file}: {recording.damage}; the {len(recording)} frames before it are shown", file=sys.stderr)
    return lab(host, port, browser, recording=(Path(file).name, recording))


def table(file: str, methods: Sequence[str] | None, slowest: int, out: TextIO | None = None) -> int:
    """Print a line a frame, then the methods, then the slowest frames."""
    recording = Recording(file)
    out = sys.stdout if out is None else out
    chosen = list(methods or (name for name in CLASSES if name != "brute_force"))
    went = run_methods(recording, chosen, _ROUNDS)
    print(f"{file}: {recording!r}\n", file=out)
    _print_frames(recording, went, out)
    if not len(recording):
        return 0
    print(
        f"\n{'method':<16}{'median ms':>12}{'slowest ms':>12}{'in frame':>10}{'median tests':>14}", file=out
    )
    for method, (seconds, tests) in went.items():
        worst = int(seconds.argmax())
        print(
            f"{method:<16}{_ms(np.median(seconds)):>12}{_ms(seconds[worst]):>12}{worst:>10}"
            f"{int(np.median(tests)):>14}",
            file=out,
        )
    print("\nslowest frames, by what the recorded calls took", file=out)
    for number in recording.slowest(slowest):
        print(_told(recording[number]), file=out)
    return 0


def _print_frames(recording: Recording, went: dict[str, MethodRun], out: TextIO) -> None:
    heads = ["frame", "bodies", "moved", "pairs", "recorded ms", *(f"{method} ms" for method in went)]
    widths = [max(8, len(head) + 2) for head in heads]
    print("".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)), file=out)
    for frame in recording:
        cells = [
            *(frame.number, len(frame.ids), frame.moved, len(frame.pairs())),
            *(_ms(spent) for spent in (frame.seconds, *(one.seconds[frame.number] for one in went.values()))),
        ]
        print("".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)), file=out)


def _told(frame: RecordedFrame) -> str:
    calls = sorted(frame.calls.items(), key=lambda item: -item[1].seconds)
    words = ", ".join(f"{name} x{call.times} {_ms(call.seconds)} ms" for name, call in calls)
    return (
        f"frame {frame.number}: {_ms(frame.seconds)} ms; {len(frame.ids)} bodies, {frame.moved} moved, "
        f"{frame.added} added, {frame.removed} removed; {words}"
    )


def _ms(seconds: Any) -> str:
    return f"{1e3 * seconds:.3f}"
