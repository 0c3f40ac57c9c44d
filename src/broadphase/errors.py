"""The one exception that is ours; everything else is a ``ValueError``, ``TypeError`` or ``KeyError``."""


class PairLimitExceeded(MemoryError):  # noqa: N818 - the public name is part of the contract
    """More pairs overlap than ``max_pairs`` allows; none are returned.

    Parameters
    ----------
    max_pairs : int
        The limit that was given.
    """

    def __init__(self, max_pairs: int) -> None:
        super().__init__(
            f"more than max_pairs={max_pairs} pairs overlap; "
            "raise max_pairs, or use count_pairs() to learn how many there are"
        )
        self.max_pairs = max_pairs

    def __reduce__(self) -> tuple[type["PairLimitExceeded"], tuple[int]]:
        return type(self), (self.max_pairs,)
