"""Functions of the Windows API; only called on Windows."""

import ctypes
from typing import Any

_PROCESS_TIME, _PROCESS_MEMORY = 0x2, 0x100
_EXTENDED_LIMITS = 9


class _MemoryStatus(ctypes.Structure):
    """``MEMORYSTATUSEX``."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("physical", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        ("more", ctypes.c_uint64 * 5),
    )


class _MemoryCounters(ctypes.Structure):
    """``PROCESS_MEMORY_COUNTERS``."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("faults", ctypes.c_uint32),
        ("sizes", ctypes.c_size_t * 6),
        ("committed", ctypes.c_size_t),
        ("most_committed", ctypes.c_size_t),
    )


class _Limits(ctypes.Structure):
    """``JOBOBJECT_EXTENDED_LIMIT_INFORMATION``."""

    _fields_ = (
        ("process_time", ctypes.c_int64),  # in 100 ns
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("working_set", ctypes.c_size_t * 2),
        ("processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
        ("transfers", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("more", ctypes.c_size_t * 3),
    )


def _kernel32() -> Any:
    library = ctypes.CDLL("kernel32.dll")  # 64-bit Windows has one way to call functions
    for name in ("CreateJobObjectW", "GetCurrentProcess"):
        getattr(library, name).restype = ctypes.c_void_p
    return library


def available_memory() -> int | None:
    """Bytes that can be taken without swapping."""
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    answered = _kernel32().GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.available) if answered else None


def limit_this_process(memory: int, seconds: int) -> bool:
    """End this process after so many seconds of processor time, and let it allocate so many bytes more.

    An allocation that would exceed the limit fails.  Returns whether the limits are set.
    """
    system = _kernel32()
    process = ctypes.c_void_p(system.GetCurrentProcess())
    counters = _MemoryCounters(length=ctypes.sizeof(_MemoryCounters))
    if not system.K32GetProcessMemoryInfo(process, ctypes.byref(counters), counters.length):
        return False
    limits = _Limits(
        flags=_PROCESS_TIME | _PROCESS_MEMORY,
        process_time=seconds * 10**7,
        process_memory=counters.committed + memory,
    )
    job = ctypes.c_void_p(system.CreateJobObjectW(None, None))
    size = ctypes.sizeof(limits)
    return bool(
        job
        and system.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), size)
        and system.AssignProcessToJobObject(job, process)
    )
