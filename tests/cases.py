"""How much of a product each size of the suite takes: of loops, of parameters and of Hypothesis' examples."""

from collections import defaultdict
from itertools import combinations

from hypothesis import HealthCheck, settings

_EXHAUSTIVE = 60


class Each:
    """Runs a check on every case of a product, and fails once, with the names of all that failed."""

    def __init__(self, *, exhaustive):
        self.exhaustive = exhaustive
        self.count = 0

    def __call__(self, check, cases, *, of=1, turn=0):
        """Call ``check`` with every case; in the short run with every ``of``-th, beginning at ``turn``.

        A test that differs from its neighbours by a method passes the method's number as ``turn``: then
        together they see every case in the short run too.
        """
        chosen = list(cases)
        if not self.exhaustive:
            chosen = chosen[turn % of :: of]
        assert chosen, "no case"
        self.count += len(chosen)
        failed = []
        for case in chosen:
            try:
                check(*case) if isinstance(case, tuple) else check(case)
            except (
                Exception
            ) as error:  # after any error the other cases are checked, and all failures are listed
                failed.append((case, error))
        if failed:
            said = "\n".join(f"  {case}: {_in_short(error)}" for case, error in failed[:50])
            raise AssertionError(f"{len(failed)} of {len(chosen)} cases failed:\n{said}") from failed[0][1]


def _in_short(error):
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"


def covering(cases, together=1):
    """Few of the cases, in which every value of every parameter occurs.

    Each case is a dictionary from parameters to values.  With ``together=2`` every pair of values that
    occurs in the cases occurs in the chosen ones too.
    """
    wanted = [set(combinations(sorted(case.items()), min(together, len(case)))) for case in cases]
    missing, chosen = set().union(*wanted), []
    while missing:
        best = max(range(len(cases)), key=lambda k: len(wanted[k] & missing))  # of equals the first
        chosen.append(best)
        missing -= wanted[best]
    return [cases[k] for k in sorted(chosen)]


def beyond_the_covering(items):
    """What the short run leaves out of pytest's items that are marked `covering` and have parameters."""
    families = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("covering")
        if mark and hasattr(item, "callspec"):
            families[item.parent.nodeid, item.originalname, mark.kwargs.get("together", 1)].append(item)
    left_out = []
    for (*_, together), family in families.items():
        # Values need no order and no hash: all cases hold the same objects.
        cases = [{name: id(value) for name, value in item.callspec.params.items()} for item in family]
        kept = set(map(id, covering(cases, together)))
        left_out += [item for item, case in zip(family, cases, strict=True) if id(case) not in kept]
    return left_out


def is_of_one_size(item):
    """Whether one of pytest's items does the same in both runs."""
    asks = {"each", "exhaustive"} & set(getattr(item, "fixturenames", ()))
    counts = {"examples", "machine_settings"} & set(vars(getattr(item, "module", item)))
    return not (asks or counts or getattr(item.obj, "is_hypothesis_test", False))


def examples(number):
    """As many examples in the exhaustive run, fewer in the short one, more with ``explore``."""
    return max(1, number * settings.default.max_examples // _EXHAUSTIVE)


def machine_settings(number, steps):
    """For a stateful test: so many examples in the exhaustive run, each of so many steps."""
    return settings(
        max_examples=examples(number),
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
