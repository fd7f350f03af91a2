"""Makes random abstract programs.

There are two ways to the same programs: `abstract_programs()` is a Hypothesis strategy (it needs `pip install
dpor[test]`), and `random_program(Random(seed))` needs nothing and makes thousands of programs a second.

>>> from random import Random
>>> program = random_program(Random(3), words=("r", "w"), threads=(2, 2))
>>> program == random_program(Random(3), words=("r", "w"), threads=(2, 2))
True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from math import factorial, prod
from random import Random
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from dpor.model.tree import OPERANDS

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Spec: TypeAlias = dict[str, Any]
"""An abstract program in its JSON form (`dpor.model`)."""

BASE: Final = frozenset(
    {"r", "w", "rmw", "cas", "await", "lock", "unlock", "P", "V", "wait", "notify", "notifyall"}
    | {"let", "assert", "halt", "if", "while", "repeat"}
)
"""The words of those programs whose trace classes and states the brute-force judge in tests/oracle can count."""

ALL: Final = BASE | {*OPERANDS, "rlocks"}
"""Every word of the format; "rlocks" stands for re-entrant locks."""


def abstract_programs(
    words: Collection[str] = ALL, threads: tuple[int, int] = (2, 4), interleavings: int = 3_000, endless: bool = False
) -> SearchStrategy[Spec]:
    """Return a Hypothesis strategy that draws abstract programs.

    words          the words that programs may use
    threads        the least and the greatest number of threads
    interleavings  about how many interleavings a program may have (blocked threads make them fewer)
    endless        True if some threads are to go on for ever, over finitely many states; `interleavings` then counts
                   those of one pass through the loops
    """
    from hypothesis import strategies as st

    @st.composite
    def programs(draw: Callable[[SearchStrategy[int]], int]) -> Spec:
        return _Generator(lambda n: draw(st.integers(0, n - 1)), words, threads, interleavings, endless).program()

    return programs()


def random_program(
    random: Random,
    words: Collection[str] = ALL,
    threads: tuple[int, int] = (2, 4),
    interleavings: int = 3_000,
    endless: bool = False,
) -> Spec:
    """Make a program as `abstract_programs` does, from a random number generator."""
    return _Generator(random.randrange, words, threads, interleavings, endless).program()


class Below(Protocol):
    """The source of all choices. It returns a number from 0 to `bound` - 1; smaller numbers make simpler programs."""

    def __call__(self, bound: int, /) -> int: ...


MORE: Final = "..."
_BRACES: Final = re.compile(r"{(.*?)}")
_DEPTH: Final = 2

_PHRASES: Final[tuple[tuple[str, list[Any]], ...]] = (
    ("r", ["r {variable} {register}"]),
    ("w", ["w {variable} {value}"]),
    ("rmw", ["rmw {variable} {register} {value}"]),
    ("cas", ["cas {variable} {number} {value} {register}"]),
    ("await", ["await {variable} {awaited}"]),
    ("lock unlock", ["lock {lock}", "unlock {lock}"]),
    ("lock unlock", ["lock {lock}", MORE, "unlock {lock}"]),
    ("lock unlock", ["lock {lock}", "lock {other lock}", "unlock {other lock}", "unlock {lock}"]),
    ("lock", ["lock {lock}"]),
    ("unlock", ["unlock {lock}"]),
    ("try if unlock", ["try {lock} {register}", ["if", "{register}", [MORE, "unlock {lock}"]]]),
    ("tlock if unlock", ["tlock {lock} {register}", ["if", "{register}", ["unlock {lock}"]]]),
    ("P", ["P s"]),
    ("P V", ["P s", MORE, "V s"]),
    ("V", ["V s"]),
    ("tP", ["tP s {register}"]),
    ("wait lock unlock", ["lock {lock}", "wait c {lock}", "unlock {lock}"]),
    ("wait lock unlock if r", ["lock {lock}", "r {variable} a", ["if", "a==0", ["wait c {lock}"]], "unlock {lock}"]),
    ("wait", ["wait c {lock}"]),
    ("twait lock unlock", ["lock {lock}", "twait c {lock} {register}", "unlock {lock}"]),
    ("twait", ["twait c {lock} {register}"]),
    ("notify", ["notify c"]),
    ("notify lock unlock", ["lock {lock}", MORE, "notify c", "unlock {lock}"]),
    ("notifyall", ["notifyall c"]),
    ("spawn", ["spawn {later thread}"]),
    ("spawn join", ["spawn {later thread}", MORE, "join {later thread}"]),
    ("join", ["join {thread}"]),
    ("choose", ["choose {register} 2"]),
    ("let", ["let {register} {value}"]),
    ("assert", ["assert {condition}"]),
    ("halt", ["halt {condition}"]),
    ("if", [["if", "{condition}", [MORE]]]),
    ("if", [["if", "{condition}", [MORE], [MORE]]]),
    ("while let", [["while", "{counter}<2", [MORE, "let {counter} {counter}+1"]]]),
    ("repeat", [["repeat", 2, [MORE]]]),
)
"""Phrases: what a thread may do next, with the words that must be allowed. A name in braces stands for an operand to be
chosen, the same one wherever the name occurs. `MORE` stands for another phrase."""

_OPERANDS: Final = {
    "variable": ("x", "y", "x", "z[a%2]"),
    "register": ("a", "b"),
    "value": ("1", "a+1", "2", "b", "tid", "1-a"),
    "number": ("0", "1", "a"),
    "awaited": ("_==1", "_!=0", "_==0", "_>a"),
    "condition": ("a==0", "a!=0", "b<2", "a==b"),
    "lock": ("m", "n"),
    "other lock": ("n", "m"),
}

_BOUNDED: Final = ("1", "(a+1)%2", "2", "b", "tid", "1-a")
"""Values in programs that go on for ever, which must have finitely many states."""

_EVENTS: Final = {"wait": 2, "twait": 3, "let": 0, "assert": 0, "halt": 0}
"""The greatest number of events of a statement, if that is not 1."""

_PASSES: Final = 2
"""How often the body of a loop runs that the generator makes."""


class _Generator:
    """Makes one program."""

    def __init__(
        self, below: Below, words: Collection[str], threads: tuple[int, int], interleavings: int, endless: bool
    ) -> None:
        self._below = below
        self._words = frozenset(words)
        self._interleavings = interleavings
        self._endless = endless
        self._count = threads[0] + below(threads[1] - threads[0] + 1)
        self._counters = 0
        allowed = [phrase for words, phrase in _PHRASES if self._words.issuperset(words.split())]
        if endless:
            allowed = [phrase for phrase in allowed if phrase != ["V s"]]  # counts without bound
        if not allowed:
            raise ValueError(f"no statement can be made of the words {sorted(self._words)}")
        # A few kinds of phrase for each program: they meet more often than if all programs had all ("swarm testing").
        self._phrases = [allowed[below(len(allowed))] for _ in range(2 + below(7))]

    def program(self) -> Spec:
        bodies: list[list[Any]] = [[] for _ in range(self._count)]
        for _ in range(4 * self._count):
            thread = self._below(self._count)
            body = bodies[thread]
            bodies[thread] = body + self._phrase(thread, depth=0)
            if _interleavings(bodies) > self._interleavings:
                bodies[thread] = body
        if self._endless:
            bodies = [self._go_on(body) for body in bodies]
        reentrant = "rlocks" in self._words and self._below(2)
        spec: Spec = {
            "vars": {"x": 0, "y": 0, "z": [0, 0]},
            "locks": ["n"] if reentrant else ["m", "n"],
            "rlocks": ["m"] if reentrant else [],
            "sems": {"s": self._below(3)},
            "conds": ["c"],
            "threads": bodies,
        }
        return without_unused(spec)

    def _go_on(self, body: list[Any]) -> list[Any]:
        """Return the body as it is, or with an endless loop around it or around its end."""
        if not body or self._below(5) < 2:
            return body
        start = self._below(len(body)) if self._below(3) == 0 else 0
        return [*body[:start], ["while", "1", body[start:]]]

    def _phrase(self, thread: int, depth: int) -> list[Any]:
        last = thread == self._count - 1
        phrases = [phrase for phrase in self._phrases if not (depth == _DEPTH and MORE in str(phrase))]
        phrases = [phrase for phrase in phrases if not (last and "later thread" in str(phrase))]
        phrases.insert(0, [])
        return self._fill(phrases[self._below(len(phrases))], thread, depth, {})

    def _fill(self, phrase: Sequence[Any], thread: int, depth: int, chosen: dict[str, str]) -> list[Any]:
        """Return the phrase with operands in place of the names in braces."""
        filled: list[Any] = []
        for part in phrase:
            if part == MORE:
                filled.extend(self._phrase(thread, depth + 1))
            elif isinstance(part, str):
                filled.append(_BRACES.sub(lambda name: self._operand(name[1], thread, chosen), part))
            elif isinstance(part, list):
                filled.append(self._fill(part, thread, depth, chosen))
            else:
                filled.append(part)
        return filled

    def _operand(self, name: str, thread: int, chosen: dict[str, str]) -> str:
        if name not in chosen:
            if name == "counter":
                chosen[name] = f"k{self._counters}"
                self._counters += 1
            elif name == "later thread":
                chosen[name] = str(thread + 1 + self._below(self._count - thread - 1))
            elif name == "thread":
                chosen[name] = str(self._below(self._count))
            else:
                options = _BOUNDED if self._endless and name == "value" else _OPERANDS[name]
                chosen[name] = options[self._below(len(options))]
        return chosen[name]


def _interleavings(bodies: Sequence[Sequence[Any]]) -> int:
    """Return how many interleavings the threads would have if nothing ever blocked."""
    events = [_count(body) for body in bodies]
    choices: int = 2 ** sum(_count(body, "choose") for body in bodies)
    return choices * factorial(sum(events)) // prod(map(factorial, events))


def _count(body: Sequence[Any], word: str = "") -> int:
    """Return how many events a body has at most; if a word is given, only those of statements with this word."""
    total = 0
    for statement in body:
        if isinstance(statement, str):
            first = statement.split()[0]
            total += _EVENTS.get(first, 1) if word in ("", first) else 0
        elif statement[0] == "if":
            total += max(_count(branch, word) for branch in statement[2:])
        else:
            total += _PASSES * _count(statement[2], word)
    return total


def without_unused(spec: Spec) -> Spec:
    """Return the program without the declarations that no thread uses."""
    used = set(re.findall(r"\w+", str(spec["threads"])))
    slim: Spec = {}
    for key, part in spec.items():
        if key == "threads":
            slim[key] = part
        elif isinstance(part, dict):
            slim[key] = {name: value for name, value in part.items() if name in used}
        else:
            slim[key] = [name for name in part if name in used]
    return {key: part for key, part in slim.items() if part}
