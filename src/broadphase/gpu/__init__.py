"""Searches of arrays that lie on a graphics card, where they lie: arrays of torch, CuPy, JAX and Warp.

The extra ``gpu`` installs Warp, which compiles the kernels when they are first called: some seconds, then
they are kept.  Arrays in main memory are searched too, by the same kernels on one core: to try them out.

Examples
--------
>>> import warp as wp
>>> from broadphase import gpu
>>> boxes = wp.array([[0, 0, 2, 2], [1, 1, 3, 3], [3, 3, 4, 4]], dtype=wp.float32, device="cpu")
>>> gpu.pairs(boxes).numpy()
array([[0, 1],
       [1, 2]], dtype=int32)
"""

from broadphase.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
