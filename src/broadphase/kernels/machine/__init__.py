"""How kernels become machine code, and what they may ask of the processor.

`jit` compiles, `sources` knows what a kernel is made of, `simd` has vectors of 8 or 16 lanes, `prefetch`
asks for memory that will be read soon.  The only room that speaks to the compiler.
"""
