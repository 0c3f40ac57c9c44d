"""What kernels are compiled for, and what several of them share."""

import ast
import ctypes
import errno
import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import broadphase
from broadphase.kernels.machine import library as libraries
from broadphase.kernels.machine import memory, signatures
from broadphase.kernels.machine import target as targets
from broadphase.kernels.machine.mode import level
from broadphase.kernels.machine.target import HOST

KERNELS = Path(broadphase.__file__).parent / "kernels"
COMPILER = KERNELS.parent / "compiler"
needs_compiler = pytest.mark.skipif(find_spec("numba") is None, reason="nothing compiles without Numba")


def marked():
    """For each kernel that takes tuples as rows: the position and the type of each."""
    found = {}
    for path in KERNELS.rglob("*.py"):
        module = ".".join(path.relative_to(KERNELS).with_suffix("").parts)
        for node in ast.parse(path.read_text("utf-8")).body:
            for mark in getattr(node, "decorator_list", ()):
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) in ("numbers", "rows"):
                    names = [argument.arg for argument in node.args.args]
                    kind = "f8" if ast.unparse(mark.func) == "numbers" else "f8[2]"
                    found[f"{module}.{node.name}"] = {
                        names.index(one.arg): f"{kind}<{'|'.join(map(str, ast.literal_eval(one.value)))}>"
                        for one in mark.keywords
                    }
    return found


def split(line):
    """The types of a line, one for each argument."""
    depth, parts = 0, [""]
    for letter in line:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def test_lines_say_of_the_marked_arguments_and_no_others_that_they_are_rows():
    rows = marked()
    assert len(rows) > 10
    for kernel, lines in signatures.listed().items():
        for line in lines:
            found = {k: text for k, text in enumerate(split(line)) if "<" in text}
            assert found == rows.get(kernel, {}), kernel


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1.0, 2.0, 3.0, 4.0), "f8<4|6>"),
        ((1, 2.0, 3, 4.0, 5.0, 6.0), "f8<4|6>"),
        ((1.0, 2.0, 3.0), "(f8, f8, f8)"),
        ((1.0, 2.0, 3.0, True), "(f8, f8, f8, b1)"),
        (np.zeros(4), "f8[1]"),
        (1.0, "f8"),
    ],
)
def test_a_row_is_a_tuple_of_numbers_of_one_of_its_lengths(value, text):
    assert signatures.describe_all((value, 1), {0: "f8<4|6>"}) == f"{text}, i8"
    assert signatures.describe_all((value,)) == signatures.describe(value)


def test_scratch_has_the_requested_length_and_type():
    assert memory.few(3, np.float32).shape == (3,)
    assert memory.one_row(6, np.int64).shape == (1, 6)
    assert memory.one_row(6, np.int64).dtype == np.int64
    assert memory.many(300, np.int32).shape == (300,)
    assert memory.some_rows(2, 16, np.float64).shape == (2, 16)


