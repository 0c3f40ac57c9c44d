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
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
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
_LAYERS = {"layer": "tilelayer"}  # the others have one name in both formats


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
    try:
        return {**_node(root), "type": root.tag}
    except RecursionError as error:
        raise FileError(f"{where} is nested too deeply") from error


def _node(element: Element) -> dict[str, Any]:
    """An element by the names that JSON has for its attributes and for what is in it."""
    made = _plain(element)
    lists: defaultdict[str, list[Any]] = defaultdict(list)
    for part in element:
        match tag := part.tag:
            case "properties":
                lists[tag] += map(_property, part.findall("property"))
            case "data":
                chunks = part.findall("chunk")
                lists["chunks"] += [{**_plain(chunk), "data": _tiles_of(chunk)} for chunk in chunks]
                made |= {**_plain(part), "data": _tiles_of(part)}
            case "ellipse" | "point" | "capsule":
                made[tag] = True
            case "polygon" | "polyline":
                lists[tag] += map(_point, part.attrib.get("points", "").split())
            case "text":
                made[tag] = {"text": part.text or ""}
            case "tileoffset":
                made[tag] = _plain(part)
            case "image":
                made |= {f"image{key}": value for key, value in _plain(part).items()}
            case "tileset" | "object" | "objectgroup" if element.tag in ("template", "tile"):
                made[tag] = _node(part)
            case "tileset" | "object" | "tile":
                lists[f"{tag}s"].append(_node(part))
            case "layer" | "objectgroup" | "imagelayer" | "group":
                lists["layers"].append({"name": "", **_node(part), "type": _LAYERS.get(tag, tag)})
    return {**made, **lists}


def _tiles_of(element: Element) -> Any:
    """The text, or the numbers of the tile elements."""
    tiles = element.findall("tile")
    return [_plain(tile).get("gid", 0) for tile in tiles] if tiles else element.text or ""


def _point(pair: str) -> Any:
    x, comma, y = pair.partition(",")
    return {"x": _number_or_text(x), "y": _number_or_text(y)} if comma else pair


def _plain(element: Element) -> dict[str, Any]:
    """The attributes of an element."""
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
