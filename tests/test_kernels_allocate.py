"""Kernels work in memory that the caller brings; those that do not yet are listed here."""

import ast
from functools import cache
from pathlib import Path

import pytest

import broadphase

KERNELS = Path(broadphase.__file__).parent / "kernels"
DECORATORS = {"jit", "brief", "inline", "always_inline", "common"}
MAKERS = {
    "empty",
    "zeros",
    "ones",
    "full",
    "arange",
    "array",
    "copy",
    "argsort",
    "sort",
    "concatenate",
    "where",
}
MAKERS |= {"empty_like", "zeros_like", "ones_like", "full_like", "append", "unique", "nonzero", "astype"}

STILL = {
    "boxes.scan.scan_for_box",
    "boxes.scan.scan_for_nearest",
    "boxes.scan.scan_for_ray",
    "cells.ask.ask_box",
    "cells.ask.ask_nearest",
    "sorted.gapped_search.search_box",
    "sorted.gapped_walk.search_nearest",
    "sorted.gapped_walk.search_ray",
    "tree.ask.ask_box",
    "tree.ask.ask_nearest",
    "tree.ask.ask_ray",
    "tree.query.search_box_by_rules",
    "tree.ray.search_first",
}


def kernels_of(path):
    """The compiled functions of a file, by name, and whether Python calls them."""
    tree = ast.parse(path.read_text())
    functions = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            marks = {ast.unparse(mark) for mark in node.decorator_list} & DECORATORS
            if marks:
                functions[node.name] = (node, not marks & {"inline", "always_inline", "common"})
    return tree, functions


@cache
def room(path):
    tree, functions = kernels_of(path)
    imported = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("broadphase.kernels."):
            home = KERNELS.joinpath(*node.module.split(".")[2:]).with_suffix(".py")
            imported |= {name.asname or name.name: (home, name.name) for name in node.names}
    return functions, imported


@cache
def allocates(path, name):
    """Whether a compiled function makes an array, itself or in one that it calls."""
    functions, imported = room(path)
    if name not in functions:
        return name in imported and allocates(*imported[name])
    for call in ast.walk(functions[name][0]):
        if isinstance(call, ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr in MAKERS:
                return True
            if isinstance(call.func, ast.Name) and call.func.id != name and allocates(path, call.func.id):
                return True
    return False


def found():
    names = set()
    for path in KERNELS.rglob("*.py"):
        if path.parent.name in ("machine", "compiler"):
            continue
        module = ".".join(path.relative_to(KERNELS).with_suffix("").parts)
        _, functions = kernels_of(path)
        names |= {
            f"{module}.{name}" for name, (_, called) in functions.items() if called and allocates(path, name)
        }
    return names


@pytest.mark.smaller_set
def test_kernels_bring_no_memory():
    assert found() == STILL


@pytest.mark.smaller_set
def test_what_is_looked_for_is_found(tmp_path):
    source = """
@jit
def makes(n):
    return helps(n)
@inline
def helps(n):
    return np.empty(n)
@jit
def does_not(a):
    return a[0]
"""
    path = tmp_path / "kernels.py"
    path.write_text(source)
    assert [allocates(path, name) for name in ("makes", "helps", "does_not")] == [True, True, False]
