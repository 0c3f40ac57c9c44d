"""Which index answers a frame fastest, over four properties of a scene: the data of the map "who wins".

    python benchmarks/who_wins.py [--out FILE] [--seconds 0.1]
                                  [--ask ...] [--n ...] [--share ...] [--spread ...] [--layout ...]

A frame moves a share of the boxes by a tenth of their size (`move_many`, or `update` if all move), then
asks for `pairs()`, for `changes()`, or for the boxes in each of 100 boxes (one `query_box`).  The scenes
differ in the number of boxes, the share that moves, the spread of sizes (the largest side divided by the
smallest) and the layout; each has about two pairs per box.  The indexes have no options but ``sort=False``
and float32.  In every scene all indexes must return the same in three frames before they are timed.

An index that took more than 20 times as long as the best among a tenth of the boxes, or more than 40 times
in the least of some trial frames, is not timed further, and the data says "more than 20 times" (null).
``--out`` writes the data after every scene, and first reads what is there: the same command continues a run
that was stopped, and measures what the options select and the file does not hold.  A scene that was never
measured is null.  The page has the data as `src/broadphase/tour/page/map.json`; `verdicts.py` then writes
what follows from it in words.
"""

import argparse
import itertools
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from catalogue import Boxes
from frames import frames
from timing import best_of

import broadphase as bp
from broadphase.indexes import CLASSES

AXES = {
    "ask": ("pairs", "changes", "queries"),
    "n": (100, 1_000, 10_000, 100_000),
    "share": (0.0, 0.01, 0.1, 1.0),
    "spread": (1, 10, 1_000),
    "layout": ("uniform", "clumped", "line"),
}
METHODS = tuple(sorted(bp.INDEXES))
Scene = tuple[Any, ...]
"""A value of each axis."""
TOO_SLOW = 20
_CROWDS = 10
_STEP = 0.1
_PAIRS_PER_BOX = 2
_QUERIES = 100
_TRIALS, _PATIENCE = 12, 0.5


def scene(n: int, spread: float, layout: str) -> Boxes:
    """``n`` squares with about two pairs per box, their centres in the unit square.

    *uniform* is spread evenly; *clumped* is ten crowds, each with a deviation of a hundredth of the square;
    in a *line* all centres have the same y.  Sides are spread evenly on a log scale.
    """
    rng = np.random.default_rng([n, int(spread), AXES["layout"].index(layout)])
    centers = rng.random((n, 2))
    if layout == "clumped":
        centers = rng.random((_CROWDS, 2))[rng.integers(0, _CROWDS, n)] + rng.normal(scale=0.01, size=(n, 2))
    elif layout == "line":
        centers[:, 1] = 0.5
    halves = float(spread) ** rng.random((n, 1))

    def scaled(scale: float) -> Boxes:
        return np.hstack([centers - scale * halves, centers + scale * halves]).astype(np.float32)

    scale = 1e-9
    while bp.count_pairs(scaled(scale)) < _PAIRS_PER_BOX * n:
        scale *= 2
    low = scale / 2
    for _ in range(7):
        middle = (low + scale) / 2
        if bp.count_pairs(scaled(middle)) < _PAIRS_PER_BOX * n:
            low = middle
        else:
            scale = middle
    return scaled(scale)


ASKS: dict[str, Callable[[bp.Index, Boxes], Any]] = {
    "pairs": lambda index, queries: index.pairs(),
    "changes": lambda index, queries: index.changes(),
    "queries": lambda index, queries: index.query_box(queries),
}


