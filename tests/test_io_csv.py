"""Boxes from tables of text, what is wrong with a bad one, and files that cannot be opened."""

import csv
import io
import sys

import numpy as np
import pytest
from io_helpers import BOXES, BOXES_3D, message, written

from broadphase.errors import FileError
from broadphase.files import read_boxes

pytestmark = [pytest.mark.smaller_set, pytest.mark.usefixtures("open_files_stay")]


class TestColumns:
    @pytest.mark.parametrize(
        "header",
        [
            "min_x,min_y,max_x,max_y",
            "Min X,Min Y,Max X,Max Y",
            "minX,minY,maxX,maxY",
            "xmin,ymin,xmax,ymax",
            "XMIN, YMIN, XMAX, YMAX",
            "left,top,right,bottom",
            "left,bottom,right,top",
            "x0,y0,x1,y1",
            "x1,y1,x2,y2",
            "west,south,east,north",
            "minlon,minlat,maxlon,maxlat",
            "bbox.xmin,bbox.ymin,bbox.xmax,bbox.ymax",
        ],
    )
    def test_edges_by_many_names(self, tmp_path, header):
        path = written(tmp_path, "a.csv", f"{header}\n1,2,3,4\n5,6,7,8.5\n")
        boxes, ids = read_boxes(path)
        assert boxes.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8.5]]
        assert boxes.dtype == np.float64
        assert ids is None

    @pytest.mark.parametrize(
        "header", ["x,y,width,height", "X,Y,W,H", "left,top,width,height", "xmin,ymin,w,h"]
    )
    def test_an_edge_and_a_size(self, tmp_path, header):
        path = written(tmp_path, "a.csv", f"{header}\n1,2,3,4\n-1,-2,0,inf\n")
        assert read_boxes(path).boxes.tolist() == [[1, 2, 4, 6], [-1, -2, -1, np.inf]]

    def test_edges_and_sizes_may_be_mixed_and_in_any_order(self, tmp_path):
        path = written(tmp_path, "a.csv", "height,max_x,note,y,min_x\n4,3,hello,2,1\n")
        assert read_boxes(path).boxes.tolist() == [[1, 2, 3, 6]]

    def test_edges_count_where_a_table_has_sizes_too(self, tmp_path):
        path = written(tmp_path, "a.csv", "x,y,width,height,xmin,xmax\n100,2,3,4,1,2\n")
        assert read_boxes(path).boxes.tolist() == [[1, 2, 2, 6]]

    @pytest.mark.parametrize(
        ("header", "row", "box"),
        [
            ("min_x,min_y,min_z,max_x,max_y,max_z", "1,2,3,4,5,6", [1, 2, 3, 4, 5, 6]),
            ("x,y,z,width,height,depth", "1,2,3,4,5,6", [1, 2, 3, 5, 7, 9]),
            ("x0,x1,y0,y1,z0,z1", "1,2,3,4,5,6", [1, 3, 5, 2, 4, 6]),
        ],
    )
    def test_three_dimensions(self, tmp_path, header, row, box):
        assert read_boxes(written(tmp_path, "a.csv", f"{header}\n{row}\n")).boxes.tolist() == [box]

    def test_top_and_bottom_are_read_for_both_directions_of_y(self, tmp_path):
        header = "left,top,right,bottom"
        down = written(tmp_path, "down.csv", f"{header}\n0,2,1,2\n0,1,1,3\n")
        up = written(tmp_path, "up.csv", f"{header}\n0,2,1,2\n0,3,1,1\n")
        assert np.array_equal(read_boxes(down).boxes, read_boxes(up).boxes)
        mixed = written(tmp_path, "mixed.csv", f"{header}\n0,3,1,1\n0,1,1,3\n")
        assert message(mixed) == "row 1, columns top = 1 and bottom = 3 are the other way round than above"

    def test_a_missing_axis_lists_the_columns(self, tmp_path):
        path = written(tmp_path, "a.csv", "min_x,max_x,lat\n1,2,3\n")
        assert message(path).startswith(
            "no columns for the y axis among 'min_x', 'max_x', 'lat'; name them min_x, min_y, max_x, max_y"
        )

    @pytest.mark.parametrize("lonely", ["z", "min_z", "zmax"])
    def test_half_a_third_axis_is_not_dropped(self, tmp_path, lonely):
        path = written(tmp_path, "a.csv", f"x,y,{lonely},width,height\n1,2,3,4,5\n")
        assert message(path).startswith(f"column {lonely} has no partner for a third axis")

    def test_two_columns_for_one_edge(self, tmp_path):
        path = written(tmp_path, "a.csv", "min_x,MinX,min_y,max_x,max_y\n1,2,3,4,5\n")
        assert message(path) == "the columns 'min_x', 'MinX' could both be minx; rename one"

    def test_two_columns_for_the_id(self, tmp_path):
        path = written(tmp_path, "a.csv", "id,id,x,y,w,h\n1,2,3,4,5,6\n")
        assert message(path) == "there are 2 columns 'id'; rename one"


