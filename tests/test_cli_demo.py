"""The demo."""

import re
import sys

import numpy as np
from cli_helpers import command, refused

import broadphase as bp
from broadphase.cli import run
from broadphase.cli.demo import Balls
from broadphase.methods import NAMES
from broadphase.one_shot import search


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

    def test_the_balls_stay_inside_keep_their_speed_and_overlap(self):
        balls = Balls.scattered(500, seed=3)
        speeds = np.hypot(*balls.velocities.T)
        for _ in range(200):
            balls.advance()
        boxes = balls.boxes()
        assert boxes.min() >= -1e-3
        assert boxes.max() <= balls.side + 1e-3
        assert np.allclose(np.hypot(*balls.velocities.T), speeds)
        assert 100 < bp.count_pairs(boxes) < 1000

    def test_the_same_seed_gives_the_same_balls(self):
        assert np.array_equal(Balls.scattered(9, 1).boxes(), Balls.scattered(9, 1).boxes())
        assert not np.array_equal(Balls.scattered(9, 1).boxes(), Balls.scattered(9, 2).boxes())

    def test_pictures_need_the_extra(self, capfd, monkeypatch):
        for module in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert "needs matplotlib: python -m pip install 'broadphase[plot]'" in refused(capfd, "demo")
