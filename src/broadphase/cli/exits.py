"""How the command ends: exit codes, and the one line that says why."""

import sys

CANNOT = 2
INTERRUPTED = 130
NO_READER = 141


def complain(message: str, code: int = CANNOT) -> int:
    """Say in one line on stderr what is wrong, and return the exit code."""
    if sys.stderr is not None:
        print(f"broadphase: {message}", file=sys.stderr)
    return code
