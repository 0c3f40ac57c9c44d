"""How long a long call takes to respond to Ctrl-C, and whether the next call is right.

``python benchmarks/interrupts.py --boxes 1000000`` sends signals at random moments to a process that makes
one call after the other, and prints the slowest response of each.  Processor time of other programs counts
too.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import broadphase as bp

Case = tuple[str, Callable[[], Any], Callable[[], Any]]
"""Its name, its preparation, and the call."""
METHODS = [name for name in bp.METHODS if name not in ("auto", "brute_force")]
INDEXES = ["sort_and_sweep", "sweep_and_prune", "uniform_grid", "spatial_hash", "box_tree", "strips"]


def scenes(n: int) -> dict[str, Any]:
    """Boxes all over the square, all in one strip, and in clusters."""
    draw = np.random.default_rng(1)
    low = draw.random((n, 2))
    line = np.column_stack((np.zeros(n), low[:, 1], np.ones(n), low[:, 1] + 0.5 / n))
    near = draw.random((50, 2))[draw.integers(50, size=n)] + 1e-4 * draw.normal(size=(n, 2))
    boxes = {
        "uniform": np.hstack((low, low + 0.7 * n**-0.5)),
        "in a column": line,
        "clusters": np.hstack((near, near + 1e-3 * n**-0.5)),
    }
    return {name: rows.astype(np.float32) for name, rows in boxes.items()}


def cases(n: int) -> Iterator[Case]:
    """Every bulk call."""
    for scene, boxes in scenes(n).items():
        for method in METHODS:
            options: dict[str, Any] = {"method": method}
            yield f"pairs {method}, {scene}", tuple, lambda b=boxes, o=options: bp.pairs(b, **o)
            yield f"count_pairs {method}, {scene}", tuple, lambda b=boxes, o=options: bp.count_pairs(b, **o)
            if scene == "uniform":
                half = len(boxes) // 2
                yield f"join {method}", tuple, lambda b=boxes, o=options, h=half: bp.join(b[:h], b[h:], **o)
    boxes = scenes(n)["uniform"]
    for name in INDEXES:
        yield from of_index(name, boxes)
    points = boxes[:, :2].astype(np.float64)
    yield "neighbors", tuple, lambda: bp.neighbors(points, 0.7 * n**-0.5).i
    yield "nearest", tuple, lambda: bp.nearest(points, 4)[0]
    yield "swept_pairs", tuple, lambda: bp.swept_pairs(boxes, points * 0 + 0.3 * n**-0.5).pairs


def of_index(name: str, boxes: Any) -> Iterator[Case]:
    """The calls of an index for thousands of boxes."""
    n = len(boxes)
    options: dict[str, Any] = {"dtype": np.float32}
    if name == "uniform_grid":
        options |= {"bounds": [0, 0, 1, 1], "cell_size": n**-0.5}
    make: Any = bp.make_index
    index, turn = make(name, **options), [0]
    places = boxes, boxes + np.float32(1e-5)

    def moved() -> None:
        if not len(index):
            index.insert_many(boxes)
        turn[0] ^= 1
        index.update(places[turn[0]])

    def filled() -> None:
        index.clear()
        index.insert_many(boxes)

    queries, points, rays = boxes[: n // 10], boxes[: n // 10, :2], boxes[:2_000, :2]
    yield f"{name}: insert_many", index.clear, lambda: index.insert_many(boxes)
    yield f"{name}: pairs after insert_many", filled, index.pairs
    yield f"{name}: update", tuple, moved
    yield f"{name}: pairs after update", moved, index.pairs
    yield f"{name}: changes after update", moved, lambda: index.changes().began[:0]
    yield f"{name}: query_box", tuple, lambda: index.query_box(queries)
    yield f"{name}: raycast", tuple, lambda: index.raycast(rays, [1.0, 0.3], 0.05).ids
    yield f"{name}: nearest", tuple, lambda: index.nearest(points, 3).ids
    yield f"{name}: remove_many", filled, lambda: index.remove_many(np.arange(0, n, 2))


def child(n: int, tries: int, chosen: str) -> None:
    """Repeat every case; report when each call begins and when it was interrupted."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name, ready, call in cases(n):
        if not re.search(chosen, name):
            continue
        ready()
        began = time.monotonic()
        right = call()
        print(f"case {time.monotonic() - began} {name}", flush=True)
        for _ in range(tries):
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            ready()
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                print("go", flush=True)
                again = call()
                time.sleep(3600)  # the signal was too late; the parent sends it in any case
            except KeyboardInterrupt:
                print(f"at {time.monotonic()}", flush=True)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ready()
        again = call()
        print(f"done {int(np.array_equal(right, again))}", flush=True)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--boxes", type=int, default=1_000_000)
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose names this expression finds")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.boxes, options.tries, options.only)
        return 0
    draw, late, took, wrong = random.Random(0), 0.0, 0.0, 0
    command = [sys.executable, __file__, "--child", *sys.argv[1:]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "case":
                seconds, _, name = rest.partition(" ")
                took, late = float(seconds), 0.0
            elif word == "go":
                time.sleep(draw.uniform(0.0, took))
                sent = time.monotonic()
                os.kill(process.pid, signal.SIGINT)
            elif word == "at":
                late = max(late, float(rest) - sent)
            elif word == "done":
                wrong += rest != "1"
                print(
                    f"{name:44} {took:7.2f} s   Ctrl-C after {late:.3f} s   {'' if rest == '1' else 'WRONG'}"
                )
                sys.stdout.flush()
    return min(1, wrong + process.returncode)


if __name__ == "__main__":
    sys.exit(main())
