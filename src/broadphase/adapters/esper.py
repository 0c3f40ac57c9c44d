"""Collisions for entity-component games on esper: components, and a processor that calls their functions.

A component maps the tag of the other entity to a function; the functions of both sides are called after all
contacts are found.  `broadphase.World` tests only pairs of tags that have a function, and only bodies that
moved.

Cost per frame: half a microsecond for each entity with a collider, to see what changed, and the world's
update.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from broadphase.errors import need
from broadphase.geometry.shapes import Shape
from broadphase.world.arguments import as_place, as_shape
from broadphase.world.bodies import Body
from broadphase.world.hits import Movement, Response
from broadphase.world.listeners import Contact
from broadphase.world.world import World

__all__ = ["Callbacks", "Collider", "CollisionProcessor", "Tag"]

_esper = need("esper", extra="esper", purpose="the esper adapter")

_Processor: Any = _esper.Processor

Function = Callable[[int, int, Contact], Any]
"""Called with the own entity, the other, and the contact as seen from the own side."""


@dataclass(eq=False)
class Collider:
    """Component: the entity has a body.

    Parameters
    ----------
    shape : Box, Circle or Polygon
        Also its first position.
    static, sensor, category, mask
        As in `broadphase.World.add`.  To change them later, change the body.

    Raises
    ------
    TypeError
        ``shape`` is not a shape.
    """

    shape: Shape
    static: bool = False
    sensor: bool = False
    category: int = 1
    mask: int = 0xFFFFFFFF
    body: Body | None = field(default=None, init=False)
    """Its body in the world, from the first `CollisionProcessor.process`."""

    def __post_init__(self) -> None:
        self.shape = as_shape(self.shape)


class Tag:
    """Component: the tags of the entity, one or several names.

    Examples
    --------
    >>> Tag("monster", "flying")
    Tag('flying', 'monster')
    """

    __slots__ = ("names",)

    def __init__(self, *names: Any) -> None:
        self.names = frozenset(names)
        if not self.names:
            raise ValueError("a Tag must have a name; leave the component out where there is none")

    def __repr__(self) -> str:
        return f"Tag({', '.join(sorted(map(repr, self.names)))})"


@dataclass(eq=False)
class Callbacks:
    """Component: functions to call when the entity touches others, by the tag of the other.

    Each is called with the own entity, the other, and the `Contact` whose ``a`` is the own body.

    Parameters
    ----------
    begin, stay, end : dict of tag to function
        For contacts that begin, stay and end.

    Raises
    ------
    TypeError
        One of them does not map tags to functions.
    """

    begin: Mapping[Any, Function] = field(default_factory=dict)
    stay: Mapping[Any, Function] = field(default_factory=dict)
    end: Mapping[Any, Function] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for phase in ("begin", "stay", "end"):
            functions = getattr(self, phase)
            if not (isinstance(functions, Mapping) and all(map(callable, functions.values()))):
                raise TypeError(f"{phase} must be a dict of tag to function; got {functions!r}")


class _Entity(int):
    """The number of an entity, as stored in ``Body.data``."""


class _Known(NamedTuple):
    """The components of an entity at the last look."""

    collider: Collider
    tag: Tag | None
    shape: Shape


class CollisionProcessor(_Processor):  # type: ignore[misc]  # the class comes with the extra
    """Processor: updates a world from the entities and calls their `Callbacks`.

    Parameters
    ----------
    world : World, optional
        By default a new one.  It may hold your own bodies, tiles and listeners too.
    position : type, optional
        Your component with attributes ``x`` and ``y``.  It determines the position of entities that have it:
        the processor moves their bodies there, and `move` writes to it.  Entities without it keep the
        positions of their bodies.

    Examples
    --------
    >>> import esper
    >>> import broadphase as bp
    >>> from broadphase.adapters.esper import Callbacks, Collider, CollisionProcessor, Tag
    >>> def eat(player, food, contact):
    ...     esper.delete_entity(food)
    >>> player = esper.create_entity(Collider(bp.Box(0, 0, 8, 8)), Tag("player"), Callbacks({"food": eat}))
    >>> food = esper.create_entity(Collider(bp.Circle(20, 4, 2), sensor=True), Tag("food"))
    >>> collisions = CollisionProcessor()
    >>> esper.add_processor(collisions)
    >>> esper.process()
    >>> move = collisions.move(player, 15, 0)
    >>> esper.process()
    >>> esper.entity_exists(food)
    False
    """

    def __init__(self, world: World | None = None, *, position: type | None = None) -> None:
        self.world = World() if world is None else world
        self._position = position
        self._known: dict[int, _Known] = {}
        self._heard: set[tuple[Any, Any]] = set()
        self._listening: dict[int, Callbacks] = {}
        self._fresh: set[int] = set()
        """The entities whose `Callbacks` are other than in the last frame."""
        self._retagged: dict[int, frozenset[Any]] = {}
        """The tags that entities had in the last frame, where they are others now."""
        self._listed: object = None
        """The list of colliders at the last look; esper makes a new list when one is added."""

    def process(self, *_args: Any, **_options: Any) -> None:
        """Find all contacts, then call the functions for those that began, stayed and ended, in this order.

        Contacts are ordered by the ids of the bodies; the functions of both sides of a contact are called in
        succession.  If an entity is deleted meanwhile, no more begin or stay functions are called for its
        contacts, on either side.  Where a `Tag` changes during a contact, the contact ends for the old tags
        and begins for the new ones; for `Callbacks` that come during a contact it begins.

        Raises
        ------
        TypeError, ValueError
            A component holds a value that a body cannot have; the message names the entity.  It is read again
            in the next frame.
        Exception
            What a function raises is passed on, and the remaining functions of this frame are not called.
        """
        self._follow()
        events = self.world.update()
        changed = bool(self._fresh or self._retagged)
        passed = {_ids(contact) for contact in events.began} if changed else set()
        calls = [
            call
            for phase, contacts in zip(_PHASES, events, strict=True)
            if changed or any(getattr(callbacks, phase) for callbacks in self._listening.values())
            for contact in contacts
            for call in self._calls(contact, phase, phase == "end" and _ids(contact) in passed)
        ]
        if changed:  # a contact that stays may begin for one side
            calls.sort(key=lambda call: (_PHASES.index(call[0]), _ids(call[-1])))
        exists = _esper.entity_exists
        for phase, function, entity, other, contact in calls:
            if exists(entity) and (phase == "end" or exists(other)):
                function(entity, other, contact)

    def move(self, entity: int, dx: float, dy: float, response: Response = "slide") -> Movement:
        """Move an entity as far as it can; see `broadphase.World.move`.

        Entities that were added since the last `process` block it too.

        Raises
        ------
        KeyError
            The entity has no `Collider`, or was not processed yet.
        TypeError, ValueError
            A new entity holds a value that a body cannot have; the message names it.
        """
        known = self._known.get(entity)
        if known is None:
            raise KeyError(self._why_unknown(entity))
        self._add_new()
        collider = known.collider
        assert collider.body is not None
        place = None if self._position is None else _esper.try_component(entity, self._position)
        if place is not None:
            collider.body.move_to(place.x, place.y)
        movement = self.world.move(collider.body, dx, dy, response)
        if place is not None:
            place.x, place.y = movement.x, movement.y
        return movement

    @staticmethod
    def _why_unknown(entity: int) -> str:
        if not _esper.entity_exists(entity):
            return f"there is no entity {entity}"
        if not _esper.has_component(entity, Collider):
            return f"entity {entity} has no Collider"
        return f"entity {entity} is not in the world yet; call process() once before move()"

    # ---- the world follows the entities

    def _follow(self) -> None:
        self._retagged = {}
        tags = dict(_esper.get_component(Tag))
        present = [pair for pair in _esper.get_component(Collider) if _esper.entity_exists(pair[0])]
        for entity in self._known.keys() - {entity for entity, _ in present}:
            self._drop(entity)
        for entity, collider in present:
            self._look_at(entity, collider, tags.get(entity))
        self._listen(tags)
        if self._position is not None:
            self._move_all(self._position)

    def _add_new(self) -> None:
        """Add bodies of entities that are new since the last look, and change no other."""
        listed = _esper.get_component(Collider)
        if listed is self._listed:
            return
        exists = _esper.entity_exists
        for entity, collider in listed:
            if entity not in self._known and exists(entity):
                place = None if self._position is None else _esper.try_component(entity, self._position)
                if place is not None:
                    _check_place(entity, place)
                self._look_at(entity, collider, _esper.try_component(entity, Tag))
                if place is not None:
                    assert collider.body is not None
                    collider.body.move_to(place.x, place.y)
        self._listed = listed

    def _look_at(self, entity: int, collider: Collider, tag: Tag | None) -> None:
        """Update a body from the components of its entity."""
        known = self._known.get(entity)
        try:
            if known is None or known.collider is not collider:
                if known is not None:
                    self._drop(entity)
                self._add(entity, collider, tag)
            elif known.tag is not tag or known.shape is not collider.shape:
                self._change(known, collider, tag)
            else:
                return
        except (TypeError, ValueError) as error:
            raise type(error)(f"entity {entity}: {error}") from None
        self._known[entity] = _Known(collider, tag, collider.shape)

    def _add(self, entity: int, collider: Collider, tag: Tag | None) -> None:
        body = collider.body
        if body is not None and body.alive and isinstance(body.data, _Entity):
            owner = int(body.data)
            shared = owner != entity and _esper.entity_exists(owner)
            if shared and _esper.try_component(owner, Collider) is collider:
                raise ValueError(
                    f"its Collider is that of entity {owner}, too; give each a Collider of its own"
                )
        collider.body = self.world.add(
            collider.shape,
            tag=None if tag is None else tag.names,
            static=collider.static,
            sensor=collider.sensor,
            category=collider.category,
            mask=collider.mask,
            data=_Entity(entity),
        )

    def _change(self, known: _Known, collider: Collider, tag: Tag | None) -> None:
        body = collider.body
        assert body is not None
        if known.tag is not tag:
            self._retagged[int(body.data)] = body.tags
            body.tag = None if tag is None else tag.names
        if known.shape is not collider.shape:
            body.shape = collider.shape

    def _drop(self, entity: int) -> None:
        collider = self._known.pop(entity).collider
        if collider.body is not None and collider.body.alive:
            self.world.remove(collider.body)
        collider.body = None

    def _move_all(self, position: type) -> None:
        places = dict(_esper.get_component(position))
        moved = [entity for entity in self._known if entity in places]
        if moved:
            try:
                goals = np.array([(places[entity].x, places[entity].y) for entity in moved])
                self.world.move_all([self._known[entity].collider.body for entity in moved], goals)
            except (AttributeError, TypeError, ValueError):
                for entity in moved:
                    _check_place(entity, places[entity])
                raise

    def _listen(self, tags: dict[int, Tag]) -> None:
        """Register every pair of tags for which an entity has a function."""
        before, self._listening = self._listening, dict(_esper.get_component(Callbacks))
        self._fresh = {entity for entity, one in self._listening.items() if before.get(entity) is not one}
        for entity, callbacks in self._listening.items():
            tag = tags.get(entity)
            if tag is not None:
                for wanted in (*callbacks.begin, *callbacks.stay, *callbacks.end):
                    for name in tag.names:
                        if (name, wanted) not in self._heard:
                            self._heard.add((name, wanted))
                            self.world.on(name, wanted)

    # ---- calling the functions

    def _calls(
        self, contact: Contact, phase: str, passed: bool
    ) -> list[tuple[str, Function, int, int, Contact]]:
        """The functions of both sides of a contact, in the order of the bodies, and their phases.

        ``passed``: it has begun and ended in this frame.
        """
        found = []
        (nx, ny), depth = contact.normal, contact.depth
        reversed_ = Contact(contact.b, contact.a, (0.0 - nx, 0.0 - ny), depth)
        for seen in sorted((contact, reversed_), key=lambda side: side.a.id):
            entity, other = seen.a.data, seen.b.data
            if not (isinstance(entity, _Entity) and isinstance(other, _Entity)):
                continue  # a body of the user
            callbacks = self._listening.get(entity)
            if callbacks is None:
                continue
            tags = seen.b.tags
            heard = (
                tags if passed else frozenset() if entity in self._fresh else self._retagged.get(other, tags)
            )
            for one in _PHASES:
                by_tag: Mapping[Any, Function] = getattr(callbacks, one)
                for tag, function in by_tag.items():
                    was, is_now = phase != "begin" and tag in heard, phase != "end" and tag in tags
                    if _PHASE_OF.get((was, is_now)) == one:
                        found.append((one, function, int(entity), int(other), seen))
        return found


_PHASES = "begin", "stay", "end"
_PHASE_OF = {(False, True): "begin", (True, True): "stay", (True, False): "end"}
"""The phase of a contact for a tag, by whether it was with that tag before and is now."""


def _ids(contact: Contact) -> tuple[int, int]:
    a, b = contact.a.id, contact.b.id
    return (a, b) if a < b else (b, a)


def _check_place(entity: int, place: Any) -> None:
    for name in ("x", "y"):
        try:
            as_place(getattr(place, name), name)
        except (AttributeError, TypeError, ValueError) as error:
            raise type(error)(f"entity {entity}, {type(place).__name__}: {error}") from None
