"""`logging`: the program gets the real module, with modelled locks where they matter.

A handler holds its lock while it emits. A real lock would not exclude model threads from each other, because they are
greenlets of one OS thread; so handlers that a program makes get a modelled one. If all that happens under the lock is
that a library's handler writes to the standard streams, the lock is left out: nothing can come in between, and to order
the lines of a log that nobody reads would double the search with each record.

What a record shows of its arguments, and what a handler writes to a file in memory or keeps in a list, can be seen by
the program: both are operations.

The configuration of loggers and handlers, and the names of levels, are part of the state of the process: one location.

The lock of the module itself stays real, because no code of the program runs under it.
"""

from __future__ import annotations

import _thread
import logging
import logging.config
import logging.handlers
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from dpor.core.operations import READ, WRITE, Mode
from dpor.python.dropins.idents import get_ident, look_at_thread
from dpor.python.dropins.locks import RLock
from dpor.python.dropins.threads import current_thread
from dpor.python.effects.accesses import Reread, Touched, yield_before
from dpor.python.effects.dicts import reads_key, writes_all
from dpor.python.effects.kinds import container_type_of
from dpor.python.effects.process_state import accesses, before_change, objects_named, part
from dpor.python.effects.reach import SHOW, writes
from dpor.python.hooks import attributes
from dpor.python.hooks.calls.unknown import yield_before_call
from dpor.python.hooks.exceptions import read_shown
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects


class HandlerLock(RLock):
    """A handler's lock; it does nothing if the lock does not matter."""

    def __init__(self, handler: logging.Handler) -> None:
        super().__init__()
        self._handler = handler

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if run.current is None:
            return True
        matters = _matters(self._handler)
        self._taken().append(matters)
        return not matters or super().acquire(blocking, timeout)

    def release(self) -> None:
        if run.current is not None and self._taken().pop():
            super().release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exc_info: object) -> None:
        self.release()

    def _taken(self) -> list[bool]:
        """Return, for each time that the current thread holds the lock, whether it mattered."""
        taken: list[bool] = run.current.data.setdefault(("handler lock", self.dpor_location), [])
        return taken


def _matters(handler: logging.Handler) -> bool:
    """True if code of the program can run, or the program can see an effect, while the handler emits."""
    if type(handler) is logging.NullHandler:
        return False
    if type(handler) is not logging.StreamHandler or handler.stream not in (sys.stderr, sys.stdout):
        return True
    return type(handler.formatter) not in (types.NoneType, logging.Formatter)


# ---------------------------------------------------------------------- while the program runs


def _create_lock(self: logging.Handler) -> None:
    if run.current is not None and _thread.get_ident() == run.os_thread:
        self.lock = HandlerLock(self)  # type: ignore[assignment]
    else:
        _REAL_CREATE_LOCK(self)


def _make_record(self: logging.LogRecord, *args: Any, **kwargs: Any) -> None:
    """The record tells in which model thread it was made. (That a task of a pool has one to tell matters only where
    somebody looks at the record.)"""
    _REAL_MAKE_RECORD(self, *args, **kwargs)
    if run.current is not None and logging.logThreads and _thread.get_ident() == run.os_thread:
        self.thread, self.threadName = get_ident(), current_thread().name


def _get_message(self: logging.LogRecord) -> str:
    if run.multi and _thread.get_ident() == run.os_thread:
        if shared_objects.shared_object_of(self) is not None:
            for name in tuple(vars(self)):
                attributes.loaded(self, name)
        yield_before_call(_REAL_GET_MESSAGE, (self.msg, self.args), SHOW)
    return _REAL_GET_MESSAGE(self)


def _format_exception(self: logging.Formatter, ei: Any) -> str:
    if run.multi and _thread.get_ident() == run.os_thread:
        touched = Touched()
        touched.deeply(read_shown, (ei,))
        yield_before("format", touched)
    return _REAL_FORMAT_EXCEPTION(self, ei)


