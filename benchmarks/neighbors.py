"""Fixed-radius and nearest search of points, compared with the trees and cells of other libraries.

    python -m pip install scipy freud-analysis scikit-learn pynanoflann pykdtree ase vesin matscipy \
        matscipy-neighbours torch torch-cluster
    python benchmarks/neighbors.py [--points 10000 100000]
                                   [--parts near counts nearest worlds moving small cells sums]

Libraries that are not installed are left out. All are timed with building, on all cores if they can use
them, and return distances, sorted by row: what is left to do after a library's own call is counted with it.
Each point has about ten neighbours. The last figure says how many times as long the fastest of the others
takes. *moving*: every point moves in each frame and needs its neighbours, compared with the time of the
yardstick for all pairs of a million boxes. *small*: each way to ask about few rows, compared with the same
call with one array of float64, and SciPy; and one query of points that are kept. *fresh*: an index that is
made and asked once, for one point and for as many as it has. *cells*: lists of atoms
with all images and their shifts, as vesin, matscipy, matscipy-neighbours and ASE make them, small crystals,
and triclinic cells. *sums*: what is made of the pairs, beside NumPy and compiled loops, and a Verlet list.
"""

import argparse
import itertools
import statistics
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
from catalogue import Case, uniform
from peers import build_yardstick as build
from peers import with_yardstick as yardstick
from timing import best_of

import broadphase as bp
from broadphase.inputs.numeric import thread_count

Points = npt.NDArray[np.float64]
NEIGHBORS = 10
SEED = 7
OURS = "broadphase"


def even(random: np.random.Generator, n: int, dim: int) -> Points:
    return random.random((n, dim))


