"""The decorators of kernels, the processor features that kernels use, and the loading of machine code.

`jit` turns a function into a kernel; `mode` decides how kernels run in this process, and for which level of
processor they are compiled.  `kernel` handles calls in a running program: a kernel is a builtin from a
`library` for this level, compiled from exactly the current sources.  Argument types that are not in
`signatures` are compiled `on_demand` into the user's cache.  `target` lists the platforms that kernels are
compiled for.  `python_api` lists the functions and objects of the interpreter that machine code uses.

`simd` has vectors of 8 or 16 lanes, `memory` has arrays on the stack, rows of a known length and prefetching,
`floats` has the neighbours of a float, `interrupts` ends kernels that run for long, `objects` reads Python
objects; `intrinsics` has the compiled forms of these functions.
"""
