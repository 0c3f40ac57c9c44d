"""Every method on every scene; pair counts are checked first.

    python benchmarks/methods.py [--n 100000] [--dim 2 3] [--threads 1]

Timed is `pairs(boxes, sort=False, method=...)`.  Brute force takes part up to 20,000 boxes.
"""

import argparse
from functools import partial

from catalogue import SCENES
from timing import best_of

import broadphase as bp


def main() -> None:
    """Print a table of milliseconds, and what auto picks against the best of our methods."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--dim", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each method and scene")
    options = parser.parse_args()
    names = [name for name in bp.METHODS if options.n <= 20_000 or name != "brute_force"]
    print(
        f"{options.n:,} boxes, milliseconds\n{'scene':<16}{'pairs':>10}", *(f"{name:>15}" for name in names)
    )
    for dim in options.dim:
        for title, scene in SCENES.items():
            boxes = scene(options.n, dim)
            counts = {name: bp.count_pairs(boxes, method=name) for name in names}
            if len(set(counts.values())) > 1:
                raise SystemExit(f"the methods disagree: {counts}")
            calls = {
                name: partial(bp.pairs, boxes, method=name, sort=False, threads=options.threads)
                for name in names
            }
            best = best_of(calls, options.seconds)
            row = " ".join(f"{1e3 * best[name]:>15,.2f}" for name in names)
            slower = best["auto"] / min(best.values())
            print(f"{title + f' {dim}-D':<16}{counts['auto']:>10,} {row}   auto {slower:.2f} x the best")


if __name__ == "__main__":
    main()
