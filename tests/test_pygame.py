"""The drop-ins against pygame's own functions: the same worlds, made twice, must end the same."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

pygame = pytest.importorskip("pygame", reason="the extra pygame is not installed")

from pygame import sprite  # noqa: E402
from sprite_helpers import NamedSprite, disc, names, outcome  # noqa: E402

from broadphase.adapters import pygame as ours  # noqa: E402

IMAGES = [disc(size) for size in (4, 9, 16)]


@ours.rect_first
def both_even(left, right):
    return left.number % 2 == 0 and right.number % 2 == 0


def any_odd(left, right):
    """The function does not use rects: every pair has to be tested."""
    return (left.number + right.number) % 3 == 0


TESTS = {
    "default": None,
    "collide_rect": sprite.collide_rect,
    "ratio 0.5": sprite.collide_rect_ratio(0.5),
    "ratio 3": sprite.collide_rect_ratio(3),
    "ratio -1.5": sprite.collide_rect_ratio(-1.5),
    "circle": sprite.collide_circle,
    "circle 0.3": sprite.collide_circle_ratio(0.3),
    "circle -2": sprite.collide_circle_ratio(-2),
    "mask": sprite.collide_mask,
    "rect_first": both_even,
    "own": any_odd,
}


@pytest.fixture(autouse=True, params=["broad phase", "lists"])
def way(request, monkeypatch):
    """Small worlds too are read: into boxes or, where rects decide, into lists."""
    monkeypatch.setattr(ours, "FEW_TESTS", 0)
    monkeypatch.setattr(ours, "_FEW_OTHER_TESTS", 0)
    if request.param == "broad phase":
        monkeypatch.setattr(ours, "FEW_RECTS", 0)


def world(seed, kind="ints", count=30, side=60, make=NamedSprite):
    """Two groups that share a few sprites; ``kind`` says what their rects hold."""
    rng = random.Random(seed)
    members = []
    for number in range(2 * count):
        place = [rng.choice([rng.randint(-side, side), rng.uniform(-side, side)]) for _ in "xy"]
        size = [rng.choice([0, 1, 5, 12, 12, 12, -7, rng.uniform(0, 20)]) for _ in "wh"]
        float_rect = kind == "floats" or (kind == "mixed" and rng.random() < 0.5)
        rect = (pygame.FRect if float_rect else pygame.Rect)(*place, *size)
        more = {"number": number, "image": rng.choice(IMAGES)}
        if rng.random() < 0.3:
            more["mask"] = pygame.mask.from_surface(rng.choice(IMAGES))
        if rng.random() < 0.3:
            more["radius"] = rng.choice([0, 3, 7.5, -4])
        members.append(make(f"s{number}", rect, **more))
    groups = sprite.Group(), rng.choice([sprite.Group, sprite.LayeredUpdates, sprite.RenderUpdates])()
    groups[0].add(*members[: count + 3])
    groups[1].add(*members[count:])
    return *groups, members


def state(groups, members):
    """All that a call may have changed."""
    return (
        [names(list(group)) for group in groups],
        [len(member.groups()) for member in members],
        [vars(member).get("radius") for member in members],
        [tuple(member.rect) for member in members],
    )


@pytest.mark.covering(together=2)
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("kind", ["ints", "floats", "mixed"])
@pytest.mark.parametrize("kills", [(False, False), (True, False), (False, True), (True, True)])
def test_groupcollide_ends_as_pygames_does(kind, test, kills, exhaustive):
    hits = 0
    for seed in range(12 if exhaustive else 4):
        a, b, members = world(seed, kind)
        found = ours.groupcollide(a, b, *kills, TESTS[test])
        c, d, others = world(seed, kind)
        expected = sprite.groupcollide(c, d, *kills, TESTS[test])
        assert names(found) == names(expected)
        assert state((a, b), members) == state((c, d), others)
        hits += len(found)
    assert hits


@given(st.data())
def test_whatever_the_rects_are(data):
    """Small coordinates, so that edges meet, and the odd far or tiny one."""
    number = st.one_of(
        st.integers(-4, 4),
        st.sampled_from([2**31 - 1, -(2**31), 2**30, 2**29, 1e-30, 0.5, 1 / 3, 16777217.0]),
    )
    size = st.one_of(st.integers(-3, 4), st.sampled_from([2**31 - 1, 2**30, 1e-30, 0.25, 1 / 3]))
    kinds = data.draw(st.sampled_from([(pygame.Rect,), (pygame.FRect,), (pygame.Rect, pygame.FRect)]))
    rows = data.draw(st.lists(st.tuples(st.sampled_from(kinds), number, number, size, size), max_size=16))
    test = TESTS[data.draw(st.sampled_from(["default", "collide_rect", "ratio 3", "circle", "ratio 0.5"]))]
    half, same = len(rows) // 2, data.draw(st.booleans())
    kills = data.draw(st.booleans()), data.draw(st.booleans())
    ends = []
    for module in (ours, sprite):
        members = [NamedSprite(f"s{i}", kind(*row)) for i, (kind, *row) in enumerate(rows)]
        a = sprite.Group(members if same else members[:half])
        b = a if same else sprite.Group(members[half:])
        ends.append((outcome(module.groupcollide, a, b, *kills, test), state((a, b), members)))
    assert ends[0] == ends[1]


@pytest.mark.covering
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("kind", ["ints", "floats", "mixed"])
def test_collide_is_every_pair_of_one_list(kind, test):
    queries = TESTS[test] or sprite.collide_rect
    hits = 0
    for seed in range(8):
        a, _, _ = world(seed, kind)
        c, _, _ = world(seed, kind)
        members = list(c)
        expected = [(p, q) for i, p in enumerate(members) for q in members[i + 1 :] if queries(p, q)]
        found = ours.collide(a, TESTS[test])
        assert names(found) == names(expected)
        hits += len(found)
    assert hits
    assert ours.collide([]) == []


class Exploding(NamedSprite):
    """Killing one moves the next, brings a new one into the group, and pushes everybody to the right."""

    def kill(self):
        groups = self.groups()
        super().kill()
        for group in groups[:1]:
            for other in group:
                other.rect.move_ip(1, 0)
            if len(group) < 80:
                group.add(Exploding(f"{self.name}'", self.rect.move(3, 3), number=1, image=IMAGES[0]))


class Sticky(sprite.Group):
    """A group that keeps every third sprite that is to be removed."""

    def remove_internal(self, removed):
        if removed.number % 3:
            super().remove_internal(removed)


@pytest.mark.parametrize("test", TESTS)
def test_killing_may_change_the_world(test, exhaustive):
    for seed in range(8 if exhaustive else 3):
        ends = []
        for module in (ours, sprite):
            a, b, members = world(seed, make=Exploding, side=100)
            found = module.groupcollide(a, b, True, True, TESTS[test])
            ends.append((names(found), state((a, b), members)))
        assert ends[0] == ends[1]


def test_one_sprite_may_have_its_own_kill():
    """``kill`` of one object, and not of its class: it takes another along, and one out of a list."""
    for make in (sprite.Group, list):
        ends = []
        for module in (ours, sprite):
            a, b, members = world(5)
            lefts = make(a.sprites())
            rights = make(b.sprites())

            def kill(lefts=lefts, members=members):
                members[-2].kill()
                if isinstance(lefts, list) and lefts:
                    lefts.pop()

            for k in (35, 40, 45, 50):
                members[k].kill = kill
            ends.append((names(module.groupcollide(lefts, rights, False, True)), state((a, b), members)))
        assert ends[0] == ends[1]
        assert ends[0][0]


def test_groups_of_ones_own_and_plain_lists_are_taken_as_pygame_takes_them():
    for seed in range(8):
        for make in (
            list,
            tuple,
            iter,
            Sticky,
            sprite.LayeredUpdates,
            lambda members: sprite.GroupSingle(*members[:1]),
        ):
            ends = []
            for module in (ours, sprite):
                a, b, members = world(seed)
                first, second = make(a.sprites() * 2), make(b.sprites())
                result = outcome(module.groupcollide, first, second, True, True)
                ends.append((result, state((a, b), members)))
            assert ends[0] == ends[1], make


class Fickle(sprite.Group):
    """A group that returns another half of its sprites at each iteration."""

    looks = 0

    def sprites(self):
        self.looks += 1
        return super().sprites()[self.looks % 2 :: 2]


def test_a_group_with_its_own_list_of_sprites_is_left_to_pygame():
    results = []
    for module in (ours, sprite):
        a, b, _ = world(4)
        results.append(names(module.groupcollide(a, Fickle(b.sprites()), False, False)))
    assert results[0] == results[1]
    assert results[0]


def test_circles_that_pygame_would_not_test_get_no_radius():
    """The first kills all of the other group, so the second overlaps none."""
    for module in (ours, sprite):
        rects = [pygame.Rect(0, 0, 8, 8), pygame.Rect(0, 0, 8, 8), pygame.Rect(2, 2, 8, 8)]
        members = [NamedSprite(f"s{k}", rect) for k, rect in enumerate(rects)]
        a, b = sprite.Group(members[:2]), sprite.Group(members[2])
        found = module.groupcollide(a, b, False, True, sprite.collide_circle)
        assert names(found) == [("s0", ["s2"])]
        assert [hasattr(member, "radius") for member in members] == [True, False, True]


def broken_worlds():
    """Worlds in which pygame raises or does something unexpected."""
    good = {"number": 1, "image": IMAGES[0]}
    yield "no rect", lambda: [NamedSprite("a", pygame.Rect(0, 0, 5, 5), **good), sprite.Sprite()]
    yield "rect is None", lambda: [NamedSprite("a", None, **good)]
    yield "tuples", lambda: [NamedSprite("a", (0, 0, 5, 5), **good)]
    yield "nan", lambda: [NamedSprite("a", pygame.FRect(float("nan"), 0, 5, 5), **good)]
    yield "inf", lambda: [NamedSprite("a", pygame.FRect(0, 0, float("inf"), 5), **good)]
    yield "far", lambda: [NamedSprite("a", pygame.Rect(2**31 - 3, 0, 5, 5), **good)]
    yield "radius", lambda: [NamedSprite("a", pygame.Rect(0, 0, 5, 5), radius="large", **good)]
    yield "radius nan", lambda: [NamedSprite("a", pygame.Rect(0, 0, 5, 5), radius=float("nan"), **good)]
    yield "no image", lambda: [NamedSprite("a", pygame.Rect(0, 0, 5, 5), number=1)]
    yield "mask is None", lambda: [NamedSprite("a", pygame.Rect(0, 0, 5, 5), mask=None, **good)]
    yield "empty", list


BROKEN = dict(broken_worlds())


@pytest.mark.parametrize("name", BROKEN)
def test_errors_and_oddities_are_pygames(name, each):
    def sound():
        return [NamedSprite(f"b{k}", pygame.Rect(k, 0, 5, 5), number=k, image=IMAGES[0]) for k in range(4)]

    make = BROKEN[name]

    def check(test):
        for first, second in ((make, sound), (sound, make), (make, make)):
            ends = []
            for module in (ours, sprite):
                a, b = sprite.Group(first()), sprite.Group(second())
                ends.append(outcome(module.groupcollide, a, b, False, False, TESTS[test]))
            assert ends[0] == ends[1]

    each(check, TESTS)


def test_errors_in_a_function_of_ones_own_come_through():
    @ours.rect_first
    def broken(left, right):
        raise ZeroDivisionError(f"{left} {right}")

    a, b, _ = world(1)
    assert outcome(ours.groupcollide, a, b, False, True, broken) == outcome(
        sprite.groupcollide, a, b, False, True, broken
    )
    with pytest.raises(ZeroDivisionError):
        ours.groupcollide(a, b, False, False, broken)


def test_rects_of_ones_own_type_are_left_to_pygame():
    class Everywhere(pygame.Rect):
        def colliderect(self, other):
            return True

    a = sprite.Group(NamedSprite(f"a{k}", Everywhere(1000 * k, 0, 1, 1)) for k in range(3))
    b = sprite.Group(NamedSprite(f"b{k}", pygame.Rect(0, 1000 * k, 1, 1)) for k in range(3))
    assert names(ours.groupcollide(a, b, False, False)) == names(sprite.groupcollide(a, b, False, False))
    assert len(ours.groupcollide(a, b, False, False)) == 3


def test_rect_first_calls_only_where_rects_overlap():
    queries = []

    @ours.rect_first
    def noting(left, right):
        queries.append((left.name, right.name))
        return True

    a, b, _ = world(3)
    found = ours.groupcollide(a, b, False, False, noting)
    assert names(found) == names(sprite.groupcollide(a, b, False, False))
    assert queries == [(left, right) for left, met in names(found) for right in met]


def test_few_sprites_are_left_to_pygame(monkeypatch):
    """Below the limit nothing is read: the drop-in costs a comparison more than pygame's own."""
    monkeypatch.undo()
    monkeypatch.setattr(ours, "plan", lambda *_: pytest.fail("asked for a plan"))
    a, b, _ = world(1, count=5)
    assert names(ours.groupcollide(a, b, False, False)) == names(sprite.groupcollide(a, b, False, False))
    assert len(ours.groupcollide(a, b, False, False)) > 0
    assert ours.collide(sprite.Group(a.sprites()[:3])) is not None


