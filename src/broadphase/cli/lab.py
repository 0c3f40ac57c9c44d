"""``broadphase lab``: the page on which the methods can be watched at work."""

import errno
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
