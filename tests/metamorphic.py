"""One life of a world, told another way, has one ending.

A relation makes another life of one (turned, mirrored, in a periodic world, with all movers in one call, ...)
and says how the two endings compare.  A life that ends otherwise is made smaller as long as it does, and
printed as two programs.

``python tests/metamorphic.py --lives 10000`` runs as many as one likes and says how many it has seen;
``--relation NAME`` runs one relation.
"""

import argparse
import json
import math
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from random_lives import life_of
from world_life import SAME, Call, Frame, Life, Teller, Thing, Tiles, is_ghost, told

from broadphase import TileMap

# Far more than the gap that is kept before a slanted surface, far less than anything that is seen.
_ROUNDING = 1e-6
_GHOST = 1 << 20  # the category of bystanders, which meet nothing


def difference(first, second, frame=SAME, *, places=True, answers=None, keys=None):
    """What two endings differ in, or ``None``; the second is that of a life in a frame."""
    for name, way in first.moved.items() if places else ():
        if is_ghost(name):
            continue
        there = frame.back(second.moved[name])
        apart = [a - b for a, b in zip(way, there, strict=True)]
        if first.period:  # half of a period to the left is half of it to the right
            apart = [v - length * round(v / length) for v, length in zip(apart, first.period, strict=True)]
        if not math.hypot(*apart) <= _ROUNDING * (1 + math.hypot(*way)):
            return f"{name} moved by {way}, told again by {there}"
    for k, (one, other) in enumerate(zip(first.answers[:answers], second.answers[:answers], strict=True)):
        for key in one.keys() & other.keys() if keys is None else one.keys() & other.keys() & keys:
            said, again = one[key], other[key]
            if key in ("sides", "normal"):
                scale = frame.size(1)
                again = frozenset(tuple(v * scale for v in frame.back(way)) for way in again)
                if key == "normal" and math.dist(*said, *again) < _ROUNDING:
                    continue
            if said != again:
                return f"call {k} says {key} {_shown(said)}, told again {_shown(again)}"
    return None


def _the_same(life, first, second, frame):
    return difference(first, second, frame)


def _the_same_places(life, first, second, frame):
    return difference(first, second, frame, answers=0)


def _the_same_places_but_for_ties(life, first, second, frame):
    return difference(first, second, frame, places=first.clear > len(first.answers), answers=0)


def _the_same_but_for_events(life, first, second, frame):
    """Pieces begin to touch one after the other."""
    keys = _NOT_FLUSH | {"pushed", "met", "crossed", "sides"}
    places = first.clear > len(first.answers)
    return difference(first, second, frame, places=places, answers=first.clear, keys=keys)


def _the_same_but_for_ties(life, first, second, frame):
    """What starts in something else may leave it to the left as well as to the right.

    Not where all are boxes and nothing is turned: then both endings are compared to their ends.  Where
    numbers are rounded, what is flush may touch or not.
    """
    if not life.is_exact:
        corner = min(first.corner, second.corner)
        if second.period or frame.turned != SAME:  # places beyond the edge of a period are rounded once more
            corner = min(corner, first.clear, second.clear)
        places = corner > len(first.answers)
        return difference(first, second, frame, places=places, answers=corner, keys=_NOT_FLUSH)
    if frame.turned == SAME and all(one.kind == "box" for one in life.things):
        return difference(first, second, frame)
    clear = min(first.clear, second.clear)
    return difference(first, second, frame, places=clear > len(first.answers), answers=clear)


def _the_same_but_for_the_first(life, first, second, frame):
    """Of two that are met at once, or stood on, the first is named, and in contact."""
    keys = {key for answer in first.answers for key in answer} - {"met", "floor", "began", "stayed", "ended"}
    clear = min(first.clear, second.clear)
    return difference(first, second, frame, places=clear > len(first.answers), answers=clear, keys=keys)


def _the_same_but_for_sides(life, first, second, frame):
    """What is reached but not met is asked of no function, which may let it through."""
    keys = {key for answer in first.answers for key in answer} - {"sides"}
    return difference(first, second, frame, keys=keys)


