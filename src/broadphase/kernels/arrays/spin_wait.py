"""Spinning threads: they signal each other by atomic words, without system calls and without the GIL.

Waking a sleeping thread takes 50 microseconds on a virtual machine; a thread that spins sees a word change
after a tenth of a microsecond.
"""

from broadphase.kernels.machine.jit import jit
from broadphase.kernels.machine.simd import twin


@twin
def look(words, position):
    """Load ``words[position]`` with acquire ordering: everything written before it changed is visible."""
    return words[position]


@twin
def ring(words, position):
    """Atomically add 1 to ``words[position]``, visible to other threads."""
    words[position] += 1


@twin
def give_way():
    """Yield this core to other threads; returns immediately if none is waiting.

    Without this, a spinning thread would occupy the core that the thread it waits for needs, if there are
    more threads than cores: next to two busy programs, most searches took a fifth longer than with blocking
    at once.
    """


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
