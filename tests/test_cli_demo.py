"""The demo."""

import re
import sys

import numpy as np
import pytest
from cli_helpers import command, refused
from PIL import Image

import broadphase as bp
from broadphase.api.one_shot import search
from broadphase.cli import run
from broadphase.cli.demo import boxes_of, save_picture, scattered
from broadphase.methods import NAMES


class TestDemo:
    def test_it_compares_all_methods_and_leaves_a_picture(self, tmp_path):
        result = command("demo", "--balls", 300, "--frames", 4, cwd=tmp_path)
        assert result.stderr == ""
        assert result.returncode == 0
        for name in NAMES:
            assert name in result.stdout
        assert "44,850" in result.stdout  # the tests that brute force makes
        assert f"All {len(NAMES)} methods found the same pairs in each of the 4 frames." in result.stdout
        assert [file.name for file in tmp_path.iterdir()] == ["broadphase-demo.png"]
        assert (tmp_path / "broadphase-demo.png").read_bytes().startswith(b"\x89PNG")

    def test_the_methods_and_the_picture_may_be_chosen(self, tmp_path, capfd):
        picture = tmp_path / "last.svg"
        arguments = ["--balls", "50", "--frames", "2", "--methods", "brute_force", "-o", str(picture)]
        assert run(["demo", *arguments]) == 0
        out = capfd.readouterr().out
        assert "brute_force" in out
        assert "strips" not in out
        assert str(picture) in out.replace("\n", "")
        assert "<svg" in picture.read_text()

    def test_a_method_that_loses_a_pair_is_caught(self, tmp_path, capfd, monkeypatch):
        def forgetful(name, task):
            found = search(name, task)
            return found if name == "brute_force" else found._replace(chunks=[found.chunks[0][1:]])

        monkeypatch.setattr("broadphase.cli.demo.search", forgetful)
        picture = tmp_path / "last.png"
        options = ["--methods", "brute_force", "strips", "--seed", "5", "-o", str(picture)]
        assert run(["demo", "--balls", "200", "--frames", "3", *options]) == 1
        captured = capfd.readouterr()
        assert captured.out == ""
        assert re.fullmatch(
            r"broadphase: the methods disagree in frame 0: brute_force found \d+ pairs, strips found \d+; "
            r"only one of them found \(\d+, \d+\) \(replay with --balls 200 --seed 5\)\n",
            captured.err,
        )
        assert not picture.exists()

    def test_the_balls_fly_and_their_boxes_overlap(self):
        balls = scattered(500, seed=3)
        for _ in range(50):
            balls.step(1.0)
        assert 50 < bp.count_pairs(boxes_of(balls)) < 500

    def test_pictures_show_the_balls_their_boxes_pairs_and_cells(self, tmp_path):
        boxes = np.array([[0, 0, 3, 3], [2, 1, 4, 3], [9, 9, 12, 12]], np.float32)
        pairs, radii = bp.pairs(boxes), np.array([1.5, 1, 1.5], np.float32)
        save_picture(boxes, pairs, radii, str(tmp_path / "three.png"))
        save_picture(boxes, pairs, radii, str(tmp_path / "three.svg"))
        with Image.open(tmp_path / "three.png") as picture:
            assert picture.size == (1500, 800)
            pixels = np.asarray(picture.convert("RGB")).astype(int)
        red, _, blue = pixels[:, :750].transpose(2, 0, 1)  # the whole world: orange, and one box that is blue
        assert 1 < np.count_nonzero(red > blue + 30) / np.count_nonzero(blue > red + 30) < 2
        text = (tmp_path / "three.svg").read_text()
        assert "<!-- 3 balls, 1 pairs of boxes overlap (2 boxes, orange) -->" in text

    @pytest.mark.parametrize(("ending", "begin"), [("jpg", b"\xff\xd8"), ("webp", b"RIFF"), ("pdf", b"%PDF")])
    def test_pictures_are_of_the_kind_that_their_name_says(self, tmp_path, ending, begin):
        balls = scattered(1, 1)
        picture = tmp_path / f"one.{ending}"
        save_picture(balls.boxes, bp.pairs(balls.boxes), balls.radii, str(picture))
        assert picture.read_bytes().startswith(begin)

    def test_pictures_need_the_extra(self, capfd, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert 'python -m pip install "broadphase[cli]"' in refused(capfd, "demo")

    def test_where_no_picture_can_be_is_said_before_the_balls_fly(self, tmp_path, capfd):
        folder, nowhere = tmp_path / "folder.png", tmp_path / "none" / "a.png"
        folder.mkdir()
        assert refused(capfd, "demo", "-o", folder) == f"{folder}: Is a directory"
        assert refused(capfd, "demo", "-o", nowhere) == f"{nowhere}: No such folder"
