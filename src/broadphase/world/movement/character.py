"""Characters of platformers: along floors and slopes, up steps, onto ladders, one or thousands at once."""

import math
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np

from broadphase.geometry.shapes import Box, extent
from broadphase.kernels.movement import walk as kernel
from broadphase.kernels.movement.motion import CROWDED, Surroundings
from broadphase.kernels.movement.path import DONE, TOO_FAR
from broadphase.kernels.movement.sweep import FARTHEST
from broadphase.kernels.movement.walk import Ends, Scene
from broadphase.kernels.movement.walk_obstacles import Obstacles, WalkSettings, exchanged
from broadphase.kernels.movement.walk_path import Log
from broadphase.kernels.shapes.table import BOX, CIRCLE, ShapeColumns, cosine_sine
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, TOP
from broadphase.runtime.arrays import Floats
from broadphase.world.arguments import as_two
from broadphase.world.bodies import ALL, MOVING, STATICS, Body, Ignored
from broadphase.world.hits import Hit, Movements, Walk, hits_of
from broadphase.world.movement.motion import Motion, Rollback, note_crossings
from broadphase.world.movement.motion_many import ManyMotion
from broadphase.world.movement.regions import Regions, enlarge
from broadphase.world.movement.sweep import checked_displacement
from broadphase.world.state import State
from broadphase.world.tiles import Tile

WalkRules: TypeAlias = tuple[float, float, float, float, bool, tuple[float, float]]
"""``snap, steepest, step, corner, drop, down``"""

_EIGHTH = [*(cosine_sine(11.25 * k) for k in (1, 2, 3)), (math.sqrt(0.5), math.sqrt(0.5))]
_RING = np.array(
    sorted(
        {(i * v[0], j * v[1]) for x, y in _EIGHTH for v in ((x, y), (y, x)) for i in (1, -1) for j in (1, -1)}
    )
)
"""Round corners are circumscribed polygons with these normals, and those of the axes.

They are mirrored, so that at 45 degrees no rounding decides between the top and a side of a one-way body.
"""

_NO_PUSH = np.zeros(1)

_new: Any = tuple.__new__  # a named tuple in half the time

_THIN = 1e-3  # of a walker's height: the foot that looks for the floor ahead


