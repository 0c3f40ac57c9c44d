"""Recordings: all changes to an index or a world, frame by frame, in one file.

`recorder` writes the file, `reader` reads it and says how much work a frame is; `frames` has its format.
`broadphase.doctor.Follower` replays a recording with an index of any kind.
"""
