"""Queries of an index that is kept, compared with other libraries; the results are checked before timing.

    python -m pip install shapely rtree fastquadtree pymunk
    python benchmarks/queries.py [--boxes 100000] [--batch 50000] [--index box_tree]

One box query at a time from Python: for us, fastquadtree and rtree the box is a tuple, for shapely and pymunk
a geometry made beforehand.  Then the cost of a call of each kind, compared with a function that does nothing.
Then one call for a whole batch, which only shapely has too: for an index in which nothing has moved yet, like
theirs, and for one in which all boxes have.  Then filling and emptying one box at a time, with a tenth of the
boxes and with all of them: a call must not cost more if there are more boxes.

Then the nearest points of each point, building included: compared with SciPy (and scikit-learn if it is
installed), on all cores.

Last the first hits of 20,000 rays among float32 boxes on one thread, where ours come with normals, compared
with Embree 3 if a C++ compiler finds it (Debian: libembree-dev), else with a loop over all boxes in Numba.
"""

import argparse
import ctypes
import shutil
import subprocess
import tempfile
import time
import timeit
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from timing import best_of

import broadphase as bp

Rows = npt.NDArray[np.float64]
Query = Callable[[int], Any]
"""Runs the query with a number and returns the ids, in any order."""
SINGLE = 500


def with_shapely(boxes: Rows, queries: Rows) -> Query:
    shapely = import_module("shapely")
    tree = shapely.STRtree(shapely.box(*boxes.T))
    arguments = shapely.box(*queries.T)
    return lambda k: tree.query(arguments[k])


def with_rtree(boxes: Rows, queries: Rows) -> Query:
    index = import_module("rtree.index")
    tree = index.Index((k, tuple(row), None) for k, row in enumerate(boxes.tolist()))
    arguments = [tuple(row) for row in queries.tolist()]
    return lambda k: list(tree.intersection(arguments[k]))


def with_fastquadtree(boxes: Rows, queries: Rows) -> Query:
    fastquadtree = import_module("fastquadtree")
    world = (*(boxes.min(axis=0)[:2] - 1).tolist(), *(boxes.max(axis=0)[2:] + 1).tolist())
    tree = fastquadtree.RectQuadTree(world, 16, dtype="f64")
    tree.insert_many_np(boxes)
    arguments = [tuple(row) for row in queries.tolist()]
    return lambda k: tree.query_np(arguments[k])[0]


def with_pymunk(boxes: Rows, queries: Rows) -> Query:
    pymunk = import_module("pymunk")
    space = pymunk.Space()
    every = pymunk.ShapeFilter()
    numbers = {}
    for number, row in enumerate(boxes.tolist()):
        shape = pymunk.Poly.create_box_bb(space.static_body, pymunk.BB(*row))
        space.add(shape)
        numbers[shape] = number
    arguments = [pymunk.BB(*row) for row in queries.tolist()]
    return lambda k: [numbers[shape] for shape in space.bb_query(arguments[k], every)]


PEERS: dict[str, Callable[[Rows, Rows], Query]] = {
    "shapely": with_shapely,
    "rtree": with_rtree,
    "fastquadtree": with_fastquadtree,
    "pymunk": with_pymunk,
}


def uniform_world(n: int) -> Rows:
    """Boxes with sides between 1 and 5, one for every ten units of area."""
    random = np.random.default_rng(1)
    low = random.random((n, 2)) * (10 * n) ** 0.5
    return np.hstack((low, low + 1 + 4 * random.random((n, 2))))


def windows(n: int, side: float, world: Rows) -> Rows:
    """Square queries within the world."""
    low = np.random.default_rng(2).random((n, 2)) * (world[:, :2].max() - side)
    return np.hstack((low, low + side))


def show(best: dict[str, float], calls: int) -> None:
    ours = best["broadphase"]
    for name, seconds in best.items():
        print(f"  {name:<14}{1e6 * seconds / calls:>10.3f} us a query{seconds / ours:>9.2f} x")


