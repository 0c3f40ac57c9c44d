"""What kernels do with plain arrays of numbers: count, sort, write results.

`pieces` cuts long arrays; `counting`, `radix_sort` and `merge_sort` sort; `ordered_bits` makes floats
integers of the same order; `emit` and `found_ids` write pairs and ids, and say how a search stops and goes
on; `sort_ids` and `id_tests` look after ids; `watch` waits for a number that another thread changes.
"""
