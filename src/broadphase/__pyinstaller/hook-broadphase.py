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
# What adapters and readers of files import when they are called.  This holds for imports by this package
# only: a program that uses one of these imports it itself, and then it comes along.  Numba never does.
excludedimports = [
    *("numba", "llvmlite", "warp", "cupy", "torch", "jax"),
    *("arcade", "pyglet", "pygame", "esper", "mesa", "ase", "freud"),
    *("pyarrow", "dask", "distributed", "fsspec", "pandas", "polars", "geopandas", "shapely"),
    *("scipy", "networkx"),
    *("matplotlib", "rich", "cyclopts", "zstandard", "PIL"),
]
