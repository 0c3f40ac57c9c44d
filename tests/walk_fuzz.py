"""Random walks over random slopes, tiles and bodies, each step held against exact rational arithmetic.

``python -m tests.walk_fuzz --movements 100000`` runs as many as one likes and says what it has held.
"""

import argparse
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from broadphase import Box, Capsule, Circle, Polygon, RoundedBox, TileMap, World

if __package__:
    from tests.walk_oracle import core_of, things_of
else:
    from walk_oracle import core_of, things_of

# No walker is deeper in anything than this; and a step of this length is free or is not.
_DEEP = Fraction(1, 10**7)
_LITTLE = 1e-4


def random_world(rng):
    """A map of slopes, solid and one-way tiles, and static bodies of all kinds; a walker somewhere free."""
    size = float(rng.choice([16.0, 10.0, 3.3, 17.77]))
    rows, columns = 9, 14
    solid = rng.random((rows, columns)) < rng.choice([0.08, 0.2])
    solid[-1] = True
    origin = tuple(rng.choice([[0.0, 0.0], [-70.3, -50.1], [1e4, 1e4]]).tolist())
    tiles = TileMap(solid, size, origin)
    for _ in range(rng.integers(2, 26)):
        column, row = int(rng.integers(columns)), int(rng.integers(rows - 1))
        kind = rng.integers(6)
        if kind == 0:
            tiles.set_one_way(column, row, ["top", "bottom", "left", "right"][rng.integers(4)])
            continue
        left, right = rng.choice([0.0, 0.25, 1 / 3, 0.5, 2 / 3, 1.0], 2).tolist()
        base = "top" if kind == 1 else "bottom"
        tiles.set_slope(column, row, left, right, base=base)
        if kind > 3 and column + 1 < columns:  # the slope continues
            further = min(max(2 * right - left, 0.0), 1.0)
            tiles.set_slope(column + 1, row, right, further, base=base)
    world = World()
    world.tiles = tiles
    for _ in range(rng.integers(0, 8)):
        x, y = (origin + rng.random(2) * [columns * size, rows * size]).tolist()
        if rng.random() < 0.5:  # on the grid: flush with tiles
            x, y = (
                origin[0] + round((x - origin[0]) / size) * size,
                origin[1] + round((y - origin[1]) / size) * size,
            )
        world.add(_random_shape(rng, x, y, size), static=True)
    return world, size


def _random_shape(rng, x, y, size):
    a, b = (size * rng.choice([0.5, 1.0, 1.7, 3.0], 2)).tolist()
    kind = rng.integers(6)
    if kind == 0:
        return Box(x, y, a, b)
    if kind == 1:
        return Polygon([(x, y), (x + a, y), (x + a, y - b)])
    if kind == 2:
        return Polygon([(x, y), (x + a, y), (x, y - b)])
    if kind == 3:
        return Box(x, y, a, b).rotated(float(rng.choice([10, 30, 45, 60, 80, rng.random() * 360])))
    if kind == 4:
        return Circle(x, y, 0.6 * a)
    return Capsule(x, y, x + a, y + b, 0.3 * size)


def rounded_shape(rng, x, y, w, h):
    """A walker with round corners, within so many units."""
    kind = rng.integers(4)
    if kind == 0:
        return Circle(x + w / 2, y + w / 2, w / 2)
    if kind == 1:
        radius = 0.4 * min(w, h)
        return RoundedBox(x, y, w, h, radius)
    radius = 0.3 * w
    ends = (x + radius, y + radius), (x + radius, y + radius + h)
    if kind == 2:
        ends = ends[::-1]
    return Capsule(*ends[0], *ends[1], radius)


