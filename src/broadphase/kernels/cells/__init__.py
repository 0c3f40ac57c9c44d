"""Boxes in the cells that they touch.

::

    ┌────┬────┬────┐
    │ a  │ ab │ b  │    a and b share one cell: their pair is reported there, and in no other
    └────┴────┴────┘

For one call: `one_shot`.  Kept between frames: `dynamic_cells` says which boxes lie in which cell and finds
their pairs, `queries` searches them.
"""
