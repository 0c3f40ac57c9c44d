"""The user's cache folder for machine code that was compiled on this machine."""

import atexit
import os
import shutil
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path


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
