"""NumPy with the default integer of 32-bit platforms, such as the browser.

Integers without a dtype, positions and counts have 32 bits there, and counts of 64 bits are refused.  To call
a kernel with types which are not in ``signatures.txt`` is an error there, because nothing compiles it.
``PYTHONPATH=tests python -m pytest -n 0 -p int32 FILES`` shows both here.
"""

import runpy
import sys
from functools import wraps

import numpy as np

_MAKING = (
    *(
        "append",
        "arange",
        "array",
        "asarray",
        "column_stack",
        "concatenate",
        "cumprod",
        "cumsum",
        "diff",
        "full",
    ),
    *("hstack", "indices", "ones", "prod", "stack", "sum", "unique", "vstack", "where", "zeros"),
)
_POSITIONS = (
    *("argmax", "argmin", "argpartition", "argsort", "argwhere", "bincount", "count_nonzero"),
    *("digitize", "flatnonzero", "lexsort", "nonzero", "searchsorted"),
)
"""Functions whose results are positions and counts, whatever they are given."""


def _has_64_bits(value):
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype in (np.int64, np.uint64)
    return isinstance(value, list | tuple) and any(map(_has_64_bits, value))


def _narrow(value):
    if isinstance(value, tuple):
        return tuple(map(_narrow, value))
    if not isinstance(value, np.ndarray | np.generic) or value.dtype != np.int64:
        return value
    narrow = value.astype(np.int32)
    return narrow if (narrow == value).all() else value  # as `np.array([2**40])`


def _of_ours(frame):
    return frame.f_globals.get("__name__", "").startswith("broadphase")


def _narrowed(function):
    @wraps(function)
    def call(*arguments, **named):
        found = function(*arguments, **named)
        if not _of_ours(sys._getframe(1)):
            return found
        has_type = named.get("out") is not None or any(
            isinstance(each, type | np.dtype | str) for each in (*arguments, named.get("dtype"))
        )
        if function.__name__ == "unique" and isinstance(found, tuple):
            return (found[0], *_narrow(found[1:]))
        if has_type or (function.__name__ not in _POSITIONS and any(map(_has_64_bits, arguments))):
            return found
        return _narrow(found)

    return call


def _refusing(function, place):
    @wraps(function)
    def call(*arguments, **named):
        counts = arguments[place] if len(arguments) > place else ()
        if _of_ours(sys._getframe(1)) and _has_64_bits(counts):
            raise TypeError(
                f"numpy.{function.__name__}: cannot cast int64 to int32 according to the rule 'safe'"
            )
        return function(*arguments, **named)

    return call


def make_narrow():
    """Give this process the integers of such a platform; nothing takes them back."""
    for name in _MAKING + _POSITIONS:
        setattr(np, name, _narrowed(getattr(np, name)))
    np.repeat, np.bincount = _refusing(np.repeat, 1), _refusing(np.bincount, 0)
    np.intp = np.int32
    # Nothing compiles kernels, and what was compiled for another `intp` is not imported.
    for name in ("numba", "llvmlite", "ziglang", "scipy", "pandas", "shapely"):
        sys.modules[name] = None


def pytest_load_initial_conftests():
    """As a plugin of pytest: before any test is imported."""
    make_narrow()


if __name__ == "__main__":
    make_narrow()
    runpy.run_path(sys.argv[1], run_name="__main__")
