"""``python -m examples`` lists the examples; ``python -m examples NAME`` starts one."""

import ast
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

NAMES = {
    "sorted_sprites": "SortedSprites",
    "components": "Components",
    "queries": "Queries",
    "balls": "Balls",
    "dungeon": "Dungeon",
    "boids": "Boids",
}
"""The examples that open a window."""

PROGRAMS = ("gas", "robots", "steps")
"""The examples that print, and draw a picture if asked to; they do not need pygame."""


def missing(name: str) -> list[str]:
    """What an example with a window needs and is not installed."""
    needed = ("pygame", "esper") if name == "components" else ("pygame",)
    return [one for one in needed if find_spec(one) is None]


def game_named(name: str) -> type:
    """The class of an example."""
    found: type = getattr(import_module(f"examples.{name}"), NAMES[name])
    return found


def first_line(name: str) -> str:
    """What an example is about, read without importing it."""
    here = Path(__file__).parent / name
    source = here / "__init__.py" if here.is_dir() else here.with_suffix(".py")
    return (ast.get_docstring(ast.parse(source.read_text("utf-8"))) or "").splitlines()[0]


def run(arguments: list[str]) -> int | str:
    """Start the example named by the first argument; return the exit code."""
    name = arguments[0] if arguments else None
    if name in PROGRAMS:
        import_module(f"examples.{name}").main(arguments[1:])
        return 0
    if name in NAMES:
        if lacks := missing(name):
            return f"{name} needs {' and '.join(lacks)}: python -m pip install '.[{','.join(lacks)}]'"
        from examples.stage import main

        main(game_named(name), arguments[1:])
        return 0
    for each in (*NAMES, *PROGRAMS):
        print(f"python -m examples {each:<16}{first_line(each)}")
    return int(name is not None)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
