"""Results that do not fit into memory, refused before they are computed."""

from broadphase.runtime.memory import available_memory

_ENOUGH_TO_ASK = 1 << 28  # bytes; to ask the system takes 30 us
_BYTES_OF_NEAREST = 24  # an id and a distance, twice: as they are found and as they are returned


def free_for(size: float) -> int | None:
    """The bytes that are free; None if so many are few, or the system does not say."""
    return available_memory() if size > _ENOUGH_TO_ASK else None


def check_room_for_nearest(n: int, k: int, m: int) -> None:
    """Refuse results that do not fit, before memory is asked for: most systems promise more than they have.

    Raises
    ------
    MemoryError
        ``k`` nearest for each of ``n`` points are more than is free; ``m`` are there.
    """
    size = n * k * _BYTES_OF_NEAREST
    free = free_for(size)
    if free is not None and size > free:
        raise MemoryError(
            f"the {k} nearest of each of {n} points take {size / 1e9:.3g} GB, and {free / 1e9:.3g} GB are "
            f"free; there are {m} to find: give a smaller k"
        )
