"""Small calls: each way to ask about five rows, beside NumPy by hand, SciPy, vesin, pymunk and two trees.

    python -m pip install scipy vesin pymunk fastquadtree indexicon
    python benchmarks/small.py [--parts points crystals boxes queries] [--rounds 20]

The arrays are given; trees are built in the call.  By hand is the least that a program would write in NumPy,
all rows against all.  All must find the same before they are timed; then they take turns, and the best of
each counts.  Libraries without a call for many are called once for each query.  The last figure is ours
divided by NumPy by hand, or by the first peer where there is none.
"""

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

import broadphase as bp

SEED = 1
FIVE = 5
_SECONDS_OF_A_TURN = 2e-3


class Row(NamedTuple):
    """One call of ours, and its peers: all return the same arrays, in one order."""

    name: str
    ours: Callable[[], Any]
    peers: dict[str, Callable[[], Any]]
    answer: Callable[[Any], Any] = lambda found: found
    """Makes of our result what the peers return; not timed."""
    in_order: Callable[[Any], Any] = lambda found: found
    """Sorts what a peer returns; not timed either."""


# -----------------------------------------------------------------------------------------------------------
# Points.


def near_by_hand(points: Any, r: Any, other: Any = None, period: Any = None, also: Any = True) -> Any:
    """Pairs within ``r`` for which ``also`` holds, once where there are no others."""
    away = points[:, None] - (points if other is None else other)
    if period is not None:
        away -= period * np.round(away / period)
    distances = np.sqrt((away * away).sum(axis=-1))
    near = (distances <= r) & also
    i, j = np.nonzero(np.triu(near, 1) if other is None else near)
    return i, j, distances[i, j]


def both_by_hand(points: Any, r: float) -> Any:
    """Pairs within ``r`` in both directions."""
    away = points[:, None] - points
    distances = np.sqrt((away * away).sum(axis=-1))
    i, j = np.nonzero((distances <= r) & ~np.eye(len(points), dtype=bool))
    return i, j, distances[i, j]


def in_cell_by_hand(points: Any, r: float, cell: Any, inverse: Any) -> Any:
    """Pairs within ``r`` in a cell that is so little skewed that rounding finds the nearest image."""
    along = (points[:, None] - points) @ inverse
    away = (along - np.round(along)) @ cell
    distances = np.sqrt((away * away).sum(axis=-1))
    i, j = np.nonzero(np.triu(distances <= r, 1))
    return i, j, distances[i, j]


def nearest_by_hand(points: Any, k: int, other: Any = None, period: Any = None) -> Any:
    """Ids and distances of the nearest."""
    away = points[:, None] - (points if other is None else other)
    if period is not None:
        away -= period * np.round(away / period)
    distances = np.sqrt((away * away).sum(axis=-1))
    if other is None:
        np.fill_diagonal(distances, np.inf)
    ids = np.argsort(distances, axis=1)[:, :k]
    return ids, np.take_along_axis(distances, ids, 1)


def pairs_of_scipy(points: Any, r: float) -> Any:
    """Pairs of `cKDTree.query_pairs` in order, with distances."""
    pairs = cKDTree(points).query_pairs(r, output_type="ndarray")
    pairs = pairs[np.lexsort(pairs.T[::-1])]
    away = points[pairs[:, 0]] - points[pairs[:, 1]]
    return pairs[:, 0], pairs[:, 1], np.sqrt((away * away).sum(axis=1))


def nearest_of_scipy(points: Any, k: int) -> Any:
    """The nearest without each point itself."""
    distances, ids = cKDTree(points).query(points, k + 1)
    return ids[:, 1:], distances[:, 1:]


def columns(near: Any) -> Any:
    return near.i, near.j, near.distance


