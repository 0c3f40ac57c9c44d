"""Finds the columns of a table that are the edges of boxes, and makes boxes from them.

Only letters and digits of names are compared, and case is ignored, so ``Min X``, ``min_x`` and ``minX`` are
the same name.  Each axis is given by its two edges, or by an edge and a size; where a table has both, the
edges are used.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.floating[Any]]

_EDGES = {
    "x": "minx,maxx xmin,xmax left,right x0,x1 x1,x2 west,east minlon,maxlon lonmin,lonmax",
    "y": "miny,maxy ymin,ymax top,bottom y0,y1 y1,y2 south,north minlat,maxlat latmin,latmax",
    "z": "minz,maxz zmin,zmax z0,z1 z1,z2",
}
_LOWS_WITH_SIZE = {"x": "x minx xmin left", "y": "y miny ymin top", "z": "z minz zmin"}
_SIZES = {"x": "width w", "y": "height h", "z": "depth d"}
# A column with one of these names may be half of a third axis, so it is an error where it has no partner.
_SIGNS_OF_Z = {"z", "minz", "maxz", "zmin", "zmax", "z0", "z1", "z2"}
_IDS = ("id", "fid")
_ADVICE = "name them min_x, min_y, max_x, max_y (in 3-D also min_z, max_z), or x, y, width, height (z, depth)"


@dataclass(frozen=True, slots=True)
class Axis:
    """The names of the two columns of one axis."""

    low: str
    high: str
    sized: bool
    """Whether ``high`` is a size and not an edge."""

    @property
    def downward(self) -> bool:
        """Whether the values decide which edge is lower: top is the smaller y in images, not in maps."""
        return plain(self.low) == "top" and not self.sized


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns of a table are the edges and the ids."""

    axes: tuple[Axis, ...]
    id: str | None = None

    @property
    def edges(self) -> list[str]:
        """The columns that are read as numbers."""
        return [name for axis in self.axes for name in (axis.low, axis.high)]


HEADERLESS = {
    4: Layout((Axis("min_x", "max_x", False), Axis("min_y", "max_y", False))),
    6: Layout((Axis("min_x", "max_x", False), Axis("min_y", "max_y", False), Axis("min_z", "max_z", False))),
}
"""The columns of tables without header, in the order of box arrays."""


