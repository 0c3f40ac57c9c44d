"""Words through which threads see each other without the system's help, while none of them holds the GIL.

To wake a thread that sleeps takes 50 microseconds on a virtual machine; one that looks again and again sees a
word change after a tenth of one.
"""

from broadphase.kernels.machine.simd import twin


@twin
def look(words, at):
    """``words[at]`` as it is now, with all that was written before it changed."""
    return words[at]


@twin
def ring(words, at):
    """Add 1 to ``words[at]``, for others to see."""
    words[at] += 1


@twin
def claim(words, at):
    """Make ``words[at]`` 1 where it is 0; whether it was, so that of several threads one has it."""
    if words[at] != 0:
        return False
    words[at] = 1
    return True


@twin
def let_go(words, at):
    """Make ``words[at]`` 0 again, when all that was written is there for others."""
    words[at] = 0


@twin
def give_way():
    """Let others run who want this core; returns at once where there are none.

    Without that, whoever watches takes the core from whom it waits for, where there are more threads than
    cores: beside two programs at work most searches took a fifth longer than if all slept at once.
    """
