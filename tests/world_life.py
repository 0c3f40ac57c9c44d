"""A life of a world as data: its bodies, tiles and calls; how it goes, and how it reads as a program."""

import copy
import pickle
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

import broadphase as bp
from broadphase import Box, Capsule, Circle, Polygon, RoundedBox, TileMap, World

SIDES = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}
_NAMES = {way: side for side, way in SIDES.items()}
_MOST_BOUNCES = 5  # each between round or slanted things makes an error of rounding some ten times larger
_STILL = ("shape_cast", "grounded", "update")
_LISTENED = (("hero", "coin"), ("hero", "crate"), ("hero", "wall"), ("crate", "coin"))


class Frame(NamedTuple):
    """A map of the plane that keeps the axes: ``x, y`` to ``xx x + xy y + dx, yx x + yy y + dy``."""

    xx: float = 1
    xy: float = 0
    yx: float = 0
    yy: float = 1
    dx: float = 0
    dy: float = 0

    def vector(self, way):
        x, y = way
        return self.xx * x + self.xy * y + 0.0, self.yx * x + self.yy * y + 0.0

    def point(self, at):
        x, y = self.vector(at)
        return x + self.dx, y + self.dy

    def back(self, way):
        """The vector that `vector` maps to one."""
        x, y = way
        det = self.xx * self.yy - self.xy * self.yx
        return (self.yy * x - self.xy * y) / det + 0.0, (self.xx * y - self.yx * x) / det + 0.0

    def size(self, length):
        return length * (abs(self.xx) + abs(self.xy))

    @property
    def mirrors(self):
        return self.xx * self.yy - self.xy * self.yx < 0

    @property
    def turned(self):
        """The map without how it moves and scales."""
        return Frame(*(v / self.size(1) for v in self[:4]))

    def sides(self, sides):
        scale = self.size(1)
        return tuple(sorted(_NAMES[tuple(v / scale for v in self.vector(SIDES[side]))] for side in sides))


SAME = Frame()


@dataclass(frozen=True)
class Thing:
    """A body: its kind, the points that make its shape, and its rules."""

    name: Any
    kind: str
    """``box`` and ``rounded`` have two corners, ``capsule`` two ends, ``circle`` a centre."""
    points: tuple
    radius: float = 0
    angle: float = 0
    rules: dict = field(default_factory=dict)
    """As of `World.add`."""
    one_way: tuple = ()
    velocity: tuple = (0, 0)

    @property
    def shape(self):
        (x, y), (to_x, to_y) = self.points[0], self.points[-1]
        box = min(x, to_x), min(y, to_y), abs(to_x - x), abs(to_y - y)
        if self.kind == "box":
            return Box(*box).rotated(self.angle) if self.angle else Box(*box)
        if self.kind == "rounded":
            return RoundedBox(*box, self.radius)
        if self.kind == "circle":
            return Circle(x, y, self.radius)
        if self.kind == "capsule":
            return Capsule(x, y, to_x, to_y, self.radius)
        return Polygon(self.points)

    def __repr__(self):
        shape = self.shape
        if isinstance(shape, Box):
            return f"bp.Box({shape.x!r}, {shape.y!r}, {shape.width!r}, {shape.height!r})"
        if self.kind == "box":
            return f"{replace(self, angle=0)!r}.rotated({self.angle!r})"
        if self.kind == "rounded":
            left, top, right, bottom = shape.bounds
            return f"bp.RoundedBox({left!r}, {top!r}, {right - left!r}, {bottom - top!r}, {self.radius!r})"
        if self.kind == "circle":
            return f"bp.Circle({shape.x!r}, {shape.y!r}, {shape.radius!r})"
        if self.kind == "capsule":
            return f"bp.Capsule{(*self.points[0], *self.points[1], self.radius)}"
        return f"bp.Polygon({list(self.points)})"

    def mapped(self, frame):
        return replace(
            self,
            points=tuple(map(frame.point, self.points)),
            radius=frame.size(self.radius),
            angle=-self.angle if frame.mirrors else self.angle,
            one_way=frame.sides(self.one_way),
            velocity=frame.vector(self.velocity),
        )


