"""Tables, their columns and shapes of other libraries: read by name and by bounds, or refused by name."""

from types import SimpleNamespace

import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import shapely

import broadphase as bp
from broadphase.balls import BallSimulation
from broadphase.inputs.boxes import as_boxes

pytestmark = pytest.mark.smaller_set

BOXES = np.array([[0.0, 0, 2, 3], [1, 1, 3, 4], [5, 6, 7, 9], [5, 8, 7, 11]])
PAIRS = [[0, 1], [2, 3]]
# In an order that is wrong by position, and that would pass for sound boxes.
COLUMNS = {
    "label": ["a", "b", "c", "d"],
    "min_x": BOXES[:, 0],
    "max_x": BOXES[:, 2],
    "min_y": BOXES[:, 1],
    "max_y": BOXES[:, 3],
}
FRAME = pd.DataFrame(COLUMNS)
NUMBERS = FRAME.drop(columns="label")
SHAPES = shapely.box(*BOXES.T)

LIKE_BOXES = {
    "pandas": FRAME,
    "pandas with labels of rows": FRAME.set_axis([7, 3, 3, 0]),
    "pandas, nullable": FRAME.convert_dtypes(),
    "pandas, arrow inside": FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "pandas with x, y, width, height": pd.DataFrame(
        {
            "height": BOXES[:, 3] - BOXES[:, 1],
            "y": BOXES[:, 1],
            "width": BOXES[:, 2] - BOXES[:, 0],
            "x": BOXES[:, 0],
        }
    ),
    "pandas without names": pd.DataFrame(BOXES),
    "polars": pl.DataFrame(COLUMNS),
    "polars, lazy": pl.LazyFrame(COLUMNS),
    "polars without names": pl.DataFrame(BOXES),
    "polars, decimal": pl.DataFrame(COLUMNS).with_columns(pl.col("min_x").cast(pl.Decimal(9, 2))),
    "arrow table": pa.table(COLUMNS),
    "arrow batch": pa.table(COLUMNS).to_batches()[0],
    "arrow with a structure bbox": pa.table(
        {
            "bbox": [
                dict(zip(("ymin", "xmin", "ymax", "xmax"), row[[1, 0, 3, 2]], strict=True)) for row in BOXES
            ]
        }
    ),
    "structured array": NUMBERS.to_records(index=False).view(np.ndarray),
    "record array": NUMBERS.to_records(index=False),
    "GeoDataFrame": gpd.GeoDataFrame(COLUMNS, geometry=SHAPES),
    "GeoDataFrame without shapes": gpd.GeoDataFrame(COLUMNS),
    "GeoSeries": gpd.GeoSeries(SHAPES),
    "GeometryArray": gpd.GeoSeries(SHAPES).values,
    "Series of shapes, with names": pd.Series(list(SHAPES), index=list("abcd")),
    "array of shapes": SHAPES,
    "list of shapes": list(SHAPES),
}


@pytest.mark.parametrize("like", LIKE_BOXES)
def test_read_as_boxes(like):
    given = LIKE_BOXES[like]
    np.testing.assert_array_equal(as_boxes(given), BOXES)
    assert bp.pairs(given).tolist() == PAIRS
    index = bp.BruteForce()
    index.insert_many(given)
    index.update(given)
    assert index.pairs().tolist() == PAIRS
    np.testing.assert_array_equal(index.query_box(given), index.query_box(BOXES))


def test_other_functions_read_them_too():
    assert bp.count_pairs(FRAME) == 2
    assert bp.join(FRAME, SHAPES).tolist() == bp.join(BOXES, BOXES).tolist()
    assert bp.explain(FRAME).method == "brute_force"
    np.testing.assert_array_equal(
        bp.contact_boxes(FRAME, FRAME).depths, bp.contact_boxes(BOXES, BOXES).depths
    )


def test_float32_stays_float32_and_3d_is_found():
    assert as_boxes(NUMBERS.astype(np.float32)).dtype == np.float32
    cubes = FRAME.assign(zmax=2, zmin=1)
    np.testing.assert_array_equal(as_boxes(cubes)[:, [2, 5]], [[1, 2]] * 4)


@pytest.mark.parametrize(
    "row",
    [FRAME.iloc[1], FRAME.convert_dtypes().iloc[1], NUMBERS.to_records(index=False)[1], SHAPES[1]],
    ids=["pandas", "nullable", "record", "shape"],
)
def test_one_row_is_one_box(row):
    index = bp.BruteForce()
    index.insert(row)
    assert index.box(0).tolist() == BOXES[1].tolist()
    assert index.query_box(row).tolist() == [0]
    world = bp.World()
    body = world.add(bp.Box(1, 1, 2, 3))
    assert world.query_box(row) == [body]


