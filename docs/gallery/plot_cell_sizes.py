"""
Cells too big, too small, just right
====================================

A grid tests boxes that share a cell. Big cells hold too many of them; small ones hold each box many
times over. Two to three times the typical box is a good size, and what ``cell_size="auto"`` looks
for.
"""

import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

rng = np.random.default_rng(3)
corner = rng.random((150, 2)) * 94
boxes = np.hstack([corner, corner + 5])

figure, axes = plt.subplots(1, 3, figsize=(12, 4.4))
for ax, (size, word) in zip(axes, [(50, "too big"), (2, "too small"), (12, "just right")], strict=True):
    index = bp.UniformGrid(bounds=(0, 0, 100, 100), cell_size=size)
    index.insert_many(boxes)
    index.pairs()
    bp.plot.draw_cells(boxes, size, ax=ax, numbers=size > 5)
    bp.plot.draw_boxes(boxes, ax=ax)
    ax.set_title(f"{word}: {index.stats.tests:,} tests in {index.stats.cells:,} cells")
plt.show()
