"""Joins of geometries by a predicate, compared with geopandas, shapely's tree and SedonaDB.

    python -m pip install geopandas "apache-sedona[db]"
    python benchmarks/geometries.py [--rows 20000] [--scenes points blocks kept fields ...] [--seconds 4]

All get geometries in memory and return the rows of both sides; their tree or table is built within the time.
SedonaDB gets a table that it has read before, and counts the pairs.  Answers are checked first.  The last
figure says how many times as long the fastest of the others takes.  By hand: shapely's `contains_xy` in the
order of the polygons, for what `broadphase.join` finds by bounds that are kept.
"""

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import geopandas
import numpy as np
import numpy.typing as npt
import shapely
from timing import best_of

import broadphase as bp

Shapes = npt.NDArray[Any]
SEED = 7
OURS = "broadphase"


class Scene(NamedTuple):
    """Two sides of a join, and its predicate."""

    a: Shapes
    b: Shapes
    predicate: Any
    distance: float | None = None
    kept: bool = False
    """Whether the polygons are prepared once, before the time: a `broadphase.GeometryIndex`."""


def stars(random: np.random.Generator, n: int, corners: int, size: float) -> Shapes:
    """Polygons of random outline, in a square that holds one to each unit of area."""
    turns = np.sort(random.random((n, corners)), axis=1) * 2 * np.pi
    radii = size * (0.5 + 0.5 * random.random((n, corners)))
    around = np.stack([radii * np.cos(turns), radii * np.sin(turns)], axis=2)
    return shapely.polygons(random.random((n, 1, 2)) * np.sqrt(n) + around)


