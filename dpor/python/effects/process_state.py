"""The state of the process: what the interpreter, modules in C and the operating system keep outside of all objects.

Examples are the switch of the garbage collector, the working folder, the locale, the dialects of `csv`. Each is a
*part*, and one location. What functions do to parts is in `hooks/calls/process.py`. As with fields, a part is silent
until a run changes it while several threads exist: all other runs look the same to those who read it.

A part that a run changes is restored after the run, to what it was before the first change. Runs that change nothing
read no part. (For attributes of others' modules, as in `sys.excepthook = ...`, see `sharing/host_fields.py`.)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from types import ModuleType
from typing import Any, Final, NamedTuple, TypeAlias

from dpor.core.operations import READ, Accesses, Mode
from dpor.python.kernel import assumptions
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects

PROCESS: Final = "process"

PartName: TypeAlias = str | tuple[str, ...]
"""The name of a part; or of a piece of a part, which has its own location: a tuple that begins with the part's name."""


class ProcessPart(NamedTuple):
    """How the value of a part is read, restored, and set in a run as another run has left it."""

    get: Callable[[], Any]
    restore: Callable[[Any], object]
    again: Callable[[Any], object]


parts: Final[dict[str, ProcessPart]] = {}
"""The parts that can be read, by name."""


class _Remembered:
    """What is remembered of the process until `restore`. It is not reset when a run begins, as modules may be executed
    before.

    before        the former values of the parts that this run has changed, or may have changed
    watched       the objects that the source of the current program names. No run changes any other by itself
    left_hidden   the parts that the last run has changed and that cannot be read
    runs          how many runs of this search are over
    unseen        parts that were found changed: from then on they are restored after every run
    at_first      the values of the parts that are examined, before the first run
    """

    __slots__ = ("at_first", "before", "left_hidden", "runs", "unseen", "watched")

    def __init__(self) -> None:
        self.before: dict[str, Any] = {}
        self.watched: Sequence[Kept | Table] = ()
        self.left_hidden: set[str] = set()
        self.runs = 0
        self.unseen: set[str] = set()
        self.at_first: dict[str, Any] = {}


_now: Final = _Remembered()
_HIDDEN: Final = object()
"""In place of the value of a part that cannot be read."""


def accesses(part: PartName, mode: Mode) -> Accesses:
    """Return the accesses of reading the part, or of changing it."""
    name = part if isinstance(part, str) else part[0]
    if name == "global":  # an attribute of a module, which code in C looks at
        return attribute_read(*part[1:])
    fact = (PROCESS, name)
    if fact not in run.facts:
        if mode is READ:
            return ()
        assumptions.broken(fact, f"threads change {name}, which belongs to the whole process")
    location = (PROCESS, name) if isinstance(part, str) else (PROCESS, *part)
    return ((run.operations.location(location), mode),)


def attribute_read(module: str, name: str) -> Accesses:
    """Return the accesses of C code that reads an attribute of a module (as `print` reads `sys.stdout`)."""
    fact = ("global", module, name)
    return ((run.operations.location(fact), READ),) if fact in run.facts else ()


def reads_of_module(module: ModuleType, name: str) -> Accesses:
    """Return the accesses of looking for an attribute of the module. If it has none, its `__getattr__` is asked."""
    names = (name,) if name == "__getattr__" else (name, "__getattr__")
    return tuple(access for one in names for access in attribute_read(module.__name__, one))


def before_change(part: PartName) -> None:
    """Remember the part as it is. Call this before the run changes it, whatever the number of threads."""
    name = part if isinstance(part, str) else part[0]
    if name not in _now.before and run.current is not None:
        known = parts.get(name)
        _now.before[name] = _HIDDEN if known is None else known.get()


# ---------------------------------------------------------------------- objects of others' modules


