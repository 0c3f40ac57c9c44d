"""Files of Tiled's two formats as documents of one form, that of its JSON; and values out of documents.

`read_document` reads XML and JSON.  XML is read by expat into a tree of our own, for two reasons: a file that
declares entities is refused before one of them is expanded, and the depth is limited.  Only the files that a
map names are opened, and only regular files.

`whole`, `number`, `text` and similar functions take a value out of a document.  It has the right type
and range, or the error names its place in the file.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from reprlib import repr as shown
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from broadphase.errors import FileError
from broadphase.io.tables import USUAL

Node = Mapping[str, Any]
"""A part of a document, as in Tiled's JSON."""
LARGEST = 2**31 - 1
"""The largest whole number in Tiled itself."""
_FURTHEST = 1e15
"""The largest coordinate; beyond it, edges of neighbouring tiles would coincide."""
_NEEDED: Any = object()  # the default of a field that must be there
_PLAIN_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)
_TEXTS = {
    *("name", "class", "type", "source", "value", "text", "template", "encoding", "compression"),
    *("orientation", "objectalignment", "staggeraxis", "staggerindex", "tilerendersize", "fillmode"),
    "propertytype",
}
_LAYERS = {"layer": "tilelayer", "objectgroup": "objectgroup", "imagelayer": "imagelayer", "group": "group"}


def content_of(file: Path, kind: str, where: str) -> bytes:
    """The bytes of a regular file that is not empty nor too large, or the error that names it."""
    try:
        if not file.is_file():
            raise FileError(f"{where} is not there" if not file.exists() else f"{where} is no file")
        size = file.stat().st_size
    except OSError as error:  # a name that is too long
        raise FileError(f"{where} cannot be a file: {error.strerror}") from error
    if size > USUAL.size:
        raise FileError(f"{where} has {size:,} bytes; the limit for a {kind} is {USUAL.size:,}")
    content = file.read_bytes().removeprefix(b"\xef\xbb\xbf")
    if not content.strip():
        raise FileError(f"{where} is empty")
    return content


def read_document(file: Path, kind: str, where: str) -> Node:
    """The map, tileset or template in a file.

    Parameters
    ----------
    file : path
    kind : str
        ``"map"``, ``"tileset"``, ``"template"`` or ``"world"``.
    where : str
        Its name for messages.

    Raises
    ------
    FileError
        It does not exist, is not a regular file, or holds something else.
    """
    content = content_of(file, f"Tiled {kind}", where)
    start = content.lstrip()[:1]
    document = _from_xml(content, where) if start == b"<" else from_json(content, where)
    found = _kind_of(document)
    if not isinstance(document, dict) or found not in ("", kind):
        if (found, kind) == ("tileset", "map"):
            raise FileError(f"{where} is a tileset, not a map; read the map that uses it")
        raise FileError(f"{where} is no Tiled {kind} but of type {shown(found)}")
    return document


def _kind_of(document: Any) -> str:
    """The kind of a document; "" where it does not say."""
    if not isinstance(document, dict):
        return type(document).__name__
    said = document.get("type")
    if isinstance(said, str):
        return said
    for kind, key in {"map": "layers", "tileset": "tilecount", "template": "object", "world": "maps"}.items():
        if key in document:
            return kind
    return ""


def from_json(content: bytes, where: str) -> Any:
    """The document in a text."""
    try:
        return json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FileError(f"{where} is no text in UTF-8") from error
    except RecursionError as error:
        raise FileError(f"{where} is nested too deeply") from error
    except ValueError as error:
        raise FileError(f"{where} is not JSON: {error}") from error


# ---- XML


def _from_xml(content: bytes, where: str) -> Any:
    def refuse(name: str, *_others: Any) -> None:
        raise FileError(f"{where} declares the entity {shown(name)}, which no map of Tiled does")

    parser, tree = expat.ParserCreate(), TreeBuilder()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = tree.start, tree.end
    parser.CharacterDataHandler, parser.EntityDeclHandler = tree.data, refuse
    try:
        parser.Parse(content, True)
    except FileError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:  # the last two are of an unknown encoding
        raise FileError(f"{where} is not XML: {error}") from error
    root = tree.close()
    convert = _ROOTS.get(root.tag)
    try:
        return {"type": root.tag} if convert is None else {**convert(root), "type": root.tag}
    except RecursionError as error:
        raise FileError(f"{where} is nested too deeply") from error


