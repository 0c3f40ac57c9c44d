"""The server of the lab: its pages and their parts, one WebSocket per tab, and uploads.

It serves the machine that it runs on.  Every request must name this server as its host, and every socket and
upload must come from a page of this server (`Guard`), so that no other page that is open in the browser can
reach it under any name.  The page may not load anything from elsewhere.
"""

import asyncio
import contextlib
import ipaddress
import json
import logging
import socket
import sys
import time
import webbrowser
from collections.abc import AsyncIterator
from importlib.resources import files as resource_files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from broadphase.errors import FileError
from broadphase.lab.messages import FILE, LONGEST, METHODS, MOST_LANES, REPLAY, BadMessage, parse
from broadphase.lab.replays import Named
from broadphase.lab.scenes import FEWEST, MOST, SCENES
from broadphase.lab.session import Quota, Session
from broadphase.lab.uploads import LARGEST, Uploads, endings
from broadphase.recording.reader import Recording

log = logging.getLogger("broadphase.lab")

MOST_SESSIONS = 12
# Uploads at a time: each is held in memory and read by a process of its own.
MOST_READ = 3
# A longer message ends the connection before it is read completely.
LARGEST_MESSAGE = 16 * LONGEST
# Messages per second, and how many in a burst.
RATE, BURST = 240.0, 480.0
# Seconds; a page that acknowledges nothing for longer has stopped reading.
SILENCE = 30.0
# Seconds; a connection on which nothing happens twice as long is closed.
PATIENCE = 10.0
_OUTBOX = 64
_MOST_DRAINED = 8 * LARGEST

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


_PAGES = {"/": "index.html", "/sandbox": "sandbox.html"}


