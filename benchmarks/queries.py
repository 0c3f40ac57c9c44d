"""Questions to an index that lives, beside the peers; the answers are checked before anything is timed.

    python -m pip install shapely rtree fastquadtree
    python benchmarks/queries.py [--boxes 100000] [--batch 50000] [--index box_tree]

One box query at a time from Python: for us and fastquadtree the box is a tuple, for rtree too, for shapely a
geometry made beforehand.  Then one call for a whole batch, which only shapely has as well.  Then filling and
emptying one box at a time, with a tenth of the boxes and with all of them: a call must not cost more where
there are more boxes.
"""

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from timing import best_of

import broadphase as bp

Rows = npt.NDArray[np.float64]
Query = Callable[[int], Any]
"""Asks the query of a number and returns the ids, in any order."""
SINGLE = 500


def with_shapely(boxes: Rows, queries: Rows) -> Query:
    shapely = import_module("shapely")
    tree = shapely.STRtree(shapely.box(*boxes.T))
    asked = shapely.box(*queries.T)
    return lambda k: tree.query(asked[k])


def with_rtree(boxes: Rows, queries: Rows) -> Query:
    index = import_module("rtree.index")
    tree = index.Index((k, tuple(row), None) for k, row in enumerate(boxes.tolist()))
    asked = [tuple(row) for row in queries.tolist()]
    return lambda k: list(tree.intersection(asked[k]))


def with_fastquadtree(boxes: Rows, queries: Rows) -> Query:
    fastquadtree = import_module("fastquadtree")
    world = (*(boxes.min(axis=0)[:2] - 1).tolist(), *(boxes.max(axis=0)[2:] + 1).tolist())
    tree = fastquadtree.RectQuadTree(world, 16, dtype="f64")
    tree.insert_many_np(boxes)
    asked = [tuple(row) for row in queries.tolist()]
    return lambda k: tree.query_np(asked[k])[0]


PEERS: dict[str, Callable[[Rows, Rows], Query]] = {
    "shapely": with_shapely,
    "rtree": with_rtree,
    "fastquadtree": with_fastquadtree,
}


def uniform_world(n: int) -> Rows:
    """Boxes of sides between 1 and 5, one on every ten units of area."""
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
    asked = [tuple(row) for row in queries.tolist()]
    contestants: dict[str, Query] = {"broadphase": lambda k: index.query_box(asked[k])}
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


def compare_batch(index: bp.Index, boxes: Rows, side: float, count: int, seconds: float) -> None:
    queries = windows(count, side, boxes)
    rows = index.query_box(queries)
    print(f"a batch of {count:,}, side {side:g}, {len(rows) / count:.1f} boxes each")
    calls: dict[str, Callable[[], Any]] = {"broadphase": lambda: index.query_box(queries)}
    try:
        shapely = import_module("shapely")
    except ModuleNotFoundError:
        shapely = None
    if shapely is not None:
        tree, asked = shapely.STRtree(shapely.box(*boxes.T)), shapely.box(*queries.T)
        theirs = tree.query(asked).T
        if not np.array_equal(theirs[np.lexsort((theirs[:, 1], theirs[:, 0]))], rows):
            raise SystemExit("shapely finds something else")
        calls["shapely"] = lambda: tree.query(asked)
    show(best_of(calls, seconds), count)


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


def main() -> None:
    """Print what each costs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--boxes", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=50_000)
    parser.add_argument("--index", default="box_tree", choices=bp.INDEXES)
    parser.add_argument("--sides", type=float, nargs="+", default=[2.0, 10.0, 50.0])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each contestant")
    options = parser.parse_args()
    boxes = uniform_world(options.boxes)
    index = bp.make_index(options.index)
    index.insert_many(boxes)
    left_out: set[str] = set()
    print(f"{index}; each figure is the best of many, beside it how many times as long as ours")
    for side in options.sides:
        compare_single(index, boxes, side, left_out, options.seconds)
    for side in options.sides:
        compare_batch(index, boxes, side, options.batch, options.seconds)
    print("one box at a time, a call each")
    one_by_one(options.index, boxes[:100])
    for n in (options.boxes // 10, options.boxes):
        one_by_one(options.index, boxes[:n])


if __name__ == "__main__":
    main()
