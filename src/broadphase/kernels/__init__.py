"""Compiled code only: arrays in, arrays out.  One package for each structure, in layers.

::

    cells | sorted | strips | tree | points | partition
    pairs | movement
    boxes | tiles
    arrays | shapes
    machine

Every kernel takes contiguous arrays that were checked above (`broadphase.inputs.boxes`) and scalars, never
raises, and runs to its end in one call; its results grow where that is needed
(`broadphase.kernels.arrays.results`), and what runs for microseconds keeps the GIL
(`broadphase.kernels.machine.jit.holds_gil`).  What searches take and return is told in
`broadphase.kernels.arrays.results`.  With Numba's JIT switched off the same functions run as plain Python and
give the same answers, slowly.
"""
