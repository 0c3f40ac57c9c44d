"""The functions and objects of the interpreter that machine code uses, as one table of 64-bit numbers.

A library has no undefined symbol of Python.  Before its first call, this table is filled with addresses of
functions and objects, and with the offsets that differ between builds of Python.  So a library does not
depend on the version of Python or NumPy.  The compiler uses the positions in the table, and
`broadphase.kernels.machine.library` fills it.
"""

FUNCTIONS = (
    "PyErr_Clear",
    "PyErr_ExceptionMatches",
    "PyErr_NoMemory",
    "PyErr_Occurred",
    "PyEval_RestoreThread",
    "PyEval_SaveThread",
    "PyFloat_AsDouble",
    "PyFloat_FromDouble",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "PyList_Append",
    "PyLong_AsDouble",
    "PyLong_AsLongLong",
    "PyLong_FromLongLong",
    "PyLong_FromUnsignedLongLong",
    "PyCapsule_GetPointer",
    "PyCapsule_New",
    "PyMem_RawFree",
    "PyMem_RawMalloc",
    "PyObject_GetAttr",
    "PyObject_Vectorcall",
    "PySequence_GetItem",
    "PySequence_Size",
    "PyThread_tss_get",
    "PyThread_tss_set",
    "PyTuple_New",
    "PyTuple_SetItem",
    "PyTuple_Size",
    "PyType_GetFlags",
    "Py_DecRef",
    "Py_IncRef",
)
"""Functions of the stable ABI of Python 3.11 and newer, and `PyObject_Vectorcall`."""

SYSTEM = ("memmove", "memset", "give_way")
"""Functions of the C library and the operating system that libraries for Windows call."""

NUMBERS = (
    "object_size",  # sizeof(PyObject): where the fields of an object begin
    "tuple_items",  # offset of a tuple's first item
    "type_array",  # addresses of types and of objects
    "type_float",
    "type_float64",
    "type_int",
    "type_tuple",
    "true",
    "false",
    "none",
    "error_attribute",
    "error_index",
    "error_type",
    "check",  # called by kernels that run for long (`broadphase.kernels.machine.interrupts`)
    "array_new",  # PyArray_New and PyArray_SetBaseObject, of NumPy's own table
    "array_set_base",
    "number_i8",  # NumPy's type numbers of 64-bit integers, which differ between platforms
    "number_u8",
)

POSITION = {name: position for position, name in enumerate(FUNCTIONS + SYSTEM + NUMBERS)}

KINDS = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
"""Kinds of numbers by their NumPy names; a kernel's arrays hold one of them."""

KEY_SIZE = 16
"""At least the size of Python's ``Py_tss_t`` in bytes: the key of a thread-local number."""

KIND_NUMBERS = 32
"""Length of the second table: for each of NumPy's type numbers the position in `KINDS` plus one, or 0."""
