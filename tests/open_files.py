"""Windows' rule for open files, on Linux: what is open or mapped is not removed, renamed or replaced."""

import errno
import mmap
import os
import sys
import weakref
from contextlib import contextmanager
from pathlib import Path

_FOLDER = Path("/proc/self")
CAN_TELL = sys.platform == "linux" and (_FOLDER / "fd").is_dir()
"""Whether this system says which files are open."""


_MAPS = weakref.WeakSet()
"""The maps of files that this process has."""


class _Map(mmap.mmap):
    def __new__(cls, *arguments, **options):
        one = super().__new__(cls, *arguments, **options)
        _MAPS.add(one)
        return one


def opened_under(path: str) -> str | None:
    """A file that this process has open or mapped and that is ``path`` or in it, if there is one."""
    # Not by pathlib, which would take half of the time of a small run.
    for handle in os.listdir(f"{_FOLDER}/fd"):  # noqa: PTH208
        try:
            target = os.readlink(f"{_FOLDER}/fd/{handle}")  # noqa: PTH115
        except OSError:  # closed in the meantime
            continue
        if target.startswith(path) and _is_in(target, path):
            return target
    if not _MAPS:  # to ask the system takes 0.6 ms, most of the time of a small run
        return None
    # Thousands of lines: only those of this path are looked at.
    mapped = (_FOLDER / "maps").read_text("utf-8")
    targets = (
        ["/" + line.partition("/")[2] for line in mapped.splitlines() if path in line]
        if path in mapped
        else []
    )
    return next((target for target in targets if _is_in(target, path)), None)


def _is_in(target: str, path: str) -> bool:
    return (target == path or target.startswith(path + "/")) and not Path(target).is_dir()


def _full(path, folder) -> str:
    path = os.fsdecode(path)
    if folder is not None:
        path = str((_FOLDER / "fd" / str(folder)).readlink() / path)
    return os.path.realpath(path)


def _check(path, folder=None) -> None:
    other = opened_under(_full(path, folder))
    if other is not None:
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
        patch.setattr(mmap, "mmap", _Map)
        yield refused
