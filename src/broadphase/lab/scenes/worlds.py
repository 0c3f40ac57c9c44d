"""The scenes without tiles.  Lengths are in pixels of an imagined game, speeds in pixels a frame."""

import numpy as np

from broadphase.balls import BallSimulation
from broadphase.boxes import BoxArray
from broadphase.lab.scenes.base import Bounds, Scene, Start, Vectors, bounce, stand_still, wrap

ASPECT = 4 / 3
FRAMES_A_SECOND = 60


def balls(count: int, seed: int) -> Scene:
    """`broadphase.balls.BallSimulation`: elastic balls in a box, a fifth of which they fill."""
    smallest, largest = 6.0, 14.0
    mean_square = (largest**3 - smallest**3) / (3 * (largest - smallest))
    bounds = _room(count * np.pi * mean_square / 0.2)
    return _Balls(
        BallSimulation(count, radius=(smallest, largest), bounds=bounds, speed=150.0, seed=seed), bounds
    )


class _Balls(Scene):
    """The simulation as a scene; its arrays are the scene's."""

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
        if self._held >= 0:  # everything else stands still, so the simulation is not asked
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
    """A level fifty times as long as it is high: walkers on three floors, coins, platforms that stand."""
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
    bounds = _room(2400.0 * count)
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
    """Rocks from 4 to 60 pixels, the small ones faster."""
    random = np.random.default_rng(seed)
    radii = 4 * 15 ** random.power(0.6, count)[::-1] ** 3
    bounds = _room(float((np.pi * radii**2).sum()) / 0.12)
    centers = random.uniform(bounds[:2], bounds[2:], (count, 2))
    velocities = _headings(random, random.uniform(4, 12, count) / np.sqrt(radii))
    return Scene(Start(centers, _square(radii), velocities, bounds), wrap, is_round=True)


def clusters(count: int, seed: int) -> Scene:
    """Five crowds, each of which stays where it is, far from the others."""
    random = np.random.default_rng(seed)
    crowds = 5
    size = 30.0 * np.sqrt(count / crowds)
    side = 8.0 * size
    # On the cells of a coarse raster, so that no two crowds fall together.
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
    """Sides from 1 to 1,000, each decade with fewer and larger boxes."""
    random = np.random.default_rng(seed)
    halves = np.exp(random.uniform(np.log(0.7), np.log(1.4), (count, 2)))
    halves *= (0.5 * 1000 ** (random.random(count) ** 2.5))[:, None]
    bounds = _room(max(float((4 * halves.prod(axis=1)).sum()) * 1.5, 4e6))
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
    """Somebody's own boxes; they stand still until they are dragged.

    Infinite and huge edges are kept as they are; the page shows where most boxes lie.
    """
    flat = boxes.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        halves = flat[:, 2:] / 2 - flat[:, :2] / 2
        centers = flat[:, :2] / 2 + flat[:, 2:] / 2
    scene = _Still(
        Start(np.nan_to_num(centers), np.nan_to_num(halves), np.zeros((len(flat), 2)), _view(flat))
    )
    scene.given = flat
    return scene


class _Still(Scene):
    """Boxes that stay bit for bit what they were in the file, except those that are dragged."""

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


def _view(boxes: BoxArray) -> Bounds:
    """Where most boxes lie: strays and infinite edges do not decide."""
    finite = boxes[(np.abs(boxes) < 1e15).all(axis=1)]
    if not len(finite):
        return (-100.0, -100.0, 100.0, 100.0)
    low = np.quantile(finite[:, :2], 0.01, axis=0)
    high = np.quantile(finite[:, 2:], 0.99, axis=0)
    margin = np.maximum(high - low, 1e-6) * 0.04
    return (*(low - margin).tolist(), *(high + margin).tolist())


def _room(area: float) -> Bounds:
    """A room of the page's proportions with this area."""
    height = max(float(np.sqrt(area / ASPECT)), 120.0)
    return (0.0, 0.0, height * ASPECT, height)


def _square(halves: Vectors) -> Vectors:
    return np.repeat(halves[:, None], 2, axis=1)


def _headings(random: np.random.Generator, speeds: Vectors) -> Vectors:
    angles = random.uniform(0, 2 * np.pi, len(speeds))
    return np.column_stack([np.cos(angles), np.sin(angles)]) * speeds[:, None]
