"""The cost of a frame of a world, by its parts: 5,000 moving bodies with ten tags, listeners for three pairs.

``python benchmarks/world.py [bodies]``
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import broadphase as bp

FRAMES = 200
TAGS = [f"tag{k}" for k in range(10)]
PAIRS = [("tag0", "tag1"), ("tag2", "tag3"), ("tag4", "wall")]


def scene(n: int) -> tuple[bp.World, list[bp.Body], np.ndarray]:
    """``n`` boxes and circles that fill a third of a square, and a tenth as many static walls."""
    rng = np.random.default_rng(1)
    side = 27.0 * np.sqrt(n)
    world = bp.World()
    places = rng.random((n, 2)) * side
    sizes = rng.uniform(10, 24, n)
    bodies = []
    for k, (x, y) in enumerate(places.tolist()):
        size = float(sizes[k])
        shape = bp.Circle(x, y, size / 2) if k % 3 == 0 else bp.Box(x, y, size, size)
        bodies.append(world.add(shape, tag=TAGS[k % 10], data=k))
    for x, y in (rng.random((n // 10, 2)) * side).tolist():
        world.add(bp.Box(x, y, 60, 20), tag="wall", static=True)
    return world, bodies, rng.normal(size=(n, 2)) * 2.0


class Clock:
    """Sums the time of wrapped methods, without that of other wrapped methods that they call."""

    def __init__(self) -> None:
        self.best: dict[str, list[float]] = {}
        self._inner = [0.0]

    def wrap(self, owner: Any, name: str, label: str) -> None:
        """Let a method be timed under a label."""
        inner = getattr(owner, name)

        def timed(*args: Any) -> Any:
            self._inner.append(0.0)
            begin = time.perf_counter()
            result = inner(*args)
            took = time.perf_counter() - begin
            own = took - self._inner.pop()
            self._inner[-1] += took
            self.frames[-1][label] = self.frames[-1].get(label, 0.0) + own
            return result

        setattr(owner, name, timed)

    def run(self, step: Callable[[], None]) -> list[dict[str, float]]:
        """The time of each label in each of many frames."""
        self.frames: list[dict[str, float]] = []
        for _ in range(FRAMES):
            self.frames.append({})
            step()
        return self.frames


def next_places(world: bp.World, ids: np.ndarray, speed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Move every body one step, back and forth."""
    places = world.positions[np.searchsorted(world.ids, ids)]
    return places + speed * rng.choice((-1.0, 1.0), (len(ids), 1))


def times(world: bp.World, move: Callable[[], object]) -> list[float]:
    """The time of `World.update` after each of many moves."""
    found = []
    for number in range(FRAMES + 5):
        move()
        start = time.perf_counter()
        world.update()
        if number >= 5:
            found.append(time.perf_counter() - start)
    return found


def median(frames: list[dict[str, float]], label: str) -> float:
    return float(np.median([frame.get(label, 0.0) for frame in frames]) * 1e3)


def main(n: int) -> None:
    world, bodies, speed = scene(n)
    heard = [0, 0]

    def begin(contact: bp.Contact) -> None:
        heard[0] += 1

    def end(contact: bp.Contact) -> None:
        heard[1] += 1

    for a, b in PAIRS:
        world.on(a, b, begin=begin, end=end)
    ids = np.array([body.id for body in bodies])
    rng = np.random.default_rng(2)

    def frame() -> None:
        world.move_all(ids, next_places(world, ids, speed, rng))
        world.update()

    whole = times(world, lambda: world.move_all(ids, next_places(world, ids, speed, rng)))
    stats = world.stats

    clock = Clock()
    tracker, layers = world._state.contacts, world._state.broad_phase
    clock.wrap(world, "move_all", "move_all: places into the arrays")
    clock.wrap(layers, "hand_over", "broad phase: boxes into the trees")
    clock.wrap(layers, "pairs", "broad phase: pairs of moving bodies")
    clock.wrap(layers, "in_boxes", "broad phase: with static bodies")
    clock.wrap(tracker, "_candidates", "candidates: filter, sort, unique")
    clock.wrap(tracker, "_narrow", "narrow phase")
    clock.wrap(tracker, "_changes", "what began, stayed and ended")
    clock.wrap(tracker, "update", "compare with the frame before, rest")
    clock.wrap(world._dispatch, "_call_all", "making the calls")
    clock.wrap(world, "update", "update, rest")
    parts = clock.run(frame)
    labels = dict.fromkeys(label for one in parts for label in one)

    print(f"{n} moving bodies, {n // 10} walls, {len(TAGS)} tags, {len(PAIRS)} pairs of tags listened for")
    print(f"a frame: {stats.candidates} candidates, {stats.contacts} contacts, {stats.calls} calls")
    print(f"update(): median {np.median(whole) * 1e3:.2f} ms, best {min(whole) * 1e3:.2f} ms\n")
    for label in labels:
        print(f"{label:40}{median(parts, label):8.3f} ms")
    for number in (0, 50):
        some = bodies[:number]
        few = times(world, lambda: [body.move_to(body.x + 1.0, body.y) for body in some])  # noqa: B023
        print(f"{f'update() when {number} have moved':40}{np.median(few) * 1e3:8.3f} ms")
    quiet = [world.add(bp.Box(*at, 20, 20), tag="quiet") for at in world.positions[:n].tolist()]
    more = np.array([body.id for body in (*bodies, *quiet)])
    again = np.vstack((speed, speed))
    both = times(world, lambda: world.move_all(more, next_places(world, more, again, rng)))
    print(f"{f'update() with {n} more, not listened for':40}{np.median(both) * 1e3:8.3f} ms\n")
    for body in quiet:
        world.remove(body)
    one_by_one(world, bodies)


