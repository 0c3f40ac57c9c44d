"""Windows' rule for open files, on Linux: what is open or mapped is not removed, renamed or replaced."""

import errno
import os
import sys
from contextlib import contextmanager
from pathlib import Path

_FOLDER = Path("/proc/self")
CAN_TELL = sys.platform == "linux" and (_FOLDER / "fd").is_dir()
"""Whether this system says which files are open."""


def opened() -> set[str]:
    """The files that this process has open or mapped."""
    found = set()
    for handle in (_FOLDER / "fd").iterdir():
        try:
            found.add(str(handle.readlink()))
        except OSError:  # closed in the meantime
            continue
    for line in (_FOLDER / "maps").read_text("utf-8").splitlines():
        _, slash, path = line.partition("/")
        found.add(slash + path)
    return {path for path in found if path.startswith("/") and not Path(path).is_dir()}


def _full(path, folder) -> str:
    path = os.fsdecode(path)
    if folder is not None:
        path = str((_FOLDER / "fd" / str(folder)).readlink() / path)
    return os.path.realpath(Path(path).absolute())


def _check(path, folder=None) -> None:
    full = _full(path, folder)
    for other in opened():
        if other == full or other.startswith(full + "/"):
            raise PermissionError(errno.EACCES, "is open, so that Windows would refuse this", other)


@contextmanager
def as_on_windows(monkeypatch):
    """Within the block, changes of names raise as they do on Windows; gives the list of what was refused."""
    refused = []

    def guarded(change, names):
        def guard(*paths, **options):
            folders = [options.get("src_dir_fd", options.get("dir_fd")), options.get("dst_dir_fd")]
            try:
                for path, folder in zip(paths[:names], folders, strict=False):
                    _check(path, folder)
            except PermissionError as error:
                refused.append(error.filename)
                raise
            return change(*paths, **options)

        return guard

    with monkeypatch.context() as patch:
        for name, names in (("unlink", 1), ("remove", 1), ("rmdir", 1), ("rename", 2), ("replace", 2)):
            patch.setattr(os, name, guarded(getattr(os, name), names))
        yield refused
