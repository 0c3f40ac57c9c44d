"""Whether and how two shapes touch: boxes, circles, convex polygons.

`table` holds shapes of any kind as columns, `bounds` is their box, `contact` compares two and
`contact_rows` many, `ask` answers queries exactly, `sprite_hits` is what pygame and arcade mean by a hit.
"""
