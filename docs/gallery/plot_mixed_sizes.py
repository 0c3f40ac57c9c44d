"""
One size does not fit all
=========================

With a few big boxes among many small ones, no cell size is right: a trap for plain grids. A box that
covers more than 32 cells is here in none of them but in a list, which every search tests. When the
list is long, it is sorted and swept.
"""

import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

rng = np.random.default_rng(14)
big = np.arange(0, 101, 10)
found = []
tests = {name: [] for name in ("sort_and_sweep", "uniform_grid", "spatial_hash", "box_tree", "strips")}
for count in big:
    side = np.r_[np.full(4_000 - count, 0.006), np.full(count, 0.25)]
    corner = rng.random((4_000, 2)) * (1 - side[:, None])
    boxes = np.hstack([corner, corner + side[:, None]])
    for name, counts in tests.items():
        index = bp.make_index(boxes, name)
        pairs = len(index.pairs())
        counts.append(index.stats.tests)
    found.append(pairs)

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, counts in tests.items():
    ax.plot(big, counts, "o-", markersize=3, label=name)
ax.plot(big, found, color="0.6", linestyle="--", label="pairs to be found")
ax.set(xlabel="big boxes among 4,000", ylabel="comparisons", yscale="log")
ax.legend(frameon=False, ncols=2)
plt.show()
