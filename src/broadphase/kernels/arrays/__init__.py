"""What kernels do with plain arrays of numbers: sort, count, write results.

`sorting` converts floats to integers of the same order, has counting sort and radix sort, and says by a
sample which axis to sort on; `results` writes pairs and ids, also into arrays that grow, and says what a
search for pairs takes and returns; `passes` are passes over long arrays that answer signals;
`spin_wait` lets threads signal each other by numbers that they watch; `sequences` reads lists of tuples,
vectors and rectangles as rows.
"""
