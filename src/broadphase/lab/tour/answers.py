"""The tour on the live engine: every picture is made when it is asked for, whatever was slid and dragged."""

import asyncio
import math

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from broadphase.lab.frames import encode
from broadphase.lab.tour.export import contents
from broadphase.lab.tour.pictures import picture
from broadphase.lab.tour.steps import BY_NAME

_FARTHEST = 1e6
# More would only wait for each other: a picture is a millisecond of Python.
_AT_ONCE = asyncio.Semaphore(2)


async def tell(request: Request) -> Response:
    """What there is to be seen: the steps, their sliders, frames and places."""
    return JSONResponse(contents(recorded=False))


async def answer(request: Request) -> Response:
    """One picture, as a frame: ``?step=all&slider=2&frame=0&x=240&y=150&timed=1``."""
    asked = request.query_params
    step = BY_NAME.get(asked.get("step", ""))
    if step is None:
        return Response(f"step must be one of {', '.join(BY_NAME)}\n", 400)
    try:
        slider = _whole(asked.get("slider", "0"), len(step.values), "slider")
        frame = _whole(asked.get("frame", "0"), step.frames, "frame")
        place = None
        if "x" in asked:
            place = _number(asked["x"], "x"), _number(asked.get("y", ""), "y")
    except ValueError as error:
        return Response(f"{error}\n", 400)
    async with _AT_ONCE:
        sections = await asyncio.to_thread(
            picture, step, slider, frame, place, timed=asked.get("timed") == "1"
        )
    return Response(encode(0, frame, 0, sections), media_type="application/octet-stream")


def _whole(text: str, end: int, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) < end):
        raise ValueError(f"{name} must be a whole number from 0 to {end - 1}; got {text[:20]!r}")
    return int(text)


def _number(text: str, name: str) -> float:
    try:
        value = float(text[:40])
    except ValueError:
        value = math.nan
    if not abs(value) <= _FARTHEST:
        raise ValueError(f"{name} must be a number up to {_FARTHEST:g}; got {text[:20]!r}")
    return value
