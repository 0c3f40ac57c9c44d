"""What PyInstaller has to know: it looks here by itself (entry point ``pyinstaller40``)."""


def hook_dirs() -> list[str]:
    """Where ``hook-broadphase.py`` lies."""
    return list(__path__)
