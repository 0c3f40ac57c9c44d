"""The yardstick: the method ``strips`` by hand in C++, built where there is a compiler."""

import shutil
import subprocess
from pathlib import Path

from broadphase.bench.scenes import Case
from broadphase.bench.timing import Search

INCLUDED = "the search alone, by hand in AVX-512 C++, its strips as wide as proved best; one core"
_SOURCE = Path(__file__).with_name("yardstick.cpp")
_COMPILERS = ("c++", "g++", "clang++")
_WAIT = 120  # seconds; only what hangs takes so long


def build(folder: Path) -> Path | None:
    """Compile it for this processor into ``folder``; None without a compiler or without AVX-512."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    program = folder / "yardstick"
    if compiler is None:
        return None
    asked = [compiler, "-O3", "-march=native", "-o", str(program), str(_SOURCE)]
    try:
        subprocess.run(asked, capture_output=True, check=True, timeout=_WAIT)
    except (OSError, subprocess.SubprocessError):
        return None
    return program


def ask(program: Path, dim: int, file: Path, side: float, repeats: int) -> dict[str, float]:
    """Run it on a file of raw float32 boxes and read what it prints: numbers by name.

    Raises
    ------
    OSError, subprocess.SubprocessError
        It could not be run, or ended badly.
    """
    asked = [str(program), str(dim), str(file), repr(side), str(repeats)]
    answer = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=_WAIT)
    words = answer.stdout.split()
    return {name: float(number) for name, number in zip(words[::2], words[1::2], strict=True)}


def search(program: Path, case: Case, folder: Path) -> Search | None:
    """The yardstick on a case, on the strips that prove best; None if it cannot."""
    if not case.plain or len(case.boxes) < 2:
        return None
    file = folder / "boxes.f32"
    case.boxes.tofile(file)
    try:
        side = ask(program, case.dim, file, 0, 2)["side"]
    except (OSError, subprocess.SubprocessError):
        return None
    repeats = 20 if len(case.boxes) <= 10_000 else 3
    return Search(
        lambda _: ask(program, case.dim, file, side, repeats),
        count=lambda said: int(said["pairs"]),
        seconds=lambda said: said["ms"] / 1e3,
    )