class TestIds:
    HEADER = "id,x,y,w,h"

    def ids(self, tmp_path, *ids: str):
        rows = "".join(f"{one},1,2,3,4\n" for one in ids)
        return read_boxes(written(tmp_path, "a.csv", f"{self.HEADER}\n{rows}")).ids

    def test_whole_numbers_become_integers(self, tmp_path):
        ids = self.ids(tmp_path, "7", "-3", "12345678901")
        assert ids.dtype == np.int64
        assert ids.tolist() == [7, -3, 12345678901]

    @pytest.mark.parametrize("other", ["007", "a7", "", "1.0", "+1", " 1", "1_0", str(2**63), "Ä"])
    def test_anything_else_stays_as_it_is_written(self, tmp_path, other):
        assert self.ids(tmp_path, "7", other).tolist() == ["7", other]

    def test_another_column_may_be_named(self, tmp_path):
        path = written(tmp_path, "a.csv", "id,Name,x,y,w,h\n1,crate,1,2,3,4\n")
        assert read_boxes(path, id_column="Name").ids.tolist() == ["crate"]
        assert read_boxes(path, id_column="name").ids.tolist() == ["crate"]
        assert message(path, id_column="tag").startswith("no column 'tag' for the ids among 'id', 'Name'")

    def test_bytes_that_are_no_utf8_matter_only_in_the_id(self, tmp_path):
        text = "id,note,x,y,w,h\n1,ok,1,2,3,4\n2,Köln,1,2,3,4\n"
        path = written(tmp_path, "a.csv", text, "latin-1")
        assert read_boxes(path).ids.tolist() == [1, 2]
        assert (
            message(path, id_column="note")
            == "row 1, column note: 'K\ufffdln' is not UTF-8; save the table as UTF-8"
        )


