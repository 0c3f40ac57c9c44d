"""What was done to an index or a world, frame by frame, in one file; and looking at it again.

`recorder` writes, `reader` reads.  Below them: `rows` (what there is at the end of a frame), `steps` (numbers
that move, as small differences to what they are likely to be), `container` (frames of sections in a file).
"""
