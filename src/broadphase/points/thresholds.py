"""From where on another way is faster: the numbers that searches of points choose by.

``python benchmarks/neighbors.py --points N --parts near nearest fresh cells`` times them beside each other.
"""

from broadphase.kernels.points.any_few import MOST_SORTED

# For the nearest, each point is compared with each: so many comparisons, and so many points times the square
# of how many are wanted.  Points of one set in a plain world are sorted along an axis first.
TESTS_FOR_NEAREST, RANKS_FOR_NEAREST, TESTS_OF_SORTED = 1 << 15, 8_000, MOST_SORTED**2
# Of each point with the images of each: so many looks.
LOOKS_AT_IMAGES = 1 << 19
# Points are sorted into a grid of at most so many cells for each; if a point shares its cell with this many
# more than expected, cells are in a hash table.
CELLS_EACH, CROWDED = 1.0, 12.0
# So many points are searched in kept cells in one call, with the GIL.
POINTS_AT_ONCE = 16
# If a radius is this many times that of half of the points, and points are so many, boxes are searched.
LARGE_RADIUS, LEAST_IN_BOXES = 4.0, 500
# New points are compared with so many queries; more wait for a tree.
SCANNED_RESULTS, SCANNED_TESTS = 64, 1 << 18
