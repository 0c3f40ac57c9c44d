"""Compiles LLVM IR to object files for one level of processor, and links object files into a library.

The library has a table of the kernels that Python can call.
"""

import errno
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import config

from broadphase.compiler import builtins, memory, python_api
from broadphase.compiler.builtins import build_call
from broadphase.compiler.lowering import Lowered, whole_text
from broadphase.compiler.python_api import CALL, MISSED, OBJECTS, POINTER, SIZE, TABLES, Api, table
from broadphase.kernels.machine.target import ARM, Target


def emit_call(context: Any, lowered: Lowered, name: str, machine: Any) -> bytes:
    """An object file whose only symbol is the function ``name`` that Python calls."""
    wrapped = context.codegen().create_library(name)
    module = wrapped.create_ir_module(name)
    build_call(context, module, name, lowered)
    whole = llvm.parse_assembly(whole_text(lowered.library, module))
    return emit(whole, {name}, machine)


def emit_common(library: Any, symbol: str, machine: Any) -> bytes:
    """An object file of a function that several kernels call."""
    return emit(llvm.parse_assembly(whole_text(library)), {symbol}, machine)


def emit(module: Any, kept: set[str], machine: Any) -> bytes:
    """Optimise a module and emit it; only the functions ``kept`` are visible to other objects."""
    for number, function in enumerate(module.functions):
        if not function.is_declaration:
            if "windows" in module.triple:
                function.add_function_attribute("uwtable")  # Windows unwinds the stack with tables
            if function.name in kept:
                function.visibility = "hidden"  # called directly, not through the linker's table
            else:
                function.linkage = "internal"
                # Numba's number would depend on what this process compiled before, and libraries for macOS
                # keep names.
                function.name = f"{function.name.partition('_')[2]}_{number}"
    for variable in module.global_variables:
        is_ours = not variable.is_declaration and not variable.name.startswith("llvm.")
        if is_ours and variable.name not in kept:
            variable.linkage = "internal"
    # With -O3 the build takes a tenth longer, for machine code that is a tenth larger and no faster: with
    # -O2, 230 calls take 0.985 of the time, rays in trees 0.8, in grids 1.1.
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    options.slp_vectorization = bool(config.SLP_VECTORIZE)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    module.verify()
    return bytes(machine.emit_object(module))


def link(objects: Sequence[Path], library: Path, target: Target) -> None:
    """Link object files into a library."""
    linkers = target.linkers()
    if not linkers:
        raise RuntimeError(f"nothing here links libraries for {target.name}; python -m pip install ziglang")
    link_with(linkers[0], objects, library, target)


def link_with(command: tuple[str, ...], objects: Sequence[Path], library: Path, target: Target) -> None:
    """Link a library with one of `Target.linkers`."""
    arguments, probe = library.with_suffix(".link"), library.with_suffix(".probe")
    try:
        if target.system == "windows":
            objects = [*objects, _stack_probe(probe, target)]
        arguments.write_text("\n".join(f'"{path.as_posix()}"' for path in objects), encoding="utf-8")
        _run([*command, *target.output(str(library)), f"@{arguments}"], "linker")
    finally:
        arguments.unlink(missing_ok=True)
        probe.unlink(missing_ok=True)


def _stack_probe(place: Path, target: Target) -> Path:
    """An import library of the function that LLVM calls where a function takes more than a page of stack.

    Windows adds the next page to a stack only when the page before it was touched.
    """
    exports = place.with_suffix(".def")
    try:
        exports.write_text("LIBRARY ntdll.dll\nEXPORTS\n__chkstk\n", encoding="utf-8")
        machine = "arm64" if target.levels == ARM else "i386:x86-64"
        dlltool = sys.executable, "-m", "ziglang", "dlltool"
        _run([*dlltool, "-m", machine, "-d", str(exports), "-l", str(place)], "import library")
    finally:
        exports.unlink()
    return place


def _run(command: Sequence[str], what: str) -> None:
    done = subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode != 0:
        if os.strerror(errno.ENOSPC) in done.stderr:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        raise RuntimeError(f"the {what} failed ({command[0]}):\n{done.stderr}")


def table_module(kernels: Mapping[str, Sequence[tuple[str, int]]], target: Target) -> Any:
    """The module with what all kernels share: the interpreter's tables, memory, and a builtin per kernel.

    ``kernels`` has for each kernel the functions that `wrapper` made and how many arguments they take.
    """
    module = ir.Module("broadphase_table")
    module.triple = target.triple
    for name, kind in TABLES.items():
        table(module, name).initializer = ir.Constant(kind, None)
    memory.define(module)
    builtins.define(module)
    if target.system == "windows":
        python_api.define(module)
    builtin = ir.FunctionType(POINTER, [POINTER, OBJECTS, SIZE])
    entries = [_entry(module, builtin, f"entry_{k}", calls) for k, calls in enumerate(kernels.values())]
    kind = ir.ArrayType(builtin.as_pointer(), len(entries))
    kernel_table = ir.GlobalVariable(module, kind, "broadphase_table")
    kernel_table.initializer = ir.Constant(kind, entries)
    parsed = llvm.parse_assembly(str(module))
    if target.system == "windows":
        for variable in parsed.global_variables:
            if variable.name in EXPORTED:
                variable.storage_class = "dllexport"
    return parsed


EXPORTED = {*TABLES, "broadphase_table"}


def _entry(module: ir.Module, builtin: Any, name: str, calls: Sequence[tuple[str, int]]) -> Any:
    """``builtin(kernel, arguments, count)``: calls the first function for these types, or else Python."""
    entry = ir.Function(module, builtin, name)
    entry.linkage = "internal"
    builder = ir.IRBuilder(entry.append_basic_block("entry"))
    kernel, arguments, count = entry.args
    for symbol, wanted in calls:
        called = ir.Function(module, CALL, symbol)
        with builder.if_then(builder.icmp_signed("==", count, ir.Constant(SIZE, wanted))):
            result = builder.call(called, [arguments])
            with builder.if_then(builder.icmp_unsigned("!=", result, MISSED), likely=True):
                builder.ret(result)
    api = Api(builder)
    builder.ret(api.vectorcall(kernel, arguments, count))
    return entry
