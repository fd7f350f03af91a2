"""Scenarios by size: small ones first, and those that are alike once.

Two scenarios are alike if they differ in which thread makes which calls, or in the names of arguments
(`dpor.scenarios.operations`). Of these the first in a fixed order stands for all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import comb
from random import Random
from typing import Final

import attrs

from dpor.core.plural import plural
from dpor.scenarios.operations import Call

Calls = tuple[Call, ...]
_TRIES: Final = 20
"""How often a scenario is drawn again, for each that is wanted, because it is alike to one before."""


@attrs.frozen
class Scenario:
    """Calls in the main thread, then in several at once, then in the main thread again."""

    beginning: Calls
    threads: tuple[Calls, ...]
    end: Calls = ()

    @property
    def size(self) -> Size:
        return Size(len(self.beginning), tuple(map(len, self.threads)))

    @property
    def calls(self) -> Calls:
        """All calls, thread by thread."""
        return (*self.beginning, *itertools.chain(*self.threads), *self.end)

    def __str__(self) -> str:
        threads = " || ".join("; ".join(map(str, calls)) for calls in self.threads)
        around = ["; ".join(map(str, calls)) for calls in (self.beginning, self.end)]
        return " -> ".join(part for part in (around[0], threads, around[1]) if part)


@attrs.frozen
class Size:
    """How many calls a scenario has: at the beginning, and in each thread, most first."""

    beginning: int
    threads: tuple[int, ...]

    @property
    def total(self) -> int:
        return self.beginning + sum(self.threads)

    def __str__(self) -> str:
        calls = [plural(n, "call") for n in dict.fromkeys(self.threads)]
        if len(calls) == 1:
            text = f"{len(self.threads)} threads with {calls[0]}"
        else:
            text = f"threads with {', '.join(map(str, self.threads[:-1]))} and {plural(self.threads[-1], 'call')}"
        return f"{text} after {plural(self.beginning, 'call')}" if self.beginning else text

    def count(self, calls: int) -> int:
        """Return how many scenarios of so many different calls there are at most, with exchanged threads once."""
        number: int = calls**self.beginning
        for length, group in self._groups():
            number *= comb(calls**length + group - 1, group)
        return number

    def _groups(self) -> list[tuple[int, int]]:
        """Return each length of threads, with how many there are of it."""
        return [(length, len([*group])) for length, group in itertools.groupby(self.threads)]

    def all(self, calls: Sequence[Call]) -> Iterator[Scenario]:
        """Yield every scenario of this size, alike ones once."""
        seen: set[object] = set()
        for beginning in itertools.product(calls, repeat=self.beginning):
            columns = [
                itertools.combinations_with_replacement([*itertools.product(calls, repeat=length)], number)
                for length, number in self._groups()
            ]
            scenarios = (Scenario(beginning, (*itertools.chain(*groups),)) for groups in itertools.product(*columns))
            yield from _new(scenarios, seen)

    def drawn(self, calls: Sequence[Call], number: int, seed: int) -> Iterator[Scenario]:
        """Yield so many scenarios of this size, drawn at random, alike ones once."""
        random = Random(f"{seed} {self}")

        def draw(length: int) -> Calls:
            return tuple(random.choices(calls, k=length))

        tries = (Scenario(draw(self.beginning), tuple(map(draw, self.threads))) for _ in range(_TRIES * number))
        yield from itertools.islice(_new(tries, set()), number)


def sizes(most_threads: int, most_calls: int, most_beginning: int) -> list[Size]:
    """Return all sizes, from 2 threads up, the smallest first."""
    found = [
        Size(beginning, threads)
        for beginning in range(most_beginning + 1)
        for number in range(2, most_threads + 1)
        for threads in itertools.combinations_with_replacement(range(most_calls, 0, -1), number)
    ]
    return sorted(found, key=lambda size: (size.total, len(size.threads), size.beginning, size.threads))


def _new(scenarios: Iterator[Scenario], seen: set[object]) -> Iterator[Scenario]:
    """Yield those that may be and are alike to none before."""
    for scenario in scenarios:
        if not _mixes_apart(scenario) and (form := canonical(scenario)) not in seen:
            seen.add(form)
            yield scenario


def _mixes_apart(scenario: Scenario) -> bool:
    """True if two threads make calls that are to be kept apart."""
    words = [{call.apart for call in calls} - {None} for calls in scenario.threads]
    return any(one & other for one, other in itertools.combinations(words, 2))


def canonical(scenario: Scenario) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return a form that alike scenarios share."""
    return min(_form(scenario, threads) for threads in itertools.permutations(scenario.threads))


def _form(scenario: Scenario, threads: Sequence[Calls]) -> tuple[tuple[tuple[str, str], ...], ...]:
    names: dict[str, str] = {}
    parts = (scenario.beginning, *threads, scenario.end)
    return tuple(tuple(call.renamed(names).key for call in calls) for calls in parts)
