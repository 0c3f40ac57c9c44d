"""Pictures of boxes, of pairs, and of cells with their counts (needs matplotlib, the extra ``plot``).

Each function draws on Axes that it is given or on a new figure of its own, never on pyplot's current one:
it needs no display and leaves no global state behind.  Boxes become one collection each, so that ten
thousand take a fraction of a second.
"""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from broadphase.errors import need
from broadphase.inputs.arrays import BOXES, settled
from broadphase.inputs.boxes import BoxArray, as_boxes
from broadphase.inputs.numeric import real
from broadphase.inputs.search import pairs_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "draw_boxes", "draw_cells", "draw_pairs", "draw_world"]

Projection = Literal["xy", "xz", "yz"]

# Blue and vermilion of Okabe and Ito's palette, which is safe for the colour-blind; cells are grey, so that
# no third hue is needed.
PLAIN = "#0072B2"
OVERLAPPING = "#D55E00"
DARKEST_CELL = 0.45  # of black, on which boxes and numbers are still legible
_CELLS = ["#60606000", "#606060"]  # the ground shows through empty cells, light or dark

_FAR = 1e150  # treated as infinite; up to here, matplotlib multiplies widths without overflow
_MOST_CELLS = 1_000_000
_MOST_NUMBERS = 900
_MOST_BORDERS = 80  # cells across; more borders than that would hide the cells
_MOST_ASPECT = 30.0  # a longer world fills the figure instead of keeping its aspect ratio
_MARGIN = 0.02


def draw_boxes(
    boxes: Any,
    *,
    ax: "Axes | None" = None,
    color: str = PLAIN,
    fill: float = 0.25,
    projection: Projection | None = None,
) -> "Axes":
    """Draw boxes as rectangles.

    Parameters
    ----------
    boxes : array_like
        ``(n, 4)`` boxes, or ``(n, 6)`` with a ``projection``.  Infinite edges lie outside the picture.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if it is not given.
    color : str
        The colour of edges and filling.
    fill : float
        How opaque the filling is, 0 to 1.
    projection : {"xy", "xz", "yz"}, optional
        From which side 3-D boxes are seen.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on; ``axes.figure`` is the figure.

    Raises
    ------
    ValueError
        The boxes are unsound, or 3-D without a projection.
    MissingExtraError
        matplotlib is not installed.

    Examples
    --------
    >>> axes = draw_boxes([[0, 0, 2, 2], [1, 1, 3, 3]])
    >>> axes.figure.savefig("boxes.png")  # doctest: +SKIP
    """
    flat = _flat(boxes, projection)
    ax = _prepared(ax, flat, projection)
    _add_rectangles(ax, flat, color, fill, zorder=2)
    return ax


def draw_pairs(
    boxes: Any,
    pairs: Any,
    *,
    ax: "Axes | None" = None,
    links: bool = True,
    projection: Projection | None = None,
) -> "Axes":
    """Draw boxes, those that overlap in another colour, and a line between the centres of each pair.

    Parameters
    ----------
    pairs : array_like
        ``(m, 2)`` rows of ``boxes``, such as `broadphase.pairs` returns.
    links : bool
        Whether to draw the lines; boxes that reach to infinity have none.
    boxes, ax, projection
        As for `draw_boxes`.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    TypeError, ValueError, MissingExtraError
        As `draw_boxes`; or a pair is not a pair of rows.

    Examples
    --------
    >>> axes = draw_pairs([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]], [[0, 1]])
    """
    flat = _flat(boxes, projection)
    rows = pairs_of_rows(settled(pairs, "pairs"), "pairs", len(flat), len(flat))
    ax = _prepared(ax, flat, projection)
    overlapping = np.zeros(len(flat), np.bool_)
    overlapping[rows] = True
    _add_rectangles(ax, flat[~overlapping], PLAIN, 0.25, zorder=2)
    _add_rectangles(ax, flat[overlapping], OVERLAPPING, 0.35, zorder=3)
    if links and len(rows):
        from matplotlib.collections import LineCollection

        centres = flat[:, :2] / 2 + flat[:, 2:] / 2
        centres[(np.abs(flat) >= _FAR).any(axis=1)] = np.nan  # an infinite box has no centre
        segments = centres[rows]
        segments = segments[np.isfinite(segments).all(axis=(1, 2))]
        ink = ax.title.get_color()  # black, or what is legible on the ground of a style
        lines = LineCollection(list(segments), colors=ink, linewidths=0.8, zorder=4)
        ax.add_collection(lines, autolim=False)
    return ax