def _emitting(real: Callable[..., None]) -> Callable[..., None]:
    def emit(self: logging.Handler, record: logging.LogRecord) -> None:
        if run.multi and isinstance(self.lock, HandlerLock) and _matters(self):
            touched = Touched()
            touched.deeply(writes, Reread(lambda: [held for name, held in vars(self).items() if name in _OUTPUTS]))
            yield_before("emit", touched)
        real(self, record)

    return emit


_OUTPUTS: Final = ("stream", "buffer")
"""Fields of handlers that hold what they write to."""


def _setting(real: Callable[..., Any], mode: Mode) -> Callable[..., Any]:
    """Wrap a function that changes or reads the configuration of loggers and handlers."""

    def set_(*args: Any, **kwargs: Any) -> Any:
        if not _is_part_of_another():
            registry = _registry() if real.__name__ in _CONFIGURING else ()
            _yield_before(real.__name__, mode, args[:1] if real.__name__ in _USING_LISTS else (), registry)
            if mode is WRITE:
                for value in args[1:]:
                    shared_objects.publish(value)
        return real(*args, **kwargs)

    return set_


def _is_part_of_another() -> bool:
    """True if the call is part of another one: whoever holds the lock of the module has already yielded before it."""
    return _thread.get_ident() != run.os_thread or logging._lock._is_owned()  # type: ignore[attr-defined]


def _handle_by(self: logging.Handler, record: logging.LogRecord) -> bool:
    """Handle the record; afterwards the logger looks which handlers there are."""
    if _thread.get_ident() == run.os_thread and (self.filters or _matters(self)):
        look_at_thread()
    handled = _REAL_HANDLE_BY(self, record)
    if not _is_part_of_another():
        _yield_before("handle", READ, (self, *run.current.data.get(_LOGGING_BY, ())))
    return handled


def _handle(self: logging.Logger, record: logging.LogRecord) -> None:
    """Handle the record, unless the program logs it only because its threads are being unwound after the run."""
    if not run.unwinding or _thread.get_ident() != run.os_thread:
        _yield_before("handle", READ, (self,))
        if run.current is None or _thread.get_ident() != run.os_thread:
            _REAL_HANDLE(self, record)
            return
        if self.filters:
            look_at_thread()
        data = run.current.data
        outer, data[_LOGGING_BY] = data.get(_LOGGING_BY, ()), (self,)
        try:
            _REAL_HANDLE(self, record)
        finally:
            data[_LOGGING_BY] = outer


_LOGGING_BY: Final = "logging by"
"""Key in the data of a thread: the logger that handles a record."""


def _yield_before(name: str, mode: Mode, owners: tuple[Any, ...], changed: tuple[Any, ...] = ()) -> None:
    """Yield before `logging` reads or changes how it is set, and the lists of the owners, which the program may change
    itself (`logger.handlers.clear()`). `changed`: objects that it changes besides."""
    if mode is not READ:
        before_change(LOGGING)
    if run.multi:
        touched = Touched(accesses(LOGGING, mode))
        touched.deeply(_lists, owners, mode)
        touched.deeply(_writes, changed)
        yield_before(name, touched)


def _lists(owners: tuple[Any, ...], mode: Mode, touched: Touched) -> None:
    for owner in owners:
        while isinstance(owner, logging.Filterer):
            for held in (owner.filters, getattr(owner, "handlers", None)):
                shared = shared_objects.shared_object_of(held)
                kind = container_type_of(type(held))
                if shared is not None and kind is not None:
                    touched.add(kind.reads_all(shared) if mode is READ else kind.writes_all(shared))
            owner = getattr(owner, "parent", None) if mode is READ else None


def _get_logger(self: logging.Manager, name: str) -> logging.Logger:
    """Find the logger, or make it: then the registry changes, at which programs may look."""
    registry = _registry() if run.multi and isinstance(name, str) and not _is_part_of_another() else ()
    if registry:
        touched = Touched()
        touched.deeply(_looks_up, registry[0], name)
        yield_before("getLogger", touched)
    return _REAL_GET_LOGGER(self, name)


def _registry() -> tuple[Any, ...]:
    """Return the dict of all loggers, if the program names it."""
    return objects_named("logging", "root.manager.loggerDict")