def nothing(body: bp.Body) -> None:
    """The cost of any call in Python, for comparison."""


def among_walls() -> None:
    """The cost of one body in a room with tiles: the calls that a small game makes in each frame."""
    solid = np.zeros((30, 40), np.bool_)
    solid[0] = solid[-1] = solid[:, 0] = solid[:, -1] = True
    world = bp.World()
    level = world.tiles = bp.TileMap(solid, 16)
    walls = [(100, 100, 80, 10), (100, 100, 10, 60), (170, 100, 10, 60), (120, 150, 40, 10)]
    for wall in walls:
        world.add(bp.Box(*wall), static=True, tag="wall")
    for k in range(20):
        world.add(bp.Box(300.0 + 12 * k, 300, 8, 8), tag="monster")
    world.on("player", "monster")
    player = world.add(bp.Box(125, 125, 10, 10), tag="player")
    # As in a game that has run for a while: bodies without listeners, and an update.
    world.add_many([[500, 400, 508, 408], [520, 400, 528, 408]])
    world.update()
    there = [1.0]

    def to_and_fro() -> float:
        there[0] = -there[0]
        return there[0]

    def step_and_update(body: bp.Body) -> None:
        body.move_to(125.0 + to_and_fro(), 125.0)
        world.update()

    measure(
        [player],
        {
            "nothing at all": nothing,
            "world.move, free": lambda body: world.move(body, to_and_fro(), 1.0),
            "world.move, into two walls": lambda body: world.move(body, 50.0, 50.0),
            "world.try_move": lambda body: world.try_move(body, to_and_fro(), 0.0),
            "body.move_to": lambda body: body.move_to(125.0 + to_and_fro(), 125.0),
            "world.update, nothing moved": lambda body: world.update(),
            "world.update, one moved": step_and_update,
            "world.grounded": world.grounded,
            "world.query_box": lambda body: world.query_box((100.0, 100.0, 130.0, 130.0)),
            "world.raycast": lambda body: world.raycast((130.0, 130.0), (1.0, 0.0), ignore=body),
            "tiles.is_solid": lambda body: level.is_solid(3, 3),
            "tiles.tiles_in": lambda body: level.tiles_in((0.0, 0.0, 40.0, 40.0)),
            "tiles.line_of_sight": lambda body: level.line_of_sight((40.0, 40.0), (400.0, 300.0)),
        },
    )


def measure(bodies: list[bp.Body], calls: dict[str, Callable[[bp.Body], Any]]) -> None:
    """Print the cost of calls, each for some bodies, the best of many rounds."""
    for name, call in calls.items():
        best, end = np.inf, time.perf_counter() + 0.3
        some = bodies * max(1, 100 // len(bodies))
        while time.perf_counter() < end:
            start = time.perf_counter()
            for body in some:
                call(body)
            best = min(best, time.perf_counter() - start)
        print(f"{name:40}{best / len(some) * 1e6:8.2f} us a call")


def one_by_one(world: bp.World, bodies: list[bp.Body]) -> None:
    """The cost of calls for single bodies."""
    rng = np.random.default_rng(3)
    some = [bodies[k] for k in rng.integers(0, len(bodies), 500)]
    calls: dict[str, Callable[[bp.Body], Any]] = {
        "body.move_to": lambda body: body.move_to(body.x + 0.5, body.y),
        "world.move": lambda body: world.move(body, 1.0, 0.5),
        "world.try_move": lambda body: world.try_move(body, 1.0, 0.5),
        "world.grounded": lambda body: world.grounded(body),
        "world.query_radius(60)": lambda body: world.query_radius(body.position, 60.0),
        "world.raycast(500)": lambda body: world.raycast(body.position, (1.0, 0.3), 500.0, ignore=body),
        "world.nearest(k=3)": lambda body: world.nearest(body.position, 3, ignore=body),
    }
    measure(some, calls)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
    print("\na room with 4 walls, 20 monsters, tiles around:")
    among_walls()