# What is pushed by 1e-15 is pushed or not; how far it is pushed is compared.
_NOT_FLUSH = {"floor", "ladder", "carried", "squeezed", "blocked"}


def _shown(said):
    if isinstance(said, frozenset):
        return sorted(map(_shown, said))
    return said


# ---- relations


class Relation(NamedTuple):
    """Another life with the same ending."""

    tell: Callable[[Life, random.Random], tuple | None]
    """Another life, the frame in which it takes place, and, where that is not the given one, the life that
    it is compared with; ``None`` where the relation says nothing."""
    agree: Callable[..., str | None]
    """What is wrong with two endings of a life."""


def _map_of(make):
    """A relation by a map of the plane."""

    def tell(life, rng):
        frame = make(rng)
        if life.tiles and life.period and (any(frame[1:3] + frame[4:]) or min(frame.xx, frame.yy) < 0):
            return None  # a map in a periodic world fills it, and begins at 0
        if frame.xy and not _is_the_same_turned(life):
            return None
        return life.mapped(frame), frame

    return Relation(tell, _the_same_but_for_ties)


def _is_the_same_turned(life):
    """Whether nothing in a life prefers an axis, by its definition."""
    for call in life.calls:
        # A push goes along x, then along y; and so does a lift in a step.
        if call.name == "push" and all(call.ways[0]):
            return False
        lifts = any(life.thing(name).one_way for name in call.who)
        # Gravity to the side goes with neither a period nor many walkers.
        if call.name == "walk_many" or (call.name == "walk" and life.period):
            return False
        if call.name in ("step", "move_many") and lifts and any(all(way) for way in call.ways):
            return False
    cells = life.tiles.cells.values() if life.tiles else ()
    return not any(cell[0] == "slope" and {*cell[1:3]} != {0, 1} for cell in cells)


def _translated(rng):
    return Frame(dx=rng.choice([-1, 1]) * rng.randrange(2000), dy=rng.choice([-1, 1]) * rng.randrange(2000))


def _scaled(rng):
    scale = 2.0 ** rng.choice([-6, -3, -1, 1, 2, 5, 9])
    return Frame(scale, 0, 0, scale)


_PERIOD = 1024.0


def _around(life, rng):
    """Across the edge of a period that is far longer than the life is wide."""
    if life.period:
        return None
    pressed = None
    # The edge goes through the middle of some body, or between the columns and rows of tiles beside it.
    movers = [life.thing(name) for name in life.calls[0].who]
    middle = rng.choice([*movers, *life.things]).points
    x, y = (math.floor(sum(p[axis] for p in middle) / len(middle)) for axis in range(2))
    if life.tiles:
        size = life.tiles.size[0]
        if _PERIOD % size:
            return None
        beside = zip((x, y), life.tiles.origin, strict=True)
        x, y = (o + size * (round((at - o) / size) + rng.choice([-1, 0, 1])) for at, o in beside)
        x, y = (at if rng.random() < 0.7 else at - 20 * size for at in (x, y))
        pressed = _pressed_against_a_tile(life, rng)
        if pressed:
            life, x = pressed
    elif rng.random() < 0.4:
        x, y = rng.choice([(x, y - 300), (x - 300, y)])
    frame = Frame(dx=-x, dy=-y)
    there = life.mapped(frame)
    if life.tiles:
        count = int(_PERIOD / size)
        columns, rows = (round(at / size) for at in there.tiles.origin)
        cells = {
            ((column + columns) % count, (row + rows) % count): cell
            for (column, row), cell in there.tiles.cells.items()
        }
        there = replace(there, tiles=Tiles((size, size), (0, 0), (count, count), cells))
    there = replace(there, period=(_PERIOD, _PERIOD))
    return (there, frame, life) if pressed else (there, frame)


