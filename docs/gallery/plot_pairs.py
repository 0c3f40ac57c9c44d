"""
Every pair that overlaps
========================

`bp.pairs` takes boxes and returns the rows of those that overlap, each pair once, sorted.
"""

import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

rng = np.random.default_rng(4)
corner = rng.random((120, 2)) * 100
boxes = np.hstack([corner, corner + rng.uniform(2, 9, (120, 2))])
pairs = bp.pairs(boxes)

figure, ax = plt.subplots(figsize=(6.4, 5))
bp.plot.draw_pairs(boxes, pairs, ax=ax)
ax.set_title(f"{len(pairs)} pairs among {len(boxes)} boxes")
plt.show()