def _map(element: Element) -> Node:
    tilesets = [_tileset(one) for one in element.findall("tileset")]
    return {**_common(element), "layers": _layers(element), "tilesets": tilesets}


def _layers(element: Element) -> list[Node]:
    return [_layer(one) for one in element if one.tag in _LAYERS]


def _layer(element: Element) -> Node:
    layer: dict[str, Any] = {"name": "", **_common(element), "type": _LAYERS[element.tag]}
    data = element.find("data")
    if element.tag == "layer" and data is not None:
        layer |= _plain(data)
        chunks = data.findall("chunk")
        if chunks:
            layer["chunks"] = [{**_plain(chunk), "data": _tiles_of(chunk)} for chunk in chunks]
        else:
            layer["data"] = _tiles_of(data)
    elif element.tag == "objectgroup":
        layer["objects"] = [_object(one) for one in element.findall("object")]
    elif element.tag == "group":
        layer["layers"] = _layers(element)
    return layer


def _tiles_of(element: Element) -> Any:
    """The text, or the numbers of the tile elements."""
    tiles = element.findall("tile")
    return [_plain(tile).get("gid", 0) for tile in tiles] if tiles else element.text or ""


def _object(element: Element) -> Node:
    made: dict[str, Any] = dict(_common(element))
    for kind in ("ellipse", "point", "capsule"):
        if element.find(kind) is not None:
            made[kind] = True
    for kind in ("polygon", "polyline"):
        points = element.find(kind)
        if points is not None:
            made[kind] = [_point(pair) for pair in points.attrib.get("points", "").split()]
    words = element.find("text")
    if words is not None:
        made["text"] = {"text": words.text or ""}
    return made


def _point(pair: str) -> Any:
    x, comma, y = pair.partition(",")
    return {"x": _number_or_text(x), "y": _number_or_text(y)} if comma else pair


def _tileset(element: Element) -> Node:
    made: dict[str, Any] = dict(_common(element))
    for key in ("tileoffset", "grid"):
        part = element.find(key)
        if part is not None:
            made[key] = _plain(part)
    made["tiles"] = [_tile(tile) for tile in element.findall("tile")]
    return made


def _tile(element: Element) -> Node:
    made: dict[str, Any] = dict(_common(element))
    image, group = element.find("image"), element.find("objectgroup")
    if image is not None:
        size = _plain(image)
        made |= {f"image{side}": size[side] for side in ("width", "height") if side in size}
    if group is not None:
        made["objectgroup"] = _layer(group)
    return made


def _template(element: Element) -> Node:
    tileset, shape = element.find("tileset"), element.find("object")
    made: dict[str, Any] = {} if shape is None else {"object": _object(shape)}
    return made if tileset is None else {**made, "tileset": _tileset(tileset)}


_ROOTS: dict[str, Callable[[Element], Node]] = {"map": _map, "tileset": _tileset, "template": _template}


def _common(element: Element) -> Node:
    """Its attributes and properties."""
    owner = element.find("properties")
    if owner is None:
        return _plain(element)
    return {**_plain(element), "properties": [_property(one) for one in owner.findall("property")]}


def _plain(element: Element) -> dict[str, Any]:
    return {key: value if key in _TEXTS else _number_or_text(value) for key, value in element.attrib.items()}


def _property(element: Element) -> Node:
    made: dict[str, Any] = dict(element.attrib)
    value = made.get("value", element.text or "")
    match made.get("type"):
        case "bool":
            value = {"true": True, "false": False}.get(value, value)
        case "int" | "float" | "object":
            value = _number_or_text(value)
    return {**made, "value": value}


def _number_or_text(value: str) -> Any:
    """A number where it is one; else the text, which `number` and `whole` then refuse by name."""
    try:
        return int(value) if _PLAIN_NUMBER.fullmatch(value) else float(value)
    except ValueError:
        return value


# ---- values out of a document


def node(value: Any, where: str) -> Node:
    """The value, which must be a part with fields."""
    if not isinstance(value, dict):
        raise FileError(f"{where} has a value of a wrong type: {shown(value)}")
    return value