class Guard:
    """Accepts only requests that name this server, and from other pages only plain GET requests.

    Parameters
    ----------
    app : ASGI application
        The application to guard.
    host : str
        The name that the server was given; ``localhost`` and bare addresses are always accepted, because a
        foreign page cannot have them as its own name.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._names = {host.lower(), "localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        problem = self._problem(scope)
        if problem:
            log.warning("refused: %s", problem)
            await self._refuse(scope, receive, send, problem)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        await self._app(scope, receive, with_headers)

    def _problem(self, scope: Scope) -> str:
        headers = [(name, value.decode("latin-1")) for name, value in scope["headers"]]
        hosts = [value for name, value in headers if name == b"host"]
        origins = [value for name, value in headers if name == b"origin"]
        if len(hosts) != 1 or not self._is_mine(hosts[0]):
            return f"host {hosts[:3]!r:.80}"
        must_be_mine = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if (must_be_mine or origins) and origins != [f"http://{hosts[0]}"]:
            return f"origin {origins[:3]!r:.80}"
        return ""

    def _is_mine(self, host: str) -> bool:
        name = host.lower()
        if name.count(":") == 1 or name.startswith("["):
            name = name.rpartition(":")[0] if not name.endswith("]") else name
        name = name.strip("[]")
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self._names
        return True

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, problem: str) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "wrong host or origin"})
        else:
            await Response(f"wrong {problem.partition(' ')[0]}\n", 403)(scope, receive, send)


class Lab:
    """The state of a server: its uploads and its open sessions."""

    def __init__(self, recording: Named | None) -> None:
        self.recording = recording
        self.uploads = Uploads()
        self.quota = Quota()
        self.sessions: set[Session] = set()
        self.parts = _read_parts()
        self._reading = 0

    async def part(self, request: Request) -> Response:
        """A part of the page, from memory."""
        name = request.path_params.get("name") or _PAGES[request.url.path]
        if name not in self.parts:
            return Response("not found\n", 404)
        kind = _KINDS["." + name.rpartition(".")[2]]
        return Response(self.parts[name], media_type=kind)

    async def replay(self, request: Request) -> Response:
        """The work of a recording from a frame on, or a frame in words: ``/replay/work?frame=64``."""
        answers = (
            {} if self.recording is None else {"work": self.recording.work, "explain": self.recording.explain}
        )
        answer = answers.get(request.path_params["what"])
        if self.recording is None or answer is None:
            return Response("not found\n", 404)
        try:
            frame = _whole(request.query_params.get("frame", ""), len(self.recording.recording), "frame")
        except ValueError as error:
            return Response(f"{error}\n", 400)
        async with _AT_ONCE:
            return JSONResponse(await asyncio.to_thread(answer, frame))

    async def upload(self, request: Request) -> Response:
        """Accept a file of boxes; the answer has the token by which a scene finds them."""
        if self._reading >= MOST_READ:
            return JSONResponse({"error": "other files are being read; try again in a moment"}, 503)
        self._reading += 1
        try:
            return await self._read_upload(request)
        finally:
            self._reading -= 1

    async def _read_upload(self, request: Request) -> Response:
        try:
            async with asyncio.timeout(SILENCE):
                content = await _content(request)
        except (ClientDisconnect, TimeoutError):
            return JSONResponse({"error": "the file did not arrive completely"}, 400)
        if content is None:
            return JSONResponse({"error": f"the file is larger than {LARGEST >> 20} MB"}, 413)
        name = request.query_params.get("name", "")[:200]
        try:
            token, upload = await asyncio.to_thread(self.uploads.add, name, content)
        except FileError as error:
            log.warning("upload refused: %.200s", error)
            return JSONResponse({"error": str(error)[:400]}, 400)
        except Exception:
            log.exception("upload failed")
            return JSONResponse({"error": "the file could not be read"}, 400)
        return JSONResponse(
            {"token": token, "name": upload.name, "count": len(upload.boxes), "note": upload.note}
        )

    async def live(self, websocket: WebSocket) -> None:
        """Serve one tab."""
        await websocket.accept()
        if len(self.sessions) >= MOST_SESSIONS:
            await websocket.close(1013, "too many tabs are open")
            return
        connection = Connection(websocket, self.uploads, self.quota, self.recording)
        self.sessions.add(connection.session)
        try:
            await connection.run()
        finally:
            self.sessions.discard(connection.session)
            connection.session.close()

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """End the sessions when the server ends."""
        yield
        self.uploads.close()
        for session in list(self.sessions):
            session.close()


class Connection:
    """The socket of a tab and its session."""

    def __init__(self, websocket: WebSocket, uploads: Uploads, quota: Quota, recording: Named | None) -> None:
        self._socket = websocket
        self._loop = asyncio.get_running_loop()
        self._outbox: asyncio.Queue[bytes | str] = asyncio.Queue(_OUTBOX)
        self._recording = recording
        self.session = Session(self._send, uploads, quota, recording)
        self._tokens, self._filled = BURST, time.monotonic()
        self._complained = 0.0

    def _send(self, item: bytes | str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._put, item)

    def _put(self, item: bytes | str) -> None:
        # The mailbox allows two frames; texts that do not fit into the queue are dropped.
        with contextlib.suppress(asyncio.QueueFull):
            self._outbox.put_nowait(item)

    async def run(self) -> None:
        """Serve until the page leaves or stops reading."""
        self._put(json.dumps(_hello(self._recording)))
        self.session.start()
        tasks = [asyncio.create_task(part()) for part in (self._receive, self._deliver, self._watch)]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            for result in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect):
                    log.warning("a connection ended with %r", result)

    async def _deliver(self) -> None:
        while True:
            item = await self._outbox.get()
            if isinstance(item, bytes):
                await self._socket.send_bytes(item)
                self.session.mail.has_left()
            else:
                await self._socket.send_text(item)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(SILENCE / 6)
            since = self.session.mail.idle_since()
            if since is not None and time.monotonic() - since > SILENCE:
                log.warning("a page has stopped reading")
                return

    async def _receive(self) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if not self._may_pass():
                self._complain("too many messages; some were dropped")
                continue
            try:
                text = message.get("text")
                if text is None:
                    raise BadMessage("messages are text")
                self.session.put(parse(text))
            except BadMessage as error:
                self._complain(str(error))

    def _may_pass(self) -> bool:
        now = time.monotonic()
        self._tokens = min(BURST, self._tokens + (now - self._filled) * RATE)
        self._filled = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def _complain(self, text: str) -> None:
        """Answer, and log at most once a second."""
        self._put(json.dumps({"type": "refused", "text": text[:400]}))
        now = time.monotonic()
        if now - self._complained > 1:
            self._complained = now
            log.warning("a message was refused: %.200s", text)


async def _content(request: Request) -> bytearray | None:
    """The body of a request; None if it is larger than a file may be."""
    content, size = bytearray(), 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= LARGEST:
            content += chunk
        elif size > _MOST_DRAINED:
            break
        else:
            content.clear()
    # The rest was read but not kept, because an answer in the middle of a request would not reach the page.
    return content if size <= LARGEST else None


def make_app(host: str, recording: Named | None = None) -> ASGIApp:
    """The application for a server that listens on ``host``."""
    lab = Lab(recording)
    routes = [
        Route("/", lab.part),
        Route("/sandbox", lab.part),
        Route("/page/{name:path}", lab.part),
        Route("/replay/{what}", lab.replay),
        Route("/upload", lab.upload, methods=["POST"]),
        WebSocketRoute("/live", lab.live),
    ]
    return Guard(Starlette(routes=routes, lifespan=lab.lifespan), host)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes any free one.

    Raises
    ------
    OSError
        The port is in use, or the host is not this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        # On Windows that would let two servers have one port.
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except BaseException:
        listening.close()
        raise
    return listening


def _patient(seconds: float) -> type[asyncio.Protocol]:
    """The protocol of a connection that is closed where nothing happens on it for so long, or twice as long.

    uvicorn waits for the rest of a request, and for a client that does not read its answer, for ever: some
    hundred such connections, and it would answer nobody.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Patient(H11Protocol):
        _look_again: asyncio.TimerHandle | None = None
        _stuck = False

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._look_again = self.loop.call_later(seconds, self._look)

        def _look(self) -> None:
            waits = self.cycle is None or self.cycle.response_complete or self.flow.write_paused
            if waits and self._stuck:
                self.transport.abort()
                return
            self._stuck = waits
            self._look_again = self.loop.call_later(seconds, self._look)

        def on_response_complete(self) -> None:
            self._stuck = False
            super().on_response_complete()

        def handle_websocket_upgrade(self, event: Any) -> None:
            self._stop_looking()
            super().handle_websocket_upgrade(event)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_looking()
            super().connection_lost(exc)

        def _stop_looking(self) -> None:
            if self._look_again is not None:
                self._look_again.cancel()

    return Patient


