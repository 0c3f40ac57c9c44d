"""Tree: a bounding volume hierarchy, built for one search.

Boxes that lie close together share a leaf, leaves share a node, and each node knows the smallest box
around all that is below it.  Two nodes whose bounds do not overlap are left out with everything below
them.  The tree is a binary one, divided from the top at the middle of the boxes' centres, with boxes too
large for their surroundings set apart (`kernels.tree.build` says how).

Source: the ray tracers' bounding volume hierarchy (Rubin and Whitted 1980; Kay and Kajiya 1986), and the
R-tree (Guttman 1984) for large boxes among small ones.  Cost: n log n to build, about log n plus its
pairs for each leaf.  No distribution makes it quadratic: it is the method for clusters, mixed sizes and
unknown scenes.  It loses, by a constant factor, to grids and strips where boxes are alike and spread
evenly, because it compares in order to sort what they place by arithmetic.
"""

import numpy as np

from broadphase.boxes import PairArray
from broadphase.kernels.tree.build import LEAF, build_tree
from broadphase.kernels.tree.pairs import Leaves, join_leaves, lay_out
from broadphase.methods.task import Found, Task, own_copy, run_in_shares
from broadphase.slices import MOST, Work

_SAMPLE = 256
_WORK_OF_A_NODE = 200  # counted in comparisons


def find(task: Task) -> Found:
    """Find all pairs with a tree; ``Found.cells`` are its nodes, ``Found.tests`` count nodes and boxes."""
    task = own_copy(task)
    classes = task.filter.classes
    leaves = lay_out(build_tree(task.boxes, classes), task.boxes, classes, task.touching)
    axes = tuple(range(task.dim))

    def search(first: int, last: int, out: PairArray) -> tuple[PairArray, int, int]:
        result: tuple[PairArray, int, int] = join_leaves(
            axes, leaves, task.filter, first, last, out, task.limit, task.store
        )
        return result

    # Crowds lie together in the tree: four shares a thread even that out.
    nodes = len(leaves.after)
    parts = 4 * task.threads if task.threads > 1 and nodes > 1_000 else 1
    return run_in_shares(task, nodes, search, _work(leaves, len(task.boxes)), parts=parts, cells=nodes)


def _work(leaves: Leaves, n: int) -> Work:
    """What a leaf meets, judging by a sample of nodes and of boxes."""
    nodes = len(leaves.after)
    if n * (n - 1.0) / 2.0 <= MOST:
        return Work.even(nodes, n * n / 2.0 / max(nodes, 1))
    rows = np.arange(0, nodes, -(-nodes // _SAMPLE))
    places = np.arange(0, n, -(-n // _SAMPLE))
    dim = leaves.bounds.shape[1] // 2
    meets = np.ones((len(rows), len(places)), np.bool_)
    for axis in range(dim):
        low, high = leaves.bounds[rows, axis], leaves.bounds[rows, dim + axis]
        meets &= low[:, None] <= leaves.columns[dim + axis, places]
        meets &= leaves.columns[axis, places] <= high[:, None]
    # Boxes before the leaf are not looked at again; nodes above leaves are not looked at at all.
    meets &= places >= leaves.begin[rows][:, None]
    inner = leaves.after[rows] > rows + 1
    met = np.where(inner, 0.0, meets.sum(axis=1) * (n / len(places)) * LEAF)
    return Work.sampled(nodes, rows, met + _WORK_OF_A_NODE)
