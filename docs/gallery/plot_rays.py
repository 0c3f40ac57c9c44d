"""
A fan of rays
=============

What a robot's lidar sees: 360 rays from one place, answered in one call, with distances and the
normals of the faces that are hit.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

import broadphase as bp

rng = np.random.default_rng(21)
corner = rng.random((70, 2)) * 94
boxes = np.hstack([corner, corner + rng.uniform(2, 7, (70, 2))])
robot = np.array([50.0, 50.0])
boxes = boxes[~((boxes[:, :2] < robot + 3) & (boxes[:, 2:] > robot - 3)).all(axis=1)]
index = bp.Strips()
index.insert_many(boxes)

turn = np.linspace(0, 2 * np.pi, 360, endpoint=False)
directions = np.column_stack([np.cos(turn), np.sin(turn)])
hits = index.raycast(np.tile(robot, (360, 1)), directions, max_distance=45)
ends = robot + directions * np.minimum(hits.distances, 45)[:, None]

figure, ax = plt.subplots(figsize=(5.6, 5.6))
bp.plot.draw_boxes(boxes, ax=ax, color="0.45", fill=0.5)
rays = [(robot, end) for end in ends]
ax.add_collection(LineCollection(rays, colors=bp.plot.PLAIN, linewidths=0.5))
seen = hits.ids >= 0
ax.plot(*ends[seen].T, ".", color=bp.plot.OVERLAPPING, markersize=4)
ax.set_title(f"{np.count_nonzero(seen)} of 360 rays hit one of {len(np.unique(hits.ids[seen]))} boxes")
plt.show()