def compare_single(index: bp.Index, boxes: Rows, side: float, left_out: set[str], seconds: float) -> None:
    queries = windows(SINGLE, side, boxes)
    arguments = [tuple(row) for row in queries.tolist()]
    contestants: dict[str, Query] = {"broadphase": lambda k: index.query_box(arguments[k])}
    found = [contestants["broadphase"](k).tolist() for k in range(SINGLE)]
    for name, make in PEERS.items():
        if name in left_out:
            continue
        try:
            query = make(boxes, queries)
        except ModuleNotFoundError:
            print(f"  {name} is not installed")
            left_out.add(name)
            continue
        if [sorted(map(int, query(k))) for k in range(SINGLE)] != found:
            raise SystemExit(f"{name} finds something else")
        contestants[name] = query
    print(f"one query at a time, side {side:g}, {np.mean([len(ids) for ids in found]):.1f} boxes each")
    calls = {
        name: lambda query=query: [query(k) for k in range(SINGLE)] for name, query in contestants.items()
    }
    show(best_of(calls, seconds), SINGLE)


def compare_batch(name: str, boxes: Rows, side: float, count: int, seconds: float) -> None:
    queries = windows(count, side, boxes)
    index, moved = bp.make_index(name), bp.make_index(name)
    index.insert_many(boxes)
    moved.insert_many(boxes)
    for step in (0.25, 0.125, 0.0):  # small enough that the structure stays
        moved.query_box(queries[:1])
        moved.update(boxes + step)
    rows = index.query_box(queries)
    if not np.array_equal(moved.query_box(queries), rows):
        raise SystemExit("where boxes have moved something else is found")
    print(f"a batch of {count:,}, side {side:g}, {len(rows) / count:.1f} boxes each")
    calls: dict[str, Callable[[], Any]] = {
        "broadphase": lambda: index.query_box(queries),
        "all moved": lambda: moved.query_box(queries),
    }
    try:
        shapely = import_module("shapely")
    except ModuleNotFoundError:
        shapely = None
    if shapely is not None:
        tree, arguments = shapely.STRtree(shapely.box(*boxes.T)), shapely.box(*queries.T)
        theirs = tree.query(arguments).T
        if not np.array_equal(theirs[np.lexsort((theirs[:, 1], theirs[:, 0]))], rows):
            raise SystemExit("shapely finds something else")
        calls["shapely"] = lambda: tree.query(arguments)
    show(best_of(calls, seconds), count)


def each_call(index: bp.Index, boxes: Rows) -> None:
    """The cost of each kind of call, one at a time, in the middle of the world."""
    number = len(boxes) // 2
    row = index.box(number).tolist()
    corner, side = row[:2], row[2] - row[0]
    calls: dict[str, Callable[[], Any]] = {
        "nothing": lambda: None,
        "query_box": lambda: index.query_box(row),
        "query_point": lambda: index.query_point(corner),
        "query_radius": lambda: index.query_radius(corner, side),
        "raycast": lambda: index.raycast(corner, [1.0, 0.5]),
        "nearest": lambda: index.nearest(corner),
        # Last: it makes an index build what it builds on first use.
        "move": lambda: index.move(number, row),
    }
    print("one call of each kind, beside a function that does nothing")
    nothing = 0.0
    for name, call in calls.items():
        call()
        best = min(timeit.repeat(call, number=100, repeat=1_000)) / 100
        nothing = nothing or best
        print(f"  {name:<14}{1e6 * best:>10.3f} us{best / nothing:>9.1f} x")


def one_by_one(name: str, boxes: Rows) -> None:
    """Microseconds for inserting, moving and removing, each a call."""
    index = bp.make_index(name)
    rows = boxes.tolist()
    order = np.random.default_rng(3).permutation(len(rows)).tolist()
    steps: list[tuple[str, Callable[[], Any]]] = [
        ("insert", lambda: [index.insert(row) for row in rows]),
        ("move", lambda: [index.move(i, rows[k]) for k, i in enumerate(order)]),
        ("remove", lambda: [index.remove(i) for i in order]),
    ]
    print(f"  {len(rows):>9,} boxes", end="")
    for step, call in steps:
        begin = time.perf_counter()
        call()
        print(f"{step:>10}{1e6 * (time.perf_counter() - begin) / len(rows):>8.2f} us", end="")
    print()