def with_value(column, row, value, dtype):
    frame = FRAME.astype({column: dtype})
    frame.loc[row, column] = value
    return frame


NULLS = [1.0, None, 2.0, 3.0]
WRONG_BOXES = {
    "pandas Int64": (
        with_value("min_x", 2, pd.NA, "Int64"),
        ValueError,
        "boxes: column min_x: row 2 is missing",
    ),
    "pandas Float64": (
        with_value("min_y", 1, pd.NA, "Float64"),
        ValueError,
        "column min_y: row 1 is missing",
    ),
    "pandas NaN": (
        with_value("max_y", 3, np.nan, "float64"),
        ValueError,
        "boxes: row 3, column max_y is nan",
    ),
    "polars": (pl.DataFrame(COLUMNS | {"max_x": NULLS}), ValueError, "column max_x: row 1 is missing"),
    "arrow": (pa.table(COLUMNS | {"max_x": NULLS}), ValueError, "column max_x: row 1 is missing"),
    "masked": (np.ma.array(BOXES, mask=BOXES == 11), ValueError, "boxes: row 3 is missing"),
    "masked records": (
        np.ma.array(NUMBERS.to_records(index=False), mask=[(0, 0, 0, 0)] * 3 + [(0, 1, 0, 0)]),
        ValueError,
        "boxes: column max_x: row 3 is missing",
    ),
    "min > max": (
        FRAME.assign(min_x=9),
        ValueError,
        "boxes: row 0, column min_x = 9 is greater than max_x = 2",
    ),
    "text": (
        FRAME.assign(min_y=["0", "1", "6", "8"]),
        TypeError,
        r"boxes: column min_y must hold .* dtype (str|object): row 0 is '0' \(str\); leave it out",
    ),
    "one text": (FRAME.assign(max_x=[2, 3, "7", 7]), TypeError, "column max_x .* row 2 is '7'"),
    "polars text": (
        pl.DataFrame(COLUMNS | {"min_x": list("abcd")}),
        TypeError,
        "column min_x .* got dtype String",
    ),
    "dates": (
        FRAME.assign(min_x=pd.Timestamp(0)),
        TypeError,
        "column min_x must hold real numbers; got dtype datetime",
    ),
    "numbers as objects": (
        FRAME.astype({"max_y": object}),
        TypeError,
        r"column max_y .* with \.astype\(float\)",
    ),
    "values of a table": (FRAME.to_numpy(), TypeError, r"got dtype object: row 0, column 0 is 'a' \(str\)"),
    "None inside": ([[0, 0, 1, None]], TypeError, "got dtype object: row 0, column 3 is None"),
    "missing column": (
        FRAME.drop(columns="max_y"),
        ValueError,
        "boxes: no columns for the y axis among 'label', ",
    ),
    "other names": (
        FRAME.rename(columns=str.upper).rename(columns={"MIN_X": "u"}),
        ValueError,
        "no columns for the x",
    ),
    "two of a name": (
        FRAME.assign(MinX=0),
        ValueError,
        "the columns 'min_x', 'MinX' could both be minx; rename one",
    ),
    "one z": (FRAME.assign(z=0), ValueError, "column z has no partner for a third axis"),
    "tuples for names": (
        NUMBERS.set_axis(pd.MultiIndex.from_product([["a"], NUMBERS.columns]), axis=1),
        ValueError,
        "no columns for the x axis",
    ),
    "no shape": (
        gpd.GeoSeries([SHAPES[0], None]),
        ValueError,
        r"boxes\[1\] = None has no bounds; leave the row out",
    ),
    "empty shape": ([SHAPES[0], shapely.Polygon()], ValueError, r"boxes\[1\] = POLYGON EMPTY has no bounds"),
    "text among shapes": (np.array([SHAPES[0], "a"], object), TypeError, r"boxes\[1\] = 'a' is no shape"),
    "rows with names": (
        [FRAME.iloc[0], FRAME.iloc[1]],
        TypeError,
        r"boxes\[0\] .* Series with names; give the whole table",
    ),
    "dicts": ([{"min_x": 0}], TypeError, r"boxes\[0\] .* a dict with names; give the whole table"),
}


@pytest.mark.parametrize("case", WRONG_BOXES)
def test_what_is_wrong_is_named(case):
    boxes, error, message = WRONG_BOXES[case]
    with pytest.raises(error, match=message):
        bp.pairs(boxes)
    index = bp.BruteForce()
    with pytest.raises(error, match=message):
        index.insert_many(boxes)
    assert len(index) == 0


