"""Arguments as arrays of the call's own: the first of two steps, before anything is checked (`settled`).

Lists, tables, rectangles and shapes of other libraries are read here.  Of a table the columns that are the
edges of boxes are found by their names.  Only letters and digits are compared, and case is ignored, so
``Min X``, ``min_x`` and ``minX`` are the same name.  Each axis is given by its two edges, or by an edge and a
size; where a table has both, the edges are used.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.numeric import as_numpy
from broadphase.kernels.arrays.sequences import rows_of

FloatArray = npt.NDArray[np.floating[Any]]

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


class Axis(NamedTuple):
    """The names of the two columns of one axis."""

    low: str
    high: str
    sized: bool
    """Whether ``high`` is a size and not an edge."""

    @property
    def downward(self) -> bool:
        """Whether the values decide which edge is lower: top is the smaller y in images, not in maps."""
        return plain(self.low) == "top" and not self.sized


class Layout(NamedTuple):
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


def find_layout(
    names: Sequence[str],
    source: str,
    id_column: str | None = None,
    axes: tuple[Axis, ...] | None = None,
) -> Layout:
    """Find the edges, unless ``axes`` says them, and the id among the names of a table.

    Raises
    ------
    ValueError
        As for `find_edges`, or there is no column ``id_column``.
    """
    if axes is None:
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
            _check_one(by_plain[plain(name)], source)
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


def _check_one(names: list[str], source: str) -> None:
    if len(names) > 1:
        raise ValueError(f"{source}: the columns {listed(names)} could both be {plain(names[0])}; rename one")


def plain(name: str) -> str:
    """A name as it is compared: lower-case letters and digits only."""
    # GeoParquet has the edges in a structure "bbox", GDAL in "geometry_bbox": flattened, bbox.xmin, ...
    return re.sub(r"^(\w+_)?bbox\.|[\W_]+", "", name.lower().strip())


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
    layout: Layout, columns: Mapping[str, FloatArray], source: str, row_name: Callable[[int], str]
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


def _counts_upward(top: FloatArray, bottom: FloatArray) -> bool:
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


# -----------------------------------------------------------------------------------------------------------
# Tables, columns and shapes of other libraries as NumPy arrays.
#
# No other library is imported.  A table is recognized by its methods (pandas, polars, pyarrow and similar
# libraries), a structured array by its field names, a shape (shapely, geopandas) by its ``geom_type``.  Named
# columns are read by name, in any order: reading them by position would silently give wrong boxes.  Row
# labels are ignored: the first row is row 0.


Array = npt.NDArray[Any]


class Wanted(NamedTuple):
    """What a row of numbers means, for rows that come as named columns or as shapes."""

    forms: tuple[str, ...] = ()
    """Possible names of the numbers of a row; those of boxes are in `broadphase.inputs.arrays`."""
    needed: int = 0
    """How many names of a form must be there; the others are optional."""
    shapes: str = ""
    """What is read from a shape: its ``"bounds"``, a ``"point"``, or nothing."""
    advice: str = ""
    """For messages: how to name the columns."""


BOXES = Wanted(shapes="bounds")
POINTS = Wanted(("x y z", "lon lat", "longitude latitude"), 2, "point", "name them x, y (in 3-D also z)")
WAYS = Wanted(("dx dy dz", "vx vy vz", "x y z"), 2, "", "name them dx, dy (in 3-D also dz), or vx, vy")
CIRCLES = Wanted(("x y radius", "x y r"), 3, "", "name them x, y, radius")
NUMBERS = Wanted()
"""One number for each row."""

_FILES = "; boxes of a file are read by broadphase.files.read_boxes(path)"
_PLAIN_ROWS = frozenset({list, tuple, np.ndarray, int, float})
_SEQUENCES = frozenset({list, tuple})
_VECTORS = ("pygame.math", "pyglet.math")  # pyglet's are arcade's


def plain_rows(values: Sequence[Any], wanted: Wanted) -> Array | None:
    """Rows of float64 from lists, tuples and vectors, or as boxes from rectangles or sprites, of one type.

    None for anything else, and where a number is NaN or no float or int: `as_array` takes it or words the
    error.  NumPy takes 170 ns to read a tuple of two and 1.7 us for a vector, which is no sequence to it.
    """
    first = values[0] if values else None
    kind = type(first)
    if kind in _SEQUENCES or kind.__module__ in _VECTORS:
        found, is_table = rows_of(values, len(values[0]), (), False)
    elif wanted is BOXES and first is not None:
        if hasattr(first, "rect"):
            values = [getattr(sprite, "rect", None) for sprite in values]
            first = values[0]
        names = _names_of_sides(first)
        if names is None:
            return None
        found, is_table = rows_of(values, len(names) or 4, names, True)
    else:
        return None
    rows: Array = found
    return rows if is_table and rows.size else None


def _names_of_sides(rect: Any) -> tuple[str, ...] | None:
    """The attributes in which `rectangle_of` finds x, y, width and height; none where these are its items."""
    if type(rect).__module__ == "pygame.rect":
        return ()
    return ("left", "top", "width", "height", "bottom") if hasattr(rect, "bottom") else None


def as_array(values: Any, name: str, wanted: Wanted) -> Array:
    """Convert anything but an ``ndarray`` to one; `numbers_in` then checks that it holds numbers.

    Raises
    ------
    TypeError
        A list of named rows, or rectangles where no boxes belong: their numbers are not those of a row.
    ValueError
        Rows have different lengths, columns do not have the wanted names, or a value is missing.
    """
    kind = type(values)
    if kind is list or kind is tuple:
        boxes = None if _PLAIN_ROWS.issuperset(map(type, values)) else _rectangles(values, name, wanted)
        return _array(values, name) if boxes is None else boxes
    if hasattr(kind, "width") and rectangle_of(values) is not None:
        boxes = _rectangles((values,), name, wanted)
        assert boxes is not None
        box: Array = boxes[0]
        return box
    if hasattr(kind, "active_geometry_name") and values.active_geometry_name is not None:
        values = values.geometry
    if hasattr(type(values), "geom_type") and not hasattr(type(values), "columns"):
        return np.asarray(values, object)
    table = _columns_of(values) or (_row_of(values) if wanted is not NUMBERS else None)
    return column(values, name) if table is None else _from_columns(*table, name, wanted)


def numbers_in(array: Array, name: str, wanted: Wanted) -> Array:
    """The numbers of an array whose dtype is not one of numbers: those of named fields, or of shapes.

    Raises
    ------
    TypeError
        It holds no numbers; the first object that is not one is named.
    ValueError
        Fields do not have the wanted names, or shapes are of another kind.
    """
    if array.dtype.names is not None and array.ndim < 2:
        names = array.dtype.names
        return _from_columns(names, lambda k: array[names[k]], name, wanted)
    if array.dtype.name == "bfloat16":  # JAX has it from ml_dtypes
        return array.astype(np.float32)
    if array.dtype != object:
        fix = _FILES if wanted is BOXES and array.ndim == 0 and array.dtype.kind in "SU" else ""
        raise TypeError(f"{name} must hold real numbers; got dtype {array.dtype}{fix}")
    if not array.size:  # shapes, of which a filter left none
        return array.astype(np.float64)
    if any(hasattr(item, "geom_type") for item in array.flat):
        return _from_shapes(array, name, wanted)
    for place in np.ndindex(array.shape):
        if isinstance(array[place], int) and abs(array[place]) > sys.float_info.max:
            position = "".join(f"[{k}]" for k in place)
            raise ValueError(
                f"{name}{position} must be below 1.8e308; the given integer does not fit into a float"
            )
    raise TypeError(f"{name} must hold real numbers; got dtype object{_first_non_number(array, wanted)}")


def column(values: Any, name: str) -> Array:
    """Convert one column, or anything that NumPy converts; a missing value is an error that names it.

    Raises
    ------
    ValueError
        A value is missing (null, NA, masked), or rows have different lengths.
    """
    row = _first_missing(values)
    if row is not None:
        raise ValueError(f"{name}: row {row} is missing (null); fill it in, or leave the row out")
    return _array(values, name)


def _array(values: Any, name: str) -> Array:
    first = values
    while type(first) in (list, tuple) and first:
        first = first[0]
    if first is not values and type(first) is not np.ndarray and hasattr(type(first), "__dlpack__"):
        values = _arrays_in(values, name)  # NumPy would read one number at a time, or fail
    try:
        return as_numpy(values, name)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array of numbers: {error}") from None


def _arrays_in(values: Any, name: str) -> Any:
    if type(values) is list or type(values) is tuple:
        return [_arrays_in(row, f"{name}[{k}]") for k, row in enumerate(values)]
    return _array(values, name)


def _is_masked(values: Any) -> bool:
    """Whether it is a masked array; `numpy.ma` is not imported to find out."""
    return "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray)


def _first_missing(values: Any) -> int | None:
    if _is_masked(values):
        missing: Any = np.ma.getmaskarray(values)  # `np.asarray` would drop the mask
    elif hasattr(type(values), "is_null"):  # polars, pyarrow
        missing = values.is_null()
    elif hasattr(type(values), "isna") and not isinstance(getattr(values, "dtype", None), np.dtype):
        missing = values.isna()  # pandas; with NumPy's dtypes it would count NaN as missing
    else:
        return None
    rows = np.asarray(missing)
    bad_rows = np.flatnonzero(rows.any(axis=tuple(range(1, rows.ndim))))
    return int(bad_rows[0]) if len(bad_rows) else None


def check_same_crs(a: Any, name: str, b: Any, other_name: str) -> None:
    """Check that two tables whose coordinate systems are both known have the same one.

    Raises
    ------
    ValueError
        Their coordinate systems differ.
    """
    if type(a) is np.ndarray or type(b) is np.ndarray:
        return  # arrays have none; asking takes as long as some searches
    first, second = crs_of(a), crs_of(b)
    if first is not None and second is not None and not _is_same_crs(first, second):
        raise ValueError(
            f"{name} is in the coordinate system {_crs_name(first)} and {other_name} in {_crs_name(second)}; "
            "bring both into one, such as with to_crs"
        )


def crs_of(values: Any) -> Any:
    """The ``crs`` of a GeoDataFrame, GeoSeries or array of shapes; None where it is unknown."""
    kind = type(values)  # attributes of the type: on a pandas table itself, columns are attributes too
    if hasattr(kind, "active_geometry_name"):
        return None if values.active_geometry_name is None else values.geometry.crs
    return values.crs if hasattr(kind, "crs") else None


def _is_same_crs(first: Any, second: Any) -> bool:
    """Whether two systems differ at most in the order of axes: tables have x first in any case."""
    equals = getattr(first, "equals", None)
    if first == second or equals is None:
        return bool(first == second)
    return bool(equals(second, ignore_axis_order=True))


def _crs_name(crs: Any) -> str:
    return str(crs.to_string()) if hasattr(type(crs), "to_string") else str(crs)


# ---- tables


def _columns_of(values: Any) -> tuple[Sequence[Any], Callable[[int], Any]] | None:
    """The names of the columns of a table, and a function to get one; None for what is not a table."""
    if _is_masked(values) and values.dtype.names is not None and values.ndim < 2:
        fields = values.dtype.names
        return fields, lambda k: values[fields[k]]
    if hasattr(type(values), "collect_schema") and hasattr(type(values), "lazy"):
        values = values.lazy().collect()  # polars, lazy or not
    kind = type(values)  # attributes of the type: on a pandas table itself, columns are attributes too
    if hasattr(kind, "column_names"):  # pyarrow; a column "bbox" of four fields becomes four columns
        flat = values.flatten() if hasattr(kind, "flatten") else values
        return flat.column_names, flat.column
    if hasattr(kind, "columns") and hasattr(kind, "iloc"):  # pandas
        return list(values.columns), lambda k: values.iloc[:, k]
    if hasattr(kind, "columns") and hasattr(kind, "to_series"):  # polars
        return values.columns, values.to_series
    return None


def _row_of(values: Any) -> tuple[Sequence[Any], Callable[[int], Any]] | None:
    """The same for one row of a pandas table, which is a Series with column names as its labels."""
    if not hasattr(type(values), "iloc") or not len(values) or not isinstance(values.index[0], str):
        return None
    if hasattr(values.iloc[0], "geom_type"):
        return None  # a column of shapes with labels
    return list(values.index), lambda k: values.iloc[k]


def _rectangles(rows: Sequence[Any], name: str, wanted: Wanted) -> Array | None:
    """Boxes from rectangles or sprites; None where rows are something else that NumPy may convert."""
    number, row = next((number, row) for number, row in enumerate(rows) if type(row) not in _PLAIN_ROWS)
    if isinstance(row, Mapping) or _row_of(row) is not None:
        raise TypeError(
            f"{name}[{number}] must hold real numbers; got a {type(row).__name__} with names; "
            "give the whole table, whose columns are read by name, or lists of numbers"
        )
    if rectangle_of(row) is None:
        return None
    if wanted is not BOXES:
        raise TypeError(
            f"{name} must hold real numbers; got a {type(row).__name__}, which is a box"
            f"{place_hint(row) if wanted is POINTS else ' as it is: give it where boxes are taken'}"
        )
    edges: list[float] = []
    for number, row in enumerate(rows):
        rectangle = rectangle_of(row)
        if rectangle is None:
            raise TypeError(
                f"{name}[{number}] = {row!r} is no rectangle, and others are; give rows of one kind"
            )
        left, top, width, height = rectangle
        edges += left, top, left + width, top + height
    return np.array(edges, np.float64).reshape(-1, 4)


def rectangle_of(value: Any) -> tuple[float, float, float, float] | None:
    """``x, y, width, height`` of a rectangle of pygame or arcade, or of a sprite that has one as ``rect``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> rect = SimpleNamespace(left=1, top=2, bottom=6, width=3, height=4)
    >>> rectangle_of(rect), rectangle_of(SimpleNamespace(rect=rect)), rectangle_of((1, 2, 3, 4))
    ((1, 2, 3, 4), (1, 2, 3, 4), None)
    """
    rect = getattr(value, "rect", value)
    try:  # the smaller y is the top of pygame's and the bottom of arcade's
        top, bottom = rect.top, rect.bottom
        return rect.left, bottom if bottom < top else top, rect.width, rect.height
    except AttributeError:
        is_box = hasattr(type(value), "moved_to") and hasattr(type(value), "width")  # a `broadphase.Box`
        return (value.x, value.y, value.width, value.height) if is_box else None


def place_hint(value: Any) -> str:
    """For the error where a point is wanted: which attribute of an object is its place.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> place_hint(SimpleNamespace(center=(1, 2))), place_hint(3)
    ('; give its center', '')
    """
    names = ("center", "centers", "position", "rect")
    found = next((name for name in names if hasattr(value, name)), None)
    found = None if isinstance(value, (str, bytes)) else found  # "text".center is a method
    return "" if found is None else f"; give its {'rect.center' if found == 'rect' else found}"


def _from_columns(names: Sequence[Any], get: Callable[[int], Any], name: str, wanted: Wanted) -> Array:
    texts = [str(column) for column in names]
    if _are_unnamed(names):
        if wanted is NUMBERS and len(texts) != 1:
            raise TypeError(f"{name} must be one column of numbers; got a table of {len(texts)}")
        found = [_numbers(get(k), f"{name}: column {texts[k]}") for k in range(len(texts))]
        return np.stack(found, axis=-1) if found else np.empty((0, 0))
    if wanted is NUMBERS:
        raise TypeError(f"{name} must be one column of numbers; got a table with {listed(texts)}")

    def read(column: str) -> Array:
        return _numbers(get(texts.index(column)), f"{name}: column {column}")

    if wanted is BOXES and not _are_points(texts):
        layout = find_edges(texts, name)
        edges = {edge: read(edge) for edge in layout.edges}
        one_row = edges[layout.axes[0].low].ndim == 0
        rows = boxes_from_columns(
            layout, {edge: np.atleast_1d(column) for edge, column in edges.items()}, name, "row {}".format
        )
        return rows[0] if one_row else rows
    wanted = POINTS if wanted is BOXES else wanted  # of which `join` takes one side
    return np.stack([read(column) for column in _find_fields(texts, name, wanted)], axis=-1)


def _are_unnamed(names: Sequence[Any]) -> bool:
    """Whether these are numbers instead of names, or the default names of a library."""
    if all(isinstance(label, (int, np.integer)) for label in names):
        return True
    return any(
        list(names) == [f"{stem}{k}" for k in range(first, first + len(names))]
        for stem in ("column_", "f", "")
        for first in (0, 1)
    )


def _are_points(names: list[str]) -> bool:
    """Whether columns hold places and nothing that may be a size or an edge."""
    known = {plain(name) for name in names}
    sizes = {size for axis in _SIZES.values() for size in axis.split()}
    edges = {edge for axis in _EDGES.values() for edge in re.split("[ ,]", axis)}
    return any(known.issuperset(form.split()[:2]) for form in POINTS.forms) and not known & (sizes | edges)


def _find_fields(names: list[str], name: str, wanted: Wanted) -> list[str]:
    for form in wanted.forms:
        same = [[column for column in names if plain(column) == field] for field in form.split()]
        if all(same[: wanted.needed]):
            for several in same:
                _check_one(several, name)
            return [column for (column,) in filter(None, same)]
    raise ValueError(f"{name}: the columns are {listed(names)}; {wanted.advice}")


def _numbers(values: Any, name: str) -> Array:
    """One column as numbers; decimal numbers, which NumPy does not have, become float64."""
    array = column(values, name)
    if array.dtype == object:
        from decimal import Decimal

        if all(isinstance(item, Decimal) for item in array.flat):
            array = array.astype(np.float64)
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} must hold real numbers; got dtype {getattr(values, 'dtype', array.dtype)}"
            f"{_first_non_number(array)}"
        )
    if array.ndim > 1:
        raise TypeError(f"{name} must be one number a row; got shape {array.shape}")
    return array


def _first_non_number(array: Array, wanted: Wanted = NUMBERS) -> str:
    """The first object that is not a number, with advice; empty where the dtype says enough."""
    if array.dtype != object:
        return ""
    if array.ndim == 0:
        value = array.item()
        fix = place_hint(value) if wanted is POINTS else ""
        fix = "; give its bounds" if wanted is BOXES and hasattr(value, "bounds") else fix
        fix = _FILES if hasattr(value, "__fspath__") else fix
        return f": a {type(value).__name__}{fix or '; give an array, a list of rows or a table'}"
    for place in np.ndindex(array.shape):
        value = array[place]
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
            position = f"row {place[0]}" + "".join(f", column {k}" for k in place[1:])
            shown = repr(value)
            shown = shown if len(shown) <= 40 else shown[:40] + "..."
            fix = "; leave it out, or make a number of it"
            if wanted is BOXES:
                fix = "; give its bounds" if hasattr(type(value), "bounds") else fix
            elif wanted is POINTS:
                fix = place_hint(value) or fix
                fix += "; ShapeIndex searches shapes" if hasattr(type(value), "moved_to") else ""
            return f": {position} is {shown} ({type(value).__name__}){fix}"
    return ": numbers as Python objects; give them a dtype of numbers with .astype(float)"


# ---- shapes


def _from_shapes(array: Array, name: str, wanted: Wanted) -> Array:
    if not wanted.shapes or array.ndim > 1:
        raise TypeError(f"{name} must hold real numbers; got shapes in an array of shape {array.shape}")
    boxes = _bounds(array, name)
    empty = np.flatnonzero(np.isnan(boxes).any(axis=-1))
    if len(empty):
        row = int(empty[0])
        raise ValueError(f"{name}[{row}] = {array.flat[row]} has no bounds; leave the row out")
    if wanted.shapes == "bounds":
        return boxes
    extended = np.flatnonzero((boxes[..., :2] != boxes[..., 2:]).any(axis=-1))
    if len(extended):
        row = int(extended[0])
        kind = array.flat[row].geom_type
        raise ValueError(f"{name}[{row}] is a {kind}; give points, such as the centroids")
    points: Array = boxes[..., :2]
    return points


def as_geometries(values: Any, name: str, needed_by: str, fix: str) -> Array:
    """Geometries of shapely as a new array of objects, one a row; missing ones are None.

    ``needed_by`` and ``fix`` are for the message where these are numbers.

    Raises
    ------
    TypeError
        These are not geometries of shapely, such as boxes; the first object that is not one is named.
    ValueError
        There is more than one axis.
    """
    array = values if type(values) is np.ndarray else as_array(values, name, BOXES)
    if array.dtype != object and array.size:
        raise TypeError(
            f"{needed_by} needs geometries of shapely or geopandas; {name} holds {array.dtype}; {fix}"
        )
    if array.ndim != 1:
        raise ValueError(f"{name} must be a row of geometries; got shape {array.shape}")
    shapes = array.astype(object)
    shapely: Any = sys.modules.get("shapely")  # it is imported if the shapes are its own
    if shapely is None or not np.all(shapely.is_valid_input(shapes)):
        is_shape = getattr(shapely, "is_valid_input", lambda shape: shape is None)
        for row, shape in enumerate(shapes):
            if not is_shape(shape):
                raise TypeError(f"{name}[{row}] = {shape!r} is no geometry of shapely; leave it out")
    return shapes


def are_geometries(values: Any) -> bool:
    """Whether these may be geometries of shapely: objects in an array or Series, or by the first of them."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind == "O"
    if isinstance(values, (list, tuple)):
        return hasattr(next((one for one in values if one is not None), None), "geom_type")
    return hasattr(type(values), "geom_type")


