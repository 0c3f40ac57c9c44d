"""Whole frames of a world, beside the steps of two physics engines.

    python -m pip install pymunk pyb2d3
    python benchmarks/world.py [--parts] [--only 1000+1000]

Squares of side 1, four units of area each; each mover goes about a tenth of its side in a frame, then back
in the next; listeners for mover against mover and against wall.  A frame of ours is `World.move_many` and
`World.update`, with their calls.  Below the plain rows: half of the bodies are circles, sides from a third to
three times as long, a tile map for the walls, a periodic world, listeners that take all contacts at once
(``many``) or have no function.  The engines also solve their contacts, which ours does not: they stand here
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

ROWS = ((30, 200), (1_000, 1_000), (5_000, 5_000), (20_000, 20_000), (20_000, 0), (100_000, 0))
KINDS = ("circles", "mixed", "tiles", "periodic", "many", "silent")
FRAMES = 12
STEP = 0.1


class Ours:
    """A world with movers and walls.

    ``kind``: plain, circles (half of them), mixed (sides from a third to three times as long), tiles (which
    are the walls), periodic, many (listeners that take all at once) or silent (listeners without functions).
    """

    def __init__(self, movers: int, walls: int, response: str = "slide", kind: str = "plain") -> None:
        rng = np.random.default_rng(1)
        side = (4.0 * (movers + walls)) ** 0.5
        self.places, self.walls = rng.random((movers, 2)) * side, rng.random((walls, 2)) * side
        self.ways, self.response = rng.normal(size=(movers, 2)) * STEP, response
        period = (float(np.ceil(side)),) * 2 if kind == "periodic" else None
        self.world, self.began, self.frames = bp.World(period=period), 0, 0
        sizes = 3.0 ** rng.uniform(-1, 1, (movers, 2)) if kind == "mixed" else np.ones((movers, 2))
        self.bodies = self.world.add_many(shapes_at(self.places, sizes, kind == "circles"), tag="mover")
        if kind == "tiles":
            solid = np.zeros((int(side) + 1,) * 2, np.bool_)
            solid[self.walls[:, 1].astype(int), self.walls[:, 0].astype(int)] = True
            self.world.tiles = bp.TileMap(solid, tile_size=1)
        else:
            shapes = shapes_at(self.walls, np.ones((walls, 2)), kind == "circles")
            self.world.add_many(shapes, tag="wall", static=True)
        functions = {"many": {"many": self.count}, "silent": {}}.get(kind, {"begin": self.begin})
        for other in ("mover", "wall"):
            self.world.on("mover", other, **functions)

    def count(self, rows: bp.ContactRows) -> None:
        """What listeners call that take all at once."""
        self.began += len(rows.a)

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


def shapes_at(places: np.ndarray, sizes: np.ndarray, circles: bool) -> Any:
    if not circles:
        return np.hstack((places, places + sizes))
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


def best_of_turns(steps: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Milliseconds of the best of many frames of each, one after the other."""
    best = dict.fromkeys(steps, np.inf)
    for _ in range(rounds):
        for name, step in steps.items():
            start = time.process_time()
            step()
            best[name] = min(best[name], (time.process_time() - start) * 1e3)
    return best


def compare(movers: int, walls: int) -> None:
    """Print the row of a scene."""
    slide, cross = Ours(movers, walls), Ours(movers, walls, "cross")
    if movers <= 20_000:
        slide.check()
    steps = {"slide": slide.step, "cross": cross.step}
    for kind in KINDS if walls else ("circles", "many", "silent"):
        steps[kind] = Ours(movers, walls, kind=kind).step
    if movers <= 20_000:
        for name, engine in (("Box2D", box2d), ("pymunk", pymunk)):
            try:
                steps[name] = engine(slide)
            except ImportError:
                print(f"{name} is not installed")
    best = best_of_turns(steps, max(FRAMES, 20_000 // movers))
    print(f"{movers:,} + {walls:,}")
    for name, taken in best.items():
        of_plain = f"{taken / best['slide']:8.2f} of slide"
        of_engine = f"{taken / best['Box2D']:8.2f} of Box2D" if "Box2D" in best else ""
        print(f"    {name:10}{taken:10.3f}{of_plain}{of_engine}", flush=True)


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
        print("milliseconds of a frame: processor time, best of", FRAMES, "or more")
    for movers, walls in rows:
        (parts if chosen.parts else compare)(movers, walls)


if __name__ == "__main__":
    main()
