"""Checks that the internal names of Numba which the compiler of kernels relies on have not changed.

Numba guarantees neither the names that `numba_names` replaces nor the methods that subclasses override.  So
each one is looked up first, and its parameters are compared: if a version of Numba has renamed or changed
one, the build fails with `NumbaChangedError`, which names it.  Without this check, an assignment to a removed
name would silently have no effect.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numba

Class = TypeVar("Class", bound=type)


class NumbaChangedError(RuntimeError):
    """A version of Numba has changed a name that the compiler of kernels relies on."""

    def __init__(self, name: str, found: str, needed: str) -> None:
        super().__init__(
            f"Numba {numba.__version__}: {name} {found}; broadphase's compiler needs {needed}. Build with a "
            "version of Numba that pyproject.toml allows, or adapt src/broadphase/compiler to this version."
        )


def replace(owner: Any, name: str, parameters: str, make: Callable[[Any], Any]) -> None:
    """Replace ``owner.name``, whose parameters must have these names, with ``make(original)``."""
    setattr(owner, name, make(original(owner, name, parameters)))


def original(owner: Any, name: str, parameters: str) -> Any:
    """Look up a name of Numba; `NumbaChangedError` if it is gone or its parameters have changed."""
    full, needed = f"{owner.__name__}.{name}", f"its parameters to be ({parameters})"
    found = vars(owner).get(name)
    if found is None:
        raise NumbaChangedError(full, "does not exist", needed)
    has = "" if isinstance(found, property) else " ".join(inspect.signature(found).parameters)
    if has != parameters:
        raise NumbaChangedError(full, f"has the parameters ({has})", needed)
    return found


def overrides(*names: str) -> Callable[[Class], Class]:
    """Check that a base class has these methods, with parameters of the same names as the subclass."""

    def check(derived: Class) -> Class:
        for name in names:
            bases = [base for base in derived.__mro__[1:] if name in vars(base)]
            override = vars(derived)[name]
            is_property = isinstance(override, property)
            parameters = "" if is_property else " ".join(inspect.signature(override).parameters)
            original((bases or derived.__mro__[1:])[0], name, parameters)
        return derived

    return check
