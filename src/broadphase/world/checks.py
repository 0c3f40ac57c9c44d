"""What `World` warns of with ``check=True``: calls that are legal and do not do what they seem to.

It costs nothing unless it is switched on.  Each fault is named once.  With ``check_sprites=True`` it
also warns of sprites that have moved without their bodies (`SpriteWatch`).
"""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from broadphase.errors import warn_of_world
from broadphase.geometry.narrow_phase import overlap
from broadphase.geometry.shapes import Bounds
from broadphase.indexes.results import RayHit, RayHits
from broadphase.world.arguments import ANY, as_points, as_two
from broadphase.world.bodies import STATICS, Body, BodyStore
from broadphase.world.hits import RESPONSES, Walk
from broadphase.world.state import State
from broadphase.world.tile_listeners import TileListeners

# For so many updates a tag may wait for its first body: one that resembles another, and any.
_PATIENCE = {True: 60, False: 600}
_RESEMBLES = 0.8
_BODY, _TILE, _CATEGORY = "body has had the tag", "tile has had the tag", "body has had the category"

# So often a body moves between two updates, or walks without ever having stood, before it is a fault.
_OFTEN = 120
# So many moved static bodies are compared in an update, so that it takes hardly any time.
_MOST_STATIC = 64
# So many sensors that move are looked at in an update, until one is in a wall.
_MOST_BULLETS = 8
_STOPPING = {RESPONSES["touch"], RESPONSES["bounce"]}


