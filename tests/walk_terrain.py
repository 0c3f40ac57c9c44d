"""Hills of slopes, without a wall: tiles, polygons and boxes mixed, one behind the other without a gap.

A walker always moves its full distance there, and its feet are on the ground.
"""

import numpy as np
from walk_oracle import core_of

from broadphase import Box, Capsule, Circle, Polygon, RoundedBox, TileMap, World


class Hills:
    """A surface over columns of one width, each made of tiles or of a body."""

    def __init__(self, rng, columns=40, flip=1.0):
        self.flip = flip
        self.size = float(rng.choice([16.0, 10.0, 3.3, 17.77]))
        self.origin = tuple(rng.choice([[0.0, 0.0], [-70.3, -50.1], [1e4, 1e4]]).tolist())
        self.rows = 12
        self.heights = self._heights(rng, columns)
        self.world = World()
        self.tiles = TileMap(np.zeros((self.rows, columns), np.bool_), self.size, self.origin)
        self.world.tiles = self.tiles
        for column in range(columns):
            self._build(rng, column)

    def _heights(self, rng, columns):
        """In parts of a tile; never steeper than 45 degrees."""
        heights = [4.0]
        for _ in range(columns):
            by = rng.choice([0.0, 0.0, 0.25, -0.25, 1 / 3, -1 / 3, 0.5, -0.5, 1.0, -1.0])
            heights.append(float(np.clip(heights[-1] + by, 1.0, 9.0)))
        return [round(height * 12) / 12 for height in heights]

    def _y(self, height):
        """Of the surface, in the world: an edge of a tile where it is a whole number."""
        row = self.rows - height if self.flip > 0 else height
        whole = int(np.floor(row))
        top, bottom = (self.origin[1] + k * self.size for k in (whole, whole + 1))
        part = (1 - (row - whole)) if self.flip > 0 else row - whole
        if row == whole:
            return top
        return bottom - part * (bottom - top) if self.flip > 0 else top + part * (bottom - top)

    def _build(self, rng, column):
        left, right = self.heights[column : column + 2]
        row = int(np.floor(min(left, right)))
        x, to_x = (self.origin[0] + k * self.size for k in (column, column + 1))
        ends = self._y(left), self._y(right)
        depth = self._y(0)
        if max(left, right) <= row + 1 and rng.random() < 0.6:
            for below in range(row):
                self.tiles.set(column, self._row(below), True)
            if left == right == row + 1:
                self.tiles.set(column, self._row(row), True)
            elif left != row or right != row:
                base = "bottom" if self.flip > 0 else "top"
                self.tiles.set_slope(column, self._row(row), left - row, right - row, base=base)
        elif left == right and rng.random() < 0.5:
            self.world.add(Box(x, min(ends[0], depth), to_x - x, abs(depth - ends[0])), static=True)
        else:
            corners = [(x, ends[0]), (to_x, ends[1]), (to_x, depth), (x, depth)]
            self.world.add(Polygon(corners), static=True)

    def _row(self, row):
        return self.rows - 1 - row if self.flip > 0 else row

    def surface(self, left, right, radius=0.0):
        """Where feet are that reach from left to right: the highest of the ground there.

        With a radius they are the core of a round bottom: fine steps over what may hold it.
        """
        if radius:
            corners = self._corners()
            ends = np.linspace(left - radius, left, 2001), np.linspace(right, right + radius, 2001)
            xs = np.concatenate((corners[0], *ends))
            xs = xs[(xs >= left - radius) & (xs <= right + radius)]
            ground = np.interp(xs, *corners)
            beside = np.maximum(np.maximum(left - xs, xs - right), 0.0)
            higher = np.sqrt(np.maximum(radius**2 - beside**2, 0.0)) - radius
            return (ground - higher).min() if self.flip > 0 else (ground + higher).max()
        xs, ys = self._corners()
        inside = [y for x, y in zip(xs, ys, strict=True) if left < x < right]
        ends = [float(np.interp(x, xs, ys)) for x in (left, right)]
        return min(inside + ends) if self.flip > 0 else max(inside + ends)

    def _corners(self):
        xs = [self.origin[0] + k * self.size for k in range(len(self.heights))]
        return xs, [self._y(height) for height in self.heights]


def stroll(rng, steps, flip=1.0, kind=Box):
    """Walk to and fro; raises ``AssertionError`` where a walker gets stuck or leaves the ground."""
    hills = Hills(rng, flip=flip)
    size, world = hills.size, hills.world
    width, height = (size * rng.choice([0.3, 0.75, 1.0, 2.4], 2)).tolist()
    x = hills.origin[0] + 20 * size
    feet = hills.surface(x, x + width)
    y = feet - height - size if flip > 0 else feet + size
    shapes = {
        Box: lambda: Box(x, y, width, height),
        Circle: lambda: Circle(x + width / 2, y + height / 2, min(width, height) / 2),
        Capsule: lambda: Capsule(x, y + height, x, y, width / 3),
        RoundedBox: lambda: RoundedBox(x, y, width, height, min(width, height) / 5),
    }
    body = world.add(shapes[kind]())
    (left, _, right, _), radius = core_of(body.shape)
    down = (0.0, flip)
    fallen = world.walk(body, 0, flip * 9 * size, down=down)
    assert fallen.floor is not None
    forward = 1.0
    for number in range(steps):
        dx = forward * size * float(rng.choice([0.01, 0.1, 1 / 3, 0.5, 1.0, 3.7]))
        x = body.x
        walk = world.walk(body, dx, flip * size * 0.3, down=down)
        assert body.x == x + dx, f"step {number}: stuck at {walk.x, walk.y}, {x + dx - body.x} before the end"
        assert walk.floor is not None, f"step {number}: in the air at {walk.x, walk.y}"
        feet = body.bounds[3] if flip > 0 else body.bounds[1]
        ground = hills.surface(body.x + left, body.x + right, radius)
        tolerance = 1e-12 * (abs(body.x) + abs(body.y) + width + height)
        off = flip * (ground - feet)
        assert abs(off) <= tolerance + 1e-6 * radius, f"step {number}: {off} over the ground"
        if not hills.origin[0] + 5 * size < body.x < hills.origin[0] + 32 * size:
            forward = -forward if (body.x - hills.origin[0] > 20 * size) == (forward > 0) else forward
