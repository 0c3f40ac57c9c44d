"""Whether a library is what the loader of its platform takes, and asks for nothing that is not there."""

from collections.abc import Iterator
from pathlib import Path

from . import elf, macho, pe, wasm

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
_OLDEST_MACOS = {"macos-x86_64": "10.15", "macos-arm64": "11.0"}  # as the wheels' tags say


def faults(library: Path, target: str) -> list[str]:
    """Everything that is wrong with a library for a target of `broadphase.kernels.machine.target`."""
    system, _, processor = target.partition("-")
    check = {"linux": _linux, "windows": _windows, "macos": _macos, "emscripten": _emscripten}[system]
    try:
        return list(check(library, processor))
    except (ValueError, IndexError) as error:
        return [f"it cannot be read: {error}"]


def _same(what: str, found: object, right: object) -> Iterator[str]:
    if found != right:
        yield f"{what}: {found}, not {right}"


def _none(what: str, found: object) -> Iterator[str]:
    if found:
        yield f"{what}: {found}"


def _linux(library: Path, processor: str) -> Iterator[str]:
    file = elf.Elf(library.read_bytes())
    yield from _same("processor", file.machine, {"x86_64": elf.X86_64, "arm64": elf.ARM64}[processor])
    yield from _same("exports", file.exports, EXPORTS)
    yield from _none("symbols that not every system has", file.undefined - _LINUX_HAS)
    yield from _none("libraries that it needs", file.needed)
    yield from _none("the loader writes into code", file.patches_code)
    yield from _none("it wants an executable stack", file.wants_an_executable_stack)


def _windows(library: Path, processor: str) -> Iterator[str]:
    file = pe.Pe(library.read_bytes())
    yield from _same("processor", file.machine, {"x86_64": pe.X86_64, "arm64": pe.ARM64}[processor])
    yield from _same("exports", file.exports, EXPORTS)
    # Every process has it; what is needed of it is what touches a stack page by page.
    yield from _none("libraries that it needs", [name for name in file.imports if name != "ntdll.dll"])
    yield from _same("it can be loaded at any address", file.may_lie_anywhere, True)
    yield from _same("nothing of its data may be run", file.runs_no_data, True)
    if not file.functions:
        yield "it does not say how to unwind its functions"


def _macos(library: Path, processor: str) -> Iterator[str]:
    file = macho.MachO(library.read_bytes())
    oldest = _OLDEST_MACOS[f"macos-{processor}"]
    yield from _same("processor", file.machine, {"x86_64": macho.X86_64, "arm64": macho.ARM64}[processor])
    yield from _same("platform", file.built_for, (macho.MACOS, oldest))
    yield from _same("name", file.name, f"@rpath/{library.name}")
    yield from _same("exports", set(file.exports) - _MACHO_HAS, {f"_{name}" for name in EXPORTS})
    asked = {bound.name for bound in file.binds}
    yield from _none("symbols that not every system has", asked - _MACOS_HAS)
    yield from _none("libraries that it needs", set(file.needed) - {"/usr/lib/libSystem.B.dylib"})
    signature = file.signature
    if signature is None:
        if processor == "arm64":  # which runs nothing that is not signed
            yield "it is not signed"
    else:
        yield from _same("it is signed ad hoc", signature.is_ad_hoc, True)
        yield from _none("pages that are not what was signed", signature.wrong_pages)


def _emscripten(library: Path, processor: str) -> Iterator[str]:
    file = wasm.Wasm(library.read_bytes())
    yield from _same("exports", file.exports - _WASM_HAS, EXPORTS)
    asked = {name for home, name in file.imports if home == "env"}
    yield from _none("symbols that not every system has", asked - _EMSCRIPTEN_HAS)
    others = {(home, name) for home, name in file.imports if home != "env" and name not in EXPORTS}
    yield from _none("what only other libraries have", others)
    yield from _same("libraries that it needs", file.needed, [])