class Kept(NamedTuple):
    """An object that a module of the library keeps, and that programs change in place (`sys.path`).

    name   of the global, or the way to the object from there: `root.manager.loggerDict`
    """

    module: str
    name: str
    contents: Callable[[Any], Any]
    refill: Callable[[Any, Any], object]
    """Called with the object and its former contents, to restore these."""
    words: frozenset[str]
    """A program that has none of these words does not change the object."""
    is_cache: bool
    """True if functions of the library fill it, when they are called."""

    @property
    def part(self) -> str:
        return f"{self.module}.{self.name}"

    def find(self) -> Any:
        return getattr(self._owner(), self.name.rpartition(".")[2], None)

    def _owner(self) -> Any:
        way = self.name.split(".")[:-1]
        return reduce(lambda owner, name: getattr(owner, name, None), way, sys.modules.get(self.module))

    def get(self) -> tuple[Any, Any] | None:
        """Return the object itself, and its contents."""
        found = self.find()
        return None if found is None else (found, self.contents(found))

    def restore(self, value: tuple[Any, Any] | None) -> None:
        if value is not None and value != self.get():
            found, contents = value
            setattr(self._owner(), self.name.rpartition(".")[2], found)
            self.refill(found, contents)


class Contents:
    """What a container holds. Two of these are equal if the same objects are in the same container, in the same order.

    found   the container
    names   True if it is the namespace of a module: it has no order, and only names count that are no part of the
            import system
    items   its elements; of a dict, the keys, then the values
    """

    __slots__ = ("_ids", "found", "items", "names")

    def __init__(self, found: Any, names: bool = False) -> None:
        self.found, self.names = found, names
        items: list[Any] = [*found]
        if names:
            items = sorted(key for key in items if not key.startswith("__") and type(found[key]) is not ModuleType)
        self.items: Final = [*items, *map(found.__getitem__, items)] if isinstance(found, dict) else items
        self._ids: Final = [*map(id, self.items)]

    def __eq__(self, other: object) -> bool:
        return type(other) is Contents and self.found is other.found and self._ids == other._ids

    __hash__ = None  # type: ignore[assignment]


class Table:
    """A container of a module without hooks.

    name    how it is reached
    words   what programs call it
    names   True if it is the module's namespace
    """

    __slots__ = ("_found", "_names", "module", "name", "words")

    def __init__(self, module: str, name: str, word: str, found: Any, names: bool = False) -> None:
        self.module, self.name, self.words = module, name, {word}
        self._found, self._names = found, names
        parts[self.part] = ProcessPart(self.get, self.restore, self.restore)

    @property
    def part(self) -> str:
        return f"table {self.module}.{self.name}"

    def find(self) -> Any:
        """Return what threads share. (That they store globals of modules is seen by hooks.)"""
        return None if self._names else self._found

    def get(self) -> Contents:
        return Contents(self._found, self._names)

    def restore(self, contents: Contents) -> None:
        if self.get() != contents:
            self._refill(contents.items)

    def drop(self, is_gone: Callable[[Any], bool]) -> None:
        """Take out what is gone: of a dict, the items of which the key or the value is."""
        items = self.get().items
        gone = [is_gone(item) for item in items]
        if any(gone):
            if isinstance(self._found, dict):
                gone = [any(pair) for pair in zip(*_halves(gone), strict=True)] * 2
            self._refill([item for item, goes in zip(items, gone, strict=True) if not goes])

    def _refill(self, items: list[Any]) -> None:
        found = self._found
        if self._names:
            for key in {*_halves(self.get().items)[0]}.difference(_halves(items)[0]):
                del found[key]
        else:
            found.clear()
        if isinstance(found, dict):
            found.update(zip(*_halves(items), strict=True))
        elif isinstance(found, set):
            found.update(items)
        else:
            found.extend(items)