def of_points() -> list[Row]:
    """`neighbors`, `nearest` and `count_neighbors`, with each argument and with two."""
    random = np.random.default_rng(SEED)
    points, other, solid = (random.random((FIVE, dim)) * 10 for dim in (2, 2, 3))
    env, radii, r = np.array([0, 0, 1, 1, 0]), np.full(FIVE, 1.5), 3.0
    alike, sums = env[:, None] == env, radii[:, None] + radii
    lengths, period = (10.0, 10.0), np.array([10.0, 10.0])
    cell = np.array([[10.0, 0.0, 0.0], [1.0, 10.0, 0.0], [1.0, 1.0, 10.0]])
    lattice, inverse = tuple(map(tuple, cell.tolist())), np.linalg.inv(cell)
    far = np.array([1.0, 2.0, 3.0])

    def near(name: str, peers: dict[str, Callable[[], Any]], own: Any = r, **options: Any) -> Row:
        rows = solid if "lattice" in name else points
        return Row(name, lambda: bp.neighbors(rows, own, **options), peers, columns)

    def counts_by_hand(**how: Any) -> Any:
        return np.searchsorted(np.sort(near_by_hand(points, r, **how)[2]), far, "right")

    return [
        near(
            "neighbors",
            {"NumPy": lambda: near_by_hand(points, r), "SciPy": lambda: pairs_of_scipy(points, r)},
        ),
        near("neighbors, other", {"NumPy": lambda: near_by_hand(points, r, other)}, other=other),
        near("neighbors, period", {"NumPy": lambda: near_by_hand(points, r, None, period)}, period=lengths),
        near("neighbors, env", {"NumPy": lambda: near_by_hand(points, r, also=alike)}, env=env),
        near("neighbors, radii", {"NumPy": lambda: near_by_hand(points, sums)}, radii),
        near("neighbors, half=False", {"NumPy": lambda: both_by_hand(points, r)}, half=False),
        near(
            "neighbors, lattice",
            {"NumPy": lambda: in_cell_by_hand(solid, r, cell, inverse)},
            period=lattice,
        ),
        near(
            "neighbors, other and period",
            {"NumPy": lambda: near_by_hand(points, r, other, period)},
            other=other,
            period=lengths,
        ),
        near(
            "neighbors, env and period",
            {"NumPy": lambda: near_by_hand(points, r, None, period, alike)},
            env=env,
            period=lengths,
        ),
        near(
            "neighbors, radii and period",
            {"NumPy": lambda: near_by_hand(points, sums, None, period)},
            radii,
            period=lengths,
        ),
        Row(
            "nearest",
            lambda: bp.nearest(points, 2),
            {"NumPy": lambda: nearest_by_hand(points, 2), "SciPy": lambda: nearest_of_scipy(points, 2)},
        ),
        Row(
            "nearest, other",
            lambda: bp.nearest(points, 2, other=other),
            {"NumPy": lambda: nearest_by_hand(points, 2, other)},
        ),
        Row(
            "nearest, period",
            lambda: bp.nearest(points, 2, period=lengths),
            {"NumPy": lambda: nearest_by_hand(points, 2, None, period)},
        ),
        Row(
            "count_neighbors",
            lambda: bp.count_neighbors(points, far),
            {
                "NumPy": lambda: counts_by_hand(),
                "SciPy": lambda: (cKDTree(points).count_neighbors(cKDTree(points), far) - FIVE) // 2,
            },
        ),
        Row(
            "count_neighbors, period",
            lambda: bp.count_neighbors(points, far, period=lengths),
            {"NumPy": lambda: counts_by_hand(period=period)},
        ),
    ]


# -----------------------------------------------------------------------------------------------------------
# Crystals: all images, with offsets and shifts, in both directions.


def of_crystals() -> list[Row]:
    """Atoms beside vesin, where that is installed."""
    return [row for n in (2, 5, 8, 40, 50) for row in _crystal(n)]


def _crystal(n: int) -> list[Row]:
    random = np.random.default_rng(SEED)
    cell = (16.0 * n) ** (1 / 3) * (np.eye(3) + np.tril(random.random((3, 3)) * 0.3, -1))
    points, lattice, r = random.random((n, 3)) @ cell, tuple(map(tuple, cell.tolist())), 4.0
    peers: dict[str, Callable[[], Any]] = {}
    if find_spec("vesin"):
        vesin = import_module("vesin").NeighborList(cutoff=r, full_list=True)
        peers["vesin"] = lambda: vesin.compute(points, cell, True, "ijdDS")

    def in_order(found: Any) -> Any:
        i, j, _, _, shift = found
        order = np.lexsort((*shift.T[::-1], j, i))
        return [column[order] for column in found]

    return [
        Row(
            f"all images of {n} atoms",
            lambda: bp.neighbors(points, r, period=lattice, images="all"),
            {},
        ),
        Row(
            f"all images of {n} atoms, both directions and offsets",
            lambda: bp.neighbors(points, r, period=lattice, images="all", half=False, offsets=True),
            peers,
            lambda near: in_order((near.i, near.j, near.distance, near.offset, near.shift)),
            in_order,
        ),
    ]


# -----------------------------------------------------------------------------------------------------------
# Boxes.


def overlaps_by_hand(boxes: Any, other: Any = None, period: Any = None) -> Any:
    """Whether each box overlaps each; with a period, boxes that are shorter than it."""
    low, high = np.split(boxes[:, None], 2, axis=-1)
    other_low, other_high = np.split(boxes if other is None else other, 2, axis=-1)
    if period is None:
        return ((low <= other_high) & (other_low <= high)).all(axis=-1)
    after, before = np.mod(other_low - low, period), np.mod(low - other_low, period)
    return ((after <= high - low) | (before <= other_high - other_low)).all(axis=-1)


