"""The same calls on this machine, natively and in Pyodide, in turns: ``python -m benchmarks.browser WHEEL``.

Prints the table of ``docs/how-to/browser.md``.  The wheel is that of ``.ci/wheels emscripten-wasm32``.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import broadphase as bp

ROUNDS = 3


def processor_seconds():
    if sys.platform != "emscripten":
        return time.process_time()
    import js

    used = js.process.cpuUsage()
    return (used.user + used.system) / 1e6


def milliseconds(call, seconds=1.0):
    """The least of many measurements."""
    call()
    times, least = 1, np.inf
    end = processor_seconds() + seconds
    while processor_seconds() < end:
        begun = processor_seconds()
        for _ in range(times):
            call()
        took = processor_seconds() - begun
        if took < 0.05:
            times *= 2
        else:
            least = min(least, 1000 * took / times)
    return least


def boxes(random, n, dim=2):
    """Each meets about two others."""
    low = random.random((n, dim))
    return np.hstack([low, low + random.random((n, dim)) * 1.4 * n ** (-1 / dim)]).astype(np.float32)


def measure():
    """One round: milliseconds by call."""
    random, found = np.random.default_rng(1), {}
    for n in (100, 1_000, 10_000, 100_000, 1_000_000):
        some = boxes(random, n)
        found[f"`pairs`, {n:,} boxes"] = milliseconds(lambda some=some: bp.pairs(some, threads=1))
    solid = boxes(random, 100_000, 3)
    found["`pairs`, 100,000 boxes in 3-D"] = milliseconds(lambda: bp.pairs(solid, threads=1))
    points = random.random((10_000, 2))
    found["`neighbors` of 10,000 points"] = milliseconds(lambda: bp.neighbors(points, 0.02, threads=1))
    index, places = bp.make_index(), [boxes(random, 2_000) * 1000.0]
    ids = index.insert_many(places[0])
    places.append(places[0] + np.tile(random.normal(size=(2_000, 2)), 2))

    def frame():
        index.move_many(ids, places[1])
        index.changes()
        places.reverse()

    found["an index of 2,000 boxes: `move_many` and `changes`"] = milliseconds(frame)
    world = bp.World()
    bodies = [world.add(bp.Box(x, y, x1 - x, y1 - y)) for x, y, x1, y1 in places[0][:200].tolist()]

    def walk():
        for way in (1.0, -1.0):
            for body in bodies:
                world.move(body, way, way / 2)
            world.update()

    found["a world: 400 moves, 2 updates"] = milliseconds(walk)
    return found


def main():
    from tests.elsewhere import machines

    with TemporaryDirectory() as folder:
        machine = machines.emscripten_wasm32(Path(folder), [])
        machine.install(Path(sys.argv[1]).resolve())
        rounds = {"native": [], "browser": []}
        for _ in range(ROUNDS):
            rounds["native"].append(subprocess.check_output([sys.executable, __file__], text=True))
            rounds["browser"].append(machine.run(["benchmarks/browser.py"], {}).stdout)
    native, browser = ([json.loads(one) for one in all_of] for all_of in rounds.values())
    print("| call | native | browser | ratio |\n|---|---|---|---|")
    for name in native[0]:
        here, there = (min(one[name] for one in each) for each in (native, browser))
        print(f"| {name} | {here:.2g} | {there:.2g} | {there / here:.1f} |")


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else print(json.dumps(measure()))
