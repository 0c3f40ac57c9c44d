"""One picture of the tour: the engine looks at the balls, and what it did is retold."""

from typing import Any

import numpy as np

from broadphase.lab import painting, tracing
from broadphase.lab.frames import Section
from broadphase.lab.lanes import Lane
from broadphase.lab.messages import Show
from broadphase.lab.painting import Shown
from broadphase.lab.scenes.base import Scene, Start, stand_still
from broadphase.lab.tour.room import Balls
from broadphase.lab.tour.steps import Setting, Step

# Beyond this the pictures of many methods side by side show only who touches whom.
MOST_DRAWN = 200
_SHOW = Show(tests=True, structure=True)
_BARE = Show(tests=False, structure=False)


def picture(
    step: Step, slider: int, frame: int = 0, place: tuple[float, float] | None = None, *, timed: bool = False
) -> list[Section]:
    """Everything that is seen of one state of a step.

    Parameters
    ----------
    step : Step
        One of `broadphase.lab.tour.steps.STEPS`.
    slider : int
        Which of its values.
    frame : int
        Which of its frames.
    place : tuple of float, optional
        Where the ball that can be dragged is; where it lies by itself if it is not given.
    timed : bool
        Whether to measure the time of each method.

    Examples
    --------
    >>> from broadphase.lab.frames import Kind
    >>> from broadphase.lab.tour.steps import BY_NAME
    >>> sections = picture(BY_NAME["all"], 0)
    >>> [section.content.tolist() for section in sections if section.kind == Kind.TESTS]
    [[[0, 1], [0, 2], [1, 2]]]
    """
    setting = step.make(step.values[slider], frame)
    now = _with_ball(setting.now, place)
    scene = _scene(now)
    show = _SHOW if len(now.radii) <= MOST_DRAWN or len(step.methods) == 1 else _BARE
    shown = [Shown(0, _look(method, setting, scene, show, timed)) for method in step.methods]
    return painting.sections(scene, shown, show, first=True)


def _look(method: str, setting: Setting, scene: Scene, show: Show, timed: bool) -> painting.Seen:
    boxes = scene.boxes()
    before = boxes if setting.before is None else _scene(setting.before).boxes()
    lane = Lane(method, before, scene.static, cut=setting.cut, options=_options(method, setting))
    if setting.before is not None:
        lane.run(before)  # the frame before: what it leaves behind is what this one starts from
    outcome = lane.run(boxes, remember=show.tests and tracing.needs_before(lane.index))
    if timed:
        lane.measure()
    return painting.look(lane, outcome, show)


def _options(method: str, setting: Setting) -> dict[str, Any]:
    if setting.cell_size is None or method not in ("uniform_grid", "spatial_hash"):
        return setting.options
    return {**setting.options, "cell_size": setting.cell_size}


def _with_ball(room: Balls, place: tuple[float, float] | None) -> Balls:
    if place is None:
        return room
    centers = room.centers.copy()
    reach = float(room.radii[0])
    centers[0] = (
        min(max(place[0], reach), room.width - reach),
        min(max(place[1], reach), room.height - reach),
    )
    return room._replace(centers=centers)


def _scene(room: Balls) -> Scene:
    halves = np.repeat(room.radii[:, None], 2, axis=1)
    start = Start(room.centers, halves, np.zeros_like(room.centers), (0.0, 0.0, room.width, room.height))
    return Scene(start, stand_still, is_round=True)