def rectangles(library):
    """Rectangles of a library and the same as edges, and a sprite."""
    low = np.random.default_rng(8).integers(-50, 50, (40, 2))
    edges = np.hstack([low, low + np.random.default_rng(9).integers(1, 30, (40, 2))])
    if library == "arcade":
        arcade = pytest.importorskip("arcade")
        return [arcade.LRBT(left, right, bottom, top) for left, bottom, right, top in edges.tolist()], edges
    pygame = pytest.importorskip("pygame")
    kind = {"pygame.Rect": pygame.Rect, "pygame.FRect": pygame.FRect, "sprites": pygame.Rect}[library]
    made = [kind(left, top, right - left, bottom - top) for left, top, right, bottom in edges.tolist()]
    return [SimpleNamespace(rect=rect) for rect in made] if library == "sprites" else made, edges


@pytest.mark.parametrize("library", ["pygame.Rect", "pygame.FRect", "arcade", "sprites"])
def test_rectangles_are_boxes(library):
    """Their own numbers are x, y, width, height, or others: often sound as min and max, and always wrong."""
    rows, edges = rectangles(library)
    for touching in (True, False):
        assert np.array_equal(bp.pairs(rows, touching=touching), bp.pairs(edges, touching=touching))
    assert np.array_equal(bp.join(rows[:15], tuple(rows[15:])), bp.join(edges[:15], edges[15:]))
    assert bp.count_pairs(rows) == bp.count_pairs(edges)
    moves = np.ones((40, 2))
    assert np.array_equal(bp.swept_pairs(rows, moves).pairs, bp.swept_pairs(edges, moves).pairs)
    index = bp.BoxTree()
    assert index.insert_many(rows).tolist() == list(range(40))
    assert np.array_equal(index.boxes, edges)
    assert index.query_box(rows[:5]).tolist() == index.query_box(edges[:5]).tolist()
    if library != "sprites":
        assert index.query_box(rows[3]).tolist() == index.query_box(edges[3]).tolist()
        index.move(0, rows[7])
        assert index.box(index.insert(rows[1])).tolist() == edges[1].tolist()
        assert index.box(0).tolist() == edges[7].tolist()


def test_rectangles_among_rows_of_numbers_and_where_no_boxes_belong_are_refused():
    pygame = pytest.importorskip("pygame")
    rectangle = pygame.Rect(1, 2, 30, 40)
    for rows in ([rectangle, [0, 0, 1, 1]], [[0, 0, 1, 1], rectangle], [rectangle, None]):
        with pytest.raises(TypeError, match=r"boxes\[.\] = .* is no rectangle, and others are"):
            bp.pairs(rows)
    for points in ([rectangle], rectangle):
        with pytest.raises(TypeError, match="points must hold real numbers; got a Rect, which is a box"):
            bp.neighbors(points, 1)
    with pytest.raises(ValueError, match=r"boxes\[1\] has min_x = 5 > max_x = 1"):
        bp.pairs([rectangle, pygame.Rect(5, 5, -4, 2)])


def test_shapes_without_shapely():
    """Anything with ``geom_type`` and ``bounds`` will do."""

    class Circle:
        geom_type = "Circle"
        bounds = (0.0, 1.0, 2.0, 3.0)

    assert as_boxes([Circle(), SHAPES[1]]).tolist() == [[0, 1, 2, 3], [1, 1, 3, 4]]


# --- what belongs to the boxes ---------------------------------------------------------------------------


FLAGS = [True, True, False, True]
SETS = [1, 1, 2, 2]
COLUMN_OF = {
    "pandas": pd.Series,
    "pandas with another index": lambda values: pd.Series(values, index=[3, 2, 1, 0]),
    "pandas with names": lambda values: pd.Series(values, index=list("dcba")),
    "pandas, nullable": lambda values: pd.Series(values).convert_dtypes(),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow in chunks": lambda values: pa.chunked_array([values[:1], values[1:]]),
}


