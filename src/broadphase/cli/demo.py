"""``broadphase demo``: every method finds the same pairs of many balls, at very different costs.

The picture shows the last frame: the whole world, and a close-up of its middle with cells and pairs.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import methods, plot
from broadphase import pairs as find_pairs
from broadphase.api.one_shot import search
from broadphase.balls import BallSimulation
from broadphase.cli.terminal import DISAGREEMENT, Steps, complain
from broadphase.errors import FileError, need
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.search import as_filter
from broadphase.io.tables import check_place, whole_file
from broadphase.methods.pair_order import one_array
from broadphase.methods.task import Task
from broadphase.runtime import threads
from broadphase.runtime.memory import PairArray, Scratch

REFERENCE = "brute_force"
CELL_SIZE = 6.0  # twice the widest ball
_CELLS_ACROSS = 6


def check_output(output: str) -> None:
    """Raise now what `save_picture` would raise after the work.

    Raises
    ------
    FileError
        The name has no known ending.
    OSError
        There is no such folder, or the name is that of one.
    MissingExtraError
        Matplotlib is not installed.
    """
    bases = need("matplotlib.backend_bases", extra="cli", purpose="drawing the last frame")
    formats = bases.FigureCanvasBase.get_supported_filetypes()
    if _format(output) not in formats:
        raise FileError(f"{output}: the name of a picture ends in .{', .'.join(formats)}")
    check_place(output)


def _format(output: str) -> str:
    return Path(output).suffix.lower().removeprefix(".")


def save_picture(boxes: BoxArray, pairs: PairArray, radii: npt.NDArray[Any], output: str) -> None:
    """Draw the boxes of the balls and their pairs, and write the file ``output`` completely or not at all.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    from matplotlib.collections import EllipseCollection
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 8), layout="constrained")
    whole, middle = figure.subplots(1, 2, subplot_kw={"aspect": "equal"})
    plot.draw_pairs(boxes, pairs, ax=whole, links=False)
    overlapping = len(np.unique(pairs))
    whole.set_title(f"{len(boxes)} balls, {len(pairs)} pairs of boxes overlap ({overlapping} boxes, orange)")

    centre = (boxes[:, :2].min(axis=0) + boxes[:, 2:].max(axis=0)) / 2
    low = np.floor(centre / CELL_SIZE - _CELLS_ACROSS / 2) * CELL_SIZE
    high = low + _CELLS_ACROSS * CELL_SIZE
    seen = ((boxes[:, 2:] > low) & (boxes[:, :2] < high)).all(axis=1)
    boxes, radii = boxes[seen], radii[seen]
    plot.draw_cells(boxes, CELL_SIZE, ax=middle)
    plot.draw_pairs(boxes, find_pairs(boxes), ax=middle)
    circles = EllipseCollection(
        2 * radii,
        2 * radii,
        np.zeros(len(radii)),
        units="xy",
        offsets=(boxes[:, :2] + boxes[:, 2:]) / 2,
        transOffset=middle.transData,
        facecolors="none",
        edgecolors="black",
        linewidths=0.6,
    )
    middle.add_collection(circles)
    middle.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    middle.set_title("The middle, with the number of boxes in each cell")
    with whole_file(Path(output)) as file:
        figure.savefig(file, format=_format(output))


def scattered(count: int, seed: int) -> BallSimulation:
    """Balls of one to three units across, which fill a third of a square box."""
    side = max(4.0, 3.0 * count**0.5)
    return BallSimulation(count, radius=(0.5, 1.5), bounds=(0.0, 0.0, side, side), speed=0.5, seed=seed)


def boxes_of(balls: BallSimulation) -> BoxArray:
    """The boxes of the balls, in float32 as in games."""
    return balls.boxes.astype(np.float32)


class DisagreementError(Exception):
    """Two methods have found different pairs."""


def demo(balls: int, frames: int, seed: int, names: Sequence[str] | None, output: str) -> int:
    """Run the demonstration; 0 if all methods agree on every frame."""
    if balls < 1 or frames < 1:
        raise FileError(f"there must be at least one ball and one frame; got {balls} and {frames}")
    check_output(output)
    scratch = {name: Scratch() for name in names or methods.NAMES}
    scene = scattered(balls, seed)
    try:
        with Steps(patience=0) as steps:
            (seconds, tests, pairs), last = _run(scene, frames, scratch, steps.step(f"{balls} balls"))
            steps.step("Drawing")
            save_picture(boxes_of(scene), last, scene.radii, output)
    except DisagreementError as error:
        return complain(f"{error} (replay with --balls {balls} --seed {seed})", DISAGREEMENT)
    print(f"{balls} balls, {frames} frames")
    print(f"{'method':<16}{'tests a frame':>16}{'pairs a frame':>16}{'time a frame':>16}{'gain':>10}")
    middle = dict(zip(scratch, np.median(seconds, axis=1).tolist(), strict=True))
    for name, made, found in zip(scratch, tests.mean(axis=1), pairs.mean(axis=1), strict=True):
        gain = f"{middle[REFERENCE] / middle[name]:.1f} x" if REFERENCE in middle else ""
        print(f"{name:<16}{made:>16,.0f}{found:>16,.0f}{f'{1e3 * middle[name]:.3f} ms':>16}{gain:>10}")
    if len(scratch) > 1:
        print(f"All {len(scratch)} methods found the same pairs in each of the {frames} frames.")
    cores = threads.cores()
    print(f"Times are medians of the search alone, on {cores} core{'s' * (cores > 1)}.")
    print(f"The last frame is drawn in {output}.")
    return 0


def _run(
    scene: BallSimulation, frames: int, scratch: dict[str, Scratch], report: Callable[[int, int], None]
) -> tuple[npt.NDArray[np.float64], PairArray]:
    """Times, tests and numbers of pairs by method and frame, and the pairs of the last frame."""
    counts = np.zeros((3, len(scratch), frames))
    for name in scratch:  # once, so that imports and first allocations are not timed
        expected = _search(name, boxes_of(scene), scratch)[2]
    for frame in range(frames):
        scene.step(1.0)
        for k, name in enumerate(scratch):
            seconds, tests, pairs = _search(name, boxes_of(scene), scratch)
            counts[:, k, frame] = seconds, tests, len(pairs)
            if k == 0:
                expected = pairs
            elif not np.array_equal(pairs, expected):
                raise DisagreementError(_difference(frame, next(iter(scratch)), expected, name, pairs))
        report(frame + 1, frames)
    return counts, expected


def _search(name: str, boxes: BoxArray, scratch: dict[str, Scratch]) -> tuple[float, int, PairArray]:
    """How long a search took, how many tests it made, and its pairs."""
    task = Task(boxes, True, as_filter(len(boxes)), thread_count(None), scratch=scratch[name])
    start = perf_counter()
    found = search(name, task)
    seconds = perf_counter() - start
    return seconds, found.tests, one_array(found.chunks, len(boxes), sort=True)


def _difference(frame: int, first: str, expected: PairArray, second: str, pairs: PairArray) -> str:
    in_one = sorted(set(map(tuple, expected.tolist())) ^ set(map(tuple, pairs.tolist())))
    which = f"only one of them found {in_one[0]}" if in_one else "the same ones, some more than once"
    return (
        f"the methods disagree in frame {frame}: {first} found {len(expected)} pairs, "
        f"{second} found {len(pairs)}; {which}"
    )
