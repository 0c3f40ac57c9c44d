"""
Cells too big, too small, just right
====================================

A grid adds each box to every cell that it touches and tests boxes that share a cell. Big cells hold
many boxes, which costs tests. Small cells hold each box many times, which costs entries. The sum of both is
least where a cell is two to three times as wide as a typical box; ``cell_size="auto"`` looks for that.
"""

import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

rng = np.random.default_rng(3)
corner = rng.random((150, 2)) * 94
boxes = np.hstack([corner, corner + 5])

figure, axes = plt.subplots(1, 3, figsize=(12, 4.4))
for ax, (size, word) in zip(axes, [(50, "too big"), (3, "too small"), (12, "just right")], strict=True):
    index = bp.UniformGrid(boxes, bounds=(0, 0, 100, 100), cell_size=size)
    index.pairs()
    bp.plot.draw_cells(boxes, size, ax=ax, numbers=size > 5)
    bp.plot.draw_boxes(boxes, ax=ax)
    tests, entries = index.stats.tests, round(len(boxes) * index.explain().copies)
    ax.set_title(f"{word}: {tests:,} tests + {entries:,} entries = {tests + entries:,}")
plt.show()
