"""What a library for Linux says of itself (ELF, 64 bits)."""

import struct
from functools import cached_property

X86_64, ARM64 = 62, 183
_LOAD, _DYNAMIC, _STACK = 1, 2, 0x6474E551
_EXECUTABLE = 1
_NEEDED, _HASHES, _STRINGS, _SYMBOLS, _TEXT_RELOCATIONS = 1, 4, 5, 6, 22


class Elf:
    """One file."""

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("not a library of 64 bits in the byte order of x86")
        self._data = data
        (self.machine,) = struct.unpack_from("<H", data, 18)
        at, size, count = struct.unpack_from("<Q14xHH", data, 32)
        self._segments = [struct.unpack_from("<IIQQQQ", data, at + k * size) for k in range(count)]

    def _at(self, address: int) -> int:
        for kind, _, offset, start, _, size in self._segments:
            if kind == _LOAD and start <= address < start + size:
                return int(address - start + offset)
        raise ValueError(f"nothing of the file is loaded at {address:#x}")

    def _text(self, place: int) -> str:
        at = self._at(self._dynamic[_STRINGS][0]) + place
        return self._data[at : self._data.index(b"\0", at)].decode()

    @cached_property
    def _dynamic(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for kind, _, offset, _, _, size in self._segments:
            if kind == _DYNAMIC:
                for tag, value in struct.iter_unpack("<QQ", self._data[offset : offset + size]):
                    found.setdefault(tag, []).append(value)
        return found

    @property
    def needed(self) -> list[str]:
        """The libraries that the loader loads with it."""
        return [self._text(place) for place in self._dynamic.get(_NEEDED, [])]

    @property
    def patches_code(self) -> bool:
        """Whether the loader must write into code, which hardened systems refuse."""
        return _TEXT_RELOCATIONS in self._dynamic

    @property
    def wants_an_executable_stack(self) -> bool:
        """Which hardened systems refuse, too."""
        stacks = [flags for kind, flags, *_ in self._segments if kind == _STACK]
        return not stacks or bool(stacks[0] & _EXECUTABLE)

    @cached_property
    def _symbols(self) -> dict[str, bool]:
        """Each name, and whether it is defined here."""
        (count,) = struct.unpack_from("<I", self._data, self._at(self._dynamic[_HASHES][0]) + 4)
        at = self._at(self._dynamic[_SYMBOLS][0])
        found = {}
        for place, section in struct.iter_unpack("<I2xH16x", self._data[at : at + 24 * count]):
            if place:
                found[self._text(place)] = section != 0
        return found

    @property
    def exports(self) -> set[str]:
        """What others find in it."""
        return {name for name, is_defined in self._symbols.items() if is_defined}

    @property
    def undefined(self) -> set[str]:
        """What it must find elsewhere."""
        return {name for name, is_defined in self._symbols.items() if not is_defined}
