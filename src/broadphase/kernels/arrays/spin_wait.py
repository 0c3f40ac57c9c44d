"""Spin until another thread changes a number; blocking costs more than most waits."""

from broadphase.kernels.machine.jit import jit
from broadphase.kernels.machine.waiting import give_way, look, ring


@jit
def watch(words, rung, watched, seen, turns, more):
    """Set ``words[rung]`` if ``rung`` is not negative; watch ``words[watched]`` for at most ``turns`` loops.

    Returns whether that is no longer ``seen``; in that case after ``more`` further loops.
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