class Checks:
    """Looks at what a world is asked to do."""

    def __init__(self, state: State, on_tiles: TileListeners) -> None:
        self._state, self._on_tiles = state, on_tiles
        self._waiting: Counter[tuple[str, Any]] = Counter()
        """By tag of a body or tile, or name of a category, for how many updates it has waited."""
        self._known: dict[str, set[Any]] = {_BODY: set(), _TILE: set(), _CATEGORY: set()}
        self._pushed: dict[Any, None] = {}
        """Tags of the crates that walkers push."""
        self._moves: Counter[Any] = Counter()
        """How often each body, or call of many, has moved since the last update."""
        self._hanging: Counter[int] = Counter()
        """By serial number, how often a walker was stopped above; -1: it has stood."""
        self._groups = 0, 0
        """The list of sets of tags that was last looked at, and how long it was."""
        self._places = np.empty(0, np.int64), np.empty(0), np.empty(0)
        """Serial number and place of each row at the last update."""
        self._made = 0
        """How many bodies there ever were when `_look_at_starts` looked."""
        self._inside: list[Any] = []
        """Bodies that were added in a solid tile and have not begun to move."""
        self._said: set[Any] = set()

    # ---- once an update

    def look(self) -> None:
        """Warn of what can be seen between two updates."""
        self._moves.clear()
        self._look_at_tags()
        self._look_at_masks()
        self._look_at_bullets()
        self._look_at_statics()

    def _look_at_tags(self) -> None:
        state, on_tiles = self._state, self._on_tiles.listeners
        listeners, sets = state.listeners.matcher.listeners, state.store.tag_sets
        if self._groups != (groups := (id(sets.groups), len(sets.groups))):
            self._known[_BODY].update(*sets.groups)
            self._groups = groups
        wanted: list[tuple[Any, Any]] = [(tag, one) for one in listeners for tag in (one.a, one.b)]
        wanted += [(one.tag, one) for one in on_tiles]
        wanted += [(tag, "set_response({!r}, ...)") for tag in state.responses]
        wanted += [(tag, "a walk with pushes={!r}") for tag in self._pushed]
        wanted += [(tag, "a query with tag={!r}") for tag in sets.asked]
        self._look_at(wanted, _BODY)
        if state.tiles is not None and on_tiles:
            self._known[_TILE].update(*(data.tags for data in state.tiles._data))
            self._look_at([(one.tile, one) for one in on_tiles], _TILE)

    def _look_at_masks(self) -> None:
        """Warn of names in masks that are the category of no body, at once where they are tags."""
        store = self._state.store
        used = int(np.bitwise_or.reduce(store.category[: len(store.bodies)])) if store.category_bits else 0
        self._known[_CATEGORY].update(name for name, bit in store.category_bits.items() if bit & used)
        unused = [name for name in store.category_bits if name not in self._known[_CATEGORY]]
        for name in [name for name in unused if name in self._known[_BODY]]:
            unused.remove(name)
            self._say(
                ("mask", name),
                f"a mask asks for the category {name!r}, which no body has: {name!r} is only a tag, "
                f"which masks do not know; add those bodies with category={name!r}",
            )
        self._look_at([(name, "mask={!r}") for name in unused], _CATEGORY)

    def _look_at(self, wanted: list[tuple[Any, Any]], what: str) -> None:
        """Warn of names that nothing has had for long, each with the first call that asks for it."""
        known = self._known[what]
        # A tag that several wait for has waited once.
        askers = {tag: asker for tag, asker in reversed(wanted) if tag is not ANY and tag not in known}
        for tag, asker in askers.items():
            self._waiting[what, tag] += 1
            if self._waiting[what, tag] in _PATIENCE.values():
                texts = {str(one): one for one in known}
                from difflib import get_close_matches  # here, as few programs misspell

                similar = get_close_matches(str(tag), texts, 1, _RESEMBLES)
                hint = f"; did you mean {texts[similar[0]]!r}?" if similar else ""
                called = asker.format(tag) if isinstance(asker, str) else repr(asker)
                waited = self._waiting[what, tag]
                said = f"no {what} {tag!r} in {waited} updates, and {called} asks for it{hint}"
                if waited == _PATIENCE[bool(similar)]:
                    warn_of_world(said)

    def _look_at_bullets(self) -> None:
        """Warn of a sensor that is to stop at hits, but flew into a static body unheard."""
        state, store, matcher = self._state, self._state.store, self._state.listeners.matcher
        if "bullet" in self._said or not store.any_sensor:
            return
        for row in self._touched(store.sensor & ~store.static)[:_MOST_BULLETS].tolist():
            tags, response = store.tag_sets.groups[store.group.item(row)], store.response.item(row)
            of_tags = [answer for tag, answer in state.responses.items() if tag in tags]
            if (response if response >= 0 else next(iter(of_tags), RESPONSES["cross"])) not in _STOPPING:
                continue
            shape = store.shape(row)
            before = shape.moved_to(self._places[1].item(row), self._places[2].item(row))
            for other in state.broad_phase.gathered(store.bounds(row), layers=STATICS).tolist():
                if store.sensor[other] or matcher.matches(store.group.item(row), store.group.item(other)):
                    continue
                # What it began in is what has fired it.
                if overlap(shape, wall := store.shape(other)) and not overlap(before, wall):
                    self._say(
                        "bullet",
                        f"{store.bodies[row]!r} is a sensor, so it flies through {store.bodies[other]!r} "
                        "whatever its response: only tiles stop sensors; let it be sensor=False, or "
                        "listen for the two (world.on) and remove it",
                    )
                    return

    def _look_at_statics(self) -> None:
        """Warn of a static body that was moved into another, if a listener waits for the two."""
        state, store, matcher = self._state, self._state.store, self._state.listeners.matcher
        rows, n, (_, xs, ys) = self._touched(store.static), len(store.bodies), self._places
        self._places = store.serial[:n].copy(), store.x[:n].copy(), store.y[:n].copy()
        moved = (store.x[rows] != xs[rows]) | (store.y[rows] != ys[rows])
        for row in rows[moved][:_MOST_STATIC].tolist():
            for other in self._state.broad_phase.gathered(store.bounds(row), layers=STATICS).tolist():
                if row == other or not matcher.matches(store.group.item(row), store.group.item(other)):
                    continue
                if state.space.periodic or overlap(store.shape(row), store.shape(other)):
                    self._say(
                        frozenset((store.serial.item(row), store.serial.item(other))),
                        f"{store.bodies[row]!r} was moved into {store.bodies[other]!r}, and both are static: "
                        "two static bodies are never in contact, so no listener is called; "
                        "let the one that moves be static=False",
                    )

    def _touched(self, those: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
        """The rows, of some kind, of bodies that were touched and were there at the last update."""
        store, serials = self._state.store, self._places[0]
        rows = np.flatnonzero((store.touched & store.alive & those)[: len(serials)])
        same: npt.NDArray[np.intp] = rows[store.serial[rows] == serials[rows]]
        return same

    # ---- at calls

    def moved(self, what: Any) -> None:
        """Note that a body, or a call of many, is about to move."""
        self._moves[what] += 1
        self._look_at_starts(what)
        listeners = self._state.listeners.matcher.listeners or self._on_tiles.listeners
        if self._moves[what] == _OFTEN and listeners:
            self._say(
                "update",
                f"{what!r} has moved {_OFTEN} times, and world.update(), which calls the listeners, "
                "was not called; call it once a frame",
            )

    def _look_at_starts(self, what: Any) -> None:
        """Warn of a body that begins to move with its middle in a solid tile."""
        store, tiles = self._state.store, self._state.tiles
        if tiles is not None and self._made != store.made:
            n = len(store.bodies)
            blocked = store.alive[:n] & ~store.static[:n] & ~store.sensor[:n]
            fresh = np.flatnonzero(blocked & (store.serial[:n] >= self._made)).tolist()
            self._made = store.made
            self._inside = [body for body in self._inside if body.alive]
            self._inside += [store.bodies[row] for row in fresh if self._tile_around(store.bodies[row])]
        for body in [one for one in self._inside if one is what or (what == "step" and any(one.velocity))]:
            self._inside.remove(body)
            if body.alive and (tile := self._tile_around(body)):
                self._say(
                    "tile",
                    f"{body!r} begins to move inside of the solid {tile}, which pushes it out; put it where "
                    "the map is free (rows of text are solid but for ' ' and '.': replace letters that mark "
                    "places)",
                )

    def _tile_around(self, body: Any) -> Any:
        """The solid tile that holds the middle of a body; ``None`` if there is none."""
        tiles: Any = self._state.tiles
        tile = None if tiles is None else tiles.tile_at(*body.center)
        return tile if tile and tiles.is_solid(*tile) else None

    def pushed(self, tags: Iterable[Any]) -> None:
        """Note the tags of the crates that a walker pushes."""
        self._pushed.update(dict.fromkeys(tags))

    def walked(self, row: int, dy: float, down: float, walk: Walk) -> None:
        """Note where a body has walked to: one that is always stopped above lives where y points up."""
        serial = self._state.store.serial.item(row)
        if walk.floor is not None:
            self._hanging[serial] = -1
        elif self._hanging[serial] >= 0 and dy * down < 0.0 and (walk.bottom if down < 0.0 else walk.top):
            self._hanging[serial] += 1
            if self._hanging[serial] == _OFTEN:
                up, side = ("down", "larger") if down < 0.0 else ("up", "smaller")
                self._say(
                    "down",
                    f"{self._state.store.bodies[row]!r} is pressed against what lies at its {side} y and has "
                    f"never stood on a floor; if y points {up} in your game, pass down=(0, {-down:g}) to "
                    "walk and push",
                )

    def stepped(self, dt: float) -> None:
        """Look at the bodies that a step is about to move, and for how long."""
        store = self._state.store
        if isinstance(dt, (int, float)) and dt > 1.0:
            self._say(
                "dt",
                f"step({dt:g}) moves all by {dt:g} times their velocity; dt is usually the seconds of a "
                "frame: of milliseconds, as clocks return them, give dt / 1000",
            )
        end = len(store.bodies)
        speeds = (store.velocity_x[:end] != 0.0) | (store.velocity_y[:end] != 0.0)
        for row in np.flatnonzero(store.alive[:end] & store.static[:end] & speeds)[:1].tolist():
            self._say(
                "velocity",
                f"{store.bodies[row]!r} is static and has a velocity: where it goes, it meets no "
                "other static body; add it with static=False, or move it with push, which carries others",
            )

    def cast(self, origins: Any, found: RayHit | RayHits | None) -> None:
        """Look at what rays hit: one that begins at the centre of what it hits means the body itself."""
        if isinstance(found, RayHits):
            inside = np.flatnonzero((found.distances.ravel() == 0.0) & (found.ids.ravel() >= 0))
            if found.ids.ndim != 1 or not len(inside):
                return
            start = tuple(
                np.broadcast_to(as_points(origins, "origin"), (len(found.ids), 2))[inside[0]].tolist()
            )
            other: Any = self._state.store.bodies[found.ids[inside[0]]]
        elif found is None or found.distance != 0.0 or isinstance(origins, Body):
            return
        else:
            start, other = as_two(origins, "origin"), found.other
        if isinstance(other, Body) and other.center == start:
            self._say(
                "ray",
                f"a ray hits {other!r}, at whose center it begins; give the body itself, raycast(body, ...), "
                "which is not hit, or ignore=body (and mind that the second argument is a direction, b - a)",
            )

    def _say(self, what: Any, said: str) -> None:
        if what not in self._said:
            self._said.add(what)
            warn_of_world(said)


# -----------------------------------------------------------------------------------------------------------
# Finds sprites whose picture has moved while their body stayed, and reports each once.
#
# A program may move a sprite and forget its body.  Pictures may follow their body a frame late, at an
# offset.  So a sprite is reported if its body rests and its picture moves away from its usual offset: twice
# in a row, or once for good.


_ROUNDING = 1.0  # pictures lie on whole pixels
_TWICE = 2
_TURNS = 32  # so many updates to ask all bodies for a sprite

Offset = tuple[float, float]


class _Sprite:
    """The bounds of a body and of its picture at the last update."""

    __slots__ = ("away", "body", "drift", "picture", "reported", "rest", "usual")

    def __init__(self, picture: Bounds, body: Bounds) -> None:
        self.picture, self.body = picture, body
        self.usual = _offset(picture, body)
        self.drift = 0.0
        self.away = 0
        self.rest: tuple[Bounds, Bounds] | None = None
        """The bounds of both when neither had moved."""
        self.reported = False


class SpriteWatch:
    """Watches the bodies whose ``data`` is a sprite; costs nothing unless it is switched on."""

    def __init__(self) -> None:
        self._sprites: WeakKeyDictionary[Body, _Sprite] = WeakKeyDictionary()
        self._turn = self._made = 0
        """How often it has looked, and how many bodies there ever were then."""

    def __reduce__(self) -> tuple[type["SpriteWatch"], tuple[()]]:
        """Nothing is remembered of the sprites: those of a copied or pickled world are other ones."""
        return SpriteWatch, ()

    def look(self, store: BodyStore) -> None:
        """Warn of sprites that have moved without their bodies since the last call.

        Bodies that have none are asked for one now and then: all of them each time would take longer than
        most frames.
        """
        turn, n = self._turn, len(store.bodies)
        self._turn, made, self._made = (turn + 1) % _TURNS, self._made, store.made
        fresh = store.bodies[turn::_TURNS]
        if made != store.made:
            fresh += [store.bodies[row] for row in np.flatnonzero(store.serial[:n] >= made).tolist()]
        known = [body for body in self._sprites if body.alive]
        for body in dict.fromkeys((*known, *fresh)):
            if body is None or body.data is None or (picture := picture_of(body.data)) is None:
                continue
            sprite_state = self._sprites.get(body)
            if sprite_state is None:
                self._sprites[body] = _Sprite(picture, body.bounds)
            elif not sprite_state.reported and _goes_astray(sprite_state, picture, body.bounds):
                sprite_state.reported = True
                warn_of_world(_warning(body, picture))


def picture_of(sprite: Any) -> Bounds | None:
    """The box of a sprite's picture; ``None`` for what is not a sprite.

    pygame and arcade have a ``rect`` with edges, pyglet a place and a size.

    Examples
    --------
    >>> from types import SimpleNamespace as Sprite
    >>> picture_of(Sprite(x=1, y=2, width=3, height=4)), picture_of("no sprite")
    ((1.0, 2.0, 4.0, 6.0), None)
    """
    box = getattr(sprite, "rect", sprite)
    try:
        left, right, top, bottom = box.left, box.right, box.top, box.bottom
    except AttributeError:
        try:
            left, top = box.x, box.y
            right, bottom = left + box.width, top + box.height
        except (AttributeError, TypeError):
            return None
    try:
        edges = float(left), float(min(top, bottom)), float(right), float(max(top, bottom))
    except (TypeError, ValueError):
        return None
    return edges


def _goes_astray(sprite_state: _Sprite, picture: Bounds, body: Bounds) -> bool:
    offset = _offset(picture, body)
    drift = math.dist(offset, sprite_state.usual)
    astray = False
    if body != sprite_state.body:
        sprite_state.away = 0
    elif _has_moved(sprite_state.picture, picture):
        sprite_state.away += drift > sprite_state.drift and drift > _ROUNDING
        astray = sprite_state.away >= _TWICE
    else:
        astray = sprite_state.rest is not None and _is_elsewhere(sprite_state.rest, picture, body)
        sprite_state.rest, sprite_state.usual, sprite_state.away, drift = (picture, body), offset, 0, 0.0
    sprite_state.picture, sprite_state.body, sprite_state.drift = picture, body, drift
    return astray


def _is_elsewhere(rest: tuple[Bounds, Bounds], picture: Bounds, body: Bounds) -> bool:
    """Whether the picture came to rest elsewhere, and the body did not."""
    far = math.dist(_middle(rest[0]), _middle(picture)) > _ROUNDING
    return far and rest[1] == body and _has_moved(rest[0], picture)


def _has_moved(before: Bounds, now: Bounds) -> bool:
    """Whether a box has moved; one that grows about its centre or from a corner has not."""
    return before[:2] != now[:2] and before[2:] != now[2:] and _middle(before) != _middle(now)


def _middle(box: Bounds) -> Offset:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _offset(picture: Bounds, body: Bounds) -> Offset:
    (x, y), (other_x, other_y) = _middle(picture), _middle(body)
    return x - other_x, y - other_y


def _warning(body: Body, picture: Bounds) -> str:
    return (
        f"the picture of {body.data!r} has moved to {picture}, but its body {body!r} has stayed at "
        f"{body.bounds}; move the body (World.move, Body.move_to), and the picture after it"
    )
