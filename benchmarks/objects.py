"""Lists of objects: `colliding` and `in_range` beside the loops that a program would write.

    python -m pip install pygame-ce
    python benchmarks/objects.py

The objects hold a vector of pygame and a radius, or are sprites of pygame; where there are two lists, both
have so many.  All ways must find the same.  Printed, for the page *From how many on*, is how many times as
long the best of the loops takes; less than 1 is a loss.
"""

from itertools import combinations, product
from math import dist

import numpy as np
import pygame
from timing import best_of

import broadphase as bp
from broadphase.adapters.pygame import WorldGroup, groupcollide


class Thing:
    """An object of a game: a place and a radius."""

    __slots__ = ("pos", "radius")

    def __init__(self, pos, radius):
        self.pos, self.radius = pos, radius


def things(rng, n):
    """So many circles, each of which touches one or two."""
    places, radii = rng.random((n, 2)) * 10 * n**0.5, 1 + 2 * rng.random(n)
    return [
        Thing(pygame.Vector2(*place), radius)
        for place, radius in zip(places.tolist(), radii.tolist(), strict=True)
    ]


def as_numbers(ones):
    return [(one, one.pos.x, one.pos.y, one.radius) for one in ones]


def box_first(ones, others=None):
    """Two loops over numbers; the boxes are compared before the distance."""
    first, found = as_numbers(ones), []
    second = first if others is None else as_numbers(others)
    for k, (a, x, y, r) in enumerate(first):
        for b, u, v, s in second[k + 1 :] if others is None else second:
            s += r
            u -= x
            if -s < u < s:
                v -= y
                if -s < v < s and u * u + v * v < s * s:
                    found.append((a, b))
    return found


def sorted_by_hand(ones, others=None):
    """Sorted by the left edge, and stopped early."""
    rows = [(x - r, 0, a, x, y, r) for a, x, y, r in as_numbers(ones)]
    if others is not None:
        rows += [(x - r, 1, a, x, y, r) for a, x, y, r in as_numbers(others)]
    rows.sort(key=lambda row: row[0])
    found = []
    for k, (_, side, a, x, y, r) in enumerate(rows):
        end = x + r
        for m in range(k + 1, len(rows)):
            left, other, b, u, v, s = rows[m]
            if left >= end:
                break
            if others is None or side != other:
                s += r
                v -= y
                if -s < v < s:
                    u -= x
                    if u * u + v * v < s * s:
                        found.append((b, a) if side > other else (a, b))
    return found


def pairs_of(found, one_list):
    """The pairs as a set, whichever of two comes first."""
    return {frozenset(map(id, pair)) if one_list else tuple(map(id, pair)) for pair in found}


def in_range_by_loops(ones, others, radius):
    return [[b for b in others if a.pos.distance_to(b.pos) <= radius] for a in ones]


def colliderect(sprites):
    return [(a, b) for a, b in combinations(sprites, 2) if a.rect.colliderect(b.rect)]


def gain(ours, *loops):
    """How many times as long the fastest of the loops takes."""
    times = best_of(dict(enumerate((ours, *loops))), 0.2)
    return min(list(times.values())[1:]) / times[0]


def of_circles(n):
    ones = things(np.random.default_rng(n), n)
    assert bp.colliding(ones, radius="radius") == [
        (a, b) for a, b in combinations(ones, 2) if a.pos.distance_to(b.pos) < a.radius + b.radius
    ]
    ways = [lambda: sorted_by_hand(ones), lambda: box_first(ones)][: 2 if n <= 300 else 1]
    assert all(pairs_of(way(), True) == pairs_of(bp.colliding(ones, radius="radius"), True) for way in ways)
    return gain(lambda: bp.colliding(ones, radius="radius"), *ways)


