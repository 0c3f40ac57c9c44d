"""
Sort by the left edge, stop early
=================================

Boxes are intervals on the axis. Sorted by their left ends, each is compared with those that begin
before it ends, and the loop is left at the first that does not: the oldest trick of the trade.
"""

import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

rng = np.random.default_rng(8)
left = rng.random(24) * 90
width = rng.uniform(3, 14, 24)
order = np.argsort(left)
left, width = left[order], width[order]
reached = np.searchsorted(left, left + width, side="right")
here = int(np.argmax(reached - np.arange(24)))

figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
rows = np.arange(24)
colours = [bp.plot.OVERLAPPING if here < k < reached[here] else "0.75" for k in rows]
colours[here] = bp.plot.PLAIN
ax.barh(rows, width, left=left, color=colours, height=0.6)
ax.axvspan(left[here], left[here] + width[here], color=bp.plot.PLAIN, alpha=0.12)
ax.invert_yaxis()
ax.set(
    xlabel="x",
    ylabel="place in the order",
    title=f"one box is compared with {reached[here] - here - 1} of 23",
)
plt.show()
