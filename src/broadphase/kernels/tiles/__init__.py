"""A map of solid tiles: `grid` is what kernels are told of it.

`list` finds the tiles in a box, `walk` those on a ray's way.
"""
