"""LLVM's description of the processors that kernels are compiled for."""

from functools import cache
from typing import Any

import llvmlite.binding as llvm

from broadphase.kernels.machine.target import Target

_OPTIONS_ON_X86 = (
    # A function is inlined into its callers before either is optimised; LLVM would optimise it on its own and
    # again in each caller.  This saves a seventh of LLVM's time; 230 calls take 1.00 of theirs.
    "-enable-module-inliner",
    # The last loop passes of LLVM serve processors with fewer addressing modes, and the epilogue of a
    # vectorised loop is vectorised too.  Without both, another seventh is saved; 230 calls take 0.99 of
    # their time.
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


@cache  # LLVM aborts a process that sets an option twice
def _set_options() -> None:
    for option in _OPTIONS_ON_X86:
        llvm.set_option("broadphase", option)
