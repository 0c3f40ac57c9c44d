"""Random rooms, whole and cut into pieces, and movers that must not notice which of the two they are in.

A surface made of pieces behaves as one piece: every movement over the pieces ends where it ends over the
uncut surface.  A life is one mover in one room, with a random movement after the other; both worlds begin
each from the same place.  ``python -m tests.one_piece --lives 10000`` runs as many as one likes and says how
many it has seen.
"""

import argparse
import math

import numpy as np

from broadphase import Box, Capsule, Circle, Polygon, TileMap, World

# Far more than the gap that is kept before a slanted surface, far less than anything that is seen.
_ROUNDING = 1e-8
_MOVERS = ("box", "turned", "quarter", "circle", "capsule", "polygon")
_CUTS = ("boxes", "rows", "slabs", "rectangles", "mixed")
_ROOMS = ("bodies", "tiles", "one way")
_CALLS = ("move", "move_many", "step", "walk")
_SIZE = 16.0


def _even(number):
    return round(float(number) * 1024) / 1024


def corners_of(shape):
    if isinstance(shape, Polygon):
        return [tuple(point) for point in np.asarray(shape.points).tolist()]
    left, top, right, bottom = shape.bounds
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def clipped(points, nx, ny, c):
    """The part of a convex polygon with ``nx * x + ny * y <= c``."""
    kept = []
    for k, (x, y) in enumerate(points):
        qx, qy = points[(k + 1) % len(points)]
        here, there = nx * x + ny * y - c, nx * qx + ny * qy - c
        if here <= 0:
            kept.append((x, y))
        if (here < 0) != (there < 0) and here != 0 and there != 0:
            part = here / (here - there)
            kept.append((x + part * (qx - x), y + part * (qy - y)))
    return kept


def _cut_box(rng, box, how, on_grid):
    """A box as boxes: into rows or columns, or into both at random."""
    left, top, right, bottom = box.bounds
    pieces = [(left, top, right, bottom)]
    for _ in range(int(rng.integers(1, 5 if how == "rows" else 8))):
        at = int(rng.integers(len(pieces)))
        left, top, right, bottom = pieces[at]
        axis = int(right - left < bottom - top) if how == "rows" else int(rng.integers(2))
        lo, hi = (left, right) if axis == 0 else (top, bottom)
        # A multiple of what float64 adds without rounding: boxes compare edges to the last bit.
        place = round(float(rng.uniform(lo, hi)) / 4) * 4.0 if on_grid else _even(rng.uniform(lo, hi))
        if not lo + 0.5 < place < hi - 0.5:
            continue
        pieces[at] = (left, top, place, bottom) if axis == 0 else (left, top, right, place)
        pieces.append((place, top, right, bottom) if axis == 0 else (left, place, right, bottom))
    return [Box(x, y, right - x, bottom - y) for x, y, right, bottom in pieces]


def _cut_slanted(rng, shape):
    """Any convex shape as convex polygons, by lines in any direction."""
    pieces = [corners_of(shape)]
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(pieces)))
        points = np.array(pieces[at])
        angle = rng.uniform(0, math.tau)
        nx, ny = math.cos(angle), math.sin(angle)
        weights = rng.dirichlet(np.ones(len(points)))
        c = float((points * [nx, ny]).sum(axis=1) @ weights)
        parts = [clipped(pieces[at], *line) for line in ((nx, ny, c), (-nx, -ny, -c))]
        if all(_is_thick(part) for part in parts):
            pieces[at : at + 1] = parts
    return [Polygon(part) for part in pieces]


def _is_thick(points):
    if len(points) < 3:
        return False
    points = np.array(points)
    sides = np.hypot(*(np.roll(points, -1, axis=0) - points).T)
    x, y = points.T
    area = 0.5 * abs(float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum()))
    return sides.min() > 0.2 and area / sides.max() > 0.3


def cut(rng, shape, how, on_grid):
    if how == "mixed":
        how = str(rng.choice(_CUTS[:-1]))
    if how == "slabs" or not isinstance(shape, Box):
        return _cut_slanted(rng, shape)
    boxes = _cut_box(rng, shape, how, on_grid)
    if how == "rectangles":  # the same, as polygons
        return [Polygon(corners_of(box)) if rng.random() < 0.7 else box for box in boxes]
    return boxes


