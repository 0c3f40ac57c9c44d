"""Three whole simulation steps: with sums over pairs, in plain NumPy, and as a compiled loop over the pairs.

``python -m examples steps`` times flocking, a granular column and molecular dynamics; each file has the step
in all three ways.  What differs is how pairs become forces: the neighbours are found by ``bp.neighbors`` in
each.  The compiled loop needs Numba.
"""

import argparse
import time
from importlib.util import find_spec

from examples.steps.flocking import Flocking
from examples.steps.grains import Grains
from examples.steps.molecules import Molecules

WAYS = {"sums": "near.sum, near.scatter", "numpy": "NumPy", "loop": "compiled loop"}


def timed(kind: type, ways: list[str], steps: int, **size: int) -> dict[str, float]:
    """The shortest time of a step in each way, in seconds; all take turns."""
    scenes = {way: kind(**size) for way in ways}
    best = dict.fromkeys(ways, float("inf"))
    for number in range(steps + 1):
        for way, scene in scenes.items():
            started = time.perf_counter()
            scene.step(way)
            if number:  # in the first step the loop is compiled
                best[way] = min(best[way], time.perf_counter() - started)
    return best


def main(arguments: list[str]) -> None:
    """Print a line for each simulation."""
    parser = argparse.ArgumentParser(prog="python -m examples steps", description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--count", type=int, help="points, in place of the usual number")
    options = parser.parse_args(arguments)
    ways = [way for way in WAYS if way != "loop" or find_spec("numba")]
    size = {} if options.count is None else {"count": options.count}
    for kind in (Flocking, Grains, Molecules):
        took = timed(kind, ways, options.steps, **size)
        said = [f"{WAYS[way]} {1e3 * took[way]:.1f} ms ({took[way] / took[ways[-1]]:.2f} x)" for way in ways]
        print(f"{kind.__name__:<10} {', '.join(said)}", flush=True)
