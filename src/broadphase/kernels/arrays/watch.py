"""Spin until another thread changes a number; a wake-up would cost more than most waits."""

from broadphase.kernels.machine.jit import jit
from broadphase.kernels.machine.waiting import give_way, look, ring


@jit
def watch(words, rung, watched, seen, turns, more):
    """Ring ``words[rung]``, if that is not below 0, and watch ``words[watched]``, for so many turns at most.

    Returns whether that is no longer ``seen``; then ``more`` turns have passed since.
    """
    if rung >= 0:
        ring(words, rung)
    for _ in range(turns):
        if look(words, watched) != seen:
            for _ in range(more):
                give_way()
            return True
        give_way()
    return False
