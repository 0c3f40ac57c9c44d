"""The tour as files."""

from importlib import resources

from broadphase.cli.commands import call
from broadphase.lab.tour import copy_tour


def test_a_copy_is_the_page_without_the_sandbox(tmp_path):
    written = copy_tour(tmp_path / "site")
    assert all(path.is_file() for path in written)
    names = {path.relative_to(tmp_path / "site").as_posix() for path in written}
    assert {"index.html", "page/tour.js", "page/times.json", "page/methods/strips.js"} <= names
    assert "page/index.html" not in names
    assert not any("sandbox" in name for name in names)
    html = (tmp_path / "site/index.html").read_text("utf-8")
    page = resources.files("broadphase.lab").joinpath("page", "index.html").read_text("utf-8")
    assert "Open the sandbox" in page
    assert "Open the sandbox" not in html


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
