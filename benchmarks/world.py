"""Whole frames of a world, beside the steps of two physics engines.

    python -m pip install pymunk pyb2d3
    python benchmarks/world.py [--parts] [--only 1000+1000]

Squares of side 1, four units of area each; each mover goes about a tenth of its side in a frame, then back
in the next; listeners for mover against mover and against wall.  A frame of ours is `World.move_many` and
`World.update`, with their calls.  The engines also solve their contacts, which ours does not: they stand here
because a game waits as long for them.  Processor time, for one core (``taskset -c 0``); the best frame of
each, taken in turns.  Before anything is timed, the contacts of a frame are held against brute force.

``--parts`` prints where a frame of ours goes instead.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import broadphase as bp

ROWS = ((1_000, 1_000), (5_000, 5_000), (20_000, 20_000), (20_000, 0), (100_000, 0))
FRAMES = 12
STEP = 0.1


class Ours:
    """A world with movers and walls; ``round_share`` of both are circles."""

    def __init__(self, movers: int, walls: int, response: str = "slide", circles: bool = False) -> None:
        rng = np.random.default_rng(1)
        side = (4.0 * (movers + walls)) ** 0.5
        self.places, self.walls = rng.random((movers, 2)) * side, rng.random((walls, 2)) * side
        self.ways, self.response = rng.normal(size=(movers, 2)) * STEP, response
        self.world, self.began = bp.World(), 0
        self.bodies = self.world.add_many(shapes_at(self.places, circles), tag="mover")
        self.world.add_many(shapes_at(self.walls, circles), tag="wall", static=True)
        for other in ("mover", "wall"):
            self.world.on("mover", other, begin=self.begin)
        self.frames = 0

    def begin(self, contact: bp.Contact) -> None:
        """What the listeners call."""
        self.began += 1

    def step(self) -> None:
        """One frame."""
        self.frames += 1
        way = self.ways if self.frames % 2 else -self.ways
        self.world.move_many(self.bodies.ids, way, response=self.response)
        self.world.update()

    def check(self) -> None:
        """Hold the pairs that overlap after an update against brute force."""
        self.step()
        events = self.world.update()
        places = self.world.positions
        begun = np.concatenate((self.places, self.walls))
        sizes = (begun + 1.0) - begun  # as rounded
        static = np.arange(len(places)) >= len(self.bodies)
        pairs = bp.pairs(
            np.hstack((places, places + sizes)), static=static, touching=False, method="brute_force"
        )
        if not np.array_equal(events.stayed.ids, pairs):
            raise SystemExit("the contacts are not those of brute force")


def shapes_at(places: np.ndarray, circles: bool) -> Any:
    if not circles:
        return np.hstack((places, places + 1.0))
    return [
        bp.Circle(x + 0.5, y + 0.5, 0.5) if k % 2 else bp.Box(x, y, 1, 1)
        for k, (x, y) in enumerate(places.tolist())
    ]


def box2d(ours: Ours) -> Callable[[], None]:
    """A step of Box2D with the same boxes."""
    import pyb2d3

    world = pyb2d3.World(gravity=(0, 0))
    box = pyb2d3.box(0.5, 0.5)
    for (x, y), (vx, vy) in zip(ours.places.tolist(), ours.ways.tolist(), strict=True):
        body = world.create_dynamic_body(
            position=(x + 0.5, y + 0.5), linear_velocity=(60 * vx, 60 * vy), fixed_rotation=True
        )
        body.create_shape(pyb2d3.shape_def(density=1), box)
    for x, y in ours.walls.tolist():
        world.create_static_body(position=(x + 0.5, y + 0.5)).create_shape(pyb2d3.shape_def(), box)
    return lambda: world.step(1 / 60, 1)


def pymunk(ours: Ours) -> Callable[[], None]:
    """A step of Chipmunk with the same boxes, in its spatial hash."""
    import pymunk

    space = pymunk.Space()
    space.use_spatial_hash(1.0, 10 * len(ours.places))
    for (x, y), (vx, vy) in zip(ours.places.tolist(), ours.ways.tolist(), strict=True):
        body = pymunk.Body(1.0, float("inf"))
        body.position, body.velocity = (x + 0.5, y + 0.5), (60 * vx, 60 * vy)
        space.add(body, pymunk.Poly.create_box(body, (1, 1)))
    for x, y in ours.walls.tolist():
        space.add(pymunk.Poly.create_box_bb(space.static_body, pymunk.BB(x, y, x + 1, y + 1)))
    return lambda: space.step(1 / 60)


def best_of_turns(steps: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Milliseconds of the best of many frames of each, one after the other."""
    best = dict.fromkeys(steps, np.inf)
    for _ in range(FRAMES):
        for name, step in steps.items():
            start = time.process_time()
            step()
            best[name] = min(best[name], (time.process_time() - start) * 1e3)
    return best


def compare(movers: int, walls: int) -> None:
    """Print the row of a scene."""
    slide, cross = Ours(movers, walls), Ours(movers, walls, "cross")
    round_ones = Ours(movers, walls, circles=True)
    if movers <= 20_000:
        slide.check()
    steps = {"slide": slide.step, "cross": cross.step, "half circles": round_ones.step}
    if movers <= 20_000:
        steps |= {"Box2D": box2d(slide), "pymunk": pymunk(slide)}
    best = best_of_turns(steps)
    said = "".join(f"  {name} {taken:8.2f}" for name, taken in best.items())
    engine = best.get("Box2D")
    if engine:
        ratios = "  ".join(f"{name} {best[name] / engine:.2f}" for name in ("slide", "cross", "half circles"))
        said += f"   of Box2D: {ratios}"
    print(f"{movers:>7,} + {walls:<7,}{said}", flush=True)


def parts(movers: int, walls: int) -> None:
    """Print where a frame goes, by the calls of the world's parts."""
    import cProfile
    import pstats

    ours = Ours(movers, walls)
    for _ in range(4):
        ours.step()
    profile = cProfile.Profile(time.process_time)
    profile.enable()
    for _ in range(FRAMES):
        ours.step()
    profile.disable()
    pstats.Stats(profile).sort_stats("cumulative").print_stats(30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parts", action="store_true", help="print where a frame goes")
    parser.add_argument("--only", help="one scene, such as 1000+1000")
    chosen = parser.parse_args()
    rows = ROWS if chosen.only is None else [tuple(map(int, chosen.only.split("+")))]
    if not chosen.parts:
        print("milliseconds of a frame: processor time, best of", FRAMES)
    for movers, walls in rows:
        (parts if chosen.parts else compare)(movers, walls)


if __name__ == "__main__":
    main()
