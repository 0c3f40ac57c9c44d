"""How far a body may move: continuous collision detection (swept tests), so that nothing is jumped over.

`sweep` (boxes) and `sweep_shapes` find the time of impact and the first hit of all; `path` goes from hit to
hit to the goal, with slides and bounces; `motion` moves one body of a world along its path, or many.
`crossing` finds what a path crosses without being stopped.  `depenetration` pushes out what starts inside
something.  `separation` pushes the bodies of a crowd apart.  `time_of_impact` computes when two moving boxes
meet.  `one_way` says which jump-through bodies let a mover through.  `balls` simulates elastic balls: a time
step and bounces.

`walk` moves characters among `walk_obstacles`, each along its `walk_path`: `walk_ground` probes the ground
and snaps to it, `walk_slope` follows slopes, `walk_step` goes along the floor and up steps, `walk_fall` falls
and climbs.
"""
