"""A map of solid tiles: `grid` is what kernels know of it, `ground` has its slopes and ladders.

`list` finds the tiles in a box, `walk` those on a ray's way, `rays` the first on each of many.  `steps` says
where a body may step, `flood` how far it is to a goal from everywhere, `follow` where that leads.
"""
