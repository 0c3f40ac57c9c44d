"""Boxes from GeoJSON (RFC 7946): the bounds of each feature in x and y; altitudes are ignored.

The standard library reads the JSON.  Libraries for map data (shapely, pyogrio) depend on GEOS or GDAL, many
megabytes of C++, where a minimum and a maximum are enough here, and do not say which feature is invalid.
"""

import json
import sys
from collections.abc import Iterator
from itertools import chain
from math import inf, isfinite
from typing import Any, BinaryIO, NoReturn

import numpy as np

from broadphase.errors import FileError
from broadphase.io.tables import Limits, Table, ids_from_values, is_utf8

# How many levels of arrays are around a position.
_DEPTHS = {
    many + kind: depth + bool(many)
    for depth, kind in enumerate(("Point", "LineString", "Polygon"))
    for many in ("", "Multi")
}


def read(file: BinaryIO, name: str, id_column: str | None, limits: Limits) -> Table:
    """Read a feature collection, one feature or one geometry.

    The ids are the ``id`` of the features, or else their property ``id``, provided that every feature
    has one; with ``id_column`` they are that property.
    """
    try:
        features = _features(_load(file, name), name)
        limits.check_rows(name, len(features))
        boxes = np.array([_bounds(feature, row, name) for row, feature in enumerate(features)], np.float64)
        ids = _ids(features, name, id_column)
    except RecursionError:
        raise FileError(f"{name}: is nested too deeply") from None
    return Table(boxes.reshape(-1, 4), ids)


def _load(file: BinaryIO, name: str) -> Any:
    try:
        return json.load(file, parse_constant=_refuse)
    except UnicodeDecodeError:
        raise FileError(f"{name}: is no text in UTF-8") from None
    except ValueError as error:
        raise FileError(f"{name}: is not JSON: {error}") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON")


def _features(document: Any, name: str) -> list[Any]:
    kind = document.get("type") if isinstance(document, dict) else None
    if kind == "FeatureCollection":
        features = document.get("features")
        if not isinstance(features, list):
            raise FileError(f"{name}: the feature collection has no list of features")
        return features
    if kind == "Feature":
        return [document]
    if _depth(kind) is not None or kind == "GeometryCollection":
        return [{"geometry": document}]
    raise FileError(f"{name}: is no GeoJSON: it has no type such as FeatureCollection")


def _bounds(feature: Any, row: int, name: str) -> tuple[float, float, float, float]:
    where = f"{name}: feature {row}"
    if not isinstance(feature, dict):
        raise FileError(f"{where} is no object but {_shown(feature)}")
    if feature.get("id") is not None:
        where += f" (id {_shown(feature['id'])})"
    low_x = low_y = inf
    high_x = high_y = -inf
    for positions in _position_lists(feature.get("geometry"), where):
        left, bottom, right, top = _reach(positions, where)
        low_x, high_x = min(low_x, left), max(high_x, right)
        low_y, high_y = min(low_y, bottom), max(high_y, top)
    if low_x > high_x:
        raise FileError(f"{where} has no geometry and so no bounds; remove it")
    return low_x, low_y, high_x, high_y


def _position_lists(geometry: Any, where: str) -> Iterator[list[Any]]:
    """All lists of positions of a geometry that are not empty."""
    if geometry is None:
        return
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind == "GeometryCollection":
        for member in _as_list(geometry.get("geometries"), where):
            yield from _position_lists(member, where)
        return
    depth = _depth(kind)
    if depth is None:
        raise FileError(f"{where} has a geometry of unknown type {_shown(kind)}")
    coordinates = _as_list(geometry.get("coordinates"), where)
    lists = [[coordinates] if coordinates else []] if kind == "Point" else [coordinates]
    for _ in range(depth - 1):
        lists = [_as_list(member, where) for member in chain.from_iterable(lists)]
    yield from filter(None, lists)


def _depth(kind: Any) -> int | None:
    return _DEPTHS.get(kind) if isinstance(kind, str) else None  # it may be anything, even a list


def _as_list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise FileError(f"{where} has {_shown(value)} where a list of coordinates belongs")
    return value


def _reach(positions: list[Any], where: str) -> tuple[float, float, float, float]:
    """The bounds of one or more positions."""
    try:
        xs, ys = [p[0] for p in positions], [p[1] for p in positions]
        if set(map(type, xs + ys)) <= {int, float}:
            reach = float(min(xs)), float(min(ys)), float(max(xs)), float(max(ys))
            if all(map(isfinite, reach)):  # 1e999 is read as inf
                return reach
    except (TypeError, KeyError, IndexError, OverflowError):
        pass
    bad = next(p for p in positions if not _is_position(p))
    raise FileError(f"{where} has {_shown(bad)} where a position [x, y] belongs")


def _is_position(value: Any) -> bool:
    if not isinstance(value, list) or len(value) < 2:
        return False
    return all(type(v) in (int, float) and abs(v) <= sys.float_info.max for v in value[:2])


def _ids(features: list[Any], name: str, id_column: str | None) -> Any:
    if id_column is not None:
        ids = [_properties(feature).get(id_column) for feature in features]
        if None in ids:
            raise FileError(f"{name}: feature {ids.index(None)} has no property {id_column!r} for its id")
    else:
        # The second is looked for where there is no first, or where that is null.
        ids = [_properties(one).get("id") if one.get("id") is None else one["id"] for one in features]
        if not ids or None in ids:
            return None
    for row, feature_id in enumerate(ids):
        if isinstance(feature_id, str) and not is_utf8(
            feature_id
        ):  # lone surrogates: no text file holds them
            raise FileError(
                f"{name}: feature {row} has the id {_shown(feature_id)}, which is no text in Unicode"
            )
    return ids_from_values(ids)


def _properties(feature: Any) -> dict[str, Any]:
    properties = feature.get("properties")
    return properties if isinstance(properties, dict) else {}


def _shown(value: Any) -> str:
    shown = json.dumps(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
