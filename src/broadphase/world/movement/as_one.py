"""Bodies of several shapes: several bodies that move and turn as one, each kept where it is to the others."""

from typing import Any

import numpy as np

from broadphase.geometry.shapes import finite
from broadphase.world.arguments import as_two
from broadphase.world.bodies import Body
from broadphase.world.hits import Answer, Hit, Movement, code_of
from broadphase.world.movement.motion import Motion, Rollback

# So often a movement goes on along what it met.
_MOST_TURNS = 8


def move_as_one(motion: Motion, bodies: Any, dx: Any, dy: Any, response: Answer, ignore: Any) -> Movement:
    """See `World.move_as_one`."""
    store = motion._store
    rows, ignored = store.rows_of(bodies), store.ignored(ignore)
    way_x, way_y = finite(dx, "dx"), finite(dy, "dy")
    code_of(response)
    motion._space.check_displacement(way_x, way_y)
    if not len(rows):
        raise ValueError("bodies is empty; give the parts of one body")
    parts = ignored.union(rows.tolist())
    hits: list[Hit] = []
    gone = 0.0  # of the whole displacement
    with Rollback(motion._state, rows):
        for _ in range(_MOST_TURNS):
            met = []
            for row in rows.tolist() if (way_x, way_y) != (0.0, 0.0) else ():
                start = store.x.item(row), store.y.item(row)
                casts = motion.dry(row, way_x, way_y, "touch", parts)
                stops = [hit for hit in casts.hits if hit.response != "cross"]
                met += [(hit.time, row, hit, start) for hit in stops[:1]]
            if not met or response == "cross":
                hits += [hit._replace(response="cross") for _, _, hit, _ in met]
                _shift(motion, rows.tolist(), way_x, way_y, parts)
                break
            time, row, hit, (x, y) = min(met, key=lambda one: one[:2])
            _shift(motion, rows.tolist(), hit.touch[0] - x, hit.touch[1] - y, parts)
            hits.append(hit._replace(response=response, time=gone + (1.0 - gone) * time))
            gone += (1.0 - gone) * time
            if isinstance(hit.other, Body):
                motion._contacts.note(row, hit.other.id, hit.normal, stopped=True)
            if response == "touch":
                break
            nx, ny = hit.normal
            way_x, way_y = way_x * (1.0 - time), way_y * (1.0 - time)
            into = (2.0 if response == "bounce" else 1.0) * min(way_x * nx + way_y * ny, 0.0)
            way_x, way_y = way_x - into * nx, way_y - into * ny
    x, y = store.places(rows)[0].tolist()
    return Movement(x, y, tuple(hits))


def _shift(motion: Motion, rows: list[int], dx: float, dy: float, parts: frozenset[int]) -> None:
    for row in rows:
        motion.move_through(row, dx, dy, parts)


def turn_as_one(motion: Motion, bodies: Any, by: Any, about: Any) -> object | None:
    """See `World.turn_as_one`."""
    store = motion._store
    rows, degrees = store.rows_of(bodies), finite(by, "by")
    if not len(rows):
        raise ValueError("bodies is empty; give the parts of one body")
    bounds = store.table.bounds(rows)
    low, high = bounds[:, :2].min(axis=0), bounds[:, 2:].max(axis=0)
    pivot = tuple((0.5 * (low + high)).tolist()) if about is None else as_two(about, "about")
    angles, places = [store.table.angle(row) + degrees for row in rows.tolist()], []
    for row, angle in zip(rows.tolist(), angles, strict=True):
        found = motion.blocker_turned(row, angle, pivot, rows.tolist())
        if found is not None:
            return found
        places.append(store.space.place(*store.place_turned(row, angle, pivot)))
    store.turn_many(rows, np.array(angles), np.array(places).T)
    return None
