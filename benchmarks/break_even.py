"""From how many rows on each call is faster than what it replaces; a table for the README.

    python -m pip install scipy shapely geopandas pygame-ce
    python benchmarks/break_even.py [--seconds 0.1]

Both get the same seeded rows and take turns, and both must find as many. *Wins from* is the smallest size
from which on the call is faster at each size that was measured; sizes double until the usual way takes
0.2 seconds. Figures say how many times as long the usual way takes: less than 1 is a loss. Trees are
built within the time; what lives between frames (``index``, ``world``, ``tree``) is kept by both.
"""

import argparse
import itertools
import os
from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import broadphase as bp

Run = Callable[[], Any]
Make = Callable[[np.random.Generator, int], tuple[Run, Run]]
SEED, SHOWN = 7, (10, 100, 1_000, 10_000)
LONGEST, TURNS, TURN = 0.2, 7, 0.002  # seconds, and how many turns at least


class Call(NamedTuple):
    """A call, and the usual way."""

    name: str
    instead: str
    needs: tuple[str, ...]
    make: Make


CALLS: list[Call] = []
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"


def call(name: str, instead: str, *needs: str) -> Callable[[Make], Make]:
    def add(make: Make) -> Make:
        CALLS.append(Call(name, instead, needs, make))
        return make

    return add


