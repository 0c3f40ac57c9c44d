"""Named scenes, the same on every run: all are seeded and hold about ``n`` boxes of float32.

Some try what may be difficult for a broad phase; the others are those that libraries and articles measure, so
that results can be compared.  If a source fixes the number of boxes, the sizes are scaled so that any number
gives as many pairs per box.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.runtime.arrays import Floats

Boxes = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Case:
    """The boxes of a scene: search all pairs, all but those of two static boxes, or A against B."""

    boxes: Boxes
    static: npt.NDArray[np.bool_] | None = None
    first_side: int | None = None
    """How many of the first rows are side A of a join."""

    @property
    def dim(self) -> int:
        """2 or 3."""
        return int(self.boxes.shape[1]) // 2

    @property
    def plain(self) -> bool:
        """Whether all pairs of all boxes are searched."""
        return self.static is None and self.first_side is None

    @property
    def sides(self) -> tuple[Boxes, Boxes]:
        """Both sides of a join."""
        return self.boxes[: self.first_side], self.boxes[self.first_side :]

    @cached_property
    def equal_side(self) -> float | None:
        """The side of the boxes if all are equal squares or cubes, up to rounding."""
        extent = self.boxes[:, self.dim :].astype(np.float64) - self.boxes[:, : self.dim]
        return float(extent.mean()) if np.ptp(extent) <= 1e-3 * extent.max() else None


@dataclass(frozen=True)
class Scene:
    """A scene of the catalogue."""

    make: Callable[[int, int], Boxes | Case]
    dims: tuple[int, ...] = (2, 3)
    constant: bool = True
    """Whether a large scene has as many pairs per box as a small one, so that growth is meaningful."""
    yardstick: bool = False
    """Whether the sizes are similar enough for the yardstick, whose strips are as wide as the widest box."""

    def case(self, n: int, dim: int) -> Case:
        """The scene with about ``n`` boxes."""
        made = self.make(n, dim)
        return made if isinstance(made, Case) else Case(made)

    @property
    def about(self) -> str:
        """A description in one line."""
        return " ".join((self.make.__doc__ or "").split("\n\n")[0].split())


def _rows(low: Floats, extent: npt.ArrayLike) -> Boxes:
    low32 = low.astype(np.float32)
    return np.hstack([low32, low32 + np.asarray(extent, np.float32)])


def _around(centers: Floats, half: Floats | float) -> Boxes:
    return np.hstack([centers - half, centers + half]).astype(np.float32)


def _extent(n: int, dim: int) -> float:
    """The side of equal cubes in the unit cube that gives two pairs per box."""
    return float((4 / n) ** (1 / dim) / 2)


def uniform(n: int, dim: int) -> Boxes:
    """Equal squares or cubes, spread evenly, two pairs per box."""
    rng = np.random.default_rng(7)
    return _rows(rng.random((n, dim)), _extent(n, dim))


def mixed_sizes(n: int, dim: int) -> Boxes:
    """Sizes over four decades, evenly on a log scale."""
    rng = np.random.default_rng(7)
    size = 10.0 ** rng.uniform(-4, 0, (n, 1))
    return _rows(rng.random((n, dim)), np.minimum(size * _extent(n, dim) * 2, 0.5))


def far_clusters(n: int, dim: int) -> Boxes:
    """A hundred crowds in a world a million times as wide as one of them.

    2.5 pairs per box among 10,000; float32 is coarse so far out, and more boxes have more pairs each.
    """
    rng = np.random.default_rng(7)
    centres = rng.random((100, dim)) * 1e4
    low = centres[rng.integers(0, 100, n)] + 0.01 * rng.random((n, dim))
    return _rows(low, 0.01 * _extent(max(n // 100, 4), dim))


def line(n: int, dim: int) -> Boxes:
    """All boxes along the last axis, two pairs per box."""
    rng = np.random.default_rng(7)
    low = np.zeros((n, dim))
    low[:, -1] = rng.random(n)
    return _rows(low, 2 / n)


def walls(n: int, dim: int) -> Boxes:
    """Small boxes, and one in a hundred a wall across a tenth of the world."""
    rng = np.random.default_rng(7)
    extent = np.full((n, dim), 0.3 * _extent(n, dim))
    walls = np.flatnonzero(rng.random(n) < 0.01)
    extent[walls, rng.integers(0, dim, len(walls))] = 0.1
    return _rows(rng.random((n, dim)), extent)


def brownian(n: int, dim: int) -> Boxes:
    """Unit cubes that fill a tenth of the world's volume, a frame of Broadmark's Brownian scene."""
    rng = np.random.default_rng(7)
    return _rows(rng.random((n, dim)) * (n / 0.1) ** (1 / dim), 1.0)


def mixed_cubes(n: int, dim: int) -> Boxes:
    """Cubes of side 1 + 99 X^10, X even from 0 to 1, about one pair per box: bepuphysics' scene of 65,536."""
    rng = np.random.default_rng(7)
    size = 1 + 99 * rng.random((n, 1)) ** 10
    return _around(rng.random((n, dim)) * 1400 * (n / 65_536) ** (1 / dim), size / 2)


def sphere_surface(n: int, dim: int) -> Boxes:
    """Cubes on the surface of a sphere (squares on a circle), as the triangles of a mesh are, after 0fps."""
    rng = np.random.default_rng(7)
    direction = rng.normal(size=(n, dim))
    extent = 4 * np.pi / n if dim == 2 else (4 * np.pi / n) ** 0.5
    return _around(direction / np.linalg.norm(direction, axis=1, keepdims=True), extent / 2)


