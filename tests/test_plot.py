"""Pictures: what is drawn where, on whose Axes, and what cannot be drawn."""

import io
import subprocess
import sys

import numpy as np
import pytest
from later import Later

import broadphase as bp
from broadphase.errors import MissingExtraError
from broadphase.plot import OVERLAPPING, PLAIN, draw, draw_boxes, draw_cells, draw_pairs

collections = Later("matplotlib.collections")
colors = Later("matplotlib.colors")
figure = Later("matplotlib.figure")

pytestmark = pytest.mark.smaller_set

INF = np.inf
BOXES = np.array([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 7]], float)
BOXES_3D = np.array([[0, 10, 20, 1, 11, 21], [2, 12, 22, 3, 13, 23]], float)


def rendered(figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, dpi=40)
    return file.getvalue()


def rectangles(ax, color: str) -> list[list[float]]:
    """The boxes drawn in a colour."""
    found = []
    for collection in ax.collections:
        if (
            isinstance(collection, collections.PolyCollection)
            and colors.to_hex(collection.get_edgecolor()[0]) == color.lower()
        ):
            for path in collection.get_paths():
                found.append([*path.vertices.min(axis=0), *path.vertices.max(axis=0)])
    return found


def links(ax) -> list[list[list[float]]]:
    lines = [
        collection for collection in ax.collections if isinstance(collection, collections.LineCollection)
    ]
    return [segment.tolist() for collection in lines for segment in collection.get_segments()]


def cells(ax) -> dict[tuple[float, float], int]:
    """The counts of the cells that hold something, by their lower left corner."""
    (mesh,) = [collection for collection in ax.collections if isinstance(collection, collections.QuadMesh)]
    corners = mesh.get_coordinates()[:-1, :-1].reshape(-1, 2).tolist()
    counts = np.asarray(mesh.get_array()).ravel().tolist()
    return {tuple(corner): count for corner, count in zip(corners, counts, strict=True) if count}


def counted(boxes, size: float) -> dict[tuple[float, float], int]:
    """The same, counted one cell after the other."""
    counts: dict[tuple[float, float], int] = {}
    for low_x, low_y, high_x, high_y in np.floor(np.asarray(boxes) / size).astype(int).tolist():
        for column in range(low_x, high_x + 1):
            for row in range(low_y, high_y + 1):
                counts[column * size, row * size] = counts.get((column * size, row * size), 0) + 1
    return counts


class TestBoxes:
    def test_every_box_is_drawn_where_it_is(self):
        ax = draw_boxes(BOXES)
        assert rectangles(ax, PLAIN) == BOXES.tolist()
        assert rectangles(ax, OVERLAPPING) == []

    def test_the_limits_take_in_all_boxes_and_little_more(self):
        ax = draw_boxes(BOXES)
        ax.apply_aspect()
        assert -0.2 < ax.get_xlim()[0] < 0
        assert 6 < ax.get_xlim()[1] < 6.2
        assert -0.2 < ax.get_ylim()[0] < 0
        assert 7 < ax.get_ylim()[1] < 7.2

    def test_infinite_edges_reach_out_of_the_picture_and_leave_the_limits_alone(self):
        ax = draw_boxes([[0, 0, 2, 2], [1, -INF, INF, 1]])
        assert max(map(abs, (*ax.get_xlim(), *ax.get_ylim()))) < 3
        (_, infinite) = rectangles(ax, PLAIN)
        assert infinite[0] == 1
        assert infinite[1] < -50
        assert infinite[2] > 50
        assert infinite[3] == 1

    def test_a_box_without_extent_leaves_a_dot(self):
        ax = draw_boxes([[0, 0, 2, 2], [3, 3, 3, 3]])
        assert ax.collections[-1].get_offsets().tolist() == [[3, 3]]

    def test_long_worlds_fill_the_figure(self):
        assert draw_boxes(BOXES).get_aspect() == 1
        assert draw_boxes([[0, 0, 1000, 1]]).get_aspect() == "auto"

    def test_ten_thousand_boxes_are_one_collection(self):
        low = np.random.default_rng(1).random((10_000, 2))
        assert len(draw_boxes(np.hstack([low, low + 0.01])).collections) == 1

    @pytest.mark.parametrize(
        ("projection", "drawn"),
        [
            ("xy", [[0, 10, 1, 11], [2, 12, 3, 13]]),
            ("xz", [[0, 20, 1, 21], [2, 22, 3, 23]]),
            ("yz", [[10, 20, 11, 21], [12, 22, 13, 23]]),
        ],
    )
    def test_three_dimensions_from_a_side(self, projection, drawn):
        ax = draw_boxes(BOXES_3D, projection=projection)
        assert rectangles(ax, PLAIN) == drawn
        assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(projection)

    def test_what_cannot_be_drawn(self):
        with pytest.raises(ValueError, match=r"boxes are 3-D; give projection='xy', 'xz' or 'yz'"):
            draw_boxes(BOXES_3D)
        with pytest.raises(ValueError, match=r"boxes are 2-D; projection='xz' is for 3-D boxes"):
            draw_boxes(BOXES, projection="xz")
        with pytest.raises(ValueError, match=r"projection must be 'xy', 'xz' or 'yz'; got 'zx'"):
            draw_boxes(BOXES_3D, projection="zx")
        with pytest.raises(ValueError, match=r"boxes\[0\] has min_x = 2 > max_x = 1"):
            draw_boxes([[2, 0, 1, 1]])