def _looks_up(registry: Any, name: str, touched: Touched) -> None:
    shared = shared_objects.shared_object_of(registry)
    if shared is not None and isinstance(registry.get(name), logging.Logger):
        touched.add(reads_key(shared, registry, name))
    else:
        _writes((registry,), touched)


def _writes(objects: tuple[Any, ...], touched: Touched) -> None:
    for changed in objects:
        shared = shared_objects.shared_object_of(changed)
        if shared is not None:
            touched.add(writes_all(shared))


_CONFIGURING: Final = ("dictConfig", "fileConfig")
"""Functions that make loggers."""
_USING_LISTS: Final = ("addHandler", "removeHandler", "hasHandlers", "addFilter", "removeFilter")
"""Methods that read or change the lists of handlers or filters."""

LOGGING: Final = "how logging is set"
_NAMES: Final = ("_loggerClass", "_logRecordFactory", "raiseExceptions", "lastResort")


def _levels_and_names() -> Any:
    names = vars(logging)
    return dict(names["_levelToName"]), dict(names["_nameToLevel"]), [names[name] for name in _NAMES]


def _put_levels_and_names(value: Any) -> None:
    """Restore levels and names. (`HostState` restores the loggers.)"""
    names = vars(logging)
    for name, levels in zip(("_levelToName", "_nameToLevel"), value, strict=False):
        names[name].clear()
        names[name].update(levels)
    names.update(zip(_NAMES, value[2], strict=True))


part(LOGGING, _levels_and_names, _put_levels_and_names)

_REAL_HANDLE_BY: Final = logging.Handler.handle
_REAL_HANDLE: Final = logging.Logger.handle
_REAL_CREATE_LOCK: Final = logging.Handler.createLock
_REAL_MAKE_RECORD: Final = logging.LogRecord.__init__
_REAL_GET_MESSAGE: Final = logging.LogRecord.getMessage
_REAL_FORMAT_EXCEPTION: Final = logging.Formatter.formatException
_REAL_GET_LOGGER: Final = logging.Manager.getLogger
_CHANGED: Final = [
    (logging.Manager, "getLogger", _REAL_GET_LOGGER, _get_logger),
    (logging.Formatter, "formatException", _REAL_FORMAT_EXCEPTION, _format_exception),
    (logging.Handler, "createLock", _REAL_CREATE_LOCK, _create_lock),
    (logging.Logger, "handle", _REAL_HANDLE, _handle),
    (logging.LogRecord, "__init__", _REAL_MAKE_RECORD, _make_record),
    (logging.LogRecord, "getMessage", _REAL_GET_MESSAGE, _get_message),
    *[
        (owner, "emit", vars(owner)["emit"], _emitting(vars(owner)["emit"]))
        for owner in (logging.StreamHandler, logging.handlers.BufferingHandler)
    ],
    (logging.Handler, "handle", _REAL_HANDLE_BY, _handle_by),
    *[
        (owner, name, vars(owner)[name], _setting(vars(owner)[name], mode))
        for owner, names, mode in (
            (logging.Logger, "setLevel addHandler removeHandler", WRITE),
            (logging.Logger, "isEnabledFor getEffectiveLevel hasHandlers", READ),
            (logging.Handler, "setLevel setFormatter", WRITE),
            (logging.Handler, "format", READ),
            (logging.Filterer, "addFilter removeFilter", WRITE),
            (logging, "basicConfig disable addLevelName setLoggerClass setLogRecordFactory", WRITE),
            (logging, "getLevelName getLoggerClass getLogRecordFactory getLevelNamesMapping", READ),
            (logging.config, "dictConfig fileConfig", WRITE),
        )
        for name in names.split()
        if name in vars(owner)
    ],
]


@contextmanager
def watched(program_threading: types.ModuleType | None) -> Iterator[None]:
    """Context in which a program that imports `logging` runs. The thread of a `QueueListener` is a thread of the
    program."""
    for owner, name, _, ours in _CHANGED:
        setattr(owner, name, ours)
    vars(logging.handlers)["threading"] = program_threading
    try:
        yield
    finally:
        vars(logging.handlers)["threading"] = threading
        for owner, name, real, _ in _CHANGED:
            setattr(owner, name, real)
