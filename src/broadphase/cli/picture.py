"""The picture that the demo leaves: the whole world, and its middle close up with cells and pairs."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import pairs as find_pairs
from broadphase.boxes import BoxArray, PairArray
from broadphase.errors import FileError
from broadphase.extras import need
from broadphase.files.writing import whole_file
from broadphase.plot import draw_cells, draw_pairs

CELL_SIZE = 6.0  # twice the widest ball
_CELLS_ACROSS = 6


def check_output(output: str) -> None:
    """Raise before the work what `save_picture` would raise after it.

    Raises
    ------
    FileError
        There is no such folder, or matplotlib knows no such format.
    MissingExtraError
        matplotlib is not installed.
    """
    bases = need("matplotlib.backend_bases", extra="plot", purpose="drawing the last frame")
    formats = bases.FigureCanvasBase.get_supported_filetypes()
    if _format(output) not in formats:
        raise FileError(f"{output}: the name of a picture ends in .{', .'.join(formats)}")
    if not Path(output).resolve().parent.is_dir():
        raise FileError(f"{output}: No such folder")


def _format(output: str) -> str:
    return Path(output).suffix.lower().removeprefix(".")


def save_picture(boxes: BoxArray, pairs: PairArray, radii: npt.NDArray[Any], output: str) -> None:
    """Draw the boxes of the balls and their pairs, and write the file ``output``, whole or not at all.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 8), layout="constrained")
    whole, middle = figure.subplots(1, 2)
    for ax in (whole, middle):
        ax.set_aspect("equal")
        ax.margins(0.01)
    _draw_whole(whole, boxes, pairs)
    _draw_middle(middle, boxes, radii)
    with whole_file(Path(output)) as file:
        figure.savefig(file, dpi=100, format=_format(output))


def _draw_whole(ax: Any, boxes: BoxArray, pairs: PairArray) -> None:
    draw_pairs(boxes, pairs, ax=ax, links=False)
    overlapping = len(np.unique(pairs))
    ax.set_title(f"{len(boxes)} balls, {len(pairs)} pairs of boxes overlap ({overlapping} boxes, orange)")


def _draw_middle(ax: Any, boxes: BoxArray, radii: npt.NDArray[Any]) -> None:
    from matplotlib.collections import EllipseCollection

    centre = (boxes[:, :2].min(axis=0) + boxes[:, 2:].max(axis=0)) / 2
    low = np.floor(centre / CELL_SIZE - _CELLS_ACROSS / 2) * CELL_SIZE
    high = low + _CELLS_ACROSS * CELL_SIZE
    seen = ((boxes[:, 2:] > low) & (boxes[:, :2] < high)).all(axis=1)
    boxes, widths = boxes[seen], 2 * radii[seen]
    draw_cells(boxes, CELL_SIZE, ax=ax, numbers=True)
    draw_pairs(boxes, find_pairs(boxes), ax=ax)
    balls = EllipseCollection(
        widths,
        widths,
        np.zeros(len(widths)),
        units="xy",
        offsets=(boxes[:, :2] + boxes[:, 2:]) / 2,
        offset_transform=ax.transData,
        facecolors="none",
        edgecolors="black",
        linewidths=0.4,
        zorder=3,
    )
    ax.add_collection(balls, autolim=False)
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_title("The middle, with the number of boxes in each cell")
