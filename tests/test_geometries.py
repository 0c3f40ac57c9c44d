"""`join` with a predicate: the pairs that shapely's predicate finds among all, and that `sjoin` finds."""

import copy
import gc
import os
import pickle
import signal
import threading
import time
from itertools import product

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from checks import assert_same, in_order

import broadphase as bp
from broadphase.errors import PairLimitExceeded

PREDICATES = [
    "intersects",
    "within",
    "contains",
    "covers",
    "covered_by",
    "contains_properly",
    "crosses",
    "overlaps",
    "touches",
]
# Whole coordinates, so that geometries often share corners and edges; fractions, so that they do not.
GRIDS = {"whole": 12, "fractions": None}
SQUARES = gpd.GeoSeries(shapely.box([0, 2, 8], 0, [2, 4, 9], 2), index=["a", "b", "c"])
DOTS = gpd.GeoSeries(shapely.points([[1, 1], [2, 1], [5, 5]]), index=[10, 20, 30])


def geometries(n, grid, seed):
    """Of all kinds, some empty, some missing, some with z; all valid.

    To GEOS, whether an invalid one (a line of no length) meets another depends on which of them is prepared.
    """
    random = np.random.default_rng(seed)

    def places(count):
        near = random.random(2) * 12 + random.random((count, 2)) * random.choice([1, 3, 6])
        return near if grid is None else np.round(near)

    def area():
        low = places(1)[0]
        whole = shapely.box(*low, *(low + 1 + places(1)[0] / 4))
        hole = shapely.affinity.scale(whole, 0.5, 0.5)
        hull = shapely.convex_hull(shapely.multipoints(places(6)))
        return random.choice([whole, whole - hole, hull, hole])

    def line():
        return shapely.linestrings(places(random.integers(2, 6)))

    def dot():
        return shapely.points(places(1)[0])

    kinds = [
        area,
        line,
        dot,
        lambda: shapely.multipoints(places(3)),
        lambda: shapely.multilinestrings([line(), line()]),
        lambda: shapely.union_all([area(), area()]),
        lambda: shapely.geometrycollections([dot(), line(), area()]),
        lambda: shapely.force_3d(line(), 5.0),
        lambda: None,
        lambda: shapely.Polygon(),
        lambda: shapely.GeometryCollection(),
    ]
    made = np.empty(n, object)
    made[:] = [kinds[k]() for k in random.choice(len(kinds), n, p=[0.3, *[0.1] * 6, 0.03, 0.03, 0.02, 0.02])]
    return np.where(shapely.is_valid(made), made, None)


def of_all(a, b, predicate, *more):
    """The rows for which the predicate holds, of all rows of a with all rows of b."""
    holds = getattr(shapely, predicate)(a[:, None], b[None, :], *(each[:, None] for each in more))
    return np.argwhere(holds).astype(np.int32)


@pytest.mark.covering
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("predicate", PREDICATES)
def test_every_predicate_is_that_of_shapely(grid, predicate):
    a, b = geometries(150, GRIDS[grid], 1), geometries(180, GRIDS[grid], 2)
    expected = of_all(a, b, predicate)
    assert len(expected) > (0 if grid == "whole" else -1)
    assert_same(bp.join(a, b, predicate=predicate), expected)
    queried = shapely.STRtree(b).query(a, predicate=predicate).T.astype(np.int32)
    assert_same(bp.join(list(a), gpd.GeoSeries(b), predicate=predicate, method="tree"), in_order(queried))


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("turned", [False, True])
def test_within_a_distance(grid, turned):
    a, b = geometries(120, GRIDS[grid], 3), geometries(90, GRIDS[grid], 4)
    if turned:  # the side with more coordinates is the second
        a, b = shapely.points(np.random.default_rng(5).integers(0, 12, (120, 2))), geometries(90, 12, 4)
    distances = np.random.default_rng(6).integers(0, 4, len(a)).astype(float)
    for given in (distances, distances.tolist(), 2, 0.0, np.inf):
        each = np.broadcast_to(np.asarray(given, float), a.shape)
        expected = of_all(a, b, "dwithin", each)
        assert len(expected)
        assert_same(bp.join(a, b, predicate="dwithin", distance=given), expected)


