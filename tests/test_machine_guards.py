"""What compiled kernels do with arguments that they were not made for: never a crash."""

import pytest
from test_no_warm_up import run

from broadphase.kernels.machine.mode import PLAIN

pytestmark = pytest.mark.skipif(PLAIN, reason="is about compiled kernels")


def test_no_kernel_takes_what_it_was_not_made_for(exhaustive):
    """In the short run each kernel as it was compiled for one line of its types."""
    refused = run(f"import builtin_guards; builtin_guards.refuse_what_is_wrong({exhaustive})")
    assert int(refused) > (100_000 if exhaustive else 10_000)
