"""What needs a process of its own: imports, forks, and kernels as plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import broadphase as bp

HERE = Path(__file__).parent
WAIT = 300  # seconds; only what hangs takes so long


def run(script, *arguments, **environment):
    """Run a script in a fresh interpreter that knows the test folder; returns what it printed."""
    package = str(Path(bp.__file__).parent.parent)
    path = os.pathsep.join([package, str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_loads_neither_numpy_nor_numba():
    heavy = run(
        "import sys, broadphase; dir(broadphase); broadphase.__version__; "
        "print([name for name in ('numpy', 'numba', 'llvmlite', 'matplotlib') if name in sys.modules])"
    )
    assert heavy == "[]"


def test_the_array_functions_load_no_compiler_and_nothing_of_the_extras():
    extras = run(
        "import sys, broadphase as bp; bp.pairs([[0, 0, 1, 1]] * 3); bp.World().update(); "
        "heavy = 'numba', 'llvmlite', 'ziglang', 'matplotlib', 'rich', 'cyclopts', 'pyarrow'; "
        "print([name for name in heavy if name in sys.modules])"
    )
    assert extras == "[]"


FORK = """
import os, signal
import numpy as np
import broadphase as bp, scenes
boxes = scenes.make("uniform", 5_000, 2)
expected = bp.pairs(boxes, threads=1)

def right():
    return all(np.array_equal(bp.pairs(boxes, method=m, threads=4), expected) for m in bp.METHODS)

assert right()
child = os.fork()
if child == 0:
    signal.alarm(120)  # a child that waits for a thread which only the parent has would wait for ever
    os._exit(0 if right() else 1)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
assert right()
print("right")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_gets_a_pool_of_its_own():
    # Python 3.12 and newer warn of any fork with threads: that is what is tested here.
    script = "import warnings; warnings.simplefilter('ignore', DeprecationWarning)" + FORK
    assert run(script) == "right"


WITHOUT_JIT = """
import sys, numpy as np
import broadphase as bp, oracle, scenes
for dim in (2, 3):
    for name in ("integers", "infinite_boxes"):
        boxes = scenes.make(name, 20, dim, np.float32)
        for method in bp.METHODS:
            found = bp.pairs(boxes, method=method)
            assert np.array_equal(found, oracle.pairs(boxes)), (name, dim, method)
            assert found.dtype == np.int32
assert "numba" not in sys.modules
print("right")
"""


def test_the_answer_is_the_same_without_the_jit():
    assert run(WITHOUT_JIT, NUMBA_DISABLE_JIT="1") == "right"


@pytest.mark.smaller_set
def test_methods_are_the_promised_ones():
    textbook = {"brute_force", "sort_and_sweep", "uniform_grid", "spatial_hash", "tree"}
    assert textbook | {"strips", "auto"} <= set(bp.METHODS)
