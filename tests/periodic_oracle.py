"""A periodic world by brute force: a plain world with many copies of every body."""

import itertools
import math

from broadphase import Box, World, contact

TURNS = range(-3, 4)  # a body reaches out of its period, and a path leads through two
FAR = 16.0  # nothing is farther from a free place in a world of 16 by 12, if there is one


def turns_of(world):
    """All turns that count, for movements of up to two periods."""
    return list(itertools.product(*(TURNS if length else (0,) for length in world.period)))


def image(shape, turn, period):
    """A shape, moved by whole periods."""
    x, y = (k * (length or 0) for k, length in zip(turn, period, strict=True))
    return shape.moved_to(shape.x + x, shape.y + y)


def inside(place, period):
    """A place inside the period."""
    return tuple(one % length if length else one for one, length in zip(place, period, strict=True))


def unrolled(world, mover=None):
    """A plain world of images, and in it the one body that moves, which does not meet its own images.

    ``data`` of each body is its id in the world and its turns.
    """
    flat, found = World(), None
    for body in world:
        for turn in turns_of(world):
            if body is mover and any(turn):
                continue
            one = flat.add(
                image(body.shape, turn, world.period),
                static=body.static,
                sensor=body.sensor,
                category=body.category,
                mask=body.mask,
                data=(body.id, turn),
            )
            if body is mover:
                found = one
    return flat, found


def leaves_the_images(flat, one, response="slide"):
    """Whether a body starts in something and is pushed out beyond all images: where it is, nothing is free.

    A world without edges has no such beyond, and the body stays.
    """
    start = one.position
    flat.move(one, 0, 0, response)
    motion = math.dist(start, one.position)
    one.move_to(*start)
    return motion > FAR


def endless(shape, period):
    """A box that is as long as the world has no ends to be pushed out at."""
    if not isinstance(shape, Box):
        return shape
    x, y, width, height = shape.x, shape.y, shape.width, shape.height
    if width == period[0]:
        x, width = x - width, 3 * width
    if height == period[1]:
        y, height = y - height, 3 * height
    return Box(x, y, width, height)


def contact_of(a, b, world):
    """The deepest contact of two bodies over all images, of equal ones the left or upper one."""
    found = []
    for turn in turns_of(world):
        other = image(b.shape, turn, world.period)
        met = contact(endless(a.shape, world.period), endless(other, world.period), touching=False)
        if met is not None:
            found.append((-met.depth, other.x - a.x, other.y - a.y, tuple(met.normal)))
    return (min(found)[3], -min(found)[0]) if found else None


def contacts(world, listens):
    """All contacts of bodies that have listeners: ``{(i, j): (normal, depth)}``."""
    found = {}
    for a, b in itertools.combinations(world, 2):
        if (a.static and b.static) or not listens(a, b):
            continue
        if a.category & b.mask and b.category & a.mask:
            met = contact_of(a, b, world)
            if met is not None:
                found[a.id, b.id] = met
    return found


def distance(shape, point):
    """How far a point is from a shape, by a world of that shape alone."""
    alone = World()
    alone.add(shape)
    return alone.nearest(point).distances[0]


def nearest(world, point):
    """``[(distance, id)]`` of all bodies, over all images."""
    return sorted(
        (min(distance(image(body.shape, turn, world.period), point) for turn in turns_of(world)), body.id)
        for body in world
    )


def close(a, b, period):
    """Whether two places are the same, one of them perhaps just before the periodic boundary."""
    return all(
        math.isclose(abs(one - two), 0.0, abs_tol=1e-9) or (length and abs(abs(one - two) - length) < 1e-9)
        for one, two, length in zip(a, b, period, strict=True)
    )
