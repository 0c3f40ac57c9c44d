"""Boxes that are small, or points, sorted for the time of one call.

For boxes (`broadphase.methods.batched_queries`): even cells by their middles.  A box stands once, in the cell
of its middle; what a search must look at are the cells around it, as far as half a box reaches.  The cell of
a coordinate is a rounded function that never falls, and the same for boxes and for both ends of a search:
whatever lies between two coordinates lies in the cells between theirs.  `nearest_boxes` sorts boxes and
queries into the order of the cells and searches.

For points that are near each other (`broadphase.methods.fixed_radius`): `fixed_radius` sorts them into cells
no narrower than the distance, compares the cells around each, and puts what was found in order.  `distance`
says how far two points are from each other, with a period or without, and in which direction.

For the nearest points (`broadphase.methods.nearest_points`): `nearest_points` sorts them along a curve, puts
boxes around those that follow each other, and walks down the boxes.
"""
