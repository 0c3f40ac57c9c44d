"""The fast method: rows of the world, each sorted along x and swept 16 boxes at a time.

::

    ──────────────────────
     ▭ a   ▭▭ b            strip 0
    ───────║──────────────
           ║ b    ▭ c      strip 1: b again, marked as started above
    ──────────────────────

Read `plan` (where to cut), `bin` (copies into strips), `sort` and `crowded` (each strip along x), `sweep`
(the pairs).  `at_once` does all of it to a small world in one call, whose copies `end_to_end` puts in order.
`near_few` leaves out what can meet none of a few.
"""
