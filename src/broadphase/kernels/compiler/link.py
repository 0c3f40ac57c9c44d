"""Object files into one library, with a table of its kernels that Python can call."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir

from broadphase.kernels.compiler import memory, shared
from broadphase.kernels.compiler.api import (
    CALL,
    I64,
    MISSED,
    OBJECTS,
    POINTER,
    Api,
    declare_key,
    declare_tables,
)
from broadphase.kernels.machine.linker import linkers


def link(objects: Sequence[Path], library: Path) -> None:
    """Make a library of object files."""
    command, *_ = linkers()
    link_with(command, objects, library)


def link_with(command: tuple[str, ...], objects: Sequence[Path], library: Path) -> None:
    """Make a library with one of `linkers`."""
    arguments = library.with_suffix(".link")
    arguments.write_text("\n".join(f'"{path.as_posix()}"' for path in objects))
    out = [f"/out:{library}"] if sys.platform == "win32" else ["-o", str(library)]
    try:
        done = subprocess.run([*command, *out, f"@{arguments}"], capture_output=True, text=True, check=False)
    finally:
        arguments.unlink()
    if done.returncode != 0:
        raise RuntimeError(f"the linker failed ({command[0]}):\n{done.stderr}")


def table_module(kernels: Mapping[str, Sequence[tuple[str, int]]]) -> Any:
    """The object that holds it together: the tables of the interpreter, memory, and a builtin a kernel.

    ``kernels`` has for each kernel the functions that `wrapper` made and how many arguments they take.
    """
    module = ir.Module("broadphase_table")
    module.triple = llvm.get_process_triple()
    for table in (*declare_tables(module), declare_key(module)):
        table.initializer = ir.Constant(table.value_type, None)
    memory.define(module)
    shared.define(module)
    builtin = ir.FunctionType(POINTER, [POINTER, OBJECTS, I64])
    entries = [_entry(module, builtin, f"entry_{k}", calls) for k, calls in enumerate(kernels.values())]
    kind = ir.ArrayType(builtin.as_pointer(), len(entries))
    table = ir.GlobalVariable(module, kind, "broadphase_table")
    table.initializer = ir.Constant(kind, entries)
    parsed = llvm.parse_assembly(str(module))
    if sys.platform == "win32":
        for variable in parsed.global_variables:
            variable.storage_class = "dllexport"
    return parsed


EXPORTED = {"broadphase_api", "broadphase_key", "broadphase_kinds", "broadphase_table"}


def _entry(module: ir.Module, builtin: Any, name: str, calls: Sequence[tuple[str, int]]) -> Any:
    """``builtin(kernel, arguments, count)``: the first function that takes the arguments, else Python."""
    entry = ir.Function(module, builtin, name)
    entry.linkage = "internal"
    builder = ir.IRBuilder(entry.append_basic_block("entry"))
    kernel, arguments, count = entry.args
    for symbol, wanted in calls:
        called = ir.Function(module, CALL, symbol)
        with builder.if_then(builder.icmp_signed("==", count, ir.Constant(I64, wanted))):
            result = builder.call(called, [arguments])
            missed = builder.inttoptr(ir.Constant(I64, MISSED), POINTER)
            with builder.if_then(builder.icmp_unsigned("!=", result, missed), likely=True):
                builder.ret(result)
    api = Api(builder)
    builder.ret(api.vectorcall(kernel, arguments, count))
    return entry
