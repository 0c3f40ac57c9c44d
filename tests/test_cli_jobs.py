"""The commands that take a while: warmup and demo."""

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_helpers import command, refused

import broadphase as bp
from broadphase.cli import run, warm_up
from broadphase.cli.demo import Balls
from broadphase.cli.warm_up import Job
from broadphase.methods import NAMES
from broadphase.one_shot import search


class TestWarmup:
    jit_on = pytest.mark.skipif(warm_up.cache_folder() is None, reason="Numba's JIT is switched off")

    @jit_on
    @pytest.mark.exhaustive  # it compiles into a cache of its own
    def test_it_says_where_the_cache_lies(self, tmp_path):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        result = command("warmup", "--methods", "brute_force", env=environment)
        assert result.stderr == ""
        assert result.returncode == 0
        assert "These methods are ready" in result.stdout
        folder = Path(re.search(r"lies in (.*) \(", result.stdout)[1])
        assert folder.is_relative_to(tmp_path)
        before = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
        assert any(file.suffix == ".nbc" for file in before)
        assert command("pairs", "-", "--count", input="0,0,1,1\n0,0,1,1\n", env=environment).stdout == "1\n"
        assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == before

    def test_with_the_jit_off_it_says_so(self):
        result = command("warmup", env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
        assert result.stdout == "Numba's JIT is switched off: there is nothing to compile.\n"
        assert result.stderr == ""
        assert result.returncode == 0

    def run(self, monkeypatch, jobs: list[Job], compiling: bool) -> tuple[list[Job], list[tuple[int, int]]]:
        """The jobs done in this process, and the progress told."""
        done: list[Job] = []
        told: list[tuple[int, int]] = []
        monkeypatch.setattr(warm_up, "compiled", lambda: len(done) if compiling else 0)
        monkeypatch.setattr(warm_up, "cache_folder", lambda: Path())
        monkeypatch.setattr(warm_up.threads, "cores", lambda: 2)
        monkeypatch.setattr(Job, "do", lambda job: done.append(job))
        warm_up.do_all(jobs, lambda *progress: told.append(progress))
        return done, told

    def test_the_world_is_a_job_too(self, monkeypatch, capsys):
        jobs: list[Job] = []
        monkeypatch.setattr(warm_up, "cache_folder", lambda: Path())
        monkeypatch.setattr(warm_up, "do_all", lambda todo, report: jobs.extend(todo))
        warm_up.warm_up()
        assert [job for job in jobs if job.method == warm_up.WORLD] == [Job("world", 2, "float64")]
        Job.parse("world:2:float64").do()
        assert "The world and all methods are ready" in capsys.readouterr().out

    JOBS = [Job("brute_force", dim, dtype) for dim in (2, 3) for dtype in ("float32", "float64")]  # noqa: RUF012

    def test_what_is_in_the_cache_is_loaded_without_help(self, monkeypatch):
        monkeypatch.setattr(warm_up, "_send_out", None)
        done, told = self.run(monkeypatch, self.JOBS, compiling=False)
        assert done == self.JOBS
        assert told == [(k, 4) for k in range(5)]

    @jit_on
    def test_helpers_do_their_share(self, monkeypatch):
        sent: list[Job] = []
        send_out = warm_up._send_out

        def send(jobs, tick):
            sent.extend(jobs)
            send_out(jobs, tick)

        monkeypatch.setattr(warm_up, "_send_out", send)
        done, told = self.run(monkeypatch, self.JOBS, compiling=True)
        assert sent == self.JOBS[3:]
        assert set(done) == set(self.JOBS)
        assert told == [(k, 4) for k in range(5)]

    def test_without_helpers_all_is_done_here(self, monkeypatch):
        monkeypatch.setattr(sys, "executable", "/no/such/python")
        done, _ = self.run(monkeypatch, self.JOBS, compiling=True)
        assert set(done) == set(self.JOBS)


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
