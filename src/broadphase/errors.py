"""The exceptions of broadphase, and the import of optional packages; other errors are Python's own."""

import os
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")


class PairLimitExceeded(MemoryError):  # noqa: N818 - the public name is part of the contract
    """There are more pairs than ``max_pairs`` allows; none are returned.

    Parameters
    ----------
    max_pairs : int
        The limit that was given.
    said : str
        What the pairs have in common, and what to do about it.
    """

    def __init__(
        self,
        max_pairs: int,
        said: str = "overlap; raise max_pairs, or use count_pairs() to learn how many there are",
    ) -> None:
        super().__init__(f"more than max_pairs={max_pairs} pairs {said}")
        self.max_pairs = max_pairs
        self._said = said

    def __reduce__(self) -> tuple[type["PairLimitExceeded"], tuple[int, str]]:
        return type(self), (self.max_pairs, self._said)


TOO_MANY_NEAR = "of points are within r of each other; raise max_pairs, or give a smaller r"
"""What a `PairLimitExceeded` says of points."""


class FileError(ValueError):
    """A file does not hold boxes, or cannot hold pairs.

    The message is one line that begins with the file's name and names row, column and value where the
    trouble is in one place.  A file that cannot be opened at all raises ``OSError`` instead.

    Parameters
    ----------
    message : str
        What is wrong.  Names from a file may hold anything: line breaks and the like are shown as escapes.
    """

    def __init__(self, message: str) -> None:
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in message))


def with_hints(**hints: str) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """For a function of whose arguments some have other names elsewhere: the error for those says the own.

    Examples
    --------
    >>> @with_hints(boxsize="lengths are period=")
    ... def search(period=None): ...
    >>> search(boxsize=3)
    Traceback (most recent call last):
    ...
    TypeError: search() got an unexpected keyword argument 'boxsize'; lengths are period=
    """

    def wrapped(function: Callable[Given, Made]) -> Callable[Given, Made]:
        @wraps(function)
        def call(*args: Given.args, **options: Given.kwargs) -> Made:
            try:
                return function(*args, **options)
            except TypeError as error:
                named = [hint for name, hint in hints.items() if name in options]
                if not named or "unexpected keyword argument" not in str(error):
                    raise
                raise TypeError(f"{error}; {named[0]}") from None

        return call

    return wrapped


def path_of(value: Any, name: str) -> str:
    """A path as text.

    Raises
    ------
    TypeError
        It is not one.
    """
    try:
        return os.fsdecode(value)
    except TypeError:
        raise TypeError(f"{name} must be a path; got {value!r}") from None


class SpriteWarning(UserWarning):
    """A sprite's picture has moved and its body has not: see ``check_sprites`` of `broadphase.World`."""


class TagWarning(UserWarning):
    """A listener or a query waits for a tag that no body has had: see ``check`` of `broadphase.World`."""


class WorldWarning(UserWarning):
    """A world is used in a way that does not do what it seems to: see ``check`` of `broadphase.World`."""


class MissingExtraError(ImportError):
    """A package is not installed that one of the extras of broadphase brings."""


def need(module: str, *, extra: str, purpose: str) -> Any:
    """Import ``module`` for ``purpose``.

    Parameters
    ----------
    module : str
        The module to import, such as ``"pyarrow.parquet"``.
    extra : str
        The extra of broadphase that installs it.
    purpose : str
        What the module is needed for; the message begins with it.

    Raises
    ------
    MissingExtraError
        The package is not installed; the message says how to install it.

    Examples
    --------
    >>> need("json", extra="io", purpose="reading GeoJSON").loads("[1]")
    [1]
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise  # the package is there, but one of its own dependencies is missing
        raise MissingExtraError(
            f'{purpose} needs {package}: python -m pip install "broadphase[{extra}]"', name=package
        ) from None


def refuse_in_browser(what: str, lacks: str) -> None:
    """Raise ``ImportError`` where Python runs in a browser, which lacks what this needs."""
    if sys.platform == "emscripten":
        raise ImportError(f"{what} does not run in a browser, which has no {lacks}")
