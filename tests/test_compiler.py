"""What kernels are compiled for, and what several of them share."""

import ast
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import broadphase
from broadphase.kernels.machine import scratch, signatures, sources

KERNELS = Path(broadphase.__file__).parent / "kernels"
needs_compiler = pytest.mark.skipif(find_spec("numba") is None, reason="nothing compiles without Numba")


def marked():
    """For each kernel that takes tuples as rows: the position of each, and the lengths that it may have."""
    found = {}
    for path in KERNELS.rglob("*.py"):
        module = ".".join(path.relative_to(KERNELS).with_suffix("").parts)
        for node in ast.parse(path.read_text()).body:
            for mark in getattr(node, "decorator_list", ()):
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "numbers":
                    names = [argument.arg for argument in node.args.args]
                    found[f"{module}.{node.name}"] = {
                        names.index(one.arg): ast.literal_eval(one.value) for one in mark.keywords
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
            wanted = {k: f"f8<{'|'.join(map(str, sizes))}>" for k, sizes in rows.get(kernel, {}).items()}
            assert found == wanted, kernel


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
    assert signatures.describe_all((value, 1), {0: (4, 6)}) == f"{text}, i8"
    assert signatures.describe_all((value,)) == signatures.describe(value)


def test_scratch_is_an_array_of_the_length_and_type_that_were_asked_for():
    assert scratch.few(3, np.float32).shape == (3,)
    assert scratch.one_row(6, np.int64).shape == (1, 6)
    assert scratch.one_row(6, np.int64).dtype == np.int64


def test_an_edited_compiler_compiles_anew():
    # These start the others; what they do leaves no trace in machine code.
    around = {"__init__", "__main__", "build", "record", "worker"}
    files = {path.stem for path in (KERNELS / "compiler").glob("*.py")} - around
    assert files == {
        name.removeprefix("compiler/").removesuffix(".py")
        for name in sources._MAKERS
        if name.startswith("compiler/")
    }


def compile_into(library, cache):
    """A library of two kernels that call one common function."""
    lines = [f"{kernel}: {signatures.listed()[kernel][0]}\n" for kernel in SHARING]
    subprocess.run(
        [sys.executable, "-m", "broadphase.kernels.compiler", "--into", str(library)],
        input="".join(lines),
        env={**os.environ, "XDG_CACHE_HOME": str(cache), "LOCALAPPDATA": str(cache)},
        text=True,
        check=True,
    )


SHARING = ("boxes.ranking.describe_first", "boxes.ranking.describe_firsts")


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
