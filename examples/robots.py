"""A thousand small environments of robots with lidar in one index, without a Python loop over them.

``python -m examples robots --picture robots.png`` draws nine of them (needs matplotlib).  ``env`` is the
environment of each box, as when many copies of an environment are trained at once: a frame is one
``raycast`` of all rays, each of which ignores its own robot, and one ``pairs`` that finds the robots that
would collide.
"""

import argparse
import math
import time
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

import broadphase as bp

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

SIDE, SIZE, SIGHT, SPEED = 100.0, 2.0, 30.0, 0.8
"""The size of an environment and of a robot, the range of its lidar, and its displacement per frame."""


class Worlds:
    """All robots and obstacles of all environments; robots have the first ids of the index."""

    def __init__(
        self, worlds: int, robots: int = 4, obstacles: int = 12, rays: int = 24, seed: int = 5
    ) -> None:
        self.chance = np.random.default_rng(seed)
        self.worlds, self.robots = worlds, robots
        self.env = np.repeat(np.arange(worlds), robots)
        self.obstacles, self.env_of_obstacles = self._obstacles(obstacles)
        self.place = self._free_places()
        self.angle = self.chance.uniform(0, 2 * np.pi, len(self.place))
        self.fan = np.linspace(-np.pi, np.pi, rays, endpoint=False)
        self.distances = np.full((len(self.place), rays), SIGHT)
        self.index = bp.UniformGrid()
        self.index.insert_many(around(self.place), env=self.env)
        self.index.insert_many(self.obstacles, env=self.env_of_obstacles, static=True)
        self.seconds = {"raycast": 0.0, "move_many, pairs": 0.0, "drive": 0.0}
        self.stopped = 0

    def _obstacles(self, count: int) -> tuple[Floats, Integers]:
        """Boxes, and four walls around each environment."""
        low = self.chance.uniform(8, SIDE - 20, (self.worlds * count, 2))
        boxes = np.hstack((low, low + self.chance.uniform(3, 12, low.shape)))
        walls = [
            [-1, -1, SIDE, 0],
            [-1, SIDE, SIDE, SIDE + 1],
            [-1, -1, 0, SIDE + 1],
            [SIDE, -1, SIDE + 1, SIDE + 1],
        ]
        numbers = np.arange(self.worlds)
        return (
            np.vstack((boxes, np.tile(np.array(walls, float), (self.worlds, 1)))),
            np.concatenate((np.repeat(numbers, count), np.repeat(numbers, len(walls)))),
        )

    def _free_places(self) -> Floats:
        """Positions at which robots overlap nothing."""
        place = self._by_chance(len(self.env))
        while True:
            boxes = around(place)
            taken = bp.join(boxes, self.obstacles, env=(self.env, self.env_of_obstacles))[:, 0]
            again = np.unique(np.concatenate((taken, bp.pairs(boxes, env=self.env)[:, 1])))
            if not len(again):
                return place
            place[again] = self._by_chance(len(again))

    def _by_chance(self, count: int) -> Floats:
        return self.chance.uniform(SIZE, SIDE - SIZE, (count, 2))

    def rays(self) -> dict[str, Any]:
        """The arguments of the raycast: the fan of each robot, its environment, its own body to ignore."""
        count = len(self.fan)
        angles = (self.angle[:, None] + self.fan).ravel()
        return {
            "origin": np.repeat(self.place, count, axis=0),
            "direction": np.column_stack((np.cos(angles), np.sin(angles))),
            "max_distance": SIGHT,
            "env": np.repeat(self.env, count),
            "ignore": np.repeat(np.arange(len(self.place)), count),
        }

    def step(self) -> None:
        """A frame: look, choose a direction, move if nothing is in the way."""
        begin = time.perf_counter()
        rays = self.rays()
        asked_at = time.perf_counter()
        hits = self.index.raycast(**rays)
        seen = time.perf_counter()
        assert isinstance(hits, bp.RayHits)
        self.distances = np.minimum(hits.distances, SIGHT).reshape(self.distances.shape)
        goal = self._steer()
        chosen = time.perf_counter()
        self._go(goal)
        done = time.perf_counter()
        self.seconds["raycast"] += seen - asked_at
        self.seconds["move_many, pairs"] += done - chosen
        self.seconds["drive"] += asked_at - begin + chosen - seen

    def _steer(self) -> Floats:
        """Turn to the most free space, preferably ahead; the less space is ahead, the slower."""
        worth = self.distances * (1.2 + np.cos(self.fan))
        best = worth.argmax(axis=1)
        self.angle += np.clip(self.fan[best], -0.25, 0.25) + self.chance.normal(0, 0.03, len(best))
        ahead = self.distances[:, np.abs(self.fan).argmin()]
        far = np.clip((ahead - SIZE) / 4, 0.1, 1) * SPEED
        goal: Floats = self.place + far[:, None] * np.column_stack((np.cos(self.angle), np.sin(self.angle)))
        return goal

    def _go(self, goal: Floats) -> None:
        """A robot sweeps the box around its old and new position; if that overlaps something, it stays."""
        ids = np.arange(len(goal))
        old, new = around(self.place), around(goal)
        needed = np.hstack((np.minimum(old[:, :2], new[:, :2]), np.maximum(old[:, 2:], new[:, 2:])))
        self.index.move_many(ids, needed)
        met = self.index.pairs().ravel()
        stays = np.zeros(len(goal), bool)
        stays[met[met < len(goal)]] = True
        self.place = np.where(stays[:, None], self.place, goal)
        self.angle[stays] += 0.5
        self.stopped = int(stays.sum())
        self.index.move_many(ids, around(self.place))