class Character:
    """Walking: `World.walk` and `World.walk_many`."""

    def __init__(self, state: State, motion: Motion, many: ManyMotion) -> None:
        self._state, self._motion, self._many = state, motion, many
        # The memory of single walks, which is reused.
        self._memory = _Memory(1)
        self._one = np.zeros(1, np.int32), np.zeros((1, 2)), np.zeros(2, np.int64)
        self._out = np.empty((1, 4)), np.empty(1, np.bool_)

    def walk(
        self,
        body: Body,
        dx: float,
        dy: float,
        rules: WalkRules,
        probe: float,
        pushes: frozenset[Any],
        ignore: Any,
    ) -> Walk:
        """See `World.walk`; ``pushes`` are tags."""
        known, ahead = rules_of(*rules), _reach(probe, "probe")
        store, motion = self._state.store, self._motion
        row = store.row(body)
        displacement = checked_displacement(body.x, dx, "dx"), checked_displacement(body.y, dy, "dy")
        ignored = store.ignored(ignore)
        along, down = exchanged(*displacement, known)
        ahead = math.copysign(ahead, along) if along else 0.0
        if not pushes:
            return self._walk(row, displacement, known, ahead, ignored)
        self._check_shapes([row])
        pushed, free = motion.ahead_of(row, exchanged(along, 0.0, known), pushes, ignored)
        made = {other for _, other, _, _ in pushed}
        with Rollback(self._state, np.array([row, *made], np.int32)):
            # Those that make way are in each other's way only by rounding: none stops at or steps onto them.
            others, free = ignored.union([row], made), free and bool(pushed)
            for _, other, way, _ in reversed(pushed):
                hits = motion.move_row(other, *way, "touch", others).hits
                # One that was pushed out of its floor has made way, too.
                if any(hit.normal[0] * way[0] + hit.normal[1] * way[1] < 0.0 for hit in hits):
                    others, free = others - {other}, False
            if free:
                start = motion.start_of(row)
                gone = self._walk(row, exchanged(along, 0.0, known), known, 0.0, others)
                if any(motion.overlap(row, other) for other in made):  # it came down a slope into one
                    motion.put_back(start)
                    free = False
            if not free:
                return self._walk(row, displacement, known, ahead, ignored)
            for pusher, other, _, normal in pushed:
                self._state.contacts.note(pusher, other, normal, stopped=True)
            fallen = self._walk(row, exchanged(0.0, down, known), known, ahead, ignored)
            share = abs(along) / (abs(along) + abs(down))
            before = {hit.other for hit in gone.crossed}
            crossed = [hit for hit in fallen.crossed if hit.other not in before]
            return fallen._replace(
                hits=_in_turn(gone.hits, fallen.hits, share), crossed=_in_turn(gone.crossed, crossed, share)
            )

    def _probed(self, walk: Walk, row: int, ahead: float, rules: WalkSettings, ignored: Ignored) -> Walk:
        """A walk with what lies ahead of where it ended: the floor's edge, or a wall."""
        store, cast, down = self._state.store, self._motion.cast_for, rules.flip
        left, top, right, bottom = store.bounds(row)
        (left, top), (right, bottom) = exchanged(left, top, rules), exchanged(right, bottom, rules)
        height, (ahead_x, ahead_y) = bottom - top, exchanged(ahead, 0.0, rules)
        if rules.drop and store.any_one_way:
            upper = exchanged(TOP if down > 0.0 else BOTTOM, LEFT if down > 0.0 else RIGHT, rules)[0]
            ignored = {*ignored, *np.flatnonzero(store.one_way == upper).tolist()}

        def is_floor(hit: Hit) -> bool:
            return bool(-exchanged(*hit.normal, rules)[1] * down >= rules.upright)

        def box_at(x: float, y: float) -> Box:
            left, top = exchanged(x, y, rules)
            return Box(left, top, thin, thin)

        shape: Any = store.shape(row)
        walls = [hit for hit in cast(row, shape, ahead_x, ahead_y, ignored).hits if not is_floor(hit)]
        if walls and rules.step:
            x, y = exchanged(0.0, down * rules.step, rules)
            raised = shape.moved_to(shape.x - x, shape.y - y)
            walls = list(cast(row, raised, ahead_x, ahead_y, ignored, shape).hits)
        # A foot falls from where a slope or a step would rise to, as deep as it would lead down: from the
        # front side, below which a floor that leads down already is.
        nx, ny = exchanged(*walk.normal, rules) if walk.normal else (0.0, -down)
        hangs = (right - left) * max(math.copysign(nx, nx * ahead) / abs(ny), 0.0)
        rise = min(max(rules.step, abs(ahead) * rules.rise), height)
        fall = hangs + max(rules.snap, abs(ahead) * rules.rise) + _THIN * height
        thin, feet = _THIN * height, bottom if down > 0.0 else top
        x, y = (right if ahead > 0.0 else left) - 0.5 * thin, feet - 0.5 * thin
        starts = [shape]
        if store.any_one_way:  # what the feet pass on the way ahead is no floor there
            level = box_at(x, y - down * thin)
            stops = cast(row, level, ahead_x, ahead_y, ignored, shape).hits
            starts.append(box_at(x + ahead * (stops[0].time if stops else 1.0), y - down * thin))
        foot = box_at(x + ahead, y - down * rise)
        way_x, way_y = exchanged(0.0, down * (rise + fall), rules)
        under = cast(row, foot, way_x, way_y, ignored, *starts).hits
        edge = not any(hit.time == 0.0 or is_floor(hit) for hit in under)
        return walk._replace(edge=edge, wall=walls[0] if walls else None)

    def _walk(
        self,
        row: int,
        displacement: tuple[float, float],
        rules: WalkSettings,
        ahead: float,
        ignored: Ignored,
    ) -> Walk:
        state, store, motion, (dx, dy) = self._state, self._state.store, self._motion, displacement
        state.space.check_displacement(dx, dy)
        self._check_shapes([row])
        _, x, y, _ = start = motion.start_of(row)
        try:
            self._follow(row, dx, dy, rules, ignored)
            log, ends = self._memory.log, self._memory.ends
            to_x, to_y = ends.places[0].tolist()
            if store.x.item(row) != x or store.y.item(row) != y:
                store.have_moved(self._one[0])
            found, _, over = log.counts.tolist()
            hits = tuple(motion.hits_found(row, log.hits[:found], "slide", stops=True))
            crossed: tuple[Hit, ...] = ()
            if over:
                crossed = note_crossings(state, row, hits_of(store.bodies, log.crossed[:over], "cross"))
            if state.space.periodic:
                to_x, to_y = store.x.item(row), store.y.item(row)
                hits, crossed = tuple(map(motion.wrapped_hit, hits)), tuple(map(motion.wrapped_hit, crossed))
            (body, *tile, column, line), floor, up = ends.floors[0].tolist(), None, None
            if body >= 0 or tile[0] >= 0:
                nx, ny = ends.tops[0].tolist()
                floor, up = (motion.body(body) if body >= 0 else Tile(*tile)), (nx, ny)
            ladder = Tile(column, line) if column >= 0 else None
            walk = Walk(to_x, to_y, hits, crossed, floor, up, ladder)
            return self._probed(walk, row, ahead, rules, ignored) if ahead and floor is not None else walk
        except BaseException:
            motion.put_back(start)
            raise

    def _follow(self, row: int, dx: float, dy: float, rules: WalkSettings, ignored: Ignored) -> None:
        """Let the kernel walk, again where it needs memory, or is pushed out of its region."""
        state, memory = self._state, self._memory
        store, broad_phase = state.store, state.broad_phase
        table, space = store.table.columns, (state.space.lengths, state.space.low, state.space.high)
        blocking = store.marks, ALL, (store.group, store.tag_sets.bits)
        (rows, way, first), (regions, across), done = self._one, self._out, CROWDED
        rows[0], way[0] = row, (dx, dy)
        kernel.regions_of(table, rows, way, rules, space, _NO_PUSH, 0, self._out)
        while done != DONE:
            if done == TOO_FAR:
                enlarge(state, regions, across, 0)
            others = broad_phase.gathered(tuple(regions[0].tolist()))
            if ignored:
                others = others[~np.isin(others, [*ignored])]
            memory.log.counts[:], first[1] = 0, len(others)
            around = _new(Surroundings, (regions, across, first, others))
            scene = _new(Scene, (table, rows, around, state.grid, _RING, store.static, store.one_way))
            _, done = memory.walk(state, scene, way, 0, rules, blocking)

    def walk_many(
        self, bodies: Any, dx: Any, dy: Any, rules: WalkRules, movers_block: bool, ignore: Any
    ) -> Movements:
        """See `World.walk_many`."""
        known, (rows, ways) = rules_of(*rules), self._many.checked_displacements(bodies, dx, dy)
        state, store, count = self._state, self._state.store, len(rows)
        ignored, layers = store.ignored(ignore), ALL if movers_block else STATICS
        table, space = store.table.columns, (state.space.lengths, state.space.low, state.space.high)
        self._check_shapes(rows[table.kinds[rows] != BOX].tolist())
        blocking = store.marks, layers, (store.group, store.tag_sets.bits)
        memory, write = _Memory(count), partial(kernel.regions_of, table, rows, ways, known, space)

        def run(around: Surroundings, begin: int, first: int) -> tuple[int, int]:
            those = slice(first, first + len(around.across))
            scene = Scene(table, rows[those], around, state.grid, _RING, store.static, store.one_way)
            before = store.places(rows[those][begin:])
            end, done = memory.walk(state, scene, ways[those], begin, known, blocking, first)
            walked = rows[those][begin:end]
            moved = (store.places(walked) != before[: len(walked)]).any(axis=1)
            if moved.any():
                store.have_moved(walked[moved])
            return end, done

        with Rollback(state, rows):
            Regions(state, rows, layers | 1 << MOVING, ignored, {}, write).move(run)
            hits = memory.log.hits[: memory.log.counts[0]]
            crossed, slides = memory.log.crossed[: memory.log.counts[2]], np.zeros(count, np.int8)
            found = Movements(store.places(rows), *state.contacts.report(rows, slides, hits, crossed))
            found.floors, found.ladders = memory.ends.floors[:, :3], memory.ends.floors[:, 3:]
            found.normals = memory.ends.tops
            return found

    def _check_shapes(self, rows: list[int]) -> None:
        """Raise ``ValueError`` where a shape can not walk."""
        for row in rows:
            if not _can_walk(self._state.store.table.columns, row):
                raise ValueError(
                    f"{self._motion.body(row)!r} can not walk: a walker is a Circle, or a Box, Capsule or "
                    "RoundedBox whose sides lie along the axes"
                )


