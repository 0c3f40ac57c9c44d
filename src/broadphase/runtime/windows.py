"""Functions of the Windows API; only called on Windows."""

import ctypes
from typing import Any


class _MemoryStatus(ctypes.Structure):
    """``MEMORYSTATUSEX``."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("physical", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        ("more", ctypes.c_uint64 * 5),
    )


def _kernel32() -> Any:
    return ctypes.CDLL("kernel32.dll")  # 64-bit Windows has one way to call functions


def available_memory() -> int | None:
    """Bytes that can be taken without swapping."""
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    answered = _kernel32().GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.available) if answered else None
