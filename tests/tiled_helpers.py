"""What the tests of Tiled's files share: the small dungeon in both formats, changed."""

import json
from pathlib import Path
from xml.etree import ElementTree

DATA = Path(__file__).parent / "data"
ENDINGS = ["tmx", "tmj"]


def as_tmx(change=lambda root: None):
    root = ElementTree.parse(DATA / "dungeon.tmx").getroot()
    change(root)
    return ElementTree.tostring(root)


def as_tmj(change=lambda level: None):
    level = json.loads((DATA / "dungeon.tmj").read_text())
    change(level)
    return json.dumps(level).encode()


def written(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    return tmp_path / name
