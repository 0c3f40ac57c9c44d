"""What changes an index or a world computes first and writes last, in lines that no interrupt splits.

A comment "Commit" begins such lines; they end with their block.  Python looks for signals where a function
begins, after a call and where a loop turns, and NumPy does while it converts a sequence.  So these lines have
no call but as the very last, no loop, and write no sequence into an array.
"""

import ast
import re
from pathlib import Path

import pytest

import broadphase

SOURCE = Path(broadphase.__file__).parent
COMMIT = "# Commit: nothing interrupts the lines from here on (`tests/test_commits.py`)."
CLAIM = re.compile(r"#.*(no calls|cannot split|split them|can interrupt|cannot be interrupted)", re.I)
LOOKS = (
    *(ast.Call, ast.For, ast.While, ast.With, ast.Try, ast.ListComp, ast.SetComp, ast.DictComp),
    *(ast.GeneratorExp, ast.Await, ast.Yield, ast.YieldFrom, ast.Import, ast.ImportFrom, ast.FunctionDef),
)
SEQUENCES = (ast.Tuple, ast.List, ast.ListComp, ast.GeneratorExp, ast.Set, ast.Dict, ast.Starred)


def lines_after(tree, line):
    """The statements from a line to the end of their block."""
    blocks = [
        block
        for node in ast.walk(tree)
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
        if isinstance(block, list) and block and block[0].lineno - 1 <= line <= block[-1].end_lineno
    ]
    innermost = min(blocks, key=lambda block: block[-1].end_lineno - block[0].lineno)
    return [statement for statement in innermost if statement.lineno > line]


def faults(statements):
    """What may be interrupted in these statements."""
    nodes = [node for statement in statements for node in ast.walk(statement)]
    found = [f"line {node.lineno}: {type(node).__name__}" for node in nodes if isinstance(node, LOOKS)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if len(calls) == len(found) == 1:
        doing = [one for one in statements if not isinstance(one, ast.Return)]
        if calls[0] in ast.walk(doing[-1]) and not isinstance(doing[-1], ast.Assign):
            found = []
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                found += sequences(target, node.value)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.List):
            found.append(f"line {node.lineno}: a list of places")
    return found


def sequences(target, value):
    """Where an array would be given a sequence."""
    if isinstance(target, ast.Tuple):
        values = value.elts if isinstance(value, ast.Tuple) else [ast.Constant(0)] * len(target.elts)
        return [fault for one, its in zip(target.elts, values, strict=True) for fault in sequences(one, its)]
    if (
        isinstance(target, ast.Subscript)
        and isinstance(value, SEQUENCES)
        and not puts_or_appends(target, value)
    ):
        return [f"line {target.lineno}: a sequence"]
    return []


def puts_or_appends(target, value):
    """Whether it is ``a[k : k + 1] = (b,)``, which is for lists of Python."""
    place = target.slice
    return (
        isinstance(place, ast.Slice)
        and isinstance(value, ast.Tuple)
        and len(value.elts) == 1
        and ast.unparse(place.upper) == f"{ast.unparse(place.lower)} + 1"
    )


def commits():
    """Each comment in the source: the file, the line and the statements."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if COMMIT in text:
            tree = ast.parse(text)
            for number, line in enumerate(text.splitlines(), 1):
                if COMMIT in line:
                    yield f"{path.relative_to(SOURCE)}:{number}", lines_after(tree, number)


def test_nothing_interrupts_a_commit():
    found = dict(commits())
    assert [where for where, lines in found.items() if not lines] == [], "no lines follow"
    assert {where: said for where, lines in found.items() if (said := faults(lines))} == {}
    assert len(found) > 20


def test_nobody_claims_it_in_other_words():
    claims = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in SOURCE.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if CLAIM.search(line) and COMMIT not in line and "kernel" not in line
    ]
    assert claims == []


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ("a[k] = (x, y)", "a sequence"),
        ("a[k], b[k] = x, (x, y)", "a sequence"),
        ("a[k] = [x, y]", "a sequence"),
        ("a[[0, 1]] = x", "a list of places"),
        ("f()\na[k] = x", "Call"),
        ("a[k] = f()", "Call"),
        ("for k in a: pass", "For"),
        ("a[k] = x\nf(g())", "Call"),
    ],
)
def test_the_rule_finds(lines, fault):
    assert fault in str(faults(ast.parse(lines).body))


@pytest.mark.parametrize(
    "lines",
    ["a[k] = x", "a[k], b[k] = x, y", "a[k : k + 1] = (x,)", "a[k] = x\nif a: f()", "f()\nreturn_ = 1"],
)
def test_the_rule_lets_through(lines):
    found = faults(ast.parse(lines).body)
    assert (found == []) == (not lines.startswith("f()"))
