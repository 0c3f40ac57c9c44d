"""What a kernel is made of: its file, all kernel files that it reaches by imports, and the compiler."""

import re
from functools import cache
from os.path import dirname, exists, join
from zlib import adler32, crc32

_ROOMS = dirname(dirname(__file__))
_PACKAGE = "broadphase.kernels"
_IMPORTED = re.compile(rf"^from {re.escape(_PACKAGE)}\.([\w.]+) import", re.MULTILINE)
# What else decides how machine code looks; the rest of `machine` only runs it.
_MAKERS = (
    "machine/floats.py",
    "machine/intrinsics.py",
    "machine/simd.py",
    "machine/level.py",
    "machine/python_api.py",
    "machine/jit.py",
    "compiler/aggregates.py",
    "compiler/api.py",
    "compiler/calls.py",
    "compiler/emit.py",
    "compiler/frontend.py",
    "compiler/link.py",
    "compiler/lowering.py",
    "compiler/memory.py",
    "compiler/passes.py",
    "compiler/shared.py",
    "compiler/texts.py",
    "compiler/types.py",
    "compiler/wrapper.py",
)


def _path(module: str) -> str:
    return join(_ROOMS, *module.removeprefix(_PACKAGE + ".").split(".")) + ".py"


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


@cache
def _source(module: str) -> tuple[bytes, tuple[str, ...]]:
    text = _read(_path(module))
    imported = _IMPORTED.findall(text.decode())
    names = (f"{_PACKAGE}.{name}" for name in imported if not name.startswith("machine."))
    return text, tuple(names)


@cache
def _makers() -> bytes:
    return b"\n".join(_read(join(_ROOMS, *name.split("/"))) for name in _MAKERS)


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
    parts = [_makers()]
    for name in reached(module):
        text = _source(name)[0]
        parts += [f"\n{name} {len(text)}\n".encode(), text]
    # Not `importlib.util.source_hash`, which every version of Python answers differently: one library serves
    # all of them.  NumPy has loaded zlib already.
    whole = b"".join(parts)
    return f"{crc32(whole):08x}{adler32(whole):08x}"
