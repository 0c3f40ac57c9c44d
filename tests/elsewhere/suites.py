"""What is run in a Python of another platform."""

import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from .machines import Machine

CONFORMANCE = (
    *("tests/test_exact.py", "tests/test_same_order.py", "tests/test_bad_input.py"),
    *("tests/test_nothing_dropped.py", "tests/test_nothing_dropped_queries.py"),
    *("tests/test_machine.py::test_flushed_denormals_lose_no_pair",),
    *("tests/test_machine.py::test_flushed_denormals_lose_no_pair_of_an_index",),
    *("tests/test_machine.py::test_flushed_denormals_change_no_question_in_float64",),
)
"""Answers are those of brute force, in the same order whatever is done; nothing is dropped; wrong input is
refused; and modes of the processor change nothing."""

_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=10")


class Ran(NamedTuple):
    """What came of one of them."""

    name: str
    passed: bool
    told: str
    seconds: float
    output: str


def suites(machine: Machine, level: str, tests: Sequence[str]) -> Iterator[Ran]:
    """A call of every public function, then tests, at one level of the processor."""
    options, shares = ["--numprocesses=2"], {"pytest": tests or CONFORMANCE}
    if not machine.starts_processes:  # so several of it run side by side
        options = ["--numprocesses=0", "--capture=sys"]
        if not tests:
            shares = {"pytest of the first file": CONFORMANCE[:1], "pytest of the others": CONFORMANCE[1:]}
    runs = {"arrival": ["tests/arrival.py"]}
    runs |= {name: [*_PYTEST, *options, *share] for name, share in shares.items()}
    with ThreadPoolExecutor(1 if machine.starts_processes else 2) as pool:
        yield from pool.map(lambda name: _run(machine, level, name, runs[name]), runs)


def levels(machine: Machine) -> tuple[list[str], list[str]]:
    """Those that the package came for: which of them this processor has, the best first, and the others."""
    done = machine.run(
        ["-c", "from broadphase.kernels.machine.mode import able; print('levels:', *able())"], {}
    )
    told = re.search(r"^levels: (.*?)\s*$", done.stdout, re.MULTILINE)
    if not told:
        raise RuntimeError(f"the package cannot be imported there:\n{done.stdout}")
    came = {path.stem for path in (machine.checkout / "src/broadphase/kernels/compiled").glob("*.index")}
    able = [name for name in told[1].split() if name in came]
    return able, sorted(came.difference(able))


def _run(machine: Machine, level: str, name: str, arguments: Sequence[str]) -> Ran:
    start = time.monotonic()
    done = machine.run(arguments, {"BROADPHASE_LEVEL": level})
    lines = done.stdout.strip().splitlines()
    return Ran(name, done.returncode == 0, lines[-1] if lines else "", time.monotonic() - start, done.stdout)
