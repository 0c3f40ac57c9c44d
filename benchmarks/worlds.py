"""Many worlds in one call, and periodic worlds, compared with the alternatives without them.

``--queries`` compares queries of an index of many environments: lidar, an update and 64 rays in each world a
frame, beside a scalar loop over all boxes of a world in Numba (both are given float32, write ids and need no
normals); every query beside the same in one world.  ``--lidar`` compares 32 rays in each environment with
that loop: as a fan for each robot, by axes, and as rows with ``env=``; at the end among circles, then
segments, of a `broadphase.ShapeIndex` that all move.

Every number of pairs is checked before anything is timed; all calls of one line take turns, and the printed
figures are ratios of the fastest runs.
"""

import argparse
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np
import shapely

import broadphase as bp


def uniform(random, n, dim, dtype):
    """Equal boxes spread evenly over a world of 1, about two pairs a box."""
    side = (4.0 / (n * 2**dim)) ** (1.0 / dim)
    low = random.random((n, dim))
    return np.hstack((low, low + side)).astype(dtype)


def fastest(calls: dict[str, Callable[[], object]], rounds: int, clock=perf_counter) -> dict[str, float]:
    """Seconds of the fastest of some calls of each, in turns."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            began = clock()
            call()
            best[name] = min(best[name], clock() - began)
    return best


def compare(worlds: int, size: int, dim: int, dtype, rounds: int) -> None:
    """One line of the table."""
    random = np.random.default_rng(1)
    one = uniform(random, worlds * size, dim, dtype)
    many = np.concatenate([uniform(random, size, dim, dtype) for _ in range(worlds)])
    env = np.repeat(np.arange(worlds), size)
    order = random.permutation(len(env))
    mixed, mixed_env = many[order], env[order]
    starts = range(0, len(many), size)
    sizes = [slice(at, at + size) for at in starts]

    def loop_over_slices() -> int:
        return sum(len(bp.pairs(many[own])) for own in sizes)

    def loop_over_masks() -> int:
        return sum(len(bp.pairs(mixed[mixed_env == own])) for own in range(worlds))

    def sorted_loop() -> int:
        in_order = np.argsort(mixed_env, kind="stable")
        found = [in_order[at : at + size][bp.pairs(mixed[in_order[at : at + size]])] for at in starts]
        return len(np.concatenate(found))

    found = bp.count_pairs(many, env=env)
    assert found == len(bp.pairs(many, env=env)) == len(bp.pairs(mixed, env=mixed_env))
    assert found == loop_over_slices() == sorted_loop()
    # shapely knows no environments: the worlds are laid side by side, far apart.
    shapelys = (
        None if dim == 3 else shapely.box(*(mixed.T + 4.0 * np.array([[1], [0], [1], [0]]) * mixed_env))
    )

    def shapely_tree() -> int:
        pairs = shapely.STRtree(shapelys).query(shapelys)
        return int((pairs[0] < pairs[1]).sum())

    assert dim == 3 or abs(shapely_tree() - found) <= 1e-3 * found + 2  # laid out, edges are rounded
    period = (1.0,) * dim
    inside, around = bp.count_pairs(one), bp.count_pairs(one, period=period)
    assert len(bp.pairs(one, period=period)) == around >= inside
    times = fastest(
        {
            "one": lambda: bp.pairs(one),
            "env": lambda: bp.pairs(many, env=env),
            "mixed": lambda: bp.pairs(mixed, env=mixed_env),
            "period": lambda: bp.pairs(one, period=period),
            "slices": loop_over_slices,
            "sorted": sorted_loop,
        },
        rounds,
    )
    once = {"masks": loop_over_masks} | ({} if dim == 3 else {"shapely": shapely_tree})
    slow = fastest(once, 1)
    print(
        f"{worlds:>6} x {size:<6}{dim}-D {np.dtype(dtype).name:<8}"
        f"{inside:>10,}{found:>10,}{times['env'] / times['one']:>8.2f}{times['mixed'] / times['one']:>8.2f}"
        f"{times['slices'] / times['env']:>8.1f}{times['sorted'] / times['mixed']:>8.1f}"
        f"{slow['masks'] / times['mixed']:>8.1f}{slow.get('shapely', np.nan) / times['mixed']:>9.1f}"
        f"{times['period'] / times['one']:>8.2f}"
    )


def by_hand(boxes, origins, directions, env, size, max_distance, hits) -> None:
    """The first hit of each ray, box after box in float32: what people write for their simulations."""
    dim = origins.shape[1]
    for q in range(len(origins)):
        best, hit, first = max_distance, -1, env[q] * size
        for k in range(first, first + size):
            near, far = np.float32(0), best
            for axis in range(dim):
                rate = np.float32(1) / directions[q, axis]
                enter = (boxes[k, axis] - origins[q, axis]) * rate
                leave = (boxes[k, dim + axis] - origins[q, axis]) * rate
                near, far = max(near, min(enter, leave)), min(far, max(enter, leave))
            if near <= far and near < best:
                best, hit = near, k
        hits[q] = hit


def circles_by_hand(centers, radius, origins, directions, env, size, max_distance, hits) -> None:
    """The same for circles of one radius."""
    for q in range(len(origins)):
        best, hit, first = max_distance, -1, env[q] * size
        for k in range(first, first + size):
            x, y = centers[k, 0] - origins[q, 0], centers[k, 1] - origins[q, 1]
            along, beyond = x * directions[q, 0] + y * directions[q, 1], x * x + y * y - radius * radius
            root = along * along - beyond
            far = 0.0 if beyond < 0.0 else along - np.sqrt(root) if root > 0.0 else -1.0
            if 0.0 <= far < best:
                best, hit = far, k
        hits[q] = hit


def segments_by_hand(starts, way, origins, directions, env, size, max_distance, hits) -> None:
    """The same for segments, each as long and in the same direction."""
    for q in range(len(origins)):
        best, hit, first = max_distance, -1, env[q] * size
        dx, dy = directions[q, 0], directions[q, 1]
        across = dx * way[1] - dy * way[0]
        for k in range(first, first + size):
            x, y = starts[k, 0] - origins[q, 0], starts[k, 1] - origins[q, 1]
            far, along = (x * way[1] - y * way[0]) / across, (x * dy - y * dx) / across
            if 0.0 <= along <= 1.0 and 0.0 <= far < best:
                best, hit = far, k
        hits[q] = hit


def compare_queries(worlds: int, size: int, dim: int, rounds: int) -> None:
    """One line of the second table, on one core."""
    from numba import njit

    random = np.random.default_rng(1)
    side, rays = 20.0 * (size / 32) ** (1 / dim), 64
    boxes = random.random((worlds * size, dim)) * side
    boxes = np.hstack((boxes, boxes + 1.0))
    env, env_of_ray = np.repeat(np.arange(worlds), size), np.repeat(np.arange(worlds), rays)
    points = np.repeat(random.random((worlds, dim)) * side, rays, axis=0)
    # For the nearest in one world, points in one place are searched once.
    places = random.random(points.shape) * side
    ways = random.normal(size=points.shape)
    ways /= np.sqrt((ways * ways).sum(axis=1, keepdims=True))
    many, one = bp.BoxTree(dim=dim, threads=1), bp.BoxTree(dim=dim, threads=1)
    many.insert_many(boxes, env=env)
    one.insert_many(boxes[:size])
    singles = [array.astype(np.float32) for array in (boxes, points, ways)]
    arena = bp.BoxTree(dim=dim, dtype=np.float32, threads=1)
    arena.insert_many(singles[0], env=env)
    hits, loop = np.empty(len(points), np.int64), njit(nogil=True, error_model="numpy")(by_hand)
    out = np.empty(len(points), np.int32), np.empty(len(points), np.float32)

    def frame() -> bp.RayHits:
        arena.update(singles[0])
        return arena.raycast(*singles[1:], 20.0, env=env_of_ray, normals=False, out=out)

    calls: dict[str, Callable[[], object]] = {
        "frame": frame,
        "by hand": lambda: loop(*singles, env_of_ray, size, np.float32(20.0), hits),
    }
    for name, query in {
        "box": lambda index, **own: index.query_box(np.hstack((points, points + 2.0)), **own),
        "point": lambda index, **own: index.query_point(points, **own),
        "radius": lambda index, **own: index.query_radius(points, 2.0, **own),
        "nearest": lambda index, **own: index.nearest(places, 3, **own).ids,
        "first hit": lambda index, **own: index.raycast(points, ways, 20.0, **own).ids,
        "all hits": lambda index, **own: index.query_ray(points, ways, 20.0, **own).rows,
    }.items():
        calls[name] = lambda query=query: query(many, env=env_of_ray)
        calls[f"{name}, one"] = lambda query=query: query(one)
        alone, own = query(one), np.zeros(len(points), np.int64)
        assert np.array_equal(query(many, env=own), alone)
    calls["by hand"]()
    # In float32 now and then another box seems to be the first.
    assert (frame().ids != hits).mean() < 1e-3
    times = fastest(calls, rounds, process_time)
    million = len(points) / 1e6
    ratios = [times[name] / times[f"{name}, one"] for name in calls if f"{name}, one" in calls]
    print(
        f"{worlds:>6} x {size:<6}{dim}-D {million / times['frame']:>10.1f}{million / times['by hand']:>9.1f}"
        f"{times['by hand'] / times['frame']:>7.1f}" + "".join(f"{ratio:>10.2f}" for ratio in ratios)
    )


def compare_lidar(worlds: int, size: int, dim: int, dtype, rounds: int) -> None:
    """One line of the third table, on one core."""
    from numba import njit

    random, rays = np.random.default_rng(1), 32
    low = random.random((worlds * size, dim)) * 20.0
    boxes = np.hstack((low, low + 1.0)).astype(dtype)
    robots = (random.random((worlds, 1, dim)) * 20.0).astype(dtype)
    fan = random.normal(size=(rays, dim))
    fan = (fan / np.sqrt((fan * fan).sum(axis=1, keepdims=True))).astype(dtype)
    origins, ways = np.repeat(robots[:, 0], rays, axis=0), np.tile(fan, (worlds, 1))
    env, far = np.repeat(np.arange(worlds), rays), boxes.dtype.type(20.0)
    index = bp.BoxTree(dim=dim, dtype=dtype, threads=1)
    index.insert_many(boxes, env=np.repeat(np.arange(worlds), size))
    loop, hits = njit(nogil=True, error_model="numpy")(by_hand), np.empty(len(env), np.int64)
    rows = np.empty(len(env), np.int32), np.empty(len(env), np.float32)
    out = tuple(array.reshape(worlds, rays) for array in rows)

    def frame(*ray: object, **how: object) -> None:
        index.update(boxes)
        index.raycast(*ray, 20.0, normals=False, **how)

    calls: dict[str, Callable[[], object]] = {
        "fans": lambda: frame(robots, fan, out=out),
        "rows": lambda: frame(origins, ways, env=env, out=rows),
        "by hand": lambda: loop(boxes, origins, ways, env, size, far, hits),
    }
    calls["by hand"]()
    for name in ("fans", "rows"):
        calls[name]()
        # In float32 now and then another box seems to be the first.
        assert (rows[0] != hits).mean() < 1e-3
    print_lidar(
        f"{size:>5}  {dim}-D {np.dtype(dtype).name:<8}", fastest(calls, rounds, process_time), len(env)
    )


def compare_shapes(kind: str, worlds: int, size: int, rounds: int) -> None:
    """One line of the table of circles or segments in a `broadphase.ShapeIndex`, on one core."""
    from numba import njit

    random, rays, radius, far = np.random.default_rng(1), 32, 0.5, 20.0
    places, robots = random.random((worlds * size, 2)) * 20.0, random.random((worlds, 1, 2)) * 20.0
    fan, env = bp.ray_fan((1, 0.01), 360, rays), np.repeat(np.arange(worlds), rays)
    origins, ways = np.repeat(robots[:, 0], rays, axis=0), np.tile(fan, (worlds, 1))
    form, by_loop, size_of_one = bp.Circle(0, 0, radius), circles_by_hand, radius
    if kind == "segments":
        size_of_one = np.array((0.9, 0.4))
        form, by_loop = bp.Capsule(0, 0, *size_of_one.tolist(), 0), segments_by_hand
    shapes = [form.moved_to(*place) for place in places]
    index = bp.ShapeIndex(shapes, env=np.repeat(np.arange(worlds), size), threads=1)
    loop, hits = njit(nogil=True, error_model="numpy")(by_loop), np.empty(len(env), np.int64)
    rows, ids = (np.empty(len(env), np.int32), np.empty(len(env))), np.arange(len(shapes))
    out = tuple(array.reshape(worlds, rays) for array in rows)

    def frame(*ray: object, **how: object) -> None:
        index.move_many(ids, places)
        index.raycast(*ray, far, normals=False, **how)

    calls: dict[str, Callable[[], object]] = {
        "fans": lambda: frame(robots, fan, out=out),
        "rows": lambda: frame(origins, ways, env=env, out=rows),
        "by hand": lambda: loop(places, size_of_one, origins, ways, env, size, far, hits),
    }
    calls["by hand"]()
    for name in ("fans", "rows"):
        calls[name]()
        assert np.array_equal(rows[0], hits)
    print_lidar(f"{size:>5}  {kind:<11}", fastest(calls, rounds, process_time), len(env))


def print_lidar(name: str, times: dict[str, float], rays: int) -> None:
    """Print the nanoseconds of a ray, and how many times as fast as by hand."""
    each = {way: 1e9 * took / rays for way, took in times.items()}
    print(
        f"{name}{each['by hand']:>9.1f}{each['fans']:>7.1f}"
        f"{each['rows']:>7.1f}{each['by hand'] / each['fans']:>8.1f}{each['by hand'] / each['rows']:>7.1f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1_000)
    parser.add_argument("--size", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--queries", action="store_true", help="compare queries")
    parser.add_argument("--lidar", action="store_true", help="compare lidar in small environments")
    given = parser.parse_args()
    if given.lidar:
        print(
            f"{given.worlds} environments, 32 rays in each, an update a frame: ns for each ray; times as fast"
        )
        print("boxes                 by hand   fans   rows    fans   rows")
        sizes = (4, 8, 14, 30, 60, 120, 250)
        for dim in (2, 3):
            for dtype in (np.float32, np.float64):
                for size in sizes:
                    compare_lidar(given.worlds, size, dim, dtype, given.rounds)
        for kind in ("circles", "segments"):
            for size in sizes:
                compare_shapes(kind, given.worlds, size, given.rounds)
        return
    if given.queries:
        print("million rays a second and core with an update a frame; queries: times as long as in one world")
        print(f"{'worlds x boxes':<19}{'frame':>9}{'by hand':>9}{'ratio':>7}", end="")
        print(
            "".join(f"{name:>10}" for name in ("box", "point", "radius", "nearest", "first hit", "all hits"))
        )
        for dim in (2, 3):
            for size in (16, 32, 128, 1024):
                compare_queries(given.worlds, size, dim, given.rounds)
        return
    print(
        "env, mixed, period: times as long as one uniform world (mixed: rows in no order)\n"
        "slices: a loop over worlds whose rows are known, times as long as env\n"
        "sorted, masks: loops over mixed rows by argsort or by `boxes[env == e]`, times as long as mixed\n"
        "shapely: an STRtree of all boxes, the worlds side by side, times as long as mixed (2-D)"
    )
    print(
        "worlds x boxes            pairs: one  in worlds  env   mixed  slices  sorted  masks  shapely  period"
    )
    for dim in (2, 3):
        for dtype in (np.float32, np.float64):
            compare(given.worlds, given.size, dim, dtype, given.rounds)


if __name__ == "__main__":
    main()