@pytest.mark.parametrize("kind", COLUMN_OF)
def test_rules_come_row_by_row(kind):
    column = COLUMN_OF[kind]
    assert bp.pairs(FRAME, static=column(FLAGS)).tolist() == [[2, 3]]
    assert bp.pairs(FRAME, categories=column(SETS), masks=column([1, 1, 1, 1])).tolist() == [[0, 1]]
    index = bp.BruteForce()
    index.insert_many(FRAME, static=column(FLAGS), category=column(SETS))
    assert index.pairs().tolist() == [[2, 3]]
    index.move_many(column([3, 1, 2, 0]), BOXES[[3, 1, 2, 0]])
    assert index.query_radius([[0, 0]] * 4, column([0.5, 0.5, 9.0, 0.5])).tolist() == [
        [0, 0], [1, 0], [2, 0], [2, 1], [2, 2], [3, 0],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "make",
    [lambda v: pd.Series(v).convert_dtypes(), pl.Series, pa.array],
    ids=["pandas", "polars", "arrow"],
)
def test_a_rule_that_is_missing_is_named(make):
    calls = {
        "static": lambda: bp.pairs(BOXES, static=make([True, True, None, True])),
        "categories": lambda: bp.pairs(BOXES, categories=make([1, 1, None, 1])),
        "masks": lambda: bp.pairs(BOXES, masks=make([1, 1, None, 1])),
        "ids": lambda: bp.BruteForce().remove_many(make([1, 1, None, 1])),
        "r": lambda: bp.BruteForce().query_radius([0, 0], make([1, 1, None, 1])),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"{name}: row 2 is missing"):
            call()


# --- points, motions and circles--------------------------------------------------------------------------


PLACES = np.array([[1.0, 2.0], [6.0, 8.0]])
POINTS = {
    "pandas": pd.DataFrame({"name": ["a", "b"], "y": PLACES[:, 1], "x": PLACES[:, 0]}),
    "polars": pl.DataFrame({"lat": PLACES[:, 1], "lon": PLACES[:, 0]}),
    "arrow": pa.table({"y": PLACES[:, 1], "x": PLACES[:, 0]}),
    "structured": np.array([(2, 1), (8, 6)], [("y", "f4"), ("x", "i4")]),
    "shapes": gpd.GeoSeries(shapely.points(PLACES)),
    "list of shapes": list(shapely.points(PLACES)),
    "without names": pd.DataFrame(PLACES),
}


@pytest.mark.parametrize("kind", POINTS)
def test_points(kind):
    given = POINTS[kind]
    index = bp.BruteForce()
    index.insert_many(BOXES)
    np.testing.assert_array_equal(index.query_point(given), index.query_point(PLACES))
    np.testing.assert_array_equal(index.nearest(given)[0], index.nearest(PLACES)[0])
    balls = BallSimulation(positions=given, radius=0.5)
    np.testing.assert_array_equal(balls.positions, PLACES)
    level = bp.TileMap([[False, True]], tile_size=5)
    np.testing.assert_array_equal(
        level.line_of_sight(given, (0, 0)),
        level.line_of_sight(PLACES, (0, 0)),
    )


def test_one_point():
    index = bp.BruteForce()
    index.insert_many(BOXES)
    world = bp.World()
    body = world.add(bp.Box(5, 6, 2, 3))
    for point in (POINTS["pandas"].iloc[1], shapely.Point(6, 8), POINTS["structured"][1]):
        assert index.query_point(point).tolist() == [2, 3]
        assert world.query_point(point) == [body]


def test_directions_are_distinguished_from_places():
    frame = pd.DataFrame({"x": [10.0], "y": [10.0], "z": [1.0], "vy": [2.0], "vx": [1.0]})
    balls = BallSimulation(positions=frame[["y", "x"]], velocities=frame, radius=1)
    assert balls.velocities.tolist() == [[1, 2]]
    index = bp.BruteForce()
    index.insert_many(BOXES)
    turned = index.raycast(pd.DataFrame({"y": [1.0], "x": [-9.0]}), pd.DataFrame({"dy": [0.0], "dx": [1.0]}))
    assert turned.id.tolist() == [0] if hasattr(turned, "id") else turned.ids.tolist() == [0]


def test_circles():
    frame = pd.DataFrame({"radius": [2.0], "y": [0.0], "x": [3.0]})
    assert bp.contact_circles(frame, [[0, 0, 2]]).depths.tolist() == [1]
    with pytest.raises(ValueError, match="a: the columns are 'x'; name them x, y, radius"):
        bp.contact_circles(frame[["x"]], [[0, 0, 2]])


def test_wrong_points_are_named():
    index = bp.BruteForce()
    index.insert_many(BOXES)
    with pytest.raises(ValueError, match=r"point\[1\] is a Polygon; give points, such as the centroids"):
        index.query_point([shapely.Point(0, 0), SHAPES[0]])
    with pytest.raises(ValueError, match="point: the columns are 'u', 'v'; name them x, y"):
        index.query_point(pd.DataFrame({"u": [1], "v": [2]}))
    with pytest.raises(ValueError, match="the columns 'x', 'X' could both be x"):
        index.query_point(pd.DataFrame({"x": [1], "X": [1], "y": [2]}))
    with pytest.raises(TypeError, match="r must be one column of numbers; got a table with 'label'"):
        index.query_radius([0, 0], FRAME)
    with pytest.raises(TypeError, match="r must hold real numbers; got shapes"):
        index.query_radius([0, 0], SHAPES)