def points(random: np.random.Generator, n: int) -> Scene:
    """Many points in few districts with long outlines."""
    side = np.sqrt(n / 100)
    return Scene(shapely.points(random.random((n, 2)) * side), stars(random, n // 100, 400, 1.0), "within")


def blocks(random: np.random.Generator, n: int) -> Scene:
    """Points among small polygons."""
    side = np.sqrt(0.4 * n)
    return Scene(shapely.points(random.random((n, 2)) * side), stars(random, int(0.4 * n), 10, 1.0), "within")


def kept(random: np.random.Generator, n: int) -> Scene:
    """Points in long outlines that are kept, prepared: 50,000 in 2,000 with ``--rows 50000``."""
    side = np.sqrt(n // 25)
    polygons = stars(random, n // 25, 760, 1.0)
    return Scene(shapely.points(random.random((n, 2)) * side), polygons, "within", kept=True)


def fields(random: np.random.Generator, n: int) -> Scene:
    """Two layers of small polygons."""
    return Scene(stars(random, n, 10, 1.0), stars(random, n, 10, 1.0), "intersects")


def roads(random: np.random.Generator, n: int) -> Scene:
    """Winding lines that cross polygons."""
    steps = random.normal(size=(n, 30, 2)) * 0.2
    steps[:, 0] = random.random((n, 2)) * np.sqrt(n)
    return Scene(shapely.linestrings(np.cumsum(steps, axis=1)), stars(random, n, 60, 0.7), "crosses")


def near(random: np.random.Generator, n: int) -> Scene:
    """Points near lines."""
    lines = roads(random, n).a
    return Scene(shapely.points(random.random((n, 2)) * np.sqrt(n)), lines, "dwithin", 0.5)


def nearest(random: np.random.Generator, n: int) -> Scene:
    """The nearest line of each point, and how far it is."""
    return near(random, n)._replace(predicate="nearest", distance=None)


SCENES = {make.__name__: make for make in (points, blocks, kept, fields, roads, near, nearest)}


def contestants(scene: Scene) -> dict[str, Callable[[], int]]:
    """Functions that join, by name; each returns how many pairs it finds."""
    a, b, predicate, distance, is_kept = scene
    if predicate == "nearest":
        return nearest_contestants(a, b)
    left, right = geopandas.GeoDataFrame(geometry=a), geopandas.GeoDataFrame(geometry=b)
    more = {} if distance is None else {"distance": distance}

    def shapelys() -> Any:
        return shapely.STRtree(b).query(a, predicate=predicate, **more)

    side: Any = bp.GeometryIndex(b) if is_kept else b

    def ours(threads: int | None = None) -> Any:
        return bp.join(a, side, predicate=predicate, distance=distance, threads=threads)

    found = shapelys().T
    np.testing.assert_array_equal(ours(), found[np.lexsort((found[:, 1], found[:, 0]))])
    right_tree = right.copy  # a GeoDataFrame keeps its tree, a copy has none
    made: dict[str, Callable[[], int]] = {
        OURS: lambda: len(ours()),
        "one thread": lambda: len(ours(1)),
        "sjoin": lambda: len(left.sjoin(right_tree(), predicate=predicate, **more)),
        "STRtree": lambda: shapelys().shape[1],
    }
    if predicate == "within":
        made["by hand"] = by_hand(a, b, is_kept)
    if find_spec("sedonadb") is not None:
        made["SedonaDB"] = sedona(left, right, predicate, distance)
    for name, run in made.items():
        if run() != len(found):
            raise SystemExit(f"{name} finds {run()} pairs, not {len(found)}")
    return made


def by_hand(a: Shapes, b: Shapes, is_kept: bool) -> Callable[[], int]:
    """Points in polygons as somebody would write it who keeps what can be kept; one thread."""
    bounds, polygons = shapely.bounds(b), shapely.set_srid(b, 0)  # copies
    x, y = np.ascontiguousarray(shapely.get_coordinates(a).T)
    boxes = np.column_stack((x, y, x, y))
    if is_kept:
        shapely.prepare(polygons)

    def run() -> int:
        rows, points = bp.join(bounds, boxes, threads=1).T
        return int(shapely.contains_xy(polygons[rows], x[points], y[points]).sum())

    return run


def nearest_contestants(a: Shapes, b: Shapes) -> dict[str, Callable[[], int]]:
    """The same for the nearest of each."""
    left, right = geopandas.GeoDataFrame(geometry=a), geopandas.GeoDataFrame(geometry=b)
    right_tree = right.copy
    found, distances = shapely.STRtree(b).query_nearest(a, return_distance=True, all_matches=False)
    ours = bp.nearest(a, 1, other=b)
    np.testing.assert_array_equal(ours.distances[:, 0], distances)
    np.testing.assert_array_equal(ours.ids[:, 0], found[1])
    return {
        OURS: lambda: len(bp.nearest(a, 1, other=b).ids),
        "one thread": lambda: len(bp.nearest(a, 1, other=b, threads=1).ids),
        "sjoin_nearest": lambda: len(left.sjoin_nearest(right_tree(), distance_col="far")),
        "STRtree": lambda: len(shapely.STRtree(b).query_nearest(a, return_distance=True)[1]),
    }


def sedona(left: Any, right: Any, predicate: str, distance: float | None) -> Callable[[], int]:
    import sedonadb

    database = sedonadb.connect()
    for name, table in (("a", left), ("b", right)):
        database.create_data_frame(table).to_memtable().to_view(name, overwrite=True)
    function = f"ST_{'DWithin' if predicate == 'dwithin' else predicate.title()}"
    more = "" if distance is None else f", {distance}"
    query = f"SELECT a.geometry, b.geometry FROM a JOIN b ON {function}(a.geometry, b.geometry{more})"
    return lambda: int(database.sql(query).count())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument("--seconds", type=float, default=4.0, help="for each contestant")
    options = parser.parse_args()
    for name in options.scenes:
        scene = SCENES[name](np.random.default_rng(SEED), options.rows)
        made = contestants(scene)
        times = best_of(made, options.seconds)
        alone, ours = times.pop("one thread"), times.pop(OURS)
        best = min(times, key=lambda peer: times[peer])
        said = ", ".join(f"{peer} {1e3 * took:.0f}" for peer, took in times.items())
        print(
            f"{name}, {len(scene.a)} x {len(scene.b)}, {scene.predicate}, {made[OURS]()} pairs: "
            f"{1e3 * ours:.0f} ms (one thread {1e3 * alone:.0f}); {said}; {best}: {times[best] / ours:.2f} x",
            flush=True,
        )


if __name__ == "__main__":
    main()