def test_a_distance_that_is_rounded():
    # 0.1 + 0.2 is not 0.3: what counts is the distance that GEOS computes.
    steps = np.cumsum(np.full(400, 0.1)) + 1e6
    dots = shapely.points(np.stack([steps, np.zeros_like(steps)], axis=1))
    for distance in (0.1, 0.3, np.float32(0.3)):
        expected = of_all(dots, dots, "dwithin", np.full(len(dots), float(distance)))
        assert_same(bp.join(dots, dots, predicate="dwithin", distance=distance), expected)


@pytest.mark.parametrize("predicate", [*PREDICATES, "dwithin"])
def test_labels_are_those_of_sjoin(predicate):
    a = gpd.GeoDataFrame(geometry=geometries(200, 12, 7), index=[f"row {k % 150}" for k in range(200)])
    b = gpd.GeoDataFrame(geometry=geometries(100, 12, 8), index=np.arange(100)[::-1] * 5)
    more = {"distance": 1.0} if predicate == "dwithin" else {}
    expected = a.sjoin(b, predicate=predicate, **more)["index_right"]
    found = bp.join(a, b, predicate=predicate, labels=True, **more)
    assert len(found)
    assert isinstance(found, pd.Series)
    assert found.name == "index_right"
    assert sorted(zip(found.index, found, strict=True)) == sorted(zip(expected.index, expected, strict=True))
    rows = bp.join(a, b, predicate=predicate, **more)
    assert found.index.equals(a.index[rows[:, 0]])
    assert found.tolist() == b.index[rows[:, 1]].tolist()


def test_labels_of_one_side_and_of_boxes():
    boxes = pd.DataFrame({"x": [0, 5], "y": [0, 5], "width": 3, "height": 3}, index=["home", "work"])
    assert bp.join(boxes, [[1, 1, 2, 2], [6, 6, 7, 7]], labels=True).to_dict() == {"home": 0, "work": 1}
    found = bp.join(DOTS.array, SQUARES, predicate="intersects", labels=True)
    assert list(zip(found.index, found, strict=True)) == [(0, "a"), (1, "a"), (1, "b")]
    two = boxes.set_index(pd.MultiIndex.from_tuples([("here", 1), ("there", 2)]))
    assert bp.join(boxes, two, labels=True).tolist() == [("here", 1), ("there", 2)]
    with pytest.raises(TypeError, match=r"labels=True needs tables .*neither a nor b has an index"):
        bp.join(DOTS.array, list(SQUARES), predicate="intersects", labels=True)


def many(n=4_000):
    """Polygons of 24 corners with some ten partners each; more candidates than one thread takes."""
    centres = np.random.default_rng(9).random((n, 2)) * np.sqrt(n)
    return shapely.buffer(shapely.points(centres), 0.9, quad_segs=6)


def test_threads_and_order():
    a, b = many(), many(3_000)[::-1]
    expected = in_order(shapely.STRtree(b).query(a, predicate="intersects").T.astype(np.int32))
    assert len(expected) > 20_000
    for threads in (1, 2, 5, None):
        assert_same(bp.join(a, b, predicate="intersects", threads=threads), expected)
    dots = shapely.centroid(a)
    within = in_order(shapely.STRtree(b).query(dots, predicate="within").T.astype(np.int32))
    assert_same(bp.join(dots, b, predicate="within"), within)
    assert_same(in_order(bp.join(dots, b, predicate="within", sort=False)), within)
    assert_same(bp.join(b, dots, predicate="contains"), in_order(within[:, ::-1]))
    with pytest.raises(PairLimitExceeded):
        bp.join(a, b, predicate="intersects", max_pairs=len(expected) - 1)
    assert len(bp.join(a, b, predicate="intersects", max_pairs=len(expected))) == len(expected)


