"""What a kernel is made of: its file, all kernel files that it reaches by imports, and the compiler."""

import re
from functools import cache
from os.path import dirname, exists, join
from zlib import adler32, crc32

_KERNELS = dirname(dirname(__file__))
_PACKAGE = "broadphase.kernels"
_IMPORTED = re.compile(rf"^from {re.escape(_PACKAGE)}\.([\w.]+) import".encode(), re.MULTILINE)
# What else decides how machine code looks; the other modules of these packages only run it.
_MAKERS = {
    "kernels/machine": ("floats", "intrinsics", "jit", "level", "python_api", "simd", "target"),
    "compiler": (
        *("aggregates", "builtins", "lowering", "machine_code", "memory"),
        *("numba_checks", "numba_names", "python_api", "system", "target_machine", "types"),
    ),
}


def _path(module: str) -> str:
    return join(_KERNELS, *module.removeprefix(_PACKAGE + ".").split(".")) + ".py"


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _hash(whole: bytes) -> str:
    # Not `importlib.util.source_hash`, which every version of Python answers differently: one library serves
    # all of them.
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
    """The kernel modules that one needs, itself among them, sorted.

    Read off the import lines and not off what is loaded, so that it can be asked while they are loading.
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
    """A hash of everything that decides what the kernels of a module do; None where no source is at hand.

    A frozen program has no sources: nobody can have edited them.
    """
    if not exists(_path(module)):
        return None
    # Of hashes: the texts that lie below many modules are read through once (a first update: 6 ms less).
    parts = [_makers(), *(f"{name} {_source(name)[0]}" for name in reached(module))]
    return _hash("\n".join(parts).encode()).rpartition(" ")[2]