def has_extent(values: Any) -> bool:
    """Whether these are geometries of shapely, not all of them points with a place."""
    if not are_geometries(values):
        return False
    shapes = np.asarray(as_array(values, "points", BOXES), object)
    shapely: Any = sys.modules.get("shapely")
    if shapely is None or not shapely.is_valid_input(shapes).all():
        return False
    return bool(((shapely.get_type_id(shapes) != 0) | shapely.is_empty(shapes)).any())


def index_of(values: Any) -> Any:
    """The index of a table of pandas, or of what was made of one; None where there is none."""
    pandas: Any = sys.modules.get("pandas")  # it is imported if there is one
    index = getattr(values, "index", None)
    return index if pandas is not None and isinstance(index, pandas.Index) else None


def labelled(rows: npt.NDArray[np.int32], a: Any, b: Any) -> Any:
    """Rows of a and b as labels of their indexes: a Series of those of b, whose own index is that of a.

    Raises
    ------
    TypeError
        Neither has an index of pandas.
    """
    pandas: Any = sys.modules.get("pandas")
    labels, others = index_of(a), index_of(b)
    if labels is None and others is None:
        raise TypeError("labels=True needs tables of pandas or geopandas; neither a nor b has an index")
    left = rows[:, 0] if labels is None else labels.take(rows[:, 0])
    name = None if others is None else others.name
    others = pandas.RangeIndex(rows[:, 1].max(initial=-1) + 1) if others is None else others.to_flat_index()
    filled = bool((rows[:, 1] < 0).any())
    right = others.take(rows[:, 1], allow_fill=filled, fill_value=np.nan if filled else None)
    return pandas.Series(right, index=left, name=name or "index_right")


