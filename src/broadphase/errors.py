"""The exceptions of broadphase, and the import of optional packages; other errors are Python's own."""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from importlib import import_module
from types import FunctionType
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


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


def not_one_of(value: Any, names: Iterable[str], what: str) -> ValueError:
    """The error for a choice that there is not: it lists the names, and says which is the nearest.

    Examples
    --------
    >>> not_one_of("tree", ["strips", "box_tree"], "index")
    ValueError("unknown index 'tree'; choose one of strips, box_tree; the nearest is box_tree")
    """
    nearest = nearest_name(str(value).lower(), names)
    hint = f"; the nearest is {nearest}" if nearest else ""
    return ValueError(f"unknown {what} {value!r}; choose one of {', '.join(names)}{hint}")


def nearest_name(name: str, names: Iterable[str], likeness: float = 0.5) -> str | None:
    """The one of some names that a misspelt one resembles; ``None`` if none does."""
    from difflib import get_close_matches  # here, as it is needed for errors alone

    found = get_close_matches(name, names, 1, likeness)
    return found[0] if found else None


def no_attribute(instance: object, name: str, hints: Mapping[str, str]) -> AttributeError:
    """The error of a class whose attributes are often sought under other names: it says the right one.

    ``hints`` has what to say of names.  Of others Python proposes the nearest itself, and only where the
    error is shown: to look for it here would make ``hasattr`` a hundred times as slow.

    Examples
    --------
    >>> no_attribute(1.5, "imaginary", {"imaginary": "the part is imag"})
    AttributeError("'float' object has no attribute 'imaginary'; the part is imag")
    """
    said = f"{type(instance).__name__!r} object has no attribute {name!r}"
    if name in hints:
        return AttributeError(f"{said}; {hints[name]}", obj=instance)
    return AttributeError(said, name=name, obj=instance)


class _Instead:
    """Stands in a class for a name that it does not have: the ``AttributeError`` says which call is meant."""

    def __init__(self, name: str, hints: Mapping[str, str]) -> None:
        self._name, self._hints = name, hints
        self.__doc__ = f"No attribute: {hints[name]}."  # `help` of a class lists it

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        raise no_attribute(kind if owner is None else owner, self._name, self._hints)


class _InsteadOfSlot(_Instead):
    """The same where no attribute can be added."""

    def __set__(self, owner: Any, value: Any) -> None:
        self.__get__(owner)


def instead(hints: Mapping[str, str]) -> Callable[[Class], Class]:
    """For a class: what to say of names that users try; a ``__getattr__`` would slow all other names.

    Examples
    --------
    >>> @instead({"lenght": "its length is len(shelf)"})
    ... class Shelf: ...
    >>> Shelf().lenght
    Traceback (most recent call last):
    ...
    AttributeError: 'Shelf' object has no attribute 'lenght'; its length is len(shelf)
    >>> hasattr(Shelf(), "lenght"), "lenght" in dir(Shelf())
    (False, False)
    """

    def public(self: Any) -> list[str]:
        from inspect import getattr_static  # here, as few programs ask

        return [one for one in object.__dir__(self) if not isinstance(getattr_static(self, one), _Instead)]

    def with_names(kind: Class) -> Class:
        stand_in = _InsteadOfSlot if "__slots__" in vars(kind) else _Instead
        for name in hints:
            assert not hasattr(kind, name), name
            setattr(kind, name, stand_in(name, hints))
        kind.__dir__ = public  # type: ignore[assignment]
        return kind

    return with_names


def with_hints(*positional: str, **hints: str) -> Callable[[Function], Function]:
    """For a function that is often called with other arguments than it has: the error says the right ones.

    An unknown keyword gets its own hint from ``hints``, else the nearest name is proposed, or all names are
    listed where none is near; ``positional`` is the hint where there are too many or too few arguments
    without a name, or one of them is given twice.

    Examples
    --------
    >>> @with_hints(boxsize="lengths are period=")
    ... def search(period=None): ...
    >>> search(boxsize=3)
    Traceback (most recent call last):
    ...
    TypeError: search() got an unexpected keyword argument 'boxsize'; lengths are period=
    >>> search(perid=3)
    Traceback (most recent call last):
    ...
    TypeError: search() got an unexpected keyword argument 'perid'. Did you mean 'period'?
    """

    def wrapped(function: Function) -> Function:
        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            try:
                return function(*args, **options)
            except TypeError as error:
                hint = _hint(function, str(error), positional, hints)
                if not hint:
                    raise
                raise TypeError(f"{error}{hint}") from None

        return cast(Function, call)

    return wrapped


def _hint(function: Any, message: str, positional: tuple[str, ...], hints: dict[str, str]) -> str:
    """What to add to the message of an error; nothing where it is not about the names of the arguments."""
    if not message.startswith(f"{function.__qualname__}() "):
        return ""
    other_number = "positional argument" in message
    if positional and (other_number or "multiple values" in message):
        return f"; {positional[0]}"
    wrong = message.partition("unexpected keyword argument '")[2].partition("'")[0]
    if not wrong or "Did you mean" in message:  # Python 3.13 proposes names itself
        return ""
    if wrong in hints:
        return f"; {hints[wrong]}"
    code = function.__code__
    names = [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if name != "self"]
    nearest = nearest_name(wrong, names, 0.65)
    return f". Did you mean {nearest!r}?" if nearest else f"; it takes {', '.join(names)}"


def hinting(kind: Class) -> Class:
    """Give those methods of a class `with_hints` that take keywords: a call takes 0.1 microseconds longer."""
    for name, value in list(vars(kind).items()):
        if type(value) is FunctionType and value.__kwdefaults__ and not hasattr(value, "__wrapped__"):
            setattr(kind, name, with_hints()(value))
    return kind


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


class WorldWarning(UserWarning):
    """A world is used in a way that does not do what it seems to: see ``check`` of `broadphase.World`.

    A tag may be misspelt, or the picture of a sprite has moved without its body.
    """


def warn_of_world(said: str) -> None:
    """Give a `WorldWarning` for the line outside of this package from which it was called."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "broadphase":
        level, frame = level + 1, frame.f_back
    warnings.warn(WorldWarning(said), stacklevel=level)


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
