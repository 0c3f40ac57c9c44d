"""What kernels do with plain arrays of numbers: count, sort, write results.

`counting`, `radix_sort` and `merge_sort` sort; `ordered_bits` turns floats into integers of the same order;
`emit` and `found_ids` write pairs and ids into memory that grows; `sort_ids` and `id_tests` look after ids.
"""