def with_scipy(points: Rows, k: int) -> Rows:
    spatial = import_module("scipy.spatial")
    found: Rows = spatial.KDTree(points).query(points, k, workers=-1)[0]
    return found


def with_scipy_unbalanced(points: Rows, k: int) -> Rows:
    spatial = import_module("scipy.spatial")
    tree = spatial.cKDTree(points, balanced_tree=False, compact_nodes=False)
    found: Rows = tree.query(points, k, workers=-1)[0]
    return found


def with_sklearn(points: Rows, k: int) -> Rows:
    neighbors = import_module("sklearn.neighbors")
    found: Rows = neighbors.NearestNeighbors(n_neighbors=k, n_jobs=-1).fit(points).kneighbors(points)[0]
    return found


NEAREST_PEERS: dict[str, Callable[[Rows, int], Rows]] = {
    "scipy": with_scipy,
    "scipy, quick": with_scipy_unbalanced,
    "scikit-learn": with_sklearn,
}


def with_index(name: str, points: Rows, k: int) -> Rows:
    index = bp.make_index(name, dim=points.shape[1])
    index.insert_many(np.hstack((points, points)))
    return index.nearest(points, k).distances


def compare_nearest(name: str, n: int, dim: int, k: int, seconds: float) -> None:
    points = np.random.default_rng(4).random((n, dim))
    print(f"the {k} nearest of each among {n:,} points, {dim}-D, building included")
    calls: dict[str, Callable[[], Any]] = {"broadphase": lambda: with_index(name, points, k)}
    ours = calls["broadphase"]()
    for peer, find in NEAREST_PEERS.items():
        try:
            theirs = find(points, k)
        except ModuleNotFoundError:
            print(f"  {peer} is not installed")
            continue
        if not np.allclose(theirs, ours, rtol=1e-9, atol=1e-9):
            raise SystemExit(f"{peer} finds something else")
        calls[peer] = lambda find=find: find(points, k)
    show(best_of(calls, seconds), n)


RAYS, FURTHEST = 20_000, 20.0
Cast = Callable[[Rows, Rows], tuple[npt.NDArray[np.int32], Rows]]
"""Origins and directions to the first hits: ids, -1 for none, and distances."""


def embree() -> ctypes.CDLL | None:
    """`embree.cpp`, if it can be built here."""
    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "embree.so")
        source = Path(__file__).with_name("embree.cpp")
        options = ["-O3", "-march=native", "-shared", "-fPIC", "-o", library, source, "-lembree3"]
        if subprocess.run([compiler, *options], capture_output=True, check=False).returncode:
            return None
        loaded = ctypes.CDLL(str(library))
    loaded.make.restype = ctypes.c_void_p
    return loaded


def with_embree(library: ctypes.CDLL, boxes: Rows) -> Cast:
    dim = boxes.shape[1] // 2
    world = ctypes.c_void_p(
        library.make(ctypes.c_void_p(boxes.ctypes.data), ctypes.c_size_t(len(boxes)), dim)
    )

    def cast(origins: Rows, directions: Rows) -> tuple[npt.NDArray[np.int32], Rows]:
        ids, distances = np.empty(len(origins), np.int32), np.empty(len(origins), np.float32)
        rays = (ctypes.c_void_p(array.ctypes.data) for array in (origins, directions))
        hits = (ctypes.c_void_p(array.ctypes.data) for array in (ids, distances))
        library.cast(world, *rays, ctypes.c_size_t(len(origins)), dim, ctypes.c_float(FURTHEST), *hits)
        return ids, distances

    return cast


