"""The fast way: rows of the world, each sorted along x and swept 16 boxes at a time.

::

    ──────────────────────
     ▭ a   ▭▭ b            strip 0
    ───────║──────────────
           ║ b    ▭ c      strip 1: b again, marked as started above
    ──────────────────────

Read `bin` (where to cut, and the copies into strips) and `sweep` (each strip is sorted along x and swept).
`small_worlds` does all of it to a small world in one call.  `near_few` leaves out what can meet none of a
few.
"""
