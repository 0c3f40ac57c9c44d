"""The films of the README and the landing page: balls bounce, and those that touch another are orange."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.collections import EllipseCollection
from PIL import Image

import broadphase as bp

WIDTH, HEIGHT = 120, 40
PIXELS = 6
"""A unit of the world."""
BALLS, FRAMES = 150, 40
RATE, SITE_FRAMES = 30, 90
"""On the landing page: frames a second, and how many."""
Floats = npt.NDArray[np.float64]


def moments(frames: int = FRAMES) -> Iterator[tuple[Floats, Floats, npt.NDArray[np.bool_]]]:
    """Of every frame: positions, radii, and which balls touch another there; the same on every machine."""
    moving = bp.balls.BallSimulation(BALLS, radius=(0.8, 2.4), bounds=(0, 0, WIDTH, HEIGHT), speed=26, seed=5)
    for _ in range(frames):
        moving.step(1 / 40)
        touching = np.zeros(BALLS, np.bool_)
        touching[moving.pairs] = True
        yield moving.positions.copy(), moving.radii, touching


def save(file: Path, colours: dict[str, str]) -> None:
    """Draw and write it."""
    figure = plt.figure(figsize=(WIDTH * PIXELS / 100, HEIGHT * PIXELS / 100), dpi=100)
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    ax.set_axis_off()
    frames = []
    for positions, radii, touching in moments():
        drawn = discs(positions, 2 * radii, np.where(touching, colours["met"], colours["plain"]), ax)
        figure.canvas.draw()
        frames.append(Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB"))
        drawn.remove()
    plt.close(figure)
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=33, loop=0, quality=30, method=6)


def write(file: Path) -> None:
    """Write what `_static/film.js` draws on the landing page."""
    frames = [
        {
            "places": (places * [1, -1] + [0, HEIGHT]).round(2).ravel().tolist(),
            "touching": touching.nonzero()[0].tolist(),
        }
        for places, _, touching in moments(SITE_FRAMES)
    ]
    radii = next(moments())[1].round(2).tolist()
    film = {"size": [WIDTH, HEIGHT], "rate": RATE, "radii": radii, "frames": frames}
    file.write_text(json.dumps(film, separators=(",", ":")), "utf-8")


def discs(positions: Floats, sides: Floats, colours: Any, ax: Any) -> Any:
    """Add balls of the given diameters and colours to an axes."""
    return ax.add_collection(
        EllipseCollection(
            sides,
            sides,
            np.zeros(len(sides)),
            units="xy",
            offsets=positions,
            transOffset=ax.transData,
            facecolors=colours,
        )
    )
