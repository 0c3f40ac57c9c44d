"""What a library for macOS says of itself (Mach-O, 64 bits)."""

import struct
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

X86_64, ARM64 = 0x01000007, 0x0100000C
MACOS = 1
_LIBRARY = 6
_SEGMENT, _OTHER_LIBRARY, _NAME, _SIGNATURE = 0x19, 0xC, 0xD, 0x1D
_LOADING, _LOADING_ONLY, _BUILT_FOR = 0x22, 0x80000022, 0x32


class Segment(NamedTuple):
    """A part of the file, and where it is loaded."""

    name: str
    address: int
    size: int
    offset: int
    stored: int


class Bound(NamedTuple):
    """A place that the loader fills with the address of a function of another library."""

    address: int
    name: str
    addend: int


class Signature(NamedTuple):
    """How a file is signed."""

    is_ad_hoc: bool
    identifier: str
    covered: int
    """How many bytes, from the beginning."""
    wrong_pages: list[int]


class MachO:
    """One file."""

    def __init__(self, data: bytes) -> None:
        magic, self.machine, _, kind, count, _ = struct.unpack_from("<IIIIII", data)
        if magic != 0xFEEDFACF or kind != _LIBRARY:
            raise ValueError("not a library for macOS of 64 bits")
        self._data = data
        self._commands: list[tuple[int, bytes]] = []
        at = 32
        for _ in range(count):
            command, size = struct.unpack_from("<II", data, at)
            self._commands.append((command, data[at : at + size]))
            at += size

    def _bodies(self, *kinds: int) -> Iterator[bytes]:
        return (body for kind, body in self._commands if kind in kinds)

    @cached_property
    def segments(self) -> list[Segment]:
        """All of them."""
        found = []
        for body in self._bodies(_SEGMENT):
            name, *numbers = struct.unpack_from("<16sQQQQ", body, 8)
            found.append(Segment(name.rstrip(b"\0").decode(), *numbers))
        return found

    @property
    def name(self) -> str:
        """What programs that are linked against it look for."""
        (body,) = self._bodies(_NAME)
        return _name_in(body)

    @property
    def needed(self) -> list[str]:
        """The libraries that the loader loads with it."""
        return [_name_in(body) for body in self._bodies(_OTHER_LIBRARY)]

    @property
    def built_for(self) -> tuple[int, str]:
        """The platform, and the oldest version of it."""
        (body,) = self._bodies(_BUILT_FOR)
        platform, version = struct.unpack_from("<II", body, 8)
        return platform, f"{version >> 16}.{version >> 8 & 255}"

    # ---- what the loader does

    @cached_property
    def _loading(self) -> list[bytes]:
        """The programs that fill in own addresses and others', those of which later, and the exports."""
        (body,) = self._bodies(_LOADING, _LOADING_ONLY)
        rebase, rebase_, bind, bind_, weak, weak_, lazy, lazy_, export, export_ = struct.unpack_from(
            "<10I", body, 8
        )
        places = (rebase, rebase_), (bind, bind_), (weak, weak_), (lazy, lazy_), (export, export_)
        return [self._data[at : at + size] for at, size in places]

    @property
    def rebases(self) -> list[int]:
        """Places that hold an address as if the library lay at 0."""
        return list(_rebased(_Program(self._loading[0], self.segments)))

    @property
    def binds(self) -> list[Bound]:
        """Places that hold the address of something of another library."""
        programs = [_Program(code, self.segments) for code in self._loading[1:4]]
        return [bound for program in programs for bound in _bound(program)]

    @property
    def exports(self) -> dict[str, int]:
        """What others find in it, and where."""
        return dict(_leaves(self._loading[4], 0, ""))

    # ---- signature

    @property
    def signature(self) -> Signature | None:
        """How it is signed, if it is."""
        for body in self._bodies(_SIGNATURE):
            at, _ = struct.unpack_from("<II", body, 8)
            _, _, count = struct.unpack_from(">III", self._data, at)
            for k in range(count):
                _, offset = struct.unpack_from(">II", self._data, at + 12 + 8 * k)
                if struct.unpack_from(">I", self._data, at + offset) == (0xFADE0C02,):
                    return self._read_signature(at + offset)
        return None

    def _read_signature(self, at: int) -> Signature:
        flags, hashes, identifier, _, count, covered = struct.unpack_from(">IIIIII", self._data, at + 12)
        size, kind, _, page = self._data[at + 36 : at + 40]
        if (size, kind) != (32, 2):
            raise ValueError("the pages are not hashed by SHA-256")
        wrong = []
        for k in range(count):
            content = self._data[k << page : min(k + 1 << page, covered)]
            here = at + hashes + size * k
            if sha256(content).digest() != self._data[here : here + size]:
                wrong.append(k)
        if count << page < covered:
            wrong.append(count)
        return Signature(bool(flags & 2), _text(self._data, at + identifier), covered, wrong)


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _name_in(body: bytes) -> str:
    return _text(body, struct.unpack_from("<I", body, 8)[0])


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    """A number of any length (ULEB128), and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def _leaves(trie: bytes, at: int, prefix: str) -> Iterator[tuple[str, int]]:
    if not trie:
        return
    size, at = _unsigned(trie, at)
    if size:
        flags, place = _unsigned(trie, at)
        if flags:
            raise ValueError(f"{prefix} is not plainly exported")
        yield prefix, _unsigned(trie, place)[0]
    at += size
    children, at = trie[at], at + 1
    for _ in range(children):
        end = trie.index(b"\0", at)
        child, after = _unsigned(trie, end + 1)
        yield from _leaves(trie, child, prefix + trie[at:end].decode())
        at = after


class _Program:
    """A program of the loader: an operation and a small number in each byte, then what it works on."""

    def __init__(self, code: bytes, segments: list[Segment]) -> None:
        self._code = code
        self._segments = segments
        self._next = 0
        self.address = 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while self._next < len(self._code):
            self._next += 1
            yield self._code[self._next - 1] & 0xF0, self._code[self._next - 1] & 15

    def number(self) -> int:
        value, self._next = _unsigned(self._code, self._next)
        return value

    def text(self) -> str:
        found = _text(self._code, self._next)
        self._next += len(found) + 1
        return found

    def go_to(self, segment: int) -> None:
        self.address = self._segments[segment].address + self.number()

    def step(self, skipped: int = 0) -> int:
        """The address, which then moves on: sums may wrap around."""
        here = self.address
        self.address = (here + 8 + skipped) % 2**64
        return here


def _rebased(program: _Program) -> Iterator[int]:
    for operation, small in program:
        match operation:
            case 0x00 | 0x10:  # the end, or padding; the kind of place
                pass
            case 0x20:
                program.go_to(small)
            case 0x30:
                program.address += program.number()
            case 0x40:
                program.address += 8 * small
            case 0x50:
                yield from [program.step() for _ in range(small)]
            case 0x60:
                yield from [program.step() for _ in range(program.number())]
            case 0x70:
                yield program.step(program.number())
            case 0x80:
                count, skipped = program.number(), program.number()
                yield from [program.step(skipped) for _ in range(count)]
            case _:
                raise ValueError(f"no loader knows the operation {operation:#x}")


def _bound(program: _Program) -> Iterator[Bound]:
    name, addend = "", 0
    for operation, small in program:
        count, skipped = 0, 0
        match operation:
            case 0x00 | 0x10 | 0x30 | 0x50:  # the end of one; which library; the kind of place
                pass
            case 0x20:
                program.number()
            case 0x40:
                name = program.text()
            case 0x60:
                addend = program.number()  # of the numbers below zero there are none
            case 0x70:
                program.go_to(small)
            case 0x80:
                program.address = (program.address + program.number()) % 2**64
            case 0x90:
                count = 1
            case 0xA0:
                count, skipped = 1, program.number()
            case 0xB0:
                count, skipped = 1, 8 * small
            case 0xC0:
                count, skipped = program.number(), program.number()
            case _:
                raise ValueError(f"no loader knows the operation {operation:#x}")
        for _ in range(count):
            yield Bound(program.step(skipped), name, addend)
