"""The benchmark: scenes, peers, fair turns, and the command; at small sizes, and nothing hangs on a time."""

import json
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import oracle
import pytest

import broadphase as bp

ROOT = Path(__file__).parents[1]
if not (ROOT / "benchmarks").exists():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.append(str(ROOT / "benchmarks"))

import compare  # noqa: E402
import contest  # noqa: E402
import measure as run  # noqa: E402
import peers  # noqa: E402
import timing  # noqa: E402
from catalogue import CATALOGUE, Case  # noqa: E402
from measure import Options, measure  # noqa: E402
from peers import PEERS, Peer  # noqa: E402
from report import tables  # noqa: E402
from timing import Search, best_of_searches  # noqa: E402

PLACES = [(name, dim) for name, scene in CATALOGUE.items() for dim in scene.dims]
ALL_PEERS = dict(PEERS)
QUICK = Options(("uniform",), (60, 240), seconds=1e-4, memory=False)


@pytest.fixture
def two_peers(monkeypatch):
    """Only the peers that the tests' extra installs, and no compiler."""
    for name in set(PEERS) - {"shapely", "scipy"}:
        monkeypatch.delitem(PEERS, name)
    monkeypatch.setattr(run, "build_yardstick", lambda folder: None)


def expected(case: Case) -> int:
    if case.first_side is not None:
        return len(oracle.join(*case.sides))
    return len(oracle.pairs(case.boxes, static=case.static))


class TestScenes:
    @pytest.mark.parametrize(("name", "dim"), PLACES)
    def test_sound_and_the_same_every_time(self, name, dim):
        case, again = (CATALOGUE[name].case(300, dim) for _ in range(2))
        assert case.boxes.shape == (300, 2 * dim)
        assert case.boxes.dtype == np.float32
        assert np.isfinite(case.boxes).all()
        assert (case.boxes[:, :dim] <= case.boxes[:, dim:]).all()
        assert np.array_equal(case.boxes, again.boxes)
        assert len(contest.search(case)) == expected(case)


class TestTiming:
    def test_turns_and_what_counts(self, monkeypatch):
        clock, order = SimpleNamespace(now=0.0), []

        def does(name, *, preparing, running):
            def prepare():
                clock.now += preparing

            def call(_):
                order.append(name)
                clock.now += running / len(order)  # the later, the faster

            return Search(call, prepare=prepare)

        monkeypatch.setattr(timing.time, "perf_counter", lambda: clock.now)
        searches = {
            "light": does("light", preparing=0.0, running=1.0),
            "heavy": does("heavy", preparing=8.0, running=1.0),
        }
        best, whole = best_of_searches(searches, 9.5)
        assert order[:4] == ["light", "heavy", "light", "heavy"]
        assert order.count("heavy") == 2, "preparing uses up time too"
        assert best["heavy"] == pytest.approx(1 / 4), "but does not count"
        assert whole["heavy"] == pytest.approx(8 + 1 / 4)
        assert best["light"] == pytest.approx(1 / len(order))

    def test_everyone_gets_a_turn_and_may_bring_a_clock(self):
        best, _ = best_of_searches({"a": Search(lambda _: 7.0, seconds=lambda said: said)}, 0.0)
        assert best == {"a": 7.0}


class TestPeers:
    @pytest.mark.parametrize("name", PEERS)
    def test_as_many_pairs_as_there_are(self, name):
        took_part = 0
        for scene, dim in PLACES:
            case = CATALOGUE[scene].case(200, dim)
            search = PEERS[name].search(case)
            if isinstance(search, str):
                if search.startswith("not installed"):
                    pytest.skip(search)
                continue
            count, tolerated = expected(case), PEERS[name].tolerated
            for _ in range(2):
                found = search.count(search.timed()[2])
                assert abs(found - count) <= tolerated * count + 2 * bool(tolerated), (scene, dim)
            took_part += 1
        assert took_part > 2

    def test_a_missing_peer_differs_from_one_that_cannot(self, monkeypatch):
        def missing(case):
            raise ModuleNotFoundError("No module named 'gone'", name="gone")

        case = CATALOGUE["uniform"].case(20, 2)
        monkeypatch.setitem(PEERS, "shapely", Peer("gone", missing, ""))
        monkeypatch.setitem(PEERS, "scipy", Peer("scipy", lambda case: None, ""))
        assert PEERS["shapely"].search(case) == "not installed (gone)"
        assert PEERS["scipy"].search(case) == "cannot do this scene"

    @pytest.mark.parametrize("off", [-1, 1])
    def test_a_wrong_count_stops_the_run(self, two_peers, monkeypatch, capfd, off):
        make = PEERS["shapely"].make

        def wrong(case):
            search = make(case)
            return Search(search.run, lambda hits: search.count(hits) + off)

        monkeypatch.setitem(PEERS, "shapely", Peer("shapely", wrong, ""))
        case = CATALOGUE["uniform"].case(60, 2)
        there = expected(case)
        with pytest.raises(
            contest.DisagreementError, match=f"shapely finds {there + off} pairs where there are {there}"
        ):
            measure(QUICK)
        assert compare.main(["--sizes", "60", "--seconds", "0.001", "--no-memory"]) == 1
        captured = capfd.readouterr()
        assert captured.out == ""
        assert captured.err == f"shapely finds {there + off} pairs where there are {there}\n"

    def test_a_wrong_method_stops_the_run_too(self, two_peers, monkeypatch):
        ask = contest.search
        monkeypatch.setattr(
            contest, "search", lambda case, **how: ask(case, **how)[1 if how.get("method") == "tree" else 0 :]
        )
        with pytest.raises(contest.DisagreementError, match="tree finds"):
            measure(Options(("uniform",), (60,), methods=("tree",), seconds=1e-4, memory=False))


