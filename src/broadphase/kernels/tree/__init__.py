"""A tree of boxes: 16 children a node, each with the box around all below it.

::

    ┌───────────────┐
    │ ┌───┐   ┌───┐ │
    │ │ a │   │b c│ │     a search that misses a node's box misses all below it
    │ └───┘   └───┘ │
    └───────────────┘

Once through: `build`, then `pairs`.  A living tree: `nodes` and `pack` say how it lies in memory,
`insert`, `remove` and `move` change it, `query`, `nearest`, `ray` and `leaf_pairs` ask it.
"""
