"""All of it: which kernels are missing, in as many processes as there are cores, into libraries.

A kernel for one list of types is one object file, kept in the user's cache under a hash of all that
decides what it holds; so a second build compiles what was edited, and nothing else.
"""

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock, Thread
from typing import Literal, NamedTuple

from broadphase.kernels.machine import cache
from broadphase.kernels.machine.library import digest_of
from broadphase.kernels.machine.signatures import PACKAGE
from broadphase.kernels.machine.sources import fingerprint, reached

Task = Literal["compile", "table", "link"]
"""What is to be done with jobs: an object file each; that of the table of them all; a library."""


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
    if "BROADPHASE_CHECKED" in os.environ:  # see `broadphase.kernels.compiler.indexes`
        made_of.append("checked")
    key = blake2b(" ".join(map(str, made_of)).encode(), digest_size=8).hexdigest()
    return cache.subfolder("objects") / level / f"{symbol}-{key}.o"


def table_object(jobs: Sequence[Job], level: str) -> Path:
    """Where the table of a library of these kernels lies, when it was compiled."""
    names = blake2b(" ".join(job.symbol for job in jobs).encode(), digest_size=12).hexdigest()
    # It hangs on these names, and on the compiler, which the fingerprint of any module tells.
    return part_object(f"table_{names}", PACKAGE + jobs[0].module, level)


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
    workers = compile_missing(jobs, level, processes or _cores())
    library.parent.mkdir(parents=True, exist_ok=True)
    unfinished = library.with_name(f"{library.stem}-{os.getpid()}{library.suffix}")
    # By one that is there: to load Numba takes a second.
    linker = workers[0] if workers else _Worker(level)
    linker.do("link", jobs, into=unfinished)
    linker.end()
    index = f"library {digest_of(unfinished)}\n" + index_of(jobs)
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


def compile_missing(jobs: Sequence[Job], level: str, processes: int) -> list["_Worker"]:
    """Compile side by side what has no object file yet; one of those who did it, if any, stays."""
    missing = [job for job in jobs if not _is_compiled(job.object(level))]
    if not missing:
        return []
    shares = Shares(missing, processes)
    workers = [_Worker(level) for _ in range(shares.count)]
    first = Thread(target=_compile, args=(0, workers[0], shares, jobs))  # and the table: 0.4 s
    others = [Thread(target=_compile, args=(k, workers[k], shares)) for k in range(1, shares.count)]
    threads = [first, *others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for worker in workers[1:]:
        worker.end()
    return workers[:1]


class Shares:
    """What is left to compile, side by side by what the kernels have in common.

    A function that kernels of two processes call is inferred and lowered in both, 30 ms each.  So each
    process takes what lies beside what it had: two share a part and come from its ends, and who has
    nothing left takes from the part of which most is left.  All kernels on two cores: 79 functions twice,
    261 where each process got half of the files beforehand, and neither waits long for the other.
    """

    def __init__(self, jobs: Sequence[Job], processes: int) -> None:
        # The versions of one kernel share all that they call but for the types.
        kernels: dict[str, list[Job]] = {}
        for module in _side_by_side({job.module for job in jobs}):
            for job in jobs:
                if job.module == module:
                    kernels.setdefault(job.kernel, []).append(job)
        batches = list(kernels.values())
        self.count = min(processes, len(batches))
        parts = (self.count + 1) // 2
        ends = [len(batches) * part // parts for part in range(parts + 1)]
        self._parts = [deque(batches[begin:end]) for begin, end in pairwise(ends)]
        self._lock = Lock()

    def take(self, process: int) -> list[Job]:
        """The next jobs of a process; none are left where there are none."""
        with self._lock:
            part = self._parts[process // 2] or max(self._parts, key=len)
            if not part:
                return []
            return part.popleft() if process % 2 == 0 else part.pop()


def _side_by_side(modules: Collection[str]) -> list[str]:
    """Kernel files in an order in which neighbours reach much the same files."""
    left = {module: set(reached(PACKAGE + module)) for module in sorted(modules)}
    module = max(left, key=lambda name: len(left[name]))
    order = []
    while True:
        order.append(module)
        last = left.pop(module)
        if not left:
            return order
        module = max(left, key=lambda name: len(left[name] & last) / len(left[name] | last))


class _Worker:
    """A process that compiles and links (`broadphase.kernels.compiler.worker`)."""

    def __init__(self, level: str) -> None:
        environment = {
            **os.environ,
            "BROADPHASE_COMPILING": "1",
            "BROADPHASE_LEVEL": level,
            "NUMBA_CPU_NAME": "generic" if level == "arm64" else level,
            "NUMBA_CPU_FEATURES": "",
            "NUMBA_DISABLE_JIT": "0",
            "PYTHONHASHSEED": "0",  # the same machine code each time
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]),
        }
        self._level = level
        self._errors = TemporaryFile("w+")  # a pipe that nobody empties would stop who writes much
        self._process = subprocess.Popen(
            [sys.executable, "-m", "broadphase.kernels.compiler.worker"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def do(self, task: Task, jobs: Sequence[Job], into: Path | None = None) -> bool:
        """Have something done with jobs, and wait until it is; whether it can go on."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = task, [[*job, str(job.object(self._level))] for job in jobs], str(into) if into else None
        try:
            self._process.stdin.write(json.dumps(line) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        return self._process.stdout.readline() != ""

    def end(self) -> None:
        """Let it end, and say what went wrong."""
        self._process.communicate()
        with self._errors:
            if self._process.returncode != 0:
                self._errors.seek(0)
                raise RuntimeError(f"compiling kernels failed:\n{self._errors.read()}")


def _compile(number: int, worker: _Worker, shares: Shares, in_table: Sequence[Job] = ()) -> None:
    """Give a process the next jobs when it has done the last ones, until all are done or one has failed."""
    if in_table and not worker.do("table", in_table):
        return
    while (jobs := shares.take(number)) and worker.do("compile", jobs):
        pass