class TestRun:
    def test_figures_fit_together(self, two_peers):
        report = measure(QUICK)
        assert [result.boxes for result in report.results] == [60, 240]
        for result in report.results:
            case = CATALOGUE["uniform"].case(result.boxes, 2)
            assert result.pairs == expected(case)
            assert set(result.milliseconds) == {"broadphase", "sort=False", "shapely", "scipy", "limit"}
            assert result.times_broadphase["broadphase"] == 1
            for name, times in result.times_broadphase.items():
                ours, limit = result.milliseconds["broadphase"], result.milliseconds["limit"]
                assert times == pytest.approx(result.milliseconds[name] / ours)
                assert result.times_limit[name] == pytest.approx(result.milliseconds[name] / limit)
            assert list(result.left_out) == ["yardstick"]
        assert list(report.contestants) == list(report.results[0].milliseconds)
        assert report.growth[0].boxes == [60, 240]

    def test_the_slow_are_left_out_of_larger_sizes(self, two_peers):
        options = Options(("uniform",), (240, 60), seconds=1e-4, slow=0.0, memory=False)
        small, large = measure(options).results
        assert "shapely" in small.milliseconds
        assert set(large.milliseconds) == {"broadphase", "limit"}
        assert large.left_out["shapely"].endswith("s for 60 boxes")

    def test_methods_threads_and_the_other_questions(self, two_peers):
        scenes = ("few_movers", "large_and_small")
        options = Options(scenes, (200,), (2, 3), ("tree", "strips"), threads=1, seconds=1e-4, memory=False)
        report = measure(options)
        assert [(r.scene, r.dim, r.asked) for r in report.results] == [
            ("few_movers", 2, "pairs, static"),
            ("few_movers", 3, "pairs, static"),
            ("large_and_small", 2, "join"),
            ("large_and_small", 3, "join"),
        ]
        assert all({"tree", "strips"} < set(r.milliseconds) for r in report.results)
        for result in report.results:
            best = min(result.milliseconds[name] for name in ("tree", "strips"))
            assert result.auto_times_best == pytest.approx(result.milliseconds["sort=False"] / best)
        assert next(tables(report)).rows[-1][0] == "auto/best"
        assert "shapely" in report.results[0].milliseconds
        assert "shapely" not in report.results[1].milliseconds

    def test_a_scene_that_is_only_3d(self):
        assert run.places(Options(("atoms", "line"))) == [("atoms", 3), ("line", 2)]
        assert run.places(Options(("atoms", "line"), dims=(3, 2))) == [("atoms", 3), ("line", 2), ("line", 3)]
        with pytest.raises(ValueError, match="the scene atoms exists only in 3-D"):
            run.places(Options(("atoms",), dims=(2,)))


