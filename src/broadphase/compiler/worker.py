"""The build: kernels without an object file are compiled in one process per core, and all are linked."""

import atexit
import gc
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from numba.core.registry import cpu_target

from broadphase.compiler import builtins, machine_code, memory, numba_names, python_api
from broadphase.compiler.build import (
    Job,
    index_of,
    is_compiled,
    part_object,
    parts_beside,
    parts_of,
    table_object,
)
from broadphase.compiler.lowering import COMMON_SYMBOLS, common_parts, lower, target_machine
from broadphase.compiler.types import parse
from broadphase.kernels.machine.library import digest_of
from broadphase.kernels.machine.mode import level
from broadphase.kernels.machine.on_demand import folder
from broadphase.kernels.machine.signatures import PACKAGE
from broadphase.kernels.machine.target import Target, chosen


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
