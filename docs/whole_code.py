"""What code needs to run when it is copied: the names that it takes from elsewhere, and a method whole."""

import ast
import builtins
import importlib.util
import inspect
import textwrap
from pathlib import Path
from types import ModuleType

IDEAS = Path(__file__).parent / "methods" / "ideas.py"

_BOXES = "boxes = [(0, 0, 20, 20), (10, 10, 30, 30), (50, 0, 60, 10)]"
_BEFORE = """
before = [(0, 0, 20, 20), (40, 10, 60, 30), (50, 0, 60, 10)]
pairs = {(1, 2)}  # of the frame before
edges = [
    sorted(
        ((i, far) for i in range(3) for far in (0, 1)),
        key=lambda edge: before[edge[0]][axis + 2 * edge[1]],
    )
    for axis in (0, 1)
]
"""
_CALLS = {
    "brute_force": "brute_force(boxes)",
    "sort_and_sweep": "sort_and_sweep(boxes)",
    "sweep_and_prune": f"{_BEFORE.strip()}\nsweep_and_prune(boxes, pairs, edges)",
    "uniform_grid": "uniform_grid(boxes, cell=30, columns=3, rows=2)",
    "spatial_hash": "spatial_hash(boxes, cell=30, slots=31)",
    "box_tree": "box_tree(boxes)",
    "strips": "strips(boxes, height=30)",
    "auto": "auto(boxes, pairs=set(), moved={0, 1, 2})",
}


def load_ideas() -> ModuleType:
    """The module with the methods that the pages show."""
    spec = importlib.util.spec_from_file_location("ideas", IDEAS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def idea(name: str) -> str:
    """A method with its imports, the functions that it calls, and a call."""
    module = load_ideas()
    parts: list[str] = []
    needed: set[str] = set()
    wanted = [name]
    while wanted:
        source = inspect.getsource(getattr(module, wanted.pop(0)))
        parts.insert(0, source.rstrip())
        own = free_names(source) - needed
        needed |= own
        wanted += sorted(each for each in own if getattr(module, each).__module__ == module.__name__)
    imports = [
        ast.unparse(node)
        for node in ast.parse(IDEAS.read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom) and needed & {alias.name for alias in node.names}
    ]
    call = f"{_BOXES}\n{_CALLS[name]}  # -> {{(0, 1)}}"
    return "\n\n\n".join(filter(None, ["\n".join(imports), *parts, call])) + "\n"


def free_names(source: str) -> set[str]:
    """The names that code takes from elsewhere: those that it reads and defines nowhere."""
    read, defined = set(), set(dir(builtins))
    for node in ast.walk(ast.parse(textwrap.dedent(source))):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                defined.add(name)
            case ast.ExceptHandler(name=str(name)):
                defined.add(name)
            case ast.alias(name=name, asname=alias):
                defined.add((alias or name).partition(".")[0])
    return read - defined
