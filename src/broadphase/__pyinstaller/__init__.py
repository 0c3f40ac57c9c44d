"""Hooks for PyInstaller, which finds them by the entry point ``pyinstaller40``."""


def hook_dirs() -> list[str]:
    """The folder of ``hook-broadphase.py``."""
    return list(__path__)
