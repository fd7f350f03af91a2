"""The state of the process: what the interpreter, modules in C and the operating system keep apart from all objects.

The collector's switch, the working folder, the locale, the dialects of `csv`: each is a *part*, and one location. What
functions do to parts is in `hooks/calls/process.py`. As with fields, a part is silent until a run changes it while
several threads exist: runs in which nobody did are all alike for those who look.

A part that a run changes is put back when the run is over, by what it was before the first change. Nothing is looked at
in runs that change nothing. (Attributes of others' modules, as in `sys.excepthook = ...`: `sharing/host_fields.py`.)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeAlias

from dpor.core.operations import READ, Accesses, Mode
from dpor.python.kernel import assumptions
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects

PROCESS: Final = "process"

PartName: TypeAlias = str | tuple[str, ...]
"""Of a part; of a piece of a part, which is a location of its own, a tuple that begins with the name of the part."""


class Part(NamedTuple):
    """How what is in a part is looked at, and put back."""

    get: Callable[[], Any]
    put: Callable[[Any], object]


parts: Final[dict[str, Part]] = {}
"""Those that can be looked at."""

_before: Final[dict[str, Any]] = {}
"""What the parts that this run has changed, or may have changed, were before."""
_HIDDEN: Final = object()
"""In place of what a part was that cannot be looked at."""


def accesses(part: PartName, mode: Mode) -> Accesses:
    """What it is to look at the part, or to change it."""
    name = part if isinstance(part, str) else part[0]
    if name == "global":  # an attribute of a module, which code in C looks at
        return attribute_read(*part[1:])
    fact = (PROCESS, name)
    if fact not in run.facts:
        if mode is READ:
            return ()
        assumptions.broken(fact, f"threads change {name}, which is one for the whole process")
    location = (PROCESS, name) if isinstance(part, str) else (PROCESS, *part)
    return ((run.operations.location(location), mode),)


def attribute_read(module: str, name: str) -> Accesses:
    """What code in C does that looks at an attribute of a module (`print` at `sys.stdout`)."""
    fact = ("global", module, name)
    return ((run.operations.location(fact), READ),) if fact in run.facts else ()


def changes(part: PartName) -> None:
    """To be called before the run changes the part, in any number of threads."""
    name = part if isinstance(part, str) else part[0]
    if name not in _before and run.current is not None:
        known = parts.get(name)
        _before[name] = _HIDDEN if known is None else known.get()


# ---------------------------------------------------------------------- objects of others' modules


class Kept(NamedTuple):
    """An object that a module of the library keeps, and that programs change in place (`sys.path`)."""

    module: str
    name: str
    contents: Callable[[Any], Any]
    refill: Callable[[Any, Any], object]
    """Given the object, and what its contents were."""

    def find(self) -> Any:
        return vars(sys.modules[self.module]).get(self.name) if self.module in sys.modules else None

    def get(self) -> tuple[Any, Any] | None:
        """The object itself, and what is in it."""
        found = self.find()
        return None if found is None else (found, self.contents(found))

    def put(self, value: tuple[Any, Any] | None) -> None:
        if value is not None and value != self.get():
            found, contents = value
            vars(sys.modules[self.module])[self.name] = found
            self.refill(found, contents)


_kept: Final[list[Kept]] = []
_watched: list[Kept] = []
"""Those that the source of the present program names. Others no run changes by itself."""


def kept(module: str, name: str, contents: Callable[[Any], Any], refill: Callable[[Any, Any], object]) -> None:
    """Make such an object known."""
    found = Kept(module, name, contents, refill)
    _kept.append(found)
    part(f"{module}.{name}", found.get, found.put)


def named_in(sources: Iterable[str]) -> list[Kept]:
    """The objects that the program may change."""
    words = {word for source in sources for word in _WORDS.findall(source)}
    return [found for found in _kept if found.name in words]


_WORDS: Final = re.compile(r"\w+")


def watch(found: list[Kept]) -> None:
    """Before a run of a program that names these, or a module of it, is begun."""
    global _watched
    _watched = found
    for name in _unseen:
        if name not in _before:
            _before[name] = parts[name].get()
    for one in found:
        name = f"{one.module}.{one.name}"
        if name not in _before:
            _before[name] = one.get()


def watched(module: str, name: str) -> tuple[Any, ...]:
    """The object, if the program names it."""
    return tuple(one.find() for one in _watched if one.module == module and one.name == name)


def share() -> None:
    """When the first thread starts: all threads can reach these."""
    for one in _watched:
        found = one.find()
        if found is not None:
            shared_objects.share(found, (PROCESS, one.module, one.name))


# ---------------------------------------------------------------------- states, and the end of a run


def values() -> Iterable[tuple[object, Any]]:
    """Name and value of all that is not as it was when the run began. (What cannot be looked at: see `hidden`.)"""
    for name, before in _before.items():
        if before is not _HIDDEN:
            value = parts[name].get()
            if value != before:
                yield name, value


def hidden() -> str | None:
    """A part that this run has changed and that cannot be looked at."""
    return next((name for name, before in _before.items() if before is _HIDDEN), None)


def put_back() -> None:
    """When the run is over: what came last first."""
    global _runs
    while _before:
        name, before = _before.popitem()
        if before is not _HIDDEN:
            parts[name].put(before)
    if _runs % LOOK_EVERY < 2:
        _look_for_unseen()
    _runs += 1


LOOK_EVERY: Final = 64
"""Runs between looks at all parts: code that is not instrumented may change some unseen."""
_runs = 0
_unseen: Final[set[str]] = set()
"""Parts that were found changed: from then on they are put back after every run."""
_at_first: Final[dict[str, Any]] = {}


def _look_for_unseen() -> None:
    for name in looked_at:
        now = parts[name].get()
        if _at_first.setdefault(name, now) != now:
            _unseen.add(name)
            parts[name].put(_at_first[name])


def begin_search() -> None:
    """Before the first run of a program: what the process is like now, all its runs are to find."""
    global _runs
    _runs = 0
    _unseen.clear()
    _at_first.update((name, parts[name].get()) for name in looked_at)


def has_changed(name: str) -> bool:
    """Has this run changed the part?"""
    return name in _before


looked_at: Final[list[str]] = []


def part(name: str, get: Callable[[], Any], put: Callable[[Any], object], *, unseen: bool = False) -> None:
    """Make known how the part is looked at and put back.

    unseen   may code that is not instrumented change it? (To look at it changes nothing.)
    """
    parts[name] = Part(get, put)
    if unseen:
        looked_at.append(name)
