"""A tree of boxes: every node has the box around all below it.

::

    ┌───────────────┐
    │ ┌───┐   ┌───┐ │
    │ │ a │   │b c│ │     a search that misses a node's box misses all below it
    │ └───┘   └───┘ │
    └───────────────┘

For one call: a binary tree, built top down, and its pairs (`bvh`).  Kept between frames: `dynamic_tree`, with
up to 16 children a node; `queries` and `pairs` search it.
"""
