"""
What is in a box, near a point, within a blast
==================================================

An index answers questions about places, one at a time or by the thousand, with the sorted ids of
the boxes.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, Rectangle

import broadphase as bp

rng = np.random.default_rng(11)
corner = rng.random((400, 2)) * 97
boxes = np.hstack([corner, corner + 3])
index = bp.BoxTree()
index.insert_many(boxes)

in_box = index.query_box([10, 50, 45, 90])
in_blast = index.query_radius([70, 60], 18)
nearest = index.nearest([45, 20], k=12).ids

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2))
results = [("query_box", in_box), ("query_radius", in_blast), ("nearest, k=12", nearest)]
shapes = [Rectangle((10, 50), 35, 40), Circle((70, 60), 18), Circle((45, 20), 0.8)]
for ax, (name, found), shape in zip(axes, results, shapes, strict=True):
    bp.plot.draw_boxes(boxes, ax=ax, color="0.7")
    bp.plot.draw_boxes(boxes[found], ax=ax, color=bp.plot.OVERLAPPING)
    shape.set(facecolor="none", edgecolor="0.5", linewidth=2, zorder=9)
    ax.add_patch(shape)
    ax.set_title(f"{name}: {len(found)}")
plt.show()
