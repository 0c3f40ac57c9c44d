"""A tree of boxes: every node has the box around all below it.

::

    ┌───────────────┐
    │ ┌───┐   ┌───┐ │
    │ │ a │   │b c│ │     a search that misses a node's box misses all below it
    │ └───┘   └───┘ │
    └───────────────┘

Once through: a binary tree from the top down (`build`), then its `pairs`.  A living tree has up to 16
children a node: `nodes` says how it lies in memory, `pack` makes one of a binary tree, `insert`, `remove`
and `move` change it, `query`, `query_one`, `nearest`, `ray` and `leaf_pairs` search it, `ask` answers one
question at a time.
"""
