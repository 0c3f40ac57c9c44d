"""Loads in advance what the first call that needs it would load: for the loading screen of a game."""

from importlib import import_module
from pkgutil import iter_modules

import numpy.ma  # noqa: F401 - `numpy.unique` imports it at its first call

from broadphase.runtime import threads

_PACKAGES = "api", "geometry", "indexes", "methods", "points", "world"


def preload() -> None:
    """Load everything that works in memory, and start the helper threads, so that no later call has to.

    Where a frame must not take longer than the others, call it at the start, on the loading screen.  A
    `World` alone needs no preload: what its methods need is loaded with it.  The first call of other
    functions, such as `pairs` or `neighbors`, takes some milliseconds longer than the next.

    Examples
    --------
    >>> import broadphase as bp
    >>> bp.preload()
    """
    for package in _PACKAGES:
        home = import_module(f"broadphase.{package}")
        for module in iter_modules(home.__path__, f"{home.__name__}."):
            import_module(module.name)
    threads.run_all([threads.cores] * threads.cores())