def around(place: Floats) -> Floats:
    """The boxes of robots."""
    return np.hstack((place - SIZE / 2, place + SIZE / 2))


def picture(worlds: Worlds, count: int = 9) -> Any:
    """Draw some of the environments with what the robots see."""
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.figure import Figure

    count = min(count, worlds.worlds)
    columns = math.ceil(math.sqrt(count))
    figure = Figure(figsize=(9, 9), layout="constrained")
    angles = worlds.angle[:, None] + worlds.fan
    ends = worlds.place[:, None] + worlds.distances[..., None] * np.stack((np.cos(angles), np.sin(angles)), 2)
    for number, ax in enumerate(figure.subplots(columns, columns, squeeze=False).ravel()[:count]):
        own = worlds.env == number
        begins = np.broadcast_to(worlds.place[own][:, None], ends[own].shape)
        ax.add_collection(
            LineCollection(
                list(np.stack((begins, ends[own]), 2).reshape(-1, 2, 2)), colors="#5ab46e", linewidths=0.5
            )
        )
        walls = worlds.obstacles[worlds.env_of_obstacles == number]
        for boxes, color in ((walls, "#5f626c"), (around(worlds.place[own]), "#e67e32")):
            ax.add_collection(
                PolyCollection(list(boxes[:, [[0, 1], [2, 1], [2, 3], [0, 3]]]), facecolors=color, zorder=3)
            )
        ax.set(aspect="equal", xlim=(-1, SIDE + 1), ylim=(-1, SIDE + 1), xticks=[], yticks=[])
    return figure


def main(arguments: list[str] | None = None) -> Worlds:
    """Let them drive, and print the time per frame."""
    parser = argparse.ArgumentParser(
        prog="python -m examples robots", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--worlds", type=int, default=1000, help="how many (1000)")
    parser.add_argument("--frames", type=int, default=10, help="how many to drive (10)")
    parser.add_argument("--picture", metavar="FILE", help="draw nine of the worlds to this file")
    given = parser.parse_args(arguments)
    if given.picture and find_spec("matplotlib") is None:
        parser.error("--picture needs matplotlib: python -m pip install '.[plot]'")
    worlds = Worlds(given.worlds)
    worlds.step()  # warm up: the first frame allocates what all others use
    worlds.seconds = dict.fromkeys(worlds.seconds, 0.0)
    for _ in range(given.frames):
        worlds.step()
    rays, robots = worlds.distances.size, len(worlds.place)
    print(
        f"{given.worlds:,} worlds, {robots:,} robots, "
        f"{len(worlds.obstacles):,} obstacles, {rays:,} rays a frame"
    )
    for part, seconds in worlds.seconds.items():
        print(f"{part:<18}{1e3 * seconds / max(given.frames, 1):9.1f} ms a frame")
    print(f"{rays * given.frames / max(worlds.seconds['raycast'], 1e-9):,.0f} rays a second")
    print(f"{(worlds.distances < SIGHT).mean():.0%} of the rays hit; {worlds.stopped:,} robots had to stay")
    if given.picture:
        picture(worlds).savefig(given.picture)
    return worlds


if __name__ == "__main__":
    main()
