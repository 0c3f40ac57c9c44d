"""The build: finds the kernels that are missing, compiles them in one process per core, and links them.

Each kernel and list of types has its own object file in the user's cache.  The file's name is a hash of
everything that the machine code depends on, so a second build compiles only what was edited.
"""

import errno
import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import NamedTuple

from broadphase.kernels.machine.library import digest_of
from broadphase.kernels.machine.on_demand import folder, subfolder
from broadphase.kernels.machine.signatures import PACKAGE
from broadphase.kernels.machine.sources import fingerprint, hashes
from broadphase.kernels.machine.target import Target


class Job(NamedTuple):
    """A kernel, ``"package.file.name"``, for one list of types."""

    kernel: str
    types: str

    @property
    def module(self) -> str:
        """``"package.file"``."""
        return self.kernel.rpartition(".")[0]

    @property
    def symbol(self) -> str:
        """The name of the function in machine code."""
        return "call_" + blake2b(f"{self.kernel}: {self.types}".encode(), digest_size=12).hexdigest()

    def object(self, target: Target, level: str) -> Path:
        """Where its object file lies, when it was compiled."""
        return part_object(self.symbol, PACKAGE + self.module, target, level)


def part_object(symbol: str, module: str, target: Target, level: str) -> Path:
    """Where the object file of a function lies, when it was compiled."""
    made_of = [fingerprint(module), version("numba"), version("llvmlite")]
    if "BROADPHASE_CHECKED" in os.environ:  # see `broadphase.compiler.lowering`
        made_of.append("checked")
    key = blake2b(" ".join(map(str, made_of)).encode(), digest_size=8).hexdigest()
    return subfolder("objects") / target.name / level / f"{symbol}-{key}.o"


def table_object(jobs: Sequence[Job], target: Target, level: str) -> Path:
    """Where the table of a library of these kernels lies, when it was compiled."""
    names = blake2b(" ".join(job.symbol for job in jobs).encode(), digest_size=12).hexdigest()
    # The table depends on these names and on the compiler, which is part of the fingerprint of every module.
    return part_object(f"table_{names}", PACKAGE + jobs[0].module, target, level)


def parts_beside(path: Path) -> Path:
    """The file that says which common functions a kernel needs."""
    return path.with_suffix(".parts")


def parts_of(path: Path) -> list[Path]:
    """The object files of the common functions that a kernel needs."""
    return [Path(line) for line in parts_beside(path).read_text().splitlines()]


def _is_compiled(path: Path) -> bool:
    # Each file is checked: a program that cleans up the cache may have removed any of them.
    return path.exists() and parts_beside(path).exists() and all(part.exists() for part in parts_of(path))


def jobs_of(listed: Mapping[str, Sequence[str]]) -> list[Job]:
    """A job for each line of ``signatures.txt``."""
    return [Job(kernel, types) for kernel, lists in listed.items() for types in lists]


def advice(error: OSError) -> str:
    """One line that says which file could not be written, and what to do."""
    full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
    where = f" ({error.filename})" if error.filename else ""
    todo = (
        "make room, or name folders on another disk in TMPDIR and BROADPHASE_CACHE"
        if full
        else "build from a copy of the source in a folder that you may write to, or install a wheel"
    )
    return f"the compiled kernels cannot be written: {error.strerror or error}{where}; {todo}"


def build(
    jobs: Sequence[Job], target: Target, level: str, library: Path, processes: int | None = None
) -> None:
    """Compile what is not in the cache, link everything into ``library`` and write its index next to it."""
    workers = compile_missing(jobs, target, level, processes or _cores())
    library.parent.mkdir(parents=True, exist_ok=True)
    # An existing worker links: a new one would need a second to import Numba.
    linker = workers[0] if workers else _Worker(target, level)
    with TemporaryDirectory(dir=library.parent) as unfinished:  # under its own name, which some formats hold
        linked = Path(unfinished, library.name)
        linker.do(jobs, library=linked)
        linker.end()
        index = linked.with_suffix(".index")
        index.write_text(f"library {digest_of(linked)}\n" + index_of(jobs), encoding="utf-8", newline="\n")
        # The index is written last: where an index exists, its library is complete.
        linked.replace(library)
        index.replace(library.with_suffix(".index"))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def index_of(jobs: Sequence[Job]) -> str:
    """The text of a library's index: hashes of files, fingerprints of modules, the kernels in their order."""
    modules = dict.fromkeys(job.module for job in jobs)
    kernels = dict.fromkeys(job.kernel for job in jobs)
    files = hashes(PACKAGE + name for name in modules)
    lines = [f"source {text} {code}" for text, code in files.items()]
    lines += [f"module {name} {fingerprint(PACKAGE + name)}" for name in modules]
    return "\n".join(lines + [f"kernel {name}" for name in kernels]) + "\n"


def compile_missing(jobs: Sequence[Job], target: Target, level: str, processes: int) -> list["_Worker"]:
    """Compile, in parallel, the jobs that have no object file; return one worker, if any was started."""
    missing = [job for job in jobs if not _is_compiled(job.object(target, level))]
    if not missing:
        return []
    waiting = batches_of(missing)
    workers = [_Worker(target, level) for _ in range(min(processes, len(waiting)))]
    with ThreadPoolExecutor(len(workers)) as threads:
        list(threads.map(lambda number: _compile(number, workers[number], waiting), range(len(workers))))
    for worker in workers[1:]:
        worker.end()
    return workers[:1]


def batches_of(jobs: Sequence[Job]) -> deque[list[Job]]:
    """Batches of jobs: all versions of a kernel in one batch, kernels of one file in adjacent batches.

    Adjacent batches call mostly the same functions, and a process infers and lowers each function once, which
    takes 30 ms.  So the processes take batches from both ends.
    """
    kernels: dict[str, list[Job]] = {}
    for job in sorted(jobs):
        kernels.setdefault(job.kernel, []).append(job)
    return deque(kernels.values())


class _Worker:
    """A process that compiles and links (`broadphase.compiler.worker`)."""

    def __init__(self, target: Target, level: str) -> None:
        environment = {
            **os.environ,
            "BROADPHASE_CACHE": str(folder()),  # which is of this process alone if the user has none
            "BROADPHASE_COMPILING": "1",
            "BROADPHASE_TARGET": target.name,
            "BROADPHASE_LEVEL": level,
            "NUMBA_CPU_NAME": "generic",  # for what Numba compiles for itself
            "NUMBA_CPU_FEATURES": "",
            "NUMBA_DISABLE_JIT": "0",
            "PYTHONHASHSEED": "0",  # the same machine code each time
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]),
        }
        self._errors = TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed in `end`; a full pipe would block the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", "broadphase.compiler.worker"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
        )

    def do(self, jobs: Sequence[Job], library: Path | None = None) -> bool:
        """Let the process compile jobs, or link them into a library; returns False if it failed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps([jobs, str(library) if library else None]) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        return self._process.stdout.readline() != ""

    def end(self) -> None:
        """End the process and return its errors."""
        self._process.communicate()
        with self._errors:
            if self._process.returncode != 0:
                self._errors.seek(0)
                raise RuntimeError(f"compiling kernels failed:\n{self._errors.read()}")


def _compile(number: int, worker: _Worker, waiting: deque[list[Job]]) -> None:
    """Send batches to a process, one after the other, until none is left or one failed."""
    while waiting:
        try:
            jobs = waiting.popleft() if number % 2 == 0 else waiting.pop()
        except IndexError:  # another process took the last one
            return
        if not worker.do(jobs):
            return
