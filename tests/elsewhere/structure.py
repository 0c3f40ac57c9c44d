"""Whether a library is what the loader of its platform takes, and asks for nothing that is not there."""

import struct
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import lief

from . import wasm

lief.logging.disable()  # of files of another format

EXPORTS = {"broadphase_api", "broadphase_key", "broadphase_kinds", "broadphase_table"}
# What the C library of each system has had for decades.
_LINUX_HAS = {"memcpy", "memmove", "memset", "sched_yield"}
_MACOS_HAS = {
    *("_memcpy", "_memmove", "_memset", "_memset_pattern16", "_bzero", "___bzero", "_sched_yield"),
    "dyld_stub_binder",
}
# What the interpreter gives to each library that it loads, and what it calls then.
_EMSCRIPTEN_HAS = {
    *("memory", "__indirect_function_table", "__memory_base", "__table_base", "__stack_pointer"),
    *("memcpy", "memmove", "memset"),
}
_WASM_HAS = {"__wasm_apply_data_relocs", "__wasm_call_ctors"}
# What zig exports besides: where the library begins.
_MACHO_HAS = {"__mh_dylib_header", "___dso_handle"}
_ELF_NAMES = {"x86_64": "X86_64", "arm64": "AARCH64"}
_OLDEST_MACOS = {"macos-x86_64": "10.15", "macos-arm64": "11.0"}  # as the wheels' tags say


def faults(library: Path, target: str) -> list[str]:
    """Everything that is wrong with a library for a target of `broadphase.kernels.machine.target`."""
    system, _, processor = target.partition("-")
    check = {"linux": _linux, "windows": _windows, "macos": _macos, "emscripten": _emscripten}[system]
    try:
        return list(check(library, processor))
    except (ValueError, IndexError) as error:
        return [f"it cannot be read: {error}"]


def _parsed(library: Path, parse: Callable[[str], Any]) -> Any:
    file = parse(str(library))
    if file is None:
        raise ValueError("it is of another format")
    return file


def _same(what: str, found: object, right: object) -> Iterator[str]:
    if found != right:
        yield f"{what}: {found}, not {right}"


def _none(what: str, found: object) -> Iterator[str]:
    if found:
        yield f"{what}: {found}"


def _linux(library: Path, processor: str) -> Iterator[str]:
    file = _parsed(library, lief.ELF.parse)
    machine, tags = lief.ELF.ARCH, lief.ELF.DynamicEntry.TAG
    yield from _same("processor", file.header.machine_type, getattr(machine, _ELF_NAMES[processor]))
    names = {symbol.name: symbol.shndx != 0 for symbol in file.dynamic_symbols if symbol.name}
    yield from _same("exports", {name for name, is_defined in names.items() if is_defined}, EXPORTS)
    asked = {name for name, is_defined in names.items() if not is_defined}
    yield from _none("symbols that not every system has", asked - _LINUX_HAS)
    yield from _none("libraries that it needs", file.libraries)
    yield from _none("the loader writes into code", file.has(tags.TEXTREL))
    stacks = [part for part in file.segments if part.type == lief.ELF.Segment.TYPE.GNU_STACK]
    executable = not stacks or stacks[0].has(lief.ELF.Segment.FLAGS.X)
    yield from _none("it wants an executable stack", executable)


def _windows(library: Path, processor: str) -> Iterator[str]:
    file = _parsed(library, lief.PE.parse)
    machines = {"x86_64": lief.PE.Header.MACHINE_TYPES.AMD64, "arm64": lief.PE.Header.MACHINE_TYPES.ARM64}
    yield from _same("processor", file.header.machine, machines[processor])
    yield from _same("exports", {entry.name for entry in file.get_export().entries}, EXPORTS)
    # Every process has it; what is needed of it is what touches a stack page by page.
    needed = [entry.name for entry in (*file.imports, *file.delay_imports)]
    yield from _none("libraries that it needs", [name for name in needed if name != "ntdll.dll"])
    flags = lief.PE.OptionalHeader.DLL_CHARACTERISTICS
    for flag, what in (
        (flags.DYNAMIC_BASE, "it can be loaded at any address"),
        (flags.HIGH_ENTROPY_VA, "also beyond 4 GB"),
        (flags.NX_COMPAT, "nothing of its data may be run"),
    ):
        yield from _same(what, file.optional_header.has(flag), True)
    if not file.data_directory(lief.PE.DataDirectory.TYPES.EXCEPTION_TABLE).size:
        yield "it does not say how to unwind its functions"


def _macos(library: Path, processor: str) -> Iterator[str]:
    files = _parsed(library, lief.MachO.parse)
    file = files.at(0)
    built, oldest = file.build_version, _OLDEST_MACOS[f"macos-{processor}"]
    wanted = getattr(lief.MachO.Header.CPU_TYPE, processor.upper())
    yield from _same("processor", file.header.cpu_type, wanted)
    yield from _same("platform", built.platform, lief.MachO.BuildVersion.PLATFORMS.MACOS)
    yield from _same("oldest version", ".".join(map(str, built.minos[:2])), oldest)
    name, *needed = (other.name for other in file.commands if isinstance(other, lief.MachO.DylibCommand))
    yield from _same("name", name, f"@rpath/{library.name}")
    exports = {symbol.name for symbol in file.symbols if symbol.has_export_info}
    yield from _same("exports", exports - _MACHO_HAS, {f"_{name}" for name in EXPORTS})
    asked = {bound.symbol.name for bound in file.bindings}
    yield from _none("symbols that not every system has", asked - _MACOS_HAS)
    yield from _none("libraries that it needs", set(needed) - {"/usr/lib/libSystem.B.dylib"})
    if file.has_code_signature:
        yield from _signature_faults(library.read_bytes(), file.code_signature.data_offset)
    elif processor == "arm64":  # which runs nothing that is not signed
        yield "it is not signed"


def _signature_faults(data: bytes, place: int) -> Iterator[str]:
    """What is wrong with how a library for macOS is signed."""
    (count,) = struct.unpack_from(">I", data, place + 8)
    offsets = [struct.unpack_from(">I", data, place + 16 + 8 * k)[0] for k in range(count)]
    (begin,) = (place + k for k in offsets if struct.unpack_from(">I", data, place + k) == (0xFADE0C02,))
    flags, hashes, _, _, pages, covered = struct.unpack_from(">IIIIII", data, begin + 12)
    size, kind, _, page = data[begin + 36 : begin + 40]
    yield from _same("size and kind of its hashes", (size, kind), (32, 2))  # SHA-256
    yield from _same("it is signed ad hoc", bool(flags & 2), True)
    changed = [
        k
        for k in range(pages)
        if sha256(data[k << page : min(k + 1 << page, covered)]).digest()
        != data[begin + hashes + size * k : begin + hashes + size * (k + 1)]
    ]
    yield from _none("pages that are not what was signed", changed)
    yield from _none("bytes that are not signed", max(place - min(covered, pages << page), 0))


def _emscripten(library: Path, processor: str) -> Iterator[str]:
    file = wasm.Wasm(library.read_bytes())
    yield from _same("exports", file.exports - _WASM_HAS, EXPORTS)
    asked = {name for home, name in file.imports if home == "env"}
    yield from _none("symbols that not every system has", asked - _EMSCRIPTEN_HAS)
    others = {(home, name) for home, name in file.imports if home != "env" and name not in EXPORTS}
    yield from _none("what only other libraries have", others)
    yield from _same("libraries that it needs", file.needed, [])
