"""
What each method compares
=========================

All methods find the same pairs. They differ in how many boxes they compare, and
``stats`` counts what was really done.
"""

import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

rng = np.random.default_rng(5)
corner = rng.random((5_000, 2))
boxes = np.hstack([corner, corner + 0.012])

tests = {}
for name in bp.INDEXES:
    if name != "auto":
        index = bp.make_index(boxes, name)
        found = len(index.pairs())
        tests[name] = index.stats.tests

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
bars = ax.barh(list(tests), list(tests.values()), color=bp.plot.PLAIN)
ax.bar_label(bars, [f"{count:,}" for count in tests.values()], padding=4)
ax.axvline(found, color=bp.plot.OVERLAPPING, label=f"{found:,} pairs")
ax.set(xscale="log", xlabel="comparisons", xlim=(found / 3, max(tests.values()) * 8))
ax.legend(loc="upper right", bbox_to_anchor=(1, 1.16), frameon=False)
plt.show()