def boxes_of(random: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
    """Equal squares, about two pairs each."""
    low = random.random((n, 2))
    return np.hstack((low, low + 1.0 / np.sqrt(n)))


def reach(n: int) -> float:
    """The distance within which a point has about ten neighbours."""
    return float(min(np.sqrt(10 / (np.pi * n)), 0.5))


@call("`pairs(boxes)`", "NumPy, all against all")
def pairs(random: np.random.Generator, n: int) -> tuple[Run, Run]:
    boxes = boxes_of(random, n)

    def usual() -> Any:
        low, high = boxes[:, :2], boxes[:, 2:]
        meet = (low[:, None] <= high).all(axis=2)
        return np.argwhere(np.triu(meet & meet.T, 1))

    return lambda: bp.pairs(boxes), usual


@call("`pairs(rects, touching=False)`, as `colliderect` counts", "two loops with `colliderect`", "pygame")
def pairs_of_rects(random: np.random.Generator, n: int) -> tuple[Run, Run]:
    import pygame

    places = random.integers(0, int(30 * n**0.5), (n, 2)).tolist()
    rects = [pygame.Rect(x, y, 20, 20) for x, y in places]

    def usual() -> Any:
        return [(i, j) for i, rect in enumerate(rects) for j in range(i + 1, n) if rect.colliderect(rects[j])]

    return lambda: bp.pairs(rects, touching=False), usual


@call("`pairs(boxes)`", "shapely: `STRtree(shapes).query(shapes)`", "shapely")
def pairs_of_shapely(random: np.random.Generator, n: int) -> tuple[Run, Run]:
    import shapely

    boxes = boxes_of(random, n)

    def usual() -> Any:
        shapes = shapely.box(*boxes.T)
        i, j = shapely.STRtree(shapes).query(shapes)
        return i[i < j]

    return lambda: bp.pairs(boxes), usual


@call('`join(points, areas, predicate="within")`', "geopandas: `sjoin`", "geopandas")
def within(random: np.random.Generator, n: int) -> tuple[Run, Run]:
    import geopandas
    import shapely

    side, count = np.sqrt(n / 10), max(n // 10, 1)
    turns = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    outlines = random.random((count, 1, 2)) * side + np.stack([np.cos(turns), np.sin(turns)], axis=1) * 0.6
    left = geopandas.GeoDataFrame(geometry=shapely.points(random.random((n, 2)) * side))
    right = geopandas.GeoDataFrame(geometry=shapely.polygons(outlines))
    return (
        lambda: bp.join(left, right, predicate="within"),
        lambda: left.sjoin(right.copy(), predicate="within"),
    )


@call("`neighbors(points, r)`", "NumPy, all against all")
def near_by_numpy(random: np.random.Generator, n: int) -> tuple[Run, Run]:
    points, r = random.random((n, 2)), reach(n)

    def usual() -> Any:
        apart = ((points[:, None] - points) ** 2).sum(axis=2)
        i, j = np.nonzero(np.triu(apart <= r * r, 1))
        return np.sqrt(apart[i, j])

    return lambda: bp.neighbors(points, r), usual


@call("`neighbors(points, r)`", "SciPy: `cKDTree(points).query_pairs(r)`", "scipy")
def near(random: np.random.Generator, n: int) -> tuple[Run, Run]:
    from scipy.spatial import cKDTree

    points, r = random.random((n, 2)), reach(n)
    return lambda: bp.neighbors(points, r), lambda: cKDTree(points).query_pairs(r, output_type="ndarray")


@call("`nearest(points, 4)`", "SciPy: `cKDTree(points).query(points, 5)`", "scipy")
def nearest(random: np.random.Generator, n: int) -> tuple[Run, Run]:
    from scipy.spatial import cKDTree

    points = random.random((max(n, 5), 2))
    return lambda: bp.nearest(points, 4).ids, lambda: cKDTree(points).query(points, 5)[1]


@call("`index.nearest(point, 4)`, a `PointIndex`", "SciPy: `tree.query(point, 4)`", "scipy")
def one_nearest(random: np.random.Generator, n: int) -> tuple[Run, Run]:
    from scipy.spatial import KDTree

    points = random.random((max(n, 5), 2))
    index, tree = bp.PointIndex(points), KDTree(points)
    some = itertools.cycle(random.random((100, 2)))
    return lambda: index.nearest(next(some), 4).ids, lambda: tree.query(next(some), 4)[1]


@call("`near.scatter(forces)`, rows are pairs", "`np.add.at`")
def scatter(random: np.random.Generator, n: int) -> tuple[Run, Run]:
    points = random.random((max(n // 5, 3), 2))
    found = bp.neighbors(points, reach(len(points)))
    forces = random.random((len(found), 2))

    def usual() -> Any:
        sums = np.zeros((len(points), 2))
        np.add.at(sums, found.i, forces)
        np.subtract.at(sums, found.j, forces)
        return sums

    return lambda: found.scatter(forces, antisymmetric=True), usual


@call("`index.raycast(...)`, 64 rays", "NumPy, all rays against all boxes")
def rays(random: np.random.Generator, n: int) -> tuple[Run, Run]:
    boxes, index = boxes_of(random, n), bp.make_index()
    index.insert_many(boxes)
    turns = np.linspace(0.01, 2 * np.pi, 64, endpoint=False)
    origin, ways = np.array([0.5, 0.5]), np.stack((np.cos(turns), np.sin(turns)), axis=1)

    def usual() -> Any:
        edges = (boxes.reshape(n, 2, 2) - origin) / ways[:, None, None]
        enter, leave = edges.min(axis=2).max(axis=2), edges.max(axis=2).min(axis=2)
        return np.where((enter <= leave) & (leave >= 0), np.maximum(enter, 0), np.inf).min(axis=1)

    return lambda: index.raycast(origin, ways), usual


@call("`index.query_box(box)`", "NumPy: `np.flatnonzero(...)` over all boxes")
def query(random: np.random.Generator, n: int) -> tuple[Run, Run]:
    boxes, index, box = boxes_of(random, n), bp.make_index(), [0.4, 0.4, 0.6, 0.6]
    index.insert_many(boxes)

    def usual() -> Any:
        return np.flatnonzero(
            (boxes[:, 0] <= 0.6) & (boxes[:, 1] <= 0.6) & (boxes[:, 2] >= 0.4) & (boxes[:, 3] >= 0.4)
        )

    return lambda: index.query_box(box), usual


@call("`world.move(player, dx, dy)`, rows are walls", "`collidelist` for x, then y", "pygame")
def walk(random: np.random.Generator, n: int) -> tuple[Run, Run]:
    import pygame

    row, column = np.divmod(np.arange(n), max(int(n**0.5), 1))
    walls = [pygame.Rect(64 * x, 64 * y, 20, 20) for x, y in zip(column, row, strict=True)]
    world, rect = bp.World(), pygame.Rect(30, 30, 16, 16)
    world.add_many([bp.Box(wall) for wall in walls], static=True)
    player, ways = world.add(bp.Box(rect)), itertools.cycle([(3, 2)] * 40 + [(-3, -2)] * 40)
    others = itertools.cycle([(3, 2)] * 40 + [(-3, -2)] * 40)

    def usual() -> Any:
        dx, dy = next(others)
        rect.x += dx
        wall = rect.collidelist(walls)
        if wall >= 0 and dx > 0:
            rect.right = walls[wall].left
        elif wall >= 0:
            rect.left = walls[wall].right
        rect.y += dy
        wall = rect.collidelist(walls)
        if wall >= 0 and dy > 0:
            rect.bottom = walls[wall].top
        elif wall >= 0:
            rect.top = walls[wall].bottom
        return rect

    return lambda: world.move(player, *next(ways)), usual


def agree(ours: Any, usual: Any) -> bool:
    """Whether both found as many, or are in one place."""
    if isinstance(ours, bp.RayHits):
        return bool(np.allclose(ours.distances, usual))
    if isinstance(ours, bp.Movement):
        return (ours.x, ours.y) == (usual.x, usual.y)
    return len(ours) == len(usual)


def timed(ours: Run, usual: Run, seconds: float) -> list[float]:
    """The best times of both, which take turns."""
    best, counts, end, turn = [np.inf, np.inf], [1, 1], perf_counter() + 2 * seconds, 0
    while turn < TURNS or perf_counter() < end:
        turn += 1
        for k, run in enumerate((ours, usual)):
            start = perf_counter()
            for _ in range(counts[k]):
                run()
            best[k] = min(best[k], (perf_counter() - start) / counts[k])
            counts[k] = 1 + int(TURN / best[k])
    return best


def measured(one: Call, seconds: float) -> dict[int, float]:
    """How many times as long the usual way takes, by size."""
    found: dict[int, float] = {}
    for n in sorted({2**power for power in range(1, 18)} | set(SHOWN)):
        ours, usual = one.make(np.random.default_rng(SEED), n)
        if not agree(ours(), usual()):
            raise SystemExit(f"{one.name} and {one.instead} find something else in {n} rows")
        fast, slow = timed(ours, usual, seconds)
        found[n] = slow / fast
        if slow > LONGEST:
            break
    return found


def first_win(found: dict[int, float]) -> str:
    lost = max((n for n, ratio in found.items() if ratio < 1), default=0)
    won = min((n for n in found if n > lost), default=None)
    return "never" if won is None else f"{won:,}" if lost else "always"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.1, help="for each contestant and size")
    options = parser.parse_args()
    print(f"| call | instead of | wins from | {' | '.join(f'{n:,}' for n in SHOWN)} |")
    print(f"|---|---|---|{'---|' * len(SHOWN)}")
    for one in CALLS:
        if all(map(find_spec, one.needs)):
            found = measured(one, options.seconds)
            shown = (f"{found[n]:{'.2g' if found[n] < 10 else ',.0f'}}" if n in found else "" for n in SHOWN)
            print(f"| {one.name} | {one.instead} | {first_win(found)} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
