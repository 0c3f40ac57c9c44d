"""``broadphase demo``: every method finds the same pairs of many balls, at very different costs.

The picture shows the last frame: the whole world, and a close-up of its middle with cells and pairs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from broadphase import methods, plot
from broadphase import pairs as find_pairs
from broadphase.api.one_shot import search
from broadphase.balls import BallSimulation
from broadphase.cli.terminal import DISAGREEMENT, Steps, complain
from broadphase.errors import FileError, need
from broadphase.inputs.boxes import BoxArray, as_boxes
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.search import as_filter
from broadphase.io.tables import whole_file
from broadphase.methods.pair_order import one_array
from broadphase.methods.task import Found, Task
from broadphase.runtime import threads
from broadphase.runtime.memory import PairArray, Scratch

CELL_SIZE = 6.0  # twice the widest ball
_CELLS_ACROSS = 6


def check_output(output: str) -> None:
    """Raise now what `save_picture` would raise after the work.

    Raises
    ------
    FileError
        There is no such folder, or the name has no known ending.
    MissingExtraError
        Matplotlib is not installed.
    """
    bases = need("matplotlib.backend_bases", extra="cli", purpose="drawing the last frame")
    formats = bases.FigureCanvasBase.get_supported_filetypes()
    if _format(output) not in formats:
        raise FileError(f"{output}: the name of a picture ends in .{', .'.join(formats)}")
    if not Path(output).resolve().parent.is_dir():
        raise FileError(f"{output}: No such folder")


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


REFERENCE = "brute_force"


def scattered(count: int, seed: int) -> BallSimulation:
    """Balls of one to three units across, which fill a third of a square box."""
    side = max(4.0, 3.0 * count**0.5)
    return BallSimulation(count, radius=(0.5, 1.5), bounds=(0.0, 0.0, side, side), speed=0.5, seed=seed)


def boxes_of(balls: BallSimulation) -> BoxArray:
    """The boxes of the balls, in float32 as in games."""
    return balls.boxes.astype(np.float32)


@dataclass
class Record:
    """The results of one method, frame by frame."""

    seconds: list[float] = field(default_factory=list)
    tests: list[int] = field(default_factory=list)
    pairs: list[int] = field(default_factory=list)
    scratch: Scratch = field(default_factory=Scratch)


class DisagreementError(Exception):
    """Two methods have found different pairs."""


def demo(balls: int, frames: int, seed: int, names: Sequence[str] | None, output: str) -> int:
    """Run the demonstration; 0 if all methods agree on every frame."""
    _check(balls, frames, output)
    names = list(dict.fromkeys(names or methods.NAMES))
    scene = scattered(balls, seed)
    records = {name: Record() for name in names}
    console = Console(soft_wrap=True, highlight=False)
    try:
        with Steps(patience=0) as steps:
            _load(boxes_of(scene), records)
            last_pairs = _run(scene, frames, records, steps.step(f"{balls} balls"))
            steps.step("Drawing")
            save_picture(boxes_of(scene), last_pairs, scene.radii, output)
    except DisagreementError as error:
        return complain(f"{error} (replay with --balls {balls} --seed {seed})", DISAGREEMENT)
    console.print(_table(records, balls, frames))
    console.print(_summary(len(names), frames, output), markup=False)
    return 0


def _summary(methods_run: int, frames: int, output: str) -> str:
    cores = threads.cores()
    agreement = f"All {methods_run} methods found the same pairs in each of the {frames} frames.\n"
    return (
        f"{agreement if methods_run > 1 else ''}"
        f"Times are medians of the search alone, on {cores} core{'s' * (cores > 1)}.\n"
        f"The last frame is drawn in {output}."
    )


def _check(balls: int, frames: int, output: str) -> None:
    if balls < 1 or frames < 1:
        raise FileError(f"there must be at least one ball and one frame; got {balls} and {frames}")
    check_output(output)


def _task(boxes: BoxArray, scratch: Scratch) -> Task:
    return Task(as_boxes(boxes), True, as_filter(len(boxes)), thread_count(None), scratch=scratch)


def _load(boxes: BoxArray, records: dict[str, Record]) -> None:
    """Search once by each method, so that imports and first allocations are not timed."""
    for name, record in records.items():
        _found_pairs(search(name, _task(boxes, record.scratch)), len(boxes))


def _run(
    scene: BallSimulation, frames: int, records: dict[str, Record], report: Callable[[int, int], None]
) -> PairArray:
    """Run all frames; returns the pairs of the last."""
    for frame in range(frames):
        scene.step(1.0)
        boxes = boxes_of(scene)
        expected: PairArray | None = None
        for name, record in records.items():
            task = _task(boxes, record.scratch)
            start = perf_counter()
            found = search(name, task)
            record.seconds.append(perf_counter() - start)
            record.tests.append(found.tests)
            record.pairs.append(found.pairs)
            pairs = _found_pairs(found, len(boxes))
            if expected is None:
                expected = pairs
            elif not np.array_equal(pairs, expected):
                raise DisagreementError(_difference(frame, next(iter(records)), expected, name, pairs))
        report(frame + 1, frames)
    assert expected is not None
    return expected


def _found_pairs(found: Found, n: int) -> PairArray:
    return one_array(found.chunks, n, sort=True)


def _difference(frame: int, first: str, expected: PairArray, second: str, pairs: PairArray) -> str:
    in_one = sorted(set(map(tuple, expected.tolist())) ^ set(map(tuple, pairs.tolist())))
    which = f"only one of them found {in_one[0]}" if in_one else "the same ones, some more than once"
    return (
        f"the methods disagree in frame {frame}: {first} found {len(expected)} pairs, "
        f"{second} found {len(pairs)}; {which}"
    )


def _table(records: dict[str, Record], balls: int, frames: int) -> Table:
    table = Table(title=f"{balls} balls, {frames} frames")
    table.add_column("method")
    for heading in ("tests a frame", "pairs a frame", "time a frame", "gain"):
        table.add_column(heading, justify="right")
    reference = records.get(REFERENCE)
    for name, record in records.items():
        gain = "" if reference is None else f"{median(reference.seconds) / median(record.seconds):.1f} x"
        table.add_row(
            name,
            f"{mean(record.tests):,.0f}",
            f"{mean(record.pairs):,.0f}",
            f"{1e3 * median(record.seconds):.3f} ms",
            gain,
        )
    return table