def draw_cells(
    boxes: Any,
    cell_size: float,
    *,
    ax: "Axes | None" = None,
    numbers: bool | None = None,
    projection: Projection | None = None,
) -> "Axes":
    """Draw the cells of a grid, fuller ones in a stronger grey, with the number of boxes in the middle.

    A box counts in every cell that it touches.  Cell borders are the multiples of ``cell_size``.

    Parameters
    ----------
    boxes : array_like
        ``(n, 4)`` boxes, or ``(n, 6)`` with a ``projection``.
    cell_size : float
        The side of a cell.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if it is not given.
    numbers : bool, optional
        Whether to write the numbers; if it is not given, if they fit.
    projection : {"xy", "xz", "yz"}, optional
        From which side 3-D boxes are seen; the cells are then columns through the world.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    ValueError
        The boxes are unsound or 3-D without a projection, or ``cell_size`` is not positive or would cut
        the world into more than a million cells.
    MissingExtraError
        matplotlib is not installed.

    Examples
    --------
    >>> axes = draw_cells([[0, 0, 2, 2], [1, 1, 3, 3]], cell_size=1)
    """
    from matplotlib.colors import LinearSegmentedColormap

    flat = _flat(boxes, projection)
    columns, rows, counts = count_cells(flat, cell_size)
    ax = _prepared(ax, flat, projection)
    fullest = max(1, int(counts.max(initial=0)))
    ax.pcolormesh(
        columns,
        rows,
        counts,
        cmap=LinearSegmentedColormap.from_list("cells", _CELLS),
        vmin=0,
        vmax=fullest / DARKEST_CELL,
        edgecolors="#80808060",
        linewidth=0.5 if max(counts.shape) <= _MOST_BORDERS else 0,
        zorder=0,
    )
    if numbers is None:
        numbers = bool(np.count_nonzero(counts) <= _MOST_NUMBERS)
    if numbers:
        _write_numbers(ax, columns, rows, counts)
    return ax


def draw(
    boxes: Any,
    pairs: Any = None,
    *,
    cell_size: float | None = None,
    links: bool = True,
    title: str = "",
    projection: Projection | None = None,
) -> "Figure":
    """Draw boxes, the pairs among them and the cells under them in one figure.

    Parameters
    ----------
    boxes : array_like
        ``(n, 4)`` boxes, or ``(n, 6)`` with a ``projection``.
    pairs : array_like, optional
        ``(m, 2)`` rows of ``boxes``; without them all boxes look alike.
    cell_size : float, optional
        The side of the cells; without it none are drawn.
    links : bool
        Whether to draw a line between the centres of each pair.
    title : str
        The title above the picture.
    projection : {"xy", "xz", "yz"}, optional
        From which side 3-D boxes are seen.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("boxes.png")``.

    Raises
    ------
    ValueError
        As `draw_boxes`, `draw_pairs` and `draw_cells`.
    MissingExtraError
        matplotlib is not installed.

    Examples
    --------
    >>> boxes = [[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]]
    >>> figure = draw(boxes, [[0, 1]], cell_size=2)
    >>> figure.savefig("boxes.png")  # doctest: +SKIP
    """
    flat = _flat(boxes, projection)
    ax = _prepared(None, flat, projection)
    if cell_size is not None:
        draw_cells(flat, cell_size, ax=ax)
    if pairs is None:
        draw_boxes(flat, ax=ax)
    else:
        draw_pairs(flat, pairs, ax=ax, links=links)
    ax.set_title(title)
    return _figure(ax)


