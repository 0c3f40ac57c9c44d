"""The lab: a tour of what each method does, and a sandbox in which the engine runs a scene frame by frame.

``broadphase lab`` serves it.  The parts, from the bottom up: `scenes` (what moves), `lanes` (one index at
work), `tracing` (which boxes it compared, and in which cells: retold, so that the engine pays nothing),
`messages` and `frames` (what goes over the wire), `session` (one tab of the sandbox), `tour` (every state of
its eight steps, live or recorded), `server`, and ``page``.
"""
