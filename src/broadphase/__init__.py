"""Find everything that touches, every frame.

>>> import broadphase as bp
>>> bp.pairs([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
array([[0, 1]], dtype=int32)

The names below are imported when they are first used, so that ``import broadphase`` costs next to
nothing: neither NumPy nor Numba is loaded before the first call that needs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from broadphase.errors import PairLimitExceeded as PairLimitExceeded
    from broadphase.one_shot import METHODS as METHODS
    from broadphase.one_shot import count_pairs as count_pairs
    from broadphase.one_shot import explain as explain
    from broadphase.one_shot import join as join
    from broadphase.one_shot import pairs as pairs

_HOME = {
    "PairLimitExceeded": "errors",
    "METHODS": "one_shot",
    "count_pairs": "one_shot",
    "explain": "one_shot",
    "join": "one_shot",
    "pairs": "one_shot",
}
_SUBMODULES = ("plot",)

__all__ = [
    "METHODS",
    "PairLimitExceeded",
    "count_pairs",
    "explain",
    "join",
    "pairs",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its home when it is first asked for (PEP 562)."""
    if name in _SUBMODULES:
        return import_module(f"broadphase.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'broadphase' has no attribute {name!r}")
    value = getattr(import_module(f"broadphase.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, *_SUBMODULES])
