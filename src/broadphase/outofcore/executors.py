"""Who does the tasks: threads of this process, or anything with ``submit`` as in `concurrent.futures`.

With an executor only so many tasks are handed over as its workers can soon begin, so that little is in vain
when one of them fails.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from broadphase import threads
from broadphase.numeric import whole

Result = TypeVar("Result")

_AHEAD = 2  # tasks that wait, for each that runs


def workers_of(executor: Any, workers: int | None) -> int:
    """How many tasks run at the same time.

    Raises
    ------
    TypeError
        The executor has no ``submit``, or ``workers`` is no int.
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(
            "executor must have a method submit, as those of concurrent.futures "
            f"(of Dask: client.get_executor()); got {type(executor).__name__}"
        )
    if workers is not None:
        number = whole(workers, "workers", "an int or None")
        if number < 1:
            raise ValueError(f"workers must be at least 1; got {number}")
        return number
    client = getattr(executor, "_client", None)  # of Dask
    if client is not None:
        return max(1, int(sum(client.nthreads().values())))
    return int(getattr(executor, "_max_workers", 0) or threads.cores())


def run(
    executor: Executor | None,
    workers: int,
    calls: Iterator[tuple[int, Callable[[], Result]]],
    done: Callable[[int, Result], None],
) -> None:
    """Make all calls, and tell ``done`` of each by its number; one at a time, in any order.

    What a call or ``done`` raises ends it all; calls that were handed over are cancelled or waited for.
    """
    if executor is None:
        _run_here(workers, calls, done)
    else:
        _run_there(executor, workers * _AHEAD, calls, done)


def _run_here(
    workers: int, calls: Iterator[tuple[int, Callable[[], Result]]], done: Callable[[int, Result], None]
) -> None:
    taking, telling = Lock(), Lock()
    failed: list[None] = []

    def work() -> None:
        try:
            while not failed:
                if threads.given_up():
                    raise threads.GivenUp
                with taking:
                    number, call = next(calls, (-1, None))
                if call is None:
                    return
                result = call()
                with telling:
                    done(number, result)
        except BaseException:
            failed.append(None)
            raise

    threads.run_all([work] * workers, workers)


def _run_there(
    executor: Executor,
    most: int,
    calls: Iterator[tuple[int, Callable[[], Result]]],
    done: Callable[[int, Result], None],
) -> None:
    running: dict[Future[Any], int] = {}
    try:
        while True:
            while len(running) < most and (following := next(calls, None)) is not None:
                number, call = following
                running[executor.submit(call)] = number
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done(running.pop(future), future.result())
    except BaseException as error:
        for future in running:
            future.cancel()
        if isinstance(error, Exception):  # not where somebody is waiting who pressed Ctrl-C
            wait(running)
        raise


def numbered(
    function: Callable[..., Result], tasks: Iterator[tuple[int, tuple[Any, ...]]]
) -> Iterator[tuple[int, Callable[[], Result]]]:
    """Calls of one function, each with its number."""
    return ((number, partial(function, *arguments)) for number, arguments in tasks)
