"""The tour as a folder of files that any web server can serve: the page, and what the engine recorded."""

import json
from collections.abc import Callable
from importlib.resources import files as resource_files
from pathlib import Path
from typing import Any

from broadphase.lab.tour.recording import record
from broadphase.lab.tour.steps import EDGE, STEPS, Step

LARGEST = 3_000_000
"""Bytes of one step."""
# What only the sandbox needs, which needs the engine.
_OF_THE_SANDBOX = ("sandbox.html",)

Report = Callable[[str, int, int], None]


def contents(*, recorded: bool, steps: tuple[Step, ...] = STEPS) -> dict[str, Any]:
    """What the page has to know of the steps: their sliders, frames and places.

    Examples
    --------
    >>> [step["name"] for step in contents(recorded=False)["steps"]][:3]
    ['all', 'sorted', 'kept']
    """
    return {"recorded": recorded, "steps": [_told(step) for step in steps]}


def _told(step: Step) -> dict[str, Any]:
    rooms = [step.make(value, 0).now for value in step.values]
    return {
        "name": step.name,
        "methods": step.methods,
        "values": step.values,
        "start": step.start,
        "frames": step.frames,
        "rooms": [[room.width, room.height] for room in rooms],
        "places": step.places,
        "edge": EDGE,
    }


def export(folder: Path, report: Report | None = None, steps: tuple[Step, ...] = STEPS) -> list[Path]:
    """Record the tour with the engine and write it as static files.

    Parameters
    ----------
    folder : pathlib.Path
        Made if it is not there; files of the same names in it are replaced.
    report : callable, optional
        Given the name of a step, how many of its pictures are done, and how many there are.
    steps : tuple of Step
        Which ones are recorded.

    Returns
    -------
    list of pathlib.Path
        The files written.
    """
    written = []

    def write(name: str, content: bytes) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written.append(path)

    page = resource_files("broadphase.lab").joinpath("page")
    for part in sorted(page.iterdir(), key=lambda part: part.name):
        if part.is_file() and part.name not in _OF_THE_SANDBOX:
            write(part.name if part.name == "index.html" else f"page/{part.name}", part.read_bytes())
    write("tour/steps.json", json.dumps(contents(recorded=True, steps=steps)).encode())
    for step in steps:

        def told(done: int, total: int, name: str = step.name) -> None:
            if report is not None:
                report(name, done, total)

        content = record(step, told)
        if len(content) > LARGEST:
            raise AssertionError(f"the recording of {step.name} has {len(content)} bytes; at most {LARGEST}")
        write(f"tour/{step.name}.bin", content)
    return written
