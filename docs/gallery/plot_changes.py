"""
What began, stayed and ended
============================

An index that persists between frames reports how its pairs differ from the frame before: all that a game
needs to play a sound once.
"""

import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

rng = np.random.default_rng(6)
place = rng.random((2_000, 2)) * 100
motion = rng.normal(size=(2_000, 2)) * 0.25
index = bp.SweepAndPrune()
index.insert_many(np.hstack([place, place + 1.5]))
index.changes()

began, stayed, ended = [], [], []
for _ in range(120):
    place = (place + motion) % 100
    index.update(np.hstack([place, place + 1.5]))
    changes = index.changes()
    began.append(len(changes.began))
    stayed.append(len(changes.stayed))
    ended.append(len(changes.ended))

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(stayed, color="0.6", label="stayed")
ax.plot(began, color=bp.plot.PLAIN, label="began")
ax.plot(ended, color=bp.plot.OVERLAPPING, linestyle="--", label="ended")
ax.set(xlabel="frame", ylabel="pairs", yscale="log")
ax.legend(ncols=3, frameon=False)
plt.show()
