"""Points: what is within a distance of each other, and the nearest.

`neighborhoods` is what users call, `neighbor_lists` what they get, `index` the index that they keep.  `few`
searches less than a thousand points, `fixed_radius` uses cells, `nearest` a tree along a curve, `lattice` in
periods that are not at right angles.  `broadphase.kernels.points` is compiled; `broadphase.inputs.points`
checks what comes in.
"""
