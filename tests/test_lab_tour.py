"""The tour as files."""

import html
import re
from importlib import resources

import numpy as np

import broadphase as bp
from broadphase.cli.commands import call
from broadphase.lab.tour import copy_tour

PAGE = resources.files("broadphase.lab").joinpath("page", "index.html").read_text("utf-8")


def test_the_lines_of_python_run():
    lines = re.findall(r'<div class="python">.*?<code>(.*?)</code>', PAGE, re.DOTALL)
    assert len(lines) == 7
    boxes = np.array([[380.0, 230, 400, 250], [390, 240, 410, 260], [0, 0, 9, 9]])
    for line in map(html.unescape, lines):
        names = {"bp": bp, "boxes": boxes}
        exec(line, names)
        index = names["index"]
        index.insert_many(boxes)
        assert index.pairs().tolist() == bp.pairs(boxes).tolist() == [[0, 1]], line


def test_the_line_for_two_lists_runs():
    (line,) = re.findall(r"<code>(hits = .*?)</code>", PAGE)
    boxes = np.array([[0.0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
    names = {"bp": bp, "bullets": boxes[:1], "enemies": boxes[1:]}
    exec(html.unescape(line), names)
    assert names["hits"].tolist() == [[0, 0]]


def test_a_copy_is_the_page_without_the_sandbox(tmp_path):
    written = copy_tour(tmp_path / "site")
    assert all(path.is_file() for path in written)
    names = {path.relative_to(tmp_path / "site").as_posix() for path in written}
    assert {"index.html", "page/tour.js", "page/times.json", "page/methods/strips.js"} <= names
    assert "page/index.html" not in names
    assert not any("sandbox" in name for name in names)
    assert "Open the sandbox" in PAGE
    assert "Open the sandbox" not in (tmp_path / "site/index.html").read_text("utf-8")


def test_the_command_copies_it_again(tmp_path, capsys):
    for _ in range(2):
        assert call(["lab", "--export", str(tmp_path)]) == 0
        assert "python -m http.server" in capsys.readouterr().out


def test_a_folder_that_is_a_file_is_reported(tmp_path, capsys):
    there = tmp_path / "site"
    there.write_text("")
    assert call(["lab", "--export", str(there)]) == 2
    assert "is a file; name a folder" in capsys.readouterr().err
    assert there.read_text() == ""
