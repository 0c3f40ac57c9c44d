"""Boxes in the cells that they touch, for the uniform grid and the spatial hash.

::

    ┌────┬────┬────┐
    │ a  │ ab │ b  │    a and b share one cell: their pair is reported there, and in no other
    └────┴────┴────┘

`bins`: where the cells are, and lists of the boxes in them.  `pairs` compares the boxes that share a cell.
"""