def _pressed_against_a_tile(life, rng):
    """A hero that goes on from a wall that pushes it out up to a tile, and where that tile begins."""
    hero, (size, _), (x, y) = life.thing("hero"), life.tiles.size, life.tiles.origin
    left, top, right, bottom = hero.shape.bounds
    column, row = math.ceil((right - x) / size), math.floor((0.5 * (top + bottom) - y) / size)
    at = x + column * size
    inside = 0 <= column < life.tiles.shape[0] and 0 <= row < life.tiles.shape[1]
    if (
        hero.kind != "box"
        or hero.angle
        or not life.is_exact
        or not inside
        or at == right
        or rng.random() < 0.5
    ):
        return None
    corners = (left - 100, top - 100), (left + at - right, bottom + 100)
    wall = Thing("pressing", "box", corners, rules={"static": True})
    call = Call(rng.choice(["move", "walk"]), ("hero",), ((at - right, 0),))
    tiles = replace(life.tiles, cells={(column, row): ("solid",)})
    return Life((replace(hero, rules={}, one_way=()), wall), (call,), tiles), at


def _is_sideways(call):
    return bool(call.options.get("down", (0, 1))[0])


def _in_another_order(life, rng):
    """Bodies that stand still get other ids; those that move keep their order, by which they go."""
    moving = [one for one in life.things if _moves(life, one)]
    order = [*life.things]
    rng.shuffle(order)
    places = iter(moving)
    order = [next(places) if _moves(life, one) else one for one in order]
    return replace(life, things=tuple(order)), SAME


def _moves(life, one):
    return (
        not one.rules.get("static") or any(one.name in call.who for call in life.calls) or any(one.velocity)
    )


def _in_company(life, rng):
    """With bodies that meet nothing, which move too."""
    count = rng.choices([1, 16, 20, 300], [6, 6, 6, 1])[0]
    thing = life.things[0]
    ghosts = tuple(
        Thing(
            *(("ghost", k), "box", ((x, y), (x + 5, y + 5))),
            rules={"category": _GHOST, "mask": 0},
            velocity=(rng.randrange(-9, 9), rng.randrange(-9, 9)),
        )
        for k in range(count)
        for x, y in [
            (thing.points[0][0] + rng.randrange(-60, 60), thing.points[0][1] + rng.randrange(-60, 60))
        ]
    )
    return replace(
        life, things=(*ghosts, *life.things) if rng.random() < 0.5 else (*life.things, *ghosts)
    ), SAME


def _with_far_bystanders(life, rng):
    if life.period:
        return None
    far = [
        replace(rng.choice(life.things), name=("ghost", k), velocity=(0, 0)).mapped(
            Frame(dx=rng.choice([-1, 1]) * rng.randrange(3_000, 90_000), dy=rng.randrange(-4_000, 4_000))
        )
        for k in range(20)
    ]
    return replace(life, things=(*life.things, *far)), SAME


def _each_call(life, change):
    """A life with each call replaced by several, or ``None`` if none was."""
    calls = [change(call) for call in life.calls]
    if all(one is None for one in calls):
        return None
    return tuple(new for call, several in zip(life.calls, calls, strict=True) for new in (several or (call,)))


_MANY = (1, 2, 16, 17, 300)


def _many_at_once(life, rng):
    """`move` as `move_many`, `walk` as `walk_many`, alone or among movers that meet nothing."""
    count = rng.choices(_MANY, [3, 6, 6, 6, 1])[0] - 1
    known = tuple(("ghost", k) for k in range(count))
    begins = rng.random() < 0.5

    def change(call):
        if call.name not in ("move", "walk"):
            return None
        if "pushes" in call.options or call.options.get("probe"):
            return None
        options = {**call.options, "movers_block": True}
        return [
            replace(
                call,
                name=f"{call.name}_many",
                who=call.who + known,
                ways=call.ways * (count + 1),
                options=options,
            )
        ]

    calls = _each_call(life, change)
    if calls is None:
        return None
    thing = life.thing(next(call.who[0] for call in life.calls if call.name in ("move", "walk")))
    ghosts = tuple(
        replace(thing, name=name, rules={"category": _GHOST, "mask": 0}, one_way=()).mapped(
            Frame(dx=rng.randrange(-40, 40), dy=rng.randrange(-40, 40))
        )
        for name in known
    )
    things = (*ghosts, *life.things) if begins else (*life.things, *ghosts)
    return Life(things, calls, life.tiles, life.period), SAME