@needs_compiler
def test_stack_memory_is_limited():
    from llvmlite import ir

    from broadphase.kernels.machine import intrinsics as stack

    kind = ir.IntType(64)
    assert (stack.MOST, stack.MOST_BYTES) == (memory.MOST, memory.MOST_BYTES)
    seven = ir.Constant(kind, 7)
    assert stack._reserved(seven, are_few=True) == stack._reserved(seven, are_few=False) == 7
    unknown = ir.Argument(ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), [kind]), "f"), kind)
    assert stack._reserved(unknown, are_few=True) == memory.MOST
    with pytest.raises(ValueError, match="not few"):
        stack._reserved(ir.Constant(kind, memory.MOST + 1), are_few=True)
    with pytest.raises(ValueError, match="stand in the source"):
        stack._reserved(unknown, are_few=False)
    with pytest.raises(ValueError, match="too many for the stack"):
        stack._length(memory.MOST_BYTES // 8 + 1, 8)
    assert stack._length(memory.MOST_BYTES // 8, 8) == memory.MOST_BYTES // 8


def test_an_edited_compiler_compiles_again():
    # These start the others; what they do leaves no trace in machine code.
    around = {"__init__", "__main__", "build"}
    files = {path.stem for path in COMPILER.glob("*.py")} - around
    assert files == set(libraries._MAKERS["compiler"])


def compile_into(library, cache):
    """A library of two kernels that call one common function."""
    lines = [f"{kernel}: {signatures.listed()[kernel][0]}\n" for kernel in SHARING]
    subprocess.run(
        [sys.executable, "-m", "broadphase.compiler", "--into", str(library)],
        input="".join(lines),
        env={**os.environ, "XDG_CACHE_HOME": str(cache), "LOCALAPPDATA": str(cache)},
        text=True,
        check=True,
    )


@needs_compiler
def test_the_example_of_the_page_about_kernels_compiles_and_calls_one():
    page = KERNELS.parents[2] / "docs" / "explanation"
    if not page.exists():
        pytest.skip("the pages are not here")
    example = str(page / "one_kernel.py")
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(
        [sys.executable, example], env=environment, capture_output=True, text=True, check=True
    )
    builtin, *answers = done.stdout.splitlines()
    assert builtin.startswith("<built-in method total of ")
    assert answers == ["7.0", "not compiled for ('text',)"]
    for line in (builtin.partition(" of ")[0], *answers):
        assert line in (page / "kernels.md").read_text("utf-8")


ANSWER = """
define i64 @answer(i64 %x) {
  %y = mul i64 %x, 6
  ret i64 %y
}
define i64 @nobody_asks() {
  ret i64 0
}
"""


@needs_compiler
@pytest.mark.parametrize("place", range(2))
def test_any_linker_will_do(place, tmp_path):
    """The machine's own and ziglang's: what they make can be loaded and called."""
    found = HOST.linkers()
    if place >= len(found):
        pytest.skip("this machine has fewer linkers")
    from broadphase.compiler.machine_code import link_with

    code, library = tmp_path / "answer.o", tmp_path / ("answer" + HOST.suffix)
    code.write_bytes(object_of(ANSWER))
    link_with(found[place], [code], library, HOST)
    answer = ctypes.CDLL(str(library)).answer
    answer.argtypes, answer.restype = [ctypes.c_int64], ctypes.c_int64
    assert answer(7) == 42
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".link"] == []


@needs_compiler
def test_what_a_linker_says_is_said(tmp_path):
    from broadphase.compiler.build import advice
    from broadphase.compiler.machine_code import link_with

    with pytest.raises(RuntimeError, match=r"the linker failed.*\n.*nowhere"):
        link_with(HOST.linkers()[0], [tmp_path / "nowhere.o"], tmp_path / "none.so", HOST)
    full = sys.executable, "-c", "exit('ld: final link failed: No space left on device')"
    with pytest.raises(OSError, match="No space left on device") as caught:
        link_with(full, [tmp_path / "nowhere.o"], tmp_path / "none.so", HOST)
    assert "make room, or name folders on another disk" in advice(caught.value)


def test_a_machine_without_a_linker_gets_one(monkeypatch, tmp_path):
    """`hatch_build.py` requires ziglang only then."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    here = runpy.run_path(targets.__file__)["HOST"]
    assert [command[1:3] for command in here.linkers()] == (
        [("-m", "ziglang")] if find_spec("ziglang") else []
    )


def object_of(text):
    from llvmlite import binding

    from broadphase.compiler.lowering import target_machine

    return target_machine(HOST, level()).emit_object(binding.parse_assembly(text))


SHARING = ("arrays.sorting.argsort_keys", "strips.sweep.sweep_strips")


@needs_compiler
@pytest.mark.exhaustive
def test_a_common_function_is_compiled_once_and_again_when_its_object_is_lost(tmp_path):
    compile_into(tmp_path / "one.so", tmp_path)
    parts = list(tmp_path.rglob("common_*.o"))
    listed = [path.read_text().splitlines() for path in tmp_path.rglob("*.parts")]
    assert len(listed) == len(SHARING)
    assert all(set(map(str, parts)) >= set(lines) for lines in listed)
    assert set(listed[0]) & set(listed[1])
    whole = (tmp_path / "one.so").read_bytes()
    parts[0].unlink()
    lists = list(tmp_path.rglob("*.parts"))
    lists[0].unlink()
    compile_into(tmp_path / "two.so", tmp_path)
    assert parts[0].exists()
    assert lists[0].exists()
    assert (tmp_path / "two.so").stat().st_size == len(whole)


def compiling(script, *arguments):
    """What a process prints that compiles kernels and nothing else."""
    environment = {**os.environ, "BROADPHASE_COMPILING": "1", "PYTHONHASHSEED": "0", "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-", *arguments]
    return subprocess.run(command, input=script, env=environment, capture_output=True, text=True, check=False)


_AFTER_ANOTHER = """
from numba.core.registry import cpu_target
from broadphase.compiler import numba_names

numba_names.prepare()

from broadphase.compiler.lowering import lower, target_machine
from broadphase.compiler.machine_code import emit_call
from broadphase.kernels.machine.jit import always_inline, inline, jit
from broadphase.kernels.machine.mode import level
from broadphase.kernels.machine.target import HOST

def kernels():
    @inline
    def total(values):
        found, least, most = 0.0, values[0], values[0]
        for k in range(values.shape[0]):
            for j in range(k):
                if values[j] > least:
                    least = max(least / values[k], found)
                elif values[k] < most:
                    most = min(most / values[j], found)
                found += values[k] / values[j]
        for k in range(values.shape[0]):
            while values[k] < found:
                values[k] = found / (least + most)
                found -= values[k] * least
        return found

    @always_inline
    def twice(values):
        return 2.0 * total(values)

    @jit
    def other(values):
        return twice(values)

    @jit
    def kernel(values):
        return total(values[1:]) + total(values[2:]) * total(values)

    return other, kernel

for is_alone in (True, False):
    other, kernel = kernels()
    if not is_alone:
        lower(other, "f8[1]")
    lowered = lower(kernel, "f8[1]")
    print(emit_call(cpu_target.target_context, lowered, "call", target_machine(HOST, level())).hex())

@jit
def faulty(boxes):
    total = 0.0
    for i in range(len(boxes)):
        total += boxes[i].height
    return total

lower(faulty, "f4[2]")
"""


@pytest.fixture(scope="module")
def compiled():
    return compiling(_AFTER_ANOTHER)


@needs_compiler
def test_machine_code_does_not_depend_on_what_the_process_compiled_before(compiled):
    """Another kernel calls the same function through one that is always inlined."""
    alone, after_another = compiled.stdout.split()
    assert alone == after_another


@needs_compiler
def test_a_kernel_that_cannot_be_compiled_is_reported_with_statement_and_line(compiled):
    line = 1 + _AFTER_ANOTHER[: _AFTER_ANOTHER.index("boxes[i].height")].count("\n")
    assert compiled.returncode != 0
    assert "attribute 'height' of type array" in compiled.stderr
    assert f'File "<stdin>", line {line}' in compiled.stderr
    assert f"During: typing of get attribute at <stdin> ({line})" in compiled.stderr


# --- Numba's names ------------------------------------------------------------------------------------------

_RENAMED = """
import os
import sys
from importlib import import_module

for module in ("numba.core.cpu", "numba.core.typed_passes", "numba.np.arrayobj"):  # once for all forks
    import_module(module)
for argument in sys.argv[1:]:
    if len(sys.argv) > 2 and os.fork():
        os.wait()
        continue
    harm, _, path = argument.partition(" ")
    owner, _, name = path.rpartition(".")
    module, _, cls = owner.rpartition(":")
    owner = getattr(import_module(module), cls) if module else import_module(owner)
    if harm == "changed":
        setattr(owner, name, lambda self, other: None)
    else:
        delattr(owner, name)
    try:
        from broadphase.compiler import numba_names
        numba_names.prepare()
    except Exception as error:
        print(f"{type(error).__name__}: {error}", flush=True)
    else:
        print("nothing was refused", flush=True)
    os._exit(0)
"""
REPLACED = (
    "numba.core.cpu.CPUContext",
    "numba.core.typed_passes:NativeLowering.lowering_class",
    "numba.core.cpu:CPUTargetOptions.finalize",
    "numba.np.arrayobj.fix_integer_index",
    "numba.core.types.functions:Dispatcher.get_call_type",
    "numba.core.types.functions:BaseFunction.get_call_type",
)
OVERRIDDEN = (
    "numba.core.base:BaseContext.call_internal",
    "numba.core.base:BaseContext.mangler",
    "numba.core.callconv:CPUCallConv.return_user_exc",
    "numba.core.lowering:Lower.delvar",
    "numba.core.runtime.context:NRTContext.meminfo_data",
)


@needs_compiler
def test_a_version_of_numba_that_renames_or_changes_a_name_is_refused():
    """Loudly, and with the name: an assignment to a name that is gone would do nothing, in silence."""
    given = [f"{harm} {name}" for harm in ("gone", "changed") for name in (*REPLACED[1:], *OVERRIDDEN)]
    together = [given] if hasattr(os, "fork") else [[one] for one in given]
    done = [compiling(_RENAMED, *some) for some in together]
    assert [each.stderr for each in done if each.returncode] == []
    lines = "".join(each.stdout for each in done).splitlines()
    for one, line in zip(given, lines, strict=True):
        assert line.startswith("NumbaChangedError: Numba ")
        assert f".{one.rpartition('.')[2]} " in line
        said = "has the parameters (self other)" if one.startswith("changed") else "does not exist"
        assert said in line
        assert "pyproject.toml" in line


@needs_compiler
def test_all_replaced_names_are_in_one_file():
    """Nothing else assigns to an attribute of a module or class of Numba's or llvmlite's."""
    names = (COMPILER / "numba_names.py").read_text("utf-8")
    assert names.count("    replace(") == len(REPLACED) <= 20
    for name in REPLACED:
        assert f'"{name.rpartition(".")[2]}"' in names
    for path in COMPILER.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        imported = {
            alias.asname or alias.name.rpartition(".")[2]
            for node in ast.walk(tree)
            if isinstance(node, (ast.ImportFrom, ast.Import))
            and (getattr(node, "module", None) or node.names[0].name).startswith(("numba", "llvmlite"))
            for alias in node.names
        }
        for node in ast.walk(tree):
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                if isinstance(target, ast.Attribute):
                    assigned = ast.unparse(target)
                    assert assigned.partition(".")[0] not in imported, f"{path}: {assigned}"


_PLAIN_NUMBA = """
import ctypes
import sys
from importlib import import_module
import llvmlite.binding as llvm
from broadphase.compiler.lowering import parse
from broadphase.kernels.machine.signatures import PACKAGE

nothing = ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: 1)
# A library has them itself.
names = "goes_on length_of item attribute number_of number_at is_alike drop append"
for name in names.split():
    llvm.add_symbol(f"broadphase_{name}", ctypes.cast(nothing, ctypes.c_void_p).value)
