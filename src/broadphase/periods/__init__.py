"""What a period means: where things are wrapped to, and which images of them lie across its edges (the seam).

There is one algorithm.  What lies in the world is kept once, at its place ``0 <= x < period``; a question is
asked once for each image of it that may meet something, moved by whole periods (`images`, `rays`).  A plain
world has no period, and one image.  SciPy's kd-tree and freud's boxes treat periods in the same way: as a
policy inside one algorithm.  Only for all pairs at once boxes have images, their `ghosts`.  `lattice` is for
points in worlds whose axes are not at right angles; `limits` says how long periods may be.
"""
