"""A map of solid tiles: `grid` says which tiles a box covers and walks rays through them.

`slopes` has what tiles have for walkers, `pathfinding` the paths of bodies that cover whole tiles, and
`field_of_view` the tiles that are visible from one.
"""
