"""Arrays that reach kernels have the same integers where NumPy's default has 32 bits, as in the browser."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import broadphase as bp

TESTS = Path(__file__).parent


def run(*arguments):
    """Python, with integers of 32 bits."""
    paths = os.pathsep.join([str(Path(bp.__file__).parents[1]), str(TESTS), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_every_public_function_works():
    said = run(TESTS / "int32.py", TESTS / "arrival.py")
    assert "every public function works" in said, (
        f"{said}\nAfter an edit of kernels: python -m broadphase.compiler"
    )


def test_the_integers_are_those_of_such_a_platform():
    code = """
import int32, numpy as np
int32.make_narrow()
exec(compile('''
found = np.arange(3), np.full(2, -1), np.flatnonzero([1]), np.cumsum(np.ones(2, bool)), np.array([1])
types = {str(one.dtype) for one in found}
wide = {str(np.arange(3, dtype=np.int64).dtype), str(np.cumsum(np.ones(2, np.int64)).dtype)}
try:
    np.repeat([1, 2], np.ones(2, np.int64))
except TypeError as error:
    refused = str(error)
''', "", "exec"), names := {"__name__": "broadphase.some", "np": np})
print(names["types"], names["wide"], names["refused"])
"""
    assert run("-c", code).startswith("{'int32'} {'int64'} numpy.repeat: cannot cast int64 to int32")
    assert np.arange(3).dtype == np.intp  # and in this process nothing has changed
