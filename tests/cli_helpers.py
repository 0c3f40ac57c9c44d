"""The command, run in this process or in one of its own, and boxes to run it on."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from broadphase.cli import run

COMMAND = [sys.executable, "-W", "error", "-m", "broadphase"]


def some_boxes(n: int, dim: int = 2, seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    low = random.integers(0, 60, (n, dim)) / 4
    return np.hstack([low, low + random.integers(0, 5, (n, dim)) / 4])


def save_csv(path: Path, boxes: np.ndarray, ids: list[str] | None = None) -> Path:
    axes = "xyz"[: boxes.shape[1] // 2]
    names = [f"{end}_{axis}" for end in ("min", "max") for axis in axes]
    rows = [",".join(map(repr, row)) for row in boxes.tolist()]
    if ids is not None:
        names.insert(0, "id")
        rows = [f"{own},{row}" for own, row in zip(ids, rows, strict=True)]
    path.write_text("\n".join([",".join(names), *rows]) + "\n", encoding="utf-8")
    return path


def numbers(text: str) -> list[list[int]]:
    lines = text.splitlines()
    assert lines[0] == "i,j"
    return [list(map(int, line.split(","))) for line in lines[1:]]


def command(*arguments, **options) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


def refused(capfd, *arguments) -> str:
    """The one line with which the command refuses."""
    assert run([str(argument) for argument in arguments]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("broadphase: ")
    return line.removeprefix("broadphase: ")
