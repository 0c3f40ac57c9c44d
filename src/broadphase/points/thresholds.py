"""From where on another way is faster: the numbers that searches of points choose by.

``python benchmarks/neighbors.py --points N --parts near nearest fresh cells`` times them beside each other.
"""

from broadphase.kernels.points.few_points import MOST_SORTED

# For the nearest, each point is compared with each: so many comparisons, and so many points times the square
# of how many are wanted.  Points of one set in a plain world are sorted along an axis first.
TESTS_FOR_NEAREST, RANKS_FOR_NEAREST, TESTS_OF_SORTED = 1 << 15, 8_000, MOST_SORTED**2
# Of each point with the images of each: so many looks.
LOOKS_AT_IMAGES = 1 << 19
# Points are sorted into a grid of at most so many cells for each; if a point shares its cell with this many
# more than expected, cells are in a hash table.
CELLS_EACH, CROWDED = 1.0, 12.0
# So many points are searched in kept cells in one call, with the GIL: 16 take 0.3 of the time, 128 half.
POINTS_AT_ONCE = 128
# In a kept tree so many points and results: 1 point takes 0.1 of the time, 32 points half.
NEAREST_AT_ONCE = 192
# If a radius is this many times that of half of the points, boxes are searched, in 0.1 to 0.7 of the time; if
# radii are alike, and many points are near or the world is periodic, boxes take up to nine times as long.
LARGE_RADIUS = 4.0
# New points are compared with several queries in so many comparisons; more wait for a tree.
SCANNED_TESTS = 1 << 18