def of_two_lists(n):
    rng = np.random.default_rng(n)
    ones, others = things(rng, n), things(rng, n)
    assert bp.colliding(ones, others, radius="radius") == [
        (a, b) for a, b in product(ones, others) if a.pos.distance_to(b.pos) < a.radius + b.radius
    ]
    ways = [lambda: sorted_by_hand(ones, others), lambda: box_first(ones, others)][: 2 if n <= 300 else 1]
    right = pairs_of(bp.colliding(ones, others, radius="radius"), False)
    assert all(pairs_of(way(), False) == right for way in ways)
    return gain(lambda: bp.colliding(ones, others, radius="radius"), *ways)


def of_ranges(n):
    rng = np.random.default_rng(n)
    towers, creeps = things(rng, n), things(rng, n)
    assert bp.in_range(towers, creeps, 9.0) == in_range_by_loops(towers, creeps, 9.0)
    return gain(lambda: bp.in_range(towers, creeps, 9.0), lambda: in_range_by_loops(towers, creeps, 9.0))


def of_sprites(n):
    rng = np.random.default_rng(n)
    sprites = sprites_of(rng, n)
    assert bp.colliding(sprites) == colliderect(sprites)
    return gain(lambda: bp.colliding(sprites), lambda: colliderect(sprites))


def sprites_of(rng, n, *groups):
    """So many sprites, each of which touches one or two."""
    made = [pygame.sprite.Sprite(*groups) for _ in range(n)]
    for sprite, (x, y) in zip(made, (rng.random((n, 2)) * 10 * n**0.5).tolist(), strict=True):
        sprite.rect = pygame.Rect(x, y, 5, 6)
    return made


def of_a_group(n):
    rng, creeps = np.random.default_rng(n), WorldGroup()
    sprites_of(rng, n, creeps)
    bullets = sprites_of(rng, n)

    def ours():
        creeps.sync()
        return [creeps.colliding(bullet) for bullet in bullets]

    def loop():
        return [pygame.sprite.spritecollide(bullet, creeps, False) for bullet in bullets]

    assert ours() == loop()
    return gain(ours, loop)


def of_ranges_of_a_group(n):
    rng, creeps = np.random.default_rng(n), WorldGroup()
    sprites_of(rng, n, creeps)
    towers = sprites_of(rng, n)

    def loop():
        return [[b for b in creeps if dist(a.rect.center, b.rect.center) <= 9.0] for a in towers]

    assert creeps.in_range(towers, 9.0) == loop()
    return gain(lambda: creeps.in_range(towers, 9.0), loop)


def of_groupcollide(n):
    rng, bullets, creeps = np.random.default_rng(n), pygame.sprite.Group(), pygame.sprite.Group()
    sprites_of(rng, n, bullets), sprites_of(rng, n, creeps)
    ways = [
        lambda way=way: way(bullets, creeps, False, False)
        for way in (groupcollide, pygame.sprite.groupcollide)
    ]
    assert ways[0]() == ways[1]()
    return gain(*ways)


def shown(ratio):
    return f"{ratio:.2g}" if ratio < 10 else f"{ratio:.0f}"


SIZES = (2, 4, 6, 10, 30, 100)
ROWS = {
    "`colliding(things, radius=...)` | the better of two loops by hand": of_circles,
    "`colliding(things, others, radius=...)` | the same": of_two_lists,
    "`in_range(towers, creeps, r)` | `distance_to` in two loops": of_ranges,
    "`colliding(sprites)` | `colliderect` in two loops": of_sprites,
    "`groupcollide` of the adapter | that of pygame": of_groupcollide,
    "`group.sync()`, then `group.colliding(sprite)` for each | `spritecollide` for each": of_a_group,
    "`group.in_range(towers, r)` | `math.dist` in two loops": of_ranges_of_a_group,
}


def main():
    print(f"| call | instead of | {' | '.join(map(str, SIZES))} |")
    print(f"|---|---|{'--:|' * len(SIZES)}")
    for title, row in ROWS.items():
        print(f"| {title} | {' | '.join(map(shown, map(row, SIZES)))} |", flush=True)


if __name__ == "__main__":
    main()
