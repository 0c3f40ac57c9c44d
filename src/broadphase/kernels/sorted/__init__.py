"""Boxes in the order of their left edge.

::

    a ├───────┤
    b     ├──────────┤          b begins before a ends: compare
    c              ├───┤        c begins after a ends: a is done

`sort_and_sweep` does that once; `keep_sorted` and `sweep_and_prune` keep the order between frames; `gapped`
leaves gaps in it (a library sort), `gapped_search` and `gapped_walk` ask it.
"""
