"""What kernels may ask of the processor, and how their machine code is found and called.

`jit` makes a kernel of a function, as `mode` decides for this process.  `kernel` is what it is in a running
program: a builtin out of a `library` for this `level` of processor, compiled from exactly the `sources` at
hand.  Argument types that are not in `signatures` are compiled `on_demand` into the user's `cache`.
`target` lists the platforms that kernels are compiled for.  `python_api` is what machine code needs of the
interpreter.

`simd` has vectors of 8 or 16 lanes, `memory` is the stack, rows of a known length and prefetching, `floats`
has the neighbours of a float, `waiting` lets threads signal each other; `intrinsics` has their compiled
forms.
"""
