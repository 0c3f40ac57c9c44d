"""Points: what is within a distance of each other, and the nearest.

`neighborhoods` is what users call, `neighbor_lists` what they get, `index` the index that they keep, and
`verlet` the list.  `few` searches less than a thousand points, `fixed_radius` uses cells, `nearest` a tree
along a curve, `lattice` is for periods that are not at right angles.  `broadphase.kernels.points` is
compiled; `broadphase.inputs.points` checks what comes in.
"""
