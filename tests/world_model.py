"""A world in plain Python: lists, every pair, one shape at a time."""

from broadphase import ANY
from broadphase.geometry.narrow_phase import contact


class Thing:
    def __init__(self, shape, tags, static, sensor, category, mask):
        self.shape, self.tags = shape, tags
        self.static, self.sensor, self.category, self.mask = static, sensor, category, mask

    def retag(self, tags):
        self.tags = tags

    def has(self, tag):
        return tag is ANY or tag in self.tags


class Model:
    """Bodies by id; listeners as ``a, b, name``; contacts with both bodies and the listeners concerned."""

    def __init__(self):
        self.entities = {}
        self.listeners = []
        self.before = {}
        self.crossed = {}

    def add(self, *what):
        new = next(k for k in range(len(self.entities) + 1) if k not in self.entities)
        self.entities[new] = Thing(*what)
        return new

    def concerned(self, first, second):
        """``name, turned`` of every listener that two bodies concern."""
        found = []
        for a, b, name in self.listeners:
            if first.has(a) and second.has(b):
                found.append((name, False))
            elif first.has(b) and second.has(a):
                found.append((name, True))
        return found

    def contacts(self):
        found = {}
        for i in sorted(self.entities):
            for j in sorted(self.entities):
                a, b = self.entities[i], self.entities[j]
                if (
                    i < j
                    and not (a.static and b.static)
                    and a.category & b.mask
                    and b.category & a.mask
                    and self.concerned(a, b)
                ):
                    met = contact(a.shape, b.shape)
                    if met is not None:
                        found[i, j] = (a, b, tuple(self.concerned(a, b)), met.normal, met.depth)
        return found

    def cross(self, mover, other, normal):
        """A movement of one body has crossed another."""
        a, b = self.entities[mover], self.entities[other]
        if self.concerned(a, b) and not (a.static and b.static):
            self.crossed.setdefault((a, b), normal)

    def passed(self, now):
        """What met between two updates, and at neither."""
        found, ids = {}, {body: k for k, body in self.entities.items()}
        for (mover, other), (nx, ny) in self.crossed.items():
            if mover not in ids or other not in ids or (mover.static and other.static):
                continue
            i, j = ids[mover], ids[other]
            key, normal = ((i, j), (nx, ny)) if i < j else ((j, i), (-nx, -ny))
            a, b = (self.entities[k] for k in key)
            known = key in now or (key in self.before and self.before[key][:2] == (a, b))
            if not known and self.concerned(a, b):
                found.setdefault(key, (a, b, tuple(self.concerned(a, b)), normal, 0.0))
        return found

    def update(self):
        """``began, stayed, ended`` as ``i, j, normal, depth`` with the lower id first; and all calls.

        A call is ``phase, name, first, second, normal, depth``.
        """
        now, before = self.contacts(), self.before
        same = sorted(key for key in now if key in before and before[key][:2] == now[key][:2])
        passed, self.crossed = self.passed(now), {}
        began = sorted([(key, now[key]) for key in now.keys() - same] + list(passed.items()), key=by_ids)
        ended = sorted([(key, before[key]) for key in before.keys() - same], key=by_ids)
        ended = sorted(ended + list(passed.items()), key=by_ids)
        calls = []
        for key in same:
            old, new = before[key][2], now[key][2]
            calls += [reported(2, one, key, before[key]) for one in old if one not in new]
            calls += [reported(0, one, key, now[key]) for one in new if one not in old]
        calls += [reported(0, one, key, contact) for key, contact in began for one in contact[2]]
        calls += [
            reported(1, one, key, now[key]) for key in same for one in now[key][2] if one in before[key][2]
        ]
        calls += [reported(2, one, key, contact) for key, contact in ended for one in contact[2]]
        self.before = now
        stayed = [(key, now[key]) for key in same]
        return [[(*key, *contact[3:]) for key, contact in some] for some in (began, stayed, ended)], calls


def by_ids(found):
    return found[0]


def reported(phase, concerned, key, contact):
    name, turned = concerned
    (i, j), (nx, ny), depth = key, contact[3], contact[4]
    return (phase, name, j, i, (-nx, -ny), depth) if turned else (phase, name, i, j, (nx, ny), depth)