class _Memory:
    """What walks are computed in, and what they answer; it grows where a walk needs more."""

    def __init__(self, count: int) -> None:
        self.obstacles, self.log = _obstacles(64, 256), _log(2 * count + 30, 64)
        self.ends = Ends(np.empty((count, 2)), np.empty((count, 5), np.int64), np.empty((count, 2)))

    def walk(
        self,
        state: State,
        scene: Scene,
        ways: Floats,
        begin: int,
        rules: WalkSettings,
        blocking: Any,
        first: int = 0,
    ) -> tuple[int, int]:
        """Let the kernel walk; which is the next walker, and what it needs.

        The first walker of the scene is number ``first`` of all.
        """
        broad_phase, log, ends, met, crossed = state.broad_phase, self.log, self.ends, 0, 0
        images = broad_phase.frame, state.space.lengths
        if first:
            (met, _, crossed), (places, floors, tops) = log.counts.tolist(), ends
            ends = Ends(places[first:], floors[first:], tops[first:])
        memory = self.obstacles, log, ends, broad_phase.buffers, images
        begin, done = kernel.walk_rows(scene, ways, begin, rules, blocking, *memory)
        if first:
            log.hits[met : log.counts[0], 8] += first
            log.crossed[crossed : log.counts[2], 8] += first
        if done == kernel.BUFFER_FULL:
            self.obstacles = _obstacles(2 * len(self.obstacles.boxes), 2 * len(self.obstacles.planes))
        elif done == kernel.MORE_LOG:
            larger = _log(2 * len(log.hits), 2 * len(log.bends))
            for column, known in zip(larger, log, strict=True):
                column[: len(known)] = known
            self.log = larger
        elif done == CROWDED:
            broad_phase.reserve(2 * len(broad_phase.buffers.near))
        return int(begin), int(done)


