"""What kernels do with plain arrays of numbers: sort, count, write results.

`sorting` converts floats to integers of the same order and has counting sort and radix sort; `samples` says
which rows are a sample; `results` writes pairs and ids, and defines how a search stops and continues;
`growing` has results that grow inside a kernel; `spin_wait` lets threads signal each other by numbers that
they watch.
"""
