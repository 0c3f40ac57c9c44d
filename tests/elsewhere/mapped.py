"""Loads a library for macOS into a Python for Linux of the same kind of processor.

Both systems call functions alike, and the library asks little of its system.  So what `dyld` would do can be
done here: map the file's bytes, and fill in the addresses.  That shows that the library's code and what its
loader is told are right; it does not show that a Mac accepts it.
"""

import ctypes
import mmap
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lief


def _fill_pattern(to: int, pattern: int, size: int) -> None:
    whole, rest = divmod(size, 16)
    text = ctypes.string_at(pattern, 16)
    ctypes.memmove(to, text * whole + text[:rest], size)


# macOS' own addition to the C library.
_fill_pattern_16 = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(_fill_pattern)


lief.logging.disable()  # of places that hold 0
_mapped: list[mmap.mmap] = []


class Mapped:
    """A library for macOS in memory; it stays there."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        parsed = lief.MachO.parse(str(path))
        assert parsed is not None
        file: Any = parsed.at(0)
        end = max(segment.virtual_address + segment.virtual_size for segment in file.segments)
        memory = mmap.mmap(-1, end, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for segment in file.segments:
            content = data[segment.file_offset : segment.file_offset + segment.file_size]
            memory[segment.virtual_address : segment.virtual_address + len(content)] = content
        for place in file.relocations:
            (address,) = struct.unpack_from("<Q", memory, place.address)
            struct.pack_into("<Q", memory, place.address, start + address)
        for bound in file.bindings:
            found = self._address(bound.symbol.name) + bound.addend
            struct.pack_into("<Q", memory, bound.address, found)
        _mapped.append(memory)
        self.places = {
            symbol.name.removeprefix("_"): start + symbol.export_info.address
            for symbol in file.symbols
            if symbol.has_export_info
        }

    def _address(self, symbol: str) -> int:
        name = symbol.removeprefix("_")
        if name == "dyld_stub_binder":
            return 0  # it would bind on the first call what has been bound here
        name = name.replace("__bzero", "bzero")  # another name of it on x86-64
        function = _fill_pattern_16 if name == "memset_pattern16" else getattr(ctypes.CDLL(None), name)
        return ctypes.cast(function, ctypes.c_void_p).value or 0


class _Kind:
    """A type of `ctypes` that finds variables in mapped libraries."""

    def __init__(self, kind: Any) -> None:
        self.plain = kind

    def __mul__(self, count: int) -> "_Kind":
        return _Kind(self.plain * count)

    def in_dll(self, library: Mapped, name: str) -> Any:
        return self.plain.from_address(library.places[name])


def _plain(kind: Any) -> Any:
    return kind.plain if isinstance(kind, _Kind) else kind


def load_instead() -> None:
    """From now on the package loads its libraries for macOS."""
    from broadphase.kernels.machine import library

    def load(path: str | None) -> Any:
        return Mapped(Path(path).with_suffix(".dylib")) if path else ctypes.CDLL(None)

    kinds = {name: _Kind(getattr(ctypes, name)) for name in ("c_int8", "c_int64", "c_void_p")}
    own: Any = library
    own.ctypes = SimpleNamespace(
        **{
            **vars(ctypes),
            **kinds,
            "CDLL": load,
            "cast": lambda value, kind: ctypes.cast(value, _plain(kind)),
            "POINTER": lambda kind: ctypes.POINTER(_plain(kind)),
        }
    )
