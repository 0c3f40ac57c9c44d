"""Tables, columns and shapes of other libraries as NumPy arrays.

No other library is imported.  A table is recognized by its methods (pandas, polars, pyarrow and similar
libraries), a structured array by its field names, a shape (shapely, geopandas) by its ``geom_type``.  Named
columns are read by name, in any order: reading them by position would silently give wrong boxes.  Row labels
are ignored: the first row is row 0.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.numeric import as_numpy

Array = npt.NDArray[Any]


class Wanted(NamedTuple):
    """What a row of numbers means, for rows that come as named columns or as shapes."""

    forms: tuple[str, ...] = ()
    """Possible names of the numbers of a row; those of boxes are in `broadphase.columns`."""
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

_PLAIN_ROWS = frozenset({list, tuple, np.ndarray, int, float})


def as_array(values: Any, name: str, wanted: Wanted) -> Array:
    """Convert anything but an ``ndarray`` to one; `numbers_in` then checks that it holds numbers.

    Raises
    ------
    TypeError
        A list of named rows, or of pygame rectangles: the order of their numbers is not that of a row.
    ValueError
        Rows have different lengths, columns do not have the wanted names, or a value is missing.
    """
    kind = type(values)
    if kind is list or kind is tuple:
        if values and type(values[0]) not in _PLAIN_ROWS:
            _refuse_named_row(values[0], f"{name}[0]")
        return _array(values, name)
    _refuse_rectangle(values, name)
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
        It holds no numbers; the first object that is none is named.
    ValueError
        Fields do not have the wanted names, or shapes are of another kind.
    """
    if array.dtype.names is not None and array.ndim < 2:
        names = array.dtype.names
        return _from_columns(names, lambda k: array[names[k]], name, wanted)
    if array.dtype.name == "bfloat16":  # JAX has it from ml_dtypes
        return array.astype(np.float32)
    if array.dtype != object:
        raise TypeError(f"{name} must hold real numbers; got dtype {array.dtype}")
    if any(hasattr(item, "geom_type") for item in array.flat):
        return _from_shapes(array, name, wanted)
    raise TypeError(f"{name} must hold real numbers; got dtype object{_first_non_number(array)}")


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
    at = np.flatnonzero(rows.any(axis=tuple(range(1, rows.ndim))))
    return int(at[0]) if len(at) else None


def check_same_crs(a: Any, name: str, b: Any, other_name: str) -> None:
    """Check that two tables whose coordinate systems are both known have the same one.

    Raises
    ------
    ValueError
        Their coordinate systems differ.
    """
    first, second = _crs_of(a), _crs_of(b)
    if first is not None and second is not None and first != second:
        raise ValueError(
            f"{name} is in the coordinate system {_crs_name(first)} and {other_name} in {_crs_name(second)}; "
            "bring both into one, such as with to_crs"
        )


def _crs_of(values: Any) -> Any:
    """The ``crs`` of a GeoDataFrame, GeoSeries or array of shapes; None where it is unknown."""
    kind = type(values)  # attributes of the type: on a pandas table itself, columns are attributes too
    if hasattr(kind, "active_geometry_name"):
        return None if values.active_geometry_name is None else values.geometry.crs
    return values.crs if hasattr(kind, "crs") else None


def _crs_name(crs: Any) -> str:
    return str(crs.to_string()) if hasattr(type(crs), "to_string") else str(crs)


# ---- tables


def _columns_of(values: Any) -> tuple[Sequence[Any], Callable[[int], Any]] | None:
    """The names of the columns of a table, and a function to get one; None for what is no table."""
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


def _refuse_named_row(row: Any, name: str) -> None:
    if isinstance(row, Mapping) or _row_of(row) is not None:
        raise TypeError(
            f"{name} must hold real numbers; got a {type(row).__name__} with names; "
            "give the whole table, whose columns are read by name, or lists of numbers"
        )
    _refuse_rectangle(row, name)


def _refuse_rectangle(values: Any, name: str) -> None:
    if hasattr(type(values), "topleft") and hasattr(type(values), "w"):
        raise TypeError(
            f"{name} is a {type(values).__name__}, whose numbers are x, y, width, height; "
            "give (r.left, r.top, r.right, r.bottom), or use broadphase.adapters.pygame"
        )


def _from_columns(names: Sequence[Any], get: Callable[[int], Any], name: str, wanted: Wanted) -> Array:
    from broadphase import columns  # programs that pass arrays never need it

    texts = [str(own) for own in names]
    if _are_unnamed(names):
        if wanted is NUMBERS and len(texts) != 1:
            raise TypeError(f"{name} must be one column of numbers; got a table of {len(texts)}")
        found = [_numbers(get(k), f"{name}: column {texts[k]}") for k in range(len(texts))]
        return np.stack(found, axis=-1) if found else np.empty((0, 0))
    if wanted is NUMBERS:
        raise TypeError(f"{name} must be one column of numbers; got a table with {columns.listed(texts)}")

    def read(own: str) -> Array:
        return _numbers(get(texts.index(own)), f"{name}: column {own}")

    if wanted is BOXES:
        layout = columns.find_edges(texts, name)
        edges = {edge: read(edge) for edge in layout.edges}
        one_row = edges[layout.axes[0].low].ndim == 0
        rows = columns.boxes_from_columns(
            layout, {edge: np.atleast_1d(own) for edge, own in edges.items()}, name, "row {}".format
        )
        return rows[0] if one_row else rows
    return np.stack([read(own) for own in _find_fields(texts, name, wanted)], axis=-1)


def _are_unnamed(names: Sequence[Any]) -> bool:
    """Whether these are numbers instead of names, or the default names of a library."""
    if all(isinstance(own, (int, np.integer)) for own in names):
        return True
    return any(
        list(names) == [f"{stem}{k}" for k in range(first, first + len(names))]
        for stem in ("column_", "f", "")
        for first in (0, 1)
    )


def _find_fields(names: list[str], name: str, wanted: Wanted) -> list[str]:
    from broadphase.columns import listed, plain

    for form in wanted.forms:
        same = [[own for own in names if plain(own) == field] for field in form.split()]
        if all(same[: wanted.needed]):
            for several in same:
                if len(several) > 1:
                    raise ValueError(
                        f"{name}: the columns {listed(several)} could both be {plain(several[0])}; rename one"
                    )
            return [own for (own,) in filter(None, same)]
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


def _first_non_number(array: Array) -> str:
    """The first object that is no number, with advice; empty where the dtype says enough."""
    if array.dtype != object:
        return ""
    if array.ndim == 0:
        return f": a {type(array.item()).__name__}; give an array, a list of rows or a table"
    for place in np.ndindex(array.shape):
        value = array[place]
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
            at = f"row {place[0]}" + "".join(f", column {k}" for k in place[1:])
            shown = repr(value)
            shown = shown if len(shown) <= 40 else shown[:40] + "..."
            return f": {at} is {shown} ({type(value).__name__}); leave it out, or make a number of it"
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
