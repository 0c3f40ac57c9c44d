"""``python -m examples`` lists the examples; ``python -m examples NAME`` starts one."""

import sys
from importlib import import_module
from importlib.util import find_spec

MISSING = [name for name in ("pygame", "esper") if find_spec(name) is None]
if MISSING and __name__ == "__main__":
    sys.exit(f"the examples need {' and '.join(MISSING)}: python -m pip install '.[pygame,esper]'")

NAMES = {
    "sorted_sprites": "SortedSprites",
    "components": "Components",
    "queries": "Queries",
    "balls": "Balls",
    "dungeon": "Dungeon",
}


def game_named(name: str) -> type:
    """The class of an example."""
    found: type = getattr(import_module(f"examples.{name}"), NAMES[name])
    return found


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        for name in NAMES:
            about = import_module(f"examples.{name}").__doc__ or ""
            print(f"python -m examples {name:<16}{about.splitlines()[0]}")
        sys.exit(len(sys.argv) > 1)
    from examples.stage import main

    main(game_named(sys.argv[1]), sys.argv[2:])
