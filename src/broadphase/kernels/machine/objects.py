"""Python objects in kernels.

A parameter of the kind ``o`` in ``signatures.txt`` is any object.  Only kernels that hold the GIL
(`broadphase.kernels.machine.jit.holds_gil`) may have one.  `item` and `attribute` return an object that the
kernel must `drop`, or nothing (`is_there`).  An exception of the object's own code, such as a property that
raises `ValueError`, reaches the caller of the kernel, which must return at once when something is missing.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline
from broadphase.kernels.machine.simd import twin

_NOTHING = object()


@twin
def length_of(sequence):
    """The length of a sequence; -1 if it has none, which is an exception for the caller of the kernel."""
    return len(sequence)


@twin
def item(sequence, k):
    """An item of a sequence; nothing if it is no sequence or too short."""
    try:
        return sequence[k]
    except (IndexError, TypeError):
        return _NOTHING


@twin
def attribute(thing, name):
    """An attribute; nothing if the object has none of this name."""
    try:
        return getattr(thing, name)
    except AttributeError:
        return _NOTHING


@twin
def is_there(thing):
    """Whether `item` or `attribute` found something."""
    return thing is not _NOTHING


@twin
def is_same(thing, other):
    """Whether both are the same object."""
    return thing is other


@twin
def is_alike(thing, other):
    """Whether both are of one type."""
    return type(thing) is type(other)


@twin
def drop(thing):
    """Release an object."""


@twin
def append(things, thing):
    """Append an object to a list."""
    things.append(thing)


@twin
def number_of(thing):
    """The value of a float or an int; NaN for any other object, and for an int that no float can hold."""
    if type(thing) not in (float, np.float64, int):
        return np.nan
    try:
        return float(thing)
    except OverflowError:
        return np.nan


@twin
def number_at(sequence, k):
    """The same of an item of a sequence; NaN where there is none."""
    return number_of(item(sequence, k))


@inline
def read_numbers(sequence, numbers):
    """Write the numbers of a sequence; whether they are finite and as many as there is room for."""
    for k in range(numbers.shape[0]):
        numbers[k] = number_at(sequence, k)
        if not abs(numbers[k]) < np.inf:
            return False
    return length_of(sequence) == numbers.shape[0]


@inline
def append_items(things, sequence, rows, count):
    """Append the items of a sequence in the first rows to a list."""
    for k in range(count):
        thing = item(sequence, np.int64(rows[k]))
        append(things, thing)
        drop(thing)