def test_the_geometries_given_stay_as_they_are():
    a, b = many(2_000), many(1_000)
    shapely.prepare(b)
    bp.join(a, b, predicate="intersects")
    bp.join(b, a, predicate="contains")
    assert not shapely.is_prepared(a).any()
    assert shapely.is_prepared(b).all()


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c(threads, exhaustive):
    shapes = many(60_000 if exhaustive else 20_000)
    timer = threading.Timer(0.5 if exhaustive else 0.2, os.kill, (os.getpid(), signal.SIGINT))

    def search():
        timer.start()
        for _ in range(100):
            bp.join(shapes, shapes, predicate="overlaps", threads=threads)
        time.sleep(1)

    gc.disable()  # else what Hypothesis does after a collection may be interrupted, and swallows it
    try:
        with pytest.raises(KeyboardInterrupt):
            search()
    finally:
        gc.enable()
    few = shapes[:100]
    assert_same(bp.join(few, few, predicate="overlaps"), of_all(few, few, "overlaps"))


def test_without_rows():
    none = np.empty((0, 2), np.int32)
    missing = [None, shapely.Point()]
    alone = pd.Series(missing)  # of objects, which pandas makes of a list
    for a, b in (([], []), ([], DOTS), (DOTS, []), (missing, DOTS), (DOTS, alone), (DOTS.iloc[:0], DOTS)):
        assert_same(bp.join(a, b, predicate="intersects"), none)
        assert_same(bp.join(a, b, predicate="dwithin", distance=1), none)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (
            {"predicate": "inside"},
            ValueError,
            "unknown predicate 'inside'; choose one of intersects, within, contains, dwithin, ",
        ),
        (
            {"predicate": "dwithin"},
            ValueError,
            r'predicate="dwithin" needs distance=, a number or one for each row of a',
        ),
        ({"distance": 1}, ValueError, "distance= is for predicate="),
        (
            {"predicate": "within", "distance": 1},
            ValueError,
            "distance= is for predicate=\"dwithin\"; leave it out with 'within'",
        ),
        ({"predicate": "dwithin", "distance": -1}, ValueError, "distance = -1 is no distance"),
        ({"predicate": "dwithin", "distance": [1, np.nan, 1]}, ValueError, r"distance\[1\] = nan"),
        (
            {"predicate": "dwithin", "distance": [1, 2]},
            ValueError,
            r"distance must be a number, or one for each of the 3 .*got shape \(2,\)",
        ),
        ({"predicate": "dwithin", "distance": "far"}, TypeError, "must hold real numbers"),
        ({"predicate": "within", "period": (9, 9)}, ValueError, "are for boxes"),
        ({"predicate": "within", "env": (1, 1)}, ValueError, "are for boxes"),
        ({"predicate": "within", "touching": False}, ValueError, "are for boxes"),
        ({"predicate": "within", "method": "fast"}, ValueError, "unknown method"),
    ],
)
def test_refused_options(options, kind, message):
    with pytest.raises(kind, match=message):
        bp.join(DOTS, SQUARES, **options)


@pytest.mark.parametrize(
    ("a", "b", "kind", "message"),
    [
        (
            [[0, 0, 1, 1]],
            DOTS,
            TypeError,
            r"predicate= needs geometries .*; a holds int64; leave predicate out for boxes",
        ),
        (DOTS, SQUARES.bounds, TypeError, "b holds float64; leave predicate out"),
        (DOTS, [SQUARES["a"], "b"], TypeError, r"b\[1\] = 'b' is no geometry of shapely; leave it out"),
        (SQUARES["a"], DOTS, ValueError, r"a must be a row of geometries; got shape \(\)"),
        (DOTS.set_crs(4326), SQUARES.set_crs(3857), ValueError, "a is in the coordinate system"),
    ],
)
def test_refused_geometries(a, b, kind, message):
    with pytest.raises(kind, match=message):
        bp.join(a, b, predicate="within")


@pytest.mark.parametrize("predicate", ["contains", "intersects", "covers", "within", "covered_by", "touches"])
def test_points_are_tested_by_their_coordinates(predicate):
    areas = geometries(40, 12, 1)
    dots = shapely.points(np.random.default_rng(2).integers(0, 16, (300, 2)))  # many on edges and corners
    for a, b in ((areas, dots), (dots, areas), (dots[:9], areas), (areas, shapely.force_3d(dots, 1.0))):
        assert_same(bp.join(a, b, predicate=predicate), of_all(a, b, predicate))


