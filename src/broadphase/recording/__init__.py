"""Recordings: all changes to an index or a world, frame by frame, in one file.

`recorder` writes the file and `reader` reads it; `frames` has its format, and `work` says how much work a
frame is.  `broadphase.doctor.Follower` replays a recording with an index of any kind.
"""
