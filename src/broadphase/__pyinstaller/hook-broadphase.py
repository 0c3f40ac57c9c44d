"""Include the compiled kernels, the stubs (which list the public names) and the modules that they name."""

from PyInstaller.utils.hooks import collect_data_files, collect_dynamic_libs, collect_submodules

# Modules of the command, the tour and the compiler are left out, with the packages that they would bring.
_LEFT_OUT = (
    "broadphase.cli",
    "broadphase.dask",
    "broadphase.doctor",
    "broadphase.tour",
    "broadphase.__",
    "broadphase.compiler",
    "broadphase.kernels.machine.intrinsics",
)

datas = collect_data_files("broadphase", includes=["**/*.pyi", "kernels/signatures.txt", "**/*.index"])
binaries = collect_dynamic_libs("broadphase", search_patterns=["*.so", "*.dylib", "*.dll"])
hiddenimports = collect_submodules("broadphase", filter=lambda name: not name.startswith(_LEFT_OUT))
# The compiler, which a running program never loads; and Warp, 400 MB, which a program that searches on a
# graphics card imports itself.
excludedimports = ["numba", "llvmlite", "warp"]