def pairs_by_hand(boxes: Any, period: Any = None, also: Any = True) -> Any:
    i, j = np.nonzero(np.triu(overlaps_by_hand(boxes, period=period) & also, 1))
    return np.column_stack((i, j))


def join_by_hand(boxes: Any, other: Any, period: Any = None) -> Any:
    return np.column_stack(np.nonzero(overlaps_by_hand(boxes, other, period)))


def swept_by_hand(boxes: Any, motion: Any, period: Any = None) -> Any:
    """Pairs that meet, and when; with a period, of the images next to each other."""
    turns = (
        np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]) if period is not None else np.zeros((1, 2))
    )
    shift = (turns * (0 if period is None else period))[:, None, None]
    away = boxes[:, None, :2] - boxes[:, 2:] + shift, boxes[:, :2] - boxes[:, None, 2:] - shift
    way = motion[:, None] - motion
    start = np.concatenate(away, axis=-1)
    goal = start + np.concatenate((way, -way), axis=-1)
    with np.errstate(all="ignore"):
        when = start / (start - goal)
    since = np.where(start > 0, np.where(goal > 0, np.inf, when), 0).max(axis=-1)
    until = np.where(goal > 0, np.where(start > 0, -np.inf, when), 1).min(axis=-1)
    times = np.where(since <= until, since, np.inf).min(axis=0)
    i, j = np.nonzero(np.triu(times <= 1, 1))
    return np.column_stack((i, j)), times[i, j]


def of_boxes() -> list[Row]:
    """`pairs`, `join`, `count_pairs` and `swept_pairs`, with each argument and with two."""
    random = np.random.default_rng(SEED)
    low, other_low = random.random((2, FIVE, 2)) * 9
    boxes, other = np.hstack((low, low + 3)), np.hstack((other_low, other_low + 3))
    env, masks, sets = np.array([0, 0, 1, 1, 0]), np.array([1, 2, 3, 1, 3]), np.array([1, 1, 2, 2, 1])
    alike = env[:, None] == env
    agree = (sets[:, None] & masks != 0) & (sets & masks[:, None] != 0)
    lengths, period = (10.0, 10.0), np.array([10.0, 10.0])
    motion = random.normal(0, 2, (FIVE, 2))
    inside = boxes * 0.8

    def pairs(name: str, by_hand: Callable[[], Any], **options: Any) -> Row:
        return Row(name, lambda: bp.pairs(boxes, **options), {"NumPy": by_hand})

    return [
        pairs("pairs", lambda: pairs_by_hand(boxes)),
        pairs("pairs, period", lambda: pairs_by_hand(boxes, period), period=lengths),
        pairs("pairs, env", lambda: pairs_by_hand(boxes, also=alike), env=env),
        pairs("pairs, masks", lambda: pairs_by_hand(boxes, also=agree), categories=sets, masks=masks),
        pairs("pairs, env and period", lambda: pairs_by_hand(boxes, period, alike), env=env, period=lengths),
        Row("count_pairs", lambda: bp.count_pairs(boxes), {"NumPy": lambda: len(pairs_by_hand(boxes))}),
        Row("join", lambda: bp.join(boxes, other), {"NumPy": lambda: join_by_hand(boxes, other)}),
        Row(
            "join, period",
            lambda: bp.join(boxes, other, period=lengths),
            {"NumPy": lambda: join_by_hand(boxes, other, period)},
        ),
        Row(
            "swept_pairs",
            lambda: bp.swept_pairs(boxes, motion),
            {"NumPy": lambda: swept_by_hand(boxes, motion)},
        ),
        Row(
            "swept_pairs, period",
            lambda: bp.swept_pairs(inside, motion, period=lengths),
            {"NumPy": lambda: swept_by_hand(inside, motion, period)},
        ),
    ]


# -----------------------------------------------------------------------------------------------------------
# Queries: three at once, of five boxes that are kept.


