"""Type checkers agree with the pages: what these show has no message about our own types."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUILT = {"_build", "gallery_built", "made"}

# The pages leave out what only a checker needs: annotations of functions and of empty lists.
LEFT_OUT = "no-untyped-def,no-untyped-call,no-redef,var-annotated,has-type,import-untyped,import-not-found"
# What the checkers say of other libraries: pygame's sprites may have no rectangle, its groups are generic,
# and matplotlib and GeoPandas take more than their types say.
OF_OTHERS = re.compile(
    r"FRect|AbstractGroup|Quiver|Group\[Unknown\]|GeoSeries|SubFigure|Collection|"
    r"Incompatible types in assignment.*NDArray|Sequence\[ArrayLike\]|"
    r"set_UVC|Expected 3 positional|\"(center|right)\" is not a known attribute of \"None\""
)
# Of the pages themselves: a block that goes on with names of a loop, or tells one function in two ways.
PYRIGHT_LEFT_OUT = (
    "MissingImports",
    "PossiblyUnboundVariable",
    "Redeclaration",
    "GeneralTypeIssues",
    "UnusedExpression",
)

USUAL = """
import numpy as np
import pygame
import broadphase as bp

world = bp.World(check=True)
player = world.add(bp.Box(0, 0, 16, 24), tag="player")
coin = world.add(bp.Circle(100, 12, 6), tag="coin", sensor=True, data={"value": 3})
wall = world.add(pygame.Rect(0, 24, 500, 8), tag="wall", static=True)
crates = world.add_many([[0, 0, 4, 4], [10, 0, 14, 4]], tag="crate")
crates.positions += 5, 0
world.tiles = bp.TileMap(["###", "#.#"], tile_size=32)

@world.on("player", "coin")
def take(contact: bp.Contact) -> None:
    world.remove(contact.b)

def bounce(hit: bp.Hit) -> None:
    print(hit.other, hit.normal[0], hit.time)

move = world.move(player, 150, 9)
world.move(player, pygame.Vector2(1, 2), ignore=crates)
world.move(player, (1, 2), response="bounce")
steps = world.step(1 / 60)
print(move.x + 1, move.bottom, [hit.other for hit in move.hits], steps.places.sum())
events = world.update()
for contact in events.began:
    print(contact.a.tag, contact.normal[0] * contact.depth)
player.position += 1, 1
player.velocity = 3, 4
print(player.velocity.x, player.rect.center, player.center.x)
for body in world.query_box((0, 0, 5, 5), tag="coin"):
    print(body.x)
for body in world.query_box(pygame.Rect(0, 0, 5, 5)) + world.query_box(player.rect) + world.query_box(player):
    print(body.x)
for body in world.query_point((0, 0)) + world.query_point(pygame.Vector2(2, 1)):
    print(body.y)
for body in world.query_radius(player, 20):
    print(body.y)
print(world.query_radius([(0, 0), (1, 1)], 5)[:, 1], world.query_radius((0, 0), 5, as_ids=True).dtype)
near = world.nearest(player, k=2, tag="coin")
print(near.bodies[0].x, near.distances[0] + 1)
ids, distances = world.nearest(world.positions, ignore=world.ids)
hit = world.raycast(player, (1, 0), 300)
if hit is not None:
    print(hit.distance + 1, hit.normal[0], hit.point[0], hit.other)
hits = world.raycast(crates.centers, bp.ray_fan((1, 0), 60, 2), 100)
print(hits.ids[0], hits.distances.min())
print([hit.point for hit in world.query_ray((0, 0), (1, 0), 50)])
seen: bool = world.line_of_sight(player, (3, 4))
print(world.line_of_sight(player, crates).sum(), seen)

boxes = bp.from_xywh(np.zeros((5, 4)))
pairs = bp.pairs(boxes, static=boxes[:, 0] > 3, period=(10, None))
print(pairs[:, 0], len(bp.pairs([bp.Box(0, 0, 1, 1)])), len(bp.pairs([(0, 0, 1, 1)], period=100)))
print(len(bp.pairs([pygame.Rect(0, 0, 1, 1)])), bp.count_pairs(boxes.tolist()))
index = bp.make_index(boxes)
new = index.insert((0, 0, 1, 1)) + index.insert([0, 0, 1, 1]) + index.insert(boxes[0])
index.insert(bp.Box(0, 0, 1, 1), category=2)
index.move(new, pygame.Rect(1, 2, 3, 4))
first = index.raycast([0, 0], [1.5, 1])
if first is not None:
    print(first.id + 1, first.distance)
