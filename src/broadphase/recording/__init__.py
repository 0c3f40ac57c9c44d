"""Recordings: all changes to an index or a world, frame by frame, in one file.

`recorder` writes the file and `reader` reads it; `frames` has its format.  `following` replays a recording
with an index of any kind, to compare their costs.
"""
