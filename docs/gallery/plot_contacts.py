"""
Where shapes touch
==================

After the broad phase comes the narrow one: do the shapes touch, along which normal, how deep?
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import patches

import broadphase as bp

shapes = [
    (bp.Box(0, 0, 4, 3), bp.Box(3.2, 1, 4, 3)),
    (bp.Circle(2, 2, 2), bp.Circle(4.6, 3, 1.5)),
    (bp.Box(0, 0, 4, 3), bp.Circle(4.6, 3.4, 1.2)),
    (bp.Polygon([(0, 0), (5, 1), (2, 4)]), bp.Polygon([(3, 2), (7, 2), (7, 5), (4, 5)])),
]


def outline(shape):
    """A shape as a patch of matplotlib."""
    if isinstance(shape, bp.Box):
        return patches.Rectangle((shape.x, shape.y), shape.width, shape.height)
    if isinstance(shape, bp.Circle):
        return patches.Circle((shape.x, shape.y), shape.radius)
    return patches.Polygon(np.array(shape.points))


figure, axes = plt.subplots(1, 4, figsize=(12, 3))
for ax, (a, b) in zip(axes, shapes, strict=True):
    for shape, colour in ((a, bp.plot.PLAIN), (b, bp.plot.OVERLAPPING)):
        patch = outline(shape)
        patch.set(facecolor=colour, alpha=0.4, edgecolor=colour)
        ax.add_patch(patch)
    contact = bp.contact(a, b)
    push = np.array(contact.normal) * contact.depth
    ax.annotate("", (4 + 3 * push[0], 2 + 3 * push[1]), (4, 2), arrowprops={"arrowstyle": "->", "lw": 2})
    ax.set(
        xlim=(-1, 8), ylim=(-1, 6), aspect="equal", xticks=[], yticks=[], title=f"depth {contact.depth:.2f}"
    )
plt.show()
