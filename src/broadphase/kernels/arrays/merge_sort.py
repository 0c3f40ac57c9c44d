"""A stable sort of few numbers in scratch memory that the caller keeps: bottom-up merge sort.

For lists that fit into the nearest cache, where a radix sort's tables would cost more than the sort.
"""

from broadphase.kernels.machine.jit import inline


@inline
def argsort(values, first, last, order, spare):
    """Write into ``order[first:last]`` the indices from ``first`` on that sort ``values[first:last]``.

    ``spare`` is scratch as long as ``order``.
    """
    for i in range(first, last):
        order[i] = i
    width = 1
    while width < last - first:
        merge_neighbours(values, first, last, width, order, spare)
        width *= 2


@inline
def merge_neighbours(values, first, last, width, order, spare):
    """One step of `argsort`: lists of ``width`` that are sorted into lists of twice as many."""
    for begin in range(first, last, 2 * width):
        middle = min(begin + width, last)
        end = min(begin + 2 * width, last)
        left = begin
        right = middle
        for at in range(begin, end):
            take_left = left < middle
            if take_left and right < end:
                take_left = values[order[left]] <= values[order[right]]
            if take_left:
                spare[at] = order[left]
                left += 1
            else:
                spare[at] = order[right]
                right += 1
    for i in range(first, last):
        order[i] = spare[i]
