"""Arguments of a wrong type raise a TypeError that names the argument and the value."""

import numpy as np
import pytest

import broadphase as bp
from broadphase import files, plot
from broadphase.balls import BallSimulation


class Stranger:
    def __repr__(self):
        return "<stranger>"


def index():
    made = bp.BoxTree()
    made.insert_many([[0, 0, 1, 1], [0.5, 0.5, 2, 2]])
    return made


@pytest.fixture
def recording(tmp_path):
    made = index()
    with bp.Recorder(made, tmp_path / "boxes.bprec"):
        made.pairs()
    return bp.Recording(tmp_path / "boxes.bprec")


BOX = [0, 0, 1, 1]
THREE, NOTHING, TEXT, STRANGER = 3, None, "x", Stranger()
ALL = (THREE, NOTHING, TEXT, STRANGER)
NO_NUMBERS = (NOTHING, TEXT, STRANGER)
CALLS = {  # the argument, a value of a wrong type, and the call
    "index.join": ("other", ALL, lambda it: index().join(it)),
    "index.insert": ("box", NO_NUMBERS, lambda it: index().insert(it)),
    "index.insert_many": ("boxes", NO_NUMBERS, lambda it: index().insert_many(it)),
    "index.remove": ("id", NO_NUMBERS, lambda it: index().remove(it)),
    "index.remove_many": ("ids", NO_NUMBERS, lambda it: index().remove_many(it)),
    "index.move id": ("id", NO_NUMBERS, lambda it: index().move(it, BOX)),
    "index.move box": ("box", NO_NUMBERS, lambda it: index().move(0, it)),
    "index.move_many ids": ("ids", NO_NUMBERS, lambda it: index().move_many(it, [BOX])),
    "index.move_many boxes": ("boxes", NO_NUMBERS, lambda it: index().move_many([0], it)),
    "index.update": ("boxes", NO_NUMBERS, lambda it: index().update(it)),
    "index.reserve": ("n", NO_NUMBERS, lambda it: index().reserve(it)),
    "index.box": ("id", NO_NUMBERS, lambda it: index().box(it)),
    "index.query_box": ("box", NO_NUMBERS, lambda it: index().query_box(it)),
    "index.query_point": ("point", NO_NUMBERS, lambda it: index().query_point(it)),
    "index.query_radius center": ("center", NO_NUMBERS, lambda it: index().query_radius(it, 1)),
    "index.query_radius r": ("r", NO_NUMBERS, lambda it: index().query_radius([0, 0], it)),
    "index.raycast origin": ("origin", NO_NUMBERS, lambda it: index().raycast(it, [1, 0])),
    "index.raycast direction": ("direction", NO_NUMBERS, lambda it: index().raycast([0, 0], it)),
    "index.raycast max_distance": (
        "max_distance",
        NO_NUMBERS,
        lambda it: index().raycast([0, 0], [1, 0], it),
    ),
    "index.query_ray": ("max_distance", NO_NUMBERS, lambda it: index().query_ray([0, 0], [1, 0], it)),
    "index.nearest point": ("point", NO_NUMBERS, lambda it: index().nearest(it)),
    "index.nearest k": ("k", NO_NUMBERS, lambda it: index().nearest([0, 0], it)),
    "index.swept_pairs": ("boxes", NO_NUMBERS, lambda it: index().swept_pairs(it)),
    "index.save": ("path", (THREE, NOTHING, STRANGER), lambda it: index().save(it)),
    "Index.load": ("path", (THREE, NOTHING, STRANGER), lambda it: bp.Index.load(it)),
    "Recorder target": ("target", ALL, lambda it: bp.Recorder(it, "never.bprec")),
    "Recorder path": ("path", (THREE, NOTHING, STRANGER), lambda it: bp.Recorder(index(), it)),
    "Recording": ("path", (THREE, NOTHING, STRANGER), lambda it: bp.Recording(it)),
    "pairs": ("boxes", NO_NUMBERS, lambda it: bp.pairs(it)),
    "count_pairs": ("boxes", NO_NUMBERS, lambda it: bp.count_pairs(it)),
    "explain": ("boxes", NO_NUMBERS, lambda it: bp.explain(it)),
    "join a": ("a", NO_NUMBERS, lambda it: bp.join(it, [BOX])),
    "join b": ("b", NO_NUMBERS, lambda it: bp.join([BOX], it)),
    "swept_pairs": ("motion", NO_NUMBERS, lambda it: bp.swept_pairs([BOX], it)),
    "neighbors points": ("points", NO_NUMBERS, lambda it: bp.neighbors(it, 1)),
    "neighbors r": ("r", NO_NUMBERS, lambda it: bp.neighbors([[0, 0]], it)),
    "nearest points": ("points", NO_NUMBERS, lambda it: bp.nearest(it, 1)),
    "nearest k": ("k", NO_NUMBERS, lambda it: bp.nearest([[0, 0]], it)),
    "contact a": ("a", ALL, lambda it: bp.contact(it, bp.Circle(0, 0, 1))),
    "overlap b": ("b", ALL, lambda it: bp.overlap(bp.Circle(0, 0, 1), it)),
    "contact_boxes a": ("a", NO_NUMBERS, lambda it: bp.contact_boxes(it, [BOX])),
    "contact_boxes pairs": ("pairs", (TEXT, STRANGER), lambda it: bp.contact_boxes([BOX], [BOX], it)),
    "contact_circles": ("b", NO_NUMBERS, lambda it: bp.contact_circles([[0, 0, 1]], it)),
    "Box": ("width", NO_NUMBERS, lambda it: bp.Box(0, 0, it, 1)),
    "Box.from_center": ("center", ALL, lambda it: bp.Box.from_center(it, 1, 1)),
    "Box.from_center width": ("width", NO_NUMBERS, lambda it: bp.Box.from_center((0, 0), it, 1)),
    "Box.rotated": ("about", (THREE, TEXT, STRANGER), lambda it: bp.Box(0, 0, 1, 1).rotated(9, it)),
    "Box.moved_to": ("x", NO_NUMBERS, lambda it: bp.Box(0, 0, 1, 1).moved_to(it, 0)),
    "Circle.rotated": ("about", (THREE, TEXT, STRANGER), lambda it: bp.Circle(0, 0, 1).rotated(9, it)),
    "Polygon": ("points", ALL, lambda it: bp.Polygon(it)),
    "Polygon radius": ("radius", NO_NUMBERS, lambda it: bp.Polygon([(0, 0), (1, 0), (0, 1)], radius=it)),
    "Capsule": ("to_x", NO_NUMBERS, lambda it: bp.Capsule(0, 0, it, 1, 1)),
    "RoundedBox": ("radius", NO_NUMBERS, lambda it: bp.RoundedBox(0, 0, 9, 9, it)),
    "BallSimulation n": ("n", (TEXT, STRANGER), lambda it: BallSimulation(it)),
    "BallSimulation positions": ("positions", (TEXT, STRANGER), lambda it: BallSimulation(positions=it)),
    "balls.use": ("index", (THREE, NOTHING, STRANGER), lambda it: BallSimulation(2).use(it)),
    "balls.step": ("dt", NO_NUMBERS, lambda it: BallSimulation(2).step(it)),
    "read_boxes": ("path", (THREE, NOTHING, STRANGER), lambda it: files.read_boxes(it)),
    "write_pairs path": ("path", (THREE, NOTHING, STRANGER), lambda it: files.write_pairs(it, [[0, 1]])),
    "write_pairs pairs": ("pairs", ALL, lambda it: files.write_pairs("never.csv", it)),
    "write_pairs ids": ("ids", ALL, lambda it: files.write_pairs("never.csv", [[0, 1]], ids=it)),
}

