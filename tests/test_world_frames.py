"""Whole frames of a world, number for number as they were before frames became fewer kernels.

A digest holds what a random scene answers in eight frames: places, hits, what was crossed, contacts, and the
calls of listeners in their order.  The digests were made with the state of the repository before; a change
that is meant changes them: ``python tests/test_world_frames.py`` prints them anew.
"""

import hashlib
import random

import numpy as np
import pytest

import broadphase as bp
from broadphase.kernels.machine.kernel import Kernel
from broadphase.kernels.machine.mode import PLAIN

FRAMES = 8
RESPONSES = ("slide", "cross", "touch", "bounce")


class Scene:
    """A world with movers and walls, whatever the seed says, and what its frames answer."""

    def __init__(self, seed):
        self.draw = draw = random.Random(seed)  # the same numbers with every NumPy
        self.answers, self.calls = hashlib.sha256(), []
        movers, walls = (400, 300) if seed % 8 == 7 else (draw.randrange(3, 90), draw.randrange(90))
        kinds = {"round": draw.choice((0, 0, 0.4)), "slanted": draw.choice((0, 0, 0.2))}
        sensors, ruled = draw.choice((0, 0.15)), draw.choice((0, 0.4))
        self.blocks, many = draw.random() < 0.2, draw.random() < 0.3
        self.side = ((movers + walls) * draw.choice((2, 4, 12))) ** 0.5 + 4
        self.world = bp.World()
        if draw.random() < 0.25:
            count = int(self.side / 3) + 1
            solid = [[draw.random() < 0.1 for _ in range(count)] for _ in range(count)]
            self.world.tiles = bp.TileMap(np.array(solid), tile_size=3)
        self.movers = []
        for k in range(movers + walls):
            rules = {}
            if draw.random() < ruled:
                rules = {"category": draw.randrange(1, 8), "mask": draw.randrange(1, 8)}
            tag = draw.choice(("m", "z", ("m", "z"), None)) if k < movers else "wall"
            body = self.world.add(
                self.shape(kinds), tag=tag, static=k >= movers, sensor=draw.random() < sensors, **rules
            )
            if k < movers:
                self.movers.append(body)
        self.listen("m", "m", "begin", "end")
        self.listen("m", "wall", "begin", "stay", *(("many",) if many else ()))
        self.listen("z", "m", "begin", "stay", "end")
        self.world.on("z", "wall")

    def place(self):
        return self.draw.random() * self.side, self.draw.random() * self.side

    def shape(self, kinds):
        (x, y), kind = self.place(), self.draw.random()
        width, height = 0.5 + self.draw.random(), 0.5 + self.draw.random()
        if kind < kinds["round"]:
            return bp.Circle(x, y, width / 2)
        if kind < kinds["round"] + kinds["slanted"]:
            return bp.Polygon([(x, y), (x + width, y + 0.1), (x + 0.3, y + height)])
        return bp.Box(x, y, width, height)

    def listen(self, a, b, *phases):
        def hear(phase):
            if phase == "many":
                return lambda rows: self.calls.append((phase, a, b, *map(self.numbers, rows)))
            return lambda c: self.calls.append(
                (phase, a, b, c.a.id, c.b.id, self.numbers((*c.normal, c.depth)))
            )

        self.world.on(a, b, **{phase: hear(phase) for phase in phases})

    @staticmethod
    def numbers(values):
        return (np.round(np.asarray(values, np.float64), 9) + 0.0).tolist()

    def note(self, *values):
        for value in values:
            self.answers.update(repr(self.numbers(value)).encode())

    def frame(self, number):
        draw, world = self.draw, self.world
        alive = [body for body in self.movers if body.alive]
        share = draw.choice((1, 1, 0.5, 0.1))
        some = [body for body in alive if draw.random() < share] or alive[:1]
        far, response = draw.choice((0.05, 0.3, 2.0)), draw.choice(RESPONSES)
        ways = [(draw.uniform(-far, far), draw.uniform(-far, far)) for _ in some]
        if draw.random() < 0.15 and not self.blocks:
            for body, way in zip(some, ways, strict=True):
                body.velocity = way
            moved = world.step(1.0)
        else:
            moved = world.move_many(some, ways, None, response, movers_block=self.blocks)
        self.note(moved.places, *moved.hits, *moved.crossed, world.positions)
        if number % 4 == 3:
            for body in alive[:3]:
                body.move_to(self.place())
        if draw.random() < 0.2 and len(alive) > 4:
            world.remove(alive[-1])
        if draw.random() < 0.2:
            self.movers.append(world.add(self.shape({"round": 0, "slanted": 0}), tag="m"))
        if draw.random() < 0.2:
            alive[0].tag = draw.choice(("m", "z"))
        if draw.random() < 0.2:
            move = world.move(alive[0], draw.uniform(-1, 1), draw.uniform(-1, 1), response)
            self.note(move[:2], [(hit.time, *hit.normal, *hit.touch) for hit in move.hits + move.crossed])
        if draw.random() < 0.1:
            moment = world.snapshot()
            world.update()
            world.restore(moment)
        for part in world.update():
            self.note(part.ids, part.normals, part.depths, [contact.a.id for contact in part])
        self.answers.update(repr(self.calls).encode())
        self.calls.clear()


