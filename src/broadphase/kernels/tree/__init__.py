"""A tree of boxes: every node has the box around all below it.

::

    ┌───────────────┐
    │ ┌───┐   ┌───┐ │
    │ │ a │   │b c│ │     a search that misses a node's box misses all below it
    │ └───┘   └───┘ │
    └───────────────┘

Once through: a binary tree from the top down, and its pairs (`bvh`).  A `dynamic_tree` has up to 16 children
a node and follows boxes that are inserted, removed and moved.  `queries` answers boxes, rays and nearest, one
at a time or many.
"""
