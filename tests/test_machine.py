"""Compiled kernels as builtins: what they leave behind, threads, denormals, edits, read-only folders."""

import ast
import ctypes
import importlib.util
import mmap
import os
import platform
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import oracle
import pytest
import scenes
from checks import assert_same
from test_no_warm_up import run

import broadphase as bp
from broadphase.indexes import CLASSES
from broadphase.kernels.arrays.sorting import argsort_keys
from broadphase.kernels.machine import on_demand
from broadphase.kernels.machine.library import fingerprint
from broadphase.kernels.machine.mode import PLAIN, level

pytestmark = pytest.mark.skipif(PLAIN, reason="is about compiled kernels")

PACKAGE = Path(bp.__file__).parent


def test_a_library_serves_every_version_of_python(monkeypatch):
    """Python's own hash of sources, for one, begins with a number of its version."""
    module = "broadphase.kernels.arrays.sorting"
    here = fingerprint.__wrapped__(module)
    monkeypatch.setattr(importlib.util, "_RAW_MAGIC_NUMBER", 0, raising=False)
    assert fingerprint.__wrapped__(module) == here == fingerprint(module)


# ---- what calls leave behind


def test_many_calls_keep_nothing(exhaustive):
    times = 50_000 if exhaustive else 5_000
    references, size = map(int, run(f"import builtin_hammer; builtin_hammer.hammer({times})").split())
    assert references < times // 50
    assert size < 8 * times  # the smallest object has twice as much


def test_a_result_outlives_everything_else():
    keys = np.random.default_rng(0).integers(0, 100, 5_000)
    first = argsort_keys(keys, False)
    right = np.argsort(keys, kind="stable")
    for _ in range(50):
        argsort_keys(keys[::-1].copy(), False)
    assert np.array_equal(first, right)
    part, whole = first[10:20].copy(), first[10:20]
    del first
    argsort_keys(keys[::-1].copy(), False)
    assert np.array_equal(part, whole)


def test_threads_in_one_builtin():
    random = np.random.default_rng(1)
    lists = [random.integers(0, 1000, size) for size in (0, 1, 7, 300, 4_000)]
    right = [np.argsort(keys, kind="stable") for keys in lists]

    def call(_):
        return all(
            np.array_equal(argsort_keys(keys, False), order) for keys, order in zip(lists, right, strict=True)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(400)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_builtins_in_a_forked_child():
    script = """
import os, numpy as np
from broadphase.kernels.arrays.sorting import argsort_keys
keys = np.arange(1000)[::-1].copy()
before = argsort_keys(keys, False)
child = os.fork()
right = all(np.array_equal(argsort_keys(keys, False), before) for _ in range(100))
if child == 0:
    os._exit(0 if right else 1)
assert right and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("right")
"""
    assert run(script) == "right"


# ---- what arguments may be


def test_read_only_arrays_and_numbers_of_numpy():
    from broadphase.kernels.boxes.checks import first_unsound_row
    from broadphase.kernels.tiles.grid import cell_of_point, no_tiles

    boxes = np.zeros((5, 4), np.float32)
    boxes[3, 0] = 1
    boxes.flags.writeable = False
    assert first_unsound_row(boxes) == first_unsound_row(boxes.view(np.recarray)) == 3
    assert first_unsound_row(boxes[:0]) == first_unsound_row(np.zeros((0, 6))) == -1
    grid = no_tiles()._replace(solid=np.zeros((2, 3), np.bool_))
    assert cell_of_point(grid, 2.5, 1.0) == (2, 1)
    sloppy = grid._replace(x=0, width=np.uint8(1), height=np.int32(1), around=np.int64(0))
    assert cell_of_point(sloppy, np.float32(2.5), np.float64(1)) == (2, 1)
    assert cell_of_point(grid, float("nan"), 5) == (-1, 2)


@pytest.mark.parametrize(
    "wrong", [object(), "text", [[0.0] * 4], np.zeros((2, 4)).T, np.zeros((2, 4), ">f8")]
)
def test_what_no_kernel_takes_is_a_type_error(wrong):
    from broadphase.kernels.boxes.checks import first_unsound_row

    with pytest.raises(TypeError, match="kernels take"):
        first_unsound_row(wrong)
    with pytest.raises(TypeError):
        first_unsound_row()


# ---- denormals


# Functions of an address that read and write the control register of floating point there; and its bits that
# flush denormals.
_REGISTERS = {
    # stmxcsr [rdi]; ret; ldmxcsr [rdi]; ret
    "x86_64": ("0f ae 1f c3", "0f ae 17 c3", 0x8040),
    # Windows passes the address in rcx.
    "AMD64": ("0f ae 19 c3", "0f ae 11 c3", 0x8040),
    # mrs x1, fpcr; str x1, [x0]; ret; ldr x1, [x0]; msr fpcr, x1; ret
    "aarch64": ("01 44 3b d5 01 00 00 f9 c0 03 5f d6", "01 00 40 f9 01 44 1b d5 c0 03 5f d6", 1 << 24),
}


def runnable_memory(code):
    """The address of code that may be run, and what keeps it there."""
    if os.name == "nt":
        allocate = ctypes.windll.kernel32.VirtualAlloc
        allocate.restype, allocate.argtypes = (
            ctypes.c_void_p,
            [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_uint32] * 2],
        )
        address = allocate(None, len(code), 0x3000, 0x40)  # reserved and committed; it may be written and run
        ctypes.memmove(address, code, len(code))
        return address, None
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        pytest.skip("no memory may be run here")
    page.write(code)
    return ctypes.addressof(ctypes.c_char.from_buffer(page)), page