many = index.raycast([[0, 0], [1, 0]], (1, 0), normals=False)
print(many.distances.sum(), index.raycast(boxes[:, :2], boxes[:, :2], ignore=[1, 2, 3, 4, 5]).ids)
print(index.nearest((0, 0), 3).ids.tolist(), index.nearest(boxes[:, :2]).distances.max())
began, stayed, ended = index.changes()
index.save("boxes.npz")
again = bp.load("boxes.npz").query_box(boxes[0])
points = np.zeros((5, 2), np.float32)
found = bp.neighbors(points, 0.1, period=10)
starts, columns, lengths = found.csr()
print(found.i, found.distance, bp.nearest(points, 3).ids[:, 0], bp.PointIndex(points).nearest((0, 0), 1).ids)
one = bp.raycast(boxes, (0, 0), (1, 0))
print(one and one.distance + 1, bp.raycast(boxes, points, points).distances.sum())
arena = bp.ShapeIndex([bp.Circle(0, 0, 1)])
print(arena.nearest((0, 0)).points, arena.raycast(points, points).normals)
seen_by: list[bp.Body] = world.query_cone(player, (1, 0), 60, 100)
blocker: bp.Body | bp.Tile | None = world.try_move(player, 1, 0)
print(seen_by, blocker, arena.nearest([0, 0]).ids, bp.colliding([1.5], ["a"], radius=1)[0][1].upper())
print(bp.colliding([pygame.Rect(0, 0, 1, 1)])[0][0].x, bp.overlap(bp.Box(0, 0, 1, 1), bp.Circle(0, 0, 1)))
"""
WRONG = """
from pathlib import Path
import broadphase as bp

bp.pairs("boxes.csv")
bp.pairs(Path("boxes.csv"))
bp.pairs(3)
bp.join([[0, 0, 1, 1]], "boxes.csv")
bp.neighbors("points.csv", 3)
bp.make_index("boxes.csv")
bp.BoxTree("boxes.csv")
bp.BoxTree().insert("box")
bp.BoxTree().query_box(3)
bp.World().add("box")
bp.World().query_point("here")
bp.World().raycast((0, 0), "right")
bp.World().raycast((0, 0), (1, 0)).distance
bp.World().move("player", 1, 1)
bp.World().nearest((0, 0), tags="coin")
"""


def mypy_messages(folder):
    """What mypy says, strictly, of all files in a folder."""
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    config = folder / "mypy.ini"
    config.write_text(
        "[mypy]\nstrict = True\nallow_redefinition = True\ncheck_untyped_defs = True\n"
        f"disable_error_code = {LEFT_OUT}\n[mypy-broadphase.*]\nfollow_imports = silent\n",
        encoding="utf-8",
    )
    cache = str(folder.parent / "cache")
    said, failed, _ = api.run(["--config-file", str(config), "--cache-dir", cache, str(folder)])
    assert not failed, failed
    return [line for line in said.splitlines() if ": error: " in line]


def pyright_messages(folder):
    """What pyright says of all files in a folder, in the form of mypy's lines."""
    pytest.importorskip("pyright", reason="pyright is not installed")
    rules = {f"report{rule}": False for rule in PYRIGHT_LEFT_OUT}
    (folder / "pyrightconfig.json").write_text(json.dumps(rules), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run([*command, "-p", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [
        f"{one['file']}:{one['range']['start']['line'] + 1}: error: {' '.join(one['message'].split())}"
        for one in found
    ]


CHECKERS = {"mypy": mypy_messages, "pyright": pyright_messages}


def messages(checker, folder):
    """What a checker says of our own types in all files in a folder."""
    return [line for line in CHECKERS[checker](folder) if not OF_OTHERS.search(line)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("checker", CHECKERS)
def test_usual_lines_pass_and_wrong_ones_do_not(checker, tmp_path):
    folder = tmp_path / "lines"
    folder.mkdir()
    (folder / "usual.py").write_text(USUAL, encoding="utf-8")
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    found = messages(checker, folder)
    assert "\n".join(line for line in found if "usual.py" in line) == ""
    lines = [number for number, line in enumerate(WRONG.splitlines(), 1) if line.startswith("bp.")]
    assert sorted({int(line.split("wrong.py:")[1].split(":")[0]) for line in found}) == lines


@pytest.mark.exhaustive
@pytest.mark.parametrize("checker", CHECKERS)
def test_the_code_of_all_pages_passes(checker, tmp_path):
    """Each page is one file, its blocks at the lines where they stand."""
    folder = tmp_path / "pages"
    folder.mkdir()
    pages = [page for page in (ROOT / "docs").rglob("*.md") if not BUILT.intersection(page.parts)]
    checked = 0
    for page in [ROOT / "README.md", *pages]:
        text = page.read_text("utf-8")
        code = [""] * text.count("\n")
        for block in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
            first = text.count("\n", 0, block.start(1))
            lines = block[1].splitlines()
            code[first : first + len(lines)] = lines
            checked += 1
        if any(code):
            name = re.sub(r"\W", "_", page.relative_to(ROOT).with_suffix("").as_posix())
            (folder / f"{name}.py").write_text("\n".join(code) + "\n", encoding="utf-8")
    assert checked > 100
    assert "\n".join(messages(checker, folder)) == ""