def boxes_of_peers(boxes: Any, asked: Any) -> dict[str, Callable[[], Any]]:
    """`query_box` of other libraries, where they are installed, one box at a time."""
    peers: dict[str, Callable[[], Any]] = {}

    def rows(query: Callable[[int], Any]) -> Callable[[], Any]:
        return lambda: np.array([(k, one) for k in range(len(asked)) for one in sorted(query(k))])

    if find_spec("pymunk"):
        pymunk = import_module("pymunk")
        space, every = pymunk.Space(), pymunk.ShapeFilter()
        shapes = [pymunk.Poly.create_box_bb(space.static_body, pymunk.BB(*box)) for box in boxes.tolist()]
        space.add(*shapes)
        number, areas = (
            {shape: k for k, shape in enumerate(shapes)},
            [pymunk.BB(*box) for box in asked.tolist()],
        )
        peers["pymunk"] = rows(lambda k: (number[shape] for shape in space.bb_query(areas[k], every)))
    if find_spec("fastquadtree"):
        tree = import_module("fastquadtree").RectQuadTree((0, 0, 20, 20), 16, dtype="f64")
        tree.insert_many_np(boxes)
        bounds = [tuple(box) for box in asked.tolist()]
        peers["fastquadtree"] = rows(lambda k: (one[0] for one in tree.query(bounds[k])))
    if find_spec("indexicon"):
        other = import_module("indexicon").RTree(data="box", dims=2)
        other.bulk_load(boxes[:, :2].copy(), boxes[:, 2:].copy())
        peers["indexicon"] = rows(lambda k: other.query(asked[k, :2], asked[k, 2:]))
    return peers


def of_queries() -> list[Row]:
    """Queries of an index, a world and a `ShapeIndex`."""
    random = np.random.default_rng(SEED)
    low, places = random.random((FIVE, 2)) * 9, random.random((3, 2)) * 9
    boxes, asked, r = np.hstack((low, low + 3)), np.hstack((places, places + 2)), 2.0
    index, world = bp.make_index(boxes), bp.World()
    world.add_many(boxes)
    shapes = bp.ShapeIndex([bp.Box(x, y, 3, 3) for x, y in low.tolist()])

    def distances() -> Any:
        gaps = np.maximum(boxes[:, :2] - places[:, None], places[:, None] - boxes[:, 2:])
        return np.sqrt((np.maximum(gaps, 0.0) ** 2).sum(axis=-1))

    def nearest_by_hand() -> Any:
        far = distances()
        ids = far.argmin(axis=1)
        return ids, far[np.arange(3), ids]

    by_hand = {"NumPy": lambda: np.column_stack(np.nonzero(overlaps_by_hand(asked, boxes)))}
    by_hand |= boxes_of_peers(boxes, asked)
    within = {"NumPy": lambda: np.column_stack(np.nonzero(distances() < r))}
    nearest = {"NumPy": nearest_by_hand}
    rows = [Row("index.query_box", lambda: index.query_box(asked), by_hand)]
    rows += [Row("index.query_radius", lambda: index.query_radius(places, r), within)]
    rows += [
        Row(
            "index.nearest",
            lambda: index.nearest(places),
            nearest,
            lambda found: [one[:, 0] for one in found[:2]],
        )
    ]
    for name, kept in (("world", world), ("ShapeIndex", shapes)):
        rows += [Row(f"{name}.query_box", lambda kept=kept: kept.query_box(asked), by_hand)]
        rows += [Row(f"{name}.query_radius", lambda kept=kept: kept.query_radius(places, r), within)]
    rows += [
        Row(
            "world.nearest",
            lambda: world.nearest(places),
            nearest,
            lambda found: [one[:, 0] for one in found[:2]],
        )
    ]
    rows += [Row("ShapeIndex.nearest", lambda: shapes.nearest(places), nearest, lambda found: found[:2])]
    return rows


PARTS: dict[str, Callable[[], list[Row]]] = {
    "points": of_points,
    "crystals": of_crystals,
    "boxes": of_boxes,
    "queries": of_queries,
}


def check(row: Row) -> None:
    """Stop the run if a peer finds something else."""
    answer = row.answer(row.ours())
    for peer, run in row.peers.items():
        for ours, theirs in zip(*map(_as_list, (answer, row.in_order(run()))), strict=True):
            if np.shape(ours) != np.shape(theirs) or not np.allclose(ours, theirs):
                raise SystemExit(f"{row.name}: {peer} finds {theirs}, not {ours}")


def _as_list(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (tuple, list)) else [found]


def microseconds(row: Row, rounds: int) -> dict[str, float]:
    """The best of each; they take turns."""
    best = dict.fromkeys(("ours", *row.peers), np.inf)
    for _ in range(rounds):
        for name, run in (("ours", row.ours), *row.peers.items()):
            begin, calls = time.perf_counter(), 0
            while (spent := time.perf_counter() - begin) < _SECONDS_OF_A_TURN:
                for _ in range(10):
                    run()
                calls += 10
            best[name] = min(best[name], 1e6 * spent / calls)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    for part in options.parts:
        for row in PARTS[part]():
            check(row)
            best = microseconds(row, options.rounds)
            ours = best.pop("ours")
            said = [f"{ours:.3g} us", *(f"{peer} {took:.3g}" for peer, took in best.items())]
            if best:
                said.append(f"{ours / next(iter(best.values())):.2f}")
            print(f"{row.name}: {'; '.join(said)}", flush=True)


if __name__ == "__main__":
    main()
