"""The levels of a dynamic index: the cells that a box covers, on levels that are kept between frames.

The same idea as `kernels.cells.binning`, with its function from a coordinate to a cell, its hash and its
limit of copies.  All that is known of the levels is one table of numbers here, a row for each level, because
an index hands it to a kernel thousands of times a frame.

Every ``lattice`` below is that table, ``(levels, WIDTH)`` float64; ``table`` is the number of slots of a hash
table, or 0 for a grid, where each cell has a place of its own.
"""

from broadphase.kernels.cells.binning import FARTHEST, MOST_PLACES, clamped_cell
from broadphase.kernels.cells.spatial_hash import slot
from broadphase.kernels.cells.uniform_grid import cell_number
from broadphase.kernels.machine.jit import inline

# The columns of a lattice; all but the first two hold whole numbers.
ORIGIN = 0  # three: the corner of cell 0
PER_UNIT = 3  # cells per unit of length
FIRST = 4  # three: the lowest cell; what lies below is clamped to it
LAST = 7  # three: the highest cell
OFFSET = 10  # of a grid's first place; what sets the cells of a level apart in a hash table
BOXES = 11  # how many boxes the level holds
LOWEST = 12  # three: no box of the level reaches below this cell
HIGHEST = 15  # three: nor above this one
WIDTH = 18

# A lattice has no more levels than these: of each size of a ladder one, and one for all that is larger.
MOST_LEVELS = 17
# The level of an id that is not in these cells.
ABSENT = 255


@inline
def cell_of(value, lattice, level, axis):
    """Cell of a coordinate on a level; never decreasing, whatever rounding does."""
    return clamped_cell(
        value,
        lattice[level, axis],
        lattice[level, PER_UNIT],
        lattice[level, FIRST + axis],
        lattice[level, LAST + axis],
    )


@inline
def span_of(boxes, i, lattice, level):
    """First and last cell of row ``i`` on the three axes; the third is 0, 0 in 2-D."""
    dim = boxes.shape[1] // 2
    x0 = cell_of(boxes[i, 0], lattice, level, 0)
    x1 = cell_of(boxes[i, dim], lattice, level, 0)
    y0 = cell_of(boxes[i, 1], lattice, level, 1)
    y1 = cell_of(boxes[i, dim + 1], lattice, level, 1)
    if dim == 2:
        return x0, x1, y0, y1, 0, 0
    return x0, x1, y0, y1, cell_of(boxes[i, 2], lattice, level, 2), cell_of(boxes[i, 5], lattice, level, 2)


@inline
def place_of(x, y, z, lattice, level, table):
    """Place of a cell: its slot in the hash table, or its number in the grid."""
    offset = int(lattice[level, OFFSET])
    if table > 0:
        return slot(x + offset, y, z, table)
    return offset + cell_number(x, y, z, int(lattice[level, LAST]) + 1, int(lattice[level, LAST + 1]) + 1)


@inline
def is_few(x0, x1, y0, y1, z0, z1, table):
    """Whether these are few enough cells for a box to be entered into."""
    enough = MOST_PLACES + 1  # the product of three spans can exceed 64 bits
    copies = min(x1 - x0 + 1, enough) * min(y1 - y0 + 1, enough) * min(z1 - z0 + 1, enough)
    if table > 0:
        # What is clamped to the end of an endless level may be many cells of a coarser one.
        lowest, highest = min(x0, y0, z0), max(x1, y1, z1)
        return copies <= MOST_PLACES and -FARTHEST < lowest and highest < FARTHEST
    return copies <= MOST_PLACES


@inline
def settle(boxes, i, lattice, table):
    """The finest level on which row ``i`` lies in few cells, and these; the coarsest takes everything."""
    level = 0
    x0, x1, y0, y1, z0, z1 = span_of(boxes, i, lattice, level)
    while level < lattice.shape[0] - 1 and not is_few(x0, x1, y0, y1, z0, z1, table):
        level += 1
        x0, x1, y0, y1, z0, z1 = span_of(boxes, i, lattice, level)
    return level, x0, x1, y0, y1, z0, z1


@inline
def places_between(x0, x1, y0, y1, z0, z1, lattice, level, table, places):
    """Write the places of some cells, each once even if several share a slot; how many."""
    count = 0
    for z in range(z0, z1 + 1):
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                place = place_of(x, y, z, lattice, level, table)
                fresh = True
                if table > 0:
                    for k in range(count):
                        fresh &= places[k] != place
                places[count] = place
                count += fresh
    return count


@inline
def places_of(boxes, i, lattice, level, table, places):
    """Write the places of row ``i`` on its level; how many."""
    x0, x1, y0, y1, z0, z1 = span_of(boxes, i, lattice, level)
    return places_between(x0, x1, y0, y1, z0, z1, lattice, level, table, places)


@inline
def widen_reach(x0, x1, y0, y1, z0, z1, lattice, level):
    """Let the level's lowest and highest cells take in those of a box."""
    lattice[level, LOWEST] = min(lattice[level, LOWEST], x0)
    lattice[level, LOWEST + 1] = min(lattice[level, LOWEST + 1], y0)
    lattice[level, LOWEST + 2] = min(lattice[level, LOWEST + 2], z0)
    lattice[level, HIGHEST] = max(lattice[level, HIGHEST], x1)
    lattice[level, HIGHEST + 1] = max(lattice[level, HIGHEST + 1], y1)
    lattice[level, HIGHEST + 2] = max(lattice[level, HIGHEST + 2], z1)
