"""A world in plain Python: lists, every pair, one shape at a time."""

from broadphase.shapes.narrow_phase import contact
from broadphase.world.listeners import ANY


class Thing:
    def __init__(self, shape, tags, static, sensor, category, mask):
        self.shape, self.tags = shape, tags
        self.static, self.sensor, self.category, self.mask = static, sensor, category, mask
        self.version = 0

    def retag(self, tags):
        if tags != self.tags:
            self.tags = tags
            self.version += 1  # to its contacts it is another thing now

    def has(self, tag):
        return tag is ANY or tag in self.tags


class Model:
    """Things by id; listeners as ``a, b, name``; contacts by the things' identity and tags."""

    def __init__(self):
        self.things = {}
        self.listeners = []
        self.before = {}

    def add(self, *what):
        new = next(k for k in range(len(self.things) + 1) if k not in self.things)
        self.things[new] = Thing(*what)
        return new

    def concerned(self, first, second):
        """``name, turned`` of every listener that two things concern."""
        found = []
        for a, b, name in self.listeners:
            if first.has(a) and second.has(b):
                found.append((name, False))
            elif first.has(b) and second.has(a):
                found.append((name, True))
        return found

    def contacts(self):
        found = {}
        for i in sorted(self.things):
            for j in sorted(self.things):
                a, b = self.things[i], self.things[j]
                if (
                    i < j
                    and not (a.static and b.static)
                    and a.category & b.mask
                    and b.category & a.mask
                    and self.concerned(a, b)
                ):
                    met = contact(a.shape, b.shape)
                    if met is not None:
                        found[i, j] = (a, a.tags, a.version, b, b.tags, b.version, met.normal, met.depth)
        return found

    def update(self):
        """``began, stayed, ended`` as ``i, j, normal, depth`` with the lower id first."""
        now, before = self.contacts(), self.before
        same = {key for key in now if key in before and before[key][:6] == now[key][:6]}
        began = [(*key, *now[key][6:]) for key in now if key not in same]
        stayed = [(*key, *now[key][6:]) for key in now if key in same]
        ended = [(*key, *before[key][6:]) for key in sorted(before) if key not in same]
        self.before = now
        return began, stayed, ended
