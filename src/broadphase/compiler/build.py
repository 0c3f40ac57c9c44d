"""The build: kernels without an object file are compiled in one process per core, and all are linked.

Each kernel and list of types has its own object file in the user's cache.  The file's name is a hash of
everything that the machine code depends on, so a second build compiles only what was edited.
"""

import atexit
import errno
import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from importlib import import_module
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from numba.core.registry import cpu_target

from broadphase.compiler import builtins, machine_code, memory, numba_names, python_api
from broadphase.compiler.lowering import COMMON_SYMBOLS, common_parts, lower, parse, target_machine
from broadphase.kernels.machine.library import digest_of, fingerprint
from broadphase.kernels.machine.mode import level
from broadphase.kernels.machine.on_demand import folder, subfolder
from broadphase.kernels.machine.signatures import PACKAGE
from broadphase.kernels.machine.target import Target, chosen


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


def is_compiled(path: Path) -> bool:
    """Whether all object files that a kernel needs are there."""
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


def index_of(jobs: Sequence[Job]) -> str:
    """The text of a library's index: fingerprints of modules, the kernels in their order."""
    modules = dict.fromkeys(job.module for job in jobs)
    kernels = dict.fromkeys(job.kernel for job in jobs)
    lines = [f"module {name} {fingerprint(PACKAGE + name)}" for name in modules]
    return "\n".join(lines + [f"kernel {name}" for name in kernels]) + "\n"


# ---- in the process that builds


def build(jobs: Sequence[Job], target: Target, name: str, library: Path) -> None:
    """Compile what is not in the cache, link all into ``library`` and write its index next to it.

    ``name`` is that of a level of processors.
    """
    batches = batches_of([job for job in jobs if not is_compiled(job.object(target, name))])
    workers = min(_cores(), max(len(batches), 1))
    library.parent.mkdir(parents=True, exist_ok=True)
    with (
        _environment(target, name),
        ProcessPoolExecutor(workers, get_context("spawn")) as pool,
        TemporaryDirectory(dir=library.parent) as unfinished,
    ):
        list(pool.map(_compile, batches, chunksize=-(-len(batches) // (8 * workers)) or 1))
        linked = Path(unfinished, library.name)  # under its own name, which some formats hold
        pool.submit(_link, jobs, linked).result()
        index = linked.with_suffix(".index")
        index.write_text(f"library {digest_of(linked)}\n" + index_of(jobs), encoding="utf-8", newline="\n")
        # The index is written last: where an index exists, its library is complete.
        linked.replace(library)
        index.replace(library.with_suffix(".index"))


@contextmanager
def _environment(target: Target, name: str) -> Iterator[None]:
    """That of the processes that are started meanwhile."""
    before = dict(os.environ)
    os.environ |= {
        "BROADPHASE_CACHE": str(folder()),  # which is of this process alone if the user has none
        "BROADPHASE_COMPILING": "1",
        "BROADPHASE_TARGET": target.name,
        "BROADPHASE_LEVEL": name,
        "NUMBA_CPU_NAME": "generic",  # for what Numba compiles for itself
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_DISABLE_JIT": "0",
        "PYTHONHASHSEED": "0",  # the same machine code each time
    }
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def batches_of(jobs: Sequence[Job]) -> list[list[Job]]:
    """Batches of jobs: all versions of a kernel in one batch, kernels of one file in adjacent batches.

    Adjacent batches call mostly the same functions, and a process infers and lowers each function once, which
    takes 30 ms.
    """
    kernels: dict[str, list[Job]] = {}
    for job in sorted(jobs):
        kernels.setdefault(job.kernel, []).append(job)
    return list(kernels.values())


# ---- in the processes that compile and link


@cache
def _machine() -> Any:
    """LLVM's description of the processor, in a process that is made ready to compile."""
    # Numba's objects are full of reference cycles; collecting them takes a fifth of the time.
    gc.disable()
    # The process ends without destroying a million objects one by one, which took 4 of 50 seconds.
    atexit.register(os._exit, 0)
    python_api.check()
    numba_names.prepare()
    return target_machine(chosen(), level())


def _compile(jobs: Sequence[Job]) -> None:
    """Write the object file of each kernel."""
    machine = _machine()
    for job in jobs:
        name = job.kernel.rpartition(".")[2]
        try:
            lowered = lower(getattr(import_module(PACKAGE + job.module), name), job.types)
            parts = {}
            for symbol, library in common_parts(lowered.library).items():
                part = parts[symbol] = part_object(symbol, COMMON_SYMBOLS[symbol], chosen(), level())
                if not part.exists():
                    _write(part, machine_code.emit_common(library, symbol, machine))
            code = machine_code.emit_call(cpu_target.target_context, lowered, job.symbol, machine)
        except Exception as error:
            raise RuntimeError(f"{job.kernel} could not be compiled for {job.types}: {error}") from error
        # The object is written last: where it exists, all files that it needs exist.
        path = job.object(chosen(), level())
        _write(parts_beside(path), "\n".join(map(str, parts.values())).encode())
        _write(path, code)


def _compile_table(jobs: Sequence[Job], machine: Any) -> Path:
    """Write the object file of the table of these kernels, unless it exists; return its path."""
    table = table_object(jobs, chosen(), level())
    if not table.exists():
        kernels: dict[str, list[tuple[str, int]]] = {}
        for job in jobs:
            kernels.setdefault(job.kernel, []).append((job.symbol, len(parse(job.types))))
        kept = machine_code.EXPORTED | {*memory.NAMES, *builtins.NAMES, *python_api.NAMES}
        _write(table, machine_code.emit(machine_code.table_module(kernels, chosen()), kept, machine))
    return table


def _link(jobs: Sequence[Job], library: Path) -> None:
    """Link the object files of these kernels into a library."""
    objects = [job.object(chosen(), level()) for job in jobs]
    parts = {part: None for path in objects for part in parts_of(path)}
    machine_code.link([_compile_table(jobs, _machine()), *objects, *parts], library, chosen())


def _write(path: Path, code: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}-{os.getpid()}")
    unfinished.write_bytes(code)
    unfinished.replace(path)
