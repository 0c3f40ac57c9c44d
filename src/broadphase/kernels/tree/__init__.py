"""A bounding volume hierarchy: every node has the bounding box of everything below it.

::

    ┌───────────────┐
    │ ┌───┐   ┌───┐ │
    │ │ a │   │b c│ │     a search that misses a node's box misses all below it
    │ └───┘   └───┘ │
    └───────────────┘

`bvh` is built once, top down, as a binary tree; it also finds the pairs.  A `dynamic_tree` has up to 16
children for each node and follows boxes that are inserted, removed and moved.  `queries` answers box, ray and
nearest queries, single and in batches; `shapes` those of a world, whose bodies are shapes in several trees.
"""
