"""Makes a failing scenario smaller, as long as it fails: fewer threads, fewer calls, fewer of them at once, simpler
arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import attrs

from dpor.scenarios.operations import Call
from dpor.scenarios.sizes import Calls, Scenario, canonical


def shrunk(scenario: Scenario, fails: Callable[[Scenario], bool], calls: Sequence[Call]) -> Scenario:
    """Return the smallest scenario that is found to fail. `calls`: all calls that there are, the simplest first."""
    tried: set[object] = set()
    while True:
        for smaller in _smaller(scenario, calls):
            form = canonical(smaller)
            if form not in tried:
                tried.add(form)
                if fails(smaller):
                    scenario = smaller
                    break
        else:
            return scenario


def _smaller(scenario: Scenario, calls: Sequence[Call]) -> Iterator[Scenario]:
    """Yield scenarios that are a step smaller, the largest steps first."""
    if scenario.end:
        yield attrs.evolve(scenario, end=())
        half = len(scenario.end) // 2
        if half:
            yield attrs.evolve(scenario, end=scenario.end[:half])
            yield attrs.evolve(scenario, end=scenario.end[half:])
    if len(scenario.threads) > 2:
        for number in range(len(scenario.threads)):
            yield _with_thread(scenario, number, ())
    for number, made in enumerate(scenario.threads):
        if len(made) > 1:
            for fewer in _without_one(made):
                yield _with_thread(scenario, number, fewer)
    for fewer in _without_one(scenario.beginning):
        yield attrs.evolve(scenario, beginning=fewer)
    for fewer in _without_one(scenario.end):
        yield attrs.evolve(scenario, end=fewer)
    for number, made in enumerate(scenario.threads):
        if len(made) > 1 or len(scenario.threads) > 2:
            first = _with_thread(scenario, number, made[1:])
            yield attrs.evolve(first, beginning=(*scenario.beginning, made[0]))
            last = _with_thread(scenario, number, made[:-1])
            yield attrs.evolve(last, end=(made[-1], *scenario.end))
    yield from _simpler_arguments(scenario, calls)


def _with_thread(scenario: Scenario, number: int, calls: Calls) -> Scenario:
    """Return the scenario in which this thread makes other calls, or is not there if it makes none."""
    threads = (*scenario.threads[:number], calls, *scenario.threads[number + 1 :])
    return attrs.evolve(scenario, threads=tuple(made for made in threads if made))


def _without_one(calls: Calls) -> Iterator[Calls]:
    """Yield the calls without each of them, the last first."""
    for place in reversed(range(len(calls))):
        yield (*calls[:place], *calls[place + 1 :])


def _simpler_arguments(scenario: Scenario, calls: Sequence[Call]) -> Iterator[Scenario]:
    """Yield the scenario with simpler arguments in one call, of the kind that `calls` has before those in it."""
    for place, call in enumerate(scenario.calls):
        for simpler in calls:
            if simpler.key == call.key:
                break
            if simpler.method == call.method:
                yield _replaced(scenario, place, simpler)


def _replaced(scenario: Scenario, place: int, call: Call) -> Scenario:
    calls = iter([*scenario.calls[:place], call, *scenario.calls[place + 1 :]])
    beginning, *threads, end = (
        tuple(next(calls) for _ in part) for part in (scenario.beginning, *scenario.threads, scenario.end)
    )
    return Scenario(beginning, tuple(threads), end)
