"""What a kernel is made of: its file, all kernel files that it reaches by imports, and the compiler."""

import re
from functools import cache
from hashlib import blake2b
from pathlib import Path

_ROOMS = Path(__file__).parent.parent
_PACKAGE = "broadphase.kernels"
_IMPORTED = re.compile(rf"^from {re.escape(_PACKAGE)}\.([\w.]+) import", re.MULTILINE)
# What else decides how machine code looks; the rest of `machine` only runs it.
_MAKERS = (
    "machine/floats.py",
    "machine/intrinsics.py",
    "machine/simd.py",
    "machine/level.py",
    "machine/python_api.py",
    "compiler/emit.py",
    "compiler/frontend.py",
    "compiler/link.py",
    "compiler/types.py",
    "compiler/wrapper.py",
)


def _path(module: str) -> Path:
    return _ROOMS.joinpath(*module.removeprefix(_PACKAGE + ".").split(".")).with_suffix(".py")


@cache
def _source(module: str) -> tuple[bytes, tuple[str, ...]]:
    text = _path(module).read_bytes()
    imported = _IMPORTED.findall(text.decode())
    names = (f"{_PACKAGE}.{name}" for name in imported if not name.startswith("machine."))
    return text, tuple(names)


@cache
def _makers() -> bytes:
    return b"\n".join((_ROOMS / name).read_bytes() for name in _MAKERS)


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
    if not _path(module).exists():
        return None
    digest = blake2b(_makers(), digest_size=16)
    for name in reached(module):
        text = _source(name)[0]
        digest.update(f"{name} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()
