"""Libraries that few tests use."""

import pytest


class Later:
    """A module that is imported when a test first uses it; a test that finds it missing is skipped.

    Each worker collects all tests: Mesa, lief, ASE, freud, Matplotlib and others took it two seconds.
    """

    def __init__(self, name, reason=None):
        self._name, self._reason = name, reason

    def __getattr__(self, attribute):
        if attribute.startswith("_"):  # pytest looks for these in all that a module holds
            raise AttributeError(attribute)
        module = pytest.importorskip(self._name, reason=self._reason, exc_type=ImportError)
        return getattr(module, attribute)
