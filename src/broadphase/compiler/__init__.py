"""Kernels into machine code, with Numba, LLVM and a linker; no running program imports this package.

Read in this order: `types` (what the lines of ``signatures.txt`` mean to Numba), `numba_names` (the few names
of Numba that are replaced; `numba_checks` makes sure that they exist), `lowering` (typed Python into LLVM's
text) with `aggregates` (structs and tuples), `builtins` (how Python calls a kernel, through the functions of
`python_api`), `memory` (what a kernel returns), `system` (what it needs of the C library), `target_machine`
(the processor), `machine_code` (object files and libraries), `build` (all of it, with a cache, in as many
processes as there are cores), `worker` (one such process), `__main__` (the command).

Nothing here depends on the machine that it runs on: `broadphase.kernels.machine.target` lists the platforms.
"""
