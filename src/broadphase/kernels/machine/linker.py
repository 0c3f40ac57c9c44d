"""What makes a library of object files: the system's linker, or else LLD, which ``ziglang`` brings.

`hatch_build.py` runs this file to know whether to ask for ``ziglang``; it imports nothing beyond Python.
"""

import sys
from importlib.util import find_spec
from shutil import which

_OBJECTS_TO_LIBRARY = {
    # What the code needs of the C library (memcpy, memset) is found in the process that loads it.
    "linux": ("-shared", "--gc-sections", "-s", "-z", "noexecstack"),
    "win32": ("/dll", "/noentry", "/nodefaultlib"),
    "darwin": ("-shared", "-Wl,-undefined,dynamic_lookup"),
}
_ZIG = {"linux": "ld.lld", "win32": "lld-link", "darwin": "cc"}


def linkers() -> list[tuple[str, ...]]:
    """All that this machine has, the best first: a command, and its arguments but for the files."""
    platform = sys.platform if sys.platform in _ZIG else "linux"
    arguments, found = _OBJECTS_TO_LIBRARY[platform], []
    # First, and `ziglang` only where it is missing: to fetch and unpack that takes 4 to 6 of the 30 seconds
    # that an installation takes besides compiling.
    if platform == "linux" and (system := which("ld")):
        found.append((system, *arguments))
    if find_spec("ziglang"):
        found.append((sys.executable, "-m", "ziglang", _ZIG[platform], *arguments))
    return found