class TestText:
    @pytest.mark.parametrize("name", ["a.csv", "A.CSV", "a.txt"])
    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    def test_the_delimiter_is_found(self, tmp_path, name, delimiter):
        text = "id,x,y,w,h\ncrate,1,2,3,4\n".replace(",", delimiter)
        assert read_boxes(written(tmp_path, name, text)).boxes.tolist() == [[1, 2, 4, 6]]

    def test_tsv_may_hold_commas(self, tmp_path):
        path = written(tmp_path, "a.tsv", "id,or,name\tx\ty\tw\th\na,b\t1\t2\t3\t4\n")
        assert read_boxes(path, id_column="id,or,name").ids.tolist() == ["a,b"]

    @pytest.mark.parametrize(("boxes", "columns"), [(BOXES, 4), (BOXES_3D, 6)])
    def test_without_header(self, tmp_path, boxes, columns):
        text = io.StringIO()
        csv.writer(text).writerows(boxes.tolist())
        read = read_boxes(written(tmp_path, "a.csv", text.getvalue())).boxes
        assert read.shape[1] == columns
        assert np.array_equal(read, boxes)

    @pytest.mark.parametrize("row", ["1", "1,2,3", "1,2,3,4,5"])
    def test_without_header_other_widths_say_nothing(self, tmp_path, row):
        path = written(tmp_path, "a.csv", f"{row}\n")
        count = row.count(",") + 1
        assert message(path).startswith(f"{count} numbers in the first line and no header")

    def test_without_header_there_are_no_ids(self, tmp_path):
        path = written(tmp_path, "a.csv", "1,2,3,4\n")
        assert message(path, id_column="id") == "no column 'id' for the ids; the table has no header"

    def test_mark_of_unicode_line_ends_blank_lines_and_quotes(self, tmp_path):
        text = '\ufeff\r\n"x",y,width,height,note\r\n"1",2, 3 ,4,"a, b"\r\n\r\n5,6,7,8,\r\n\r\n'
        assert read_boxes(written(tmp_path, "a.csv", text)).boxes.tolist() == [[1, 2, 4, 6], [5, 6, 12, 14]]

    def test_a_header_alone_holds_no_boxes(self, tmp_path):
        boxes, ids = read_boxes(written(tmp_path, "a.csv", "id,x,y,z,w,h,d"))
        assert boxes.shape == (0, 6)
        assert ids.tolist() == []

    @pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
    def test_an_empty_file(self, tmp_path, text):
        path = written(tmp_path, "a.csv", text)
        assert message(path) == "is empty; a table begins with a header or with a row of numbers"

    def test_utf16(self, tmp_path):
        path = written(tmp_path, "a.csv", "x,y,w,h\n1,2,3,4\n", "utf-16")
        assert message(path) == "is no text in UTF-8; save the table as UTF-8"

    def test_very_long_fields(self, tmp_path):
        old_limit = csv.field_size_limit()
        path = written(tmp_path, "a.csv", f"x,y,w,h,outline\n1,2,3,4,{'9' * 300_000}\n")
        assert len(read_boxes(path).boxes) == 1
        assert csv.field_size_limit() == old_limit

    @pytest.mark.parametrize(
        ("row", "wrong"),
        [
            ("1,2,abc,4", "column max_x: 'abc' is not a number"),
            ("1,2,,4", "column max_x: is empty"),
            ("1,2, ,4", "column max_x: is empty"),
            ("1_000,2,3000,4", "column min_x: '1_000' is not a number"),
            ("1,2,3", "column max_y: is missing"),
            ("1,2,3,4,oops", "5 fields instead of 4"),
            ("nan,2,3,4", "column min_x is nan; remove the row, or give the box finite or infinite edges"),
            ("1,2,3,NaN", "column max_y is nan; remove the row, or give the box finite or infinite edges"),
            ("5,2,3,4", "column min_x = 5 is greater than max_x = 3"),
            ("1,2.5,3,-4", "column min_y = 2.5 is greater than max_y = -4"),
            (f"{'x' * 100},2,3,4", f"column min_x: '{'x' * 37}...' is not a number"),
        ],
    )
    @pytest.mark.parametrize("rows_before", [0, 1, 1_500])
    def test_a_bad_row_is_named(self, tmp_path, row, wrong, rows_before):
        text = "min_x,min_y,max_x,max_y\n" + rows_before * "1,2,3,4\n" + row + "\n1,2,3,4\n"
        path = written(tmp_path, "a.csv", text)
        assert message(path) == f"row {rows_before}, {wrong}"

    @pytest.mark.parametrize(
        ("row", "wrong"),
        [
            ("1,2,-3,4", "column w = -3 is negative"),
            ("1,2,3,nan", "column h is nan; remove the row, or give the box finite or infinite edges"),
            ("-inf,2,inf,4", "column x = -inf and w = inf give no upper edge; use min and max columns"),
        ],
    )
    def test_a_bad_size_is_named(self, tmp_path, row, wrong):
        path = written(tmp_path, "a.csv", f"x,y,w,h\n1,2,3,4\n{row}\n")
        assert message(path) == f"row 1, {wrong}"

    def test_the_first_bad_row_counts_not_the_first_bad_column(self, tmp_path):
        path = written(tmp_path, "a.csv", "min_x,min_y,max_x,max_y\n1,9,3,4\n9,2,3,4\n")
        assert message(path) == "row 0, column min_y = 9 is greater than max_y = 4"

    @pytest.mark.parametrize("rows_before", [0, 3, 1_200])
    @pytest.mark.parametrize("bad", ["nan", "abc"])
    def test_rows_are_counted_over_blank_lines_and_over_breaks_in_quotes(self, tmp_path, rows_before, bad):
        before = '1,2,3,4,"two\nlines"\n\n' * rows_before
        path = written(tmp_path, "a.csv", f'\nx,y,w,h,"no\nte"\n{before}1,2,3,{bad},\n')
        assert message(path).startswith(f"row {rows_before}, column h")

    def test_without_header_rows_count_from_the_first(self, tmp_path):
        path = written(tmp_path, "a.csv", "1,2,3,4\n1,2,abc,4\n")
        assert message(path) == "row 1, column max_x: 'abc' is not a number"

    def test_progress_ends_at_the_size(self, tmp_path):
        path = written(tmp_path, "a.csv", "x,y,w,h\n" + 5_000 * "1,2,3,4\n")
        calls: list[tuple[int, int]] = []
        read_boxes(path, progress=lambda done, total: calls.append((done, total)))
        size = path.stat().st_size
        assert calls[-1] == (size, size)
        assert calls == sorted(calls)


class TestOpening:
    def test_an_unknown_ending_lists_the_known_ones(self, tmp_path):
        path = written(tmp_path, "a.xlsx", "")
        assert message(path).startswith("the ending '.xlsx' is not known; it may be .csv, .txt, .tsv")
        assert message(written(tmp_path, "a", "")).startswith("the name has no ending; it may be .csv")

    def test_what_is_not_there(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            read_boxes(tmp_path / "a.csv")

    @pytest.mark.parametrize("ending", ["csv", "npy", "parquet", "geojson"])
    def test_a_folder(self, tmp_path, ending):
        folder = tmp_path / f"a.{ending}"
        folder.mkdir()
        with pytest.raises((IsADirectoryError, PermissionError)):
            read_boxes(folder)


def test_standard_input_is_csv(monkeypatch):
    def feed(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))

    feed("id\tx\ty\tw\th\na\t1\t2\t3\t4\n")
    boxes, ids = read_boxes("-")
    assert boxes.tolist() == [[1, 2, 4, 6]]
    assert ids.tolist() == ["a"]
    feed("x,y,w,h\n1,2,3,four\n")
    with pytest.raises(FileError, match=r"^standard input: row 0, column h: 'four' is not a number$"):
        read_boxes("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FileError, match="standard input is closed"):
        read_boxes("-")
