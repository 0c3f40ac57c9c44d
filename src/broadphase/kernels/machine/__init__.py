"""What kernels may ask of the processor, and how their machine code is found and called.

`jit` makes a kernel of a function, as `mode` says for this process.  `kernel` is what it is in a running
program: a builtin out of a `library` for this `level` of processor, made of just the `sources` at hand;
what it was not compiled for (`signatures`) is compiled `on_demand`, where there is a `linker`, into the
user's `cache`, or left alone by a `trial`.  `python_api` is what machine code needs of the interpreter.
`simd` has vectors of 8 or 16 lanes, `columns` says how long rows are, `prefetch` asks for memory that will
be read soon, `scratch` has numbers on the stack, `floats` knows the neighbours of a float, `waiting` lets
threads see each other; `intrinsics`, `rows` and `stack` say what these are when compiled.
"""
