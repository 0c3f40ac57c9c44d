"""Initial worlds, and a listener."""

from broadphase import Box, World

SQUARE = Box(0, 0, 10, 10)


class Heard:
    """A listener that records its calls as ``phase, a, b``."""

    def __init__(self, world, *pairs):
        self.calls = []
        self.contacts = []
        for a, b in pairs:
            world.on(a, b, *(self.hearing(phase) for phase in ("begin", "stay", "end")))

    def hearing(self, phase):
        def hear(contact):
            self.contacts.append(contact)
            self.calls.append((phase, contact.a.data, contact.b.data))

        return hear

    def reported(self):
        calls, self.calls = self.calls, []
        return calls


def named(world, shape, name, tag, **options):
    return world.add(shape, tag=tag, data=name, **options)


def names(contacts):
    return [(contact.a.data, contact.b.data) for contact in contacts]


def world_with(*shapes, tiles=None, **options):
    world = World()
    world.tiles = tiles
    return world, [world.add(shape, static=True, **options) for shape in shapes]
