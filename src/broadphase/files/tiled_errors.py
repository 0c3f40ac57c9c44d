"""The exceptions of pytiled-parser in words: which file, which element, and what is wrong with it.

Its own say ``KeyError: 'tilesets'`` and no more; but what its functions had been given to read stands in the
traceback.  Where another version calls that by other names, messages become shorter.
"""

from itertools import pairwise
from json import JSONDecodeError
from pathlib import Path
from reprlib import repr as shown
from traceback import walk_tb
from typing import Any
from xml.etree.ElementTree import Element, ParseError

# What pytiled-parser calls whole documents, and what they should be.
_DOCUMENTS = {"raw_map": "map", "raw_tiled_map": "map", "raw_tileset": "tileset"}
# Variables of its functions that are looked at beside arguments; others may be left from a loop before.
_VARIABLES = ("raw_map", "raw_tiled_map", "raw_property")


def in_words(error: BaseException, file: Path) -> str:
    """What was wrong when pytiled-parser read ``file``; begins with the file's name."""
    if isinstance(error, RecursionError):
        return f"{file} is nested too deeply"
    places: list[Path | str] = [file]
    function = ""
    tileset_path = None
    for frame, _ in walk_tb(error.__traceback__):
        code, values = frame.f_code, frame.f_locals
        function = code.co_name
        names = (*code.co_varnames[: code.co_argcount], *_VARIABLES)
        given = {name: values[name] for name in names if values.get(name) is not None}
        if "raw_tileset" in given and "external_path" in given and tileset_path:
            places.append(tileset_path)
        tileset_path = values.get("tileset_path")
        for name, value in given.items():
            if name in _DOCUMENTS and _kind(value) not in ("", _DOCUMENTS[name]):
                return f"{_joined(places)} is {_other_kind(_kind(value), _DOCUMENTS[name])}"
            places += _place(name, value)
    return f"{_joined(places)} {_wrong(error, function)}"


def _kind(document: Any) -> str:
    """What a document says it is; "" where it says nothing."""
    if isinstance(document, Element):
        return str(document.tag)
    if not isinstance(document, dict):
        return type(document).__name__
    return str(document.get("type", "tileset" if "tilecount" in document else ""))


def _other_kind(kind: str, expected: str) -> str:
    if (kind, expected) == ("tileset", "map"):
        return "a tileset, not a map; read the map that uses it"
    return f"no Tiled {expected} but of type {shown(kind)}"


def _place(name: str, value: Any) -> list[Path | str]:
    """What an argument says of where the reader was."""
    if name == "file_path":
        return [Path(value)]
    if name in ("fp", "source"):
        return [Path(value.name)] if hasattr(value, "name") else []
    if not name.startswith("raw_") or name in ("raw_map", "raw_tiled_map", "raw_properties"):
        return []
    kind = name.removeprefix("raw_").replace("_", " ")
    if not isinstance(value, Element | dict):
        return [f"{kind} {shown(value)}"]
    title, number = value.get("name"), value.get("id")
    return [f"{kind} {shown(title)}" if title else kind if number is None else f"{kind} {number}"]


def _joined(places: list[Path | str]) -> str:
    """Files and elements, each once, from the outside inward."""
    parts = list(dict.fromkeys(places))
    text = str(parts[0])
    for outer, inner in pairwise(parts):
        text += f"{', ' if isinstance(outer, str) and isinstance(inner, str) else ': '}{inner}"
    return text


def _wrong(error: BaseException, function: str) -> str:
    match error:
        case KeyError():
            return f"has no {shown(error.args[0])}"
        case ParseError():
            return f"is not XML: {error}"
        case JSONDecodeError():
            return f"is not JSON: {error}"
        case UnicodeDecodeError():
            return "is no text in UTF-8"
        case FileNotFoundError():
            return "is not there"
        case IndexError() if function == "check_format":
            return "is empty, or its first line is"
        case AttributeError() if error.obj is None:
            return "is empty where something belongs"
        case TypeError() | AttributeError():
            return f"has a value of a wrong type: {error}"
        case ValueError():
            return f"has a value that cannot be read: {error}"
    return f"cannot be read: {error or type(error).__name__}"
