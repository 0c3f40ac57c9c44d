"""Boxes in the cells that they touch.

::

    ┌────┬────┬────┐
    │ a  │ ab │ b  │    a and b share one cell: their pair is reported there, and in no other
    └────┴────┴────┘

Once through: `binning`, then `search` with the keys of a `uniform_grid` or a `spatial_hash`.  Living cells:
`lattice` says where they are, `lists` keeps who is in them, `pairs`, `query`, `rays` and `nearest` search
them, `ask` answers one question at a time, `check` proves that they are sound.
"""