def _halves(items: list[Any]) -> tuple[list[Any], list[Any]]:
    return items[: len(items) // 2], items[len(items) // 2 :]


_kept: Final[list[Kept]] = []
_caches: Final[set[str]] = set()


def kept(
    module: str,
    name: str,
    contents: Callable[[Any], Any],
    refill: Callable[[Any, Any], object],
    *words: str,
    is_cache: bool = False,
) -> None:
    """Register such an object as a part. `words`: which others than its name a program needs to change it."""
    found = Kept(module, name, contents, refill, frozenset({name, *words}), is_cache)
    _kept.append(found)
    if is_cache:
        _caches.add(found.part)
    part(found.part, found.get, found.restore, unseen=is_cache)


def named_in(sources: Iterable[str]) -> list[Kept]:
    """Return the objects that a program with these sources may change."""
    words = words_of(sources)
    return [found for found in _kept if not found.words.isdisjoint(words)]


def words_of(sources: Iterable[str]) -> set[str]:
    return {word for source in sources for word in _WORDS.findall(source)}


_WORDS: Final = re.compile(r"\w+")


def watch(found: Sequence[Kept | Table]) -> None:
    """Set the objects that the program, or a module of it, names. Called before a run, and when a module is loaded."""
    _now.watched = found
    for name in _now.unseen:
        if name not in _now.before:
            _now.before[name] = parts[name].get()
    for one in found:
        if one.part not in _now.before:
            _now.before[one.part] = one.get()


def imported_again(names: Iterable[str]) -> None:
    """Called when a run has imported modules again before it began: what is restored after it has the new ones."""
    known = _now.before.get("sys.modules")
    if known is not None:
        _, modules = known
        for name in names:
            modules.pop(name, None)
            if name in sys.modules:
                modules[name] = sys.modules[name]


def objects_named(module: str, name: str) -> tuple[Any, ...]:
    """Return the object, if the program names it."""
    return tuple(one.find() for one in _now.watched if one.module == module and one.name == name)


def share_objects() -> None:
    """Called when the first thread starts: all threads can reach these objects."""
    for one in _now.watched:
        found = one.find()
        if found is not None:
            shared_objects.share(found, (PROCESS, one.module, one.name))


# ---------------------------------------------------------------------- states, and the end of a run


def values() -> Iterable[tuple[object, Any]]:
    """Yield name and value of all parts that differ from the beginning of the run, except those that cannot be read
    (`hidden`), and caches: what they hold follows from the rest."""
    for name, before in _now.before.items():
        if before is not _HIDDEN and name not in _caches:
            value = parts[name].get()
            if value != before:
                yield name, value


def held() -> Iterable[Any]:
    """Yield what the parts that differ hold. (Of an object of others' modules, the contents.)"""
    kept_ones = {one.part for one in _kept}
    for name, value in values():
        if type(value) is Contents:
            yield value.items
        else:
            yield value[1] if name in kept_ones else value


def hidden() -> set[str]:
    """Return the names of the parts that this run has changed and that cannot be read."""
    return {name for name, before in _now.before.items() if before is _HIDDEN}


def change_again(name: str, value: Any) -> None:
    """Change the part in this run as an import did in another."""
    before_change(name)
    parts[name].again(value)


def left_hidden() -> set[str]:
    """Return the names of the parts that the last run has changed and that cannot be read."""
    return _now.left_hidden


def restore() -> None:
    """When the run is over: restore all parts, the last changed first."""
    _now.left_hidden.clear()
    while _now.before:
        name, before = _now.before.popitem()
        if before is not _HIDDEN:
            parts[name].restore(before)
        else:
            _now.left_hidden.add(name)
    if _now.runs % LOOK_EVERY == 0 or _now.runs == 1:
        _look_for_unseen()
    _now.runs += 1


LOOK_EVERY: Final = 64
"""Runs between examinations of all parts: uninstrumented code may change some without being seen."""


def _look_for_unseen() -> None:
    for name in looked_at:
        now = parts[name].get()
        if _now.at_first.setdefault(name, now) != now:
            _now.unseen.add(name)
            parts[name].restore(_now.at_first[name])


def begin_search() -> None:
    """Before the first run of a program: remember the parts, as all its runs are to find them."""
    _now.runs = 0
    _now.unseen.clear()
    _now.at_first.update((name, parts[name].get()) for name in looked_at)


def has_changed(name: str) -> bool:
    """True if this run has changed the part."""
    return name in _now.before


looked_at: Final[list[str]] = []


def part(
    name: str,
    get: Callable[[], Any],
    restore: Callable[[Any], object],
    *,
    again: Callable[[Any], object] | None = None,
    unseen: bool = False,
) -> None:
    """Register how the part is read and restored.

    again    sets it as an import has left it; None: as `put` does
    unseen   True if uninstrumented code may change it, so that it has to be examined. (Reading it must change nothing.)
    """
    parts[name] = ProcessPart(get, restore, again or restore)
    if unseen:
        looked_at.append(name)
