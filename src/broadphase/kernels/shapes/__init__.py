"""Whether and how two shapes touch: boxes, circles, convex polygons, sharp or grown by a radius.

`table` holds shapes of any kind as columns, with their bounding boxes, and rotates them; `contact` compares
two shapes or many; `images` compares them in a periodic world; `queries` are rays and distances, exactly;
`sprites` is what pygame and arcade mean by a hit.
"""
