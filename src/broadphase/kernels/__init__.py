"""Compiled code only: arrays in, arrays out.  One package for each structure, in layers.

::

    cells | sorted | strips | tree | points | partition
    pairs | movement
    boxes | tiles
    arrays | shapes
    machine

Every kernel takes contiguous arrays that were checked above (`broadphase.inputs.boxes`) and scalars, never
raises, releases the GIL, and returns counts.  A search that may take long, or fill its output, stops and
continues when it is called again: the rules are in `broadphase.kernels.arrays.results`.  With Numba's JIT
switched off the same functions run as plain Python and give the same answers, slowly.
"""
