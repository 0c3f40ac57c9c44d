"""The table of platforms that kernels are compiled for, and the platform of this machine.

`hatch_build.py` runs this file before anything is installed, so it imports only the standard library.
"""

import os
import sys
from typing import Literal, NamedTuple

X86 = ("x86-64-v4", "x86-64-v3", "x86-64-v2")
"""Levels of x86-64, the best first (the psABI names them): AVX-512, AVX2 and SSE 4.2."""
ARM = ("arm64",)
WASM = ("simd128",)
"""WebAssembly with 128-bit vectors: every browser since 2023."""

# Functions of the C library (memcpy, memset, sched_yield) are resolved in the process that loads the library.
_ELF = ("-shared", "--gc-sections", "-s", "-z", "noexecstack")
_LLD = ("ld.lld", *_ELF)
# With /brepro a library does not contain the time of linking, so builds are reproducible.
_COFF = ("lld-link", "/dll", "/noentry", "/nodefaultlib", "/noimplib", "/opt:ref", "/brepro")
# A side module of Emscripten: memory, table and stack are those of the interpreter that loads it.
_WASM = ("wasm-ld", "-shared", "--experimental-pic", "--gc-sections", "-s")
# This linker signs its output; arm64 Macs run no code without a signature.
_MACHO = ("cc", "-shared", "-Wl,-undefined,dynamic_lookup", "-Wl,-dead_strip", "-Wl,-s")
_PYODIDE = "pyemscripten_2026_0_wasm32"  # Pyodide 314 installs wheels with this tag.
_MAC_X86 = (*_MACHO, "-target", "x86_64-macos.10.15")
_MAC_ARM = (*_MACHO, "-target", "aarch64-macos.11.0")


class Target(NamedTuple):
    """A platform: operating system and kind of processor."""

    name: str
    system: Literal["linux", "windows", "macos", "emscripten"]
    triple: str
    """LLVM's target triple."""
    levels: tuple[str, ...]
    """The levels of processors in a package for this platform, best first."""
    lld: tuple[str, ...]
    """The command line of LLD, which ``ziglang`` contains, without the files."""
    wheel_tag: str
    """The platform tags of its wheels, with dots between them."""

    @property
    def suffix(self) -> str:
        """The file name extension of a library."""
        return {"windows": ".dll", "macos": ".dylib"}.get(self.system, ".so")

    @property
    def address_bits(self) -> int:
        """The bits of an address, and of the sizes that functions of Python and NumPy take."""
        return 32 if self.system == "emscripten" else 64

    def cpu(self, level: str) -> str:
        """LLVM's name of the processor for a level."""
        if level in ARM:
            return "apple-m1" if self.system == "macos" else "generic"
        return "generic" if level in WASM else level

    def features(self, level: str) -> str:
        """Further instructions, in LLVM's names."""
        return "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext" if level in WASM else ""

    def linkers(self) -> list[tuple[str, ...]]:
        """Linker commands on this machine for this platform, best first, without the files."""
        from importlib.util import find_spec  # imported here, because starting programs need neither
        from shutil import which

        found: list[tuple[str, ...]] = []
        # This linker comes first, and `ziglang` is used only if it is missing: downloading and unpacking
        # `ziglang` takes 4 to 6 of the 30 seconds that an installation takes besides compiling.
        if self.name == HOST.name and self.system == "linux" and (system := which("ld")):
            found.append((system, *_ELF))
        if self.lld and find_spec("ziglang"):
            found.append((sys.executable, "-m", "ziglang", *self.lld))
        return found

    def output(self, library: str) -> tuple[str, ...]:
        """The linker arguments that name the output library."""
        if self.system == "windows":
            return (f"/out:{library}",)
        if self.system == "macos":  # not the folder that it was linked in, which programs would look for
            return ("-o", library, f"-Wl,-install_name,@rpath/{os.path.basename(library)}")
        return ("-o", library)


_ALL = (
    Target(
        "linux-x86_64",
        "linux",
        "x86_64-unknown-linux-gnu",
        X86,
        _LLD,
        "manylinux2014_x86_64.musllinux_1_2_x86_64",
    ),
    Target(
        "linux-arm64",
        "linux",
        "aarch64-unknown-linux-gnu",
        ARM,
        _LLD,
        "manylinux2014_aarch64.musllinux_1_2_aarch64",
    ),
    Target("windows-x86_64", "windows", "x86_64-pc-windows-msvc", X86, (*_COFF, "/machine:x64"), "win_amd64"),
    Target(
        "windows-arm64", "windows", "aarch64-pc-windows-msvc", ARM, (*_COFF, "/machine:arm64"), "win_arm64"
    ),
    # NumPy 2 runs on macOS 10.15 and newer; few Macs have AVX-512.
    Target("macos-x86_64", "macos", "x86_64-apple-macosx10.15.0", X86[1:], _MAC_X86, "macosx_10_15_x86_64"),
    Target("macos-arm64", "macos", "arm64-apple-macosx11.0.0", ARM, _MAC_ARM, "macosx_11_0_arm64"),
    Target("emscripten-wasm32", "emscripten", "wasm32-unknown-emscripten", WASM, _WASM, _PYODIDE),
)
TARGETS = {target.name: target for target in _ALL}


def _host_name() -> str:
    if sys.platform == "win32":
        # This is the interpreter's architecture: arm64 machines can also run x86-64 Pythons.
        return "windows-arm64" if "(arm64)" in sys.version.lower() else "windows-x86_64"
    if sys.platform == "emscripten":
        return "emscripten-wasm32"
    machine = os.uname().machine.lower().replace("aarch64", "arm64").replace("amd64", "x86_64")
    return f"{'macos' if sys.platform == 'darwin' else 'linux'}-{machine}"


HOST = TARGETS.get(_host_name(), Target(_host_name(), "linux", "", ("generic",), (), ""))
"""The platform of this process; if it is not in `TARGETS`, kernels run as plain Python."""


def chosen() -> Target:
    """The platform that ``BROADPHASE_TARGET`` names, or else this one.

    Only the compiler calls this: a running program loads the libraries of its own platform.
    """
    name = os.environ.get("BROADPHASE_TARGET") or HOST.name
    if name not in TARGETS:
        raise ValueError(f"kernels can be compiled for {', '.join(TARGETS)}; got {name!r}")
    return TARGETS[name]
