"""The nodes of the dynamic tree: 16 children each, all leaves equally deep, in flat arrays.

A node has `WIDTH` slots, the first ``count`` of them in use.  A slot holds a box and a child: in a leaf the
id of a box, in any other node the number of a node.  Three arrays with one entry a node:

- ``edges``, ``(nodes * 2 * dim, WIDTH)``: ``2 * dim`` rows a node, one an edge (``min..., max...``), so that
  the 16 boxes of a node are compared at once.  Unused slots hold NaN, which meets nothing;
- ``children``, ``(nodes, WIDTH)`` int32;
- ``links``, ``(nodes, 2)`` int32: the place of the slot above (``node * WIDTH + slot``) and the count.

Node 0 is no node of a tree: its slots `MOVING` and `STATIC_TREE` hold the two roots with their bounds (0
where a tree is empty), and the rest of its ``children`` row the bookkeeping named below.  So every root has
a slot above it like any other node, and a query is given everything in two arrays.

``where[id]`` is the place of a box's own slot.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit

WIDTH = 16
# A node other than a root is merged with another when it has fewer children than this.
LEAST = 5

# No tree is taller: ``node << 6 | level`` says where a search goes on.
TALLEST = 64
# So many entries may wait on the stack: those of a tree of 8 levels (`stack_room`).  As trees grow, with ten
# children a node, that is a hundred million boxes.
WAITING = 2 + WIDTH + (WIDTH - 1) * 8

# As arguments these are 64-bit numbers and not literals, for each of which Numba would compile a helper.
NODE_0 = np.int64(0)
LEAVES = np.int64(0)  # the lowest level
FIRST = np.int64(0)  # slot

# Slots of node 0.
MOVING = 0
STATIC_TREE = 1
# Further entries of children[0]; the first three have one for each tree.
HEIGHT = 2  # levels: 1 where the root is a leaf
LOOSE = 4  # 1 once a slot may hold more than its box: then a hit has to be looked at
HELD = 6  # boxes
FREE = 8  # the first free node, 0 for none; links[node, ABOVE] is the next
USED = 9  # nodes from here on were never used
NODES = 10  # nodes in use, without node 0

# Columns of links.
ABOVE = 0
COUNT = 1


@jit
def clear_nodes(edges, children, links):
    """Empty both trees."""
    for k in range(WIDTH):
        children[0, k] = 0
        for row in range(edges.shape[0] // children.shape[0]):
            edges[row, k] = np.nan
    children[0, USED] = 1
    links[0, ABOVE] = -1
    links[0, COUNT] = 2


@inline
def new_node(edges, children, links, rows):
    """A node without children; the caller has seen to it that there is room."""
    node = np.int64(children[0, FREE])
    if node > 0:
        children[0, FREE] = links[node, ABOVE]
    else:
        node = np.int64(children[0, USED])
        children[0, USED] = node + 1
    children[0, NODES] += 1
    links[node, COUNT] = 0
    for row in range(node * rows, node * rows + rows):
        for k in range(WIDTH):
            edges[row, k] = np.nan
    return node


@inline
def free_node(children, links, node):
    """Give a node back."""
    links[node, ABOVE] = children[0, FREE]
    children[0, FREE] = node
    children[0, NODES] -= 1


@inline
def room_left(children):
    """How many nodes can be made before the arrays must grow."""
    return children.shape[0] - 1 - children[0, NODES]


@inline
def child_of(children, node, slot):
    """The child of a slot.

    All numbers are 64 bits wide in the kernels: of a helper that is given both widths, Numba makes two.
    """
    return np.int64(children[node, slot])


@inline
def count_of(links, node):
    """How many slots of a node are in use."""
    return np.int64(links[node, COUNT])


@inline
def place_above(links, node):
    """The node above and the slot there."""
    place = np.int64(links[node, ABOVE])
    return place // WIDTH, place % WIDTH


@inline
def hang(children, links, where, node, slot, child, level):
    """Make ``child`` the child of a slot; on level 0 it is a box."""
    children[node, slot] = child
    if level == 0:
        where[child] = node * WIDTH + slot
    else:
        links[child, ABOVE] = node * WIDTH + slot


@inline
def empty_slot(edges, node, slot, rows):
    """Mark a slot as unused."""
    for row in range(node * rows, node * rows + rows):
        edges[row, slot] = np.nan


@inline
def fit_above(edges, links, node, rows):
    """Make the slot above a node the smallest box around its children; whether it changed."""
    above, slot = place_above(links, node)
    count = count_of(links, node)
    changed = False
    for row in range(rows):
        bound = edges[node * rows + row, 0]
        if 2 * row < rows:
            for k in range(1, count):
                bound = min(bound, edges[node * rows + row, k])
        else:
            for k in range(1, count):
                bound = max(bound, edges[node * rows + row, k])
        if edges[above * rows + row, slot] != bound:
            edges[above * rows + row, slot] = bound
            changed = True
    return changed


@inline
def fit_upwards(edges, links, node, rows):
    """The same for all nodes above, as far as anything changes."""
    while node > 0 and fit_above(edges, links, node, rows):
        node, _ = place_above(links, node)


@inline
def finite(value):
    """An edge as a number with which costs can be reckoned: infinity is far away, and sums stay finite."""
    return min(max(float(value), -1e300), 1e300)


@inline
def stack_room(children):
    """Entries that a depth-first search has waiting at most."""
    return 2 + WIDTH + (WIDTH - 1) * np.int64(max(children[0, HEIGHT], children[0, HEIGHT + 1]))


@inline
def stack_by_key(nodes, keys, left, begin, child, level, key):
    """Put a child of a node of ``level`` among those that wait from ``begin`` on; how many wait now.

    The one with the smallest key comes to lie on top; the others in any order.
    """
    nodes[left] = (child << 6) | (level - 1)
    keys[left] = key
    if left > begin and keys[left] > keys[left - 1]:
        nodes[left], nodes[left - 1] = nodes[left - 1], nodes[left]
        keys[left], keys[left - 1] = keys[left - 1], keys[left]
    return left + 1


@inline
def push_roots(children, nodes, keys):
    """Begin a depth-first search: ``node << 6 | level`` for both roots; how many there are."""
    left = np.int64(0)
    for tree in range(2):
        if children[0, tree] > 0:
            nodes[left] = (child_of(children, NODE_0, tree) << 6) | (children[0, HEIGHT + tree] - 1)
            keys[left] = 0.0
            left += 1
    return left


@jit
def drop_tree(edges, children, links, tree, nodes):
    """Give all nodes of a tree back; ``nodes`` is scratch for `stack_room` of them."""
    rows = edges.shape[0] // children.shape[0]
    if children[0, tree] > 0:
        nodes[0] = (child_of(children, NODE_0, tree) << 6) | (children[0, HEIGHT + tree] - 1)
        left = np.int64(1)
        while left > 0:
            left -= 1
            node = nodes[left] >> 6
            level = nodes[left] & 63
            if level > 0:
                for k in range(count_of(links, node)):
                    nodes[left] = (child_of(children, node, k) << 6) | (level - 1)
                    left += 1
            free_node(children, links, node)
    children[0, tree] = 0
    children[0, HEIGHT + tree] = 0
    children[0, HELD + tree] = 0
    children[0, LOOSE + tree] = 0
    empty_slot(edges, NODE_0, tree, rows)
