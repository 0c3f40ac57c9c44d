"""Which slot of a hash table: the cell's coordinates, each times a large prime, mixed by XOR."""

from broadphase.kernels.machine.jit import inline

PRIME_X = 1640531513
PRIME_Y = 2654435789
PRIME_Z = 3367900313

# The primes have 32 bits.  With 31 bits of each coordinate no product leaves a signed 64-bit integer;
# cells that differ only above bit 31 share a slot, as other distant cells do.
LOW_31_BITS = 0x7FFFFFFF


@inline
def slot(x, y, z, table_size):
    """Slot of the cell ``(x, y, z)``; cells far from each other may share it. In 2-D ``z`` is 0."""
    mixed = ((x & LOW_31_BITS) * PRIME_X) ^ ((y & LOW_31_BITS) * PRIME_Y) ^ ((z & LOW_31_BITS) * PRIME_Z)
    return mixed % table_size