def _bounds(array: Array, name: str) -> Array:
    shapely: Any = sys.modules.get("shapely")  # it is imported if the shapes are its own
    try:
        boxes: Array = shapely.bounds(array)
        return boxes
    except (AttributeError, TypeError):
        pass  # other shapes, or not all are shapes
    boxes = np.full((array.size, 4), np.nan)
    for row, shape in enumerate(array.flat):
        if shape is not None:
            if not hasattr(shape, "geom_type"):
                raise TypeError(f"{name}[{row}] = {shape!r} is no shape; leave it out")
            boxes[row] = shape.bounds
    return boxes.reshape(*array.shape, 4)


# -----------------------------------------------------------------------------------------------------------
# Arguments as arrays.


MOST_IDS = 2**31 - 1  # ids are int32
_FLOATS = _FLOAT64, _FLOAT32 = (np.dtype(np.float64), np.dtype(np.float32))
_PLAIN = 0x101  # of NumPy's flags: C-contiguous and aligned


def as_float_array(values: Any, name: str, wanted: Wanted = NUMBERS) -> FloatArray:
    """``values`` as a C-contiguous float32 or float64 array; anything but real numbers is refused.

    ``wanted`` is the meaning of a row, where rows may also come as named columns or as shapes.
    """
    kind = type(values)
    if kind is list or kind is tuple:
        rows = plain_rows(values, wanted)
        if rows is not None:
            return rows
    array = values if kind is np.ndarray else as_array(values, name, wanted)
    if array.dtype in _FLOATS:
        return array if array.flags.num & _PLAIN == _PLAIN else np.array(array, order="C")
    if array.dtype.kind not in "biuf":
        return as_float_array(numbers_in(array, name, wanted), name)
    return np.asarray(array, dtype=np.float64, order="C")


