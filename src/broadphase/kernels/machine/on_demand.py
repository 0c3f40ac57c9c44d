"""Compiles kernels when they are called: edited ones, and ones called with unlisted types.

The machine code is kept in the user's cache, under a name that depends on the sources.
"""

import atexit
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from broadphase.kernels.machine.library import Library, library
from broadphase.kernels.machine.mode import level
from broadphase.kernels.machine.signatures import describe_all, listed
from broadphase.kernels.machine.target import HOST

_SOURCE = str(Path(__file__).parents[3])  # where this package was imported from
_compiling = Lock()


def compiled_here(module: str, made_of: str | None) -> str:
    """The path of a kernel file's library that was compiled on this machine, without its suffix."""
    return _stem(module, made_of, *(f"{name}: {types}" for name, types in _jobs_of_module(module)))


def _stem(name: str, made_of: str | None, *more: str) -> str:
    digest = blake2b(" ".join([str(made_of), level(), *more]).encode(), digest_size=12)
    return str(subfolder("libraries") / f"{name}-{digest.hexdigest()}")


def compile_kernel(
    name: str, module: str, made_of: str | None, types: str, otherwise: Callable[..., Any]
) -> tuple[bool, Callable[..., Any] | None]:
    """A builtin for a kernel and types, and whether it covers all listed types.

    None if no compiler is installed.
    """
    with _compiling:
        whole = types in listed().get(name, ()) and library(compiled_here(module, made_of)) is None
        stem = compiled_here(module, made_of) if whole else _stem(name, made_of, types)
        found = _compile(stem, _jobs_of_module(module) if whole else [(name, types)], f"{name} with {types}")
    if found is None:
        return False, None
    return whole, found.builtin(name, otherwise if whole else _refuse)


def _compile(stem: str, jobs: list[tuple[str, str]], wanted: str) -> Library | None:
    if library(stem) is None:
        library.cache_clear()
        if find_spec("numba") is None or not HOST.linkers():
            _warn_once()
            return None
        error = _run_compiler(stem + HOST.suffix, jobs)
        if error:
            raise TypeError(f"a kernel cannot be called: {wanted}: {error}")
    return Library(stem)


def _run_compiler(path: str, jobs: list[tuple[str, str]]) -> str:
    """Compile a library in a separate process; returns the error message, empty on success."""
    env = {"BROADPHASE_TARGET": HOST.name, "PYTHONPATH": os.pathsep.join([_SOURCE, *sys.path])}
    done = subprocess.run(
        [sys.executable, "-m", "broadphase.compiler", "--into", path, "--levels", level()],
        input="".join(f"{name}: {types}\n" for name, types in jobs),
        env={**os.environ, **env},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.stderr if done.returncode else ""


def _refuse(*arguments: Any) -> None:
    """The fallback of a builtin that was just compiled for the types of a call: it cannot be reached."""
    raise TypeError(f"a kernel was compiled for other types than {describe_all(arguments)}")


def _jobs_of_module(module: str) -> list[tuple[str, str]]:
    return [
        (name, types)
        for name, lists in listed().items()
        if name.rpartition(".")[0] == module
        for types in lists
    ]


@cache
def _warn_once() -> None:
    warnings.warn(
        "no compiled kernels fit this installation, so they run as plain Python, a hundred times slower and "
        "more; install the package again (python -m pip install .), or what compiles them: "
        'python -m pip install "broadphase[jit]"',
        RuntimeWarning,
        stacklevel=2,
    )


# ---- the user's cache folder for machine code that was compiled on this machine


@cache
def folder() -> Path:
    """``$BROADPHASE_CACHE`` or the platform's folder for caches.

    Libraries from this folder are loaded into the process.  So it must belong to this user, and no other user
    may have permission to write to it.  If no such folder is writable (a container, a service without a home,
    a full disk), a new temporary folder is used, which is removed when the process ends.
    """
    wanted = _wanted()
    try:
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_private(wanted) and os.access(wanted, os.W_OK):
            return wanted
    except OSError:
        pass
    made, owner = tempfile.mkdtemp(prefix="broadphase-"), os.getpid()  # only this user can read or write it

    def remove() -> None:
        if os.getpid() == owner:  # a forked process that ends leaves the folder to its parent
            shutil.rmtree(made, ignore_errors=True)

    atexit.register(remove)
    return Path(made)


def subfolder(name: str) -> Path:
    """A private folder in the cache; one that other users may write to is emptied first."""
    path = folder() / name
    if path.exists() and not is_private(path):
        shutil.rmtree(path)
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def is_private(folder: Path) -> bool:
    """Whether only this user owns and may write to a folder; Windows separates users by itself."""
    if not hasattr(os, "geteuid"):
        return True
    about = folder.lstat()
    writable = stat.S_IMODE(about.st_mode) & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not writable


def _wanted() -> Path:
    named = os.environ.get("BROADPHASE_CACHE")
    if named:
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:  # a user without a home
        user = os.geteuid() if hasattr(os, "geteuid") else "user"
        return Path(tempfile.gettempdir()) / f"broadphase-{user}"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "broadphase" / "cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "broadphase"
    return Path(os.environ.get("XDG_CACHE_HOME", home / ".cache")) / "broadphase"
