"""The tour: what each method does, step by step, in a browser.

``broadphase tour`` opens it.  All of it is the folder ``page``, HTML, CSS and JavaScript, which any web
server can serve, at any path of a site.
"""

import argparse
import errno
import sys
import webbrowser
from collections.abc import Sequence
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from typing import Any, NoReturn

from broadphase.errors import FileError

FOLDER = Path(__file__).with_name("page")
"""The folder with the page."""

HOST, _PORT = "127.0.0.1", 8008
_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"


# Named here, since Windows reads them from its registry, where .js may be plain text.
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


class Server(ThreadingTCPServer):
    """Serves the folder on this machine; port 0 takes any that is free.

    It is no ``HTTPServer``, which asks for the name of the machine first: that takes half a minute on some.
    """

    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"  # where it would let two servers have one port

    def __init__(self, port: int) -> None:
        super().__init__((HOST, port), _Handler)

    @property
    def address(self) -> str:
        """What a browser asks for."""
        return f"http://{HOST}:{self.server_address[1]}/"


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = _KINDS

    def __init__(self, *connection: Any) -> None:
        super().__init__(*connection, directory=str(FOLDER))

    def end_headers(self) -> None:
        """Nothing is loaded from other machines, and an old page is not shown after an update."""
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *what: object) -> None:
        """Write nothing."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise in place of printing the usage too."""
        raise FileError(f"{message}. See: broadphase tour --help")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535; got {text!r}")
    return int(text)


def main(arguments: Sequence[str]) -> int:
    """Run ``broadphase tour`` with these arguments until it is interrupted.

    The parser is that of the standard library, so that the tour needs no extra.
    """
    parser = _Parser(
        prog="broadphase tour",
        description="Open the tour of the methods in a browser; only this machine can reach it.",
    )
    parser.add_argument(
        "--port", type=_port, default=_PORT, help="0 takes any that is free (default: %(default)s)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address and open nothing")
    try:
        options = parser.parse_args(arguments)
    except SystemExit as asked:  # --help
        return int(asked.code or 0)
    try:
        server = Server(options.port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise FileError(
                f"port {options.port} is in use; choose another with --port, or 0 for any"
            ) from None
        if error.errno == errno.EACCES:
            raise FileError(f"port {options.port} needs more rights; choose one above 1023") from None
        raise
    with server:
        print(f"The tour is at {server.address}  (Ctrl-C ends it)", flush=True)
        if not options.no_browser:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0
