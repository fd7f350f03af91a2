"""Which thread of a judged program goes on: at random, or with few preemptions, systematically."""

from __future__ import annotations

import random
from typing import Final, NamedTuple

MOST_POINTS: Final = 50_000
"""Points of one run, after which it is given up: a program that spins."""


class Move(NamedTuple):
    """A thread that may have the baton next; `timeout`: because its wait times out."""

    thread: int
    timeout: bool = False


class Schedule:
    """Decides who goes on. `local`: does it want to be asked before bytecodes that touch only their own frame?

    patience   points that may be passed before `choose` is asked again
    """

    local = True
    patience = 1

    def choose(self, moves: list[Move], mine: Move | None, free: bool) -> Move:
        """One of `moves`. `mine`: what the thread with the baton would do, None if it is blocked or done.
        `free`: that it is left is no preemption."""
        raise NotImplementedError


class AtRandom(Schedule):
    """Bursts of random length, or a few preemptions at random points of an otherwise undisturbed run."""

    def __init__(self, rng: random.Random, length: int) -> None:
        self._rng = rng
        self._mean = rng.choice([1, 2, 3, 5, 8, 13, 30]) if rng.random() < 0.6 else 0
        self._marks = sorted(rng.randrange(max(length, 2)) for _ in range(rng.choice([0, 1, 1, 2, 2, 3])))
        self._passed = 0
        self.patience = self._next()

    def _next(self) -> int:
        if self._mean:
            return 1 if self._mean == 1 else 1 + int(self._rng.expovariate(1 / self._mean))
        while self._marks:
            mark = self._marks.pop(0)
            if mark > self._passed:
                return mark - self._passed
        return MOST_POINTS

    def choose(self, moves: list[Move], mine: Move | None, free: bool) -> Move:
        if mine is None or not free:
            self._passed += self.patience
            self.patience = self._next()
        if mine is not None and len(moves) > 1 and not free:
            moves = [move for move in moves if move != mine]
        plain = [move for move in moves if not move.timeout]
        if plain and self._rng.random() < 0.8:
            moves = plain
        return self._rng.choice(moves)


class Decision(NamedTuple):
    at: int
    move: Move


class Following(Schedule):
    """The run that leaves the undisturbed one at the given decisions only; writes down where others would be possible.

    idle_main   the main thread only starts and joins others, so it is not preempted
    """

    local = False

    def __init__(self, decisions: tuple[Decision, ...], idle_main: bool = False) -> None:
        self._idle_main = idle_main
        self._decisions = {decision.at: decision.move for decision in decisions}
        self._last = decisions[-1].at if decisions else -1
        self._asked = 0
        self.alternatives: list[tuple[Decision, bool]] = []

    def choose(self, moves: list[Move], mine: Move | None, free: bool) -> Move:
        if self._idle_main and mine is not None and mine.thread == 1:
            return mine
        at = self._asked
        self._asked += 1
        default = mine or next((move for move in moves if not move.timeout), moves[0])
        if at > self._last:
            nobody = all(move.timeout for move in moves)
            for move in moves:
                if move != default:
                    costs = (move.timeout and not nobody) or not free
                    self.alternatives.append((Decision(at, move), costs))
        return self._decisions.get(at, default)
