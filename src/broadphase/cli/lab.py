"""``broadphase lab``: the page on which the methods can be watched at work."""

import errno
from pathlib import Path
from typing import TYPE_CHECKING

from broadphase.cli.exits import complain
from broadphase.extras import need

if TYPE_CHECKING:
    from broadphase.recording.reader import Recording


def lab(host: str, port: int, browser: bool, *, recording: "tuple[str, Recording] | None" = None) -> int:
    """Serve until interrupted; what keeps it from serving is told in one line."""
    for module in ("starlette", "uvicorn", "websockets"):
        need(module, extra="lab", purpose="the lab")
    from broadphase.lab.server import listen, serve

    try:
        listening = listen(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return complain(f"port {port} is in use; choose another with --port, or 0 for any that is free")
        if error.errno == errno.EACCES:
            return complain(f"port {port} is not ours to take; choose one above 1023 with --port")
        return complain(f"{host} is no address of this machine ({error.strerror or error})")
    with listening:
        serve(listening, host, browser=browser, recording=recording)
    return 0


def export_tour(folder: Path) -> int:
    """Write the tour as files that any web server can serve."""
    from broadphase.lab.tour.export import export

    if folder.exists() and not folder.is_dir():
        return complain(f"{folder} is a file; name a folder for the tour")
    from broadphase.cli.progress import Steps

    with Steps() as steps:
        reports = {}

        def report(step: str, done: int, total: int) -> None:
            if step not in reports:
                reports[step] = steps.step(f"Recording {step}")
            reports[step](done, total)

        try:
            written = export(folder, report)
        except OSError as error:
            return complain(f"{folder}: cannot be written ({error.strerror or error})")
    size = sum(path.stat().st_size for path in written)
    print(f"{len(written)} files, {size / 1e6:.1f} MB in {folder}")
    print(f"To look at it: python -m http.server --directory {folder}")
    return 0
