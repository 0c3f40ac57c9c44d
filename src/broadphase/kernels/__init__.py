"""Compiled code only: arrays in, arrays out.  One room for each structure, on five floors.

::

    cells | sorted | strips | tree | points | partition
    pairs | movement
    boxes | tiles
    arrays | shapes
    machine

Every kernel takes contiguous arrays that were checked above (`broadphase.boxes`) and scalars, never
raises, releases the GIL, and returns counts.  A search that may take long, or find more than there is room
for, stops and goes on when it is called again: the rules stand in `broadphase.kernels.arrays.results`.  With
Numba's JIT switched off the same functions run as plain Python and give the same answers, slowly.
"""
