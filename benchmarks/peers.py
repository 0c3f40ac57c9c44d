"""All pairs, beside what Python users would use instead; pair counts are checked before anything is timed.

    python -m pip install shapely geoindex-rs ipctk scipy fastquadtree
    python benchmarks/peers.py [--sizes 1000 10000 100000 1000000]

Timed is everything from a NumPy array of boxes to all pairs, building the tree or grid included.  Where a
peer wants its boxes in another form (shapely's geometries, ipctk's edges, float64), making that form is not
timed.  Ours runs with default arguments (sorted, all cores) and with ``sort=False``.  A peer that takes more
than a second on a size is left out of the larger ones.  fastquadtree has no all-pairs call and is asked box
by box.
"""

import argparse
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from scenes import SCENES, Boxes
from timing import best_of

import broadphase as bp

Search = Callable[[], int]
_SLOW = 1.0


def with_shapely(boxes: Boxes) -> Search:
    shapely = import_module("shapely")
    shapes = shapely.box(*boxes.astype(np.float64).T)

    def search() -> int:
        both_ways = shapely.STRtree(shapes).query(shapes)
        return (both_ways.shape[1] - len(boxes)) // 2

    return search


def with_geoindex(boxes: Boxes) -> Search:
    rtree = import_module("geoindex_rs.rtree")
    columns = [np.ascontiguousarray(column) for column in boxes.astype(np.float64).T]

    def search() -> int:
        builder = rtree.RTreeBuilder(len(boxes))
        builder.add(*columns)
        tree = builder.finish()
        return int(rtree.tree_join(tree, tree).num_rows - len(boxes)) // 2

    return search


def with_ipctk(boxes: Boxes) -> Search:
    ipctk = import_module("ipctk")
    n = len(boxes)
    # A box is the bounding box of the edge between its corners.
    corners = np.vstack([boxes[:, :2], boxes[:, 2:]]).astype(np.float64)
    edges = np.column_stack([np.arange(n), np.arange(n) + n]).astype(np.int32)

    def search() -> int:
        tree = ipctk.LBVH()
        tree.build(corners, edges, np.empty((0, 3), np.int32), 0.0)
        return len(tree.detect_edge_edge_candidates())

    return search


def with_scipy(boxes: Boxes) -> Search | None:
    spatial = import_module("scipy.spatial")
    extent = boxes[:, 2:].astype(np.float64) - boxes[:, :2]
    if np.ptp(extent) > 1e-3 * extent.max():
        return None  # only equal squares are points at a distance
    low = boxes[:, :2].astype(np.float64)

    def search() -> int:
        return len(spatial.cKDTree(low).query_pairs(extent.mean(), p=np.inf, output_type="ndarray"))

    return search


def with_fastquadtree(boxes: Boxes) -> Search:
    fastquadtree = import_module("fastquadtree")
    world = (*(boxes.min(axis=0)[:2] - 1).tolist(), *(boxes.max(axis=0)[2:] + 1).tolist())

    def search() -> int:
        tree = fastquadtree.RectQuadTree(world, 16)
        tree.insert_many_np(boxes)
        found = sum(len(tree.query_np(tuple(box))[0]) for box in boxes.tolist())
        return (found - len(boxes)) // 2

    return search


PEERS: dict[str, Callable[[Boxes], Search | None]] = {
    "shapely": with_shapely,
    "geoindex-rs": with_geoindex,
    "ipctk": with_ipctk,
    "scipy": with_scipy,
    "fastquadtree": with_fastquadtree,
}
# SciPy measures distances between points, so where float32 rounds a square it may differ by a pair or two;
# the others do not promise to be exact in float32, and how far they are off is printed.
_TOLERATED = 1e-3


def contestants(boxes: Boxes, left_out: set[str]) -> dict[str, Search]:
    """Everyone who is installed, can do this scene, and finds as many pairs as we do."""
    calls: dict[str, Search] = {
        "broadphase": lambda: len(bp.pairs(boxes)),
        "sort=False": lambda: len(bp.pairs(boxes, sort=False)),
    }
    pairs = calls["broadphase"]()
    for name, make in PEERS.items():
        if name in left_out:
            continue
        try:
            search = make(boxes)
        except ModuleNotFoundError:
            left_out.add(name)
            continue
        if search is None:
            continue
        found = search()
        if found != pairs:
            print(f"  {name} finds {found:,} pairs, we find {pairs:,}")
            if abs(found - pairs) > _TOLERATED * pairs:
                raise SystemExit("that is no rounding")
        calls[name] = search
    return calls


def main() -> None:
    """Print one table a scene."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--scenes", nargs="+", default=["uniform", "mixed_sizes"], choices=SCENES)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each contestant and size")
    options = parser.parse_args()
    for name in ("numpy", "numba", *PEERS):
        try:
            print(f"{name} {version(name)}", end="  ")
        except PackageNotFoundError:
            print(f"{name} is not installed", end="  ")
    print("\nmilliseconds, and how many times as long as broadphase with default arguments")
    for scene in options.scenes:
        left_out: set[str] = set()
        for n in options.sizes:
            boxes = SCENES[scene](n, 2)
            print(f"{scene}, {n:,} boxes, {bp.count_pairs(boxes):,} pairs")
            best = best_of(contestants(boxes, left_out), options.seconds)
            for name, seconds in best.items():
                print(f"  {name:<14}{1e3 * seconds:>12,.3f} ms{seconds / best['broadphase']:>9.2f} x")
                if seconds > _SLOW:
                    left_out.add(name)


if __name__ == "__main__":
    main()