def with_loop(boxes: Rows) -> Cast:
    @import_module("numba").njit
    def cast(boxes: Any, origins: Any, directions: Any) -> Any:
        ids, distances = np.full(len(origins), -1, np.int32), np.full(len(origins), np.inf, np.float32)
        dim = origins.shape[1]
        for q in range(len(origins)):
            for i in range(len(boxes)):
                near, far = np.float32(0), np.float32(FURTHEST)
                for axis in range(dim):
                    low = (boxes[i, axis] - origins[q, axis]) / directions[q, axis]
                    high = (boxes[i, dim + axis] - origins[q, axis]) / directions[q, axis]
                    near, far = max(near, min(low, high)), min(far, max(low, high))
                if near <= far and near < distances[q]:
                    ids[q], distances[q] = i, near
        return ids, distances

    return partial(cast, boxes)


def compare_rays(library: ctypes.CDLL | None, n: int, dim: int, half: float, seconds: float) -> None:
    random = np.random.default_rng(5)
    side = (2 * n) ** (1 / dim)
    centers = random.random((n, dim)) * side
    boxes = np.hstack((centers - half, centers + half)).astype(np.float32)
    count = RAYS if library else max(RAYS * 1_000 // n, 1)
    origins = (random.random((count, dim)) * side).astype(np.float32)
    directions = random.normal(size=(count, dim))
    directions = (directions / np.linalg.norm(directions, axis=1, keepdims=True)).astype(np.float32)
    index = bp.BoxTree(dim=dim, dtype=np.float32, threads=1)
    index.insert_many(boxes)
    peer, cast = ("Embree", with_embree(library, boxes)) if library else ("loop", with_loop(boxes))
    ours, (ids, distances) = index.raycast(origins, directions, FURTHEST), cast(origins, directions)
    # In float32 a ray may just miss a box, and of two that are nearly as far it may hit the other one.
    differ = (ids != ours.ids) & ~np.isclose(distances, ours.distances, rtol=0, atol=1e-3)
    if differ.mean() > 1e-3:
        raise SystemExit(f"{peer} finds something else")
    kind = f"{'dense' if half > 0.1 else 'sparse'}, {np.mean(ids >= 0):.0%} hit"
    print(f"{count:,} rays among {n:,} boxes, {dim}-D, {kind}")
    calls = {
        "broadphase": lambda: index.raycast(origins, directions, FURTHEST, normals=False),
        peer: lambda: cast(origins, directions),
    }
    show(best_of(calls, seconds), count)


def main() -> None:
    """Print what each costs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--boxes", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=50_000)
    parser.add_argument("--index", default="box_tree", choices=bp.INDEXES)
    parser.add_argument("--sides", type=float, nargs="+", default=[2.0, 10.0, 50.0])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each contestant")
    parser.add_argument("--points", type=int, nargs="+", default=[50_000, 200_000], help="for the nearest")
    parser.add_argument("--only-nearest", action="store_true")
    parser.add_argument("--only-rays", action="store_true")
    options = parser.parse_args()
    if not options.only_nearest and not options.only_rays:
        compare_queries(options)
    for n in () if options.only_rays else options.points:
        for dim in (2, 3):
            compare_nearest(options.index, n, dim, 9, options.seconds)
    if not options.only_nearest:
        library = embree()
        for dim in (2, 3):
            for n in (1_000, 100_000):
                for half in (0.5, 0.05):
                    compare_rays(library, n, dim, half, options.seconds)


def compare_queries(options: argparse.Namespace) -> None:
    """Boxes, one at a time and many at once, and filling and emptying."""
    boxes = uniform_world(options.boxes)
    index = bp.make_index(options.index)
    index.insert_many(boxes)
    left_out: set[str] = set()
    print(f"{index}; each figure is the best of many, beside it how many times as long as ours")
    for side in options.sides:
        compare_single(index, boxes, side, left_out, options.seconds)
    each_call(index, boxes)
    for side in options.sides:
        compare_batch(options.index, boxes, side, options.batch, options.seconds)
    print("one box at a time, a call each")
    one_by_one(options.index, boxes[:100])
    for n in (options.boxes // 10, options.boxes):
        one_by_one(options.index, boxes[:n])


if __name__ == "__main__":
    main()
