"""The lab: a tour of what each method does, and a sandbox in which the engine runs a scene frame by frame.

``broadphase lab`` serves it.  The parts, from the bottom up: `scenes` (what moves), `tracing` (which boxes
were compared, reconstructed afterwards so that the engine does no extra work), `lanes` (one index at work),
`messages` (what the page sends), `frames` (what it receives), `session` (one tab of the sandbox), `server`,
and ``page`` (HTML, CSS and JavaScript).  The tour is in ``page`` alone: `tour` only copies it for a site.
"""

from broadphase.errors import refuse_in_browser

refuse_in_browser("broadphase.lab", "sockets; the tour of it runs there")