@pytest.mark.parametrize("predicate", [*PREDICATES, "dwithin"])
def test_points_may_be_numbers(predicate):
    areas = geometries(40, 12, 1)
    places = np.random.default_rng(2).integers(0, 16, (300, 2))
    more = {"distance": 1.0} if predicate == "dwithin" else {}
    for some in (places, places[:9], places[:0], places.astype(np.float32)):
        dots = shapely.points(some.astype(float))
        for a, b, c, d in ((some, areas, dots, areas), (areas, some, areas, dots), (some, dots, dots, dots)):
            expected = of_all(c, d, predicate, *(np.full(len(c), one) for one in more.values()))
            assert_same(bp.join(a, b, predicate=predicate, **more), expected)
    with pytest.raises(ValueError, match=r"a\[1\] has y = inf"):
        bp.join([[0, 0], [0, np.inf]], areas, predicate="within")


# ---- geometries that are kept


@pytest.mark.parametrize(
    ("predicate", "threads"), [(name, 1 + k % 2) for k, name in enumerate([*PREDICATES, "dwithin"])]
)
def test_an_index_of_geometries_joins_as_they_do(predicate, threads):
    a, b = geometries(70, 8, 1), geometries(90, 8, 2)
    index, more = bp.GeometryIndex(b), {"distance": 1.0} if predicate == "dwithin" else {}
    for others in (a, a[:9], a[:0], np.random.default_rng(3).integers(0, 16, (90, 2))):
        for _ in range(2):  # the first tests of prepared geometries make what the next use
            how = {"predicate": predicate, "threads": threads, **more}
            assert_same(bp.join(others, index, **how), bp.join(others, b, **how))
            assert_same(bp.join(index, others, **how), bp.join(b, others, **how))
    assert_same(bp.join(index, index, **how), bp.join(b, b, **how))
    assert not shapely.is_prepared(b[b != np.array(None)]).any()