@pytest.mark.parametrize(("count", "kind"), [(60, "RectLists"), (210, "SpritePlan")])
def test_many_sprites_are_read_once(count, kind, monkeypatch):
    monkeypatch.undo()
    plans = []
    plan = ours.plan
    monkeypatch.setattr(ours, "plan", lambda *given: plans.append(plan(*given)) or plans[-1])
    a, b, _ = world(1, count=count, side=5 * count)
    assert names(ours.groupcollide(a, b, False, False)) == names(sprite.groupcollide(a, b, False, False))
    assert [type(planned).__name__ for planned in plans] == [kind]


def test_the_module_replaces_pygame_sprite():
    assert ours.Group is sprite.Group
    assert ours.collide_mask is sprite.collide_mask
    assert issubclass(ours.DirtySprite, ours.Sprite)
    with pytest.raises(AttributeError):
        ours.no_such_name  # noqa: B018


def test_our_functions_may_replace_those_of_pygame(monkeypatch):
    a, b, _ = world(2)
    expected = names(sprite.groupcollide(a, b, False, False, any_odd))
    monkeypatch.setattr(sprite, "groupcollide", ours.groupcollide)
    monkeypatch.setattr(sprite, "spritecollide", ours.spritecollide)
    assert names(sprite.groupcollide(a, b, False, False, any_odd)) == expected
