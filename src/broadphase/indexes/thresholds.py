"""From where on another way is faster: the numbers that indexes choose by, with the commands that show it.

``python benchmarks/frames.py --indexes NAME`` times frames in which some or all boxes move, ``python
benchmarks/queries.py`` queries, ``python benchmarks/who_wins.py`` both over all shares that move, ``python
benchmarks/worlds.py --queries`` environments.  The costs that ``"auto"`` weighs are in `adaptive`.
"""

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
