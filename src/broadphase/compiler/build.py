"""The files of a build: which kernel has which object file, and the index of a library.

Each kernel and list of types has its own object file in the user's cache.  The file's name is a hash of
everything that the machine code depends on, so a second build compiles only what was edited.
"""

import errno
import os
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from broadphase.kernels.machine.on_demand import subfolder
from broadphase.kernels.machine.signatures import PACKAGE
from broadphase.kernels.machine.sources import fingerprint, hashes
from broadphase.kernels.machine.target import Target


class Job(NamedTuple):
    """A kernel, ``"package.file.name"``, for one list of types."""

    kernel: str
    types: str

    @property
    def module(self) -> str:
        """``"package.file"``."""
        return self.kernel.rpartition(".")[0]

    @property
    def symbol(self) -> str:
        """The name of the function in machine code."""
        return "call_" + blake2b(f"{self.kernel}: {self.types}".encode(), digest_size=12).hexdigest()

    def object(self, target: Target, level: str) -> Path:
        """Where its object file lies, when it was compiled."""
        return part_object(self.symbol, PACKAGE + self.module, target, level)


def part_object(symbol: str, module: str, target: Target, level: str) -> Path:
    """Where the object file of a function lies, when it was compiled."""
    made_of = [fingerprint(module), version("numba"), version("llvmlite")]
    if "BROADPHASE_CHECKED" in os.environ:  # see `broadphase.compiler.lowering`
        made_of.append("checked")
    key = blake2b(" ".join(map(str, made_of)).encode(), digest_size=8).hexdigest()
    return subfolder("objects") / target.name / level / f"{symbol}-{key}.o"


def table_object(jobs: Sequence[Job], target: Target, level: str) -> Path:
    """Where the table of a library of these kernels lies, when it was compiled."""
    names = blake2b(" ".join(job.symbol for job in jobs).encode(), digest_size=12).hexdigest()
    # The table depends on these names and on the compiler, which is part of the fingerprint of every module.
    return part_object(f"table_{names}", PACKAGE + jobs[0].module, target, level)


def parts_beside(path: Path) -> Path:
    """The file that says which common functions a kernel needs."""
    return path.with_suffix(".parts")


def parts_of(path: Path) -> list[Path]:
    """The object files of the common functions that a kernel needs."""
    return [Path(line) for line in parts_beside(path).read_text().splitlines()]


def is_compiled(path: Path) -> bool:
    """Whether all object files that a kernel needs are there."""
    # Each file is checked: a program that cleans up the cache may have removed any of them.
    return path.exists() and parts_beside(path).exists() and all(part.exists() for part in parts_of(path))


def jobs_of(listed: Mapping[str, Sequence[str]]) -> list[Job]:
    """A job for each line of ``signatures.txt``."""
    return [Job(kernel, types) for kernel, lists in listed.items() for types in lists]


def advice(error: OSError) -> str:
    """One line that says which file could not be written, and what to do."""
    full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
    where = f" ({error.filename})" if error.filename else ""
    todo = (
        "make room, or name folders on another disk in TMPDIR and BROADPHASE_CACHE"
        if full
        else "build from a copy of the source in a folder that you may write to, or install a wheel"
    )
    return f"the compiled kernels cannot be written: {error.strerror or error}{where}; {todo}"


def index_of(jobs: Sequence[Job]) -> str:
    """The text of a library's index: hashes of files, fingerprints of modules, the kernels in their order."""
    modules = dict.fromkeys(job.module for job in jobs)
    kernels = dict.fromkeys(job.kernel for job in jobs)
    files = hashes(PACKAGE + name for name in modules)
    lines = [f"source {text} {code}" for text, code in files.items()]
    lines += [f"module {name} {fingerprint(PACKAGE + name)}" for name in modules]
    return "\n".join(lines + [f"kernel {name}" for name in kernels]) + "\n"
