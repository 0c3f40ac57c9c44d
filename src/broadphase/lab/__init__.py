"""The lab: one page on which the real engine runs a scene and shows, frame by frame, what each method does.

``broadphase lab`` serves it.  The parts, from the bottom up: `scenes` (what moves), `lanes` (one index at
work), `tracing` (which boxes it compared, and in which cells: retold, so that the engine pays nothing),
`messages` and `frames` (what goes over the wire), `session` (one browser tab), `server`, and ``page``.
"""