@contextmanager
def flushed_denormals():
    """As `torch.set_flush_denormal` and libraries built with fast math leave the calling thread."""
    reading, writing, bits = _REGISTERS[platform.machine()]
    first, second = bytes.fromhex(reading), bytes.fromhex(writing)
    address, _page = runnable_memory(first + second)
    call = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_uint64))
    read, write = call(address), call(address + len(first))
    before, during = ctypes.c_uint64(), ctypes.c_uint64()
    read(before)
    write(ctypes.c_uint64(before.value | bits))
    try:
        assert float("1e-310") * 1.0 == 0.0, "the mode is not set"
        yield
        read(during)
        assert during.value & bits == bits, "a call left another mode behind"
    finally:
        write(before)


on_known_processors = pytest.mark.skipif(
    platform.machine() not in _REGISTERS, reason="writes a register of the processor"
)


@on_known_processors
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("method", bp.METHODS)
def test_flushed_denormals_lose_no_pair(method, dim, dtype):
    boxes = scenes.make("denormal", 200, dim, dtype)
    right = {touching: oracle.pairs(boxes, touching=touching) for touching in (True, False)}
    for touching, expected in right.items():
        with flushed_denormals():
            found = bp.pairs(boxes, method=method, touching=touching)
        assert_same(found, expected)


@on_known_processors
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(CLASSES))
def test_flushed_denormals_lose_no_pair_of_an_index(name, dtype):
    boxes = scenes.make("denormal", 200, 2, dtype)
    options = {"bounds": (0, 0, 1, 1), "cell_size": 1.0} if name == "uniform_grid" else {}

    def query():
        index = bp.make_index(name, dtype=dtype, **options)
        index.insert_many(boxes[:150])
        found = index.pairs()
        index.move_many(np.arange(100), boxes[100:])
        return found, index.pairs()

    right = query()
    with flushed_denormals():
        found = query()
    for ours, expected in zip(found, right, strict=True):
        assert np.array_equal(ours, expected)


@on_known_processors
@pytest.mark.parametrize("name", sorted(CLASSES))
def test_flushed_denormals_change_no_question_in_float64(name):
    boxes = scenes.make("denormal", 100, 2, np.float64)
    options = {"bounds": (0, 0, 1, 1), "cell_size": 1.0} if name == "uniform_grid" else {}
    index = bp.make_index(name, **options)
    index.insert_many(boxes)

    def query():
        return index.query_box(boxes), index.query_point(boxes[:, :2])

    right = query()
    with flushed_denormals():
        found = query()
    for ours, expected in zip(found, right, strict=True):
        assert np.array_equal(ours, expected)


# ---- edited files, and read-only folders


@pytest.fixture
def copy(tmp_path):
    """A copy of the package that may be edited, with its compiled kernels and bytecode."""
    return shutil.copytree(PACKAGE, tmp_path / "src" / "broadphase")


ASK = """
import sys, numpy as np, broadphase as bp
assert bp.__file__.startswith({0!r}), bp.__file__
boxes = np.array([[0.0, 0, 1, 1], [2, 2, 3, 3], [1, 1, 2, 2]])
print(bp.pairs(boxes).tolist())
try:
    bp.pairs(np.array([[0.0, 0, 1, 1], [1, 0, 0, 1], [3, 0, 2, 1]]))
except ValueError as error:
    print(error)
"""
PAIRS = "[[0, 2], [1, 2]]"
HOMELESS = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null/cache", "BROADPHASE_CACHE": ""}


