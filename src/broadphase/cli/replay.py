"""``broadphase replay --table``: a recording as tables."""

import sys
from collections.abc import Sequence
from typing import Any, TextIO

import numpy as np

from broadphase.indexes import CLASSES
from broadphase.recording.following import MethodRun, run_methods
from broadphase.recording.reader import RecordedFrame, Recording

_ROUNDS = 3


def table(file: str, methods: Sequence[str] | None, slowest: int, out: TextIO | None = None) -> int:
    """Print a line per frame, then the methods, then the slowest frames."""
    recording = Recording(file)
    out = sys.stdout if out is None else out
    chosen = list(methods or (name for name in CLASSES if name != "brute_force"))
    followed = run_methods(recording, chosen, _ROUNDS)
    print(f"{file}: {recording!r}\n", file=out)
    _print_frames(recording, followed, out)
    if not len(recording):
        return 0
    print(
        f"\n{'method':<16}{'median ms':>12}{'slowest ms':>12}{'in frame':>10}{'median tests':>14}", file=out
    )
    for method, (seconds, tests) in followed.items():
        worst = int(seconds.argmax())
        print(
            f"{method:<16}{_ms(np.median(seconds)):>12}{_ms(seconds[worst]):>12}{worst:>10}"
            f"{int(np.median(tests)):>14}",
            file=out,
        )
    print("\nslowest frames, by what the recorded calls took", file=out)
    for number in recording.slowest(slowest):
        print(_summary(recording[number]), file=out)
    return 0


def _print_frames(recording: Recording, followed: dict[str, MethodRun], out: TextIO) -> None:
    heads = ["frame", "bodies", "moved", "pairs", "recorded ms", *(f"{method} ms" for method in followed)]
    widths = [max(8, len(head) + 2) for head in heads]
    print("".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)), file=out)
    for frame in recording:
        cells = [
            *(frame.number, len(frame.ids), frame.moved, len(frame.pairs())),
            *(
                _ms(spent)
                for spent in (frame.seconds, *(one.seconds[frame.number] for one in followed.values()))
            ),
        ]
        print("".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)), file=out)


def _summary(frame: RecordedFrame) -> str:
    calls = sorted(frame.calls.items(), key=lambda item: -item[1].seconds)
    words = ", ".join(f"{name} x{call.times} {_ms(call.seconds)} ms" for name, call in calls)
    return (
        f"frame {frame.number}: {_ms(frame.seconds)} ms; {len(frame.ids)} bodies, {frame.moved} moved, "
        f"{frame.added} added, {frame.removed} removed; {words}"
    )


def _ms(seconds: Any) -> str:
    return f"{1e3 * seconds:.3f}"