def test_an_index_of_geometries_shared_out_to_threads():
    """Pieces of one geometry with many candidates, and calls that wait for each other."""
    areas = shapely.buffer(shapely.points([[5, 5], [12, 5], [40, 5]]), [4, 5, 0.1], quad_segs=64)
    places = np.random.default_rng(4).random((20_000, 2)) * 20
    expected = in_order(np.argwhere(shapely.contains_xy(areas, *places.T[..., None])).astype(np.int32))
    assert len(expected) > 5_000
    for threads in (1, 2, 3):
        found = []

        def call(index, threads=threads, found=found):
            found.append(bp.join(places, index, predicate="within", threads=threads))

        index = bp.GeometryIndex(areas)
        callers = [threading.Thread(target=call, args=(index,)) for _ in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert len(found) == 4
        for rows in found:
            assert_same(rows, expected)


@pytest.mark.parametrize(
    ("predicate", "count"),
    [*((name, 150) for name in [*PREDICATES, "dwithin"]), *product(["overlaps", "within"], [0, 1, 2, 16])],
)
def test_pairs_of_an_index_of_geometries(predicate, count):
    shapes = geometries(count, 12, 5)
    more = {"distance": 0.5} if predicate == "dwithin" else {}
    expected = of_all(shapes, shapes, predicate, *(np.full(count, one) for one in more.values()))
    symmetric = predicate not in ("within", "contains", "covers", "covered_by", "contains_properly")
    first, second = expected.T
    expected = expected[first < second if symmetric else first != second]
    assert len(expected) or count < 150
    assert_same(bp.GeometryIndex(shapes).pairs(predicate, **more), expected)
    if len(expected):
        with pytest.raises(PairLimitExceeded):
            bp.GeometryIndex(list(shapes)).pairs(predicate, max_pairs=len(expected) - 1, **more)


def test_the_nearest_of_an_index_of_geometries():
    shapes = geometries(60, None, 6)
    index, dots = bp.GeometryIndex(shapes), np.random.default_rng(7).random((40, 2)) * 20
    for k, r in ((1, np.inf), (3, 1.5), (200, np.inf)):
        wanted = nearest_of_all(shapely.points(dots), shapes, k, r)
        for points in (dots, dots.tolist(), shapely.points(dots)):
            for found in (index.nearest(points, k, r=r), bp.nearest(points, k, other=index, r=r)):
                np.testing.assert_array_equal(found.ids, wanted[0])
                np.testing.assert_array_equal(found.distances, wanted[1])
        one = index.nearest(tuple(dots[0]), k, r=r)
        np.testing.assert_array_equal(one.ids, wanted[0][0])
        np.testing.assert_array_equal(one.distances, wanted[1][0])
    assert index.nearest(dots).ids.shape == (40, 1)
    assert bp.GeometryIndex([]).nearest(dots, 2).ids.tolist() == [[-1, -1]] * 40


def test_an_index_of_geometries_is_like_its_table():
    index = bp.GeometryIndex(SQUARES.set_crs(3857))
    assert len(index) == 3
    assert repr(index) == "<GeometryIndex: 3 geometries>"
    assert bp.join(DOTS, index, predicate="within", labels=True).to_dict() == {10: "a"}
    assert bp.join(DOTS, index, predicate="within", how="left").tolist() == [[0, 0], [1, -1], [2, -1]]
    with pytest.raises(ValueError, match="a is in the coordinate system"):
        bp.join(DOTS.set_crs(4326), index, predicate="within")
    np.testing.assert_array_equal(index.bounds, SQUARES.bounds)
    assert_same(bp.pairs(index), bp.pairs(SQUARES))
    assert_same(bp.join(DOTS, index), bp.join(DOTS, SQUARES))
    for other in (pickle.loads(pickle.dumps(index)), copy.copy(index), copy.deepcopy(index)):
        assert_same(other.pairs(), index.pairs())
        assert other.crs == index.crs
        assert bp.join(DOTS, other, predicate="within", labels=True).to_dict() == {10: "a"}
    with_holes = bp.GeometryIndex([None, SQUARES["a"], shapely.Polygon()])
    assert with_holes.bounds.tolist()[1] == [0, 0, 2, 2]
    assert np.isnan(with_holes.bounds[[0, 2]]).all()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda _: bp.GeometryIndex([[0, 0, 1, 1]]),
            TypeError,
            "GeometryIndex needs geometries .* such as BoxTree",
        ),
        (lambda _: bp.GeometryIndex([SQUARES["a"], 3]), TypeError, r"geometries\[1\] = 3 is no geometry"),
        (lambda index: index.pairs("inside"), ValueError, "unknown predicate 'inside'"),
        (lambda index: index.pairs("dwithin"), ValueError, "needs distance="),
        (lambda index: index.pairs("dwithin", distance=[1, 2, 3]), ValueError, "distance must be one number"),
        (lambda index: index.nearest((0, 0), 0), ValueError, "k must be at least 1"),
        (lambda index: index.nearest((0, np.nan)), ValueError, r"points\[0\] has y = nan"),
    ],
)
def test_what_an_index_of_geometries_refuses(call, kind, message):
    index = bp.GeometryIndex(SQUARES)
    with pytest.raises(kind, match=message):
        call(index)


# ---- the nearest geometries