def rules_of(
    snap: float, steepest: float, step: float, corner: float, drop: bool, down: tuple[float, float]
) -> WalkSettings:
    """The rules of a walk, checked, as kernels take them."""
    given = snap, steepest, step, corner, drop, *as_two(down, "down")
    try:  # a game walks by the same few rules: 0.9 of the time of a walk
        return _known_rules(*given)
    except TypeError:  # one has no hash, such as an array without axes, or is none of a rule
        pass
    return _known_rules.__wrapped__(*given)


@lru_cache(maxsize=64, typed=True)
def _known_rules(
    snap: float, steepest: float, step: float, corner: float, drop: bool, x: float, y: float
) -> WalkSettings:
    """`rules_of`, with both numbers of ``down``."""
    angle = extent(steepest, "steepest")
    if not angle < 90.0:
        raise ValueError(f"steepest = {angle:g} must be less than 90 degrees")
    if (x == 0.0) == (y == 0.0):
        raise ValueError(f"down = ({x:g}, {y:g}) must be (0, 1), (0, -1), (1, 0) or (-1, 0)")
    if not isinstance(drop, bool | np.bool_):
        raise TypeError(f"drop must be True or False; got {drop!r}")
    cosine, sine = cosine_sine(angle)
    return WalkSettings(
        _reach(snap, "snap"),
        sine / cosine,
        cosine * (1.0 - 1e-9),
        _reach(step, "step"),
        _reach(corner, "corner"),
        math.copysign(1.0, x or y),
        bool(drop),
        x != 0.0,
    )


def _can_walk(table: ShapeColumns, row: int) -> bool:
    """Whether the sides of a shape lie along the axes; its corners may be round."""
    if table.kinds.item(row) in (BOX, CIRCLE):
        return True
    start = table.starts.item(row)
    corners = table.points[start : start + table.counts.item(row)]
    xs, ys = (set(column) for column in corners.T.tolist())
    return len(xs) * len(ys) == len(corners)


def _in_turn(hits: Iterable[Hit], later: Iterable[Hit], share: float) -> tuple[Hit, ...]:
    """The hits of two walks as those of one, of which the first is a share."""
    first = [hit._replace(time=share * hit.time) for hit in hits]
    return (*first, *(hit._replace(time=share + (1.0 - share) * hit.time) for hit in later))


def _reach(value: float, name: str) -> float:
    """A length that a walk may add to its displacement."""
    length = extent(value, name)
    if not length < FARTHEST:
        raise ValueError(f"{name} = {length:g} must be less than {FARTHEST:g}")
    return length


def _obstacles(boxes: int, planes: int) -> Obstacles:
    return Obstacles(
        np.empty((boxes, 4)),
        np.empty((boxes, 4), np.int64),
        np.empty(boxes + 1, np.int64),
        np.empty((planes, 4)),
        np.zeros(2, np.int64),
        np.zeros(1),
    )


def _log(hits: int, bends: int) -> Log:
    return Log(np.empty((hits, 9)), np.empty((bends, 3)), np.empty((hits, 9)), np.zeros(3, np.int64))