def serve(
    listening: socket.socket, host: str, *, browser: bool, recording: tuple[str, Recording] | None = None
) -> None:
    """Serve until interrupted; ``browser`` opens the page, which shows the recording if there is one."""
    import uvicorn

    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}/"
    if recording is not None:
        address += f"sandbox?scene={REPLAY}&methods=strips,box_tree&play=0"
    config = uvicorn.Config(
        make_app(host, None if recording is None else Named(*recording)),
        http=_patient(PATIENCE),
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        ws_max_size=LARGEST_MESSAGE,
        log_level="warning",
        timeout_graceful_shutdown=1,
        limit_concurrency=200,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            print(f"The lab is at {address} (stop it with Ctrl+C)", flush=True)
            if browser:
                await asyncio.to_thread(webbrowser.open, address)

    Server(config).run([listening])


def _hello(recording: Named | None) -> dict[str, Any]:
    scenes = [{"name": name, "title": kind.title, "about": kind.about} for name, kind in SCENES.items()]
    return {
        "type": "hello",
        "scenes": scenes if recording is None else [recording.as_scene(), *scenes],
        "replay": None if recording is None else recording.about(),
        "methods": list(METHODS),
        "file": FILE,
        "fewest": FEWEST,
        "most": MOST,
        "lanes": MOST_LANES,
        "largest_file": LARGEST,
        "endings": endings(),
    }


def _read_parts() -> dict[str, bytes]:
    page = resource_files("broadphase.lab").joinpath("page")
    folders = {"": page, "methods/": page.joinpath("methods")}
    return {
        folder + entry.name: entry.read_bytes()
        for folder, entries in folders.items()
        for entry in entries.iterdir()
        if "." + entry.name.rpartition(".")[2] in _KINDS
    }


# More would only wait for each other.
_AT_ONCE = asyncio.Semaphore(2)


def _whole(text: str, end: int, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) < end):
        raise ValueError(f"{name} must be a whole number from 0 to {end - 1}; got {text[:20]!r}")
    return int(text)
