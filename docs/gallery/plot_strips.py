"""
Strips
======

The fast method cuts the world into strips. A box is copied into each strip that it touches, and a
copy remembers whether its box began earlier: a pair is reported only where at least one of its two
began, so never twice.
"""

import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

rng = np.random.default_rng(9)
corner = rng.random((60, 2)) * 90
boxes = np.hstack([corner, corner + rng.uniform(4, 10, (60, 2))])
borders = np.arange(0, 101, 20)
first = np.searchsorted(borders, boxes[:, 1], side="right") - 1
last = np.searchsorted(borders, boxes[:, 3], side="right") - 1

figure, ax = plt.subplots(figsize=(6.4, 5))
for strip, low in enumerate(borders[:-1]):
    here = (first <= strip) & (strip <= last)
    began = first[here] == strip
    cut = boxes[here]
    cut[:, 1::2] = np.clip(cut[:, 1::2], low + 0.3, low + 19.7)
    bp.plot.draw_boxes(cut[began], ax=ax, fill=0.5)
    bp.plot.draw_boxes(cut[~began], ax=ax, color="0.55", fill=0.25)
    ax.axhline(low, color="0.8", zorder=0)
ax.set(xlim=(-2, 102), ylim=(-2, 102))
ax.set_title(f"{len(boxes)} boxes, {int((last - first + 1).sum())} copies; grey: began in an earlier strip")
plt.show()
