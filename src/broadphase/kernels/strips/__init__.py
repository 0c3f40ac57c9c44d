"""The fast method: the world is divided into strips, each sorted along x and swept 16 boxes at a time.

::

    ──────────────────────
     ▭ a   ▭▭ b            strip 0
    ───────║──────────────
           ║ b    ▭ c      strip 1: b again, marked as started above
    ──────────────────────

Read `bin` (where to divide, and the copies into strips) and `sweep` (each strip is sorted along x and swept).
`small_worlds` does all of it for a small world in one call.  If a few boxes are searched among many,
`near_few` excludes those of the many that are far from all of the few.
"""
