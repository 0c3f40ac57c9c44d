"""What each step of the tour shows: its methods, its slider, and the balls for every value of it.

The words stand in the page (``page/index.html``), the engine's part in `broadphase.lab.tour.pictures`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from broadphase.lab.tour.room import BALLS, Balls, balls, moved, squeezed


class Setting(NamedTuple):
    """What the engine is given for one value of the slider in one frame."""

    now: Balls
    before: Balls | None = None
    """The frame before, for methods that keep something from it."""
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed
    """Of the index, as a program would write them."""
    cell_size: float | None = None
    """Of the indexes with cells, where they are shown beside others."""
    cut: int | None = None
    """Into how many strips the world is cut."""


@dataclass(frozen=True)
class Step:
    """One step."""

    name: str
    """In the address of the page."""
    methods: tuple[str, ...]
    values: tuple[float, ...]
    """What the slider can be set to."""
    start: int
    """Where it stands at first."""
    frames: int
    """How many frames there are to be played; 1 where the balls lie still."""
    places: tuple[int, int]
    """Columns and rows of the places at which a recording has the dragged ball."""
    make: Callable[[float, int], Setting]
    """From a value of the slider and a frame."""


def _one_against_all(count: float, frame: int) -> Setting:
    return Setting(balls(int(count)))


def _sorted(share: float, frame: int) -> Setting:
    return Setting(squeezed(balls(BALLS), share), options={"axis": 0})


def _kept(step: float, frame: int) -> Setting:
    room = balls(BALLS)
    return Setting(moved(room, step * (frame + 1)), moved(room, step * frame))


def _cells(size: float, frame: int) -> Setting:
    room = balls(BALLS)
    return Setting(room, options={"cell_size": size, "bounds": (0.0, 0.0, room.width, room.height)})


def _hashed(slots: float, frame: int) -> Setting:
    return Setting(balls(BALLS), options={"cell_size": BEST_CELL, "table_size": int(slots)})


def _tree(count: float, frame: int) -> Setting:
    # The tree is made with the ball at home, so that its leaf is seen to stretch after it.
    room = balls(int(count))
    return Setting(room, room)


def _strips(count: float, frame: int) -> Setting:
    return Setting(balls(BALLS), cut=int(count))


def _together(count: float, frame: int) -> Setting:
    # A frame in which everything moves: an index that keeps something must not gain from a standstill.
    room = balls(int(count))
    return Setting(room, moved(room, _A_LITTLE), cell_size=BEST_CELL)


_A_LITTLE = 2.0
BEST_CELL = 60.0
"""The size of cells with the least work in the step about cells; the steps behind it use it."""
EDGE = 24.0
"""How far from the walls the places of a recording begin."""
_FINE, _COARSE, _FEW = (25, 15), (11, 7), (5, 3)

STEPS = (
    Step("all", ("brute_force",), (3, 6, 9, 12, 16, 20, 24), 6, 1, _FINE, _one_against_all),
    Step("sorted", ("sort_and_sweep",), (1.0, 0.8, 0.6, 0.4, 0.25, 0.1, 0.0), 0, 1, _FINE, _sorted),
    Step("kept", ("sweep_and_prune",), (0.0, 1.0, 3.0, 10.0, 30.0), 1, 8, _COARSE, _kept),
    Step("cells", ("uniform_grid",), (12, 18, 27, 40, 60, 90, 135, 300), 6, 1, _FINE, _cells),
    Step("slots", ("spatial_hash",), (1, 2, 3, 5, 11, 17, 37, 67, 127), 4, 1, _FINE, _hashed),
    Step("tree", ("box_tree",), (8, 16, 24, 48, 96, 192), 2, 1, _FINE, _tree),
    Step("strips", ("strips",), (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24), 3, 1, _FINE, _strips),
    Step(
        "together",
        ("brute_force", "sort_and_sweep", "uniform_grid", "spatial_hash", "box_tree", "strips"),
        (24, 48, 96, 192, 384, 768, 1536, 3072, 6144, 12288),
        0,
        1,
        _FEW,
        _together,
    ),
)
BY_NAME = {step.name: step for step in STEPS}


def places(step: Step, room: Balls) -> np.ndarray[Any, np.dtype[np.float64]]:
    """``(columns * rows, 2)``: where a recording has the dragged ball, row by row.

    Examples
    --------
    >>> places(BY_NAME["all"], balls(24))[0].tolist()
    [24.0, 24.0]
    """
    columns, rows = step.places
    x = np.linspace(EDGE, room.width - EDGE, columns)
    y = np.linspace(EDGE, room.height - EDGE, rows)
    return np.column_stack([np.tile(x, rows), np.repeat(y, columns)])
