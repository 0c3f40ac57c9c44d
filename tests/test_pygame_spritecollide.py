"""One sprite against a group: the answers, order, errors and kills of pygame."""

import random

import pytest

pygame = pytest.importorskip("pygame", reason="the extra pygame is not installed")
from pygame import sprite  # noqa: E402
from sprite_helpers import NamedSprite, outcome  # noqa: E402

from broadphase.adapters import pygame as ours  # noqa: E402

NUMBERS = [0, 1, -1, 7, 16, -16, 0.5, 1 / 3, 2**29, 2**31 - 1, -(2**31)]
SIZES = [0, 1, 5, 16, -4, 0.25, 2**30]
TESTS = [
    None,
    sprite.collide_mask,
    sprite.collide_rect,
    sprite.collide_circle,
    lambda a, b: a.rect.x < b.rect.x,
]


def members(seed, count, small):
    rng, made = random.Random(seed), []
    for k in range(count):
        kind = rng.choice([pygame.Rect, pygame.FRect]) if seed % 3 else pygame.Rect
        if small:
            place = [rng.choice([rng.randrange(-40, 40), rng.uniform(-40, 40)]) for _ in "xy"]
            rect = kind(*place, rng.randrange(1, 20), rng.randrange(1, 20))
        else:
            rect = kind(*(rng.choice(NUMBERS) for _ in "xy"), *(rng.choice(SIZES) for _ in "xy"))
        member = NamedSprite(f"s{k}", rect)
        member.mask = pygame.mask.Mask((rng.randrange(1, 30), rng.randrange(1, 30)), fill=rng.random() < 0.7)
        member.mask.set_at((0, 0))
        made.append(member)
    return made


@pytest.mark.parametrize("test", TESTS, ids=["rects", "masks", "collide_rect", "circles", "own"])
@pytest.mark.parametrize("small", [True, False])
def test_the_answers_are_pygames(test, small, monkeypatch):
    monkeypatch.setattr(ours, "_FEW_MASKS", 5)
    hits = 0
    for seed in range(30):
        for kill in (False, True):
            ends = []
            for module in (sprite, ours):
                made = members(seed, 14, small)
                group = sprite.Group(made[1:]) if seed % 2 else made[1:]
                everywhere = sprite.Group(made)
                answers = [outcome(module.spritecollideany, made[0], group, test)]
                answers.append(outcome(module.spritecollide, made[0], group, kill, test))
                ends.append((answers, sorted(one.name for one in everywhere)))
            assert ends[0] == ends[1]
            hits += len(ends[0][0][1])
    assert hits


@pytest.mark.parametrize("missing", ["mask", "rect"])
@pytest.mark.parametrize("row", [0, 3])
@pytest.mark.parametrize("test", [None, sprite.collide_mask], ids=["rects", "masks"])
def test_what_is_missing_is_pygames_error(missing, row, test, monkeypatch):
    monkeypatch.setattr(ours, "_FEW_MASKS", 5)
    made = members(1, 6, small=True)
    bare = made[row] = sprite.Sprite()
    bare.name = "bare"
    if missing == "mask":
        bare.rect = pygame.Rect(0, 0, 5, 5)
    else:
        bare.mask = pygame.mask.Mask((5, 5), fill=True)
    for name in ("spritecollide", "spritecollideany"):
        more = (False,) if name == "spritecollide" else ()
        expected = outcome(getattr(sprite, name), made[0], made[1:], *more, test)
        assert outcome(getattr(ours, name), made[0], made[1:], *more, test) == expected


def test_groups_of_ones_own_are_gone_through_once():
    made = members(4, 10, small=True)

    class Own(sprite.Group):
        def __iter__(self):
            return iter(self.sprites()[:3])

    for test in (None, sprite.collide_mask):
        for group in (Own(made[1:]), dict.fromkeys(made[1:])):
            expected = outcome(sprite.spritecollide, made[0], group, False, test)
            assert outcome(ours.spritecollide, made[0], group, False, test) == expected
        expected = outcome(sprite.spritecollide, made[0], iter(made[1:]), False, test)
        assert outcome(ours.spritecollide, made[0], iter(made[1:]), False, test) == expected


def test_masks_far_away_are_not_tested(monkeypatch):
    made, queries = members(5, 40, small=True), []
    for k, member in enumerate(made):
        member.rect.topleft = 50 * k, 0
    right = ours._collide_mask
    monkeypatch.setattr(ours, "_collide_mask", lambda a, b: queries.append(b) or right(a, b))
    ours.spritecollide(made[5], made, False, ours._collide_mask)
    assert queries == [made[5]]
