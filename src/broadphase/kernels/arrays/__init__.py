"""What kernels do with plain arrays of numbers: count, sort, write results.

`sorting` makes floats integers of the same order, and has counting sort, radix sort and merge sort; `results`
writes pairs and ids, and says how a search stops and goes on; `spin_wait` waits for a number that another
thread changes.
"""
