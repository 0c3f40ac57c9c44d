"""What kernels may ask of the processor, and how their machine code is found and called.

`jit` makes a kernel of a function, as `mode` says for this process.  `library` finds its machine code by the
types of the call (`signatures`), the processor (`level`) and the text that it is made of (`sources`), in the
package or in the user's `cache`; `python_api` is what that code needs of the interpreter.  `simd` has vectors
of 8 or 16 lanes, `prefetch` asks for memory that will be read soon, `floats` knows the neighbours of a float;
`intrinsics` says what these are in compiled code.
"""