def _one_by_one(life, _):
    """`move_many` and `walk_many` as a call for each."""

    def change(call):
        if call.name not in ("move_many", "walk_many") or not call.options.get("movers_block"):
            return None
        if len(call.who) > 1 and any(life.thing(name).one_way for name in call.who):
            return None  # who rides on whom is decided when the call begins
        options = {key: value for key, value in call.options.items() if key != "movers_block"}
        each = [
            Call(call.name[:4], (one,), (way,), options, True)
            for one, way in zip(call.who, call.ways, strict=True)
        ]
        return [replace(each[0], silent=False), *each[1:]]

    calls = _each_call(life, change)
    return calls and (replace(life, calls=calls), SAME)


def _in_moves(life, _):
    """`step` as a `move` of each body."""
    if any(any(one.velocity) for one in life.things):
        return None

    def change(call):
        if call.name != "step" or not call.options.get("movers_block"):
            return None
        if len(call.who) > 1 and any(life.thing(name).one_way for name in call.who):
            return None  # who rides on whom is decided when the call begins
        ids = {one.name: k for k, one in enumerate(life.things)}
        ways = sorted(zip(call.who, call.ways, strict=True), key=lambda one: ids[one[0]])
        return [
            Call("move", (one,), (way,), {}, True) for one, way in ways if any(way)
        ]  # those with a velocity

    calls = _each_call(life, change)
    if calls is None:
        return None
    return replace(life, calls=calls), SAME


def _with(name):
    """With a snapshot restored, or a copy, before one of the calls."""

    def tell(life, rng):
        at = rng.randrange(len(life.calls))
        return replace(life, calls=(*life.calls[:at], Call(name, silent=True), *life.calls[at:])), SAME

    return tell


def _dry_before(life, _):
    """With each movement tried dry before."""

    def change(call):
        if call.name == "move":
            return [replace(call, options={**call.options, "dry": True}, silent=True), call]
        if call.name == "walk" and not call.options.get("pushes"):
            return [Call("shape_cast", call.who, call.ways, silent=True), call]
        return None

    calls = _each_call(life, change)
    return calls and (replace(life, calls=calls), SAME)


def _dry_says(life, rng):
    """The answer of a dry movement is that of a real one."""
    at = [k for k, call in enumerate(life.calls) if call.name == "move"]
    if not at:
        return None
    k = rng.choice(at)
    dry = replace(life.calls[k], options={**life.calls[k].options, "dry": True})
    return replace(life, calls=(*life.calls[:k], dry)), SAME, replace(life, calls=life.calls[: k + 1])


class _Answer(str):
    """A response that a function gives."""

    __slots__ = ()

    def __call__(self, hit):
        return str(self)

    def __repr__(self):
        return f"lambda hit: {str(self)!r}"


def _asked(life, _):
    """`move` with a function that answers each hit by the same response."""

    def change(call):
        if call.name != "move":
            return None
        answer = _Answer(call.options.get("response", "slide"))
        return [replace(call, options={**call.options, "response": answer})]

    calls = _each_call(life, change)
    return calls and (replace(life, calls=calls), SAME)


def _the_same_answers(life, first, second, frame):
    return difference(first, second, frame, places=False)


def _as_one(life, _):
    """`move` as `move_as_one` of one."""

    def change(call):
        if call.name != "move" or call.options.get("dry"):
            return None
        return [replace(call, name="move_as_one")]

    calls = _each_call(life, change)
    return calls and (replace(life, calls=calls), SAME)


def _in_parts(life, _):
    """A box that moves as its two halves that move as one."""
    hero = life.thing("hero")
    if hero.kind != "box" or hero.angle or hero.one_way or not _starts_free(life):
        return None
    moves = [call for call in life.calls if call.name != "update"]
    if any(call.name != "move" or call.options.get("response") == "cross" for call in moves):
        return None
    (x, y), (to_x, to_y) = hero.points
    halves = [(x, y), ((x + to_x) / 2, to_y)], [((x + to_x) / 2, y), (to_x, to_y)]
    names = ("hero", ("ghost", "half"))
    parts = tuple(
        replace(hero, name=name, points=tuple(half)) for name, half in zip(names, halves, strict=True)
    )
    calls = tuple(replace(call, name="move_as_one", who=names) for call in moves)
    things = (*parts, *(one for one in life.things if one is not hero))
    return Life(things, calls, life.tiles, life.period), SAME, replace(life, calls=tuple(moves))


