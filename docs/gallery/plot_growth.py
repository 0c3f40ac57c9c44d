"""
How time grows
==============

Brute force takes four times as long for twice the boxes. The others take little more than twice as
long; the lines show by how much they differ on the machine that built this page.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

rng = np.random.default_rng(1)
sizes = np.geomspace(250, 128_000, 10).astype(int)


def best(method, boxes):
    """The best of some runs, in milliseconds."""
    bp.pairs(boxes, method=method)
    times = []
    while sum(times) < 0.05 or len(times) < 3:
        start = perf_counter()
        bp.pairs(boxes, method=method)
        times.append(perf_counter() - start)
    return min(times) * 1e3


figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
for method in bp.METHODS:
    times = []
    for n in sizes if method != "brute_force" else sizes[:7]:
        corner = rng.random((n, 2), np.float32)
        times.append(best(method, np.hstack([corner, corner + np.float32(1 / np.sqrt(n))])))
    ax.loglog(sizes[: len(times)], times, "o-", markersize=3, label=method)
ax.axhline(1000 / 60, color="0.7", zorder=0)
ax.text(sizes[0], 1000 / 60, "one frame at 60 Hz", va="bottom")
ax.set(xlabel="boxes", ylabel="milliseconds")
ax.legend(frameon=False)
plt.show()
