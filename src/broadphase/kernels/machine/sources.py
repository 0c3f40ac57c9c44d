"""Fingerprints of a kernel's sources: its file, all kernel files that it imports, and the compiler.

They are of the code, so editing a comment or a docstring compiles nothing.
"""

from collections.abc import Iterable
from functools import cache
from os.path import dirname, exists, join
from typing import NamedTuple
from zlib import adler32, crc32

from broadphase.kernels.machine.library import installed

_KERNELS = dirname(dirname(__file__))
_PACKAGE = "broadphase.kernels"
_IMPORT = f"\nfrom {_PACKAGE}.".encode()
# Further modules that the machine code depends on; the other modules of these packages only run it.
_MAKERS = {
    "kernels/machine": ("floats", "interrupts", "intrinsics", "jit", "mode", "python_api", "simd", "target"),
    "compiler": (
        *("builtins", "lowering", "machine_code", "memory"),
        *("numba_checks", "numba_names", "python_api", "types"),
    ),
}


@cache
def _path(module: str) -> str:
    return join(_KERNELS, *module.removeprefix(_PACKAGE + ".").split(".")) + ".py"


def _hash(whole: bytes) -> str:
    # `importlib.util.source_hash` differs between versions of Python, but one library serves all of them.
    return f"{crc32(whole):08x}{adler32(whole):08x}{len(whole):x}"


class _File(NamedTuple):
    text: str
    """A hash of the whole file."""
    code: str
    """A hash of its code, without comments and docstrings."""
    imports: tuple[str, ...]
    """The kernel modules that it imports."""


@cache
def _file(path: str) -> _File:
    with open(path, "rb") as file:
        whole = file.read()
    text = _hash(whole)
    code = _compiled_from().get(text) or _hash(_parsed(whole, path).encode())
    # A regular expression would take 40 us a file.
    imported = [line[: line.index(b" ")].decode() for line in whole.split(_IMPORT)[1:]]
    return _File(text, code, tuple(f"{_PACKAGE}.{name}" for name in imported if name[:8] != "machine."))


@cache
def _compiled_from() -> dict[str, str]:
    """For each text that the package's library was compiled from, the hash of its code.

    Parsing all files would add 0.4 s to each start, so only files that were edited are parsed.
    """
    found = installed()
    return found.sources if found else {}


def _parsed(text: bytes, path: str) -> str:
    """What Python parses, without positions and without strings that are statements, such as docstrings.

    `ast.dump` differs between versions of Python.
    """
    import ast  # here, because programs with unedited kernels start without it

    def is_docstring(node: object) -> bool:
        value = node.value if isinstance(node, ast.Expr) else None
        return isinstance(value, ast.Constant) and isinstance(value.value, str)

    def write(node: object) -> str:
        if isinstance(node, list):
            return f"[{','.join(write(one) for one in node if not is_docstring(one))}]"
        if isinstance(node, ast.AST):
            # New versions of Python add fields, which are empty in old code.
            fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
            return f"{type(node).__name__}({','.join(f'{name}={write(value)}' for name, value in fields)})"
        return ascii(node)

    return write(ast.parse(text, path))


@cache
def _makers() -> tuple[_File, ...]:
    package = dirname(_KERNELS)
    return tuple(
        _file(join(package, *folder.split("/"), f"{name}.py"))
        for folder, names in _MAKERS.items()
        for name in names
    )


@cache
def reached(module: str) -> frozenset[str]:
    """The kernel modules that a kernel module needs, including itself.

    They are read from the import lines, not from the loaded modules, so this also works during import.
    """
    return frozenset([module]).union(*map(reached, _file(_path(module)).imports))


@cache
def fingerprint(module: str) -> str | None:
    """A hash of all code that the kernels of a module depend on; None if the sources are not available.

    A frozen program has no sources, so they cannot have been edited.
    """
    if not exists(_path(module)):
        return None
    # This is a hash of hashes, so modules that many others import are read once (a first update: 6 ms less).
    codes = [file.code for file in _makers()]
    codes += [f"{name} {_file(_path(name)).code}" for name in sorted(reached(module))]
    return _hash("\n".join(codes).encode())


def hashes(modules: Iterable[str]) -> dict[str, str]:
    """For each file that the kernels of these modules depend on, the hashes of its text and of its code."""
    names = {name for module in modules for name in reached(module)}
    files = (*_makers(), *(_file(_path(name)) for name in sorted(names)))
    return {file.text: file.code for file in files}
