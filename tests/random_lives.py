"""Random lives: few bodies, close to each other and often flush, and calls of one kind."""

import random

from world_life import SIDES, Call, Life, Thing, Tiles

_ROUND = ("circle", "capsule", "rounded")


class _Maker:
    """Makes a life: few bodies, close to each other, often flush."""

    def __init__(self, number):
        rng = self.rng = random.Random(number)
        self.grid = rng.choice([1, 1, 0.25, 0.1, None])
        self.theme = rng.choice(["walk", "walk", "walk", "move", "move", "push", "step", "as one"])
        if self.grid == 0.1 and self.theme != "push":
            self.grid = 0.25  # what is flush but for rounding may touch or not
        self.period = (128.0, 96.0) if rng.random() < 0.12 else None
        self.things = []
        self.only = rng.choices([(), ("box",), _ROUND], [7, 2, 1])[0]
        self.ramp, self.row = 0, False
        self.tiles = self._tiles() if rng.random() < 0.3 else None

    def chance(self, share):
        return self.rng.random() < share

    def number(self, low, high):
        value = self.rng.uniform(low, high)
        if self.grid is None:
            return value
        return round(value * 10) / 10 if self.grid == 0.1 else round(value / self.grid) * self.grid

    def among_round(self):
        """A round walker among round bodies, so near that it slides and stops on their corners."""
        rng = self.rng
        self.grid = self.tiles = None
        for k in range(rng.choice([1, 2, 3])):
            at, size = (rng.uniform(0, 40), rng.uniform(0, 40)), (rng.uniform(4, 24), rng.uniform(4, 24))
            self._add(f"wall {k}", rng.choice(_ROUND), at, size, tag="wall", static=True)
        side = rng.uniform(2, 10)
        at = next(
            (at for at in (self._anywhere() for _ in range(50)) if self.is_free(at, (side, side))), (50, 50)
        )
        self._add("hero", "circle", at, (side, side), tag="hero")
        ways = [(rng.uniform(-12, 12), rng.uniform(-12, 12)) for _ in range(6)]
        return Life(tuple(self.things), tuple(Call("walk", ("hero",), (way,)) for way in ways))

    def _anywhere(self):
        return self.rng.uniform(-8, 48), self.rng.uniform(-8, 48)

    def life(self):
        rng = self.rng
        for k in range(rng.choice([0, 1, 1, 2, 2, 3, 4])):
            self._obstacle(k)
        if self.chance(0.12):
            self._stairs()
        if self.chance(0.4):
            self._add(
                "ground",
                "box",
                (self.number(-40, 10), 60),
                (self.number(60, 120), self.number(4, 20)),
                tag="wall",
                static=True,
            )
        for k in range(rng.choice([0, 0, 1, 2])):
            self._put(
                f"coin {k}",
                self._kind(),
                rules={"tag": "coin", "static": self.chance(0.6), "sensor": True},
                velocity=(self.number(-9, 9), self.number(-9, 9)) if self.chance(0.4) else (0, 0),
            )
        lifts = (
            rng.choice([1, 1, 2]) if self.theme == "push" else int(self.theme == "step" and self.chance(0.6))
        )
        for k in range(lifts):
            one_way = self._sides(0.8) if self.chance(0.9 if self.theme == "step" else 0.4) else ()
            self._put(
                f"lift {k}",
                self._kind(0.7),
                rules={"static": self.theme == "push" and self.chance(0.8)},
                one_way=one_way,
                wide=True,
            )
        for k in range(rng.choice([0, 0, 1, 2]) + (self.theme == "as one")):
            self._put(f"crate {k}", self._kind(0.6), rules={"tag": "crate", **self._bits()}, flush=True)
        self._put(
            "hero",
            self._walker() if self.theme == "walk" else self._kind(0.3),
            rules={"tag": "hero", **self._bits(), **({"sensor": True} if self.chance(0.05) else {})},
            flush=True,
        )
        if self.theme == "walk" and self.chance(0.1):
            self._ramp()
        elif self.theme == "walk" and self.chance(0.1):
            self._row()
        rng.shuffle(self.things)
        if self.ramp:  # a coin in the ramp, which whoever walks up the ramp does not touch
            foot, bottom = next(one for one in self.things if one.name == "ramp").points[0]
            at = foot + 3 if self.ramp > 0 else foot - 4, bottom - 2
            self._add("coin 9", "box", at, (1, 1), tag="coin", static=True, sensor=True)
        return Life(tuple(self.things), tuple(self._calls()), self.tiles, self.period)

    def _bits(self):
        if self.chance(0.9):
            return {}
        return {"category": self.rng.choice([1, 2]), "mask": self.rng.choice([1, 2, 3])}

    # ---- shapes

    def _kind(self, boxes=0.4):
        if self.only:
            return self.rng.choice(self.only)
        if self.chance(boxes):
            return "box"
        return self.rng.choice(["turned", "quarter", "polygon", "leaning", *_ROUND])

    def _walker(self):
        return self.rng.choice(self.only or ("box", "box", "box", "circle", *_ROUND))

    def _sides(self, top=0.5):
        if self.chance(top):
            return ("top",)
        return tuple(sorted(self.rng.sample(sorted(SIDES), self.rng.choice([1, 1, 2, 3]))))

    def _obstacle(self, k):
        static = not self.chance(0.1)
        one_way = self._sides() if self.chance(0.35) else ()
        self._put(
            f"wall {k}",
            self._kind(),
            rules={"tag": "wall", **({"static": True} if static else {}), **self._bits()},
            one_way=one_way,
            wide=self.chance(0.5),
        )

    def _stairs(self):
        """Steps of boxes, upright or hanging from a ceiling."""
        rng = self.rng
        (x, y), dx, dy = (self.number(10, 80), self.number(0, 50)), self.number(-6, 6), self.number(2, 12)
        dy *= rng.choice([-1, -1, 1])
        for k in range(rng.choice([2, 4, 8])):
            at = (x + k * dx, y + k * dy)
            self._add(
                f"step {k}", "box", at, (max(self.number(4, 30), 1), max(self.number(1, 4), 0.5)), static=True
            )

    def _ramp(self):
        """A steep slope that begins at the hero's feet, and a ceiling above it."""
        left, top, right, bottom = next(one for one in self.things if one.name == "hero").shape.bounds
        wide, sign = max(self.number(8, 24), 8), self.rng.choice([-1, 1])
        high = min(wide * self.rng.choice([1, 2, 3, 4, 5]), 90)
        foot = right if sign > 0 else left
        corners = ((foot, bottom), (foot + sign * wide, bottom), (foot + sign * wide, bottom - high))
        self.things.append(Thing("ramp", "polygon", corners, rules={"tag": "wall", "static": True}))
        at = foot - wide - 20, top - self.number(2, high) - 5
        self._add("ceiling", "box", at, (2 * wide + 40, 5), tag="wall", static=True)
        self.ramp = sign

    def _row(self):
        """A floor under the hero, with low crates beside it."""
        left, _, x, bottom = next(one for one in self.things if one.name == "hero").shape.bounds
        self._add("floor", "box", (left - 30, bottom), (90, 4), tag="wall", static=True)
        for k in range(self.rng.choice([1, 1, 2])):
            size = max(self.number(2, 9), 1), max(self.number(1, 4), 0.5)
            self._add(f"crate beside {k}", self._kind(0.7), (x, bottom - size[1]), size, tag="crate")
            x += size[0] + self.number(0, 3)
        self.row = True

    def _put(self, name, kind, *, wide=False, flush=False, **more):
        """A thing of a kind, somewhere, or flush with another; mostly not in something."""
        inside = flush and self.chance(0.08)
        for _ in range(8):
            size, at = self._place(wide, flush, inside)
            if inside or self.is_free(at, size) or self.chance(0.3 if self.grid is None else 0.05):
                break
        self._add(name, kind, at, size, **more)

    def is_free(self, at, size):
        left, top, right, bottom = *at, at[0] + size[0], at[1] + size[1]
        taken = [one.shape.bounds for one in self.things if not one.rules.get("sensor")]
        if self.tiles:
            taken += [
                self.tiles.bounds_of(at) for at, cell in self.tiles.cells.items() if cell[0] != "ladder"
            ]
        return not any(a < right and left < c and b < bottom and top < d for a, b, c, d in taken)

    def _place(self, wide, flush, inside):
        """A size and a place."""
        most = 50 if wide else 14
        size = [max(self.number(2, most), 1), max(self.number(2, 14), 1)]
        if (not wide and self.chance(0.1)) or (wide and self.chance(0.3)):
            size.reverse()
        at = [self.number(0, 100), self.number(0, 60)]
        anchors = [one.shape.bounds for one in self.things if not one.rules.get("sensor")]
        if self.tiles:
            anchors += map(self.tiles.bounds_of, self.tiles.cells)
        if anchors and self.chance(0.75 if flush else 0.45):
            left, top, right, bottom = self.rng.choice(anchors)
            side = self.rng.choice(["top", "top", "top", "left", "right", "bottom"])
            at = [self.number(left - size[0], right), self.number(top - size[1], bottom)]
            if inside:
                return size, at
            if side in ("top", "bottom"):
                at[1] = top - size[1] if side == "top" else bottom
            else:
                at[0] = left - size[0] if side == "left" else right
                if self.chance(0.5):
                    at[1] = bottom - size[1]  # beside it, on the same floor
        return size, at

    def _add(self, name, kind, at, size, *, rules=None, one_way=(), velocity=(0, 0), **known):
        (x, y), (wide, high) = at, size
        to_x, to_y = x + wide, y + high
        rules, radius, angle, points = {**(rules or {}), **known}, 0, 0, ((x, y), (to_x, to_y))
        if kind in ("turned", "quarter"):
            angle = (
                self.rng.choice([90, 180, 270])
                if kind == "quarter"
                else self.rng.choice([40, 30, 10, self.rng.uniform(0, 90)])
            )
            kind = "box"
        elif kind == "circle":
            radius = min(wide, high) / 2
            points = ((x + radius, to_y - radius),)
        elif kind == "capsule":
            radius = min(wide, high) / 2
            end = (x + radius, to_y - radius) if wide < high else (to_x - radius, y + radius)
            points = ((x + radius, y + radius), end)
            if abs(wide - high) < 0.5:
                kind, points = "circle", points[:1]
        elif kind == "rounded":
            radius = min(wide, high) / self.rng.choice([2.5, 4, 8])
        elif kind == "leaning":
            lean = self.rng.choice([0.01, 0.1, 0.5, 1, self.rng.uniform(0, 2)])
            lean = lean if lean < min(wide, high) else 0.5 * min(wide, high)  # else it is not convex
            corners = [[x, y], [to_x, y], [to_x, to_y], [x, to_y]]
            corners[self.rng.randrange(4)][self.rng.randrange(2)] += self.rng.choice([-lean, lean])
            kind, points = "polygon", tuple(map(tuple, corners))
        elif kind == "polygon":
            points = tuple(self.rng.sample([(x, y), (to_x, y), (to_x, to_y), (x, to_y)], 3))
            if self.chance(0.4):  # a trapezium, or a gentle slope
                points = (
                    (x, to_y),
                    (to_x, to_y),
                    (to_x - wide * 0.25, y),
                    (x + wide * self.rng.choice([0, 0.25, 0.5]), y),
                )
        self.things.append(Thing(name, kind, points, radius, angle, rules, one_way, velocity))

    def _tiles(self):
        rng = self.rng
        size = rng.choice([8, 16, 12, 10.5])
        columns, rows = (8, 6)
        if self.period:
            size, columns, rows = 16, 8, 6
        ladders = rng.random() < 0.3
        cells, density = {}, rng.choice([0.03, 0.1, 0.2])
        for at in ((column, row) for row in range(rows) for column in range(columns)):
            pick = rng.random()
            if (at[0] - 1, at[1]) in cells and self.chance(0.3):  # a row of tiles goes on
                cells[at] = rng.choice([("solid",), ("one way", self._sides(0.3))])
            elif pick < density:
                cells[at] = ("solid",)
            elif pick < 1.5 * density:
                cells[at] = ("one way", self._sides())
            elif pick < 1.9 * density:
                left, right = rng.choice([(0, 1), (1, 0), (0, 1), (1, 0), (0, 0.5), (0.5, 1)])
                cells[at] = ("slope", left, right, rng.choice(["bottom", "bottom", "top"]))
            elif pick < 2.0 * density and ladders:
                cells[at] = ("ladder",)
        origin = (0, 0) if self.period or self.chance(0.5) else (self.number(-20, 20), self.number(-20, 20))
        return Tiles((size, size), origin, (columns, rows), cells)

    # ---- calls

    def _calls(self):
        rng = self.rng
        calls = [*getattr(self, f"_calls_{self.theme.replace(' ', '_')}")()]
        if rng.random() < 0.6:
            calls = [one for call in calls for one in (call, Call("update"))]
            calls.insert(0, Call("update"))
        if rng.random() < 0.1:
            at = rng.randrange(len(calls))
            calls.insert(at, Call("teleport", ("hero",), ((self.number(-30, 30), self.number(-30, 30)),)))
        return calls

    def _way(self, most=40):
        way = [self.number(-most, most), self.number(-most, most)]
        if self.chance(0.5):
            way[self.rng.randrange(2)] = 0
        return tuple(map(float, way))

    def _calls_walk(self):
        rng, options = self.rng, {}
        for key, most, share in (("snap", 6, 0.3), ("step", 6, 0.3), ("corner", 5, 0.2)):
            if rng.random() < share:
                options[key] = max(self.number(1, most), 0.5)
        if self.ramp or rng.random() < 0.3:
            options["steepest"] = rng.choice([80] if self.ramp else [30, 60, 75, 80, 80])
        down = (0, 1)
        if rng.random() < 0.2:
            down = options["down"] = rng.choice([(0, -1)])
        if self.row or rng.random() < 0.25:
            options |= {"pushes": "crate", **({"step": 4.0, "snap": 4.0} if rng.random() < 0.5 else {})}
        if rng.random() < 0.1:
            options["drop"] = True
        gravity, speed = self.number(1, 12) or 1, self.number(-12, 12)
        if rng.random() < 0.5:
            yield Call("walk", ("hero",), ((0, 60.0 * down[1]),), options)
        for _ in range(rng.choice([1, 2, 4, 8])):
            if rng.random() < 0.3:
                speed = self.number(-20, 20)
            if self.ramp:
                speed = self.ramp * abs(speed)
            if self.row and self.grid == 1:
                speed = abs(speed) / 3  # up to the crates, where it is flush but for rounding
            pull = gravity * rng.choice([1, 1, 1, -2, 0, 3])
            way = (float(speed) * rng.choice([1, 1, 1, 0]), float(pull) * down[1])
            walkers = [
                "hero",
                *(one.name for one in self.things if one.name.startswith("crate") and self._can_walk(one)),
            ]
            if len(walkers) > 1 and "pushes" not in options and rng.random() < 0.2:
                yield Call(
                    "walk_many",
                    tuple(walkers),
                    (way,) * len(walkers),
                    {**options, "movers_block": rng.random() < 0.7},
                )
            else:
                yield Call("walk", ("hero",), (way,), options)
            if rng.random() < 0.1:
                yield Call("grounded", ("hero",), ((0, down[1]),))

    @staticmethod
    def _can_walk(one):
        return one.kind in ("box", "circle", "capsule", "rounded") and not one.angle

    def _calls_move(self):
        rng = self.rng
        response = rng.choice(["slide", "slide", "slide", "touch", "cross", "bounce"])
        for _ in range(rng.choice([1, 2, 4, 8])):
            pick = rng.random()
            crates = tuple(one.name for one in self.things if one.name.startswith("crate"))
            if pick < 0.6:
                yield Call("move", ("hero",), (self._way(),), {"response": response})
            elif pick < 0.75:
                movers = ("hero", *crates)
                ways = tuple(self._way() for _ in movers)
                yield Call(
                    "move_many", movers, ways, {"response": response, "movers_block": rng.random() < 0.7}
                )
            elif pick < 0.85:
                yield Call("shape_cast", ("hero",), (self._way(),))
            else:
                yield Call("grounded", ("hero",), (rng.choice([*SIDES.values()]),))

    def _calls_push(self):
        rng = self.rng
        lifts = tuple(one.name for one in self.things if one.name.startswith("lift"))
        speed = rng.choice([0.1, 1 / 60, 0.7, 1, 3, self.number(0, 9)])
        way = [0.0, 0.0]
        way[rng.randrange(2)] = rng.choice([-1, 1]) * speed
        for _ in range(rng.choice([1, 2, 4, 12])):
            yield Call("push", lifts, (tuple(way),), {"down": (0, 1)})
            if rng.random() < 0.2:
                yield Call("move", ("hero",), (self._way(6),))
            if rng.random() < 0.2:
                way = [-v for v in way] if rng.random() < 0.5 else way[::-1]

    def _calls_step(self):
        rng = self.rng
        who = tuple(one.name for one in self.things if one.name.startswith(("lift", "hero", "crate")))
        ways, block = [self._way(20) for _ in who], rng.random() < 0.5
        for _ in range(rng.choice([1, 2, 4])):
            yield Call("step", who, tuple(ways), {"movers_block": block})
            if rng.random() < 0.3:
                ways[rng.randrange(len(ways))] = self._way(20)

    def _calls_as_one(self):
        rng = self.rng
        parts = tuple(one.name for one in self.things if one.name.startswith(("crate", "hero")))
        for _ in range(rng.choice([1, 2, 4])):
            # What is longer than half a period has two middles.
            if self.period or rng.random() < 0.75:
                yield Call(
                    "move_as_one",
                    parts,
                    (self._way(),),
                    {"response": rng.choice(["slide", "touch", "slide", "bounce", "cross"])},
                )
            else:
                yield Call("turn_as_one", parts, (), {"by": rng.choice([90, 180, -90, 50])})


def life_of(number):
    """The life of a number; every 16th is one among round bodies."""
    return _Maker(number).among_round() if number % 16 == 15 else _Maker(number).life()
