"""From where on another way is faster: the numbers that are chosen by, with the commands that show them.

What the default index weighs is in `broadphase.indexes.adaptive`; what pays for a thread in `threads`.
"""

# ---- Methods.  ``python benchmarks/methods.py --n N`` times each for N boxes, ``python
# benchmarks/tricks.py`` the ways within strips beside each other, ``python benchmarks/worlds.py``
# environments, and ``python benchmarks/queries.py`` the nearest of many.

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

# ---- Indexes.  ``python benchmarks/frames.py --indexes NAME`` times frames in which some or all boxes move,
# ``python benchmarks/queries.py`` queries, ``python benchmarks/who_wins.py`` both over all shares that move,
# ``python benchmarks/worlds.py --queries`` environments.

# A tree is built again if more than a quarter of its boxes are added or leave their slots at once, and cells
# or columns by id are written again if more than this few change at once.
PART_REBUILT, FEW_CHANGED = 4, 64
# With so many times as many static boxes, there is one query for each moving box: 10,000 among 1,000,000 take
# a quarter of the time, among 100,000 half (`--parts static` of frames.py).
SPARSE = 4
# A tree for queries follows a change of one box in so many, and so many larger ones that nothing read
# in between.
FOLLOWED, UNREAD = 16, 8
# So many points are searched in the order of a curve: 100,000 among 300,000 boxes take half of the time.
ORDERED_POINTS = 20_000
# For `changes`, a tree and sorted boxes find all pairs among fewer boxes; else the touched boxes are queries,
# so many at a time (5,000 take 1.3 times as long).
FEWEST_BOXES, QUERIES_AT_ONCE = 1000, 500
# Bounding boxes along a curve that moves have widened so many times are worth another sort.
LOOSE_CURVE = 1.5
# Rays of a group are compared together; smaller groups leave too many lanes empty.
LEAST_GROUP = 8
# For `join`, a box query takes as long as finding the pairs of about this many boxes.
PAIRS_OF_A_QUERY = 10
# A world is cut into strips again if copies share theirs with so many times more others than at first.
CROWDED = 1.5
# Ends of boxes are sorted anew if more than this share of the boxes moved, or if more ends are passed than so
# many for each box, and than so many in all (`--parts swaps` of frames.py).
MOST_TOUCHED, MOST_PASSED, ALWAYS_PASSED = 1 / 3, 4, 1 << 14
# New boxes or points, at most so many because a scan holds the GIL, are scanned until so many, and so many
# for each of them, were compared: that takes as long as a tree (`--parts fresh` of neighbors.py).
MOST_SCANNED, SCANNED_AT_LEAST, SCANS = 1 << 20, 50_000, 100

# ---- Points.  ``python benchmarks/neighbors.py --points N --parts near nearest fresh cells`` times the ways
# beside each other.

# For the nearest, each point is compared with each: so many comparisons, and so many points times the square
# of how many are wanted.  Points of one set in a plain world are sorted along an axis first.
TESTS_FOR_NEAREST, RANKS_FOR_NEAREST = 1 << 15, 8_000
# Of each point with the images of each: so many looks.
LOOKS_AT_IMAGES = 1 << 19
# Points are sorted into a grid of at most so many cells for each; if a point shares its cell with this many
# more than expected, cells are in a hash table.
CELLS_EACH, CROWDED_CELL = 1.0, 12.0
# So many points are searched in kept cells in one call, with the GIL: 16 take 0.3 of the time, 128 half.
POINTS_AT_ONCE = 128
# In a kept tree so many points and results: 1 point takes 0.1 of the time, 32 points half.
NEAREST_AT_ONCE = 192
# If a radius is this many times that of half of the points, boxes are searched, in 0.1 to 0.7 of the time; if
# radii are alike, and many points are near or the world is periodic, boxes take up to nine times as long.
LARGE_RADIUS = 4.0
# New points are compared with several queries in so many comparisons; more wait for a tree.
SCANNED_TESTS = 1 << 18