class TestPairs:
    def test_boxes_of_a_pair_are_of_another_colour_and_linked(self):
        ax = draw_pairs(BOXES, bp.pairs(BOXES))
        assert rectangles(ax, OVERLAPPING) == BOXES[:2].tolist()
        assert rectangles(ax, PLAIN) == BOXES[2:].tolist()
        assert links(ax) == [[[1, 1], [2, 2]]]

    def test_links_may_be_left_out(self):
        assert links(draw_pairs(BOXES, [[0, 1]], links=False)) == []

    def test_infinite_boxes_have_no_centre_to_link(self):
        boxes = [[-INF, 0, INF, 2], [1, 1, 3, 3], [0, 0, 2, INF]]
        ax = draw_pairs(boxes, [[0, 1], [0, 2], [1, 2]])
        assert len(rectangles(ax, OVERLAPPING)) == 3
        assert links(ax) == []

    @pytest.mark.parametrize("none", [[], np.empty((0, 2), np.int32)])
    def test_no_pairs(self, none):
        assert rectangles(draw_pairs(BOXES, none), PLAIN) == BOXES.tolist()

    @pytest.mark.parametrize(
        ("pairs", "wrong"),
        [
            ([[0, 3]], r"pairs\[0\] = \[0, 3\] names row 3; there are 3 rows"),
            ([[0, 1], [-1, 2]], r"pairs\[1\] = \[-1, 2\] names row -1; there are 3 rows"),
            ([0, 1], r"pairs must have shape \(k, 2\), a pair a row; got shape \(2,\)"),
            ([[0.0, 1.0]], r"pairs must hold whole numbers, pairs of rows; got dtype float64"),
        ],
    )
    def test_pairs_that_are_none(self, pairs, wrong):
        with pytest.raises((TypeError, ValueError), match=wrong):
            draw_pairs(BOXES, pairs)


