"""Tree: a bounding volume hierarchy, built for one search.

Boxes that are near each other share a leaf, leaves share a node, and each node has the bounding box
of everything below it.  Two nodes whose bounds do not overlap are skipped with everything below
them.  The tree is binary, divided from the top at the middle of the boxes' centres, with boxes too
large for their surroundings in nodes of their own (`kernels.tree.bvh` says how).

Source: the ray tracers' bounding volume hierarchy (Rubin and Whitted 1980; Kay and Kajiya 1986), and the
R-tree (Guttman 1984) for large boxes among small ones.  Cost: n log n to build, about log n plus its
pairs for each leaf.  No distribution makes it quadratic: it is the method for clusters, mixed sizes and
unknown scenes.  It loses, by a constant factor, to grids and strips if boxes are similar and spread
evenly, because it sorts by comparisons while they place boxes by arithmetic.
"""

from functools import partial

from broadphase.kernels.tree.bvh import build_tree, join_leaves, lay_out
from broadphase.methods.task import Found, Task, find_in_shares
from broadphase.runtime import threads


def find(task: Task) -> Found:
    """Find all pairs with a tree; ``Found.cells`` counts nodes, ``Found.tests`` tests of nodes and boxes."""
    classes = task.filter.classes
    leaves = lay_out(build_tree(task.boxes, classes), task.boxes, classes, task.touching)
    search = partial(join_leaves, tuple(range(task.dim)), leaves, task.filter)
    # Crowds are contiguous in the tree: four shares for each thread balance the load.
    nodes = len(leaves.after)
    parts = 4 * task.threads if task.threads > 1 and nodes > 1_000 else 1
    return find_in_shares(task, search, threads.shares(nodes, parts), cells=nodes)