def made(name: str, boxes: Boxes, share: float, ask: str) -> Callable[[], Any]:
    """A frame of an index that holds the boxes: a call that moves them and returns the answer."""
    index = bp.make_index(name, dtype=np.float32, sort=False)
    index.insert_many(boxes)
    answer, queries = ASKS[ask], boxes[:: len(boxes) // min(len(boxes), _QUERIES)]
    coming = frames(boxes, share, _STEP)

    def frame() -> Any:
        if share:
            ids, rows = next(coming)
            if share == 1:
                index.update(rows)
            else:
                index.move_many(ids, rows)
        return answer(index, queries)

    return frame


def _check(calls: dict[str, Callable[[], Any]]) -> None:
    """Run three frames of each; all indexes must return the same rows in each."""
    for _ in range(3):
        expected = None
        for name, call in calls.items():
            answer = call()
            found = np.vstack([answer.began, answer.ended]) if isinstance(answer, bp.PairChanges) else answer
            found = found[np.lexsort(found.T)]
            if expected is not None and not np.array_equal(found, expected):
                raise SystemExit(f"{name} returns other rows than {next(iter(calls))}")
            expected = found


def _least(call: Callable[[], Any]) -> float:
    """The least time of some trial frames: an index may build something in the first ones."""
    begin, least = time.perf_counter(), np.inf
    for turn in range(_TRIALS):
        before = time.perf_counter()
        call()
        now = time.perf_counter()
        least = min(least, now - before)
        if turn >= 2 and now - begin > _PATIENCE:
            break
    return least


def measure(boxes: Boxes, share: float, ask: str, names: list[str], seconds: float) -> dict[str, float]:
    """The least time of a frame of each index that is worth timing, in seconds."""
    calls = {name: made(name, boxes, share, ask) for name in names}
    _check(calls)
    probed = {name: _least(call) for name, call in calls.items()}
    hopeless = 2 * TOO_SLOW * min(probed.values())
    worth = {name: call for name, call in calls.items() if probed[name] <= hopeless}
    best = best_of(worth, seconds)
    return {name: took for name, took in best.items() if took <= TOO_SLOW * min(best.values())}


def read(path: Path | None) -> dict[Scene, list[float | None] | None]:
    """What a file holds of each scene; None for what was not measured, or not with these indexes."""
    cells: dict[Scene, list[float | None] | None] = dict.fromkeys(itertools.product(*AXES.values()))
    if path and path.exists():
        data = json.loads(path.read_text("utf-8"))
        if data["axes"] == json.loads(json.dumps(AXES)) and data["methods"] == [*METHODS]:
            cells = dict(zip(cells, data["cells"], strict=True))
    return cells


def write(path: Path, cells: dict[Scene, list[float | None] | None]) -> None:
    """Write what is known; a run that is stopped leaves the whole file as it was, or is."""
    auto, cores = bp.make_index().name, os.cpu_count()
    head = {"axes": AXES, "methods": METHODS, "auto": auto, "classes": CLASSES, "cores": cores}
    lines = ",\n".join(json.dumps(cells[key]) for key in itertools.product(*AXES.values()))
    new = path.with_suffix(".new")
    new.write_text(f'{json.dumps(head)[:-1]}, "cells": [\n{lines}\n]}}\n', "utf-8")
    new.replace(path)


def summary(cells: dict[Scene, list[float | None] | None]) -> str:
    """How the default compares with the best of the others."""
    found, k = [], METHODS.index(bp.make_index().name)
    for cell in cells.values():
        if cell:
            own, *others = (
                TOO_SLOW if time is None else time for time in (cell[1 + k], *cell[1 : 1 + k], *cell[2 + k :])
            )
            found.append(own / min(others))
    if not found:
        return "nothing was measured"
    ratios = np.array(found)
    return (
        f"{METHODS[k]} / best of the others in {len(ratios)} scenes: median {np.median(ratios):.2f}, "
        f"at most 1.25 in {(ratios <= 1.25).mean():.1%}, at most 1.6 in {(ratios <= 1.6).mean():.1%}, "
        f"worst {ratios.max():.2f}"
    )


def main() -> None:
    """Print the ratios of every scene, and write the data of the map."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    for axis, values in AXES.items():
        parser.add_argument(f"--{axis}", type=type(values[0]), nargs="+", default=values, choices=values)
    parser.add_argument("--seconds", type=float, default=0.1, help="for each index and scene")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    begin = time.perf_counter()
    cells = read(options.out)
    print("asks       n moves spread layout  ", *(f"{name:>15}" for name in METHODS), "  best, ms")
    for n, spread, layout in itertools.product(options.n, options.spread, options.layout):
        left = [
            (ask, share)
            for ask, share in itertools.product(options.ask, options.share)
            if not cells[ask, n, share, spread, layout]
        ]
        boxes = scene(n, spread, layout) if left else None
        for ask, share in left:
            fewer = cells.get((ask, n // 10, share, spread, layout)) or [0.0] * (1 + len(METHODS))
            names = [name for name, times in zip(METHODS, fewer[1:], strict=True) if times is not None]
            best = measure(boxes, share, ask, names, options.seconds)
            least = min(best.values())
            times = [float(f"{best[name] / least:.3g}") if name in best else None for name in METHODS]
            cells[ask, n, share, spread, layout] = [float(f"{1e3 * least:.3g}"), *times]
            row = " ".join(f"{f'over {TOO_SLOW}' if ratio is None else ratio:>15}" for ratio in times)
            print(
                f"{ask:<7}{n:>8,} {share:>5.0%} {spread:>6,} {layout:<8} {row} {1e3 * least:>10.3g}",
                flush=True,
            )
            if options.out:
                write(options.out, cells)
    print(f"{time.perf_counter() - begin:.0f} s; {summary(cells)}")


if __name__ == "__main__":
    main()