def query(copy, before="", **environment):
    """Search with the copy, and hand it a box of which the edited kernel knows."""
    path = str(copy.parent)
    script = f"import sys; sys.path.insert(0, {path!r})\n" + before + ASK.format(path)
    return run(script, PYTHONDONTWRITEBYTECODE="1", **environment).splitlines()


def edit(copy):
    """Let one kernel name another row."""
    file = copy / "kernels/boxes/checks.py"
    text = file.read_text()
    line = "        if not _is_sound(boxes, i):\n            return i\n    return -1\n"
    assert text.count(line) == 1
    file.write_text(text.replace(line, line.replace("return i\n", "return i + 1\n")))


def compiled_in(cache):
    return sorted(file.name.partition("-")[0] for file in (cache / "libraries").glob("*.index"))


@pytest.mark.exhaustive  # it compiles a kernel
def test_an_edited_kernel_is_compiled_on_its_next_call_and_nothing_else(copy, tmp_path):
    cache = tmp_path / "cache"
    assert "boxes[1]" in query(copy, BROADPHASE_CACHE=str(cache))[1]
    assert not cache.exists() or compiled_in(cache) == []
    edit(copy)
    pairs, error = query(copy, BROADPHASE_CACHE=str(cache))
    assert pairs == PAIRS
    assert "boxes[2]" in error
    assert compiled_in(cache) == ["boxes.checks", "boxes.few_boxes"]  # which imports it by way of others
    made = {file: file.stat().st_mtime_ns for file in cache.rglob("*") if file.is_file()}
    assert query(copy, BROADPHASE_CACHE=str(cache)) == [pairs, error]
    assert {file: file.stat().st_mtime_ns for file in cache.rglob("*") if file.is_file()} == made


OBJECTS = """
from broadphase.compiler.build import jobs_of
from broadphase.kernels.machine.signatures import listed
from broadphase.kernels.machine.target import HOST
print(sorted((job.kernel, str(job.object(HOST, "generic"))) for job in jobs_of(listed())))
"""


def objects_of(copy, cache):
    """For each kernel, the files of its machine code: what is not there is compiled."""
    printed = run(OBJECTS, PYTHONPATH=str(copy.parent), BROADPHASE_CACHE=str(cache))
    return set(ast.literal_eval(printed))


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="nothing compiles without Numba")
def test_a_build_compiles_what_depends_on_an_edited_file(copy, tmp_path):
    objects = objects_of(copy, tmp_path / "cache")
    with (copy / "kernels/pairs/order.py").open("a", encoding="utf-8") as file:
        file.write("EDITED = 1\n")
    depending = ("pairs.order.", "strips.small_worlds.")  # one kernel file imports it
    changed = objects - objects_of(copy, tmp_path / "cache")
    assert changed == {(kernel, path) for kernel, path in objects if kernel.startswith(depending)}


def test_without_a_compiler_an_edited_kernel_runs_as_plain_python_and_says_so_once(copy, tmp_path):
    edit(copy)
    without = """
import warnings
sys.modules["numba"] = None
warnings.simplefilter("always")
warnings.showwarning = lambda message, kind, *rest: print(kind.__name__, str(message)[-50:])
"""
    lines = query(copy, without, BROADPHASE_CACHE=str(tmp_path / "cache"))
    (said,) = [line for line in lines if line.startswith("RuntimeWarning")]
    pairs, error = [line for line in lines if line != said]
    assert 'pip install "broadphase[jit]"' in said
    assert pairs == PAIRS
    assert "boxes[2]" in error


def test_no_folder_that_may_be_written(copy):
    for folder in [copy, *copy.rglob("*")]:
        folder.chmod(folder.stat().st_mode & ~0o222)
    try:
        assert query(copy, **HOMELESS)[0] == PAIRS
    finally:
        for folder in [copy, *copy.rglob("*")]:
            folder.chmod(folder.stat().st_mode | 0o200)


@pytest.mark.exhaustive  # it compiles a kernel
def test_an_edited_kernel_without_a_folder_to_keep_it_in(copy):
    edit(copy)
    pairs, error = query(copy, **HOMELESS)
    assert pairs == PAIRS
    assert "boxes[2]" in error


