"""A run in a process of its own, for tests that kill it: SOURCE OUT EXECUTOR."""

import sys
from concurrent.futures import ProcessPoolExecutor

from outofcore_helpers import TIGHT

from broadphase import outofcore

if __name__ == "__main__":
    source, out, executor = sys.argv[1:]
    if executor == "processes":
        with ProcessPoolExecutor(2) as pool:
            outofcore.pairs(source, out, executor=pool, **TIGHT)
    else:
        outofcore.pairs(source, out, **TIGHT)
