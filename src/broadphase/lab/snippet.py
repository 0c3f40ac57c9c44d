"""The Python program that does what the page shows and prints the same numbers."""

from broadphase.lab.lanes import Lane
from broadphase.lab.messages import FILE, REPLAY, Setup
from broadphase.lab.scenes import Scene


def snippet(setup: Setup, scene: Scene, lanes: list[tuple[Lane, int]], file_name: str) -> str:
    """A program for the scene and its methods at this frame.

    Parameters
    ----------
    setup : Setup
        What is shown.
    scene : Scene
        In its current frame.
    lanes : list of (Lane, int)
        Each lane with the frame in which its index was made.
    file_name : str
        The name of the file, if the scene is one.
    """
    lines = ["import broadphase as bp"]
    if setup.scene == REPLAY:
        lines += ["from broadphase.recording.following import Follower", ""]
        lines += [f"recording = bp.Recording({file_name!r})"]
    elif setup.scene == FILE:
        lines += ["", f"boxes = bp.files.read_boxes({file_name!r}).boxes"]
        lines += ["boxes = boxes[:, [0, 1, 3, 4]] if boxes.shape[1] == 6 else boxes"]
    else:
        lines += ["from broadphase.lab.scenes import make_scene"]
    if scene.touched:
        lines += ["", "# A body was dragged on the page; these lines do not repeat that."]
    if any(lane.cut is not None or lane.is_patient for lane, _ in lanes):
        lines += ["import broadphase.lab.lanes"]
    for lane, born in lanes:
        if setup.scene == REPLAY:
            lines += ["", *_replayed(scene, lane, born)]
        else:
            made = _searched(lane, "boxes") if setup.scene == FILE else _moving(setup, scene, lane, born)
            lines += ["", *made, "print(index.stats)"]
    return "\n".join(lines) + "\n"


def _replayed(scene: Scene, lane: Lane, born: int) -> list[str]:
    return [
        f"follower = Follower({lane.method!r}, recording{_options(lane)})",
        f"for frame in recording.frames({min(born, scene.frame)}, {scene.frame + 1}):",
        "    ran = follower.run(frame)",
        "print(ran.stats)",
    ]


def _moving(setup: Setup, scene: Scene, lane: Lane, born: int) -> list[str]:
    lines = [f"scene = make_scene({setup.scene!r}, count={setup.count}, seed={setup.seed})"]
    if born:
        lines += [f"for _ in range({born}):", "    scene.step()"]
    lines += _searched(lane, "scene.boxes(), static=scene.static")
    if scene.frame > born:
        lines += [
            f"for _ in range({scene.frame - born}):",
            "    scene.step()",
            *("    " + line for line in [*_update(scene, lane), *_cut(lane)]),
            "    pairs = index.pairs()",
        ]
    return lines


def _searched(lane: Lane, inserted: str) -> list[str]:
    return [
        f"index = bp.make_index({lane.method!r}{_options(lane)})",
        f"index.insert_many({inserted})",
        *_cut(lane),
        "pairs = index.pairs()",
    ]


def _cut(lane: Lane) -> list[str]:
    if lane.cut is None:
        return []
    return [f"broadphase.lab.lanes.cut_into(index, {lane.cut}, index.boxes)"]


def _update(scene: Scene, lane: Lane) -> list[str]:
    if lane.is_patient:
        return [
            "moved = (scene.boxes() != index.boxes).any(axis=1)",
            "# A few at a time, so that ends are swapped; many at once would be sorted from scratch.",
            "broadphase.lab.lanes.move_patiently(index, index.ids[moved], scene.boxes()[moved])",
        ]
    if not scene.static.any():
        return ["index.update(scene.boxes())"]
    return [
        "moved = (scene.boxes() != index.boxes).any(axis=1)",
        "index.move_many(index.ids[moved], scene.boxes()[moved])",
    ]


def _options(lane: Lane) -> str:
    return "".join(f", {name}={value!r}" for name, value in lane.options.items())
