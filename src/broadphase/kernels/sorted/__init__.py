"""Boxes in the order of their left edge.

::

    a ├───────┤
    b     ├──────────┤          b begins before a ends: compare
    c              ├───┤        c begins after a ends: a is done

`sorted_array` does that once (its kernel sweep), keeps the order between frames by insertion and answers
queries.  `sweep_and_prune` keeps the ends of all boxes in order on every axis.
"""