class TestCells:
    @pytest.mark.parametrize("size", [0.5, 1, 2.5, 100])
    @pytest.mark.parametrize("shift", [0, -7.25])
    def test_a_box_counts_in_every_cell_that_it_touches(self, size, shift):
        random = np.random.default_rng(3)
        low = random.integers(-8, 8, (60, 2)) / 2 + shift
        boxes = np.hstack([low, low + random.integers(0, 7, (60, 2)) / 2])
        assert cells(draw_cells(boxes, size)) == counted(boxes, size)

    def test_infinite_boxes_count_in_all_cells_of_their_row(self):
        assert cells(draw_cells([[0.1, 0.1, 2.9, 1.9], [-INF, 0.5, INF, 0.6]], 1)) == {
            (0, 0): 2,
            (1, 0): 2,
            (2, 0): 2,
            (0, 1): 1,
            (1, 1): 1,
            (2, 1): 1,
        }

    def test_the_number_is_in_the_middle_of_each_cell_with_boxes(self):
        ax = draw_cells(BOXES, 4)
        assert {(*text.get_position(), text.get_text()) for text in ax.texts} == {(2, 2, "2"), (6, 6, "1")}
        assert len(draw_cells(BOXES, 4, numbers=False).texts) == 0

    def test_the_ground_shows_through_empty_cells_and_less_through_fuller_ones(self):
        ax = draw_cells(BOXES, 4)
        (mesh,) = ax.collections
        ax.figure.canvas.draw()
        (empty, one, two) = (mesh.to_rgba(count)[3] for count in (0, 1, 2))
        assert 0 == empty < one < two

    def test_fuller_is_darker(self):
        ax = draw_cells(BOXES, 4)
        (mesh,) = ax.collections
        ax.figure.canvas.draw()
        colors = np.array([mesh.to_rgba(count) for count in (0, 1, 2)])
        on_white = colors[:, :3] * colors[:, 3:] + 1 - colors[:, 3:]
        (empty, one, two) = on_white.sum(axis=1)
        assert empty > one > two

    def test_thousands_of_cells_are_too_small_for_numbers(self):
        low = np.random.default_rng(1).random((5_000, 2))
        boxes = np.hstack([low, low])
        assert len(draw_cells(boxes, 0.01).texts) == 0
        assert len(draw_cells(boxes, 0.1).texts) == 100

    @pytest.mark.parametrize("size", [0, -1, INF, np.nan])
    def test_sizes_that_are_none(self, size):
        with pytest.raises(ValueError, match=f"cell_size must be positive and finite; got {size}"):
            draw_cells(BOXES, size)

    @pytest.mark.parametrize("size", [1e-3, 5e-324])
    def test_too_many_cells(self, size):
        with pytest.raises(ValueError, match=r"1000000 are the most that can be drawn, take larger ones"):
            draw_cells(BOXES, size)


class TestDraw:
    def test_all_in_one(self):
        figure = draw(BOXES, bp.pairs(BOXES), cell_size=4, title="three boxes")
        (ax,) = figure.axes
        assert ax.get_title() == "three boxes"
        assert len(cells(ax)) == 2
        assert len(rectangles(ax, OVERLAPPING)) == 2
        assert len(links(ax)) == 1
        assert rendered(figure).startswith(b"\x89PNG")

    def test_three_dimensions_from_a_side(self):
        (ax,) = draw(BOXES_3D, [[0, 1]], cell_size=4, projection="yz").axes
        assert rectangles(ax, OVERLAPPING) == [[10, 20, 11, 21], [12, 22, 13, 23]]

    def test_others_axes_are_drawn_on_and_otherwise_left_alone(self):
        ax = figure.Figure().add_subplot()
        ax.set_xlabel("mine")
        ax.set_xlim(0, 1)
        assert draw_boxes(BOXES, ax=ax) is ax
        assert ax.get_xlabel() == "mine"
        assert ax.get_xlim() == (0, 1)
        assert ax.get_aspect() == "auto"

    @pytest.mark.parametrize(
        "boxes",
        [
            [],
            [[0, 0, 0, 0]],
            [[-INF, -INF, INF, INF]],
            [[INF, INF, INF, INF]],
            [[-1e308, -1e308, 1e308, 1e308], [0, 0, 1, 1]],
            [[1e30, 0, 1e30, 0]],
            [[1e-38, 1e-38, 2e-38, 2e-38]],
            [[5e-324, 0, 5e-324, 0]],
            [[0, 0, 1e12, 1e-12]],
        ],
    )
    def test_any_world_can_be_rendered(self, boxes):
        assert rendered(draw(boxes, bp.pairs(boxes)))


def test_nothing_global_is_touched_and_no_display_is_needed():
    program = (
        "import sys, broadphase.plot as plot\n"
        "assert 'matplotlib' not in sys.modules\n"
        "plot.draw([[0, 0, 2, 2], [1, 1, 3, 3]], [[0, 1]], cell_size=1).savefig(sys.stdout.buffer)\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    result = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, check=False)
    assert result.stderr == b""
    assert result.returncode == 0
    assert result.stdout.startswith(b"\x89PNG")


def test_without_matplotlib_the_missing_extra_is_named(monkeypatch):
    for module in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        MissingExtraError, match=r'drawing needs matplotlib: python -m pip install "broadphase\[plot\]"'
    ):
        draw(BOXES)
