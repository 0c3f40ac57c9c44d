"""The command ``broadphase``; also ``python -m broadphase``.

Exit codes: 0 done; 1 the methods of the demo, the contestants of the bench or the trials of the doctor
disagree; 2 the input or the options cannot be used, or something is missing; 130 interrupted; 141 the output
was closed.
"""

import errno
import io
import os
import sys
from collections.abc import Sequence

from broadphase.cli.terminal import INTERRUPTED, NO_READER, complain
from broadphase.errors import FileError, MissingExtraError


def main() -> None:
    """Run the command with the arguments of the process."""
    # Names of files and tags may hold any letters; on Windows a file or pipe has the 256 of its code page.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command with ``arguments`` and return its exit code; an error is one line on stderr."""
    try:
        if arguments[:1] == ["tour"]:  # which works without the extra
            from broadphase.tour import main as tour

            code = tour(arguments[1:])
        else:
            from broadphase.cli.commands import call

            code = call(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        if _is_closed_pipe(error):
            _drop_output()
            return NO_READER
        return complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("cyclopts", "rich"):
            raise
        return complain(
            f'the command needs {package}; install it with: python -m pip install "broadphase[cli]"'
        )
    except (FileError, MissingExtraError) as error:
        return complain(str(error))
    except MemoryError:
        return complain("memory is too small for all pairs; --count counts them without storing them")
    except KeyboardInterrupt:
        return complain("interrupted", INTERRUPTED)
    return code


def _is_closed_pipe(error: OSError) -> bool:
    """Whether the reader of the output is gone; Windows reports that as an invalid argument."""
    is_wrong = sys.platform == "win32" and error.errno == errno.EINVAL and error.filename is None
    return is_wrong or isinstance(error, BrokenPipeError)


def _drop_output() -> None:
    """Discard the remaining output, so that the interpreter does not complain when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
