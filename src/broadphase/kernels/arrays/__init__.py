"""What kernels do with plain arrays of numbers: sort, count, write results.

`sorting` converts floats to integers of the same order and has counting sort and radix sort; `samples` says
which rows are a sample; `results` writes pairs and ids, and says what a search for pairs takes and returns;
`growing` has results that grow inside a kernel, `passes` passes over long arrays that answer signals;
`spin_wait` lets threads signal each other by numbers that they watch; `sequences` reads lists of tuples,
vectors and rectangles as rows.
"""