def draw_world(world: Any, view: Any = None, *, ax: "Axes | None" = None, **options: Any) -> "Axes":
    """Draw what a world sees: bodies by their tags, sensors dashed, tiles, contacts.

    Parameters
    ----------
    world : World
    view : Box or (float, float, float, float), optional
        What is seen of it; all of it if not given.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure, with y down as on a screen, if it is not given.
    **options
        ``show`` and ``colors`` of `broadphase.World.outlines`.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Examples
    --------
    >>> import broadphase as bp
    >>> world = bp.World()
    >>> ball = world.add(bp.Circle(5, 5, 2), tag="ball")
    >>> axes = bp.plot.draw_world(world)
    >>> axes.figure.savefig("world.png")  # doctest: +SKIP
    """
    found = [(one, one.segments()) for one in world.outlines(view, **options)]
    ends = [lines.min(axis=1) for _, lines in found] + [lines.max(axis=1) for _, lines in found]
    points = np.concatenate([np.empty((0, 2)), *ends])
    has_own_figure = ax is None
    ax = _prepared(ax, np.hstack((points, points)), None)
    if has_own_figure:
        ax.invert_yaxis()
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    # Yellow is seen on a white ground, and blue on a dark one, by a rim in the colour of the text.
    rim = withStroke(linewidth=2.4, foreground=ax.title.get_color(), alpha=0.4)
    for one, lines in found:
        color = one.color if isinstance(one.color, str) else tuple(np.array(one.color) / 255.0)
        style = "dashed" if one.kind == "sensor" else "solid"
        drawn = LineCollection(
            list(lines), colors=[color], linestyles=style, linewidths=1.2, path_effects=[rim]
        )
        ax.add_collection(drawn)
    return ax


def _flat(boxes: Any, projection: Projection | None) -> npt.NDArray[np.float64]:
    """The boxes as seen from one side: ``(n, 4)``."""
    if projection not in (None, "xy", "xz", "yz"):
        raise ValueError(f"projection must be 'xy', 'xz' or 'yz'; got {projection!r}")
    array = as_boxes(settled(boxes, "boxes", BOXES))
    if array.shape[1] == 6:
        if projection is None:
            raise ValueError(
                "boxes are 3-D; give projection='xy', 'xz' or 'yz' to say from which side to draw them"
            )
        axes = ["xyz".index(axis) for axis in projection]
        array = array[:, [*axes, *(3 + axis for axis in axes)]]
    elif projection is not None:
        raise ValueError(f"boxes are 2-D; projection={projection!r} is for 3-D boxes")
    return np.clip(array.astype(np.float64), -_FAR, _FAR)


def _finite_bounds(flat: BoxArray) -> npt.NDArray[np.float64]:
    """``[min_x, min_y, max_x, max_y]`` around all edges that are not infinite; a unit square around none."""
    bounds = np.array([0.0, 0.0, 1.0, 1.0])
    for axis in range(2):
        values = flat[:, [axis, 2 + axis]]
        values = values[np.abs(values) < _FAR]
        if len(values):
            bounds[[axis, 2 + axis]] = values.min(), values.max()
    return bounds


def _prepared(ax: "Axes | None", flat: BoxArray, projection: Projection | None) -> "Axes":
    """Axes whose limits include the boxes; new axes get labels and keep the aspect ratio of the world."""
    need("matplotlib", extra="plot", purpose="drawing")
    bounds = _finite_bounds(flat)
    if ax is not None and not hasattr(ax, "update_datalim"):
        raise TypeError(f"ax must be axes of Matplotlib; got {ax!r}")
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=(8, 8), layout="constrained").add_subplot()
        width, height = bounds[2:] - bounds[:2]
        if width <= _MOST_ASPECT * height and height <= _MOST_ASPECT * width:
            ax.set_aspect("equal")
        ax.margins(_MARGIN)
        ax.use_sticky_edges = False
        horizontal, vertical = projection or "xy"
        ax.set_xlabel(horizontal)
        ax.set_ylabel(vertical)
    ax.update_datalim(bounds.reshape(2, 2))
    ax.autoscale_view()
    return ax


