"""Boxes into the tiles of a world that is cut in two again and again, and found pairs back into rows.

A tile is a leaf of a tree whose nodes each cut one axis: what begins before the cut goes left, what ends at
or behind it goes right, and so a box is copied into every tile that it touches.  Both ends of a box are only
ever compared, never computed with, so the cut is exact for all numbers, infinities included.

`tiles` counts the copies and makes them, `rows` turns the pairs of a tile into rows of the whole input.
"""
