"""What a library for Windows says of itself (PE, 64 bits)."""

import struct

X86_64, ARM64 = 0x8664, 0xAA64
_ANYWHERE, _NO_RUNNING_DATA = 0x20 | 0x40, 0x100
_EXPORTS, _IMPORTS, _FUNCTIONS, _DELAYED = 0, 1, 3, 13


class Pe:
    """One file."""

    def __init__(self, data: bytes) -> None:
        (at,) = struct.unpack_from("<I", data, 0x3C)
        if data[:2] != b"MZ" or data[at : at + 4] != b"PE\0\0":
            raise ValueError("not a library for Windows")
        self._data = data
        self.machine, sections, size = struct.unpack_from("<HH12xH", data, at + 4)
        optional = at + 24
        if struct.unpack_from("<H", data, optional) != (0x20B,):
            raise ValueError("not of 64 bits")
        (self._flags,) = struct.unpack_from("<H", data, optional + 70)
        (count,) = struct.unpack_from("<I", data, optional + 108)
        self._tables = [struct.unpack_from("<II", data, optional + 112 + 8 * k) for k in range(count)]
        self._sections = [
            struct.unpack_from("<8sIIII", data, optional + size + 40 * k) for k in range(sections)
        ]

    def _at(self, address: int) -> int:
        for _, size, start, stored, offset in self._sections:
            if start <= address < start + min(size, stored):
                return int(address - start + offset)
        raise ValueError(f"nothing of the file is loaded at {address:#x}")

    def _text(self, address: int) -> str:
        at = self._at(address)
        return self._data[at : self._data.index(b"\0", at)].decode()

    @property
    def exports(self) -> set[str]:
        """What others find in it."""
        address, _ = self._tables[_EXPORTS]
        count, _, names = struct.unpack_from("<III", self._data, self._at(address) + 24)
        places = struct.unpack_from(f"<{count}I", self._data, self._at(names)) if count else ()
        return {self._text(place) for place in places}

    @property
    def imports(self) -> list[str]:
        """The libraries that Windows loads with it."""
        found = []
        for kind, size, place in ((_IMPORTS, 20, 12), (_DELAYED, 32, 4)):
            address, _ = self._tables[kind]
            at = self._at(address) if address else 0
            while at and (name := struct.unpack_from("<I", self._data, at + place)[0]):
                found.append(self._text(name))
                at += size
        return found

    @property
    def functions(self) -> int:
        """How many functions it says how to unwind (``.pdata``)."""
        _, size = self._tables[_FUNCTIONS]
        return int(size) // (12 if self.machine == X86_64 else 8)

    @property
    def may_lie_anywhere(self) -> bool:
        """Whether Windows may load it at any address."""
        return bool(self._flags & _ANYWHERE == _ANYWHERE)

    @property
    def runs_no_data(self) -> bool:
        """Whether it leaves data from which nothing may be run."""
        return bool(self._flags & _NO_RUNNING_DATA)
