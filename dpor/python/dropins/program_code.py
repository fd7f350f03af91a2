"""Helpers that are instrumented like the program's own code, because they work on what the program gives them.

The file is not imported but loaded by `from_threading`, as a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextvars import Context
from typing import Any


def call_target(target: Callable[..., Any], args: Iterable[Any], kwargs: Mapping[str, Any]) -> None:
    """Call the target of a `Thread` whose arguments are in a list or a dict, which other threads may change."""
    target(*args, **kwargs)


def run_in(context: Context, body: Callable[[], None]) -> None:
    """Run the body of a `Thread` that was given a context, in which other threads may run as well."""
    context.run(body)


def result_of(exception: BaseException | None, result: Any) -> Any:
    """Return the result of a `Future`, or raise its exception, which other threads may raise, too."""
    if exception is None:
        return result
    try:
        raise exception
    finally:
        del exception


def call_back(callbacks: Iterable[Callable[[Any], object]], future: Any, message: str, logger: Any) -> None:
    """Call what was given to a `Future` to be called when it is done."""
    for callback in callbacks:
        try:
            callback(future)
        except Exception:
            logger.exception(message, future)


def distinct(futures: Iterable[Any]) -> set[Any]:
    """Return the set of what `wait` is given, which may be any iterable."""
    return set(futures)


def as_completed(
    fs: Iterable[Any],
    timeout: float | None,
    monotonic: Callable[[], float],
    already: Callable[[set[Any]], set[Any]],
    following: Callable[[set[Any], float | None], list[Any]],
) -> Generator[Any]:
    """Yield the futures as they complete. `already` returns those that have, `following` waits for more."""
    if timeout is not None:
        end_time = timeout + monotonic()
    fs = set(fs)
    total = len(fs)
    finished = already(fs)
    pending = fs - finished
    for future in reversed(list(finished)):
        yield future
    while pending:
        wait_timeout = None if timeout is None else end_time - monotonic()
        if wait_timeout is not None and wait_timeout < 0:
            raise TimeoutError(f"{len(pending)} (of {total}) futures unfinished")
        for future in following(pending, wait_timeout):
            pending.remove(future)
            yield future


def run_task(future: Any, function: Callable[..., Any], args: Iterable[Any], kwargs: Mapping[str, Any]) -> None:
    """Do what a thread of a pool does with a task."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
