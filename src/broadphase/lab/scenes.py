"""The scenes of the lab: bodies that move frame by frame and can be dragged.

The same name, number and seed always give the same frames.  Scenes need only NumPy, so that a program can
replay what the page showed:

>>> scene = make_scene("asteroids", count=20, seed=3)
>>> scene.step()
>>> scene.boxes().shape
(20, 4)
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.balls import BallSimulation
from broadphase.inputs.boxes import BoxArray
from broadphase.world.tiles import TileMap

Vectors = npt.NDArray[np.float64]
Bounds = tuple[float, float, float, float]

# The share of its speed that a held body keeps from the frame before, so that a throw is smooth.
_MEMORY = 0.6


class Start(NamedTuple):
    """The state in which a scene starts."""

    centers: Vectors
    """``(n, 2)``"""
    halves: Vectors
    """``(n, 2)``: half the width and height of each body."""
    velocities: Vectors
    """``(n, 2)``: units per frame."""
    bounds: Bounds
    """``min_x, min_y, max_x, max_y`` of the part that the page shows at first."""


class Scene:
    """Bodies that move; what all scenes share.

    Parameters
    ----------
    start : Start
        The first state.
    advance : callable
        Called with the scene; moves everything by one frame.
    static : array_like of bool, optional
        Which bodies never move.
    is_round : bool
        Whether the bodies are circles when drawn and grabbed; a broad phase sees boxes.
    tiles : broadphase.TileMap, optional
        Solid tiles.
    """

    def __init__(
        self,
        start: Start,
        advance: "Callable[[Scene], None]",
        *,
        static: npt.NDArray[np.bool_] | None = None,
        is_round: bool = False,
        tiles: TileMap | None = None,
    ) -> None:
        self.centers, self.halves, self.velocities, self.bounds = start
        self.static = np.zeros(len(self.centers), np.bool_) if static is None else static
        self.is_round = is_round
        self.tiles = tiles
        self.frame = 0
        self.touched = False
        """Whether a body was dragged, so that the seed alone does not determine the state."""
        self._advance = advance
        self._held = -1
        self._target = self._before = np.zeros(2)

    def __len__(self) -> int:
        return len(self.centers)

    def boxes(self) -> BoxArray:
        """``(n, 4)``: the bounding boxes of the bodies."""
        return np.hstack([self.centers - self.halves, self.centers + self.halves])

    def step(self) -> None:
        """Advance by one frame."""
        self._advance(self)
        self.follow()
        self.frame += 1

    def follow(self) -> None:
        """Move the held body to the pointer; also while the scene is paused."""
        if self._held >= 0:
            motion = self._target - self._before
            self._before = self._target
            self.centers[self._held] = self._target
            self.velocities[self._held] = _MEMORY * self.velocities[self._held] + (1 - _MEMORY) * motion

    def grab(self, x: float, y: float, reach: float = 0.0) -> int:
        """Grab the body at a point, or the nearest within ``reach``; returns its id, or -1."""
        gaps = np.maximum(np.abs(self.centers - (x, y)) - self.halves, 0.0)
        distances = np.hypot(gaps[:, 0], gaps[:, 1])
        nearest = float(distances.min(initial=np.inf))
        if not nearest <= reach:
            return -1
        # Of several under the pointer, the smallest, which could not be grabbed otherwise.
        under = np.flatnonzero(distances == nearest)
        self._hold(int(under[np.argmin(self.halves[under].max(axis=1))]))
        self.drag(x, y)
        return self._held

    def _hold(self, body: int) -> None:
        self._held = body
        self._before = self.centers[body].copy()
        self.velocities[body] = 0.0
        self.touched = True

    def drag(self, x: float, y: float) -> None:
        """Set the target of the held body, which moves there in the next frame."""
        self._target = np.array([x, y], np.float64)

    def release(self) -> None:
        """Release the body, which keeps its velocity if it is not static."""
        if self._held >= 0 and self.static[self._held]:
            self.velocities[self._held] = 0.0
        self._held = -1

    @property
    def held(self) -> int:
        """The id of the body that is held, or -1."""
        return self._held


def bounce(scene: Scene) -> None:
    """Every body moves straight ahead and bounces off the border."""
    scene.centers += scene.velocities
    low = np.array(scene.bounds[:2]) + scene.halves
    high = np.maximum(np.array(scene.bounds[2:]) - scene.halves, low)
    below, above = scene.centers < low, scene.centers > high
    scene.velocities[below] = np.abs(scene.velocities[below])
    scene.velocities[above] = -np.abs(scene.velocities[above])
    np.clip(scene.centers, low, high, out=scene.centers)


def wrap(scene: Scene) -> None:
    """Every body moves straight ahead and wraps around at the border."""
    scene.centers += scene.velocities
    low, high = np.array(scene.bounds[:2]), np.array(scene.bounds[2:])
    np.copyto(scene.centers, low + (scene.centers - low) % (high - low))


def stand_still(scene: Scene) -> None:
    """Nothing moves."""


# ---- scenes without tiles; lengths are in pixels, speeds in pixels per frame

ASPECT = 4 / 3
FRAMES_A_SECOND = 60


def balls(count: int, seed: int) -> Scene:
    """`broadphase.balls.BallSimulation`: elastic balls in a box, a fifth of which they fill."""
    smallest, largest = 6.0, 14.0
    mean_square = (largest**3 - smallest**3) / (3 * (largest - smallest))
    bounds = _bounds_for(count * np.pi * mean_square / 0.2)
    return _Balls(
        BallSimulation(count, radius=(smallest, largest), bounds=bounds, speed=150.0, seed=seed), bounds
    )


class _Balls(Scene):
    """The simulation as a scene that shares its arrays."""

    def __init__(self, simulation: BallSimulation, bounds: Bounds) -> None:
        self._simulation = simulation
        halves = _square(simulation.radii)
        super().__init__(
            Start(simulation.positions, halves, simulation.velocities, bounds), stand_still, is_round=True
        )

    def step(self) -> None:
        self._simulation.step(1 / FRAMES_A_SECOND)
        self.frame += 1

    def follow(self) -> None:
        if self._held >= 0:  # the scene is paused, so the simulation does not step
            self.centers[self._held] = self._target

    def _hold(self, body: int) -> None:
        super()._hold(body)
        self._simulation.grab(body)

    def drag(self, x: float, y: float) -> None:
        super().drag(x, y)
        if self._held >= 0:
            self._simulation.drag(self._held, (x, y))

    def release(self) -> None:
        if self._held >= 0:
            self._simulation.release(self._held)
        super().release()


def side_scroller(count: int, seed: int) -> Scene:
    """A long level: walkers and coins on three floors, and static platforms."""
    random = np.random.default_rng(seed)
    height = 480.0
    bounds = (0.0, 0.0, max(1600.0, 40.0 * count), height)
    halves = random.uniform((8, 12), (16, 24), (count, 2))
    platform = random.random(count) < 0.25
    halves[platform] = random.uniform((40, 5), (90, 8), (int(platform.sum()), 2))
    floors = np.array([120.0, 260.0, 420.0])
    centers = np.column_stack(
        [random.uniform(100, bounds[2] - 100, count), random.choice(floors, count) - halves[:, 1]]
    )
    centers[platform, 1] += 2 * halves[platform, 1]
    velocities = np.column_stack([random.choice([-1.0, 1.0], count) * random.uniform(0.6, 2, count)] * 2)
    velocities[:, 1] = 0.0
    velocities[platform] = 0.0
    return Scene(Start(centers, halves, velocities, bounds), bounce, static=platform)


def shooter(count: int, seed: int) -> Scene:
    """Ships in rows that drift sideways, and shots in columns that fly up fast."""
    random = np.random.default_rng(seed)
    bounds = _bounds_for(2400.0 * count)
    width, height = bounds[2], bounds[3]
    ship = np.arange(count) < max(2, count // 3)
    ships = int(ship.sum())
    columns = max(1, int(np.sqrt(ships * 3.0)))
    halves = np.where(ship[:, None], (14.0, 10.0), (2.0, 7.0))
    centers = random.uniform((0, 0), (width, height), (count, 2))
    row, column = np.divmod(np.arange(ships), columns)
    rows = max(1, int(row.max()) + 1)
    centers[:ships, 0] = (column + 0.5) * width / columns
    centers[:ships, 1] = (row + 0.5) * height * 0.55 / rows
    lanes = random.integers(0, columns, count - ships)
    centers[ships:, 0] = (lanes + 0.5) * width / columns + random.normal(0, 6, count - ships)
    velocities = np.zeros((count, 2))
    velocities[:ships, 0] = 0.8
    velocities[ships:, 1] = -random.uniform(4, 7, count - ships)
    return Scene(Start(centers, halves, velocities, bounds), wrap)


def asteroids(count: int, seed: int) -> Scene:
    """Rocks of 4 to 60 pixels; small ones are faster."""
    random = np.random.default_rng(seed)
    radii = 4 * 15 ** random.power(0.6, count)[::-1] ** 3
    bounds = _bounds_for(float((np.pi * radii**2).sum()) / 0.12)
    centers = random.uniform(bounds[:2], bounds[2:], (count, 2))
    velocities = _headings(random, random.uniform(4, 12, count) / np.sqrt(radii))
    return Scene(Start(centers, _square(radii), velocities, bounds), wrap, is_round=True)


def clusters(count: int, seed: int) -> Scene:
    """Five crowds that stay in place, far apart."""
    random = np.random.default_rng(seed)
    crowds = 5
    size = 30.0 * np.sqrt(count / crowds)
    side = 8.0 * size
    # In different cells of a coarse raster, so that no two crowds overlap.
    spots = random.permutation(16)[:crowds]
    homes = (np.column_stack(np.divmod(spots, 4)) + 0.5) * (side * ASPECT / 4, side / 4)
    home = homes[np.arange(count) % crowds]
    halves = _square(random.uniform(5, 10, count))
    centers = home + random.normal(0, size / 3, (count, 2))

    def advance(scene: Scene) -> None:
        scene.velocities += (home - scene.centers) * 0.0008
        scene.centers += scene.velocities

    velocities = _headings(random, random.uniform(0.2, 1.2, count))
    return Scene(Start(centers, halves, velocities, (0.0, 0.0, side * ASPECT, side)), advance)


def mixed_sizes(count: int, seed: int) -> Scene:
    """Sides from 1 to 1,000; the larger, the fewer."""
    random = np.random.default_rng(seed)
    halves = np.exp(random.uniform(np.log(0.7), np.log(1.4), (count, 2)))
    halves *= (0.5 * 1000 ** (random.random(count) ** 2.5))[:, None]
    bounds = _bounds_for(max(float((4 * halves.prod(axis=1)).sum()) * 1.5, 4e6))
    centers = random.uniform(bounds[:2], bounds[2:], (count, 2))
    velocities = _headings(random, random.uniform(1, 4, count))
    return Scene(Start(centers, halves, velocities, bounds), bounce)


def mostly_static(count: int, seed: int) -> Scene:
    """Crates on a raster with gaps; one body in twenty moves among them."""
    random = np.random.default_rng(seed)
    movers = max(1, count // 20)
    crates = count - movers
    columns = max(1, int(np.sqrt(1.4 * crates * ASPECT)))
    rows = -(-int(1.4 * crates + 1) // columns)
    spots = np.sort(random.permutation(columns * rows)[:crates])
    step = 36.0
    halves = np.vstack([random.uniform(9, 17, (crates, 2)), random.uniform(6, 11, (movers, 2))])
    bounds = (0.0, 0.0, columns * step, rows * step)
    centers = np.vstack(
        [
            (np.column_stack([spots % columns, spots // columns]) + 0.5) * step,
            random.uniform((20, 20), (bounds[2] - 20, bounds[3] - 20), (movers, 2)),
        ]
    )
    velocities = np.zeros((count, 2))
    velocities[crates:] = _headings(random, random.uniform(1, 3, movers))
    return Scene(Start(centers, halves, velocities, bounds), bounce, static=np.arange(count) < crates)


def still(boxes: BoxArray) -> Scene:
    """A user's own boxes, which stand still until they are dragged.

    Infinite and huge edges are kept; the page shows the region of most boxes.
    """
    flat = boxes.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        halves = flat[:, 2:] / 2 - flat[:, :2] / 2
        centers = flat[:, :2] / 2 + flat[:, 2:] / 2
    scene = _Still(
        Start(np.nan_to_num(centers), np.nan_to_num(halves), np.zeros((len(flat), 2)), region_of(flat))
    )
    scene.given = flat
    return scene


class _Still(Scene):
    """Boxes that stay as in the file, bit for bit, unless they are dragged."""

    given: BoxArray

    def __init__(self, start: Start) -> None:
        super().__init__(start, stand_still)
        self._moved: set[int] = set()

    def boxes(self) -> BoxArray:
        boxes = self.given.copy()
        if self._moved:
            moved = sorted(self._moved)
            boxes[moved] = super().boxes()[moved]
        return boxes

    def _hold(self, body: int) -> None:
        super()._hold(body)
        self._moved.add(body)


def region_of(boxes: BoxArray) -> Bounds:
    """The region of most boxes, ignoring outliers and infinite edges."""
    finite = boxes[(np.abs(boxes) < 1e15).all(axis=1)]
    if not len(finite):
        return (-100.0, -100.0, 100.0, 100.0)
    low = np.quantile(finite[:, :2], 0.01, axis=0)
    high = np.quantile(finite[:, 2:], 0.99, axis=0)
    margin = np.maximum(high - low, 1e-6) * 0.04
    return (*(low - margin).tolist(), *(high + margin).tolist())


def _bounds_for(area: float) -> Bounds:
    """Bounds of the page's proportions with this area."""
    height = max(float(np.sqrt(area / ASPECT)), 120.0)
    return (0.0, 0.0, height * ASPECT, height)