def clusters(random: np.random.Generator, n: int, dim: int) -> Points:
    centres = random.random((max(n // 1000, 10), dim))
    return np.mod(centres[random.integers(0, len(centres), n)] + random.normal(size=(n, dim)) * 1e-3, 1.0)


PARTS = ("near", "counts", "nearest", "worlds", "moving", "small", "fresh", "cells", "sums")
SCENES = {"even": even, "clusters": clusters}


def distance_for(points: Points) -> float:
    """The radius at which a point has about `NEIGHBORS`: the median of a sample."""
    random = np.random.default_rng(SEED)
    some = points[random.integers(0, len(points), 500)]
    return float(np.median(bp.nearest(some, NEIGHBORS + 1, other=points).distances[:, -1]))


def in_order(i: Any, j: Any, distance: Any) -> tuple[Any, Any, Any]:
    order = np.lexsort((j, i))
    return i[order], j[order], distance[order]


def scipy_pairs(points: Points, r: float, period: float | None) -> Callable[[], int]:
    spatial = import_module("scipy.spatial")

    def run() -> int:
        tree = spatial.cKDTree(points, boxsize=period)
        pairs = tree.query_pairs(r, output_type="ndarray")
        away = points[pairs[:, 0]] - points[pairs[:, 1]]
        if period is not None:
            away -= period * np.round(away / period)
        return len(in_order(pairs[:, 0], pairs[:, 1], np.sqrt((away * away).sum(axis=1)))[0])

    return run


def scipy_matrix(points: Points, r: float, period: float | None) -> Callable[[], int]:
    spatial = import_module("scipy.spatial")

    def run() -> int:
        tree = spatial.cKDTree(points, boxsize=period)
        found = tree.sparse_distance_matrix(tree, r, output_type="ndarray")
        found = found[found["i"] < found["j"]]
        return len(in_order(found["i"], found["j"], found["v"])[0])

    return run


def freud_pairs(points: Points, r: float, period: float | None) -> Callable[[], int]:
    freud = import_module("freud")
    dim = points.shape[1]
    # Without a period the box is so large that nothing reaches around it.
    side = period or 3.0
    box = freud.box.Box.cube(side) if dim == 3 else freud.box.Box.square(side)
    given = np.zeros((len(points), 3), np.float32)
    given[:, :dim] = points - 0.5

    def run() -> int:
        query = freud.locality.AABBQuery(box, given)
        return len(query.query(given, {"r_max": r, "exclude_ii": True}).toNeighborList()) // 2

    return run


def sklearn_pairs(points: Points, r: float, period: float | None) -> Callable[[], int]:
    neighbors = import_module("sklearn.neighbors")

    def run() -> int:
        tree = neighbors.NearestNeighbors(radius=r, algorithm="kd_tree", n_jobs=-1).fit(points)
        graph = tree.radius_neighbors_graph(mode="distance", sort_results=True)
        return int(graph.nnz) // 2

    return run


def vesin_pairs(points: Points, r: float, period: float | None) -> Callable[[], int]:
    lists = import_module("vesin").NeighborList(cutoff=r, full_list=False, sorted=True)
    cell = np.eye(3) * (period or 1.0)
    return lambda: len(lists.compute(points, cell, period is not None, "ijd")[0])


def matscipy_pairs(points: Points, r: float, period: float | None) -> Callable[[], int]:
    """Both directions, as it lists them."""
    search = import_module("matscipy.neighbours").neighbour_list
    where = {"positions": points, "cell": np.eye(3) * (period or 1.0), "pbc": 3 * [period is not None]}
    return lambda: len(search("ijd", cutoff=r, **where)[0]) // 2


def cluster_pairs(points: Points, r: float, period: float | None) -> Callable[[], int]:
    """Both directions, as it lists them, without distances."""
    graph, places = import_module("torch_cluster").radius_graph, import_module("torch").from_numpy(points)
    return lambda: graph(places, r, max_num_neighbors=len(points)).shape[1] // 2


PEERS = {
    "SciPy query_pairs": ("scipy", scipy_pairs, True),
    "SciPy sparse_distance_matrix": ("scipy", scipy_matrix, True),
    "freud AABBQuery": ("freud", freud_pairs, True),
    "scikit-learn": ("sklearn", sklearn_pairs, False),
    "vesin": ("vesin", vesin_pairs, True),
    "matscipy": ("matscipy", matscipy_pairs, True),
    "torch-cluster": ("torch_cluster", cluster_pairs, False),
}
_IN_SPACE = ("vesin", "matscipy")  # in three dimensions only


def report(name: str, contestants: dict[str, Callable[[], Any]], seconds: float) -> None:
    """Let all take turns, and print how many times as long each of the others takes, and the fastest."""
    times = best_of(contestants, seconds)
    ours = times.pop(OURS)
    if not times:
        print(f"{name}: {1e3 * ours:.3g} ms; no peer is installed", flush=True)
        return
    best = min(times, key=lambda peer: times[peer])
    said = ", ".join(f"{peer} {1e3 * took:.3g} ({took / ours:.2f} x)" for peer, took in times.items())
    print(f"{name}: {1e3 * ours:.3g} ms; {said}; {best}: {times[best] / ours:.2f} x", flush=True)


def compare_near(points: Points, name: str, seconds: float) -> None:
    r = distance_for(points)
    for period in (None, 1.0):
        lengths = None if period is None else (period,) * points.shape[1]
        right = len(bp.neighbors(points, r, period=lengths))
        contestants: dict[str, Callable[[], Any]] = {
            OURS: lambda lengths=lengths: bp.neighbors(points, r, period=lengths)
        }
        for peer, (module, make, periodic) in PEERS.items():
            if find_spec(module) is None or (period is not None and not periodic):
                continue
            if module in _IN_SPACE and points.shape[1] == 2:
                continue
            contestants[peer] = make(points, r, period)
            found = contestants[peer]()
            # freud computes in float32, so it decides some pairs at the border differently.
            if abs(found - right) > (1e-4 * right + 2 if module == "freud" else 0):
                raise SystemExit(f"{peer} finds {found} pairs, not {right}")
        report(f"{name}, period {period}, {right} pairs", contestants, seconds)


def compare_counts(points: Points, name: str, seconds: float) -> None:
    spatial = import_module("scipy.spatial")
    lengths = np.linspace(0.2, 2.0, 10) * distance_for(points)

    def scipy() -> Any:
        tree = spatial.cKDTree(points)
        return (tree.count_neighbors(tree, lengths) - len(points)) // 2

    contestants: dict[str, Callable[[], Any]] = {
        OURS: lambda: bp.count_neighbors(points, lengths),
        "SciPy": scipy,
    }
    found = contestants[OURS]()
    np.testing.assert_array_equal(scipy(), found)
    report(f"{name}, pairs within {len(lengths)} distances, {found[-1]} at most", contestants, seconds)
    crowd = np.full((20_000, points.shape[1]), 0.5)
    crowds = {OURS: lambda: bp.count_neighbors(crowd, 0.1), "a sort of them": lambda: np.sort(crowd[:, 0])}
    report(f"{len(crowd)} points at one place, counted", crowds, seconds)


def nanoflann(points: Points, k: int) -> Callable[[], Any]:
    pynanoflann = import_module("pynanoflann")

    def run() -> Any:
        tree = pynanoflann.KDTree(n_neighbors=k + 1, metric="L2", leaf_size=10)
        tree.fit(points)
        return tree.kneighbors(points, n_jobs=thread_count(None))[0][:, 1:]

    return run


def compare_nearest(points: Points, name: str, seconds: float) -> None:
    spatial, k = import_module("scipy.spatial"), 9
    searches: dict[str, Callable[[], Any]] = {
        OURS: lambda: bp.nearest(points, k).distances,
        "SciPy": lambda: spatial.cKDTree(points).query(points, k + 1, workers=-1)[0][:, 1:],
        "SciPy, unbalanced": lambda: spatial.cKDTree(points, balanced_tree=False, compact_nodes=False).query(
            points, k + 1, workers=-1
        )[0][:, 1:],
    }
    if find_spec("sklearn"):
        neighbors = import_module("sklearn.neighbors")
        searches["scikit-learn"] = lambda: (
            neighbors.NearestNeighbors(n_neighbors=k, algorithm="kd_tree", n_jobs=-1)
            .fit(points)
            .kneighbors()[0]
        )
    if find_spec("pynanoflann"):
        searches["nanoflann"] = nanoflann(points, k)
    if find_spec("pykdtree"):
        pykdtree = import_module("pykdtree.kdtree")
        searches["pykdtree"] = lambda: pykdtree.KDTree(points).query(points, k + 1)[0][:, 1:]
    found = searches[OURS]()
    for search in searches.values():
        np.testing.assert_allclose(search(), found, rtol=1e-9, atol=1e-12)
    if find_spec("torch_cluster"):  # ids without distances
        graph, places = import_module("torch_cluster").knn_graph, import_module("torch").from_numpy(points)
        searches["torch-cluster"] = lambda: graph(places, k)
    report(f"{name}, {k} nearest", searches, seconds)


def compare_worlds(n: int, seconds: float) -> None:
    """A thousand worlds in one call, compared with one uniform world with as many points and pairs.

    Also with the usual ways: a tree of SciPy for each world, and torch-cluster.
    """
    random = np.random.default_rng(SEED)
    worlds, each = 1000, max(n // 1000, 1)
    points, env = random.random((worlds * each, 2)), np.repeat(np.arange(worlds), each)
    r = np.sqrt(NEIGHBORS / (np.pi * each))
    single = random.random((worlds * each, 2))
    order = random.permutation(len(points))
    pairs, alone = len(bp.neighbors(points, r, env=env)), len(bp.neighbors(single, r / np.sqrt(worlds)))
    contestants: dict[str, Callable[[], Any]] = {
        OURS: lambda: bp.neighbors(single, r / np.sqrt(worlds)),
        "worlds in order": lambda: bp.neighbors(points, r, env=env),
        "worlds mixed": lambda: bp.neighbors(points[order], r, env=env[order]),
    }
    tree = import_module("scipy.spatial").cKDTree
    starts = range(0, len(points), each)
    contestants["a tree of SciPy for each"] = lambda: [
        tree(points[at : at + each]).query_pairs(r, output_type="ndarray") for at in starts
    ]
    if find_spec("torch_cluster"):
        graph, torch = import_module("torch_cluster").radius_graph, import_module("torch")
        places, batch = torch.from_numpy(points), torch.from_numpy(env)
        contestants["torch-cluster"] = lambda: graph(places, r, batch, max_num_neighbors=each)
    report(f"one world of {len(points)}, {alone} pairs; {worlds} worlds, {pairs} pairs", contestants, seconds)


def compare_moving(n: int) -> None:
    """Agents that all move, in a periodic world, in float32: neighbours with distances in each frame."""
    million = yardstick_of_a_million()
    for sort in (True, False):
        random = np.random.default_rng(SEED)
        points, r = random.random((n, 2), np.float32), float(np.sqrt(NEIGHBORS / (np.pi * n)))
        motions = (random.random((n, 2), np.float32) - np.float32(0.5)) * np.float32(r / 2)
        times = []
        for _ in range(60):
            points = np.mod(points + motions, np.float32(1.0))
            begin = time.perf_counter()
            found = bp.neighbors(points, r, period=1.0, sort=sort)
            times.append(time.perf_counter() - begin)
        frame = 1e3 * statistics.median(times[10:])
        said = f"{frame:.2f} ms a frame" + (f", {frame / million:.2f} of the yardstick" if million else "")
        print(f"{n} agents that move, {len(found)} pairs, {'sorted' if sort else 'in no order'}: {said}")
    if million:
        print(f"the yardstick, all pairs of a million boxes in C++: {million:.1f} ms")


def yardstick_of_a_million() -> float | None:
    """In milliseconds; None if it cannot be built."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        program = build(folder)
        search = program and yardstick(program, Case(uniform(1_000_000, 2)), folder)
        if not search or search.seconds is None:
            return None
        return 1e3 * min(search.seconds(search.run(None)) for _ in range(5))


def compare_small(seconds: float) -> None:
    """How many times as long each way to ask about few points takes as the plainest, and SciPy."""
    spatial = import_module("scipy.spatial")
    for n in (5, 50, 300):
        random = np.random.default_rng(SEED)
        points, other = random.random((n, 2)), random.random((n, 2))
        rows, env, radii = [tuple(row) for row in points.tolist()], random.integers(0, 3, n), np.full(n, 0.5)
        r = min(float(np.sqrt(NEIGHBORS / (np.pi * n))), 0.5)
        ways: dict[str, dict[str, Any]] = {
            "other": {"other": other},
            "period": {"period": (1.0, 1.0)},
            "lattice": {"period": ((1.0, 0.0), (0.3, 1.0))},
            "env": {"env": env},
        }
        of_neighbors = {"both directions": {"half": False}, "exclude": {"exclude": [(0, 1)]}}
        near: dict[str, Callable[[], Any]] = {
            OURS: lambda points=points, r=r: bp.neighbors(points, r),
            "rows": lambda rows=rows, r=r: bp.neighbors(rows, r),
            "radii": lambda points=points, radii=radii * r: bp.neighbors(points, radii),
            "SciPy": lambda points=points, r=r: spatial.cKDTree(points).query_pairs(r, output_type="ndarray"),
        }
        nearest: dict[str, Callable[[], Any]] = {
            OURS: lambda points=points: bp.nearest(points, 2),
            "rows": lambda rows=rows: bp.nearest(rows, 2),
            "SciPy": lambda points=points: spatial.cKDTree(points).query(points, 3),
        }
        for way, more in (ways | of_neighbors).items():
            near[way] = lambda points=points, r=r, more=more: bp.neighbors(points, r, **more)
        for way, more in ways.items():
            nearest[way] = lambda points=points, more=more: bp.nearest(points, 2, **more)
        report_small(f"neighbors of {n} points", near, seconds)
        report_small(f"nearest of {n} points", nearest, seconds)
        boxes, motion = np.hstack((points, points + r)), (other - 0.5) * r
        box_rows = [tuple(row) for row in boxes.tolist()]
        calls: dict[str, Callable[[], Any]] = {
            OURS: lambda boxes=boxes: bp.pairs(boxes),
            "rows": lambda rows=box_rows: bp.pairs(rows),
            "join": lambda boxes=boxes: bp.join(boxes, boxes),
            "period": lambda boxes=boxes: bp.pairs(boxes, period=(2.0, 2.0)),
            "env": lambda boxes=boxes, env=env: bp.pairs(boxes, env=env),
            "static": lambda boxes=boxes, env=env: bp.pairs(boxes, static=env == 0),
            "swept": lambda boxes=boxes, motion=motion: bp.swept_pairs(boxes, motion),
            "swept circles": lambda points=points, motion=motion, r=r: bp.swept_pairs(
                points, motion, radii=r / 2
            ),
        }
        report_small(f"pairs of {n} boxes", calls, seconds)
    for dim, n in itertools.product((2, 3), (1_000, 100_000)):
        compare_one_query(np.random.default_rng(SEED).random((n, dim)), seconds)


def compare_one_query(points: Points, seconds: float) -> None:
    """One query after another of points that are kept: `PointIndex`, its drop-in for SciPy, and SciPy."""
    from scipy.spatial import KDTree

    from broadphase.adapters.scipy import KDTree as DropIn

    index, ours, theirs, r = bp.PointIndex(points), DropIn(points), KDTree(points), distance_for(points)
    some = itertools.cycle(np.random.default_rng(SEED).random((1000, points.shape[1])))
    growing = itertools.cycle(np.geomspace(0.5 * r, 2.0 * r, 1000).tolist())
    for name, radii in (("neighbors", itertools.repeat(r)), ("neighbors, r grows", growing)):
        near: dict[str, Callable[[], Any]] = {
            OURS: lambda radii=radii: index.neighbors(next(some), next(radii)),
            "its drop-in": lambda radii=radii: ours.query_ball_point(next(some), next(radii)),
            "SciPy": lambda radii=radii: theirs.query_ball_point(next(some), next(radii)),
        }
        report_small(f"{name} of one among {len(points)} points, {points.shape[1]}-D", near, seconds)
    for k in (1, 4):
        nearest: dict[str, Callable[[], Any]] = {
            OURS: lambda k=k: index.nearest(next(some), k),
            "its drop-in": lambda k=k: ours.query(next(some), k),
            "SciPy": lambda k=k: theirs.query(next(some), k),
        }
        report_small(f"nearest {k} of one among {len(points)} points, {points.shape[1]}-D", nearest, seconds)


def compare_fresh(seconds: float) -> None:
    """An index that is made and asked once, and one query of an index that is kept."""
    tree = import_module("scipy.spatial").cKDTree
    for n in (10, 100, 1_000, 10_000):
        random = np.random.default_rng(SEED)
        points, many = random.random((n, 2)), random.random((n, 2))
        for name, asked in ((f"one among {n} points", many[0]), (f"{n} among {n} points", many)):
            found = bp.PointIndex(points).nearest(asked, 1).distances[..., 0]
            np.testing.assert_allclose(tree(points).query(asked)[0], found)
            ways: dict[str, Callable[[], Any]] = {
                OURS: lambda asked=asked, points=points: bp.PointIndex(points).nearest(asked, 1),
                "SciPy": lambda asked=asked, points=points: tree(points).query(asked),
            }
            if find_spec("pykdtree"):
                other, rows = import_module("pykdtree.kdtree").KDTree, np.atleast_2d(asked)
                ways["pykdtree"] = lambda other=other, rows=rows, points=points: other(points).query(rows)
            report_small(f"an index made, and asked for the nearest of {name}", ways, seconds)
    if not find_spec("indexicon"):
        return
    for n in (100, 1_000, 100_000):
        random = np.random.default_rng(SEED)
        points, place = random.random((n, 2)), random.random(2)
        index, other = bp.PointIndex(points), import_module("indexicon").KDTree(dims=2)
        other.bulk_load(points)
        where = tuple(place.tolist())
        if other.knn(place, 1)[0] != index.nearest(where, 1).ids[0]:
            raise SystemExit("indexicon finds another point")
        for _ in range(1_000):
            index.nearest(where, 1)  # until it has a tree
        one = {
            OURS: lambda index=index, where=where: index.nearest(where, 1),
            "indexicon (ids only)": lambda other=other, place=place: other.knn(place, 1),
        }
        report_small(f"the nearest of one among {n} points that are kept", one, seconds)


def compare_cells(seconds: float) -> None:
    """Lists of atoms in both directions, with vectors and shifts."""
    from ase.build import bulk
    from ase.neighborlist import neighbor_list as ase_list

    from broadphase.adapters.ase import neighbor_list

    atoms = bulk("Cu", "fcc", a=3.6, cubic=True).repeat((18, 18, 18))
    atoms.rattle(0.1, seed=SEED)
    cell = np.array(atoms.cell)
    for r in (3.0, 5.0):
        lists: dict[str, Callable[[], Any]] = {OURS: lambda r=r: neighbor_list("ijDS", atoms, r)}
        if find_spec("vesin"):
            vesin = import_module("vesin").NeighborList(cutoff=r, full_list=True)
            lists["vesin"] = lambda vesin=vesin: vesin.compute(atoms.positions, cell, True, "ijDS")
        for home in ("matscipy.neighbours", "matscipy_neighbours"):
            if find_spec(home.partition(".")[0]):
                search = import_module(home).neighbour_list
                lists[home] = lambda r=r, search=search: search("ijDS", atoms, r)
        if r < 4.0:  # it takes seconds
            lists["ASE"] = lambda r=r: ase_list("ijDS", atoms, r)
        found = {name: len(run()[0]) for name, run in lists.items()}
        if len(set(found.values())) > 1:
            raise SystemExit(f"they find {found} pairs")
        report(f"{len(atoms)} atoms, all images, {found[OURS]} rows", lists, seconds)


def compare_crystals(seconds: float) -> None:
    """Small crystals with all images and vectors, in both directions: one, and 64 of 8 atoms at once."""
    from ase.build import bulk

    if not find_spec("vesin"):
        return
    vesin = import_module("vesin").NeighborList(cutoff=3.0, full_list=True)
    how: dict[str, Any] = {"images": "all", "half": False, "offsets": True}

    def theirs(points: Points, cell: Points) -> int:
        return len(vesin.compute(points, cell, True, "ijDS")[0])

    crystals = [bulk("NaCl", "rocksalt", a=5.64), *(bulk("Cu", a=3.6).repeat(k) for k in (2, 3, 4, 6))]
    for atoms in crystals:
        points, cell = atoms.positions, np.array(atoms.cell)
        one: dict[str, Callable[[], Any]] = {
            OURS: lambda points=points, cell=cell: len(bp.neighbors(points, 3.0, period=cell, **how)),
            "vesin": lambda points=points, cell=cell: theirs(points, cell),
        }
        if one[OURS]() != one["vesin"]():
            raise SystemExit("vesin finds other pairs")
        report_small(f"a crystal of {len(points)} atoms, all images", one, seconds)
    points, cells = (
        np.random.default_rng(SEED).random((64, 8, 3)) * 5,
        np.eye(3) * np.linspace(5, 6, 64)[:, None, None],
    )
    many: dict[str, Callable[[], Any]] = {
        OURS: lambda: len(bp.neighbors(points, 3.0, period=cells, **how)),
        "a loop with vesin": lambda: sum(map(theirs, points, cells)),
    }
    if many[OURS]() != many["a loop with vesin"]():
        raise SystemExit("vesin finds other pairs")
    report_small("64 crystals of 8 atoms, a cell for each", many, seconds)


def compare_tilted(seconds: float) -> None:
    """Lists and counts in a tilted cell, beside the same in one with right angles."""
    tilted, random = np.array([[1.0, 0, 0], [0.3, 1, 0], [0.2, -0.3, 1]]), np.random.default_rng(SEED)
    for n in (20_000, 100_000):
        even = random.random((n, 3))
        points, r = even @ tilted, float((13 / (n * 4.19)) ** (1 / 3))
        for half in (True, False):
            lists = {
                OURS: lambda points=points, r=r, half=half: bp.neighbors(points, r, period=tilted, half=half),
                "right angles": lambda even=even, r=r, half=half: bp.neighbors(
                    even, r, period=(1, 1, 1), half=half
                ),
                "all images": lambda points=points, r=r, half=half: bp.neighbors(
                    points, r, period=tilted, half=half, images="all"
                ),
            }
            if find_spec("vesin"):
                vesin = import_module("vesin").NeighborList(cutoff=r, full_list=not half)
                lists["vesin"] = lambda points=points, vesin=vesin: vesin.compute(points, tilted, True, "ijd")
            name = f"{n} points in a tilted cell, pairs {'once' if half else 'in both directions'}"
            report(name, lists, seconds)
            offsets: dict[str, Callable[[], Any]] = {
                OURS: lambda points=points, r=r, half=half: bp.neighbors(
                    points, r, period=tilted, half=half, offsets=True
                ),
                "right angles": lambda even=even, r=r, half=half: bp.neighbors(
                    even, r, period=(1, 1, 1), half=half, offsets=True
                ),
            }
            report(f"{name}, with offsets", offsets, seconds)
    compare_kept(tilted, seconds)
    points, even, radii = points[:10_000], even[:10_000], np.linspace(0.0, 0.45, 51)[1:]
    counts: dict[str, Callable[[], Any]] = {
        OURS: lambda: bp.count_neighbors(points, radii, period=tilted),
        "right angles": lambda: bp.count_neighbors(even, radii, period=(1, 1, 1)),
    }
    if find_spec("freud"):
        freud = import_module("freud")
        box, function = freud.box.Box.from_matrix(tilted.T), freud.density.RDF(50, 0.45)
        centred = box.wrap(points)
        counts["freud RDF"] = lambda: function.compute((box, centred))
        found = counts["freud RDF"]().bin_counts.sum() // 2
        if abs(found - counts[OURS]()[-1]) > 1e-4 * found:  # it computes in float32
            raise SystemExit(f"freud counts {found} pairs, not {counts[OURS]()[-1]}")
    report(f"counts of {len(points)} points in a tilted cell, 50 distances", counts, seconds)


def compare_images(seconds: float) -> None:
    """All images of 5,000 points beside the nearest ones, in cells and slabs; cutoffs by pair of kinds."""
    n, random = 5_000, np.random.default_rng(SEED)
    points, kinds = random.random((n, 3)), random.integers(0, 2, n)
    r = float((13 / (n * 4.19)) ** (1 / 3))
    everything: dict[str, Any] = {"images": "all"}
    for name, period in (("a cell", (1.0, 1.0, 1.0)), ("a slab", (1.0, 1.0, None))):
        lists: dict[str, Callable[[], Any]] = {
            OURS: lambda period=period: bp.neighbors(points, r, period=period, **everything),
            "nearest images": lambda period=period: bp.neighbors(points, r, period=period),
            "by kinds": lambda period=period: bp.neighbors(
                points, cutoffs=[[r, r / 2], [r / 2, 0.0]], kinds=kinds, period=period
            ),
            "counted": lambda period=period: bp.count_neighbors(points, r, period=period, **everything),
        }
        report(f"all images of {n} points in {name}, {len(lists[OURS]())} pairs", lists, seconds)
        nearest: dict[str, Callable[[], Any]] = {
            OURS: lambda period=period: bp.nearest(points, 6, period=period, **everything),
            "nearest images": lambda period=period: bp.nearest(points, 6, period=period),
        }
        report(f"the 6 nearest of all images of {n} points in {name}", nearest, seconds)
    # Thin cells, where a distance reaches over several images.
    thin, cell = points * (1.0, 1.0, 0.01), (1.0, 1.0, 0.01)
    far = 2.0 * float((13 / (n * 314.0)) ** (1 / 2))
    copies = np.concatenate([thin + np.array(cell) * (0, 0, k) for k in range(-4, 5)])
    lists = {
        OURS: lambda: bp.neighbors(thin, far, period=cell, **everything),
        "copies by hand": lambda: bp.neighbors(thin, far, other=copies, period=(1.0, 1.0, None)),
    }
    report(f"all images of {n} points in a thin cell, {len(lists[OURS]())} pairs", lists, seconds)


def compare_kept(tilted: Points, seconds: float) -> None:
    """A step of lists with a skin in a tilted cell: vesin's and ours, and a search."""
    n = 10_648
    points = np.random.default_rng(SEED).random((n, 3)) @ tilted
    r = float((13 / (n * 4.19)) ** (1 / 3))
    steps = [points + 0.001 * r * step for step in np.random.default_rng(SEED).normal(size=(8, n, 3))]
    for half in (True, False):
        verlet, frames = bp.VerletList(r, 0.2 * r, period=tilted), itertools.cycle(steps)
        lists: dict[str, Callable[[], Any]] = {
            OURS: lambda verlet=verlet, half=half, frames=frames: verlet.neighbors(next(frames), half=half),
            "a search": lambda half=half, frames=frames: bp.neighbors(
                next(frames), r, period=tilted, half=half
            ),
        }
        if find_spec("vesin"):
            kept = import_module("vesin").NeighborList(cutoff=r, full_list=not half, skin=0.2 * r)
            lists["vesin"] = lambda kept=kept, frames=frames: kept.compute(next(frames), tilted, True, "ijd")
            if len(kept.compute(points, tilted, True, "i")[0]) != len(verlet.neighbors(points, half=half)):
                raise SystemExit("vesin finds other pairs")
        name = f"a step of a list with a skin of {n} atoms, pairs {'once' if half else 'in both directions'}"
        report(name, lists, seconds)


def compare_sums(seconds: float) -> None:
    """Sums over the pairs of each point, both directions, and lists with a skin."""
    n, random = 100_000, np.random.default_rng(SEED)
    points, r = random.random((n, 3)), float((13 / (n * 4.19)) ** (1 / 3))
    near = bp.neighbors(points, r, offsets=True)
    force, strength = random.random((len(near), 3)), random.random(len(near))
    i, j = near.i.astype(np.intp), near.j.astype(np.intp)

    def by_bincount() -> Any:
        return [np.bincount(i, one, n) - np.bincount(j, one, n) for one in force.T]

    def by_add_at() -> Any:
        sums = np.zeros((n, 3))
        np.add.at(sums, i, force)
        np.subtract.at(sums, j, force)
        return sums

    sums: dict[str, Callable[[], Any]] = {
        OURS: lambda: near.scatter(force, antisymmetric=True),
        "along vectors": lambda: near.scatter(strength, along=near.offset, antisymmetric=True),
        "numpy.bincount": by_bincount,
        "numpy.add.at": by_add_at,
    }
    if find_spec("numba"):
        loop = import_module("numba").njit(loop_over_pairs)
        sums["compiled loop"] = lambda: loop(near.i, near.j, force, np.zeros((n, 3)))
        np.testing.assert_allclose(sums["compiled loop"](), sums[OURS](), atol=1e-9)
    report(f"forces of {len(near)} pairs", sums, seconds)
    lists: dict[str, Callable[[], Any]] = {
        OURS: lambda: bp.neighbors(points, r),
        "both directions": lambda: bp.neighbors(points, r, half=False),
        "csr": near.csr,
        "rows_in": lambda: near.rows_in(near),
    }
    report(f"lists of {len(near)} pairs", lists, seconds)
    for name, radii in (("one radius", r), ("radii 1 to 3", random.choice([1.0, 1.0, 3.0], n) * r / 4)):
        verlet = bp.VerletList(radii, 0.15 * r)
        steps: dict[str, Callable[[], Any]] = {
            OURS: lambda verlet=verlet: verlet.neighbors(points),
            "a search": lambda radii=radii: bp.neighbors(points, radii),
        }
        report(f"a step of a Verlet list, {name}", steps, seconds)


def loop_over_pairs(i: Any, j: Any, force: Any, sums: Any) -> Any:
    for k in range(len(i)):
        for axis in range(3):
            sums[i[k], axis] += force[k, axis]
            sums[j[k], axis] -= force[k, axis]
    return sums


def report_small(name: str, contestants: dict[str, Callable[[], Any]], seconds: float) -> None:
    """Print the microseconds of each, and how many times as long as the first."""
    best = dict.fromkeys(contestants, np.inf)
    for run in contestants.values():
        run()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for contestant, run in contestants.items():
            started = time.perf_counter()
            for _ in range(20):
                run()
            best[contestant] = min(best[contestant], (time.perf_counter() - started) / 20)
    ours = best.pop(OURS)
    said = ", ".join(f"{way} {1e6 * took:.3g} ({took / ours:.2f} x)" for way, took in best.items())
    print(f"{name}: {1e6 * ours:.3g} us; {said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument("--seconds", type=float, default=2.0, help="for each contestant")
    options = parser.parse_args()
    for n in options.points:
        for scene in options.scenes:
            for dim in (2, 3):
                points = SCENES[scene](np.random.default_rng(SEED), n, dim)
                name = f"{n} {scene} points, {dim}-D"
                if "near" in options.parts:
                    compare_near(points, name, options.seconds)
                if "counts" in options.parts:
                    compare_counts(points, name, options.seconds)
                if "nearest" in options.parts:
                    compare_nearest(points, name, options.seconds)
    if "worlds" in options.parts:
        compare_worlds(max(options.points), options.seconds)
    if "small" in options.parts:
        compare_small(options.seconds)
    if "fresh" in options.parts:
        compare_fresh(options.seconds)
    if "cells" in options.parts and find_spec("ase"):
        compare_cells(options.seconds)
        compare_crystals(options.seconds)
        compare_tilted(options.seconds)
    if "cells" in options.parts:
        compare_images(options.seconds)
    if "sums" in options.parts:
        compare_sums(options.seconds)
    if "moving" in options.parts:
        compare_moving(100_000)


if __name__ == "__main__":
    main()
