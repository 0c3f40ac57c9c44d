"""A kernel on its way from source to a call, step by step; `kernels.md` explains the steps."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ["BROADPHASE_COMPILING"] = "1"  # kernels are Numba's functions in this process

import numpy as np
from numba.core.registry import cpu_target

from broadphase.compiler import builtins, machine_code, memory, numba_names, python_api
from broadphase.compiler.lowering import lower, target_machine
from broadphase.kernels.machine.jit import jit
from broadphase.kernels.machine.library import Library
from broadphase.kernels.machine.mode import level
from broadphase.kernels.machine.target import HOST

numba_names.prepare()


# 1. The source.
@jit
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result


# 2. Numba infers the types of one line of signatures.txt, and emits LLVM IR.
lowered = lower(total, "f8[1]")

# 3. LLVM makes an object file of it, and of the function that takes the arguments out of Python's objects.
machine = target_machine(HOST, level())
code = machine_code.emit_call(cpu_target.target_context, lowered, "call_total", machine)

# 4. So it does of the table of all kernels: each tries its lists of types, here one with one argument.
module = machine_code.table_module({"total": [("call_total", 1)]}, HOST)
kept = machine_code.EXPORTED | {*memory.NAMES, *builtins.NAMES, *python_api.NAMES}
table = machine_code.emit(module, kept, machine)

# 5. The linker makes a library of both. The index names the kernels in the order of the table.
folder = TemporaryDirectory(ignore_cleanup_errors=True)  # Windows cannot remove a loaded library
stem = Path(folder.name, "one_kernel")
for name, content in (("call", code), ("table", table)):
    stem.with_name(name).write_bytes(content)
objects = [stem.with_name("table"), stem.with_name("call")]
machine_code.link(objects, stem.with_suffix(HOST.suffix), HOST)
stem.with_suffix(".index").write_text("kernel example.total\n")


# 6. The program loads the library, and makes a builtin of the address in the table.
def otherwise(*arguments):
    return f"not compiled for {arguments}"


call = Library(str(stem)).builtin("example.total", otherwise)
print(call)
print(call(np.array([1.0, 2.0, 4.0])))
print(call("text"))
