"""How much all open tabs may hold together: each body in each lane takes memory in the server."""

from threading import Lock
from typing import Any

from broadphase.lab.messages import BadMessage

MOST_OF_ONE = 200_000
"""Bodies times methods of one tab."""
MOST_OF_ALL = 600_000
"""The same of all tabs."""


class Room:
    """Who holds how much.

    Examples
    --------
    >>> room = Room()
    >>> room.take("a tab", 100_000, 2)
    >>> room.take("a tab", 100_000, 4)
    Traceback (most recent call last):
    broadphase.lab.messages.BadMessage: 100,000 bodies times 4 methods are more than the 200,000 that a tab may hold; take fewer bodies or fewer methods
    """  # noqa: E501 - a message is one line

    def __init__(self) -> None:
        self._held: dict[Any, int] = {}
        self._lock = Lock()

    def take(self, holder: Any, bodies: int, methods: int) -> None:
        """Let somebody hold so much, instead of what it held before.

        Raises
        ------
        BadMessage
            It is too much; nothing has changed.
        """
        wanted = bodies * methods
        asked = f"{bodies:,} bodies times {methods} methods are more than"
        if wanted > MOST_OF_ONE:
            raise BadMessage(
                f"{asked} the {MOST_OF_ONE:,} that a tab may hold; take fewer bodies or fewer methods"
            )
        with self._lock:
            others = sum(self._held.values()) - self._held.get(holder, 0)
            if others + wanted > MOST_OF_ALL:
                raise BadMessage(
                    f"{asked} the {max(MOST_OF_ALL - others, 0):,} that other tabs leave; "
                    "close one of them, or take fewer bodies or fewer methods"
                )
            self._held[holder] = wanted

    def leave(self, holder: Any) -> None:
        """Somebody holds nothing any more."""
        with self._lock:
            self._held.pop(holder, None)

    def __len__(self) -> int:
        return sum(self._held.values())
