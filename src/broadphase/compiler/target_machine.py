"""LLVM's description of the processors that kernels are compiled for."""

from functools import cache
from typing import Any

import llvmlite.binding as llvm

from broadphase.kernels.machine.target import Target

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


@cache
def target_machine(target: Target, level: str) -> Any:
    """LLVM's description of a level of a platform, for code that may lie anywhere in memory."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    if level.startswith("x86"):
        _set_options()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu(level), features="", opt=3, reloc="pic", codemodel="small"
    )


@cache  # LLVM ends the process that says it twice
def _set_options() -> None:
    for option in _OPTIONS_ON_X86:
        llvm.set_option("broadphase", option)
