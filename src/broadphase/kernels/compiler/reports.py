"""What Numba tells of its work: nobody listens to it while kernels are compiled.

It searches the disk for the line of an error that it then catches itself, makes text of each statement,
reads its settings anew for each function, and packs them into a function's name: together with its events
and statistics 4 % of the time before LLVM.
"""

from contextlib import nullcontext
from typing import Any

import llvmlite.binding as llvm
from numba.core import byteflow, config, event, ir, lowering, ssa, targetconfig
from numba.core.typing import cffi_utils


def _no_event(*_: Any, **__: Any) -> Any:
    return nullcontext()


def nothing(*_: Any, **__: Any) -> None:
    """Stand in for what nobody waits for: a report, or a count."""


def _where(self: Any, nlines_up: int = 2) -> str:
    """A place in a file, for errors."""
    return f"{self.filename}, line {self.line}"


def prepare() -> None:
    """Let Numba work silently; once."""
    event.trigger_event = event.install_timer = _no_event
    event.broadcast = nothing
    none_pruned = llvm.newpassmanagers.dump_refprune_stats()
    llvm.newpassmanagers.dump_refprune_stats = lambda printout=False: none_pruned
    ir.Loc.strformat = _where
    config.reload_config = nothing
    targetconfig.TargetConfig.get_mangle_string = lambda self: ""
    cffi_utils.SUPPORTED = False  # no kernel calls C by it
    byteflow._logger.debug = ssa._logger.debug = nothing
    lowering.str = nothing  # of each statement, for a trace that is not asked for