def names_without_header(count: int) -> list[str]:
    """The columns of a table without header, in their order."""
    return [f"{end}_{axis}" for end in ("min", "max") for axis in "xyz"[: count // 2]]


def find_layout(names: Sequence[str], source: str, id_column: str | None = None) -> Layout:
    """Find the edges and the id among the names of a table.

    Raises
    ------
    ValueError
        As for `find_edges`, or there is no column ``id_column``.
    """
    axes = find_edges(names, source).axes
    own_id = _find_id(names, source, id_column)
    if own_id is not None and names.count(own_id) > 1:
        raise ValueError(f"{source}: there are {names.count(own_id)} columns {own_id!r}; rename one")
    return Layout(axes, own_id)


def find_edges(names: Sequence[str], source: str) -> Layout:
    """Find the edges among the names of a table, without ids.

    Raises
    ------
    ValueError
        An axis is missing, or two columns claim the same edge.
    """
    by_plain: dict[str, list[str]] = {}
    for name in names:
        by_plain.setdefault(plain(name), []).append(name)
    axes = {axis: _find_axis(axis, by_plain) for axis in "xyz"}
    found = tuple(axis for axis in axes.values() if axis is not None)
    for axis in found:
        for name in (axis.low, axis.high):
            same = by_plain[plain(name)]
            if len(same) > 1:
                raise ValueError(
                    f"{source}: the columns {listed(same)} could both be {plain(name)}; rename one"
                )
    for name in "xy":
        if axes[name] is None:
            raise ValueError(f"{source}: no columns for the {name} axis among {listed(names)}; {_ADVICE}")
    if axes["z"] is None:
        lonely = [name for name in names if plain(name) in _SIGNS_OF_Z]
        if lonely:
            raise ValueError(
                f"{source}: column {lonely[0]} has no partner for a third axis; "
                "rename it where the boxes are 2-D, or give both min_z and max_z"
            )
    return Layout(found)


def plain(name: str) -> str:
    """A name as it is compared: lower-case letters and digits only."""
    # GeoParquet has the edges in a structure "bbox"; when flattened, its columns are bbox.xmin, ...
    return re.sub(r"[\W_]+", "", name.lower().strip().removeprefix("bbox."))


def listed(names: Sequence[str]) -> str:
    """The first twelve names for messages, each cut to 60 letters."""
    shown = ", ".join(repr(name if len(name) <= 60 else f"{name[:57]}...") for name in names[:12])
    return f"{shown}, ..." if len(names) > 12 else shown


def _find_axis(axis: str, by_plain: Mapping[str, list[str]]) -> Axis | None:
    edges = [tuple(form.split(",")) for form in _EDGES[axis].split()]
    sized = list(product(_LOWS_WITH_SIZE[axis].split(), _SIZES[axis].split()))
    for low, high in edges + sized:
        if low in by_plain and high in by_plain:
            return Axis(by_plain[low][0], by_plain[high][0], (low, high) in sized)
    return None


def _find_id(names: Sequence[str], source: str, id_column: str | None) -> str | None:
    if id_column is None:
        return next((name for known in _IDS for name in names if plain(name) == known), None)
    matches = [name for name in names if name == id_column] or [
        name for name in names if plain(name) == plain(id_column)
    ]
    if not matches:
        raise ValueError(f"{source}: no column {id_column!r} for the ids among {listed(names)}")
    return matches[0]


def boxes_from_columns(
    layout: Layout, columns: Mapping[str, Column], source: str, row_name: Callable[[int], str]
) -> npt.NDArray[np.floating[Any]]:
    """Make boxes from columns and check them.

    Parameters
    ----------
    layout : Layout
        Which column is which edge.
    columns : mapping of str to numpy.ndarray
        The columns ``layout.edges``, ``(n,)`` each.
    source : str
        What the file or the argument is called in error messages.
    row_name : callable
        Names the row with a given number, such as ``"row 3 (line 5)"``.

    Returns
    -------
    numpy.ndarray
        ``(n, 4)`` or ``(n, 6)``.  float32 where all edges are float32; a size is added in float64.

    Raises
    ------
    ValueError
        A row holds NaN, ``min > max`` or a negative size; the first such row is named.
    """
    dim = len(layout.axes)
    single = all(columns[name].dtype == np.float32 for name in layout.edges)
    dtype = np.float32 if single and not any(axis.sized for axis in layout.axes) else np.float64
    boxes = np.empty((len(columns[layout.axes[0].low]), 2 * dim), dtype)
    first_bad: tuple[int, Axis] | None = None
    for k, axis in enumerate(layout.axes):
        low, high = columns[axis.low], columns[axis.high]
        if axis.sized:
            with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinity are checked below
                sound = high >= 0
                top = low.astype(np.float64) + high
                sound &= np.isfinite(top) | ~np.isfinite(low) | ~np.isfinite(high)
                high = top
        elif axis.downward and _counts_upward(low, high):
            low, high = high, low
            sound = low <= high
        else:
            sound = low <= high
        boxes[:, k], boxes[:, dim + k] = low, high
        bad = np.flatnonzero(~(sound & (low <= high)))
        if len(bad) and (first_bad is None or bad[0] < first_bad[0]):
            first_bad = int(bad[0]), axis
    if first_bad is not None:
        row, axis = first_bad
        wrong = _what_is_wrong(axis, float(columns[axis.low][row]), float(columns[axis.high][row]))
        raise ValueError(f"{source}: {row_name(row)}, {wrong}")
    return boxes


def _counts_upward(top: Column, bottom: Column) -> bool:
    differ = np.flatnonzero(top != bottom)
    return bool(len(differ) and top[differ[0]] > bottom[differ[0]])


def _what_is_wrong(axis: Axis, low: float, high: float) -> str:
    for name, value in ((axis.low, low), (axis.high, high)):
        if np.isnan(value):
            return f"column {name} is nan; remove the row, or give the box finite or infinite edges"
    if not axis.sized:
        if axis.downward:
            return (
                f"columns {axis.low} = {low:g} and {axis.high} = {high:g} are the other way round than above"
            )
        return f"column {axis.low} = {low:g} is greater than {axis.high} = {high:g}"
    if high < 0:
        return f"column {axis.high} = {high:g} is negative"
    return (
        f"column {axis.low} = {low:g} and {axis.high} = {high:g} give no upper edge; use min and max columns"
    )