class TestCommand:
    def test_everything_that_it_writes(self, two_peers, tmp_path, capfd):
        files = {
            name: tmp_path / f"out.{end}"
            for name, end in (("json", "json"), ("chart", "png"), ("markdown", "md"))
        }
        asked = ["--scenes", "uniform", "atoms", "--sizes", *map(str, range(50, 301, 50))]
        asked += ["--seconds", "0.001", "--no-memory"]
        for name, file in files.items():
            asked += [f"--{name}", str(file)]
        command = " ".join(["python benchmarks/compare.py", *asked])
        assert compare.main(asked) == 0
        captured = capfd.readouterr()
        assert captured.err == ""
        assert "uniform, 2-D: Equal squares" in captured.out
        assert "atoms, 3-D: " in captured.out
        assert not set("│┃━┏╭─…") & set(captured.out), "plain if the output is no terminal"
        assert files["chart"].read_bytes().startswith(b"\x89PNG")
        page = files["markdown"].read_text()
        assert f"`{command}`" in page
        found = json.loads(files["json"].read_text())
        assert set(found) == {
            *(
                "schema",
                "machine",
                "versions",
                "options",
                "scenes",
                "contestants",
                "results",
                "growth",
                "memory",
            )
        }
        assert found["schema"] == 1
        assert {"processor", "cores", "vectors", "level"} <= set(found["machine"])
        assert {"broadphase", "python", "numpy", "numba", "shapely", "scipy"} <= set(found["versions"])
        places = [(result["scene"], result["dim"], result["boxes"]) for result in found["results"]]
        sizes = range(50, 301, 50)
        assert places == [(*place, n) for place in (("uniform", 2), ("atoms", 3)) for n in sizes]
        assert set(found["results"][0]) == {
            *("scene", "dim", "boxes", "asked", "pairs", "milliseconds"),
            *("times_broadphase", "times_limit", "left_out", "auto_times_best"),
        }
        assert set(found["growth"][0]) == {"scene", "dim", "boxes", "exponents", "exponents_from_10000"}

    @pytest.mark.parametrize(
        ("options", "line"),
        [
            (["--sizes", "1"], "a scene has from 2 to 100,000,000 boxes; got --sizes 1"),
            (["--seconds", "0"], "every contestant needs some time; got --seconds 0"),
            (["--seconds", "nan"], "every contestant needs some time; got --seconds nan"),
            (
                ["--scenes", "atoms", "--dim", "2"],
                "the scene atoms exists only in 3-D; ask for it with --dim 3",
            ),
            (["--threads", "0"], "there is at least one thread; got --threads 0"),
            (["--json", "no/such/out.json"], "No such file or directory: 'no/such/out.json'"),
            (["--chart", "out.exe"], "out.exe: the name of a picture ends in .eps"),
            (["--scenes", "nowhere"], "invalid choice: 'nowhere'"),
            (["--dim", "4"], "invalid choice: 4"),
            (["--methods", "magic"], "invalid choice: 'magic'"),
        ],
    )
    def test_what_cannot_be_measured_is_said_before(self, capfd, options, line):
        with pytest.raises(SystemExit) as ended:
            compare.main(options)
        assert ended.value.code == 2
        captured = capfd.readouterr()
        assert captured.out == ""
        assert line in captured.err


class TestMemory:
    def test_a_box_takes_at_least_its_pairs(self, tmp_path):
        case = CATALOGUE["uniform"].case(40_000, 2)
        file = tmp_path / "case.pickle"
        file.write_bytes(pickle.dumps(case))
        found = contest.memory_per_box(file, "sort=False", len(case.boxes), 1)
        if found is None:
            assert not Path("/proc/self/clear_refs").exists(), "Linux tells"
            pytest.skip("this system does not report it")
        assert 8 * bp.count_pairs(case.boxes) / len(case.boxes) < found < 2_000


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    built = peers.build_yardstick(tmp_path_factory.mktemp("yardstick"))
    if built is None:
        pytest.skip("no C++ compiler, or no AVX-512")
    return built


class TestYardstick:
    @pytest.mark.parametrize(("name", "dim"), [(n, d) for n, d in PLACES if CATALOGUE[n].yardstick])
    def test_finds_what_there_is(self, program, tmp_path, name, dim):
        case = CATALOGUE[name].case(500, dim)
        search = peers.with_yardstick(program, case, tmp_path)
        seconds, _, said = search.timed()
        assert search.count(said) == expected(case)
        assert seconds == said["ms"] / 1e3 > 0
        assert said["side"] > 0

    def test_takes_part(self, program, two_peers, monkeypatch):
        monkeypatch.setattr(run, "build_yardstick", lambda folder: program)
        uniform, mixed = measure(Options(sizes=(100,), seconds=1e-4, memory=False)).results
        assert uniform.milliseconds["yardstick"] > 0
        assert mixed.left_out["yardstick"] == "cannot do this scene"


@pytest.fixture(scope="module", params=list(peers.ENGINES))
def engine(request):
    if isinstance(PEERS[request.param].search(CATALOGUE["line"].case(9, 2)), str):
        pytest.skip(f"no C++ compiler, or no {request.param}")
    return request.param


class TestEngines:
    @pytest.mark.parametrize(("name", "dim"), PLACES)
    def test_finds_what_there_is(self, engine, name, dim):
        case = CATALOGUE[name].case(500, dim)
        search = PEERS[engine].search(case)
        if not case.plain:
            assert search == "cannot do this scene"
            return
        seconds, _, said = search.timed()
        assert search.count(said) == expected(case)
        assert seconds == said["ms"] / 1e3 > 0

    def test_takes_part(self, engine, two_peers, monkeypatch):
        monkeypatch.setitem(PEERS, engine, ALL_PEERS[engine])
        report = measure(Options(("uniform",), (100,), seconds=1e-4))
        assert report.results[0].milliseconds[engine] > 0
        assert engine not in report.memory[0].bytes_per_box
        assert "one core" in report.contestants[engine]