def _walk_in_two(life, _):
    """`walk(dx, dy)` as `walk(dx, 0)` and `walk(0, dy)`."""

    def change(call):
        dx, dy = call.ways[0] if call.ways else (0, 0)
        if call.name != "walk" or not (dx and dy):
            return None
        first, second = ((dx, 0), (0, dy))
        if _is_sideways(call):
            first, second = second, first
        return [replace(call, ways=(first,), silent=True), replace(call, ways=(second,), silent=True)]

    calls = _each_call(life, change)
    if calls is None:
        return None
    return replace(life, calls=calls), SAME


def _starts_free(life):
    """Whether nothing that moves starts in something, and nothing is put elsewhere."""
    if any(call.name == "teleport" for call in life.calls):
        return False
    world = Teller(life).world
    return not any(world.blocker(body) for body in world if not body.static and not body.sensor)


def _of_bodies(life, _):
    """Tiles as static bodies."""
    if life.tiles is None or not _starts_free(life):
        return None
    if any((one.rules.get("sensor") and _moves(life, one)) or one.rules.get("mask") for one in life.things):
        return None
    things = []
    for at, (kind, *how) in life.tiles.cells.items():
        if kind == "ladder":
            return None
        corners = life.tiles.corners_of(at)
        if kind == "slope":
            things.append(Thing("tiles", "polygon", tuple(corners), rules={"static": True}))
        else:
            sides = how[0] if kind == "one way" else ()
            things.append(
                Thing("tiles", "box", (corners[0], corners[2]), rules={"static": True}, one_way=sides)
            )
    return replace(life, things=(*life.things, *things), tiles=None), SAME


@dataclass(frozen=True)
class _DrawnTiles(Tiles):
    """The same in two layers of a map of Tiled; one of them has slopes in cells that the other fills."""

    slopes: dict = field(default_factory=dict)
    slopes_are_above: bool = False

    def made(self):
        kinds = [*dict.fromkeys([*self.cells.values(), *self.slopes.values()])]
        columns, rows = self.shape
        layers = []
        for name, cells in (("tiles", self.cells), ("slopes", self.slopes)):
            data = [0] * (columns * rows)
            for (column, row), kind in cells.items():
                data[row * columns + column] = 1 + kinds.index(kind)
            layer = {"type": "tilelayer", "name": name, "width": columns, "height": rows, "data": data}
            layers.append(layer | {"offsetx": self.origin[0], "offsety": self.origin[1]})
        (wide, high), tiles = self.size, [{"id": k, **self._tile(kind)} for k, kind in enumerate(kinds)]
        size = {"tilewidth": wide, "tileheight": high}
        tileset = {"firstgid": 1, "name": "kinds", "tilecount": len(kinds), "columns": 1, "tiles": tiles}
        level = {"type": "map", "orientation": "orthogonal", "width": columns, "height": rows, **size}
        level |= {"layers": layers if self.slopes_are_above else layers[::-1], "tilesets": [tileset | size]}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "map.json"
            path.write_text(json.dumps(level))
            return TileMap.from_tiled(path)

    def program(self):
        yield from super().program()
        yield f"# Drawn in two layers; in that {'above' if self.slopes_are_above else 'below'}: {self.slopes}"

    def _tile(self, cell):
        kind, *how = cell
        words, shapes = {"name": "ladder" if kind == "ladder" else "solid", "type": "bool", "value": True}, {}
        if kind == "one way":
            words = {"name": "one_way", "type": "string", "value": ", ".join(how[0])}
        if kind == "slope":
            alone = Tiles(self.size, (0, 0), (1, 1), {(0, 0): cell})
            points = [{"x": x, "y": y} for x, y in alone.corners_of((0, 0))]
            shape = {"id": 1, "x": 0, "y": 0, "width": 0, "height": 0, "rotation": 0, "polygon": points}
            shapes = {"objectgroup": {"type": "objectgroup", "objects": [shape]}}
        return {"properties": [words], **shapes}


