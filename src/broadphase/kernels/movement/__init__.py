"""How far a body may move: swept tests, so that nothing is jumped over.

`bodies` has the columns of a world's bodies, and lists of who has moved.  `sweep` (boxes) and `sweep_shapes`
find the time of impact, `first_hit` the first of all, `travel`, `travel_shapes` and `travel_in_turn` go the
whole way with slides and bounces, `go` does all of it for one box in one call, `push_out` frees what starts
inside, `cross` finds what was passed through.  `on_the_way` says when two boxes meet that both move.  `walk`
lets characters walk among what `walk_scene` puts together, leg by leg (`walk_steps`, `walk_trip`), by what
`walk_planes` asks of a walker and one obstacle.  `balls` is a world of its own: elastic balls, a step of time
and their bounces.
"""
