"""
A swarm
=======

Each bird looks at its nearest six, found for all birds in one call, flies where they fly, and keeps
its distance.
"""

import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

rng = np.random.default_rng(3)
place = rng.random((1_500, 2)) * 100
velocity = rng.normal(size=(1_500, 2))
trail = []

for frame in range(160):
    others = bp.nearest(place, 6).ids
    gap = place[:, None] - place[others]
    far = np.linalg.norm(gap, axis=2, keepdims=True)
    push = (gap / np.maximum(far, 0.1) * (far < 1.5)).sum(axis=1)
    velocity += 0.12 * (velocity[others].mean(axis=1) - velocity) + 0.4 * push - 0.01 * gap.mean(axis=1)
    velocity += 0.002 * (50 - place)
    velocity /= np.maximum(np.linalg.norm(velocity, axis=1, keepdims=True), 1e-9)
    place = place + 0.6 * velocity
    if frame >= 150:
        trail.append(place.copy())

figure, ax = plt.subplots(figsize=(6.4, 6.4), layout="constrained")
for age, old in enumerate(trail):
    ax.plot(*old.T, ".", color=bp.plot.PLAIN, markersize=2, alpha=(age + 1) / 12)
ax.set(aspect="equal", xticks=[], yticks=[])
plt.show()
