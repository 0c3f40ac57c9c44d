"""Boxes that are small, or points, sorted into even cells for the time of one call, by their middles.

A box stands once, in the cell of its middle; what a search must look at are the cells around it, as far as
half a box reaches.  The cell of a coordinate is a rounded function that never falls, and the same for boxes
and for both ends of a search: whatever lies between two coordinates lies in the cells between theirs.

`sort` puts boxes and questions into the order of the cells, `nearest` searches.
"""
