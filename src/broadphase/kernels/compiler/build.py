"""All of it: which kernels are missing, in as many processes as there are cores, into libraries.

A kernel for one list of types is one object file, kept in the user's cache under a hash of all that
decides what it holds; so a second build compiles what was edited, and nothing else.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from broadphase.kernels.machine import cache
from broadphase.kernels.machine.signatures import PACKAGE
from broadphase.kernels.machine.sources import fingerprint


class Job(NamedTuple):
    """A kernel, ``"room.file.name"``, for one list of types."""

    kernel: str
    types: str

    @property
    def module(self) -> str:
        """``"room.file"``."""
        return self.kernel.rpartition(".")[0]

    @property
    def symbol(self) -> str:
        """The name of the function in machine code."""
        return "call_" + blake2b(f"{self.kernel}: {self.types}".encode(), digest_size=12).hexdigest()

    def object(self, level: str) -> Path:
        """Where its object file lies, when it was compiled."""
        return part_object(self.symbol, PACKAGE + self.module, level)


def part_object(symbol: str, module: str, level: str) -> Path:
    """Where the object file of a function lies, when it was compiled."""
    made_of = [fingerprint(module), version("numba"), version("llvmlite"), sys.platform]
    key = blake2b(" ".join(map(str, made_of)).encode(), digest_size=8).hexdigest()
    return cache.folder() / "objects" / level / f"{symbol}-{key}.o"


def parts_beside(path: Path) -> Path:
    """The file that says which common functions a kernel needs."""
    return path.with_suffix(".parts")


def parts_of(path: Path) -> list[Path]:
    """The object files of the common functions that a kernel needs."""
    return [Path(line) for line in parts_beside(path).read_text().splitlines()]


def _is_compiled(path: Path) -> bool:
    # Each by itself: who tidies a cache up may take any of them.
    return path.exists() and parts_beside(path).exists() and all(part.exists() for part in parts_of(path))


def jobs_of(listed: Mapping[str, Sequence[str]]) -> list[Job]:
    """A job for each line of ``signatures.txt``."""
    return [Job(kernel, types) for kernel, lists in listed.items() for types in lists]


def build(jobs: Sequence[Job], level: str, library: Path, processes: int | None = None) -> None:
    """Compile what is not in the cache, and link all of it into ``library``; its index lies beside it."""
    compile_missing(jobs, level, processes or _cores())
    library.parent.mkdir(parents=True, exist_ok=True)
    unfinished = library.with_name(f"{library.stem}-{os.getpid()}{library.suffix}")
    _in_a_process(
        {"link": [[*job, str(job.object(level))] for job in jobs], "library": str(unfinished)}, level
    )
    index = index_of(jobs)
    # The index last: who finds it finds a whole library.
    unfinished.replace(library)
    beside = library.with_suffix(".index")
    written = beside.with_name(f"{beside.name}-{os.getpid()}")
    written.write_text(index)
    written.replace(beside)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def index_of(jobs: Sequence[Job]) -> str:
    """What the table of a library holds: fingerprints of modules, then the kernels in their order."""
    modules = dict.fromkeys(job.module for job in jobs)
    kernels = dict.fromkeys(job.kernel for job in jobs)
    lines = [f"module {name} {fingerprint(PACKAGE + name)}" for name in modules]
    return "\n".join(lines + [f"kernel {name}" for name in kernels]) + "\n"


def compile_missing(jobs: Sequence[Job], level: str, processes: int) -> None:
    """Compile side by side what has no object file yet."""
    missing = [job for job in jobs if not _is_compiled(job.object(level))]
    if not missing:
        return
    # Kernels of one file share what they call: who compiles one compiles all of them.
    modules: dict[str, list[Job]] = {}
    for job in missing:
        modules.setdefault(job.module, []).append(job)
    shares: list[list[Job]] = [[] for _ in range(min(processes, len(modules)))]
    for group in sorted(modules.values(), key=len, reverse=True):
        min(shares, key=len).extend(group)
    running = [
        _start({"compile": [[*job, str(job.object(level))] for job in share]}, level) for share in shares
    ]
    _finish(running)


def _in_a_process(task: object, level: str) -> None:
    _finish([_start(task, level)])


def _start(task: object, level: str) -> "subprocess.Popen[str]":
    environment = {
        **os.environ,
        "BROADPHASE_COMPILING": "1",
        "BROADPHASE_LEVEL": level,
        "NUMBA_CPU_NAME": "generic" if level == "arm64" else level,
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_DISABLE_JIT": "0",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "broadphase.kernels.compiler.worker"],
        env=environment,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(task))
    process.stdin.close()
    process.stdin = None
    return process


def _finish(running: "Sequence[subprocess.Popen[str]]") -> None:
    errors = [process.communicate()[1] for process in running]
    for process, error in zip(running, errors, strict=True):
        if process.returncode != 0:
            raise RuntimeError(f"compiling kernels failed:\n{error}")
