"""Libraries for each platform are what its loader takes; `python -m tests.elsewhere` runs them."""

import importlib
import io
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from later import Later

from broadphase.kernels.machine import on_demand
from broadphase.kernels.machine.signatures import listed
from broadphase.kernels.machine.target import TARGETS

lief = Later("lief")

structure = Later("elsewhere.structure")  # imports lief

pytestmark = [
    pytest.mark.skipif(find_spec("numba") is None, reason="nothing compiles without Numba"),
    pytest.mark.skipif(find_spec("ziglang") is None, reason="the linker of this machine is for this machine"),
]
every_target = pytest.mark.parametrize("target", TARGETS)
# Each takes a process that starts to compile, so the short run has those that are most unlike this platform.
quick = ("windows-x86_64", "emscripten-wasm32")
few_targets = pytest.mark.parametrize(
    "target", [pytest.param(name, marks=() if name in quick else pytest.mark.exhaustive) for name in TARGETS]
)


# Small ones: rows of numbers and a common function, results of their own, a named tuple, nothing of these.
FEW = (
    "boxes.brute_force.scan_for_boxes",
    "boxes.brute_force.compare_all",
    "tiles.grid.cell_of_point",
    "partition.survey_envs",
)


def lines_of(kernels, every=1):
    """Every n-th line of the list of signatures, of these kernels."""
    return [f"{kernel}: {types}\n" for kernel in kernels for types in listed()[kernel]][::every]


@pytest.fixture
def build(monkeypatch):
    """Builds a library of kernels, at the lowest level, in a cache of its own."""
    main = importlib.import_module("broadphase.compiler.__main__").main

    def built(target, folder, lines):
        library = folder / f"library{TARGETS[target].suffix}"
        options = ["--target", target, "--levels", TARGETS[target].levels[-1], "--into", str(library)]
        monkeypatch.setattr(sys, "argv", ["broadphase.compiler", *options])
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(lines)))
        monkeypatch.setenv("BROADPHASE_CACHE", str(folder / "cache"))
        on_demand.folder.cache_clear()
        if len(lines) < 10:  # on one core, because each process needs a second before it compiles
            monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
        main()
        return library

    yield built
    on_demand.folder.cache_clear()


def check(library, target, least):
    """The library, its index and nothing else are there, and the loader takes them."""
    assert structure.faults(library, target) == []
    index = library.with_suffix(".index").read_text().splitlines()
    assert sum(line.startswith("kernel ") for line in index) >= least
    assert {path.name for path in library.parent.iterdir()} == {library.name, "library.index", "cache"}


@few_targets
def test_a_library_is_what_the_loader_takes(target, tmp_path, build, exhaustive):
    few = FEW if exhaustive else FEW[::2]
    lines = lines_of(few) if exhaustive else [f"{kernel}: {listed()[kernel][0]}\n" for kernel in few]
    check(build(target, tmp_path, lines), target, len(few))


@pytest.mark.exhaustive
@every_target
def test_two_builds_are_the_same_byte_for_byte(target, tmp_path, build):
    # On one platform also kernels of many functions, which take eight times as long.
    lines = lines_of(listed(), 40 if target == "linux-arm64" else 53)
    first = build(target, tmp_path / "one", lines)
    check(first, target, len({line.partition(":")[0] for line in lines}))
    assert build(target, tmp_path / "another folder", lines).read_bytes() == first.read_bytes()


# ---- what is wrong is seen


def library_of(code, target, folder):
    """A library of LLVM's code, which need not hold what ours do."""
    from llvmlite import binding

    from broadphase.compiler.lowering import target_machine
    from broadphase.compiler.machine_code import link_with

    platform = TARGETS[target]
    machine = target_machine(platform, platform.levels[-1])
    module = binding.parse_assembly(f'target triple = "{platform.triple}"\n{code}')
    (folder / "code.o").write_bytes(machine.emit_object(module))
    library = folder / f"library{platform.suffix}"
    link_with(platform.linkers()[-1], [folder / "code.o"], library, platform)
    return library


def variables(target):
    """What libraries export, as LLVM's code."""
    exported = "dllexport " if "windows" in target else ""
    return "\n".join(f"@{name} = {exported}global i64 0" for name in sorted(structure.EXPORTS)) + "\n"


POWER = """
declare double @pow(double, double)
define double @kernel(double %x) uwtable {
  %y = call double @pow(double %x, double %x)
  ret double %y
}
"""


@pytest.mark.parametrize("target", ["linux-x86_64", "linux-arm64", "macos-x86_64", "macos-arm64"])
def test_a_symbol_that_not_every_system_has(target, tmp_path):
    found = structure.faults(library_of(variables(target) + POWER, target, tmp_path), target)
    (fault,) = [each for each in found if each.startswith("symbols that not every system has")]
    assert "pow'" in fault


@pytest.mark.parametrize("target", ["windows-x86_64", "windows-arm64", "emscripten-wasm32"])
def test_nothing_undefined_is_linked(target, tmp_path):
    """So what has been linked asks for no function, either of the C library or of a compiler."""
    with pytest.raises(RuntimeError, match="undefined symbol: pow"):
        library_of(variables(target) + POWER, target, tmp_path)


@pytest.mark.parametrize("target", ["windows-x86_64", "windows-arm64"])
def test_what_takes_more_than_a_page_of_stack_asks_windows_for_it(target, tmp_path):
    deep = """
    define void @kernel() uwtable {
      %much = alloca [20000 x i8]
      store volatile i8 1, ptr %much
      ret void
    }
    """
    for code, libraries in ((variables(target) + deep, ["ntdll.dll"]), (variables(target), [])):
        library = library_of(code, target, tmp_path)
        file = lief.PE.parse(str(library))
        assert [entry.name for entry in file.imports] == libraries
        assert not [fault for fault in structure.faults(library, target) if "libraries" in fault]


@every_target
def test_what_is_not_exported_is_missed(target, tmp_path):
    library = library_of(variables(target).replace("@broadphase_key", "@some_key"), target, tmp_path)
    faults = structure.faults(library, target)
    (fault,) = [fault for fault in faults if fault.startswith("exports")]
    assert "some_key" in fault
    unwound = ["it does not say how to unwind its functions"] if "windows" in target else []
    assert sorted(faults) == sorted([fault, *unwound]), "nothing else is wrong with what is linked"


@pytest.mark.parametrize("target", ["windows-x86_64", "windows-arm64"])
def test_functions_that_cannot_be_unwound(target, tmp_path):
    found = structure.faults(library_of(variables(target), target, tmp_path), target)
    assert "it does not say how to unwind its functions" in found


@every_target
def test_a_library_for_another_platform(target, tmp_path):
    library = library_of(variables(target), target, tmp_path)
    for other in TARGETS:
        if other != target:
            assert structure.faults(library, other)


def test_what_was_changed_after_it_was_signed(tmp_path):
    """Macs with x86-64 run what is not signed, too."""
    library = library_of(variables("macos-arm64"), "macos-arm64", tmp_path)
    data = bytearray(library.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "changed").mkdir()
    changed = Path(shutil.copy(library, tmp_path / "changed"))
    changed.write_bytes(data)
    (fault,) = structure.faults(changed, "macos-arm64")
    assert "pages that are not what was signed" in fault