@pytest.mark.exhaustive  # each of them compiles
def test_several_processes_may_start_with_nothing_compiled(copy, tmp_path):
    """Two and two of them compile the same kernels into the same files at once: only Numba is there."""
    shutil.rmtree(copy / "kernels" / "compiled")
    cache = tmp_path / "cache"
    script = """
import sys; sys.path.insert(0, sys.argv[1])
import numpy as np, broadphase as bp, oracle, scenes
boxes = scenes.make("integers", 300, int(sys.argv[2]), np.dtype(sys.argv[3]).type)
assert bp.__file__.startswith(sys.argv[1])
assert np.array_equal(bp.pairs(boxes, method="brute_force"), oracle.pairs(boxes))
print("right")
"""
    kinds = [(2, "float32"), (2, "float32"), (2, "float64"), (2, "float64")]

    def start(kind):
        return run(script, str(copy.parent), *kind, BROADPHASE_CACHE=str(cache))

    with ThreadPoolExecutor(len(kinds)) as pool:
        assert list(pool.map(start, kinds)) == ["right"] * len(kinds)
    assert "boxes.brute_force" in compiled_in(cache)
    assert start(kinds[0]) == "right"


def test_the_requested_level_is_the_one_that_runs():
    script = "from broadphase.kernels.machine.mode import level; print(level())"
    assert run(script, BROADPHASE_LEVEL=level()) == level()
    if level().startswith("x86"):
        assert run(script, BROADPHASE_LEVEL="", NUMBA_CPU_NAME="haswell") == "x86-64-v3"


def test_what_was_compiled_for_an_older_processor_runs_on_a_newer_one(copy):
    """A program that was frozen on a laptop without AVX-512, say."""
    files = list((copy / "kernels" / "compiled").iterdir())
    for file in files:
        if file.stem != level():  # may be older than the kernels
            file.unlink()
    for file in files:
        if file.stem == level():
            file.rename(file.with_stem("x86-64-v2"))
    script = f"""
import sys; sys.path.insert(0, {str(copy.parent)!r}); sys.modules["numba"] = None
from broadphase.kernels.machine.mode import able, level
from broadphase.kernels.boxes.checks import first_unsound_row
print(level(), type(first_unsound_row).__name__)
"""
    if level().startswith("x86"):
        assert run(script, BROADPHASE_LEVEL="", NUMBA_CPU_NAME="") == "x86-64-v2 builtin_function_or_method"


@pytest.mark.exhaustive  # it compiles a kernel
def test_a_damaged_library_in_the_cache_is_made_again(copy, tmp_path):
    edit(copy)
    cache = tmp_path / "cache"
    queries = query(copy, BROADPHASE_CACHE=str(cache))
    (index,) = (cache / "libraries").glob("boxes.checks-*.index")
    (library,) = set((cache / "libraries").glob("boxes.checks-*")) - {index}
    sound = library.read_bytes()
    for file, damage in ((library, b""), (library, b"\x7fELF" + bytes(3000)), (index, b"library\n")):
        file.write_bytes(damage)
        assert query(copy, BROADPHASE_CACHE=str(cache)) == queries
        assert library.read_bytes() == sound


@pytest.fixture
def folder_of(monkeypatch):
    """The folder that a process would use whose user wants this one."""
    if not hasattr(os, "geteuid"):
        pytest.skip("Windows keeps the folders of users apart")

    def used(wanted):
        monkeypatch.setenv("BROADPHASE_CACHE", str(wanted))
        on_demand.folder.cache_clear()
        return on_demand.folder()

    yield used
    on_demand.folder.cache_clear()


def mode_of(folder):
    return stat.S_IMODE(folder.stat().st_mode)


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
def test_a_cache_that_others_may_write_to_is_not_used(folder_of, tmp_path, mode):
    cache, link = tmp_path / "cache", tmp_path / "link"
    cache.mkdir()
    cache.chmod(mode)
    own = folder_of(cache)
    assert own != cache
    assert mode_of(own) == mode_of(on_demand.subfolder("libraries")) == 0o700
    cache.chmod(0o755)
    (cache / "libraries").mkdir()
    (cache / "libraries").chmod(mode)
    (cache / "libraries" / "planted.so").write_bytes(b"")
    assert folder_of(cache) == cache
    assert mode_of(on_demand.subfolder("libraries")) == 0o700
    assert not list((cache / "libraries").iterdir())
    link.symlink_to(cache)
    assert folder_of(link) != link


def test_a_cache_of_another_user_is_not_used(folder_of, tmp_path, monkeypatch):
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert folder_of(tmp_path) != tmp_path


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_process_leaves_the_temporary_cache_to_its_parent(tmp_path):
    tmp_path.chmod(0o777)
    script = """
import os, sys
from broadphase.kernels.machine import on_demand as cache
folder = cache.folder()
if os.fork() == 0:
    sys.exit()
os.wait()
print(folder.exists(), folder)
"""
    still_there, _, folder = run(script, BROADPHASE_CACHE=str(tmp_path)).strip().partition(" ")
    assert (still_there, Path(folder).exists()) == ("True", False)