def test_an_array_is_taken_as_it_is():
    for dtype in (np.float32, np.float64):
        boxes = BOXES.astype(dtype)
        assert as_boxes(boxes) is boxes


EMPTY = {
    "table": lambda: gpd.GeoDataFrame(geometry=SHAPES).iloc[:0],
    "series": lambda: gpd.GeoSeries(SHAPES).iloc[:0],
    "array of geopandas": lambda: gpd.GeoSeries(SHAPES).iloc[:0].array,
    "array": lambda: np.array(SHAPES, object)[:0],
    "series of pandas": lambda: pd.Series(SHAPES).iloc[:0],
}


@pytest.mark.parametrize("case", EMPTY)
def test_a_filter_may_leave_no_shapes(case):
    none = EMPTY[case]()
    for found in (bp.pairs(none), bp.join(none, BOXES), bp.join(BOXES, none), bp.swept_pairs(none, []).pairs):
        assert (found.shape, found.dtype) == ((0, 2), np.int32)
    assert bp.count_pairs(none) == 0
    assert bp.explain(none).method
    index = bp.BoxTree()
    assert index.insert_many(none).tolist() == []
    assert index.query_box(none).shape == (0, 2)
    assert index.query_point(none).shape == (0, 2)
    assert index.nearest(none, 2).ids.shape == (0, 2)
    assert len(bp.neighbors(none, 1)) == len(bp.neighbors(none, 1, other=[[0, 0]])) == 0
    assert bp.nearest([[0, 0]], 1, other=none).ids.tolist() == [[-1]]


def test_systems_that_differ_in_the_order_of_axes_meet():
    pyproj = pytest.importorskip("pyproj")
    degrees = pyproj.CRS(4326)
    for same in (pyproj.CRS("OGC:CRS84"), pyproj.CRS(degrees.to_wkt("WKT1_ESRI"))):
        assert same != degrees
        here, there = (gpd.GeoDataFrame(geometry=SHAPES, crs=crs) for crs in (degrees, same))
        for a, b in ((here, there), (there, here)):
            assert bp.join(a, b).tolist() == bp.join(BOXES, BOXES).tolist()
    with pytest.raises(ValueError, match="a is in the coordinate system OGC:CRS84 and b in EPSG:4269"):
        bp.join(*(gpd.GeoDataFrame(geometry=SHAPES, crs=crs) for crs in ("OGC:CRS84", 4269)))


def test_two_coordinate_systems_do_not_meet():
    degrees, metres = (gpd.GeoDataFrame(geometry=SHAPES, crs=crs) for crs in ("EPSG:4326", "EPSG:3857"))
    unknown = gpd.GeoDataFrame(geometry=SHAPES)
    for a, b in ((degrees, metres), (degrees.geometry, metres), (degrees, metres.geometry.array)):
        with pytest.raises(ValueError, match=r"a is in .*EPSG:4326 and b in EPSG:3857"):
            bp.join(a, b)
    right = bp.join(BOXES, BOXES).tolist()
    for a, b in ((degrees, degrees), (degrees, unknown), (unknown, metres), (degrees, BOXES)):
        assert bp.join(a, b).tolist() == right
    motions = gpd.GeoSeries([shapely.Point(1, 0)] * len(BOXES), crs="EPSG:3857")
    frame = pd.DataFrame({"dx": np.ones(len(BOXES)), "dy": np.zeros(len(BOXES))})
    ways_of = gpd.GeoDataFrame(frame, geometry=motions)
    with pytest.raises(ValueError, match=r"boxes is in .*EPSG:4326 and motion in EPSG:3857"):
        bp.swept_pairs(degrees, ways_of)
    there, here = (gpd.GeoSeries(shapely.points(BOXES[:, :2]), crs=own.crs) for own in (degrees, metres))
    with pytest.raises(ValueError, match=r"points is in .*EPSG:4326 and other in EPSG:3857"):
        bp.neighbors(there, 1.0, other=here)
    with pytest.raises(ValueError, match=r"points is in .*EPSG:4326 and other in EPSG:3857"):
        bp.nearest(there, 1, other=here)
    assert len(bp.neighbors(there, 0.0, other=there)) == len(BOXES)
    with_column = FRAME.assign(crs="EPSG:3857")
    assert bp.join(degrees, with_column).tolist() == right
