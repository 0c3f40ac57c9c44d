"""A process that compiles and links; it reads ``[jobs, library or null]`` as JSON, one per line."""

import gc
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from numba.core.registry import cpu_target

from broadphase.compiler import builtins, machine_code, memory, numba_names, python_api
from broadphase.compiler.build import Job, advice, part_object, parts_beside, parts_of, table_object
from broadphase.compiler.lowering import COMMON_SYMBOLS, common_parts, lower, target_machine
from broadphase.compiler.types import parse
from broadphase.kernels.machine.mode import level
from broadphase.kernels.machine.signatures import PACKAGE
from broadphase.kernels.machine.target import chosen


def compile_jobs(jobs: list[Job], machine: Any) -> None:
    """Write the object file of each kernel."""
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
            raise RuntimeError(f"{job.kernel} could not be compiled for {job.types}") from error
        # The object is written last: where it exists, all files that it needs exist.
        path = job.object(chosen(), level())
        _write(parts_beside(path), "\n".join(map(str, parts.values())).encode())
        _write(path, code)


def compile_table(jobs: list[Job], machine: Any) -> Path:
    """Write the object file of the table of these kernels, unless it exists; return its path."""
    table = table_object(jobs, chosen(), level())
    if not table.exists():
        kernels: dict[str, list[tuple[str, int]]] = {}
        for job in jobs:
            kernels.setdefault(job.kernel, []).append((job.symbol, len(parse(job.types))))
        kept = machine_code.EXPORTED | {*memory.NAMES, *builtins.NAMES, *python_api.NAMES}
        _write(table, machine_code.emit(machine_code.table_module(kernels, chosen()), kept, machine))
    return table


def link_jobs(jobs: list[Job], library: Path, machine: Any) -> None:
    """Link the object files of these kernels into a library."""
    objects = [job.object(chosen(), level()) for job in jobs]
    parts = {part: None for path in objects for part in parts_of(path)}
    machine_code.link([compile_table(jobs, machine), *objects, *parts], library, chosen())


def _write(path: Path, code: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}-{os.getpid()}")
    unfinished.write_bytes(code)
    unfinished.replace(path)


def main() -> None:
    """Compile or link what each line of the input asks for, and report it, until the input ends."""
    python_api.check()
    numba_names.prepare()
    machine = target_machine(chosen(), level())
    for line in sys.stdin:
        given, library = json.loads(line)
        jobs = [Job(kernel, types) for kernel, types in given]
        if library is None:
            compile_jobs(jobs, machine)
        else:
            link_jobs(jobs, Path(library), machine)
        print("done", flush=True)


if __name__ == "__main__":
    # Numba's objects are full of reference cycles; collecting them takes a fifth of the time.
    gc.disable()
    try:
        main()
    except OSError as error:
        sys.exit(advice(error))
    # The process exits without destroying a million objects one by one, which took 4 of 50 seconds.
    os._exit(0)
