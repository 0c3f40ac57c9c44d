"""The one way in which kernels are compiled: cached on disk, without the GIL, IEEE division."""

import functools
import secrets
import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numba
import numba.core.serialize
import numpy as np

from broadphase.kernels.machine.sources import fingerprint

_OPTIONS = {"nogil": True, "error_model": "numpy"}


def _load_numba_without_scipy() -> None:
    """Keep Numba from importing SciPy's linear algebra before the first kernel.

    Where SciPy is installed, Numba imports ``scipy.linalg`` only to note that it is there: nearly half
    of what the first call of a process takes, 0.24 s of 0.57.  While that one module loads, a stand-in says
    so; Numba looks the real one up when somebody's kernel multiplies matrices.
    """
    asked_for = "scipy.linalg.cython_blas"
    if asked_for in sys.modules or find_spec("scipy") is None:
        return
    sys.modules[asked_for] = ModuleType(asked_for)
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[asked_for]


def _hand_results_over_in_one_step() -> None:
    """Keep signals from being handled while a kernel hands over its result.

    To return an array, a kernel asks a Python function of Numba for the array's type.  The first thing a
    Python function does is to handle the signals that came while the kernel ran; Numba's wrapper does not
    look for the exception, and Ctrl-C becomes a SystemError or an array that is not there.  A cache that is
    written in C answers from the second time on, and no Python runs.
    """
    serialize: Any = numba.core.serialize
    if not hasattr(serialize._numba_unpickle, "cache_info"):
        serialize._numba_unpickle = functools.cache(serialize._numba_unpickle)


if not numba.config.DISABLE_JIT:
    _load_numba_without_scipy()
    _hand_results_over_in_one_step()

# An index that is known not to be negative: for signed numbers that it reads from memory, Numba adds what
# lets -1 mean the last element.  Counting the copies of a box in strips takes 2.7 ns without, 14 with.
unsigned = np.uint64


_PROCESS = secrets.token_hex(4)


def jit(function: Callable[..., Any]) -> Any:
    """Compile a kernel on its first call, or load it from the cache on disk."""
    if numba.config.DISABLE_JIT:
        # Compiled code wraps and overflows in silence; as plain Python NumPy would warn of the same.
        return np.errstate(all="ignore")(function)
    dispatcher = numba.njit(no_cfunc_wrapper=True, **_OPTIONS)(function)
    try:
        dispatcher.enable_caching()
    except (RuntimeError, OSError) as error:  # Numba found no folder that it may write to
        _warn_of_no_cache(error)
        return dispatcher
    _go_on_without_cache(dispatcher._cache)
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        # Numba's cache looks at the file of the kernel alone and would serve stale code after an edit
        # of a function that the kernel calls from another file.  A hash of all files that it can reach
        # mends that, and holds for a copy of the folder too, where modification times would not.
        cache_file._source_stamp = fingerprint(function.__module__)
        # Two processes that compile a kernel for different types at the same time would both call
        # their machine code number 1, and the index of one could lead to the code of the other.
        cache_file._data_name_pattern = cache_file._data_name_pattern.replace(
            "{number:d}", f"{_PROCESS}-{{number:d}}"
        )
    return dispatcher


def _go_on_without_cache(kept: Any) -> None:
    """Let a cache that can not be read or written cost time and nothing else."""

    def guarded(step: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            try:
                return step(*args)
            except OSError as error:
                kept.disable()
                _warn_of_no_cache(error)
                return None  # to Numba: not in the cache

        return run

    kept.load_overload = guarded(kept.load_overload)
    kept.save_overload = guarded(kept.save_overload)


_told: list[Exception] = []


def _warn_of_no_cache(reason: Exception) -> None:
    """Say it once; what stands in the way of one kernel stands in the way of all."""
    if _told:
        return
    _told.append(reason)
    warnings.warn(
        f"broadphase keeps no compiled kernels ({reason}): it works, but each process compiles them anew, "
        "which takes seconds. Set NUMBA_CACHE_DIR to a folder that can be written to",
        RuntimeWarning,
        stacklevel=2,
    )


def inline(function: Callable[..., Any]) -> Any:
    """Compile a small function that only kernels call; LLVM inlines it there.

    It gets no wrappers for calls from Python or C: making them is a third of a first call's time.
    """
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)


def always_inline(function: Callable[..., Any]) -> Any:
    """As `inline`, where LLVM would rather call: finding a 3-D box's strips takes 6 ns inlined, 16 called."""
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True, **_OPTIONS)(function)
