"""Points, sorted for one call.

For points within a distance of each other (`broadphase.points.fixed_radius`): `fixed_radius` sorts them into
cells no narrower than the distance, compares those in the cells around each point, and sorts what it found.
`counting` counts pairs within distances, by boxes around points along a curve.
`distance` computes distances and offsets of points, with a period or without, and `pair_lists` sums over the
pairs of each point.

For the nearest points, or boxes (`broadphase.methods.nearest`): `nearest_points` sorts them along a Morton
curve, computes bounding boxes of those that follow each other, and traverses these boxes.

Few points are read, checked and compared by `few_points` in one call; about a hundred or more in a world
without a period are sorted along one axis.  `lattice` finds the nearest images of points in worlds
with lattice vectors.

`objects` reads few objects of a program, circles or rectangles, and compares each with each.
"""
