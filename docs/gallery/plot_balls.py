"""
Bouncing balls
==============

`bp.balls.BallSimulation` lets balls bounce off each other, by the hundred thousand. Each index can
find its pairs; the balls fly along the same paths on all of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from matplotlib.collections import EllipseCollection

import broadphase as bp

balls = bp.balls.BallSimulation(250, radius=(0.6, 2.2), bounds=(0, 0, 100, 60), speed=40, seed=2)

figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.set(xlim=(0, 100), ylim=(0, 60), aspect="equal", xticks=[], yticks=[])
sides = 2 * balls.radii
discs = ax.add_collection(
    EllipseCollection(
        sides, sides, np.zeros(250), units="xy", transOffset=ax.transData, offsets=balls.positions
    )
)


def draw(_frame):
    """One frame: those that have just met are orange."""
    balls.step(1 / 60)
    met = np.isin(np.arange(250), balls.pairs)
    discs.set_offsets(balls.positions)
    discs.set_facecolor(np.where(met, bp.plot.OVERLAPPING, bp.plot.PLAIN))


film = FuncAnimation(figure, draw, frames=60, interval=33)
# sphinx_gallery_thumbnail_path = "pictures/card.png"
plt.show()
