"""The command: pairs, joins, what it refuses and what it offers."""

from typing import get_args

import numpy as np
import pyarrow as pa
import pytest
from cli_helpers import numbers, refused, save_csv, some_boxes
from pyarrow import parquet

import broadphase as bp
from broadphase.cli import commands, run


@pytest.mark.smaller_set
class TestPairs:
    @pytest.mark.parametrize("dim", [2, 3])
    @pytest.mark.parametrize("touching", [True, False])
    def test_the_same_as_the_function(self, tmp_path, capfd, dim, touching):
        boxes = some_boxes(200, dim)
        path = save_csv(tmp_path / "a.csv", boxes)
        expected = bp.pairs(boxes, touching=touching).tolist()
        assert run(["pairs", str(path), "--touching" if touching else "--no-touching"]) == 0
        captured = capfd.readouterr()
        assert numbers(captured.out) == expected
        assert captured.err == ""

    def test_touching_boxes_count_by_default(self, tmp_path, capfd):
        path = save_csv(tmp_path / "a.csv", np.array([[0, 0, 1, 1], [1, 0, 2, 1.0]]))
        for options, count in (([], "1"), (["--touching"], "1"), (["--no-touching"], "0")):
            assert run(["pairs", str(path), "--count", *options]) == 0
            assert capfd.readouterr().out.strip() == count

    @pytest.mark.parametrize("method", bp.METHODS)
    def test_every_method(self, tmp_path, capfd, method):
        boxes = some_boxes(300)
        path = save_csv(tmp_path / "a.csv", boxes)
        assert run(["pairs", str(path), "--method", method]) == 0
        assert numbers(capfd.readouterr().out) == bp.pairs(boxes, method="brute_force").tolist()

    @pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.npy", "out.parquet", "out.arrow"])
    def test_output_by_name(self, tmp_path, capfd, name):
        boxes = some_boxes(100)
        expected = bp.pairs(boxes).tolist()
        out = tmp_path / name
        assert run(["pairs", str(save_csv(tmp_path / "a.csv", boxes)), "-o", str(out)]) == 0
        captured = capfd.readouterr()
        assert captured.out == captured.err == ""
        if out.suffix == ".npy":
            read = np.load(out).tolist()
        elif out.suffix == ".parquet":
            read = list(map(list, zip(*parquet.read_table(out).to_pydict().values(), strict=True)))
        elif out.suffix == ".arrow":
            read = list(map(list, zip(*pa.ipc.open_file(out).read_all().to_pydict().values(), strict=True)))
        else:
            read = numbers(out.read_text().replace("\t", ","))
        assert read == expected
        assert sorted(file.name for file in tmp_path.iterdir()) == ["a.csv", name]

    def test_ids_are_carried_through(self, tmp_path, capfd):
        boxes = np.array([[0, 0, 2, 2], [9, 9, 9, 9], [1, 1, 3, 3.0]])
        path = save_csv(tmp_path / "a.csv", boxes, ["crate", "far", "barrel"])
        assert run(["pairs", str(path)]) == 0
        assert capfd.readouterr().out == "id_i,id_j\ncrate,barrel\n"
        assert run(["pairs", str(path), "--id", "max_x"]) == 0
        assert capfd.readouterr().out == "id_i,id_j\n2.0,3.0\n"

    def test_no_boxes(self, tmp_path, capfd):
        path = save_csv(tmp_path / "a.csv", np.empty((0, 6)))
        assert run(["pairs", str(path)]) == 0
        assert capfd.readouterr().out == "i,j\n"
        assert run(["pairs", str(path), "--count"]) == 0
        assert capfd.readouterr().out == "0\n"


@pytest.mark.smaller_set
class TestJoin:
    @pytest.mark.parametrize("touching", [True, False])
    def test_the_same_as_the_function(self, tmp_path, capfd, touching):
        a, b = some_boxes(80, seed=1), some_boxes(120, seed=2)
        expected = bp.join(a, b, touching=touching)
        files = [str(save_csv(tmp_path / "a.csv", a)), str(save_csv(tmp_path / "b.csv", b))]
        option = "--touching" if touching else "--no-touching"
        assert run(["join", *files, option]) == 0
        assert numbers(capfd.readouterr().out) == expected.tolist()
        assert run(["join", *files, option, "--count"]) == 0
        assert capfd.readouterr().out == f"{len(expected)}\n"

    def test_ids_of_either_side(self, tmp_path, capfd):
        boxes = np.array([[0, 0, 2, 2.0]])
        named, bare = save_csv(tmp_path / "a.csv", boxes, ["crate"]), save_csv(tmp_path / "b.csv", boxes)
        assert run(["join", str(named), str(bare)]) == 0
        assert capfd.readouterr().out == "id_i,j\ncrate,0\n"
        assert run(["join", str(bare), str(named)]) == 0
        assert capfd.readouterr().out == "i,id_j\n0,crate\n"

    def test_two_and_three_dimensions_do_not_mix(self, tmp_path, capfd):
        flat = save_csv(tmp_path / "a.csv", some_boxes(3))
        deep = save_csv(tmp_path / "b.csv", some_boxes(3, 3))
        assert refused(capfd, "join", flat, deep).startswith("a is 2-D and b is 3-D")

    def test_only_one_side_comes_from_standard_input(self, capfd):
        assert refused(capfd, "join", "-", "-") == "standard input cannot be both A and B"