def skewed(n: int, dim: int) -> Boxes:
    """Boxes thirty times as long on the first axis as on the others, two pairs per box, after 0fps."""
    rng = np.random.default_rng(7)
    extent = np.full(dim, _extent(n, dim) * 30 ** (-1 / dim))
    extent[0] *= 30
    return _rows(rng.random((n, dim)), extent)


def _spiral(n: int, grow: float) -> Boxes:
    # Seeds of a sunflower, side 4.  Broccoli's own notes say fewer pairs (1, 3, 20 and 180 per box).
    turn = np.pi * (3 - 5**0.5)
    angle, radius = np.arange(n) * turn, grow * np.sqrt(np.arange(n))
    return _around(np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None], 2.0)


def spiral_sparse(n: int, dim: int) -> Boxes:
    """Broccoli's abspiral with grow 2.1: squares of side 4 on a sunflower spiral, two pairs per box."""
    return _spiral(n, 2.1)


def spiral(n: int, dim: int) -> Boxes:
    """Broccoli's abspiral with grow 1.5, its default, four pairs per box."""
    return _spiral(n, 1.5)


def spiral_dense(n: int, dim: int) -> Boxes:
    """Broccoli's abspiral with grow 0.6, some twenty-five pairs per box."""
    return _spiral(n, 0.6)


def spiral_mega_dense(n: int, dim: int) -> Boxes:
    """Broccoli's abspiral with grow 0.2, more than two hundred pairs per box."""
    return _spiral(n, 0.2)


def gsap(n: int, dim: int) -> Boxes:
    """Cubes of 0.5 to 8 percent of the world, gSaP's sizes at 16,000; larger scenes have smaller ones."""
    rng = np.random.default_rng(7)
    size = rng.uniform(0.005, 0.08, (n, 1)) * (16_000 / n) ** (1 / dim)
    return _around(rng.random((n, dim)), size / 2)


def kitten(n: int, dim: int) -> Boxes:
    """Points in the unit cube, made 0.002 wide at 100,000 of them: KittenGpuLBVH's test; hardly any pairs."""
    rng = np.random.default_rng(7)
    return _around(rng.random((n, dim)), 0.001 * (100_000 / n) ** (1 / dim))


def atoms(n: int, dim: int) -> Boxes:
    """A warm crystal of carbon; boxes of 3 angstrom, whose pairs hold all neighbours nearer than that."""
    rng = np.random.default_rng(7)
    base = [[0, 0, 0], [0, 2, 2], [2, 0, 2], [2, 2, 0], [1, 1, 1], [1, 3, 3], [3, 1, 3], [3, 3, 1]]
    across = int(np.ceil((n / 8) ** (1 / 3)))
    cells = np.stack(np.meshgrid(*[np.arange(across)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    places = (cells + np.array(base) / 4).reshape(-1, 3)[:n] * 3.567
    return _around(places + rng.normal(scale=0.05, size=places.shape), 1.5)


def few_movers(n: int, dim: int) -> Case:
    """One box in a hundred moves among static ones, which are not paired with each other."""
    rng = np.random.default_rng(7)
    static = np.ones(n, np.bool_)
    static[rng.choice(n, max(n // 100, 1), replace=False)] = False
    return Case(_rows(rng.random((n, dim)), _extent(n, dim)), static=static)


def large_and_small(n: int, dim: int) -> Case:
    """A against B: one box in a hundred is on side A, and ten times as wide as those of B."""
    rng = np.random.default_rng(7)
    a = max(n // 100, 1)
    extent = np.full((n, 1), _extent(n, dim))
    extent[:a] *= 10
    return Case(_rows(rng.random((n, dim)), extent), first_side=a)


SCENES = {scene.__name__: scene for scene in (uniform, mixed_sizes, far_clusters, line, walls)}
"""Our own scenes by name: all pairs, in 2-D and in 3-D."""

CATALOGUE: dict[str, Scene] = {
    "uniform": Scene(uniform, yardstick=True),
    "mixed_sizes": Scene(mixed_sizes),
    "far_clusters": Scene(far_clusters, constant=False),
    "line": Scene(line),
    "walls": Scene(walls, constant=False),
    "brownian": Scene(brownian, yardstick=True),
    "mixed_cubes": Scene(mixed_cubes, dims=(3,), yardstick=True),
    "sphere_surface": Scene(sphere_surface),
    "skewed": Scene(skewed),
    "spiral_sparse": Scene(spiral_sparse, dims=(2,), yardstick=True),
    "spiral": Scene(spiral, dims=(2,), yardstick=True),
    "spiral_dense": Scene(spiral_dense, dims=(2,), yardstick=True),
    "spiral_mega_dense": Scene(spiral_mega_dense, dims=(2,)),
    "gsap": Scene(gsap, dims=(3,), yardstick=True),
    "kitten": Scene(kitten, dims=(3,), yardstick=True),
    "atoms": Scene(atoms, dims=(3,), yardstick=True),
    "few_movers": Scene(few_movers),
    "large_and_small": Scene(large_and_small),
}
"""All scenes by name."""


def facts(case: Case) -> dict[str, Any]:
    """What a report says about a case."""
    asked = "pairs" if case.plain else "join" if case.first_side is not None else "pairs, static"
    return {"boxes": len(case.boxes), "dim": case.dim, "asked": asked}
