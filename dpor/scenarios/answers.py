"""What calls may answer: the answers of an object that is called in one thread, in every order that a scenario allows.

An order may come to a call that never returns because it waits for something that only other threads could do. As one
call after another such an order does not exist. If every order of a scenario comes to a point at which each next call
would wait, the scenario is *stuck*: concurrent calls may then wait for ever, too.

The answers are kept as a tree of calls, since scenarios begin alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import attrs

from dpor.core.errors import NotDeterministic
from dpor.python.specs.frozen_values import freeze
from dpor.python.specs.known_answers import KnownAnswers, answer_in_words
from dpor.python.specs.linearizing import RecordedCall
from dpor.scenarios.operations import Call
from dpor.scenarios.sizes import Scenario

Answer: TypeAlias = Hashable
Ask: TypeAlias = Callable[[Sequence[Call]], Sequence[Answer]]
"""Calls a new object, one call after another, and returns the answers, up to the first call that waits for ever."""

WAITS: Final = ("waits",)
"""Stands for the answer to a call that waits for ever."""
MOST_ORDERS: Final = 2_000
"""Orders of one scenario; those of a scenario with more are not asked for."""


@attrs.define(eq=False)
class Node:
    """Where some calls have led: the answer to the last of them, and the nodes of the next calls, by their keys."""

    answer: Answer = None
    next: dict[tuple[str, Hashable], Node] = attrs.field(factory=dict)


class TooManyOrders(Exception):
    """A scenario has more orders than `MOST_ORDERS`."""


@attrs.frozen
class Orders:
    """The orders of one scenario.

    allowed   the answers in each, by the places of the calls in `Scenario.calls`
    paths     the calls in each order
    stuck     True if an order comes to where all next calls wait
    """

    allowed: frozenset[tuple[Answer, ...]]
    paths: tuple[tuple[Call, ...], ...]
    stuck: bool


class Answers:
    """The answers of one class."""

    def __init__(self, ask: Ask, name: str) -> None:
        self._ask = ask
        self._name = name
        self.root = Node()
        self.asked = 0

    def after(self, path: Sequence[Call], rest: Sequence[Call] = ()) -> Answer:
        """Return the answer to the last of these calls; ask for those to `rest` as well if any must be asked for."""
        node = self.root
        for place, call in enumerate(path):
            if node is not self.root and node.answer == WAITS:
                return WAITS
            node = self._next(node, path[:place], call, (*path[place + 1 :], *rest))
        return node.answer

    def _next(self, node: Node, path: Sequence[Call], call: Call, rest: Sequence[Call]) -> Node:
        key = key_of(call.method, call.args)
        if key not in node.next:
            self._fill((*path, call, *rest), len(path))
        return node.next[key]

    def _fill(self, calls: Sequence[Call], known: int) -> None:
        """Ask for the answers to these calls; those to the first few are known."""
        self.asked += 1
        answers = [*self._ask(calls)]
        node = self.root
        for place, answer in enumerate([*answers, WAITS][: len(calls)]):
            call = calls[place]
            key = key_of(call.method, call.args)
            found = node.next.setdefault(key, Node(answer))
            if found.answer != answer:
                before = ", ".join(map(str, calls[: place + 1]))
                raise NotDeterministic(
                    f"{self._name}: {before} in one thread ends with {_in_words(answer)}, and before with"
                    f" {_in_words(found.answer)}; give a specification"
                )
            node = found

    def orders(self, scenario: Scenario, keeps_threads: bool = True) -> Orders:
        """Go through the orders of a scenario. Raises `TooManyOrders`.

        keeps_threads   False: the calls of a thread may change their order, too
        """
        threads = scenario.threads if keeps_threads else tuple((call,) for calls in scenario.threads for call in calls)
        first = len(scenario.beginning)
        firsts = [first + sum(map(len, threads[:number])) for number in range(len(threads))]
        size = len(scenario.calls)
        allowed: set[tuple[Answer, ...]] = set()
        paths: list[tuple[Call, ...]] = []
        stuck = False

        def go(path: tuple[Call, ...], node: Node, places: tuple[int, ...], done: tuple[int, ...]) -> None:
            """Go on where these calls, which stand at these places, have led; so many calls of each thread are done."""
            nonlocal stuck
            left = [number for number, calls in enumerate(threads) if done[number] < len(calls)]
            steps = [(number, threads[number][done[number]], firsts[number] + done[number]) for number in left]
            if len(path) < first:
                steps = [(-1, scenario.beginning[len(path)], len(path))]
            elif not left and len(path) < size:
                steps = [(-1, scenario.end[len(path) - size], len(path))]
            if not steps:
                paths.append(path)
                if len(paths) > MOST_ORDERS:
                    raise TooManyOrders
                allowed.add(tuple(answer for _, answer in sorted(zip(places, self._along(path), strict=True))))
                return
            moves = False
            for number, call, place in steps:
                after = tuple(n + (i == number) for i, n in enumerate(done))
                rest = _rest(scenario, threads, after, len(path) + 1)
                found = self._next(node, path, call, rest)
                if found.answer != WAITS:
                    moves = True
                    go((*path, call), found, (*places, place), after)
            stuck = stuck or not moves

        go((), self.root, (), (0,) * len(threads))
        return Orders(frozenset(allowed), tuple(paths), stuck)

    def _along(self, path: Sequence[Call]) -> Iterator[Answer]:
        node = self.root
        for call in path:
            node = node.next[key_of(call.method, call.args)]
            yield node.answer

    def specification(self, methods: Sequence[str]) -> type[KnownAnswers]:
        """Return these answers as a specification with these methods."""
        root = self.root

        class Known(KnownAnswers):
            def __init__(self) -> None:
                self._node: Node | None = root

            def __answer__(self, call: RecordedCall) -> Answer:
                node = self._node and self._node.next.get(key_of(call.method, call.args))
                self._node = node
                return WAITS if node is None else node.answer

            def __state__(self) -> Hashable:
                return ("at", self._node)

        return type(self._name, (Known,), dict.fromkeys(methods, _stub))


def _stub(self: object, *args: object) -> None:
    """Stands for a method: its answers are known."""


def key_of(method: str, args: tuple[Any, ...]) -> tuple[str, Hashable]:
    """Equal for calls that do the same."""
    return method, freeze(args)


def _rest(scenario: Scenario, threads: Sequence[Sequence[Call]], done: Sequence[int], length: int) -> tuple[Call, ...]:
    """Return one order of the calls that are left when so many calls of each thread are done."""
    left = [call for calls, n in zip(threads, done, strict=True) for call in calls[n:]]
    first, last = len(scenario.beginning), len(scenario.calls) - len(scenario.end)
    return (*scenario.beginning[length:first], *left, *scenario.end[max(length - last, 0) :])


def _in_words(answer: Answer) -> str:
    return "a call that waits for ever" if answer == WAITS else answer_in_words(answer)