def _drawn(life, rng):
    """Tiles as a map of Tiled."""
    tiles = life.tiles
    if tiles is None or any(v % 1 for v in tiles.size) or not tiles.cells:
        return None
    solid = [at for at, cell in tiles.cells.items() if cell[0] == "solid"]
    if not solid:  # a map of Tiled says what is solid
        return None
    slopes = {at: ("slope", *rng.choice([(0, 1), (1, 0), (0, 0.5)]), "bottom") for at in solid[::2]}
    drawn = _DrawnTiles(*vars(tiles).values(), slopes, rng.random() < 0.5)
    return replace(life, tiles=drawn), SAME


def _in_halves(life, rng):
    """A static box as two halves."""
    boxes = [
        one
        for one in life.things
        if one.kind == "box"
        and not one.angle
        and one.rules.get("static")
        and not one.one_way
        and not _moves(life, one)
        and not one.rules.get("sensor")
    ]
    if not boxes or not _starts_free(life):
        return None
    one = rng.choice(boxes)
    (x, y), (to_x, to_y) = one.points
    if rng.random() < 0.5:
        middle = math.floor((x + to_x) / 2) + 0.0
        cuts = ((x, y), (middle, to_y)), ((middle, y), (to_x, to_y))
        if not x < middle < to_x:
            return None
    else:
        middle = math.floor((y + to_y) / 2) + 0.0
        cuts = ((x, y), (to_x, middle)), ((x, middle), (to_x, to_y))
        if not y < middle < to_y:
            return None
    k = life.things.index(one)
    halves = tuple(replace(one, points=points) for points in cuts)
    return replace(life, things=(*life.things[:k], *halves, *life.things[k + 1 :])), SAME


def _until_jump(life, **options):
    """A life up to its first jump, straight up and with these options only, and whether it jumps."""
    for k, call in enumerate(life.calls):
        down = call.options.get("down", (0, 1))
        if call.name == "walk" and call.ways[0][0] * down[0] + call.ways[0][1] * down[1] < 0:
            way = tuple(v * abs(d) for v, d in zip(call.ways[0], down, strict=True))
            jump = replace(call, ways=(way,), options={"down": down, **options})
            return replace(life, calls=(*life.calls[:k], jump)), True
    return life, False


def _with_a_leaning_wall(life, rng):
    """A wall at the right side of the hero, which leans over it."""
    _, top, right, _ = life.thing("hero").shape.bounds
    lean = rng.choice([0.001, 0.5, 1, 8])
    corners = (
        (right - lean, top - 64),
        (right + 20, top - 64),
        (right + 20, top + 64),
        (right + lean, top + 64),
    )
    return replace(life, things=(*life.things, Thing("leaning", "polygon", corners, rules={"static": True})))


def _fallen_up(life, rng):
    """A jump as a fall of a walker whose gravity points up."""
    life, jumps = _until_jump(life, steepest=60)
    cells = life.tiles.cells.values() if life.tiles else ()
    if (
        not jumps
        or any(one.one_way for one in life.things)
        or any(c[0] in ("one way", "ladder") for c in cells)
    ):
        return None
    if any(one.kind not in ("box", "polygon") for one in life.things):
        return None  # what is round is met with a polygon, and stood on as it is
    if not life.period and rng.random() < 0.5:
        life = _with_a_leaning_wall(life, rng)
    jump = life.calls[-1]
    x, y = jump.options["down"]
    fall = replace(jump, options={**jump.options, "down": (-x, -y)})
    return replace(life, calls=(*life.calls[:-1], fall)), SAME, life