def answers_of(seed):
    scene = Scene(seed)
    for number in range(FRAMES):
        scene.frame(number)
    scene.world.validate()
    return scene.answers.hexdigest()[:12]


DIGESTS = (
    *("0dc40c6477ba", "0104ee20f697", "c504a92e877c", "c879ac7d1d9a", "be44d3383bed", "2c710d56694a"),
    *("a7f6ea464713", "26c90234cf52", "183601482875", "e55303051e4f", "b6f7ded83aa4", "8d86f355c046"),
    *("b75633cff049", "1226d54f04f8", "ab53650fee74", "23d76ae979e9", "8a729de532fb", "7313c76b428b"),
    *("d554d8414aa2", "99d2447fa8c3", "a3323a2b8e18", "918f66589059", "9d4ef4d51d2f", "0f61c2419a17"),
    *("b7108b153eb4", "665f4c19699c", "4f8b3e1353e4", "e978999d2243", "c7ad51df62a9", "a35b6aa9412f"),
    *("94f11660d49b", "93fea30c90d8"),
)


@pytest.mark.parametrize(("seed", "digest"), [*enumerate(DIGESTS)])
def test_frames_answer_what_they_did(seed, digest):
    assert answers_of(seed) == digest


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
@pytest.mark.parametrize("period", [None, (60.0, None)])
def test_no_kernel_of_a_frame_is_called_with_types_that_it_was_not_compiled_for(monkeypatch, period):
    """Such a call works, by a way that takes 20 us and more, without a word."""
    slow = set()

    def noted(kernel, *arguments):
        slow.add(kernel.name)
        return called(kernel, *arguments)

    called = Kernel.__call__
    for count in (1, 5, 30, 300):
        world = bp.World(period=period)
        draw = random.Random(count)
        shapes = [bp.Box(draw.uniform(0, 50), draw.uniform(0, 50), 2, 2) for _ in range(count + 40)]
        movers = world.add_many([*shapes[:count], bp.Circle(9, 9, 2)], tag="m")
        world.add_many(shapes[count:], tag="wall", static=True)
        for other in ("m", "wall"):
            world.on("m", other, lambda c: None, many=lambda rows: None)
        with monkeypatch.context() as patch:
            patch.setattr(Kernel, "__call__", noted)
            for response in RESPONSES:
                world.move_many(movers, 0.5, 0.25, response)
                world.update()
                movers.velocities = 1.5, -0.5
                world.step(0.1)
                world.move(movers[0], 0.5, 0.5, response)
                movers.positions += 0.01
                world.update()
            world.query_point((5, 5)), world.query_box((0, 0, 9, 9)), world.query_radius((5, 5), 2)
            world.raycast((5, 5), (1, 0), 9), world.nearest((5, 5)), world.line_of_sight((5, 5), (9, 0.5))
            world.raycast([(5, 5)], (1, 0), 9), world.nearest([(5, 5)]), world.line_of_sight((5, 5), [(9, 1)])
            world.restore(world.snapshot())
    assert not slow


if __name__ == "__main__":
    for start in range(0, 32, 6):
        print(f"    *{tuple(answers_of(seed) for seed in range(start, min(start + 6, 32)))},")
