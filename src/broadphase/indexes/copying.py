"""Copies of indexes, whose arrays may be long: in pieces, so that a copy can be interrupted."""

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.slices import ranges


def copied(thing: Any, memo: dict[int, Any]) -> Any:
    """As `copy.deepcopy`, but arrays are copied so many numbers at a time.

    Examples
    --------
    >>> one = np.arange(3)
    >>> copied([one, (one, "a")], {})
    [array([0, 1, 2]), (array([0, 1, 2]), 'a')]
    """
    if id(thing) in memo:
        return memo[id(thing)]
    if type(thing) is np.ndarray and thing.dtype != object:
        new: Any = _copied_array(thing)
    elif type(thing) in (list, tuple):
        new = type(thing)([copied(part, memo) for part in thing])
    elif type(thing) is dict:
        new = {key: copied(part, memo) for key, part in thing.items()}
    elif type(thing).__module__.startswith("broadphase.") and not isinstance(thing, type):
        new = copy_of(thing, memo)
    else:
        return copy.deepcopy(thing, memo)
    memo[id(thing)] = new
    memo.setdefault(id(memo), []).append(thing)  # its id must stay its own until all is copied
    return new


def copy_of(thing: Any, memo: dict[int, Any]) -> Any:
    """A copy of an object of whatever class, by what pickle asks it for."""
    asked: tuple[Any, ...] = thing.__reduce_ex__(4)
    make, arguments = asked[:2]
    state = asked[2] if len(asked) > 2 else None
    new = make(*copied(arguments, memo))
    memo[id(thing)] = new
    if state is not None:
        state = copied(state, memo)
        if hasattr(new, "__setstate__"):
            new.__setstate__(state)
        else:
            new.__dict__.update(state)
    return new


def _copied_array(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if not array.flags.c_contiguous:
        return array.copy("K")
    new = np.empty(array.shape, array.dtype)
    numbers, out = array.reshape(-1), new.reshape(-1)
    for begin, end in ranges(0, array.size):
        out[begin:end] = numbers[begin:end]
    return new
