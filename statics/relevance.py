"""Each access of the program, with whether it may matter to another thread as far as the analyses can decide.

This asks for all points at once what a search asks at one of them (`Facts.accesses_from`), so the threads' stacks are
not known: a thread may be anywhere in what it runs, and threads that were started may all be running.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from dpor.statics import ir
from dpor.statics.accesses import Access
from dpor.statics.call_graph import NATIVE, How, Site
from dpor.statics.facts import Facts
from dpor.statics.field_access import Phase, Precision
from dpor.statics.solver import members

OUTSIDE = "code outside the program"


class Label(StrEnum):
    """The result for an access; if several threads make it, or several contexts, the last that applies."""

    IMMUTABLE = "immutable"
    """A read of a field that nothing writes once its object may have escaped."""
    LOCAL = "thread-local"
    """No other thread can make a conflicting access."""
    RELEVANT = "relevant"


class Judged(NamedTuple):
    """An access at its place in the source: `access` as the pointer setting shows it, `function` by qualified name."""

    path: str
    position: ir.Position
    function: str
    access: Access
    label: Label
    why: str


class _Thread(NamedTuple):
    """A thread. `entries`: the function instances that it begins with; `several`: whether there may be several of
    it."""

    name: str
    entries: frozenset[int]
    several: bool


class _Later(NamedTuple):
    """What a thread may access: a mask, and the function instances in which it does."""

    thread: _Thread
    mask: int
    reached: frozenset[int]


def judge(facts: Facts, precision: Precision = Precision.SENSITIVE) -> list[Judged]:
    """Return all accesses with their labels, in the order of the source; empty if nothing is known of the program.

    Accesses to what nothing writes after import are left out.
    """
    if facts.unknown:
        return []
    threads = _threads(facts)
    reached = {thread: _reached(facts, thread.entries) for thread in threads}
    rivals = {thread: list(_rivals(facts, thread, reached, precision)) for thread in threads}
    places: dict[int, list[Site]] = defaultdict(list)
    for number, masks in enumerate(facts.accesses.own):
        for i, mask in enumerate(masks):
            for bit in members(mask):
                places[bit].append((number, i))
    found: dict[tuple[str, ir.Position, str, Access], tuple[Label, str]] = {}
    for thread in threads:
        for number in reached[thread] - {NATIVE}:
            function = facts.points_to.instances[number].function
            for i, mask in enumerate(facts.accesses.own[number]):
                for bit in members(mask):
                    access, exposed = facts.accesses.table[bit], facts.accesses.exposed[number][i] >> bit & 1
                    key = (function.path, function.positions[i], function.name, access)
                    verdict = _verdict(facts, access, rivals[thread] if exposed else None, places)
                    if function.path and (key not in found or _RANK[verdict[0]] > _RANK[found[key][0]]):
                        found[key] = verdict
    return sorted(Judged(*key, *verdict) for key, verdict in found.items())


_RANK = {label: rank for rank, label in enumerate(Label)}


def _verdict(
    facts: Facts, access: Access, rivals: list[_Later] | None, places: dict[int, list[Site]]
) -> tuple[Label, str]:
    """Return the label of an access, and why. `rivals`: what others may access meanwhile; None if nobody else has the
    object yet."""
    if access.mode == "r" and access.field in facts.immutable:
        return Label.IMMUTABLE, "nothing writes it once its object may have escaped"
    if rivals is None:
        return Label.LOCAL, "its object has not escaped yet"
    for rival in rivals:
        for bit in members(rival.mask):
            other = facts.accesses.table[bit]
            if facts.may_conflict(access, other):
                return Label.RELEVANT, f"{rival.thread.name} may {_verb(other)} it{_where(facts, rival, places[bit])}"
    return Label.LOCAL, f"no other thread {'writes' if access.mode == 'r' else 'accesses'} it"


def _verb(access: Access) -> str:
    return "read" if access.mode == "r" else "write"


def _where(facts: Facts, rival: _Later, places: list[Site]) -> str:
    for number, i in places:
        function = facts.points_to.instances[number].function
        if number in rival.reached and function.path:
            return f", {function.path}:{function.positions[i].line}"
    return ""


def _threads(facts: Facts) -> list[_Thread]:
    points_to = facts.points_to
    threads = [_Thread("the main thread", frozenset(points_to.roots), False)]
    if points_to.edges.get((NATIVE, 1)):
        threads.append(_Thread(OUTSIDE, frozenset({NATIVE}), True))
    starts: dict[int, list[Site]] = defaultdict(list)
    for site, target in _spawns(facts):
        starts[target].append(site)
    once = _Once(facts)
    for target, sites in sorted(starts.items()):
        name = f"a thread in {points_to.instances[target].function.name}"
        threads.append(_Thread(name, frozenset({target}), len(sites) > 1 or not once.is_once(sites[0])))
    return threads


def _spawns(facts: Facts) -> Iterator[tuple[Site, int]]:
    for site, edges in sorted(facts.points_to.edges.items()):
        yield from ((site, edge.target) for edge in sorted(edges) if edge.how is How.SPAWN)


def _reached(facts: Facts, entries: frozenset[int], spawns: bool = False) -> frozenset[int]:
    """The function instances that a thread may run; with `spawns`, also those of the threads that it may start."""
    called: dict[int, set[int]] = defaultdict(set)
    for site, edges in facts.points_to.edges.items():
        called[site[0]].update(edge.target for edge in edges if spawns or edge.how is not How.SPAWN)
    reached, todo = set(entries), list(entries)
    while todo:
        new = called[todo.pop()] - reached
        reached |= new
        todo += new
    return frozenset(reached)


def _rivals(
    facts: Facts, thread: _Thread, reached: dict[_Thread, frozenset[int]], precision: Precision
) -> Iterator[_Later]:
    """Yield what others may access while the thread runs.

    Started threads: all that they run. The main thread: what comes after the starts that lead to this one.
    """
    phase: Phase = facts.first
    if precision is not Precision.SENSITIVE:
        phase = facts.insensitive if precision is Precision.INSENSITIVE else facts.second
    main, *others = reached
    for other in others:
        if other is not thread or other.several:
            mask = 0
            for entry in other.entries:
                mask |= phase.before[entry][0]
            yield _Later(other, mask, reached[other])
    if thread is not main:
        onwards: Phase = facts.insensitive if precision is Precision.INSENSITIVE else facts.second
        mask = 0
        for site, target in _spawns(facts):
            if site[0] in reached[main] and (
                NATIVE in thread.entries or thread.entries & _reached(facts, frozenset({target}), spawns=True)
            ):
                mask |= onwards.after[site[0]][site[1]]
        yield _Later(main, mask, reached[main])


class _Once:
    """Finds the instructions that run at most once, as far as the call graph shows."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._callers: dict[int, list[Site]] = defaultdict(list)
        for site, edges in facts.points_to.edges.items():
            for edge in edges:
                self._callers[edge.target].append(site)

    def is_once(self, site: Site) -> bool:
        """True if it is in no loop, in a function that is called once."""
        seen = set()
        while site[0] not in seen:
            seen.add(site[0])
            if site[0] == NATIVE or self._in_loop(site):
                return False
            callers = self._callers[site[0]]
            if site[0] in self._facts.points_to.roots:
                return not callers
            if len(callers) != 1:
                return False
            site = callers[0]
        return False

    def _in_loop(self, site: Site) -> bool:
        function = self._facts.points_to.instances[site[0]].function
        seen: set[int] = set()
        todo = list(function.after(site[1]))
        while todo:
            i = todo.pop()
            if i not in seen:
                seen.add(i)
                todo += function.after(i)
        return site[1] in seen
