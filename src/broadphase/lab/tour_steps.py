"""The steps of the tour: the methods, the slider, and the balls for every value of it.

The balls always lie in the same places, spread evenly, and a few touch.  The texts of the steps are in
``page/index.html``; `broadphase.lab.tour` makes the pictures.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float64]

WIDTH, HEIGHT = 480.0, 300.0
BALLS = 24
_SEED = 735
_RADII = (10.0, 18.0)
_HELD_RADIUS = 15.0
_MARGIN = 6.0


class Balls(NamedTuple):
    """Balls in a rectangle; ball 0 is the one that can be dragged."""

    centers: Vectors
    """``(n, 2)``"""
    radii: Vectors
    """``(n,)``"""
    width: float
    height: float


def balls(count: int, *, seed: int = _SEED) -> Balls:
    """``count`` balls in a rectangle that grows with them, so that it is always equally full.

    Fewer than 24 balls are the first of the 24.

    Examples
    --------
    >>> balls(24).centers.shape, balls(6).width, balls(96).width
    ((24, 2), 480.0, 960.0)
    """
    grown = max(count, BALLS)
    scale = float(np.sqrt(grown / BALLS))
    width, height = WIDTH * scale, HEIGHT * scale
    random = np.random.default_rng(seed)
    radii = random.uniform(*_RADII, grown)
    radii[0] = _HELD_RADIUS
    centers = _spread(random, radii, width, height)
    return Balls(centers[:count], radii[:count], width, height)


def _spread(random: np.random.Generator, radii: Vectors, width: float, height: float) -> Vectors:
    """One ball at a random place in each cell of a raster: no crowds and no pattern."""
    count = len(radii)
    columns = max(1, round(float(np.sqrt(count * width / height))))
    rows = -(-count // columns)
    spots = random.permutation(columns * rows)[:count]
    shift = random.uniform(0.0, 1.0, (count, 2))
    centers = (np.column_stack([spots % columns, spots // columns]) + shift) * (
        width / columns,
        height / rows,
    )
    low = radii[:, None] + _MARGIN
    kept: Vectors = np.clip(centers, low, np.array([width, height]) - low)
    # The ball that can be dragged starts in the middle.
    kept[0] = np.array([width, height]) * (0.5, 0.5)
    return kept


def squeezed(layout: Balls, share: float) -> Balls:
    """The same balls pushed together sideways: 1 leaves them in place, 0 puts them into one column."""
    centers = layout.centers.copy()
    middle = layout.width / 2
    centers[:, 0] = middle + (centers[:, 0] - middle) * share
    return layout._replace(centers=centers)


def moved(layout: Balls, far: float) -> Balls:
    """The same balls, each moved by about ``far`` in its own direction and reflected by the walls."""
    random = np.random.default_rng(_SEED + 1)
    angles = random.uniform(0, 2 * np.pi, len(layout.radii))
    motion = np.column_stack([np.cos(angles), np.sin(angles)]) * random.uniform(0.5, 1.5, (len(angles), 1))
    motion[0] = 0.0
    low = layout.radii[:, None] + _MARGIN
    span = np.array([layout.width, layout.height]) - 2 * low
    # Reflected by both walls: a triangle wave.
    there = (layout.centers + far * motion - low) % (2 * span)
    return layout._replace(centers=low + np.where(there > span, 2 * span - there, there))


# ---- the steps


class Setting(NamedTuple):
    """The input of the engine for one value of the slider in one frame."""

    now: Balls
    before: Balls | None = None
    """The frame before, for methods that keep data between frames."""
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed
    """The options of the index, as a program would write them."""
    cell_size: float | None = None
    """For the indexes with cells, when several methods are shown."""
    cut: int | None = None
    """How many strips there are."""


@dataclass(frozen=True)
class Step:
    """One step."""

    name: str
    """Used in the address of the page."""
    methods: tuple[str, ...]
    values: tuple[float, ...]
    """The values of the slider."""
    start: int
    """The index of its first value."""
    frames: int
    """How many frames can be played; 1 if the balls lie still."""
    places: tuple[int, int]
    """Columns and rows of places of the dragged ball in a recording."""
    make: Callable[[float, int], Setting]
    """Makes the setting for a value of the slider and a frame."""


def _one_against_all(count: float, frame: int) -> Setting:
    return Setting(balls(int(count)))


def _sorted(share: float, frame: int) -> Setting:
    return Setting(squeezed(balls(BALLS), share), options={"axis": 0})


def _kept(step: float, frame: int) -> Setting:
    layout = balls(BALLS)
    return Setting(moved(layout, step * (frame + 1)), moved(layout, step * frame))


def _cells(size: float, frame: int) -> Setting:
    layout = balls(BALLS)
    return Setting(layout, options={"cell_size": size, "bounds": (0.0, 0.0, layout.width, layout.height)})


def _hashed(slots: float, frame: int) -> Setting:
    return Setting(balls(BALLS), options={"cell_size": BEST_CELL, "table_size": int(slots)})


def _tree(count: float, frame: int) -> Setting:
    # The tree is built with the ball at its start, so that one sees its leaf stretch when it is dragged.
    layout = balls(int(count))
    return Setting(layout, layout)


def _strips(count: float, frame: int) -> Setting:
    return Setting(balls(BALLS), cut=int(count))


def _together(count: float, frame: int) -> Setting:
    # Everything moves, so that indexes which keep data between frames have no advantage.
    layout = balls(int(count))
    return Setting(layout, moved(layout, _A_LITTLE), cell_size=BEST_CELL)


_A_LITTLE = 2.0
BEST_CELL = 60.0
"""The cell size with the fewest tests in the step about cells; later steps use it."""
EDGE = 24.0
"""The distance of the outer places of a recording from the walls."""
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


def places(step: Step, layout: Balls) -> np.ndarray[Any, np.dtype[np.float64]]:
    """``(columns * rows, 2)``: the places of the dragged ball in a recording, row by row.

    Examples
    --------
    >>> places(BY_NAME["all"], balls(24))[0].tolist()
    [24.0, 24.0]
    """
    columns, rows = step.places
    x = np.linspace(EDGE, layout.width - EDGE, columns)
    y = np.linspace(EDGE, layout.height - EDGE, rows)
    return np.column_stack([np.tile(x, rows), np.repeat(y, columns)])
