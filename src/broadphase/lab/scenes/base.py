"""What a scene is: bodies that move frame by frame, always the same for the same seed, and can be dragged."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.world.tiles import TileMap

Vectors = npt.NDArray[np.float64]
Bounds = tuple[float, float, float, float]

# A held body keeps so much of its speed from the frame before: a throw is a movement, not its last frame.
_MEMORY = 0.6


class Start(NamedTuple):
    """Where a scene begins."""

    centers: Vectors
    """``(n, 2)``"""
    halves: Vectors
    """``(n, 2)``: half the width and height of each body."""
    velocities: Vectors
    """``(n, 2)``: units a frame."""
    bounds: Bounds
    """``min_x, min_y, max_x, max_y`` of what the page shows at first."""


class Scene:
    """Bodies that move; what all scenes share.

    Parameters
    ----------
    start : Start
        Where everything begins.
    advance : callable
        Moves everything by one frame: it is given the scene.
    static : array_like of bool, optional
        Which bodies never move.
    is_round : bool
        Whether the bodies are circles: only what is drawn and grabbed; a broad phase sees boxes.
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
        """Whether anybody has dragged a body: then the seed alone does not say where things are."""
        self._advance = advance
        self._held = -1
        self._target = self._before = np.zeros(2)

    def __len__(self) -> int:
        return len(self.centers)

    def boxes(self) -> BoxArray:
        """``(n, 4)``: the boxes around the bodies, as a broad phase sees them."""
        return np.hstack([self.centers - self.halves, self.centers + self.halves])

    def step(self) -> None:
        """Let one frame pass."""
        self._advance(self)
        self.follow()
        self.frame += 1

    def follow(self) -> None:
        """The held body goes where the pointer is; also while everything else stands still."""
        if self._held >= 0:
            way = self._target - self._before
            self._before = self._target
            self.centers[self._held] = self._target
            self.velocities[self._held] = _MEMORY * self.velocities[self._held] + (1 - _MEMORY) * way

    def grab(self, x: float, y: float, reach: float = 0.0) -> int:
        """Take hold of the body at a point, or of the nearest within ``reach``; its id, or -1."""
        gaps = np.maximum(np.abs(self.centers - (x, y)) - self.halves, 0.0)
        distances = np.hypot(gaps[:, 0], gaps[:, 1])
        nearest = float(distances.min(initial=np.inf))
        if not nearest <= reach:
            return -1
        # Of several under the pointer, the smallest: it could not be taken hold of otherwise.
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
        """Say where the held body is to go; it moves there in the next frame."""
        self._target = np.array([x, y], np.float64)

    def release(self) -> None:
        """Let go: a body that moves flies on."""
        if self._held >= 0 and self.static[self._held]:
            self.velocities[self._held] = 0.0
        self._held = -1

    @property
    def held(self) -> int:
        """The id of the body that is held, or -1."""
        return self._held


def bounce(scene: Scene) -> None:
    """Every body flies straight on and turns at the border."""
    scene.centers += scene.velocities
    low = np.array(scene.bounds[:2]) + scene.halves
    high = np.maximum(np.array(scene.bounds[2:]) - scene.halves, low)
    below, above = scene.centers < low, scene.centers > high
    scene.velocities[below] = np.abs(scene.velocities[below])
    scene.velocities[above] = -np.abs(scene.velocities[above])
    np.clip(scene.centers, low, high, out=scene.centers)


def wrap(scene: Scene) -> None:
    """Every body flies straight on; what leaves on one side comes in on the other."""
    scene.centers += scene.velocities
    low, high = np.array(scene.bounds[:2]), np.array(scene.bounds[2:])
    np.copyto(scene.centers, low + (scene.centers - low) % (high - low))


def stand_still(scene: Scene) -> None:
    """Nothing moves by itself."""
