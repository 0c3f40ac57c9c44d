"""Kernels work on the stack and in memory of the caller; they only allocate what they return."""

import ast
from functools import cache
from pathlib import Path

import pytest

import broadphase

KERNELS = Path(broadphase.__file__).parent / "kernels"
DECORATORS = {"jit", "holds_gil", "inline", "always_inline", "common"}
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

# The one function that allocates memory, and the kernels that return it: they answer one query
# in one call, of which arrays from Python would be a third.
ASKS = ("arrays.results", "result")
ANSWERS = {
    "boxes.brute_force.scan_for_box",
    "boxes.brute_force.scan_for_nearest",
    "boxes.brute_force.scan_for_ray",
    "cells.queries.nearest_to",
    "cells.queries.search_box",
    "points.fixed_radius.near_point",
    "points.nearest_points.nearest_point",
    "sorted.search_box",
    "sorted.search_nearest",
    "sorted.search_ray",
    "tree.queries.query_box",
    "tree.queries.query_nearest",
    "tree.queries.search_box_by_rules",
}


def kernels_of(path):
    """The compiled functions of a file, by name, and whether Python calls them."""
    tree = ast.parse(path.read_text("utf-8"))
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
def reached(path, name):
    """The compiled functions that make arrays, among those that one calls and itself: file and name."""
    functions, imported = room(path)
    if name not in functions:
        return reached(*imported[name]) if name in imported else frozenset()
    found = set()
    for call in ast.walk(functions[name][0]):
        if isinstance(call, ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr in MAKERS:
                found.add((path, name))
            if isinstance(call.func, ast.Name) and call.func.id != name:
                found |= reached(path, call.func.id)
    return frozenset(found)


def kernels():
    """All compiled functions: module, file, name, and whether Python calls them."""
    for path in KERNELS.rglob("*.py"):
        if path.parent.name not in ("machine", "compiler"):
            module = ".".join(path.relative_to(KERNELS).with_suffix("").parts)
            for name, (_, called) in kernels_of(path)[1].items():
                yield module, path, name, called


@pytest.mark.smaller_set
def test_one_function_allocates_memory():
    makers = {maker for _, path, name, _ in kernels() for maker in reached(path, name)}
    home, name = ASKS
    assert makers == {(KERNELS.joinpath(*home.split(".")).with_suffix(".py"), name)}


@pytest.mark.smaller_set
def test_kernels_of_single_queries_reach_it():
    assert {
        f"{module}.{name}" for module, path, name, called in kernels() if called and reached(path, name)
    } == ANSWERS


@pytest.mark.smaller_set
def test_what_is_looked_for_is_found(tmp_path):
    source = """
from broadphase.kernels.arrays.results import finished as done
@jit
def makes(n):
    return helps(n)
@inline
def helps(n):
    return np.empty(n)
@jit
def ends(out):
    return done(out, 1)
@jit
def does_not(a):
    return a[0]
"""
    path = tmp_path / "kernels.py"
    path.write_text(source)
    found = {name: {maker for _, maker in reached(path, name)} for name in ("makes", "ends", "does_not")}
    assert found == {"makes": {"helps"}, "ends": {"result"}, "does_not": set()}