def _square(halves: Vectors) -> Vectors:
    return np.repeat(halves[:, None], 2, axis=1)


def _headings(random: np.random.Generator, speeds: Vectors) -> Vectors:
    angles = random.uniform(0, 2 * np.pi, len(speeds))
    return np.column_stack([np.cos(angles), np.sin(angles)]) * speeds[:, None]


# ---- the dungeon

TILE = 32.0
_DIRECTIONS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
_TURNS = 0.01  # the share of the monsters that turn in a frame although nothing blocks them


def dungeon(count: int, seed: int) -> Scene:
    """A level for this many monsters, each smaller than a tile."""
    random = np.random.default_rng(seed)
    columns = max(30, int(np.sqrt(count * 6.0)))
    rows = max(22, columns * 3 // 4)
    level = TileMap(_rooms(random, columns, rows), TILE)
    floor = np.argwhere(~level.solid)[:, ::-1]
    centers = ((floor[random.integers(0, len(floor), count)] + 0.5) * TILE).astype(np.float64)
    halves = random.uniform(7, 13, (count, 2))
    velocities = _DIRECTIONS[random.integers(0, 4, count)] * random.uniform(0.6, 2.2, (count, 1))

    def advance(scene: Scene) -> None:
        _walk(scene, level, random)

    bounds = (0.0, 0.0, columns * TILE, rows * TILE)
    return Scene(Start(centers, halves, velocities, bounds), advance, tiles=level)


def _rooms(random: np.random.Generator, columns: int, rows: int) -> npt.NDArray[np.bool_]:
    """Solid rock with rooms, each joined to the one before by a bent corridor."""
    solid = np.ones((rows, columns), np.bool_)
    before: tuple[int, int] | None = None
    for _ in range(max(6, columns * rows // 90)):
        width, height = random.integers(3, 8, 2)
        x = int(random.integers(1, columns - width))
        y = int(random.integers(1, rows - height))
        solid[y : y + height, x : x + width] = False
        middle = x + int(width) // 2, y + int(height) // 2
        if before is not None:
            low, high = sorted((before[0], middle[0]))
            solid[before[1], low : high + 1] = False
            low, high = sorted((before[1], middle[1]))
            solid[low : high + 1, middle[0]] = False
        before = middle
    solid[[0, -1], :] = True
    solid[:, [0, -1]] = True
    return solid


def _walk(scene: Scene, level: TileMap, random: np.random.Generator) -> None:
    """Move all monsters; those that would end in a wall stay and turn."""
    speeds = np.abs(scene.velocities).max(axis=1, keepdims=True)
    wanted = scene.centers + scene.velocities
    blocked = _in_wall(level, wanted, scene.halves) & ~_in_wall(level, scene.centers, scene.halves)
    outside = _in_wall(level, scene.centers, np.zeros_like(scene.halves))
    turning = blocked | (random.random(len(scene)) < _TURNS)
    headings = _DIRECTIONS[random.integers(0, 4, len(scene))]
    scene.centers[~blocked] = wanted[~blocked]
    scene.velocities[turning] = (headings * np.clip(speeds, 0.6, 2.2))[turning]
    # A monster that was dropped into rock walks towards the middle.
    middle = np.array(scene.bounds[2:]) / 2
    scene.velocities[outside] = np.sign(middle - scene.centers)[outside]


def _in_wall(level: TileMap, centers: Vectors, halves: Vectors) -> npt.NDArray[np.bool_]:
    """Which bodies overlap a solid tile; all are smaller than a tile, so testing their corners suffices."""
    rows, columns = level.solid.shape
    hit = np.zeros(len(centers), np.bool_)
    for corner in ((-1, -1), (1, -1), (-1, 1), (1, 1)):
        at = np.floor((centers + halves * corner) / TILE)
        column = np.clip(at[:, 0], 0, columns - 1).astype(np.int64)
        row = np.clip(at[:, 1], 0, rows - 1).astype(np.int64)
        hit |= level.solid[row, column]
    return hit


# ---- the catalogue

FEWEST, MOST = 5, 100_000


class Kind(NamedTuple):
    """A kind of scene."""

    title: str
    about: str
    """What it shows, in a sentence."""
    make: Callable[[int, int], Scene]
    """Makes a scene from a number of bodies and a seed."""


SCENES = {
    "balls": Kind("Bouncing balls", "Elastic balls in a box. Drag one and throw it.", balls),
    "side_scroller": Kind(
        "Side-scroller",
        "A long level: everything is spread along x, which suits a sort along x.",
        side_scroller,
    ),
    "shooter": Kind(
        "Space shooter", "Ships in formation and fast shots that fly up, in crowded columns.", shooter
    ),
    "asteroids": Kind(
        "Asteroids", "Rocks of many sizes that leave on one side and come back on the other.", asteroids
    ),
    "clusters": Kind("Far clusters", "A few crowds far apart, which a bounded grid handles badly.", clusters),
    "mixed_sizes": Kind(
        "Three decades of sizes",
        "Dust, crates and continents: no single cell size suits them all.",
        mixed_sizes,
    ),
    "mostly_static": Kind(
        "Mostly static",
        "Crates that never move and a few bodies that do: methods that keep data between frames win here.",
        mostly_static,
    ),
    "dungeon": Kind(
        "Dungeon", "Rooms and corridors between solid tiles, and monsters that walk in them.", dungeon
    ),
}


def make_scene(name: str, *, count: int, seed: int = 1) -> Scene:
    """A scene at its first frame.

    Parameters
    ----------
    name : str
        One of `SCENES`.
    count : int
        How many bodies, 5 to 100,000.
    seed : int
        Another seed gives another scene of the same kind.

    Returns
    -------
    Scene
        ``boxes()`` are the bounding boxes, ``step()`` advances by one frame.

    Raises
    ------
    ValueError
        There is no such scene, or the count is out of range.

    Examples
    --------
    >>> make_scene("dungeon", count=10).tiles
    <TileMap of 30 x 22 tiles of 32 x 32 at (0.0, 0.0)>
    """
    if name not in SCENES:
        raise ValueError(f"unknown scene {name!r}; choose one of {', '.join(SCENES)}")
    if not FEWEST <= count <= MOST:
        raise ValueError(f"count must be between {FEWEST} and {MOST}; got {count}")
    return SCENES[name].make(count, seed)
