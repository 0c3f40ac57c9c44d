"""The command ``broadphase``; also ``python -m broadphase``.

Exit codes: 0 done; 1 the methods of the demo or the contestants of the bench disagree; 2 the input or the
options cannot be used, or something is missing; 130 interrupted; 141 the output was closed.
"""

import os
import sys
from collections.abc import Sequence

from broadphase.cli.terminal import INTERRUPTED, NO_READER, complain
from broadphase.errors import FileError, MissingExtraError


def main() -> None:
    """Run the command with the arguments of the process."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command with ``arguments`` and return its exit code; an error is one line on stderr."""
    try:
        from broadphase.cli.commands import call

        code = call(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return NO_READER
    except OSError as error:
        return complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("cyclopts", "rich"):
            raise
        return complain(
            f"the command needs {package}; install it with: python -m pip install 'broadphase[cli]'"
        )
    except (FileError, MissingExtraError) as error:
        return complain(str(error))
    except MemoryError:
        return complain("memory is too small for all pairs; --count counts them without storing them")
    except KeyboardInterrupt:
        return complain("interrupted", INTERRUPTED)
    return code


def _drop_output() -> None:
    """Discard the remaining output, so that the interpreter does not complain when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
