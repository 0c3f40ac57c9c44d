"""Kernels into machine code, with Numba, LLVM and a linker; none of them runs in a user's program.

Read `types` (what the lines of ``signatures.txt`` mean to Numba), `frontend` (Python into LLVM's language),
`wrapper` (how Python calls it, in the words of `api`), `memory` (what a kernel makes), `emit` (LLVM's
language into an object file for one level of processor), `link` (object files into a library with a table
of its kernels), `build` (all of it, in as many processes as there are cores, with a cache), `worker` (one
such process), `__main__` (the command).  What builtins have in common is `shared`.

What of Numba's own work is left out, or done once: `passes` (over a function), `untyped` (before its types
are known), `inference` (the types of its variables), `calls` (for which types a function is compiled),
`lowering` (its instructions), `ranges` (its loops), `indexes` (its elements of arrays), `aggregates` (its
structs and tuples), `texts` (what all of it becomes before LLVM reads it), `reports` (what Numba tells of
all that).  `record` writes ``signatures.txt`` while the tests run.
"""
