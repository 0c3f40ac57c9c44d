"""How far a body may move: continuous collision detection (swept tests), so that nothing is jumped over.

`sweep` (boxes) and `sweep_shapes` find the time of impact and the first hit of all; `motion` moves to the
goal with slides and bounces: one body of a world in one call, or many boxes one after the other.
`crossing` finds what a path crosses without being stopped.  `depenetration` pushes out what starts inside
something.  `separation` pushes the bodies of a crowd apart.  `walk` moves characters among the obstacles of
`walk_obstacles`.  `time_of_impact` computes when two moving boxes meet.  `balls` simulates elastic balls: a
time step and bounces.
"""
