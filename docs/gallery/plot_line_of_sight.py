"""
What a monster sees
===================

Rays walk through a tile map cell by cell.  Where they end is what can be seen from one place.
"""

import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

rng = np.random.default_rng(2)
solid = rng.random((24, 36)) < 0.13
solid[[0, -1]] = True
solid[:, [0, -1]] = True
solid[10:14, 15:20] = False
tiles = bp.TileMap(solid, tile_size=1)
eye = (17.5, 12.5)

corners = []
for turn in np.linspace(0, 2 * np.pi, 720, endpoint=False):
    direction = (np.cos(turn), np.sin(turn))
    hit = tiles.raycast(eye, direction, max_distance=60)
    corners.append((eye[0] + direction[0] * hit.distance, eye[1] + direction[1] * hit.distance))

figure, ax = plt.subplots(figsize=(7.2, 4.9), layout="constrained")
ax.imshow(np.where(solid, 1, np.nan), extent=(0, 36, 24, 0), cmap="Greys", vmin=0, vmax=1.6)
ax.fill(*zip(*corners, strict=True), color="#E69F00", alpha=0.45)
ax.plot(*eye, "o", color=bp.plot.OVERLAPPING)
ax.set(xticks=[], yticks=[])
plt.show()
