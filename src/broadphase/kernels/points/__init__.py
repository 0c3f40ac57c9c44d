"""Boxes that are small, or points, sorted for the time of one call.

For boxes (`broadphase.methods.nearest`): even cells by their middles.  A box stands once, in the cell of its
middle; what a search must look at are the cells around it, as far as half a box reaches.  The cell of a
coordinate is a rounded function that never falls, and the same for boxes and for both ends of a search:
whatever lies between two coordinates lies in the cells between theirs.  `sort` puts boxes and questions into
the order of the cells, `nearest` searches.

For points that are near each other (`broadphase.methods.near`): `lattice` sorts them into cells no narrower
than the distance, `near` compares the cells around each, `rows` puts what was found in order.  `apart` says
how far two points are from each other, with a period or without, and `offsets` in which direction.

For the nearest points (`broadphase.methods.nearest_points`): `curve` sorts them along a curve and puts boxes
around those that follow each other, `nearest_points` walks down the boxes.

`lane_math` has the arithmetic on vectors that all of it needs.
"""
