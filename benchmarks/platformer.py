"""Five hundred characters on ten thousand tiles and slopes: a frame of arcade, of pymunk and of ours.

``python benchmarks/platformer.py`` prints microseconds a frame, taken in turns, and how many times as fast
ours is.  All have the same level, y upward: hills of slopes up to 45 degrees under rows of platforms, and
characters that walk to and fro while gravity pulls.

- arcade: a `PhysicsEnginePlatformer` a character, walls in a `SpriteList` with spatial hash.
- pymunk, kinematic: each character is moved, calls `Space.shape_query` once and is pushed out of what it hit.
- pymunk, dynamic: boxes that cannot turn, and one `Space.step` a frame; for games that use physics.
- ours: one `World.walk_many` a frame.

Then the cost of turning a thousand bodies, compared with moving them.
"""

import argparse
import os
import random

os.environ.setdefault("ARCADE_HEADLESS", "True")

import numpy as np
from timing import best_of

import broadphase as bp

SIZE = 32
WIDTH, HEIGHT = 20, 28
SPEED, GRAVITY = 3.0, 1.0


def level(columns, rows, rng):
    """Solid tiles and slopes ``column, row, left, right``, rows counted upward."""
    solid, slopes = np.zeros((rows, columns), bool), []
    height = 4
    for column in range(columns):
        by = rng.choice([0, 0, 1, -1]) if 2 < height < rows // 3 else (1 if height <= 2 else -1)
        top = min(height, height + by)
        solid[:top, column] = True
        if by:
            slopes.append((column, top, float(by < 0), float(by > 0)))
        height += by
    for row in range(rows // 3 + 3, rows, 4):  # platforms
        for column in range(columns):
            solid[row, column] = (column // 12) % 3 != row % 3
    return solid, slopes


def starts(solid, count, rng):
    """Places above the ground, alternately over hills and platforms."""
    rows, columns = solid.shape
    tops = [
        (column, row + 1)
        for column in range(2, columns - 2)
        for row in range(rows - 2)
        if solid[row, column] and not solid[row + 1 :, column][:2].any()
    ]
    return [(column * SIZE + 6, row * SIZE + SIZE + 1) for column, row in rng.sample(tops, count)]


class Ours:
    """One world, one call a frame."""

    def __init__(self, solid, slopes, places):
        self.world = bp.World()
        self.world.tiles = bp.TileMap(solid, SIZE)
        for column, row, left, right in slopes:
            self.world.tiles.set_slope(column, row, left, right, base="top")
        self.ids = np.array([self.world.add(bp.Box(x, y, WIDTH, HEIGHT)).id for x, y in places])
        self.dx = np.where(np.arange(len(places)) % 2, SPEED, -SPEED)
        self.dy = np.zeros(len(places))

    def frame(self):
        """One frame."""
        self.dy -= GRAVITY
        walks = self.world.walk_many(self.ids, self.dx, self.dy, snap=4, down=(0, -1))
        self.dy[walks.on_floor] = 0.0
        walls = walks.hits.movers[np.abs(walks.hits.normals[:, 0]) > 0.9]
        self.dx[walls] *= -1

    def standing(self):
        """The share of characters that stand on something."""
        return float((self.dy == 0.0).mean())


class Arcade:
    """An engine a character."""

    def __init__(self, solid, slopes, places):
        import arcade
        from arcade.hitbox import HitBox

        def block(x, y, width, height):
            sprite = arcade.SpriteSolidColor(width, height)
            sprite.position = x + width / 2, y + height / 2
            return sprite

        walls = arcade.SpriteList(use_spatial_hash=True, lazy=True)
        for row, column in np.argwhere(solid).tolist():
            walls.append(block(column * SIZE, row * SIZE, SIZE, SIZE))
        half = SIZE / 2
        for column, row, left, right in slopes:
            sprite = block(column * SIZE, row * SIZE, SIZE, SIZE)
            ends = [(-half, -half + left * SIZE), (half, -half + right * SIZE)]
            corners = [(-half, -half), (half, -half), *(end for end in reversed(ends) if end[1] > -half)]
            sprite.hit_box = HitBox(corners, sprite.position)
            walls.append(sprite)
        self.sprites = [block(x, y, WIDTH, HEIGHT) for x, y in places]
        self.engines = [
            arcade.PhysicsEnginePlatformer(sprite, walls=walls, gravity_constant=GRAVITY)
            for sprite in self.sprites
        ]
        self.dx = [SPEED if k % 2 else -SPEED for k in range(len(places))]

    def frame(self):
        """One frame."""
        for k, (sprite, engine) in enumerate(zip(self.sprites, self.engines, strict=True)):
            before = sprite.center_x
            sprite.change_x = self.dx[k]
            engine.update()
            if abs(sprite.center_x - before) < 0.5:
                self.dx[k] = -self.dx[k]


class Kinematic:
    """Bodies that are moved and pushed out by hand."""

    def __init__(self, solid, slopes, places):
        import pymunk

        self.space = space = pymunk.Space()
        for row, column in np.argwhere(solid).tolist():
            x, y = column * SIZE, row * SIZE
            corners = [(x, y), (x + SIZE, y), (x + SIZE, y + SIZE), (x, y + SIZE)]
            space.add(pymunk.Poly(space.static_body, corners))
        for column, row, left, right in slopes:
            x, y = column * SIZE, row * SIZE
            corners = [(x, y), (x + SIZE, y), (x + SIZE, y + right * SIZE), (x, y + left * SIZE)]
            space.add(pymunk.Poly(space.static_body, corners))
        self.bodies, self.shapes = [], []
        for x, y in places:
            body = self.body(pymunk)
            body.position = x + WIDTH / 2, y + HEIGHT / 2
            shape = pymunk.Poly.create_box(body, (WIDTH, HEIGHT))
            shape.filter = pymunk.ShapeFilter(group=1)  # characters do not meet each other
            space.add(body, shape)
            self.bodies.append(body)
            self.shapes.append(shape)
        self.dx = [SPEED if k % 2 else -SPEED for k in range(len(places))]
        self.dy = [0.0] * len(places)

    def body(self, pymunk):
        """A character without a shape."""
        return pymunk.Body(body_type=pymunk.Body.KINEMATIC)

    def frame(self):
        """One frame."""
        for k, (body, shape) in enumerate(zip(self.bodies, self.shapes, strict=True)):
            self.dy[k] -= GRAVITY
            x, y = body.position
            body.position = x + self.dx[k], y + self.dy[k]
            self.space.reindex_shape(shape)
            out_x = out_y = 0.0
            for found in self.space.shape_query(shape):
                points = found.contact_point_set
                depth = -min((point.distance for point in points.points), default=0.0)
                if depth > 0.0:
                    push = -depth * points.normal
                    out_x = push.x if abs(push.x) > abs(out_x) else out_x
                    out_y = push.y if abs(push.y) > abs(out_y) else out_y
            if out_x or out_y:
                x, y = body.position
                body.position = x + out_x, y + out_y
                self.space.reindex_shape(shape)
                if out_y > 0.0:
                    self.dy[k] = 0.0
                if abs(out_x) > abs(out_y):
                    self.dx[k] = -self.dx[k]


class Dynamic(Kinematic):
    """Bodies that physics moves."""

    def __init__(self, *scene):
        super().__init__(*scene)
        self.space.gravity = 0, -GRAVITY

    def body(self, pymunk):
        """A character without a shape."""
        return pymunk.Body(1.0, float("inf"))

    def frame(self):
        """One frame."""
        for body, dx in zip(self.bodies, self.dx, strict=True):
            body.velocity = dx, body.velocity.y
        self.space.step(1.0)


def turning(count):
    """The cost of turning compared with moving: boxes among tiles, all in one call."""
    rng = np.random.default_rng(1)
    world = bp.World()
    world.tiles = bp.TileMap(np.zeros((100, 100), bool), SIZE)
    places = rng.uniform(100, 3000, (count, 2))
    ids = np.array([world.add(bp.Box(x, y, WIDTH, HEIGHT)).id for x, y in places.tolist()])
    turned = bp.World()
    others = np.array([turned.add(bp.Box(x, y, WIDTH, HEIGHT)).id for x, y in places.tolist()])
    angles = iter(rng.uniform(0, 360, (100_000, 1)))
    times = best_of(
        {
            "turn_many": lambda: turned.turn_many(others, next(angles)[0]),
            "move_many": lambda: world.move_many(ids, rng.uniform(-3, 3), 1.0),
            "move_all": lambda: world.move_all(ids, places + rng.uniform(-3, 3)),
        }
    )
    print(f"\n{f'{count:,} bodies in one call':<24}{'microseconds':>14}{'of turning':>20}")
    for name, time in times.items():
        print(f"{name:<24}{1e6 * time:14,.0f}{time / times['turn_many']:18.1f} x")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--characters", type=int, default=500)
    parser.add_argument("--columns", type=int, default=900)
    options = parser.parse_args()
    rng = random.Random(1)
    solid, slopes = level(options.columns, 36, rng)
    places = starts(solid, options.characters, rng)
    tiles = int(solid.sum()) + len(slopes)
    print(f"{options.characters} characters on {tiles:,} tiles, {len(slopes)} of them slopes")
    frames = {
        "arcade": Arcade(solid, slopes, places).frame,
        "pymunk, kinematic": Kinematic(solid, slopes, places).frame,
        "pymunk, dynamic": Dynamic(solid, slopes, places).frame,
    }
    ours = Ours(solid, slopes, places)
    for _ in range(40):  # all have landed
        for frame in (*frames.values(), ours.frame):
            frame()
    times = best_of({**frames, "ours": ours.frame})
    print(f"on the floor, of ours: {ours.standing():.0%}\n")
    print(f"{'a frame':<24}{'microseconds':>14}{'ours is faster by':>20}")
    for name, time in times.items():
        print(f"{name:<24}{1e6 * time:14,.0f}{time / times['ours']:18.1f} x")
    turning(1_000)


if __name__ == "__main__":
    main()