WORLD_CALLS = {  # the argument, a value of a wrong type, and the call
    "World period": ("period", (STRANGER,), lambda w, it: bp.World(period=it)),
    "World broadphase": ("broadphase", (THREE, NOTHING, STRANGER), lambda w, it: bp.World(it)),
    "World max_pairs": ("max_pairs", (TEXT, STRANGER), lambda w, it: bp.World(max_pairs=it)),
    "add": ("shape", ALL, lambda w, it: w.add(it)),
    "add category": ("category", (NOTHING, STRANGER), lambda w, it: w.add(bp.Circle(0, 0, 1), category=it)),
    "add_many": ("shapes", NO_NUMBERS, lambda w, it: w.add_many(it)),
    "body": ("id", NO_NUMBERS, lambda w, it: w.body(it)),
    "remove": ("body", ALL, lambda w, it: w.remove(it)),
    "remove_many": ("bodies", (*ALL, Stranger), lambda w, it: w.remove_many(it)),
    "on a": ("a", (NOTHING,), lambda w, it: w.on(it, "b")),
    "on begin": ("begin", (THREE, TEXT, STRANGER), lambda w, it: w.on("a", "b", it)),
    "on stay": ("stay", (THREE, TEXT, STRANGER), lambda w, it: w.on("a", "b", stay=it)),
    "tiles": ("tiles", (THREE, TEXT, STRANGER), lambda w, it: setattr(w, "tiles", it)),
    "restore": ("moment", ALL, lambda w, it: w.restore(it)),
    "move body": ("body", ALL, lambda w, it: w.move(it, 1, 1)),
    "move dx": ("dx", NO_NUMBERS, lambda w, it: w.move(w.body(0), it, 1)),
    "move ignore": ("ignore", (THREE, TEXT, STRANGER), lambda w, it: w.move(w.body(0), 1, 1, ignore=it)),
    "move_many bodies": ("bodies", ALL, lambda w, it: w.move_many(it, 1, 1)),
    "move_many dy": ("dy", NO_NUMBERS, lambda w, it: w.move_many([w.body(0)], 1, it)),
    "move_all bodies": ("bodies", ALL, lambda w, it: w.move_all(it, [(0, 0)])),
    "move_all positions": ("positions", NO_NUMBERS, lambda w, it: w.move_all([w.body(0)], it)),
    "try_move": ("body", ALL, lambda w, it: w.try_move(it, 1, 1)),
    "walk": ("body", ALL, lambda w, it: w.walk(it, 1, 1)),
    "walk snap": ("snap", NO_NUMBERS, lambda w, it: w.walk(w.body(0), 1, 1, snap=it)),
    "walk down": ("down", ALL, lambda w, it: w.walk(w.body(0), 1, 1, down=it)),
    "walk_many": ("bodies", ALL, lambda w, it: w.walk_many(it, 1, 1)),
    "push": ("body", ALL, lambda w, it: w.push(it, 1, 1)),
    "push dx": ("dx", NO_NUMBERS, lambda w, it: w.push(w.body(0), it, 1)),
    "grounded": ("body", ALL, lambda w, it: w.grounded(it)),
    "grounded direction": ("direction", ALL, lambda w, it: w.grounded(w.body(0), it)),
    "blocker": ("shape", ALL, lambda w, it: w.blocker(it)),
    "resize": ("shape", ALL, lambda w, it: w.resize(w.body(0), it)),
    "try_turn": ("angle", NO_NUMBERS, lambda w, it: w.try_turn(w.body(0), it)),
    "try_turn about": ("about", (THREE, TEXT, STRANGER), lambda w, it: w.try_turn(w.body(0), 9, it)),
    "turn_many bodies": ("bodies", ALL, lambda w, it: w.turn_many(it, 1)),
    "turn_many angles": ("angles", NO_NUMBERS, lambda w, it: w.turn_many([w.body(0)], it)),
    "turn_to": ("angle", NO_NUMBERS, lambda w, it: w.body(0).turn_to(it)),
    "move_to": ("x", NO_NUMBERS, lambda w, it: w.body(0).move_to(it, 0)),
    "query_box": ("box", NO_NUMBERS, lambda w, it: w.query_box(it)),
    "query_shape": ("shape", ALL, lambda w, it: w.query_shape(it)),
    "query_point": ("point", ALL, lambda w, it: w.query_point(it)),
    "query_radius center": ("center", ALL, lambda w, it: w.query_radius(it, 1)),
    "query_radius r": ("r", NO_NUMBERS, lambda w, it: w.query_radius((0, 0), it)),
    "query_cone origin": ("origin", NO_NUMBERS, lambda w, it: w.query_cone(it, (1, 0), 90, 1)),
    "query_cone direction": ("direction", NO_NUMBERS, lambda w, it: w.query_cone((0, 0), it, 90, 1)),
    "query_cone angle": ("angle", NO_NUMBERS, lambda w, it: w.query_cone((0, 0), (1, 0), it, 1)),
    "query_cone r": ("r", NO_NUMBERS, lambda w, it: w.query_cone((0, 0), (1, 0), 90, it)),
    "shape_cast": ("shape", ALL, lambda w, it: w.shape_cast(it, 1, 1)),
    "shape_cast dx": ("dx", NO_NUMBERS, lambda w, it: w.shape_cast(bp.Circle(0, 0, 1), it, 1)),
    "move_as_one": ("bodies", ALL, lambda w, it: w.move_as_one(it, 1, 1)),
    "turn_as_one": ("by", NO_NUMBERS, lambda w, it: w.turn_as_one([w.body(0)], it)),
    "walk probe": ("probe", NO_NUMBERS, lambda w, it: w.walk(w.body(0), 1, 1, probe=it)),
    "query_box ignore": ("ignore", (THREE, TEXT, STRANGER), lambda w, it: w.query_box(BOX, ignore=it)),
    "nearest": ("point", ALL, lambda w, it: w.nearest(it)),
    "nearest k": ("k", NO_NUMBERS, lambda w, it: w.nearest((0, 0), it)),
    "nearest_many": ("point", NO_NUMBERS, lambda w, it: w.nearest([it])),
    "raycast origin": ("origin", ALL, lambda w, it: w.raycast(it, (1, 0))),
    "raycast direction": ("direction", ALL, lambda w, it: w.raycast((0, 0), it)),
    "query_ray": ("max_distance", NO_NUMBERS, lambda w, it: w.query_ray((0, 0), (1, 0), it)),
    "raycast_many": ("origin", NO_NUMBERS, lambda w, it: w.raycast(it, [(1, 0)])),
}