for line in sys.argv[1:]:
    kernel, _, types = line.partition(": ")
    module, _, name = (PACKAGE + kernel).rpartition(".")
    dispatcher = getattr(import_module(module), name)
    try:
        dispatcher.compile(parse(types))
    except Exception as error:
        print(kernel, types, error)
"""


# LLVM verifies what each function becomes; making machine code of it took two thirds of the time.
_ONLY_LOWERED = """
import gc
from numba.core import codegen, cpu

gc.disable()
codegen.CPUCodeLibrary.finalize = lambda self: None
cpu.CPUContext.get_executable = lambda self, library, fndesc, env: [].append  # a name that no other has
"""
PARTS = 2


@needs_compiler
@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(PARTS))
def test_plain_numba_takes_every_kernel(part):
    """Kernels are ordinary Numba: nothing here prepares Numba for them."""
    # Of types that only differ in their widths one list.
    kinds = {
        (kernel, re.sub(r"(?<=[fiu])[1248]\b", "", types)): f"{kernel}: {types}"
        for kernel, lists in signatures.listed().items()
        for types in lists
    }
    # Neighbours call the same functions, which a process types once.
    lines = list(kinds.values())[part * len(kinds) // PARTS : (part + 1) * len(kinds) // PARTS]
    plain = compiling(_ONLY_LOWERED + _PLAIN_NUMBA, *lines)
    assert (plain.returncode, plain.stdout, plain.stderr) == (0, "", "")


# Named tuples, results that grow, rows, a function that others share.
FEW = ("boxes.brute_force.compare_all", "tiles.grid.cell_of_point", SHARING[0])


@needs_compiler
def test_plain_numba_compiles_a_kernel_of_each_kind(monkeypatch):
    monkeypatch.setenv("NUMBA_OPT", "0")
    plain = compiling(_PLAIN_NUMBA, *(f"{kernel}: {signatures.listed()[kernel][0]}" for kernel in FEW))
    assert (plain.returncode, plain.stdout, plain.stderr) == (0, "", "")


@needs_compiler
def test_recording_adds_lines_and_takes_away_what_fits_no_kernel(tmp_path):
    from broadphase.compiler.__main__ import record

    *kept, noted = [f"{kernel}: {types[0]}" for kernel, types in list(signatures.listed().items())[:12]]
    gone = [
        "cells.attic.old_kernel: f4[2], i8",  # no such file
        "cells.old_kernel: f4[2], i8",  # nor such a function in it
        f"{kept[0]}, i8",  # one argument too many
        f"{kept[1].partition(': ')[0]}: cells.Old(f8[1])",  # no such type
    ]
    file, notes = tmp_path / "signatures.txt", tmp_path / "noted"
    notes.mkdir()
    file.write_text("\n".join([*kept, *gone]) + "\n", "utf-8")
    (notes / "7.txt").write_text(f"{noted}\n{kept[0]}\n", "utf-8")
    record(notes, file)
    assert file.read_text("utf-8").splitlines() == sorted([*kept, noted])


def test_the_list_is_sorted_as_recording_writes_it():
    """So that recording a new kernel changes its lines and no others."""
    lines = Path(signatures.FILE).read_text("utf-8").splitlines()
    assert lines == sorted(set(lines))


@needs_compiler
def test_a_folder_that_cannot_be_written_is_named_in_one_line(tmp_path, monkeypatch):
    from broadphase.compiler.build import advice

    (tmp_path / "file").touch()
    monkeypatch.setattr(sys, "argv", ["broadphase.compiler", "--folder", str(tmp_path / "file" / "folder")])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(COMPILER / "__main__.py"), run_name="__main__")
    assert re.fullmatch(
        r"broadphase: the compiled kernels cannot be written: .*file.*; build from a copy .*",
        ended.value.code,
    )
    with_disk = OSError(errno.ENOSPC, "No space left on device", "x.o")
    assert "(x.o); make room, or name folders on another disk in TMPDIR and BROADPHASE_CACHE" in advice(
        with_disk
    )
