"""Whether and how two shapes touch: boxes, circles, convex polygons, sharp or grown by a radius.

`table` holds shapes of any kind as columns, with their bounding boxes, and rotates them; `contact` compares
two shapes or many; `queries` are rays and distances, exactly; `sprites` is what pygame and arcade mean by a
hit.
"""
