"""Where what was compiled on this machine is kept: a folder of the user's."""

import os
import sys
import tempfile
from functools import cache
from pathlib import Path


@cache
def folder() -> Path:
    """``$BROADPHASE_CACHE`` or the platform's folder for caches.

    Where neither can be written (a container, a service without a home, a full disk) it is a temporary one.
    """
    wanted = _wanted()
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        if os.access(wanted, os.W_OK):
            return wanted
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="broadphase-"))


def _wanted() -> Path:
    named = os.environ.get("BROADPHASE_CACHE")
    if named:
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:  # a user without a home
        return Path(tempfile.gettempdir()) / "broadphase"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "broadphase" / "cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "broadphase"
    return Path(os.environ.get("XDG_CACHE_HOME", home / ".cache")) / "broadphase"