@pytest.mark.smaller_set
class TestRefusals:
    def test_a_bad_value_is_named_and_nothing_is_written(self, tmp_path, capfd):
        path = save_csv(tmp_path / "a.csv", some_boxes(3))
        path.write_text(path.read_text() + "1,2,abc,4\n")
        out = tmp_path / "out.csv"
        out.write_text("old")
        line = refused(capfd, "pairs", path, "-o", out)
        assert line == f"{path}: row 3, column max_x: 'abc' is not a number"
        assert out.read_text() == "old"
        assert sorted(file.name for file in tmp_path.iterdir()) == ["a.csv", "out.csv"]

    def test_files_that_cannot_be_opened(self, tmp_path, capfd):
        missing = tmp_path / "no.csv"
        assert refused(capfd, "pairs", missing) == f"{missing}: No such file or directory"
        folder = tmp_path / "folder.csv"
        folder.mkdir()
        assert refused(capfd, "pairs", folder).startswith(f"{folder}: ")
        assert "the ending '.doc' is not known" in refused(capfd, "pairs", tmp_path / "a.doc")

    def test_what_cannot_be_written_is_refused_before_anything_is_read(self, tmp_path, capfd):
        missing = tmp_path / "no.csv"
        assert "the ending '.doc' is not known" in refused(capfd, "pairs", missing, "-o", tmp_path / "a.doc")
        nowhere = tmp_path / "nowhere" / "a.csv"
        assert refused(capfd, "pairs", missing, "-o", nowhere) == f"{nowhere}: No such folder"

    def test_an_input_is_not_overwritten(self, tmp_path, capfd):
        path = save_csv(tmp_path / "a.csv", some_boxes(3))
        before = path.read_text()
        same = tmp_path / "." / "a.csv"
        assert "is also an input" in refused(capfd, "pairs", path, "-o", same)
        assert "is also an input" in refused(capfd, "join", tmp_path / "no.csv", path, "-o", same)
        assert path.read_text() == before

    def test_a_count_is_no_file(self, tmp_path, capfd):
        path = save_csv(tmp_path / "a.csv", some_boxes(3))
        line = refused(capfd, "pairs", path, "--count", "-o", tmp_path / "b.csv")
        assert line.startswith("--count prints a number and writes no pairs")

    @pytest.mark.parametrize(
        ("arguments", "wrong"),
        [
            (["pairs"], "parameter FILE requires an argument"),
            (["pairs", "a.csv", "--methd", "tree"], "--methd"),
            (["pairs", "--methd", "a.csv"], "There is no such option; a file of that name is ./--methd."),
            (["pairs", "a.csv", "b.csv"], "b.csv"),
            (["frobnicate"], 'Unknown command "frobnicate"'),
            (["demo", "--balls", "many"], "many"),
            (["demo", "--balls", "0"], "at least one ball and one frame; got 0 and 50"),
            (["demo", "--frames", "0"], "at least one ball and one frame; got 10000 and 0"),
            (["demo", "-o", "picture.docx"], "picture.docx: the name of a picture ends in ."),
        ],
    )
    def test_options(self, capfd, arguments, wrong):
        assert wrong in refused(capfd, *arguments)

    def test_an_unknown_method_lists_the_methods(self, tmp_path, capfd):
        line = refused(capfd, "pairs", save_csv(tmp_path / "a.csv", some_boxes(3)), "--method", "magic")
        assert all(name in line for name in bp.METHODS)

    def test_too_little_memory(self, tmp_path, capfd, monkeypatch):
        def no_memory(*arguments, **options):
            raise MemoryError

        monkeypatch.setattr(bp, "pairs", no_memory)
        line = refused(capfd, "pairs", save_csv(tmp_path / "a.csv", some_boxes(3)))
        assert line == "memory is too small for all pairs; --count counts them without storing them"


def test_the_methods_offered_are_the_methods_there_are():
    assert set(get_args(commands.Method)) == set(bp.METHODS)
    assert set(get_args(commands.SingleMethod)) == set(bp.METHODS) - {"auto"}


def test_help_and_version(capfd):
    for arguments in (
        [],
        ["--help"],
        ["pairs", "--help"],
        ["join", "-h"],
        ["demo", "--help"],
    ):
        assert run(arguments) == 0
        captured = capfd.readouterr()
        assert "Usage: broadphase" in captured.out
        assert captured.err == ""
    assert run(["--version"]) == 0
    assert capfd.readouterr().out == f"{bp.__version__}\n"
