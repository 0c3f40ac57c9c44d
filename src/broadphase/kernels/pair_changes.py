"""Two sorted pair lists side by side: which pairs are in both?"""

from broadphase.kernels.jit import jit


@jit
def mark_stayed(before, now, renewed, stayed_before, stayed_now):
    """Set the marks of the pairs that are in both lists and whose ids were not given out anew.

    One merge: ``O(before + now)``.
    """
    b = 0
    n = 0
    while b < before.shape[0] and n < now.shape[0]:
        if before[b, 0] < now[n, 0] or (before[b, 0] == now[n, 0] and before[b, 1] < now[n, 1]):
            b += 1
        elif before[b, 0] == now[n, 0] and before[b, 1] == now[n, 1]:
            if not (renewed[now[n, 0]] or renewed[now[n, 1]]):
                stayed_before[b] = True
                stayed_now[n] = True
            b += 1
            n += 1
        else:
            n += 1
