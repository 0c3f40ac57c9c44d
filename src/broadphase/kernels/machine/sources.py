"""Fingerprints of a kernel's sources: its file, all kernel files that it imports, and the compiler."""

import re
from functools import cache
from os.path import dirname, exists, join
from zlib import adler32, crc32

_KERNELS = dirname(dirname(__file__))
_PACKAGE = "broadphase.kernels"
_IMPORTED = re.compile(rf"^from {re.escape(_PACKAGE)}\.([\w.]+) import".encode(), re.MULTILINE)
# Further modules that the machine code depends on; the other modules of these packages only run it.
_MAKERS = {
    "kernels/machine": ("floats", "intrinsics", "jit", "mode", "python_api", "simd", "target"),
    "compiler": (
        *("aggregates", "builtins", "lowering", "machine_code", "memory"),
        *("numba_checks", "numba_names", "python_api", "types"),
    ),
}


def _path(module: str) -> str:
    return join(_KERNELS, *module.removeprefix(_PACKAGE + ".").split(".")) + ".py"


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _hash(whole: bytes) -> str:
    # `importlib.util.source_hash` differs between versions of Python, but one library serves all of them.
    return f"{len(whole)} {crc32(whole):08x}{adler32(whole):08x}"


@cache
def _source(module: str) -> tuple[str, tuple[str, ...]]:
    """The hash of a file's text, and the kernel modules that it imports."""
    text = _read(_path(module))
    imported = (name.decode() for name in _IMPORTED.findall(text))
    return _hash(text), tuple(f"{_PACKAGE}.{name}" for name in imported if not name.startswith("machine."))


@cache
def _makers() -> str:
    package = dirname(_KERNELS)
    return " ".join(
        _hash(_read(join(package, *folder.split("/"), f"{name}.py")))
        for folder, names in _MAKERS.items()
        for name in names
    )


@cache
def reached(module: str) -> tuple[str, ...]:
    """The kernel modules that a kernel module needs, including itself, sorted.

    They are read from the import lines, not from the loaded modules, so this also works during import.
    """
    found = {module}
    waiting = [module]
    while waiting:
        for name in _source(waiting.pop())[1]:
            if name not in found:
                found.add(name)
                waiting.append(name)
    return tuple(sorted(found))


@cache
def fingerprint(module: str) -> str | None:
    """A hash of all sources that the kernels of a module depend on; None if the sources are not available.

    A frozen program has no sources, so they cannot have been edited.
    """
    if not exists(_path(module)):
        return None
    # This is a hash of hashes, so modules that many others import are read once (a first update: 6 ms less).
    parts = [_makers(), *(f"{name} {_source(name)[0]}" for name in reached(module))]
    return _hash("\n".join(parts).encode()).rpartition(" ")[2]
