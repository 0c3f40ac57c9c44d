"""Boxes in the order of their left edge.

::

    a ├───────┤
    b     ├──────────┤          b begins before a ends: compare
    c              ├───┤        c begins after a ends: a is done

`sort_and_sweep` does that once.  `insertion` keeps the order between frames, `search` and `walk` ask it.
`sweep_and_prune` keeps the ends of all boxes in order on every axis.
"""
