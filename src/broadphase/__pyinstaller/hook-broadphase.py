"""Carry the stubs, which list the public names, and the modules, which are imported by those names."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

# What only the command and its pages use stays out, and so do the packages that they would bring.
_PROGRAMS = ("broadphase.bench", "broadphase.cli", "broadphase.lab", "broadphase.__")

datas = collect_data_files("broadphase", includes=["**/*.pyi"])
hiddenimports = collect_submodules("broadphase", filter=lambda name: not name.startswith(_PROGRAMS))