def parts(owner: Node, key: str, where: str) -> list[Any]:
    """A list; empty where it is left out."""
    value = owner.get(key)
    if value is None:
        return []
    if isinstance(value, dict) and key in ("properties", "tiles"):
        raise before_lists(where)
    if not isinstance(value, list):
        raise FileError(f"{where} has {key} = {shown(value)}, where a list belongs")
    return value


def nodes(owner: Node, key: str, where: str, kind: str = "") -> list[Node]:
    """A list of parts with fields; ``each`` says in messages what one is."""
    found = parts(owner, key, where)
    for one in found:
        if not isinstance(one, dict):
            node(one, f"{where}{kind} {shown(one)}" if kind else where)
    return found


def before_lists(where: str) -> FileError:
    """The error for JSON in which properties and tiles are objects, not lists."""
    return FileError(f"{where} is in the JSON of Tiled before 1.2; save it again with a newer Tiled")


def whole(owner: Node, key: str, where: str, least: int = -LARGEST, default: Any = _NEEDED) -> int:
    """A whole number."""
    value = _value(owner, key, where, default)
    if type(value) is not int or not least <= value <= LARGEST:
        belongs = f"a whole number from {least} to {LARGEST}"
        raise FileError(f"{where} has {key} = {shown(value)}, where {belongs} belongs")
    return value


def number(owner: Node, key: str, where: str, default: Any = _NEEDED, *, least: float = -_FURTHEST) -> float:
    """A finite number."""
    value = _value(owner, key, where, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FileError(f"{where} has {key} = {shown(value)}, where a number belongs")
    if not least <= value <= _FURTHEST or math.isnan(value):
        belongs = f"a number from {least:g} to {_FURTHEST:g}"
        raise FileError(f"{where} has {key} = {shown(value)}, where {belongs} belongs")
    return float(value)


def point(
    owner: Node, keys: tuple[str, str], where: str, default: Any = _NEEDED, *, least: float = -_FURTHEST
) -> tuple[float, float]:
    """Two finite numbers."""
    x, y = keys
    return number(owner, x, where, default, least=least), number(owner, y, where, default, least=least)


def text(owner: Node, key: str, where: str, default: Any = _NEEDED) -> str:
    """A text."""
    value = _value(owner, key, where, default)
    if not isinstance(value, str):
        raise FileError(f"{where} has {key} = {shown(value)}, where a text belongs")
    return value


def flag(owner: Node, key: str, where: str, default: bool) -> bool:
    """Yes or no."""
    value = owner.get(key, default)
    if not isinstance(value, bool) and value not in (0, 1):
        raise FileError(f"{where} has {key} = {shown(value)}, where true or false belongs")
    return bool(value)


def class_of(owner: Node, where: str, *keys: str) -> str:
    """The class, which is called type before and after Tiled 1.9."""
    for key in keys:
        if owner.get(key):
            return text(owner, key, where)
    return ""


def properties(owner: Node, where: str) -> dict[str, Any]:
    """Custom properties by name; the members of custom classes are not checked."""
    found: dict[str, Any] = {}
    for one in nodes(owner, "properties", where, ", property"):
        name = text(one, "name", f"{where}, property")
        kind = one.get("type", "string")
        value = one.get("value", "")
        place = f"{where}, property {shown(name)}"
        if kind == "int" and type(value) is not int:
            raise FileError(f"{place} has {shown(value)}, where a whole number belongs")
        if kind == "float" and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise FileError(f"{place} has {shown(value)}, where a number belongs")
        found[name] = value
    return found


def _value(owner: Node, key: str, where: str, default: Any) -> Any:
    value = owner.get(key)
    if value is not None:
        return value
    if default is _NEEDED:
        raise FileError(f"{where} has no {key!r}")
    return default


# ---- names that a user gives


def listed(names: Iterable[str]) -> list[str]:
    """Several names, or one."""
    return [names] if isinstance(names, str) else list(names)


def known_names(names: Iterable[str], there: Collection[str], what: str, where: str) -> list[str]:
    """Names as a list; raises ``ValueError`` if one is not there."""
    wanted = listed(names)
    for name in wanted:
        if name not in there:
            names_there = ", ".join(map(repr, there)) or "none"
            raise ValueError(f"{where} has no {what} {name!r}; it has {names_there}")
    return wanted
