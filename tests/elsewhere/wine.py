"""What Wine lacks, for Pythons that run in it."""

import ctypes
import sys

# Wine 8 knows these only by name, and NumPy calls them when it is imported.  They return the parts of complex
# numbers: 8 bytes are passed in a register, 16 by their address.
_MISSING = {
    "crealf": "66 0f 6e c1 c3",  # movd xmm0, ecx; ret
    "cimagf": "48 c1 e9 20 66 0f 6e c1 c3",  # shr rcx, 32; movd xmm0, ecx; ret
    "cimag": "f2 0f 10 41 08 c3",  # movsd xmm0, [rcx + 8]; ret
}
_IS_MISSING = bytes.fromhex("48 83 ec 28 48 8d 0d")  # how all begin that only end the program
_WRITABLE_CODE = 0x40


def mend() -> None:
    """Write them where the C library of this process says that they are missing."""
    if sys.platform != "win32":
        return
    kernel = ctypes.WinDLL("kernel32")
    kernel.GetModuleHandleW.restype = ctypes.c_void_p
    kernel.GetProcAddress.restype = ctypes.c_void_p
    kernel.GetProcAddress.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    kernel.VirtualProtect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_void_p]
    library = kernel.GetModuleHandleW("ucrtbase.dll")
    for name, text in _MISSING.items():
        address, code = kernel.GetProcAddress(library, name.encode()), bytes.fromhex(text)
        if ctypes.string_at(address, len(_IS_MISSING)) == _IS_MISSING:
            before = ctypes.c_uint32()
            if not kernel.VirtualProtect(address, len(code), _WRITABLE_CODE, ctypes.byref(before)):
                raise OSError(f"{name} cannot be written")
            ctypes.memmove(address, code, len(code))
