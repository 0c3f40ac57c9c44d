"""Boxes one by one or all with all: the tests that every structure ends in.

`overlap` says it for two boxes and `overlap_lanes` for one against 16; `edges` makes touching or not a
matter of the edges; `filters` says which pairs may count at all.  `brute_force` and `scan` look at every
box and are what all else is measured against.  `query_tests` and `ranking` are the questions: box, point,
ray, nearest; `given` reads them as they were written, `packets` answers many that lie side by side.
`survey` looks once over all boxes, `put` moves one.  `torus` carries boxes into a world without edges,
`torus_queries` asks there.
"""