def _mover(rng, kind, on_grid):
    def size():
        return float(rng.integers(2, 13)) if on_grid else float(rng.uniform(1, 13))

    if kind == "box":
        return Box(0, 0, size(), size())
    if kind == "turned":
        return Box(0, 0, size(), size()).rotated(float(rng.choice([30, 45, rng.uniform(0, 360)])))
    if kind == "quarter":
        return Box(0, 0, size(), size()).rotated(90.0 * float(rng.integers(1, 4)))
    if kind == "circle":
        return Circle(0, 0, size() / 2)
    if kind == "capsule":
        return Capsule(0, 0, size(), size() - 4, size() / 3)
    while True:
        if on_grid:
            points = rng.integers(0, 13, (3, 2)).astype(float)
        else:
            angles = np.sort(rng.uniform(0, math.tau, int(rng.integers(3, 8))))
            points = np.stack([np.cos(angles), np.sin(angles)], axis=1) * rng.uniform(2, 7)
        if _is_thick(points.tolist()):
            return Polygon(points.tolist())


class Life:
    """One mover in a whole room and in the same room in pieces."""

    def __init__(self, number, call=None):
        rng = self.rng = np.random.default_rng([45, number])
        self.kind = _MOVERS[number % len(_MOVERS)]
        self.room = str(rng.choice(_ROOMS, p=[0.6, 0.2, 0.2]))
        self.how = str(rng.choice(_CUTS))
        self.on_grid = bool(rng.random() < 0.5)
        self.call = str(rng.choice(_CALLS if self.kind == "box" else _CALLS[:-1]))
        if call is not None:
            self.call = call
        self.response = str(rng.choice(["slide", "slide", "slide", "touch", "bounce"]))
        self.whole, self.pieces = World(), World()
        self.origin = (0.0, 0.0) if rng.random() < 0.7 else (1000.25, -500.75)
        self.company = bool(rng.random() < 0.5)
        self._build()
        self.mover = self._place()

    def _add(self, shape, pieces):
        x, y = self.origin
        self.whole.add(shape.moved_to(shape.x + x, shape.y + y), static=True)
        for at in self.rng.permutation(len(pieces)).tolist():
            piece = pieces[at]
            self.pieces.add(piece.moved_to(piece.x + x, piece.y + y), static=True)
        if self.company:  # a body in reach that nothing can touch, for it is within the wall
            middle = np.array(corners_of(shape)).mean(axis=0) + self.origin
            round_body = Circle(*middle.tolist(), 0.1)
            self.whole.add(round_body, static=True)
            self.pieces.add(round_body, static=True)

    def _build(self):
        rng = self.rng
        columns, rows = 8, 6
        width, height = columns * _SIZE, rows * _SIZE
        frame = [
            Box(-_SIZE, height, width + 2 * _SIZE, _SIZE),
            Box(-_SIZE, -_SIZE, width + 2 * _SIZE, _SIZE),
            Box(-_SIZE, -_SIZE, _SIZE, height + 2 * _SIZE),
            Box(width, -_SIZE, _SIZE, height + 2 * _SIZE),
        ]
        if self.room == "tiles":
            self._tiles(frame, columns, rows)
            return
        if self.room == "one way":
            self._one_way(columns, rows)
        walls = [*frame]
        for _ in range(int(rng.integers(0, 4))):
            place = rng.uniform(0, [width - 20, height - 20]).tolist()
            size = rng.uniform(3, [50, 40]).tolist()
            x, y = (4.0 * round(v / 4) if self.on_grid else _even(v) for v in place)
            wide, high = (4.0 * math.ceil(v / 4) if self.on_grid else _even(v) for v in size)
            kind = rng.integers(3)
            if kind == 0:
                walls.append(Box(x, y, wide, high))
            elif kind == 1:
                walls.append(Box(x, y, wide, high).rotated(float(rng.choice([45, rng.uniform(0, 360)]))))
            else:
                walls.append(Polygon([(x, y), (x + wide, y), (x + wide, y - high)]))
        for wall in walls:
            self._add(wall, cut(rng, wall, self.how, self.on_grid))

    def _tiles(self, frame, columns, rows):
        """The frame and blocks as tiles, against bodies that are one piece each."""
        rng = self.rng
        solid = np.zeros((rows + 2, columns + 2), np.bool_)
        solid[0] = solid[-1] = solid[:, 0] = solid[:, -1] = True
        walls = [*frame]
        for _ in range(int(rng.integers(0, 4))):
            column, row = int(rng.integers(columns)), int(rng.integers(rows))
            wide, high = int(rng.integers(1, columns - column + 1)), int(rng.integers(1, rows - row + 1))
            if wide * high > 12:
                continue
            walls.append(Box(column * _SIZE, row * _SIZE, wide * _SIZE, high * _SIZE))
            solid[row + 1 : row + 1 + high, column + 1 : column + 1 + wide] = True
        for wall in walls:
            self._add(wall, [])
        x, y = self.origin
        self.pieces.tiles = TileMap(solid, _SIZE, (x - _SIZE, y - _SIZE))

    def _one_way(self, columns, rows):
        """Strips that block on one side: one tile for each row, against many."""
        rng = self.rng
        side = str(rng.choice(["top", "bottom"]))
        count = int(rng.choice([columns, 2 * columns, 3]))
        one = TileMap(np.zeros((rows, 1), np.bool_), (columns * _SIZE, _SIZE), self.origin)
        many = TileMap(np.zeros((rows, count), np.bool_), (columns * _SIZE / count, _SIZE), self.origin)
        for row in rng.choice(rows, 2, replace=False).tolist():
            one.set_one_way(0, row, side)
            for column in range(count):
                many.set_one_way(column, row, side)
        self.whole.tiles, self.pieces.tiles = one, many

    def _place(self):
        rng = self.rng
        shape = _mover(rng, self.kind, self.on_grid)
        for _ in range(60):
            at = rng.uniform(0, [8 * _SIZE, 6 * _SIZE])
            if self.on_grid:
                at = np.round(at)
            shape = shape.moved_to(*(at + self.origin).tolist())
            if self.whole.blocker(shape) is None and self.pieces.blocker(shape) is None:
                return self.whole.add(shape), self.pieces.add(shape)
        return None

    def run(self, steps=25):
        """What went wrong, or ``None``, and how many movements there were."""
        if self.mover is None:
            return None, 0
        rng = self.rng
        one, other = self.mover
        pull = rng.uniform(-8, 8, 2)
        for step in range(steps):
            if rng.random() < 0.15:
                pull = rng.uniform(-8, 8, 2)
            fast = rng.choice([1.0, 1.0, 8.0])
            motion = pull * rng.choice([0.0, 1.0, 2.0], 2) + rng.uniform(-3, 3, 2) * rng.choice([0.0, 1.0], 2)
            if self.on_grid:
                motion = np.round(motion)
            dx, dy = (fast * motion).tolist()
            start = one.position
            other.move_to(*start)
            ends = [
                self._go(world, body, dx, dy) for world, body in ((self.whole, one), (self.pieces, other))
            ]
            if math.dist(*ends) > _ROUNDING * (1 + max(map(abs, (dx, dy)))):
                return (
                    f"{self}: step {step}: from {start} by {dx, dy}: {ends[0]} whole, {ends[1]} in pieces",
                    step,
                )
        return None, steps

    def _go(self, world, body, dx, dy):
        if self.call == "move":
            world.move(body, dx, dy, self.response)
        elif self.call == "move_many":
            world.move_many([body], dx, dy, self.response)
        elif self.call == "walk":
            world.walk(body, dx, dy)
        else:
            body.response, body.velocity = self.response, (dx, dy)
            world.step(1.0)
        return body.position

    def __repr__(self):
        company = ", with a round body in reach" if self.company else ""
        return (
            f"{self.kind} by {self.call} ({self.response}) in a room of {self.room} cut into {self.how}"
            f"{' on a grid' if self.on_grid else ''}{company}"
        )


def see(numbers):
    """Of the lives of these numbers, those that left the way; how many there were, and how many movements."""
    left, lives, movements = [], 0, 0
    for number in numbers:
        said, steps = Life(number).run()
        lives += steps > 0 or said is not None
        movements += steps
        if said is not None:
            left.append(f"life {number}: {said}")
    return left, lives, movements


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    left, lives, movements = see(range(asked.first, asked.first + asked.lives))
    for line in left[:40]:
        print(line)
    print(f"{lives} lives of {movements} movements: {len(left)} left the way over the uncut surface")


if __name__ == "__main__":
    main()
