"""
List against list
=================

`bp.join` finds what meets between two lists, and nothing inside one of them: shots and ships,
points and zones.
"""

import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

rng = np.random.default_rng(12)
ships = rng.random((60, 2)) * 92
ships = np.hstack([ships, ships + np.array([8, 4])])
shots = rng.random((400, 2)) * 100
shots = np.hstack([shots, shots + 0.8])
hits = bp.join(ships, shots)

figure, ax = plt.subplots(figsize=(6.4, 5))
bp.plot.draw_boxes(ships, ax=ax)
bp.plot.draw_boxes(shots, ax=ax, color="0.6")
bp.plot.draw_boxes(ships[np.unique(hits[:, 0])], ax=ax, fill=0.6)
bp.plot.draw_boxes(shots[np.unique(hits[:, 1])], ax=ax, color=bp.plot.OVERLAPPING, fill=1)
ax.set_title(f"{len(hits)} hits on {len(np.unique(hits[:, 0]))} of {len(ships)} ships")
plt.show()
