"""Carry the compiled kernels, the stubs (they list the public names) and the modules that they name."""

from PyInstaller.utils.hooks import collect_data_files, collect_dynamic_libs, collect_submodules

# What only the command, its pages and the compiler use stays out, and so do the packages they would bring.
_LEFT_OUT = (
    "broadphase.bench",
    "broadphase.cli",
    "broadphase.dask",
    "broadphase.lab",
    "broadphase.__",
    "broadphase.compiler",
    "broadphase.kernels.machine.intrinsics",
)

datas = collect_data_files("broadphase", includes=["**/*.pyi", "kernels/signatures.txt", "**/*.index"])
binaries = collect_dynamic_libs("broadphase", search_patterns=["*.so", "*.dylib", "*.dll"])
hiddenimports = collect_submodules("broadphase", filter=lambda name: not name.startswith(_LEFT_OUT))
excludedimports = ["numba", "llvmlite"]  # the compiler, which a running program never loads