@pytest.mark.parametrize("called", WORLD_CALLS)
def test_worlds_refuse_it_by_name(called):
    name, wrong, call = WORLD_CALLS[called]
    world = bp.World()
    world.add(bp.Box(0, 0, 1, 1), tag="a")
    for it in wrong:
        with pytest.raises(TypeError, match=rf"\b{name}\b"):
            call(world, it)
    assert [body.bounds for body in world] == [(0, 0, 1, 1)]


@pytest.mark.parametrize("called", CALLS)
def test_it_is_refused_by_name(called, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, wrong, call = CALLS[called]
    for it in wrong:
        with pytest.raises(TypeError, match=rf"\b{name}\b"):
            call(it)
    assert list(tmp_path.iterdir()) == []


def test_frames_of_a_recording_have_numbers(recording):
    for it in NO_NUMBERS:
        with pytest.raises(TypeError, match="number must be an integer"):
            recording[it]
        with pytest.raises(TypeError, match="count must be an integer"):
            recording.slowest(it)
        with pytest.raises(TypeError, match="count must be an integer"):
            recording.busiest(it)
        with pytest.raises(TypeError, match="number must be an integer"):
            recording.explain(it)
        with pytest.raises(TypeError, match="begin must be an integer"):
            recording.frames(it, 1)
        with pytest.raises(TypeError, match="end must be an integer"):
            recording.frames(0, it)
    assert recording[np.array(0)].number == 0


def test_what_is_written_beyond_memory_has_a_path():
    outofcore = pytest.importorskip("broadphase.outofcore")
    for it in (THREE, STRANGER):
        with pytest.raises(TypeError, match="out must be a path; got"):
            outofcore.pairs([BOX], it)
        with pytest.raises(TypeError, match="work must be a path; got"):
            outofcore.pairs([BOX], work=it)
        with pytest.raises(TypeError, match="progress must be a function or None; got"):
            outofcore.count_pairs([BOX], progress=it)


def test_a_picture_has_axes_and_cells_a_size():
    pytest.importorskip("matplotlib")
    for it in (THREE, TEXT, STRANGER):
        with pytest.raises(TypeError, match="ax must be axes of Matplotlib; got"):
            plot.draw_boxes([BOX], ax=it)
    for it in NO_NUMBERS:
        with pytest.raises(TypeError, match="cell_size must be a number; got"):
            plot.draw_cells([BOX], it)