def _without_corner(life, rng):
    """Without ``corner=``, a jump between boxes."""
    most = rng.choice([1, 3, 5])
    life, jumps = _until_jump(life, corner=most)
    if not jumps or any(one.kind != "box" or one.angle % 90 for one in life.things) or not _starts_free(life):
        return None
    if life.tiles and any(cell[0] == "slope" for cell in life.tiles.cells.values()):
        return None
    if (
        not life.period and rng.random() < 0.5
    ):  # under stairs that hang, each of which ends within ``corner`` of the one before
        left, top, _, _ = life.thing("hero").shape.bounds
        rights = [left + 0.75 * most * (k + 1) for k in range(8)]
        corners = [((x - 64, top - 4 - 6 * k), (x, top - 2 - 6 * k)) for k, x in enumerate(rights)]
        stairs = tuple(
            Thing(f"hangs {k}", "box", some, rules={"static": True}) for k, some in enumerate(corners)
        )
        jump = replace(life.calls[-1], ways=tuple((8 * x, 8 * y) for x, y in life.calls[-1].ways))
        life = replace(life, things=(*life.things, *stairs), calls=(*life.calls[:-1], jump))
        if not _starts_free(life):
            return None
    jump = replace(life.calls[-1], options={**life.calls[-1].options, "corner": 0})
    return replace(life, calls=(*life.calls[:-1], jump)), Frame(dx=most), life


def _is_aside_by_corner(life, first, second, frame):
    """What a jump is moved aside, at most ``corner``."""
    for name, (x, _) in first.moved.items():
        if abs(x - second.moved[name][0]) > frame.dx * (1 + _ROUNDING):
            return f"{name} moved by {x} aside with corner = {frame.dx}"
    return None


RELATIONS = {
    "turned": _map_of(lambda rng: rng.choice([Frame(0, -1, 1, 0), Frame(0, 1, -1, 0), Frame(-1, 0, 0, -1)])),
    "transposed": _map_of(lambda rng: Frame(0, 1, 1, 0)),
    "mirrored": _map_of(lambda rng: Frame(-1, 0, 0, 1)),
    "upside down": _map_of(lambda rng: Frame(1, 0, 0, -1)),
    "translated": _map_of(_translated),
    "scaled": _map_of(_scaled),
    "across the edge of a period": Relation(_around, _the_same_but_for_ties),
    "in another order": Relation(_in_another_order, _the_same_but_for_the_first),
    "in company": Relation(_in_company, _the_same),
    "with far bystanders": Relation(_with_far_bystanders, _the_same),
    "many at once": Relation(_many_at_once, _the_same),
    "one by one": Relation(_one_by_one, _the_same),
    "in moves": Relation(_in_moves, _the_same_places),
    "restored": Relation(_with("restored"), _the_same),
    "copied": Relation(_with("copied"), _the_same),
    "pickled": Relation(_with("pickled"), _the_same),
    "dry before": Relation(_dry_before, _the_same),
    "dry": Relation(_dry_says, _the_same_answers),
    "asked": Relation(_asked, _the_same_but_for_sides),
    "as one": Relation(_as_one, _the_same),
    "in parts": Relation(_in_parts, _the_same_places_but_for_ties),
    "walk in two": Relation(_walk_in_two, _the_same_places_but_for_ties),
    "tiles as bodies": Relation(_of_bodies, _the_same_but_for_events),
    "tiles as a map of Tiled": Relation(_drawn, _the_same),
    "in halves": Relation(_in_halves, _the_same_but_for_events),
    "a jump as a fall": Relation(_fallen_up, _the_same_places),
    "without corner": Relation(_without_corner, _is_aside_by_corner),
}


# ---- what differs, and its smallest form


class Found(NamedTuple):
    relation: str
    seed: int
    life: Life
    said: str

    def __str__(self):
        relation = RELATIONS[self.relation]
        again, _, *instead = relation.tell(self.life, random.Random(self.seed))
        life = instead[0] if instead else self.life
        said = f"{self.relation}, {self.seed}: {self.said}"
        return f"{said}\n\n{life.program()}\n\n# told again\n{again.program()}"


def checked(name, life, seed, first=None):
    """What is wrong with a life told again; ``None``, or ``""`` if the relation says nothing of it."""
    relation = RELATIONS[name]
    told_again = relation.tell(life, random.Random(seed))
    if told_again is None:
        return ""
    again, frame, *instead = told_again
    life = instead[0] if instead else life
    first = told(life) if first is None or instead else first
    try:
        second = told(again)
    except Exception as error:
        return f"told again it raises {error!r}"
    return relation.agree(life, first, second, frame)


