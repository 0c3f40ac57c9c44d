"""Compiles kernels to machine code with Numba, LLVM and a linker; running programs do not import this.

Read the modules in this order: `numba_names` (the names of Numba that are replaced; `numba_checks` makes sure
that they exist), `lowering` (typed Python to LLVM IR for a level of processors), `builtins` (how Python calls
a kernel, through the functions of `python_api`, which knows where objects have what is read), `memory` (the
memory of returned arrays), `machine_code` (object files and libraries), `build` (the whole build, in one
process per core, and where these files lie), `__main__` (the command).

The output does not depend on the machine that compiles: `broadphase.kernels.machine.target` lists the
platforms.
"""
