"""The calls that a game makes one at a time, in a world that has run for a while, beside pymunk.

    python -m pip install pymunk
    python benchmarks/game_calls.py [--seconds 0.4]

2,000 static walls and 500 bodies, some removed and added again.  pymunk's move is made by hand: the position
is set and `Space.shape_query` is called once.  The answers are compared before anything is timed.  Calls take
turns, each in rounds of `ROUND`; the least round counts.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pymunk

import broadphase as bp

WALLS, BODIES, SIDE, ROUND = 2_000, 500, 2_000.0, 100


def scene() -> tuple[bp.World, list[bp.Body], list[bp.Body]]:
    """A world that has lived: walls, bodies, listeners, 200 frames; its bodies and its walls."""
    rng = np.random.default_rng(7)
    world = bp.World()
    corners = rng.random((WALLS, 2)) * SIDE
    sizes = rng.uniform(4, 24, (WALLS, 2))
    walls = world.add_many(np.hstack((corners, corners + sizes)), tag="wall", static=True)
    bodies = [
        world.add(bp.Box(x, y, 8, 8), tag=("mob", "shot", "coin")[k % 3])
        for k, (x, y) in enumerate((rng.random((BODIES, 2)) * SIDE).tolist())
    ]
    world.on("mob", "shot")
    for _ in range(200):
        k = int(rng.integers(BODIES))
        x, y = (rng.random(2) * SIDE).tolist()
        world.remove(bodies[k])
        bodies[k] = world.add(bp.Box(x, y, 8, 8), tag="mob")
        world.move_many(bodies, rng.normal(size=BODIES), rng.normal(size=BODIES))
        world.update()
    return world, bodies, walls


def beside(world: bp.World, bodies: list[bp.Body], walls: list[bp.Body]) -> tuple[pymunk.Space, list[Any]]:
    """The same bodies in pymunk."""
    space = pymunk.Space()
    for wall in walls:
        left, top, right, bottom = wall.bounds
        space.add(pymunk.Poly.create_box_bb(space.static_body, pymunk.BB(left, top, right, bottom)))
    shapes = []
    for one in bodies:
        body = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
        body.position = one.center
        shape = pymunk.Poly.create_box(body, (8, 8))
        space.add(body, shape)
        shapes.append(shape)
    return space, shapes


def main(seconds: float) -> None:
    """Print a table."""
    world, bodies, walls = scene()
    space, shapes = beside(world, bodies, walls)
    rng = np.random.default_rng(8)
    every = pymunk.ShapeFilter()
    boxes = [(x, y, x + 40.0, y + 40.0) for x, y in (rng.random((ROUND, 2)) * SIDE).tolist()]
    small = [(x, y, x + 8.0, y + 8.0) for x, y, _, _ in boxes]
    areas = [pymunk.BB(*box) for box in boxes]
    angles = rng.uniform(0, 2 * np.pi, ROUND)
    starts = list(map(tuple, (rng.random((ROUND, 2)) * SIDE).tolist()))
    ways = list(map(tuple, np.column_stack((np.cos(angles), np.sin(angles))).tolist()))
    ends = [(x + 400 * dx, y + 400 * dy) for (x, y), (dx, dy) in zip(starts, ways, strict=True)]
    some = [bodies[k] for k in rng.permutation(BODIES)[:ROUND]]
    theirs = [shapes[bodies.index(body)] for body in some]
    there = 1.0

    for box, area in zip(boxes, areas, strict=True):
        if abs(len(world.query_box(box)) - len(space.bb_query(area, every))) > 2:
            raise SystemExit("pymunk finds other bodies in a box")
    for start, way, end in zip(starts, ways, ends, strict=True):
        hit, other = world.raycast(start, way, 400.0), space.segment_query_first(start, end, 0, every)
        if hit is None or other is None:
            same = hit is None and other is None
        else:
            same = abs(hit.distance - 400.0 * other.alpha) < 1e-6
        if not same and (hit is None or hit.distance > 0.0):
            raise SystemExit("pymunk's ray hits something else")

    def by_hand(shape: Any) -> None:
        x, y = shape.body.position
        shape.body.position = x + there, y
        space.shape_query(shape)

    slopes = bp.World()
    ground = np.zeros((20, 40), np.bool_)
    ground[-1] = True
    slopes.tiles = bp.TileMap(ground, 32)
    slopes.tiles.set_slope(5, 18, 0, 1)
    climber = slopes.add(bp.Box(160, 540, 16, 24))
    slopes.move(climber, 0, 100, "touch")
    walker = world.add(bp.Box(-100, -100, 8, 16))
    world.add(bp.Box(-300, -84, 500, 10), static=True)
    world.update()
    none = range(ROUND)
    calls: dict[str, tuple[Callable[..., Any], Any]] = {
        "pymunk: move and shape_query": (by_hand, theirs),
        "pymunk: segment_query_first": (
            lambda k: space.segment_query_first(starts[k], ends[k], 0, every),
            none,
        ),
        "pymunk: bb_query": (lambda area: space.bb_query(area, every), areas),
        "world.move": (lambda body: world.move(body, there, 0.0), some),
        "world.query_box": (world.query_box, boxes),
        "world.query_box of a small box": (world.query_box, small),
        "world.raycast": (lambda k: world.raycast(starts[k], ways[k], 400.0), none),
        "world.walk": (lambda k: world.walk(walker, there, 1.0), none),
        "world.move on a slope": (lambda dx: slopes.move(climber, dx, -dx), [0.5, -0.5] * (ROUND // 2)),
        "world.move_many of 500, a body": (lambda k: world.move_many(bodies, there, 0.0), range(1)),
    }
    best = dict.fromkeys(calls, np.inf)
    end = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end:
        there = -there
        for name, (call, values) in calls.items():
            begin = time.perf_counter()
            for value in values:
                call(value)
            best[name] = min(best[name], (time.perf_counter() - begin) / len(values))
    best["world.move_many of 500, a body"] /= BODIES
    move, ray = best["pymunk: move and shape_query"], best["pymunk: segment_query_first"]
    print(f"{'':34}{'us':>8}{'of its move':>18}{'of its ray':>12}")
    for name, took in best.items():
        print(f"{name:34}{took * 1e6:8.2f}{took / move:18.2f}{took / ray:12.2f}")
    crowd()


def crowd() -> None:
    """`update` with 10,000 bodies that all move, about 1,400 of whose contacts have a `stay` function."""
    rng = np.random.default_rng(3)
    world = bp.World()
    places = rng.random((10_000, 2)) * 2_950
    bodies = world.add_many(np.hstack((places, places + 8)), tag="mob")
    calls = [0]

    def stay(contact: bp.Contact) -> None:
        calls[0] += 1

    world.on("mob", "mob", stay=stay)
    world.update()
    ids, best = world.ids, np.inf
    for _ in range(30):
        world.move_all(ids, world.positions + rng.normal(size=(10_000, 2)) * 0.2)
        calls[0] = 0
        begin = time.perf_counter()
        world.update()
        best = min(best, time.perf_counter() - begin)
    print(f"update of {len(bodies):,} that all move, {calls[0]:,} calls: {best * 1e3:.2f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=0.4, help="for each call")
    main(parser.parse_args().seconds)