def _fails(name, life, seed):
    try:
        return bool(checked(name, life, seed))
    except Exception:  # a life that is no life any more
        return False


def smallest(name, life, seed):
    """A life that still differs, with as few calls, bodies, tiles and rules as possible."""
    while True:
        smaller = next((one for one in _smaller(life) if _fails(name, one, seed)), None)
        if smaller is None:
            return life
        life = smaller


def _smaller(life):
    for k in reversed(range(len(life.calls))):
        if len(life.calls) > 1:
            yield replace(life, calls=life.calls[:k] + life.calls[k + 1 :])
    used = {name for call in life.calls for name in call.who}
    for k, one in enumerate(life.things):
        if one.name not in used and len(life.things) > 1:
            yield replace(life, things=life.things[:k] + life.things[k + 1 :])
    if life.tiles:
        yield replace(life, tiles=None)
        for at in life.tiles.cells:
            cells = {key: cell for key, cell in life.tiles.cells.items() if key != at}
            yield replace(life, tiles=replace(life.tiles, cells=cells))
    if life.period:
        yield replace(life, period=None)
    for k, call in enumerate(life.calls):
        for key in call.options:
            options = {one: value for one, value in call.options.items() if one != key}
            yield replace(life, calls=(*life.calls[:k], replace(call, options=options), *life.calls[k + 1 :]))
        if len(call.who) > 1:
            for j in range(len(call.who)):
                ways = call.ways if len(call.ways) < len(call.who) else call.ways[:j] + call.ways[j + 1 :]
                fewer = replace(call, who=call.who[:j] + call.who[j + 1 :], ways=ways)
                yield replace(life, calls=(*life.calls[:k], fewer, *life.calls[k + 1 :]))
        for j, way in enumerate(call.ways):
            for axis in range(2):
                for value in {0.0, float(round(way[axis]))} - {way[axis]}:
                    new = tuple(value if a == axis else v for a, v in enumerate(way))
                    ways = (*call.ways[:j], new, *call.ways[j + 1 :])
                    yield replace(
                        life, calls=(*life.calls[:k], replace(call, ways=ways), *life.calls[k + 1 :])
                    )
    for k, one in enumerate(life.things):
        plain = [replace(one, rules={r: v for r, v in one.rules.items() if r != rule}) for rule in one.rules]
        if one.one_way:
            plain.append(replace(one, one_way=()))
            plain += [replace(one, one_way=(side,)) for side in one.one_way if len(one.one_way) > 1]
        if any(one.velocity):
            plain.append(replace(one, velocity=(0, 0)))
        if one.angle:
            plain.append(replace(one, angle=0))
        if one.kind in ("rounded", "capsule", "polygon"):
            left, top, right, bottom = one.shape.bounds
            plain.append(replace(one, kind="box", points=((left, top), (right, bottom)), radius=0))
        rounded = tuple((float(round(x)), float(round(y))) for x, y in one.points)
        if rounded != one.points:
            plain.append(replace(one, points=rounded))
        yield from (replace(life, things=(*life.things[:k], new, *life.things[k + 1 :])) for new in plain)


def see(numbers, relations=None):
    """Which of these lives end otherwise when told again; how many were told again, by relation."""
    found, count = [], Counter()
    for number in numbers:
        life = life_of(number)
        first = told(life)
        for name in relations or RELATIONS:
            said = checked(name, life, number, first)
            count[name] += said != ""
            if said:
                found.append(Found(name, number, life, said))
    return found, count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--relation", action="append", choices=RELATIONS)
    parser.add_argument(
        "--most", type=int, default=5, help="so many of each relation are made small and shown"
    )
    asked = parser.parse_args()
    found, count = see(range(asked.first, asked.first + asked.lives), asked.relation)
    shown = Counter()
    for one in found:
        shown[one.relation] += 1
        if shown[one.relation] <= asked.most:
            life = smallest(one.relation, one.life, one.seed)
            print(Found(*one[:2], life, checked(one.relation, life, one.seed)), "\n")
    for name, times in count.items():
        print(f"{name}: {times} lives, {shown[name]} ended otherwise")


if __name__ == "__main__":
    main()