def as_plain_array(values: Any, name: str) -> npt.NDArray[Any]:
    """``values`` as an array of whatever it holds; a value that is missing (null, masked) is refused."""
    return values if type(values) is np.ndarray else column(values, name)


def settled(values: Any, name: str, wanted: Wanted | None = None) -> Any:
    """``values`` as an array of the call's own, which nothing else writes to or resizes.

    Another thread may write to an argument after it was checked, and the ``__array__`` of one argument may
    shrink the array that is another one.  So every public function calls this for all of its arrays before it
    looks at any: `as_boxes` and the others look.  ``wanted`` is given where the values are real numbers, as
    for `as_float_array`; without it None stays None.
    """
    if values is None and wanted is None:
        return None
    kind = type(values)
    if kind is np.ndarray and (values.dtype is _FLOAT64 or values.dtype is _FLOAT32):
        return values.copy()  # the usual case, in half the time: a copy is aligned and C-contiguous
    array = as_plain_array(values, name) if wanted is None else as_float_array(values, name, wanted)
    # What was converted from numbers in Python, or by NumPy to another type or order, is a copy already.
    fresh = kind is list or kind is tuple or (kind is np.ndarray and array is not values)
    return array if fresh else array.copy()


def rounded(values: FloatArray, kind: "np.dtype[Any]") -> FloatArray:
    """The numbers in a type, the same array where they have it; what overflows float32 is infinite."""
    if values.dtype == kind:
        return values
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(kind, copy=False)


def as_rows(array: FloatArray, name: str, widths: tuple[int, int], said: str) -> FloatArray:
    """An array of rows of one of two widths; an empty list counts as no rows of the first."""
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, widths[0])
    if array.ndim != 2 or array.shape[1] not in widths:
        raise ValueError(f"{name} must have shape {said}; got shape {array.shape}")
    if len(array) > MOST_IDS:
        raise ValueError(f"{name} has {len(array)} rows; ids are 32 bits wide, so {MOST_IDS} is the most")
    return array


def one_each(array: npt.NDArray[Any], n: int, said: str) -> npt.NDArray[Any]:
    """``array`` with ``n`` entries, from one for all or one each; ``said`` is what it must hold."""
    if array.ndim == 0:
        return np.full(n, array)
    if array.shape != (n,):
        raise ValueError(f"{said}; got shape {array.shape}")
    return array