def nearest_of_all(a, b, k, r=np.inf, own=False):
    """Distances of all pairs, sorted by distance and row."""
    apart = np.nan_to_num(shapely.distance(a[:, None], b[None, :]), nan=np.inf)
    if own:
        np.fill_diagonal(apart, np.inf)
    ids = np.argsort(apart, axis=1, kind="stable")[:, :k].astype(np.int32)
    distances = np.take_along_axis(apart, ids, axis=1)
    missing = (distances > r) | np.isinf(distances)
    ids, distances = np.where(missing, -1, ids), np.where(missing, np.inf, distances)
    short = ((0, 0), (0, k - ids.shape[1]))
    return np.pad(ids, short, constant_values=-1), np.pad(distances, short, constant_values=np.inf)


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
@pytest.mark.parametrize(("n", "m", "k"), [(50, 70, 1), (50, 70, 5), (3, 200, 4), (200, 3, 4), (1, 1, 2)])
def test_nearest_geometries_are_those_of_all_distances(n, m, k, grid):
    a, b = geometries(n, grid, n + k), geometries(m, grid, m)
    for r in (np.inf, 0.5):
        for found, wanted in zip(bp.nearest(a, k, other=b, r=r), nearest_of_all(a, b, k, r), strict=True):
            np.testing.assert_array_equal(found, wanted)
    for found, wanted in zip(bp.nearest(b, k), nearest_of_all(b, b, k, own=True), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_nearest_is_that_of_sjoin_nearest():
    a, b = geometries(60, None, 3), geometries(80, None, 4)
    a, b = (gpd.GeoDataFrame(geometry=side[~shapely.is_missing(side)]) for side in (a, b))
    theirs = a.sjoin_nearest(b, distance_col="apart")
    theirs = theirs[~theirs.index.duplicated()].reindex(a.index)
    ids, distances = bp.nearest(a, 1, other=b.geometry)
    found = ids[:, 0] >= 0
    np.testing.assert_array_equal(distances[found, 0], theirs["apart"][found])
    assert theirs["apart"][~found].isna().all()
    assert bp.nearest(SQUARES, [2], other=list(DOTS)).ids.tolist() == [[1], [0], [1]]


def test_missing_and_empty_points_are_no_neighbours():
    point = shapely.Point(3, 4)
    for others in ([None, point], [point, shapely.Point()], pd.Series([shapely.Point(), point])):
        found = bp.nearest([[0.0, 0.0]], 2, other=others)
        assert found.distances.tolist() == [[5, np.inf]]
        assert found.ids[0, 1] == -1
    with pytest.raises(TypeError, match=r"astype\(float\)"):
        bp.nearest(np.array([[1, 2], [3, 4]], object), 1)


def test_what_nearest_geometries_cannot_do_is_said():
    for wrong in ({"period": (9, 9)}, {"env": ([0] * 3, [0] * 3)}, {"exclude_self": True}):
        with pytest.raises(ValueError, match="leave them out with geometries"):
            bp.nearest(SQUARES, 1, other=DOTS, **wrong)
    with pytest.raises(TypeError, match=r"other\[1\] = 'x' is no geometry"):
        bp.nearest(SQUARES, 1, other=[DOTS.iloc[0], "x"])
    with pytest.raises(TypeError, match=r"nearest of geometries needs .*; other holds int64; .*shapely\.box"):
        bp.nearest(SQUARES, 1, other=[[0, 0, 1, 1]])
    for call, fix in ((bp.pairs, "give its bounds"), (bp.PointIndex, "give its center; ShapeIndex")):
        with pytest.raises(TypeError, match=rf"row 0 is Circle\(.*; {fix}"):
            call([bp.Circle(0, 0, 1)])


def test_the_labels_are_named_after_the_index_of_b():
    parks = SQUARES.rename_axis("park")
    assert bp.join(DOTS, parks, predicate="within", labels=True).name == "park"
    assert bp.join(DOTS, SQUARES, predicate="within", labels=True).name == "index_right"


@pytest.mark.parametrize("b", [SQUARES, SQUARES.iloc[:0], SQUARES.reset_index(drop=True), list(SQUARES)])
def test_a_left_join_has_every_row_of_a(b):
    # DOTS: the first two are in the first square, the second in the second as well, the third in none.
    found = bp.join(DOTS, b, predicate="intersects")
    rows = bp.join(DOTS, b, predicate="intersects", how="left")
    assert rows.tolist() == sorted([*found.tolist(), *([k, -1] for k in range(3) if k not in found[:, 0])])
    right = gpd.GeoDataFrame(geometry=gpd.GeoSeries(b))
    theirs = gpd.GeoDataFrame(geometry=DOTS).sjoin(right, how="left")
    labels = bp.join(DOTS, b, predicate="intersects", how="left", labels=True)
    assert labels.index.tolist() == theirs.index.tolist()
    assert labels.isna().tolist() == theirs["index_right"].isna().tolist()
    assert labels.dropna().tolist() == theirs["index_right"].dropna().tolist()
    assert bp.join([[0, 0, 1, 1], [5, 5, 6, 6]], [[5, 5, 9, 9]], how="left").tolist() == [[0, -1], [1, 0]]


def test_only_two_ways_to_join():
    with pytest.raises(ValueError, match=r'how must be "inner" or "left"; got .right'):
        bp.join(DOTS, SQUARES, predicate="within", how="right")
