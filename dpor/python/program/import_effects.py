"""What importing a program's modules does besides filling them, and how that is done again in each run that does not
import them."""

from __future__ import annotations

import contextvars
import functools
import random
import sys
from collections.abc import Callable, Collection, Iterator
from types import FunctionType
from typing import Any, Final

from dpor.python.dropins import state
from dpor.python.dropins.idents import numbering
from dpor.python.dropins.locals import Here
from dpor.python.effects import process_state
from dpor.python.kernel import host_modules
from dpor.python.kernel.run import run
from dpor.python.program.host import HostState
from dpor.python.program.host_containers import HostContainers
from dpor.python.program.restoring import CannotRestore
from dpor.python.sharing import host_fields
from dpor.python.states.stacks import StateUnknown

_SEARCHS: Final = frozenset(
    {
        *("able", "back_edges", "base_depth", "facts", "known_operations", "numbers", "operations", "still", "workers"),
        *("broken", "dirty"),
    }
)
"""Slots of a run that belong to the search, or that no program can observe."""
_LEFT: Final = frozenset({"incomplete", "incomplete_if_multithreaded", "made"})
"""Slots of a run that imports change, and `repeat` changes again."""
_REPEATED: Final = ("named_at", "count", "clock_read_at", "last_back_edge_at")
"""Slots of the main thread that are given the values that imports have left in them."""
_OF_THREAD: Final = frozenset({"data", "ticked", *_REPEATED})
_OF_LIBRARY: Final = frozenset({"atexit", "exit_calls", "exit_calls_of_imports"})


class Before:
    """The state of a run, and of modules that are not the program's, before the program's are imported in its main
    thread."""

    def __init__(self, program: Collection[str] | None = None) -> None:
        self.containers = None if program is None else HostContainers(program)
        self.modules = sys.modules.keys() - (program or ())
        self.run = _values(run, run.__slots__)
        self.main = _values(run.threads[0], run.threads[0].__slots__)
        self.library = _values(state.library, vars(state.library))
        self.thread_object = dict(vars(run.threads[0].thread_object))

    def stored_in_thread(self) -> dict[str, Any]:
        """Return the attributes that have been stored in the main thread's object since, as `multiprocessing.dummy`
        does."""
        now, before = vars(run.threads[0].thread_object), self.thread_object
        return {name: value for name, value in now.items() if name not in before or before[name] is not value}


def left(before: Before, host: HostState | None) -> Iterator[Any]:
    """Yield the objects that importing has stored where no global of the program leads. Raises `StateUnknown` if they
    cannot be found."""
    if before.containers is not None:
        yield from before.containers.changed()
    yield from (value for _, _, value in host_fields.stored_fields())
    yield from run.threads[0].data.values()
    yield from before.stored_in_thread().values()
    yield from [*state.library.atexit, *state.library.exit_calls]
    yield from process_state.held()
    if host is not None:
        yield from host.left()


def _values(obj: Any, names: Any) -> dict[str, Any]:
    """Return the values by name: copies of containers, since these are changed in place."""
    found = {name: getattr(obj, name) for name in names if hasattr(obj, name)}
    return {name: type(value)(value) if type(value) in (list, dict, set) else value for name, value in found.items()}


class ImportEffects:
    """What has changed since `before`. Raises `StateUnknown` if not all of it can be repeated."""

    def __init__(self, before: Before, host: HostState | None, names: list[str]) -> None:
        main, now = run.threads[0], Before()
        _compare("a run", before.run, now.run, _SEARCHS | _LEFT)
        _compare("the main thread", before.main, now.main, _OF_THREAD)
        _compare("the state of `threading`", before.library, now.library, _OF_LIBRARY)
        if numbering.is_asked() or host_modules.changed_modules or contextvars.copy_context():
            raise StateUnknown("modules change state of the run when they are imported")
        self._data = {key: _kept(value) for key, value in main.data.items() if value != []}
        self._of_thread_object = before.stored_in_thread()
        self._of_main = [(name, getattr(main, name)) for name in _REPEATED]
        self._made = run.made[len(before.run["made"]) :]
        self._atexit = state.library.atexit[len(before.library["atexit"]) :]
        self._limits = [reason for reason in run.incomplete if reason not in before.run["incomplete"]]
        latent = before.run["incomplete_if_multithreaded"]
        self._latent = [reason for reason in run.incomplete_if_multithreaded if reason not in latent]
        self._host = None if host is None else HostState()
        self._process = [(str(name), value) for name, value in process_state.values()]
        self._hidden = process_state.hidden()
        self._run = run.number
        self._stored = [*host_fields.stored_fields()]
        for holder, name, value in self._stored:
            if value is host_fields.ABSENT:
                raise StateUnknown(f"modules delete {holder.__name__}.{name} when they are imported")
            if type(value).__weakrefoffset__ and type(value) not in (FunctionType, type):
                raise StateUnknown(f"modules store a {type(value).__qualname__}, which may die, as {name} of another's")
        self._names = names
        self._modules = dict(sys.modules)
        self._removed = before.modules - sys.modules.keys()

    def refuse_hidden(self) -> None:
        """After a run. Raises `CannotRestore` if it has changed state of the process that cannot be read, and that
        importing had changed, too."""
        for name in self._hidden & process_state.left_hidden() if run.number != self._run else ():
            raise CannotRestore(f"runs change {name}, and so does importing")

    def repeat(self, is_made_by_program: Callable[[str], bool]) -> None:
        """In the main thread of a run, instead of importing the modules."""
        main = run.threads[0]
        for name, value in self._of_main:
            setattr(main, name, value)
        main.data.update((key, again()) for key, again in self._data.items())
        vars(main.thread_object).update(self._of_thread_object)
        run.made.extend(self._made)
        state.library.atexit.extend(self._atexit)
        run.incomplete.update(dict.fromkeys(self._limits))
        run.incomplete_if_multithreaded.update(dict.fromkeys(self._latent))
        if self._host is not None:
            self._host.restore()
        for part, value in self._process:
            process_state.change_again(part, value)
        if self._removed:
            process_state.before_change("sys.modules")
            for name in self._removed:
                sys.modules.pop(name, None)
        for holder, name, value in self._stored:
            host_fields.remember(holder)
            host_fields.store(holder, name, value)
        for name in self._names:
            if sys.modules.get(name) is not self._modules.get(name):
                sys.modules[name] = self._modules[name]
        if len(sys.modules) != len(self._modules):
            for name in [name for name in sys.modules if name not in self._modules and is_made_by_program(name)]:
                del sys.modules[name]


def _compare(what: str, before: dict[str, Any], now: dict[str, Any], may_differ: frozenset[str]) -> None:
    for name in now.keys() - may_differ:
        one, other = before.get(name), now[name]
        if one is not other and one != other:
            raise StateUnknown(f"modules change {what} when they are imported: {name}")


def _kept(value: Any) -> Callable[[], Any]:
    """Return a function that makes, in each run, the value that a drop-in now keeps for the main thread."""
    kind = type(value)
    if kind is random.Random:
        return functools.partial(_generator, value.getstate())
    if kind is dict or kind is set:
        return kind(value).copy
    if kind is int or kind is Here:
        return lambda: value
    raise StateUnknown(f"the main thread is given a {kind.__qualname__} when modules are imported")


def _generator(state: Any) -> random.Random:
    generator = random.Random()
    generator.setstate(state)
    return generator
