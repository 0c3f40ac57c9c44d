"""From where on another way is faster: the numbers that methods choose by, with the commands that show it.

``python benchmarks/methods.py --n N`` times each method for N boxes, ``python benchmarks/tricks.py`` the ways
within strips beside each other, ``python benchmarks/worlds.py`` environments, and ``python
benchmarks/queries.py`` the nearest of many.
"""

# Brute force, 16 boxes at a time: 250 boxes take 10 us, half of it in Python, while strips take 13.
FEW_BOXES = 250
# Strips of fewer boxes are found in one call of a kernel; more, step by step on several threads
# (`in_one_call` of tricks.py).
ONE_CALL = 40_000
# Of a world of at most so many boxes 32 are sampled, or 64; of more, 128.
TINY_WORLD, SMALL_WORLD = 2_000, 12_000
# Among so many boxes, and so many for each of the few, those that none of the few can meet are left out
# first, unless a larger share than this would be kept (`leaving_out` of tricks.py).
MANY_BOXES, MANY_FOR_EACH, MOST_KEPT = 20_000, 24, 0.5
# Boxes in cells are sorted if each is compared with more others than this on average, or if so many are
# large.
MANY_TESTS, MANY_LARGE = 32, 8
# So many boxes that are in every environment are compared with all boxes; a tree takes twice as long.
FEW_SHARED = 128
# The nearest of boxes are found along a curve for so many results and one more for each box, else in the tree
# of an index (1 to 9 nearest among 1,000 to 200,000 boxes).  Up to so many are sorted by rank.
LEAST_RESULTS, RESULTS_A_BOX, MOST_RANKED = 4_000, 1.0, 128
# Pairs of so many ids are sorted in one piece: their counters fit into the L1 or L2 cache (`ordering`).
FEW_IDS = 1 << 17
