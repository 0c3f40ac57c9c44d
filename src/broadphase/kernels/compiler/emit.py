"""LLVM's language into an object file for one level of processor."""

from functools import cache
from typing import Any

import llvmlite.binding as llvm
from numba.core import config

from broadphase.kernels.compiler.frontend import Lowered
from broadphase.kernels.compiler.texts import whole_text
from broadphase.kernels.compiler.wrapper import build_call

_NAMES_OF_CPUS = {"arm64": "generic"}

_OPTIONS_ON_X86 = (
    # A function is inlined where it is called before either is optimised; LLVM would optimise it by itself,
    # and again in each that calls it.  A seventh of LLVM's time; 230 calls take 1.00 of theirs.
    "-enable-module-inliner",
    # What LLVM does to loops last, for processors that compute addresses less freely than these, and vectors
    # for the rest of a loop that was done in vectors: another seventh; 230 calls take 0.99 of their time.
    "-disable-lsr",
    "-disable-lftr",
    "-enable-epilogue-vectorization=false",
)


def target_machine(level: str) -> Any:
    """LLVM's description of a level, for code that may lie anywhere in memory."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    if level.startswith("x86"):
        _set_options()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=_NAMES_OF_CPUS.get(level, level), features="", opt=3, reloc="pic", codemodel="small"
    )


@cache  # LLVM ends the process that says it twice
def _set_options() -> None:
    for option in _OPTIONS_ON_X86:
        llvm.set_option("broadphase", option)


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
    """Optimise a module and emit it; the functions ``kept`` are what other objects see of it."""
    for function in module.functions:
        if not function.is_declaration:
            if function.name in kept:
                function.visibility = "hidden"  # called without a detour through the linker's table
            else:
                function.linkage = "internal"
    for variable in module.global_variables:
        is_ours = not variable.is_declaration and not variable.name.startswith("llvm.")
        if is_ours and variable.name not in kept:
            variable.linkage = "internal"
    # With the third level the kernels take a tenth longer to build, for machine code that is a tenth larger
    # and no faster: of 230 calls the second one's take 0.985 of the time, rays in trees 0.8, in grids 1.1.
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    options.slp_vectorization = bool(config.SLP_VECTORIZE)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    module.verify()
    return bytes(machine.emit_object(module))
