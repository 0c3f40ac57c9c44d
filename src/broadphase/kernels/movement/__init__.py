"""How far a body may move: swept tests, so that nothing is jumped over.

`sweep` (boxes) and `sweep_shapes` find the time of impact and the first hit of all; `motion` goes the whole
way with slides and bounces: one body of a world in one call, or many boxes in turn.  `depenetration` frees
what starts inside something.  `walk` lets characters walk, leg by leg, among the obstacles of
`walk_obstacles`. `on_the_way` says when two boxes meet that both move.  `balls` simulates elastic balls: a
step of time and their bounces.
"""
