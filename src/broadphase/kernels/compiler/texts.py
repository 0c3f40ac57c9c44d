"""What Numba's lowering writes, kept as text until a kernel is whole: LLVM reads it once.

Numba would read each function by itself, check it, optimise it, and copy it into every function that calls
it, one level after the other.
"""

import re
from hashlib import blake2b
from itertools import count
from typing import Any

from llvmlite import ir
from numba.core import codegen, funcdesc

from broadphase.kernels.machine.jit import COMMON

_METADATA = re.compile(r", ![a-z]+ !\d+")


class _Library(codegen.CPUCodeLibrary):
    """Numba's, for functions that are never run in this process."""

    def __init__(self, generator: Any, name: str) -> None:
        codegen.CodeLibrary.__init__(self, generator, name)
        self._linking_libraries: list[Any] = []
        self.globals: dict[str, str] = {}
        """By name, what it defines."""
        self.declared: dict[str, str] = {}

    def add_linking_library(self, library: Any) -> None:
        self._linking_libraries.append(library)

    def add_ir_module(self, module: Any) -> None:
        for name, one in module.globals.items():
            is_declared = isinstance(one, ir.Function) and one.is_declaration
            (self.declared if is_declared else self.globals)[name] = _METADATA.sub("", str(one))

    def finalize(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> Any:
        raise NotImplementedError("kernels do not run in the process that compiles them")


def _reached(library: Any) -> tuple[list[Any], dict[str, Any]]:
    """The libraries that become one with this one, and those of common functions, by their symbols."""
    found = {library: None}
    common: dict[str, Any] = {}
    waiting = [library]
    while waiting:
        for one in waiting.pop()._linking_libraries:
            symbol = next((name for name in one.globals if name in COMMON_SYMBOLS), None)
            if symbol is not None:
                common[symbol] = one
            elif one not in found:
                found[one] = None
                waiting.append(one)
    return list(found), common


def common_parts(library: Any) -> dict[str, Any]:
    """The libraries of all common functions that this one needs, by their symbols."""
    found: dict[str, Any] = {}
    waiting = [library]
    while waiting:
        for symbol, one in _reached(waiting.pop())[1].items():
            if symbol not in found:
                found[symbol] = one
                waiting.append(one)
    return found


def whole_text(library: Any, *modules: Any) -> str:
    """A library with all that it calls, but for common functions, and some modules besides."""
    head = str(library._codegen._create_empty_module("kernel"))
    besides = _Library(library._codegen, "besides")
    for module in modules:
        besides.add_ir_module(module)
    defined: dict[str, str] = {}
    declared: dict[str, str] = {}
    for one in [*_reached(library)[0], besides]:
        for name, text in one.globals.items():
            if defined.setdefault(name, text) != text:
                raise ValueError(f"two different things are called {name}")
        declared.update(one.declared)
    needed = [text for name, text in declared.items() if name not in defined]
    return "\n".join([head, *needed, *defined.values()])


COMMON_SYMBOLS: dict[str, str] = {}
"""Symbols of common functions, with the modules that they come from."""

_numbers = count()


def _short_name(name: str, argtypes: Any, *, abi_tags: Any = (), uid: Any = None) -> str:
    """A name in place of one that spells out all types: 300 characters at each call."""
    if name in COMMON:
        digest = blake2b(f"{name} {argtypes}".encode(), digest_size=12).hexdigest()
        symbol = f"common_{digest}"
        COMMON_SYMBOLS[symbol] = name.rpartition(".")[0]
        return symbol
    return f"f{next(_numbers)}_{re.sub('[^A-Za-z0-9_]', '', name.rpartition('.')[2])}"


def prepare() -> None:
    """Let Numba keep its code in this way; once."""
    codegen.JITCPUCodegen._library_class = _Library
    codegen.JITCPUCodegen._add_module = lambda *_: None
    funcdesc.default_mangler = _short_name