@dataclass(frozen=True)
class Tiles:
    """A tile map: ``cells`` maps columns and rows to what is there."""

    size: tuple
    origin: tuple
    shape: tuple
    """Columns and rows."""
    cells: dict
    """``("solid",)``, ``("one way", sides)``, ``("ladder",)`` or ``("slope", left, right, base)``."""

    def made(self):
        columns, rows = self.shape
        tiles = TileMap(np.zeros((rows, columns), np.bool_), self.size, self.origin)
        for (column, row), (kind, *how) in self.cells.items():
            if kind == "solid":
                tiles.solid[row, column] = True
            elif kind == "one way":
                tiles.set_one_way(column, row, how[0])
            elif kind == "ladder":
                tiles.set_ladder(column, row)
            else:
                tiles.set_slope(column, row, how[0], how[1], base=how[2])
        return tiles

    def program(self):
        columns, rows = self.shape
        yield f"world.tiles = bp.TileMap([[False] * {columns}] * {rows}, {self.size}, {self.origin})"
        for (column, row), (kind, *how) in self.cells.items():
            if kind == "solid":
                yield f"world.tiles.solid[{row}, {column}] = True"
            elif kind == "one way":
                yield f"world.tiles.set_one_way({column}, {row}, {how[0]})"
            elif kind == "ladder":
                yield f"world.tiles.set_ladder({column}, {row})"
            else:
                yield f"world.tiles.set_slope({column}, {row}, {how[0]}, {how[1]}, base={how[2]!r})"

    def bounds_of(self, at):
        (x, y), (wide, high) = self.origin, self.size
        return x + at[0] * wide, y + at[1] * high, x + (at[0] + 1) * wide, y + (at[1] + 1) * high

    def corners_of(self, at):
        """What a solid tile or a slope fills: the corners of a polygon."""
        x, y, to_x, to_y = self.bounds_of(at)
        kind, *how = self.cells[at]
        if kind != "slope":
            return [(x, y), (to_x, y), (to_x, to_y), (x, to_y)]
        left, right, base = how
        level, sign = (to_y, -1) if base == "bottom" else (y, 1)
        ends = [(x, level + sign * left * self.size[1]), (to_x, level + sign * right * self.size[1])]
        return [*dict.fromkeys([*ends, (to_x, level), (x, level)])]

    def mapped(self, frame):
        corners = [frame.point(self.bounds_of((0, 0))[:2])]
        corners.append(frame.point(self.bounds_of((self.shape[0] - 1, self.shape[1] - 1))[2:]))
        origin = tuple(map(min, *corners))
        size = tuple(map(abs, frame.vector(self.size)))
        same = replace(self, origin=origin, size=size, shape=tuple(map(abs, turned(frame, self.shape))))
        cells = {}
        for at, (kind, *how) in self.cells.items():
            x, y, to_x, to_y = self.bounds_of(at)
            middle = frame.point(((x + to_x) / 2, (y + to_y) / 2))
            there = tuple(int((m - o) // s) for m, o, s in zip(middle, origin, size, strict=True))
            if kind == "one way":
                how = [frame.sides(how[0])]
            elif kind == "slope":
                how = _slope(same.bounds_of(there), [frame.point(c) for c in self.corners_of(at)])
            cells[there] = (kind, *how)
        return replace(same, cells=cells)


def turned(frame, way):
    """A vector, turned and mirrored only."""
    scale = frame.size(1)
    return tuple(round(v / scale) for v in frame.vector(way))


def _slope(bounds, corners):
    """``left, right, base`` of what a tile is filled with."""
    x, y, to_x, to_y = bounds
    inside = {(round((px - x) / (to_x - x), 6), round((py - y) / (to_y - y), 6)) for px, py in corners}
    for base, level in (("bottom", 1), ("top", 0)):
        left, right = (max((abs(py - level) for px, py in inside if px == end), default=0) for end in (0, 1))
        if (not left or (0, level) in inside) and (not right or (1, level) in inside):
            return left, right, base
    raise ValueError("a slope that no tile can have")


@dataclass(frozen=True)
class Call:
    """A call of the world, for some of its bodies with a vector for each."""

    name: str
    who: tuple = ()
    ways: tuple = ()
    options: dict = field(default_factory=dict)
    silent: bool = False
    """Whether its answer does not count."""

    def mapped(self, frame):
        options = dict(self.options)
        for key in ("snap", "step", "corner"):
            if key in options:
                options[key] = frame.size(options[key])
        if self.name in ("walk", "walk_many", "push"):
            options["down"] = turned(frame, options.get("down", (0, 1)))
        if "by" in options and frame.mirrors:
            options["by"] = -options["by"]
        return replace(self, ways=tuple(map(frame.vector, self.ways)), options=options)


@dataclass(frozen=True)
class Life:
    things: tuple
    calls: tuple
    tiles: Tiles | None = None
    period: tuple | None = None

    def mapped(self, frame):
        period = self.period and tuple(map(abs, frame.vector(self.period)))
        tiles = self.tiles and self.tiles.mapped(frame)
        things = tuple(one.mapped(frame) for one in self.things)
        return Life(things, tuple(one.mapped(frame) for one in self.calls), tiles, period)

    @property
    def is_exact(self):
        """Whether all of its numbers are multiples of 1/64, so that sums have no rounding."""
        numbers = [v for one in self.things for point in one.points for v in (*point, one.radius)]
        numbers += [v for call in self.calls for way in call.ways for v in way]
        numbers += [*self.tiles.size, *self.tiles.origin] if self.tiles else []
        # The middle that a polygon turns about is rounded.
        right = 360 if any(one.kind == "polygon" for one in self.things) else 90
        turned = any(one.angle for one in self.things) or any(
            call.options.get("by", 0) % right for call in self.calls
        )
        return not turned and not any(v * 64 % 1 for v in numbers)

    def thing(self, name):
        return next(one for one in self.things if one.name == name)

    def program(self):
        """The life as a program."""
        names = {one.name: f"b{k}" for k, one in enumerate(self.things)}
        lines = [
            "import broadphase as bp",
            f"world = bp.World({f'period={self.period}' if self.period else ''})",
        ]
        if self.tiles:
            lines += self.tiles.program()
        for one in self.things:
            rules = "".join(f", {key}={value!r}" for key, value in one.rules.items())
            lines.append(f"{names[one.name]} = world.add({one!r}{rules})  # {one.name}")
            if one.one_way:
                lines.append(f"{names[one.name]}.one_way = {one.one_way}")
            if any(one.velocity):
                lines.append(f"{names[one.name]}.velocity = {one.velocity}")
        lines += [
            f"world.on{pair}" for pair in _LISTENED if any(call.name == "update" for call in self.calls)
        ]
        for call in self.calls:
            lines += Teller.program(call, names)
        lines += [f"print({names[one.name]}.position)" for one in self.things if not one.rules.get("static")]
        return "\n".join(lines)


# ---- how a life goes


class Ending(NamedTuple):
    moved: dict
    """How far each body is from where it began, by name."""
    answers: list
    """What each call said: sets of names, and of vectors (``sides``, ``normal``)."""
    clear: int
    """After so many answers something was in something else, and could leave it on two sides, or `corner`.

    Within a call too: one mover may end in another, which is pushed out when its turn comes.
    """
    corner: int
    """After so many answers something moved into a corner of two, and could slide along either of them.

    Or it began in a corner of something and could leave it through either side, or it bounced so often that
    rounding decides where it ends.
    """
    period: tuple | None


class Teller:
    """A world that lives a life."""

    def __init__(self, life):
        self.life = life
        self.world = world = World(period=life.period)
        if life.tiles:
            world.tiles = life.tiles.made()
        self.ids, self.names, self.began = {}, {}, {}
        for one in life.things:
            body = world.add(one.shape, **one.rules)
            if one.one_way:
                body.one_way = one.one_way
            if any(one.velocity):
                body.velocity = one.velocity
            self.ids.setdefault(one.name, body.id)
            self.names[body.id] = one.name
            self.began[body.id] = body.position
        for pair in _LISTENED:
            world.on(*pair)

    def bodies(self, names):
        return [self.world.body(self.ids[name]) for name in names]

    def name(self, other):
        if other is None:
            return None
        return self.names[other.id] if isinstance(other, bp.Body) else "tiles"

    def run(self):
        answers, clear = [], len(self.life.calls) + 1
        corner = clear
        if self._overlaps():
            clear = 0
        for call in self.life.calls:
            if corner > len(answers) and self._has_a_choice(call):
                corner = len(answers)
            self.bounces, self.pushed = 0, False
            answer = getattr(self, call.name)(call, self.bodies(call.who), **call.options)
            if self.bounces > _MOST_BOUNCES:
                corner = min(corner, len(answers))
            if not call.silent:
                answers.append(answer)
            if self.pushed:
                clear = min(clear, len(answers) - (not call.silent))
            if clear > len(answers) and call.name not in _STILL and self._overlaps():
                clear = len(answers)
        return Ending(self._moved(), answers, min(clear, corner), corner, self.life.period)

    def _has_a_choice(self, call):
        """Whether something moves into two sides of a corner at once, and may slide along either.

        Or whether it begins in a corner, and may leave it through either side.
        """
        corners = [(one, one.bounds) for one in self.world if not one.sensor]
        tiles = self.life.tiles
        corners += [(None, tiles.bounds_of(at)) for at in tiles.cells] if tiles else []
        for body, (dx, dy) in zip(self.bodies(call.who), cycle(call.ways), strict=False):
            left, top, right, bottom = body.bounds
            for one, box in corners:
                out = sorted((right - box[0], box[2] - left, bottom - box[1], box[3] - top))
                if one is not body and out[0] > 1e-9 and out[1] - out[0] < 1e-9:
                    return True
                if not (dx and dy):
                    continue
                x, y = (
                    box[0] - right if dx > 0 else box[2] - left,
                    box[1] - bottom if dy > 0 else box[3] - top,
                )
                x, y = self._shortest((x, y))
                if x * dx > -1e-9 and abs(x * dy - y * dx) < 1e-9 and abs(x) <= abs(dx):
                    return True
        return False

    def _overlaps(self):
        """Whether something that moves is in something."""
        world = self.world
        for k, name in self.names.items():
            if not is_ghost(name):
                body = world.body(k)
                if not body.static and not body.sensor and world.blocker(body) is not None:
                    return True
        return False

    def _moved(self):
        moved = {}
        for k, name in self.names.items():
            here, there = self.began[k], self.world.body(k).position
            moved[name] = self._shortest(to - at for at, to in zip(here, there, strict=True))
        return moved

    def _shortest(self, way):
        """A vector, without whole periods."""
        if not self.life.period:
            return tuple(way)
        return tuple(v - length * round(v / length) for v, length in zip(way, self.life.period, strict=True))

    # What is said of one movement, and of the first of many.

    def _said(self, move):
        sides = frozenset(way for side, way in SIDES.items() if getattr(move, side))
        stopped = frozenset(self.name(hit.other) for hit in move.hits if hit.response != "cross")
        crossed = {hit.other for hit in move.hits if hit.response == "cross"}
        crossed |= {hit.other for hit in move.crossed}
        self.bounces = sum(hit.response == "bounce" for hit in move.hits)
        return {"met": stopped, "crossed": frozenset(map(self.name, crossed)), "sides": sides}

    def _said_of_first(self, moved, crossing=False):
        def names(hits):
            return frozenset(
                "tiles" if other < 0 else self.names[other]
                for mover, other in zip(hits.movers.tolist(), hits.others.tolist(), strict=True)
                if mover == 0
            )

        if crossing:
            return {"crossed": names(moved.hits) | names(moved.crossed)}
        return {"met": names(moved.hits), "crossed": names(moved.crossed)}

    def move(self, call, bodies, **options):
        return self._said(self.world.move(bodies[0], *call.ways[0], **options))

    def shape_cast(self, call, bodies):
        return self._said(self.world.shape_cast(bodies[0], *call.ways[0]))

    def _see_pushed(self, began, hits):
        """Note whether a mover of many was pushed out of something first."""
        out = np.abs(hits.touches - began[hits.movers]) > 1e-9
        self.pushed = bool(out[hits.times == 0].any())

    def move_many(self, call, bodies, **options):
        began = np.array([body.position for body in bodies])
        moved = self.world.move_many(bodies, np.array(call.ways, float), **options)
        self._see_pushed(began, moved.hits)
        return self._said_of_first(moved, options.get("response") == "cross")

    def move_as_one(self, call, bodies, **options):
        return self._said(self.world.move_as_one(bodies, *call.ways[0], **options))

    def turn_as_one(self, call, bodies, by):
        return {"blocked": self.world.turn_as_one(bodies, by) is not None}

    def step(self, call, bodies, **options):
        for body, way in zip(bodies, call.ways, strict=True):
            body.velocity = way
        began = {body.id: body.position for body in self.world}
        stepped = self.world.step(1.0, **options)
        moved = stepped.ids.tolist()
        self._see_pushed(np.array([began[k] for k in moved]).reshape(-1, 2), stepped.hits)
        answer = {"met": set(), "crossed": set(), "velocities": set()}
        for key, hits in (("met", stepped.hits), ("crossed", stepped.crossed)):
            for mover, other in zip(hits.movers.tolist(), hits.others.tolist(), strict=True):
                one = self.names[moved[mover]]
                if not is_ghost(one):
                    answer[key].add((one, "tiles" if other < 0 else self.names[other]))
        for body in bodies:
            body.velocity = 0, 0
        return {key: frozenset(some) for key, some in answer.items() if key != "velocities"}

    def walk(self, call, bodies, **options):
        walk = self.world.walk(bodies[0], *call.ways[0], **options)
        said = {**self._said(walk), "floor": self.name(walk.floor), "ladder": walk.ladder is not None}
        return said | ({} if walk.normal is None else {"normal": frozenset([walk.normal])})

    def walk_many(self, call, bodies, **options):
        dx, dy = np.array(call.ways, float).T
        walks = self.world.walk_many(bodies, dx, dy, **options)
        floor, column = walks.floors[0, :2].tolist()
        name = self.names[floor] if floor >= 0 else "tiles" if column >= 0 else None
        return {**self._said_of_first(walks), "floor": name, "ladder": bool(walks.ladders[0, 0] >= 0)}

    def grounded(self, call, bodies):
        hit = self.world.grounded(bodies[0], call.ways[0])
        return {"floor": hit is not None}

    def push(self, call, bodies, **options):
        push = self.world.push(bodies, *call.ways[0], **options)
        return {key: frozenset(map(self.name, getattr(push, key))) for key in push._fields}

    def teleport(self, call, bodies):
        for body, (dx, dy) in zip(bodies, call.ways, strict=True):
            body.move_to(body.x + dx, body.y + dy)
        return {}

    def update(self, call, bodies):
        events, said = self.world.update(), {}
        for key in ("began", "stayed", "ended"):
            pairs = [(self.names[contact.a.id], self.names[contact.b.id]) for contact in getattr(events, key)]
            said[key] = frozenset(frozenset(pair) for pair in pairs if not any(map(is_ghost, pair)))
        return said

    def restored(self, call, bodies):
        """Restore a snapshot after everything has gone somewhere else."""
        moment = self.world.snapshot()
        for body in self.world:
            if not body.static:
                self.world.move(body, 7, -3)
        self.world.update()
        self.world.restore(moment)

    def copied(self, call, bodies):
        self.world = copy.deepcopy(self.world)

    def pickled(self, call, bodies):
        self.world = pickle.loads(pickle.dumps(self.world))

    @staticmethod
    def program(call, names):
        who, options = (
            [names[one] for one in call.who],
            "".join(f", {k}={v!r}" for k, v in call.options.items()),
        )
        some = f"[{', '.join(who)}]"
        if call.name in ("move", "walk", "shape_cast"):
            return [f"print(world.{call.name}({who[0]}, {call.ways[0][0]!r}, {call.ways[0][1]!r}{options}))"]
        if call.name == "grounded":
            return [f"print(world.grounded({who[0]}, {call.ways[0]}))"]
        if call.name in ("push", "move_as_one"):
            return [f"print(world.{call.name}({some}, {call.ways[0][0]!r}, {call.ways[0][1]!r}{options}))"]
        if call.name == "turn_as_one":
            return [f"print(world.turn_as_one({some}{options}))"]
        if call.name in ("move_many", "walk_many"):
            dx, dy = ([way[axis] for way in call.ways] for axis in range(2))
            return [f"print(world.{call.name}({some}, {dx}, {dy}{options}))"]
        if call.name == "step":
            said = [f"{one}.velocity = {way}" for one, way in zip(who, call.ways, strict=True)]
            return [*said, f"print(world.step(1.0{options}))", *(f"{one}.velocity = 0, 0" for one in who)]
        if call.name == "teleport":
            ways = zip(who, call.ways, strict=True)
            return [f"{one}.move_to({one}.x + {x!r}, {one}.y + {y!r})" for one, (x, y) in ways]
        if call.name == "update":
            return ["print(world.update())"]
        return [f"# {call.name}"]


def is_ghost(name):
    return isinstance(name, tuple)


def told(life):
    return Teller(life).run()
