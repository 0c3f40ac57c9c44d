"""The times of the tour's last step: all methods on balls that all move, from 10 to 12,288 of them.

``python benchmarks/tour.py`` rewrites ``src/broadphase/tour/page/times.json``, which the page draws.  Every
ball goes round in a small circle, two units a frame.  A run is one turn; of all runs the file has the least
time of a frame and the upper quartile.  The methods take turns, so that a slow moment hits all of them.
"""

import argparse
import json
import os
import platform
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import broadphase as bp
from broadphase.inputs.boxes import BoxArray

COUNTS = (10, 20, 48, 96, 192, 384, 768, 1536, 3072, 6144, 12288)
CELL = 60.0  # as in the page's steps.js
FRAMES, STEP = 32, 2.0  # of a turn
FILE = Path(bp.__file__).parent / "tour" / "page" / "times.json"


def frames(count: int) -> list[BoxArray]:
    """The boxes of one ball in each cell of a raster, while all go round."""
    random = np.random.default_rng(735)
    columns = round(np.sqrt(count * 1.6))
    places = random.permutation(columns * -(-count // columns))[:count]
    side = np.sqrt(480 * 300 / 24)
    centers = (np.column_stack([places % columns, places // columns]) + random.random((count, 2))) * side
    radii = random.uniform(10, 18, (count, 1))
    start = random.uniform(0, 2 * np.pi, count)
    turns = [start + 2 * np.pi * k / FRAMES for k in range(FRAMES)]
    far = STEP * FRAMES / (2 * np.pi)
    now = [centers + far * np.column_stack([np.cos(turn), np.sin(turn)]) for turn in turns]
    return [np.hstack([there - radii, there + radii]) for there in now]


def indexes(boxes: BoxArray) -> dict[str, Any]:
    """One of each class over these boxes."""
    size = boxes.max(axis=0)
    made: dict[str, Any] = {
        "brute_force": bp.BruteForce(),
        "sort_and_sweep": bp.SortAndSweep(axis=0),
        "sweep_and_prune": bp.SweepAndPrune(),
        "uniform_grid": bp.UniformGrid(cell_size=CELL, bounds=(0, 0, float(size[2]), float(size[3]))),
        "spatial_hash": bp.SpatialHash(cell_size=CELL, table_size=10 * len(boxes)),
        "box_tree": bp.BoxTree(),
        "strips": bp.Strips(),
    }
    for index in made.values():
        index.insert_many(boxes)
    return made


def turn(index: Any, played: list[BoxArray]) -> float:
    """Milliseconds of a frame, over one turn."""
    start = perf_counter()
    for boxes in played:
        index.update(boxes)
        index.pairs()
    return 1e3 * (perf_counter() - start) / len(played)


def measure(runs: int) -> dict[str, list[list[float]]]:
    """For each method rows ``[count, least, upper quartile]``, in milliseconds."""
    found: dict[str, list[list[float]]] = {}
    for count in COUNTS:
        played = frames(count)
        made = indexes(played[0])
        for boxes in played:
            expected = bp.pairs(boxes)
            for name, index in made.items():
                index.update(boxes)
                assert np.array_equal(index.pairs(), expected), name
        times: dict[str, list[float]] = {name: [] for name in made}
        for _ in range(runs):
            for name, index in made.items():
                times[name].append(turn(index, played))
        for name, own in times.items():
            least, quartile = min(own), float(np.quantile(own, 0.75))
            found.setdefault(name, []).append([count, float(f"{least:.3g}"), float(f"{quartile:.3g}")])
            print(f"{count:6} {name:16} {least:9.4f} ms, {quartile / least:5.2f} x in the upper quartile")
    return found


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=25)
    runs = parser.parse_args().runs
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, broadphase {bp.__version__}; least of {runs} runs"
    )
    lines = [f'    "{name}": {json.dumps(rows)}' for name, rows in measure(runs).items()]
    text = f'{{\n  "machine": {json.dumps(machine)},\n  "methods": {{\n' + ",\n".join(lines) + "\n  }\n}\n"
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
