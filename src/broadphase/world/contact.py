"""Two bodies in contact, as listeners are told."""

from typing import NamedTuple

from broadphase.world.body import Body


class Contact(NamedTuple):
    """Two bodies that overlap, and the shortest way to part them.

    Where one passed the other within a movement, what was crossed: ``depth`` is 0 then.

    Examples
    --------
    >>> import broadphase as bp
    >>> world = bp.World()
    >>> fox = world.add(bp.Box(0, 0, 10, 10), tag="fox")
    >>> hen = world.add(bp.Box(8, 0, 10, 10), tag="hen")
    >>> listener = world.on("fox", "hen")
    >>> contact = world.update().began[0]
    >>> contact.a is fox, contact.normal, contact.depth
    (True, (-1.0, 0.0), 2.0)
    """

    a: Body
    b: Body
    normal: tuple[float, float]
    """Unit vector out of ``b``, towards ``a``: moving ``a`` by ``depth`` along it makes the two flush."""
    depth: float
