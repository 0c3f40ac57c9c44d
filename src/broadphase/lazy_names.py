"""Names that are imported when they are first used, from the one list that type checkers read too.

A package that is lazy has its public names in its stub ``__init__.pyi``, one import a line, and nowhere
else: type checkers and editors read the stub, and so does `attach`.  The idea is SPEC 1's; its library
``lazy_loader`` is not needed at run time for these few lines.

So the stub is data of the package, and wheels hold it.  A program that is frozen must carry it too.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attach(
    package: str, hints: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """What a lazy package needs: its ``__getattr__`` (PEP 562), ``__dir__`` and ``__all__``.

    Parameters
    ----------
    package : str
        Its ``__name__``; ``__init__.pyi`` is next to its ``__init__.py``.
    hints : dict of str, optional
        What to say of names that other packages have.

    Raises
    ------
    ImportError
        The stub is missing.

    Examples
    --------
    >>> import broadphase
    >>> get, names, public = attach("broadphase")
    >>> get("pairs") is broadphase.pairs, "pairs" in names(), "pairs" in public
    (True, True, True)
    """
    homes = _homes(_stub(package))
    names = sorted(homes)

    def get(name: str) -> Any:
        if name not in homes:
            said = f"module {package!r} has no attribute {name!r}"
            if hints and name in hints:
                raise AttributeError(f"{said}; {hints[name]}")
            # With the name and the module Python proposes the nearest name.
            raise AttributeError(said, name=name, obj=sys.modules[package])
        if homes[name] == ".":
            return import_module(f"{package}.{name}")
        value = getattr(import_module(homes[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, names.copy, names


def _homes(stub: str) -> dict[str, str]:
    """Where each name comes from: the lines ``from .home import name as name``."""
    imports = [line.split() for line in stub.splitlines() if line.startswith("from .")]
    return {words[3]: words[1] for words in imports}


def _stub(package: str) -> str:
    module = sys.modules[package]
    path = f"{module.__path__[0]}/__init__.pyi"
    try:
        # By the loader: the package may lie in a zip file.
        return str(module.__spec__.loader.get_data(path), "utf-8")  # type: ignore[union-attr]
    except OSError:
        raise ImportError(
            f"{path} is missing, the list of the names of {package}; a tool that freezes programs must be "
            "told to carry it (PyInstaller: --collect-data broadphase)"
        ) from None