class Walker:
    """One walker in one world, and all that is checked after each of its steps."""

    def __init__(self, rng, rounded=False):
        self.rng = rng
        while True:
            self.world, self.size = random_world(rng)
            self.items = things_of(self.world)
            left, top, right, bottom = self.world.tiles.bounds
            for _ in range(30):
                w, h = (self.size * rng.choice([0.4, 0.8, 1.0, 1.3], 2)).tolist()
                x, y = float(rng.uniform(left, right)), float(rng.uniform(top, bottom - h))
                shape = rounded_shape(rng, x, y, w, h) if rounded else Box(x, y, w, h)
                self.core, self.radius = core_of(shape)
                if not self.inside(self.box_at(shape.x, shape.y)):
                    self.body = self.world.add(shape)
                    return

    def inside(self, box, shrink=Fraction(0)):
        return [item.name for item in self.items if item.overlaps(box, shrink, self.radius)]

    def box_at(self, x, y):
        """The core of the walker at a place."""
        left, top, right, bottom = self.core
        return x + left, y + top, x + right, y + bottom

    def step(self):
        """One movement; raises ``AssertionError`` where anything is wrong.  What was held."""
        rng, size = self.rng, self.size
        rules = {
            "snap": float(rng.choice([0.0, 0.2, 0.6])) * size,
            "steepest": float(rng.choice([30.0, 45.0, 60.0])),
            "step": float(rng.choice([0.0, 0.0, 0.3])) * size,
            "corner": float(rng.choice([0.0, 0.3])) * size,
            "drop": bool(rng.random() < 0.05),
        }
        far = 12.0 if rng.random() < 0.05 else 0.6
        dx = float(rng.choice([0.0, *(rng.uniform(-far, far, 4) * size)]))
        dy = float(rng.choice([0.0, 0.4, 0.4, -0.5, rng.uniform(-far, far)])) * size
        before = self.body.position
        moment = self.world.snapshot()
        stood = self.world.walk(self.body, 0.0, 0.0, **rules).floor
        assert self.body.position == before or not stood, "it moves without a call"
        self.world.restore(moment)
        self.world.walk(self.body, dx, dy, **rules)
        one = self.body.position
        self.never_inside_never_through(before)
        self.world.restore(moment)
        along = self.world.walk(self.body, dx, 0.0, **rules)
        stuck = self.body.x != before[0] + dx
        if stuck:
            self.not_stuck_where_a_way_is_free(dx, stood, along, rules)
        two = self.world.walk(self.body, 0.0, dy, **rules)
        # Round walkers slide along the polygon around a corner, and along the tangent where they begin.  At a
        # round thing others slide along the tangent where they were stopped, which rounds as that does.
        off = 0.01 * self.radius or 1e-14 * (sum(map(abs, one)) + size)
        assert math.dist(self.body.position, one) <= off, f"in one call {one}, in two {self.body.position}"
        if two.floor is not None:
            if self.radius and not rules["drop"]:
                # It may have slid down the polygon around a corner, and go down on the corner now.
                self.world.walk(self.body, 0.0, 0.3 * size, **rules)
                assert math.dist(self.body.position, one) < 0.03 * self.radius, "it drifts"
                one = self.body.position
            still = self.world.walk(self.body, 0.0, 0.3 * size, **rules)
            if not rules["drop"]:
                # To the last bit, but in wedges: what is within the tolerance of a long path may not be of a
                # short.
                assert math.dist(self.body.position, one) < 1e-9, "it drifts"
                assert self.radius or still.floor == two.floor
        return stood is not None, stuck

    def never_inside_never_through(self, before):
        log = self.world._walker._memory.log  # where it turned
        found = log.bends[: log.counts[1], :2].tolist()
        places = [before, *map(tuple, found), self.body.position]
        # The edges of round walkers are rounded; those of boxes are not.
        rounding = Fraction(1e-15 * (sum(map(abs, places[-1])) + self.size)) if self.radius else Fraction(0)
        names = self.inside(self.box_at(*places[-1]), rounding)
        assert not names, f"inside {names}"
        for (x, y), (to_x, to_y) in pairwise(places):
            for part in (0.13, 0.37, 0.5, 0.81, 1.0):
                at = self.box_at(x + part * (to_x - x), y + part * (to_y - y))
                names = self.inside(at, _DEEP)
                assert not names, f"through {names} on the path from {x, y} to {to_x, to_y}"

    def not_stuck_where_a_way_is_free(self, dx, stood, walk, rules):
        """A little further, as high as the steepest slope rises or falls there: all is blocked."""
        # Where it was stopped: then it may have been set down on a floor below, and goes on from there.
        x, y = walk.hits[-1].touch if walk.hits else self.body.position
        motion = math.copysign(_LITTLE * self.size, dx)
        most = abs(motion) * math.tan(math.radians(rules["steepest"])) if stood else 0.0
        tolerance = 1e-11 * (abs(x) + abs(y) + self.size)
        left, _, right, feet = self.box_at(x + motion, y)
        heights = [feet]
        if self.radius and stood:
            heights += np.linspace(feet - most, feet + most, 9).tolist()
        for item in self.items:
            if not self.radius and item.bounds[0] < right and left < item.bounds[2]:
                height = item.surface(left, right)
                if height is not None and abs(height - feet) <= most + tolerance:
                    heights.append(height - tolerance)
        for height in heights if walk.blocked else [feet]:
            box = self.box_at(x + motion, y + (height - feet))
            if rules["drop"] or self._one_way_near(box):
                continue
            # A gap exactly as high as the walker is too low: it keeps a tolerance off the slope under its
            # feet.
            here, thin = self.box_at(x, y), 1e-6 * self.size
            # It may end where the slope leads out of it: there the head meets a tolerance of what is above.
            setting_out = self.box_at(x + 1e-9 * motion, y + 1e-9 * (height - feet))
            head = (*setting_out[:3], setting_out[1] + thin)
            motions = box, (here[0], here[1] - thin, here[2], here[1]), head
            blocked = any(
                item.blocks_walkers(motion, self.radius) for item in self.items for motion in motions
            )
            assert blocked, f"stuck at {x, y}, though {x + motion, y + (height - feet)} is free"

    def _one_way_near(self, box):
        """What blocks on some sides is held by worked cases."""
        tiles, room = self.world.tiles, self.radius + 1e-3
        cells = tiles.cells((box[0] - room, box[1] - room, box[2] + room, box[3] + room))
        return any(tiles.one_way_sides(column, row) for column in cells.columns for row in cells.rows)


def run(seed, movements, rounded=False):
    """So many movements, at most 40 in a world: how many began on something, and how many were stopped."""
    made = stood = stopped = worlds = 0
    while made < movements:
        walker = Walker(np.random.default_rng((seed, worlds)), rounded)
        for _ in range(min(40, movements - made)):
            try:
                standing, stuck = walker.step()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, world {worlds}, movement {made}: {error}") from error
            made += 1
            stood += standing
            stopped += stuck
            if walker.body.y > walker.world.tiles.bounds[3]:  # it has left the map
                break
        worlds += 1
    return stood, stopped


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--movements", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounded", action="store_true", help="walkers with round corners")
    options = parser.parse_args()
    stood, stopped = run(options.seed, options.movements, options.rounded)
    print(f"{options.movements:,} movements: {stood:,} from a floor, {stopped:,} stopped; nothing is wrong")


if __name__ == "__main__":
    main()
