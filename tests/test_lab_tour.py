"""The tour: what each step shows is what the engine does, live and recorded."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from oracle import pairs as expected_pairs

from broadphase import lab
from broadphase.cli.commands import call
from broadphase.lab.frames import TYPES, Kind
from broadphase.lab.tour import LARGEST, contents, export, picture, record, sections_of, unpack
from broadphase.lab.tour_steps import BALLS, BEST_CELL, BY_NAME, STEPS, balls, moved, places, squeezed


def content(sections, kind, lane=0):
    return next((one.content for one in sections if one.kind == kind and one.lane == lane), None)


def numbers(step, slider, lane=0, **where):
    return content(picture(BY_NAME[step], slider, **where), Kind.NUMBERS, lane)


TESTS, OVERLAPS, CELLS, SWAPS, COPIES = 0, 2, 3, 4, 6


def test_every_picture_shows_the_pairs_that_there_are(each):
    each(shows_the_pairs, [(step, k) for step in STEPS for k in range(len(step.values[:7]))], of=3)


def shows_the_pairs(step, slider):
    room = step.make(step.values[slider], 0).now
    place = (0.3 * room.width, 0.4 * room.height)
    sections = picture(step, slider, 0, place)
    centers, halves = content(sections, Kind.CENTERS), content(sections, Kind.HALVES)
    assert np.allclose(centers[0], place)
    boxes = np.hstack([room.centers, room.centers])
    boxes[0] = [*place, *place]
    boxes += room.radii[:, None] * [-1, -1, 1, 1]
    assert np.array_equal(content(sections, Kind.HITS), expected_pairs(boxes))
    assert np.allclose(halves[:, 0], room.radii)
    for lane in range(len(step.methods)):
        own = content(sections, Kind.NUMBERS, lane)
        tests = content(sections, Kind.TESTS, lane)
        if len(step.methods) == 1 and step.name != "tree":  # a tree also compares with its own boxes
            assert len(tests) == own[TESTS]


# ---- the answers that the page gives


def test_twice_the_balls_four_times_the_tests():
    assert [numbers("all", k)[TESTS] for k in (3, 6)] == [66, 276]
    assert numbers("all", 6, place=(50, 50))[TESTS] == 276


def test_above_each_other_sorting_saves_nothing():
    last = len(BY_NAME["sorted"].values) - 1
    assert numbers("sorted", 0)[TESTS] < 60
    assert numbers("sorted", last)[TESTS] == 276
    up, down = (numbers("sorted", 0, place=(200, y))[TESTS] for y in (30, 250))
    assert up == down != numbers("sorted", 0, place=(60, 30))[TESTS]


def test_a_frame_without_motion_costs_nothing_and_swaps_grow_with_the_distance():
    swaps = [numbers("kept", k)[SWAPS] for k in range(5)]
    assert swaps[0] == numbers("kept", 0)[TESTS] == 0
    assert swaps == sorted(swaps)
    assert swaps[-1] > 100


def test_the_swaps_lead_from_the_order_before_to_the_order_now():
    for slider in (1, 3, 4):
        sections = picture(BY_NAME["kept"], slider, 2, (300, 100))
        before, now = content(sections, Kind.BEFORE), content(sections, Kind.ENDS)
        items = 2 * int(now[0])
        for axis in range(2):
            row = before[1 + axis * items : 1 + (axis + 1) * items].tolist()
            for on, end, passed in content(sections, Kind.SWAPS).tolist():
                if on == axis:
                    here, there = row.index(end), row.index(passed)
                    row.insert(there, row.pop(here))
            assert row == now[1 + axis * items : 1 + (axis + 1) * items].tolist()


def test_small_cells_make_entries_large_ones_tests_and_the_minimum_is_between():
    step = BY_NAME["cells"]
    each = [numbers("cells", k) for k in range(len(step.values))]
    work = [one[TESTS] + BALLS * one[COPIES] for one in each]
    best = step.values[int(np.argmin(work))]
    assert best == BEST_CELL
    assert each[0][COPIES] > 6 * each[-1][COPIES]
    assert each[-1][TESTS] > 5 * each[0][TESTS]


def test_one_slot_compares_everybody_and_many_slots_hardly_anybody():
    tests = [numbers("slots", k)[TESTS] for k in range(len(BY_NAME["slots"].values))]
    assert tests[0] == 276
    assert max(tests[-2:]) < 40


def test_a_table_has_as_many_slots_as_the_slider_says():
    step = BY_NAME["slots"]
    for slider, value in enumerate(step.values):
        cells = content(picture(step, slider), Kind.CELLS)
        assert cells[:, 7].max() < value


def test_eight_times_the_balls_and_not_a_level_more():
    deepest = [content(picture(BY_NAME["tree"], k), Kind.NODES)[:, 4].max() for k in (2, 5)]
    assert deepest == [1, 1]


def test_a_leaf_stretches_after_the_ball_that_is_dragged():
    def leaves(place):
        nodes = content(picture(BY_NAME["tree"], 3, 0, place), Kind.NODES)
        return sorted(((nodes[:, 2] - nodes[:, 0]) * (nodes[:, 3] - nodes[:, 1]))[nodes[:, 5] == 1])

    assert leaves((30, 30)) != leaves(None)


def test_more_strips_fewer_tests_and_more_copies():
    values = BY_NAME["strips"].values
    each = [numbers("strips", k) for k in range(len(values))]
    assert [one[CELLS] for one in each] == list(values)
    assert each[0][COPIES] == 1.0
    assert each[-1][COPIES] > 2.5
    work = [one[TESTS] + BALLS * one[COPIES] for one in each]
    assert values[int(np.argmin(work))] == 5
    assert each[4][TESTS] < each[0][TESTS] / 4


def test_among_many_the_grid_tests_least():
    last = len(BY_NAME["together"].values) - 1
    sections = picture(BY_NAME["together"], last)
    tests = {
        method: content(sections, Kind.NUMBERS, lane)[TESTS]
        for lane, method in enumerate(BY_NAME["together"].methods)
    }
    assert min(tests, key=tests.__getitem__) == "uniform_grid"
    assert tests["uniform_grid"] < 1.2 * BY_NAME["together"].values[last]
    assert 0.8 < tests["uniform_grid"] / 12288 < 1, "slightly less than one per ball"
    assert tests["strips"] / tests["uniform_grid"] == pytest.approx(2, rel=0.05), "twice as many"
    assert tests["brute_force"] == 12288 * 12287 // 2


@pytest.mark.parametrize("slider", range(len(BY_NAME["together"].values[:4])))
def test_the_cells_of_the_last_step_are_those_that_an_earlier_one_found_best(slider):
    sections = picture(BY_NAME["together"], slider)
    lanes = [BY_NAME["together"].methods.index(method) for method in ("uniform_grid", "spatial_hash")]
    for lane in lanes:
        cells = content(sections, Kind.CELLS, lane)
        assert np.allclose(cells[:, 2] - cells[:, 0], BEST_CELL)


def test_the_words_say_what_is_counted():
    page = (Path(lab.__file__).parent / "page" / "index.html").read_text()
    tour = (Path(__file__).parent.parent / "docs" / "tour.md").read_text()
    one, sorted_once = numbers("strips", 0)[TESTS], numbers("sorted", 0)[TESTS]
    assert f"one strip makes {one:.0f} tests where step two made {sorted_once:.0f}" in page
    assert f"Cells are {BEST_CELL:.0f} wide, the best width of step four" in page
    assert len(BY_NAME["together"].methods) == 6
    assert "<h2>Six methods side by side</h2>" in page
    assert "to six methods side by side" in tour
    for words in ("slightly less than one per ball", "with twice as many:"):  # as the test above counts them
        assert words in page


# ---- buffers


def test_rooms_are_always_as_full_and_moved_balls_stay_inside():
    for count in (24, 96, 384):
        room = balls(count)
        share = np.square(2 * room.radii).sum() / (room.width * room.height)
        assert 0.1 < share < 0.25
        for far in (1, 50, 5000):
            gone = moved(room, far)
            assert (gone.centers >= gone.radii[:, None]).all()
            assert (gone.centers <= [room.width, room.height] - gone.radii[:, None]).all()
    assert np.ptp(squeezed(balls(24), 0.0).centers[:, 0]) == 0


# ---- recordings


def small(name, **changes):
    return replace(BY_NAME[name], places=(3, 2), **changes)


@pytest.mark.parametrize("name", [step.name for step in STEPS])
def test_a_recording_holds_what_the_engine_did(name):
    step = small(name, values=BY_NAME[name].values[:2], frames=min(BY_NAME[name].frames, 2))
    recording = record(step)
    number = 0
    for slider, frame in np.ndindex(2, step.frames):
        for place in places(step, step.make(step.values[slider], frame).now).tolist():
            wanted = sections_of(picture(step, slider, frame, tuple(place)))
            found = unpack(recording, number)
            assert {(one.kind, one.lane) for one in wanted} == {(one.kind, one.lane) for one in found}
            for one in wanted:
                reported = content(found, one.kind, one.lane).ravel()
                flat = np.ascontiguousarray(one.content, TYPES[one.kind]).ravel()
                if one.kind == Kind.NUMBERS:  # but the times, which are never twice the same
                    reported, flat = np.delete(reported, [5, 9]), np.delete(flat, [5, 9])
                assert np.array_equal(reported, flat, equal_nan=one.kind == Kind.NUMBERS)
            number += 1


def test_bytes_that_are_no_recording_are_reported():
    with pytest.raises(ValueError, match="no recording"):
        unpack(b"BPL1" + bytes(40), 0)


def test_an_export_is_the_page_and_its_recordings(tmp_path, exhaustive):
    steps = STEPS if exhaustive else (small("sorted", values=(1.0, 0.0)), small("kept", values=(0.0, 3.0)))
    seen = []
    written = export(tmp_path / "site", lambda *reported: seen.append(reported), steps)
    assert all(path.is_file() for path in written)
    assert max(path.stat().st_size for path in written) < LARGEST
    names = {path.relative_to(tmp_path / "site").as_posix() for path in written}
    assert {"index.html", "page/tour.js", "tour/steps.json", "tour/kept.bin"} <= names
    assert not any("sandbox" in name for name in names)
    reported = json.loads((tmp_path / "site/tour/steps.json").read_text())
    assert reported == json.loads(json.dumps(contents(recorded=True, steps=steps)))
    assert seen[-1][1] == seen[-1][2]


def test_a_folder_that_is_a_file_is_reported(tmp_path, capsys):
    there = tmp_path / "site"
    there.write_text("")
    assert call(["lab", "--export", str(there)]) == 2
    assert "is a file; name a folder" in capsys.readouterr().err
    assert there.read_text() == ""