def _add_rectangles(ax: "Axes", flat: BoxArray, color: str, fill: float, zorder: int) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    # Far outside, but not so far that the renderer loses precision.
    bounds = _finite_bounds(flat)
    reach = 100 * np.maximum(bounds[2:] - bounds[:2], 1)
    low_x, low_y = np.maximum(flat[:, :2], bounds[:2] - reach).T
    high_x, high_y = np.minimum(flat[:, 2:], bounds[2:] + reach).T
    corners = np.stack(
        [np.stack([low_x, high_x, high_x, low_x], 1), np.stack([low_y, low_y, high_y, high_y], 1)], 2
    )
    rectangles = PolyCollection(
        list(corners), facecolors=to_rgba(color, fill), edgecolors=color, linewidths=0.7, zorder=zorder
    )
    ax.add_collection(rectangles, autolim=False)
    points = flat[((flat[:, :2] == flat[:, 2:]) & (np.abs(flat[:, :2]) < _FAR)).all(axis=1)]
    if len(points):  # a polygon without extent would be invisible
        ax.scatter(points[:, 0], points[:, 1], s=6, c=color, linewidths=0, zorder=zorder)


def count_cells(
    flat: BoxArray, cell_size: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Borders of the columns, borders of the rows, and the number of boxes in each cell ``[row, column]``."""
    cell_size = real(cell_size, "cell_size", "a number")
    if not (np.isfinite(cell_size) and cell_size > 0):
        raise ValueError(f"cell_size must be positive and finite; got {cell_size!r}")
    bounds = _finite_bounds(flat)
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow means too many cells
        first, last = np.floor(bounds[:2] / cell_size), np.floor(bounds[2:] / cell_size)
        shape = last - first + 1
    if not shape.prod() <= _MOST_CELLS:
        raise ValueError(
            f"cell_size = {cell_size:g} would make {shape[0]:.4g} x {shape[1]:.4g} cells; "
            f"{_MOST_CELLS} are the most that can be drawn, take larger ones"
        )
    columns, rows = int(shape[0]), int(shape[1])
    low = np.floor(np.clip(flat[:, :2], bounds[:2], bounds[2:]) / cell_size) - first
    high = np.floor(np.clip(flat[:, 2:], bounds[:2], bounds[2:]) / cell_size) - first
    (left, bottom), (right, top) = low.astype(np.int64).T, high.astype(np.int64).T
    # Each box adds one at its first cell and subtracts it after its last, on both axes; running sums then
    # give the counts, however many cells a box touches.
    steps = np.zeros((rows + 1, columns + 1), np.int64)
    np.add.at(steps, (bottom, left), 1)
    np.add.at(steps, (bottom, right + 1), -1)
    np.add.at(steps, (top + 1, left), -1)
    np.add.at(steps, (top + 1, right + 1), 1)
    counts = steps.cumsum(axis=0).cumsum(axis=1)[:-1, :-1]
    return (
        (first[0] + np.arange(columns + 1)) * cell_size,
        (first[1] + np.arange(rows + 1)) * cell_size,
        counts,
    )


def _write_numbers(
    ax: "Axes", columns: npt.NDArray[np.float64], rows: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]
) -> None:
    from matplotlib.patheffects import withStroke

    points = 72 * min(_figure(ax).get_size_inches())
    size = float(np.clip(0.35 * points / max(counts.shape), 3, 14))
    halo = [withStroke(linewidth=size / 5, foreground="white", alpha=0.8)]  # over boxes of any colour
    for row, column in np.argwhere(counts):
        ax.text(
            columns[column : column + 2].mean(),
            rows[row : row + 2].mean(),
            str(counts[row, column]),
            ha="center",
            va="center",
            fontsize=size,
            color="black",
            path_effects=halo,
            clip_on=True,
            zorder=5,
        )


def _figure(ax: "Axes") -> "Figure":
    figure: Figure = ax.figure.figure  # of a subfigure too; Pyodide's matplotlib has no get_figure(root=True)
    return figure
