"""Boxes in the cells that they touch.

::

    ┌────┬────┬────┐
    │ a  │ ab │ b  │    a and b share one cell: their pair is reported there, and in no other
    └────┴────┴────┘

`one_shot` is for one call.  `dynamic_cells` keeps cells between frames: which boxes are in which cell, and
their pairs; `queries` searches them.
"""
