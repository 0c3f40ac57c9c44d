"""Whether and how two shapes touch: boxes, circles, convex polygons, sharp or grown by a radius.

`table` holds shapes of any kind as columns, `bounds` is their box, `contact` compares two
(`contact_rounded` where corners are rounded) and `contact_rows` many, `turn` turns them, `ask` asks shapes
of any kind exactly, `near` does so for a handful, `rays` for many.  `rects` reads those of pygame,
`sprite_hits` is what pygame and arcade mean by a hit, `sprite_ways` what their sprites meet on a way.
"""
