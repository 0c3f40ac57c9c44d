"""Tell the processor what will be read soon.

A box somewhere in a large array takes 100 ns to arrive, and a loop that needs it at once waits that long
in each turn.  Asked for some turns ahead, ten of them travel at the same time.
"""

from broadphase.kernels.machine.simd import twin

# So many turns of a short loop take as long as memory.
AHEAD = 16


@twin
def prefetch(array, row, column):
    """Ask for ``array[row, column]``, or with ``column = 0`` for ``array[row]``; any row may be asked for."""
