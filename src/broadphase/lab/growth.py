"""Time and tests against the number of bodies, measured there and then."""

from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np

from broadphase.boxes import BoxArray
from broadphase.lab.lanes import Lane
from broadphase.lab.scenes import make_scene
from broadphase.slices import stop_if_unwanted

SIZES = (20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
FRAMES = 4
# A method that needs longer than this for a frame is not asked about more bodies.
PATIENCE = 0.25

Report = Callable[[dict[str, Any]], None]


def scene_frames(
    scene: str, seed: int, given: BoxArray | None
) -> Callable[[int], tuple[list[BoxArray], Any]]:
    """For a number of bodies: some frames of a scene, or parts of given boxes; and what is static."""

    def frames(count: int) -> tuple[list[BoxArray], Any]:
        if given is not None:
            rows = np.sort(np.random.default_rng(seed).permutation(len(given))[:count])
            return [given[rows]] * FRAMES, np.zeros(len(rows), np.bool_)
        made = make_scene(scene, count=count, seed=seed)
        found = [made.boxes()]
        for _ in range(FRAMES - 1):
            made.step()
            found.append(made.boxes())
        return found, made.static

    return frames


def measure(
    methods: tuple[str, ...],
    frames: Callable[[int], tuple[list[BoxArray], Any]],
    most: int,
    report: Report,
) -> None:
    """Measure every method at every size, as long as somebody wants it; each result is reported at once.

    Parameters
    ----------
    methods : tuple of str
        Names of `broadphase.INDEXES`.
    frames : callable
        See `scene_frames`.
    most : int
        No more bodies than this.
    report : callable
        Given ``{"method", "count", "milliseconds", "tests", "done", "total"}``.

    Raises
    ------
    GivenUp
        Nobody wants it any more (`broadphase.threads.wanted_by`).
    """
    sizes = [size for size in SIZES if size <= most] or [most]
    total = len(sizes) * len(methods)
    going = dict.fromkeys(methods)
    done = 0
    for count in sizes:
        boxes, static = frames(count)
        for method in methods:
            stop_if_unwanted()
            done += 1
            if method in going:
                seconds, tests = _one(method, boxes, static)
                report(_point(method, count, seconds, tests, done, total))
                if seconds > PATIENCE:
                    del going[method]
            elif done == total:
                report({"done": done, "total": total})


def _one(method: str, boxes: list[BoxArray], static: Any) -> tuple[float, int]:
    """Seconds of a frame, the median of several, and the tests of the last."""
    lane = Lane(method, boxes[0], static)
    outcomes = list(_run(lane, boxes))
    return median(outcome.seconds for outcome in outcomes[1:]), outcomes[-1].stats.tests


def _run(lane: Lane, boxes: list[BoxArray]) -> Iterator[Any]:
    for frame in boxes:
        yield lane.run(frame)


def _point(method: str, count: int, seconds: float, tests: int, done: int, total: int) -> dict[str, Any]:
    return {
        "method": method,
        "count": count,
        "milliseconds": seconds * 1e3,
        "tests": tests,
        "done": done,
        "total": total,
    }
