"""What functions of the library do to the state of the process (`effects/process_state.py`), one row for each part.

A function is found by its module and name, wherever the program got it from. One call is one operation: it looks at
some parts, or changes them. It also reads its arguments, or writes and keeps them if it changes a part.
"""

from __future__ import annotations

import _csv
import codecs
import contextlib
import decimal
import faulthandler
import functools
import gc
import locale
import os
import socket
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from dpor.core.operations import READ, WRITE, Mode
from dpor.python.effects import process_state
from dpor.python.effects.accesses import Reread, Touched, yield_before
from dpor.python.effects.process_state import PartName, kept, part
from dpor.python.effects.reach import ANYTHING, SHOW, reads, writes
from dpor.python.hooks import attributes
from dpor.python.hooks.calls.registry import set_wrapper, wrap
from dpor.python.hooks.operators import SCALARS
from dpor.python.kernel import depth
from dpor.python.kernel.classes import imported_as, namespace_of
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects

Effect: TypeAlias = tuple[PartName, Mode]
Effects: TypeAlias = Callable[[tuple[Any, ...], Mapping[str, Any]], Iterable[Effect]]
"""Returns the effects of a call with these arguments."""

# ---------------------------------------------------------------------- the table


class EffectRow(NamedTuple):
    """A part, and the functions that look at it and that change it, each as `module.name`, separated by spaces."""

    part: str
    looks: str
    changes: str


COLLECTOR: Final = "the garbage collector"
WARNINGS: Final = "the filters of warnings"
LOCALE: Final = "the locale"
FOLDER: Final = "the working folder"
UMASK: Final = "the umask"
ENVIRONMENT: Final = "the environment in C"
ZONE: Final = "the time zone"
CODECS: Final = "the registry of codecs"
DIALECTS: Final = "the dialects of csv"
TIMEOUT: Final = "the default timeout of sockets"
FAULTS: Final = "the fault handler"
SIGNALS: Final = "the handlers of signals"
TRACING: Final = "the tracing of memory"
WEEKDAY: Final = "the first weekday of calendar"
PRIORITY: Final = "the priority of the process"

ROWS: Final = (
    EffectRow(
        COLLECTOR,
        "gc.isenabled gc.get_threshold gc.get_debug gc.get_freeze_count",
        "gc.enable gc.disable gc.set_threshold gc.set_debug gc.freeze gc.unfreeze",
    ),
    EffectRow("the recursion limit", "sys.getrecursionlimit", "sys.setrecursionlimit"),
    EffectRow("the switch interval", "sys.getswitchinterval", "sys.setswitchinterval"),
    EffectRow("the limit of digits", "sys.get_int_max_str_digits", "sys.set_int_max_str_digits"),
    EffectRow("the flags of dlopen", "sys.getdlopenflags", "sys.setdlopenflags"),
    EffectRow(
        WARNINGS,
        "",
        "warnings.simplefilter warnings.filterwarnings warnings.resetwarnings",
    ),
    EffectRow(
        LOCALE,
        "locale.localeconv locale.strcoll locale.strxfrm locale.nl_langinfo locale.getlocale locale.format_string"
        " locale.currency locale.str locale.atof locale.atoi locale.delocalize locale.localize locale.getencoding"
        " locale.getpreferredencoding locale.gettext locale.dgettext locale.dcgettext time.strftime",
        "locale.textdomain locale.bindtextdomain locale.bind_textdomain_codeset",
    ),
    EffectRow(ZONE, "time.localtime time.mktime time.ctime time.asctime time.strftime", "time.tzset"),
    EffectRow(
        CODECS,
        "codecs.lookup codecs.encode codecs.decode codecs.getencoder codecs.getdecoder codecs.getreader"
        " codecs.getwriter codecs.getincrementalencoder codecs.getincrementaldecoder codecs.lookup_error codecs.open",
        "codecs.register codecs.unregister codecs.register_error",
    ),
    EffectRow(
        DIALECTS,
        "csv.get_dialect csv.list_dialects csv.reader csv.writer csv.field_size_limit",
        "csv.register_dialect csv.unregister_dialect",
    ),
    EffectRow(TIMEOUT, "socket.getdefaulttimeout", "socket.setdefaulttimeout"),
    EffectRow(FAULTS, "faulthandler.is_enabled", "faulthandler.enable faulthandler.disable"),
    EffectRow(
        TRACING,
        "tracemalloc.is_tracing tracemalloc.get_traced_memory tracemalloc.get_traceback_limit"
        " tracemalloc.take_snapshot",
        "tracemalloc.start tracemalloc.stop tracemalloc.clear_traces tracemalloc.reset_peak",
    ),
    EffectRow(
        FOLDER,
        "os.getcwd os.getcwdb pathlib.Path.cwd pathlib.Path.absolute posixpath.abspath posixpath.realpath"
        " posixpath.relpath",
        "os.chdir os.fchdir",
    ),
    EffectRow(UMASK, "", "os.umask"),
    EffectRow(
        WEEKDAY,
        "calendar.Calendar.getfirstweekday calendar.Calendar.iterweekdays calendar.Calendar.monthdatescalendar"
        " calendar.Calendar.monthdayscalendar calendar.Calendar.monthdays2calendar calendar.TextCalendar.formatmonth"
        " calendar.TextCalendar.formatyear calendar.TextCalendar.prmonth calendar.TextCalendar.pryear"
        " calendar.TextCalendar.formatweekheader",
        "calendar.setfirstweekday",
    ),
    EffectRow(PRIORITY, "os.getpriority", "os.setpriority os.nice"),
)

OBJECTS: Final = {
    "warnings.filters": "warnings.simplefilter warnings.filterwarnings warnings.resetwarnings",
    "copyreg.dispatch_table": "copyreg.pickle",
    "linecache.cache": "linecache.getline linecache.getlines linecache.updatecache linecache.lazycache"
    " linecache.checkcache linecache.clearcache",
}
"""Objects that modules keep and show, and the functions that change them."""

_changed_by: Final = {name: shown for shown, names in OBJECTS.items() for name in names.split()}

effects_of: Final[dict[str, list[Effects | Effect]]] = {}
"""The effects of each function, by its module and name."""

for _row in ROWS:
    for _name in _row.looks.split():
        effects_of.setdefault(_name, []).append((_row.part, READ))
    for _name in _row.changes.split():
        effects_of.setdefault(_name, []).append((_row.part, WRITE))


def does(*names: str) -> Callable[[Effects], Effects]:
    """Decorator: the function returns further effects of a call of these functions, besides those in the rows."""

    def register(effects: Effects) -> Effects:
        for name in names:
            effects_of.setdefault(name, []).append(effects)
        return effects

    return register


@does("locale.setlocale")
def _setlocale(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterable[Effect]:
    """A call without a second argument only reads the locale; an empty one sets it to that of the environment."""
    to = args[1] if len(args) > 1 else kwargs.get("locale")
    if to == "":
        yield ENVIRONMENT, WRITE
    yield LOCALE, READ if to is None else WRITE


@does("os.putenv", "os.unsetenv", "os._clearenv")
def _putenv(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterable[Effect]:
    """Many calls change the environment and few look at it, so the modes are exchanged: changes are silent until
    something looks at it. (Two changes of one name are ordered by `os.environ`.)"""
    yield ENVIRONMENT, READ


@does("time.tzset")
def _tzset(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterable[Effect]:
    yield ENVIRONMENT, WRITE


@does("csv.field_size_limit")
def _field_size_limit(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterable[Effect]:
    if args or kwargs:
        yield DIALECTS, WRITE


@does("copyreg.pickle")
def _pickle(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterable[Effect]:
    if run.multi:
        incomplete("copyreg.pickle is called while several threads exist: copy and pickle do not see when")
    return ()


# ---------------------------------------------------------------------- calls

_SAME: Final = {
    "posix": "os", "nt": "os", "_py_warnings": "warnings", "ntpath": "posixpath", "pathlib._local": "pathlib",
    "pathlib._abc": "pathlib",
}  # fmt: skip
"""Modules that are in the table under another name."""


def name_in_table(module: str, name: str) -> str:
    """Return the name under which the table has a function of this module."""
    return f"{_SAME.get(module) or module.lstrip('_')}.{name.replace('PathBase.', 'Path.')}"


def in_process(function: Any, module: str, instead: Callable[..., Any] | None = None) -> Callable[..., Any] | None:
    """Register and return what is called from now on in place of a function that is in the table; None if it is not.

    instead   the function that does the work, if not the function itself
    """
    name = name_in_table(module, getattr(function, "__qualname__", ""))
    effects = effects_of.get(name, [])
    shown = _changed_by.get(name)
    if not effects and shown is None:
        return None
    made = _with_effects(function, instead or function, tuple(effects), shown)
    set_wrapper(function, made)
    return made


def _with_effects(
    function: Callable[..., Any], run: Callable[..., Any], effects: tuple[Effects | Effect, ...], shown: str | None
) -> Callable[..., Any]:
    name = function.__name__
    module, _, attribute = (shown or "").partition(".")

    def call(*args: Any, **kwargs: Any) -> Any:
        def done() -> Iterator[Effect]:
            for effect in effects:
                if callable(effect):
                    yield from effect(args, kwargs)
                else:
                    yield effect

        objects = process_state.objects_named(module, attribute) if shown else ()
        yield_before_effects(name, done, (*args, *kwargs.values()), objects)
        return run(*args, **kwargs)

    return call


def yield_before_effects(
    name: str,
    effects: Callable[[], Iterable[Effect]] | Sequence[Effect],
    values: tuple[Any, ...] = (),
    objects: tuple[Any, ...] = (),
) -> None:
    """Yield before an operation of this name with these effects. It reads the values, or writes and keeps them if it
    changes the state of the process.

    effects   a function if other threads can change what the effects are while this one waits
    objects   objects that it changes in any case
    """
    now = list(effects() if callable(effects) else effects)
    changed = False
    for which, mode in now:
        if mode is not READ:
            changed = True
            process_state.before_change(which)
    if not run.multi:
        return
    touched = Touched()
    if callable(effects):
        touched.deeply(_add, effects)
    else:
        _add(lambda: now, touched)
    if not SCALARS.issuperset(map(type, values)):
        if changed:
            touched.deeply(writes, values)
        else:
            touched.deeply(reads, values, ANYTHING)
    if objects:
        touched.deeply(writes, objects)
    yield_before(name, touched)
    if changed or objects:
        for value in values:
            shared_objects.publish(value)


def _add(effects: Callable[[], Iterable[Effect]], touched: Touched) -> None:
    for which, mode in effects():
        touched.add(process_state.accesses(which, mode))


# ---------------------------------------------------------------------- how parts are looked at, and put back


class _Switch:
    """Something that the program switches on and off, while nothing is really switched."""

    def __init__(self, on: bool) -> None:
        self.on = on

    def enable(self, *args: Any, **kwargs: Any) -> None:
        self.on = True

    def disable(self) -> bool:
        on, self.on = self.on, False
        return on

    def is_enabled(self) -> bool:
        return self.on


_collecting: Final = _Switch(True)
"""During a run there are no garbage collections but explicit ones: others would happen at unpredictable moments."""
_handling: Final = _Switch(faulthandler.is_enabled())
"""The fault handler writes to a file of the system, which the program's standard error is not."""


def _collector() -> tuple[Any, ...]:
    return _collecting.on, gc.get_threshold(), gc.get_debug()


def _put_collector(value: tuple[Any, ...]) -> None:
    _collecting.on, threshold, flags = value
    gc.set_threshold(*threshold)
    gc.set_debug(flags)


def _gc_disable() -> None:
    _collecting.disable()


part(COLLECTOR, _collector, _put_collector, unseen=True)
in_process(gc.enable, "gc", _collecting.enable)
in_process(gc.disable, "gc", _gc_disable)
in_process(gc.isenabled, "gc", _collecting.is_enabled)
part(FAULTS, lambda: _handling.on, lambda on: _handling.enable() if on else _handling.disable())
for _name in ("enable", "disable", "is_enabled"):
    in_process(getattr(faulthandler, _name), "faulthandler", getattr(_handling, _name))

part("the recursion limit", depth.limit, lambda value: None)  # `depth.end_run` restores it
in_process(sys.getrecursionlimit, "sys", depth.limit)


def _setrecursionlimit(limit: int, /) -> None:
    if type(limit) is int and limit > 0:
        depth.set_limit(limit)
    else:
        sys.setrecursionlimit(limit)  # raises the right error


in_process(sys.setrecursionlimit, "sys", _setrecursionlimit)

part("the switch interval", sys.getswitchinterval, sys.setswitchinterval, unseen=True)
part("the limit of digits", sys.get_int_max_str_digits, sys.set_int_max_str_digits, unseen=True)
if hasattr(sys, "getdlopenflags"):
    part("the flags of dlopen", sys.getdlopenflags, sys.setdlopenflags)
part(LOCALE, lambda: locale.setlocale(locale.LC_ALL), lambda value: locale.setlocale(locale.LC_ALL, value), unseen=True)
part(FOLDER, os.getcwd, os.chdir, unseen=True)


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value


part(UMASK, _umask, os.umask, unseen=True)
part(ENVIRONMENT, lambda: None, lambda value: None)  # `HostState` restores it, with `os.environ`
if hasattr(time, "tzset"):
    part(ZONE, lambda: (os.environ.get("TZ"), time.tzname), lambda value: time.tzset())


def _put_priority(value: int) -> None:
    try:
        os.setpriority(os.PRIO_PROCESS, 0, value)
    except OSError:  # a priority that was lowered may not be raised again
        pass


if hasattr(os, "setpriority"):
    part(PRIORITY, lambda: os.getpriority(os.PRIO_PROCESS, 0), _put_priority)


def _dialects() -> Any:
    return _csv.field_size_limit(), {name: _csv.get_dialect(name) for name in _csv.list_dialects()}


def _put_dialects(value: Any) -> None:
    limit, dialects = value
    _csv.field_size_limit(limit)
    for name in _csv.list_dialects():
        if name not in dialects:
            _csv.unregister_dialect(name)
    for name, dialect in dialects.items():
        _csv.register_dialect(name, dialect)


part(DIALECTS, _dialects, _put_dialects, unseen=True)
part(TIMEOUT, socket.getdefaulttimeout, socket.setdefaulttimeout, unseen=True)
part(SIGNALS, lambda: None, lambda value: None)  # they belong to the run: see `dropins/outside.py`


def _put_tracing(value: tuple[bool, int]) -> None:
    tracing, frames = value
    tracemalloc.stop()
    if tracing:
        tracemalloc.start(frames)


part(TRACING, lambda: (tracemalloc.is_tracing(), tracemalloc.get_traceback_limit()), _put_tracing)


class _Codecs:
    """What this run has registered with `codecs`; `_put_codecs` empties it.

    searches   the functions
    errors     the error handlers, each with the handler that was there before, or None
    """

    __slots__ = ("errors", "searches")

    def __init__(self) -> None:
        self.searches: list[Any] = []
        self.errors: dict[str, Any] = {}


_registered: Final = _Codecs()


def _register(search: Any, /) -> None:
    codecs.register(search)
    _registered.searches.append(search)


def _register_error(name: str, handler: Any, /) -> None:
    try:
        before = codecs.lookup_error(name)
    except LookupError:
        before = None
    codecs.register_error(name, handler)
    _registered.errors.setdefault(name, before)


def _put_codecs(value: object) -> None:
    for search in _registered.searches:
        codecs.unregister(search)
    for name, before in _registered.errors.items():
        if before is None:
            _registry_of_errors().pop(name, None)
        else:
            codecs.register_error(name, before)
    _registered.__init__()  # type: ignore[misc]


@functools.cache
def _registry_of_errors() -> dict[str, Any]:
    """Return the interpreter's own dict of error handlers, which no function of Python returns."""
    found = gc.get_referrers(codecs.lookup_error("ignore"))
    return next(
        (names for names in found if type(names) is dict and "backslashreplace" in names and "__name__" not in names),
        {},
    )


def _put_codecs_again(value: Any) -> None:
    searches, handlers = value
    for search in searches:
        _register(search)
    for name, handler in handlers.items():
        _register_error(name, handler)


part(
    CODECS,
    lambda: ([*_registered.searches], {name: codecs.lookup_error(name) for name in _registered.errors}),
    _put_codecs,
    again=_put_codecs_again,
)
in_process(codecs.register, "codecs", _register)
in_process(codecs.register_error, "codecs", _register_error)

# ---------------------------------------------------------------------- objects of modules


def _refill_list(found: list[Any], contents: list[Any]) -> None:
    found[:] = contents


def _refill_dict(found: dict[Any, Any], contents: dict[Any, Any]) -> None:
    found.clear()
    found.update(contents)


def _refill_modules(found: dict[str, Any], contents: dict[str, Any]) -> None:
    """Restore `sys.modules`. Modules imported meanwhile stay, and those that have put another object in their own
    place; with a top package, the entries that it has made for its parts."""
    new = found.keys() - contents.keys()
    stay = {name for name in new if _is_imported(found[name], name)}
    for name in new:
        if name not in stay and name.partition(".")[0] not in stay:
            del found[name]
    found.update({name: module for name, module in contents.items() if not _has_replaced(found.get(name), module)})


def _is_imported(module: Any, name: str) -> bool:
    return imported_as(module) == name or run.is_program_file(namespace_of(module).get("__file__", ""))


def _has_replaced(module: Any, before: Any) -> bool:
    return module is not before and _is_of_program(module) and module.__file__ == getattr(before, "__file__", None)


def _is_of_program(module: Any) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and run.is_program_file(file)


for _list in ("path", "argv", "meta_path", "path_hooks", "warnoptions"):
    kept("sys", _list, list, _refill_list)
kept("sys", "modules", dict, _refill_modules)
kept("sys", "path_importer_cache", dict, _refill_dict, is_cache=True)
kept("warnings", "filters", list, _refill_list)
kept("copyreg", "dispatch_table", dict, _refill_dict, "copyreg")
kept("linecache", "cache", dict, _refill_dict)
kept("logging", "root.manager.loggerDict", dict, _refill_dict, "loggerDict")
part(
    WEEKDAY,
    lambda: sys.modules["calendar"].firstweekday(),
    lambda day: sys.modules["calendar"].setfirstweekday(day),
)

_FIELDS: Final = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


def _fields_of(context: decimal.Context) -> Any:
    return (
        {name: getattr(context, name) for name in _FIELDS},
        [flag for flag, on in context.flags.items() if on],
        [trap for trap, on in context.traps.items() if on],
    )


def _put_fields(context: decimal.Context, value: Any) -> None:
    fields, flags, traps = value
    for name, held in fields.items():
        setattr(context, name, held)
    for signals, on in ((context.flags, flags), (context.traps, traps)):
        for signal in list(signals):
            signals[signal] = signal in on


for _context in ("DefaultContext", "BasicContext", "ExtendedContext"):
    kept("decimal", _context, _fields_of, _put_fields)

# ---------------------------------------------------------------------- warnings

_SHOWING: Final = ("showwarning", "_showwarnmsg_impl")


def _filters() -> Any:
    names = vars(warnings)
    registry = names.get("onceregistry", {})
    return names["filters"], list(names["filters"]), dict(registry), {name: names.get(name) for name in _SHOWING}


def _put_filters(value: Any) -> None:
    filters, contents, registry, showing = value
    names = vars(warnings)
    filters[:] = contents
    names["filters"] = filters
    names.get("onceregistry", {}).clear()
    names.get("onceregistry", {}).update(registry)
    names.update(showing)
    names["_filters_mutated"]()


part(WARNINGS, _filters, _put_filters)


class _RedirectOut(contextlib.redirect_stdout):  # type: ignore[type-arg]
    """Its entry and its exit are operations, as with the other two."""

    def __enter__(self) -> Any:
        attributes.yield_before_write(sys, self._stream)  # type: ignore[attr-defined]
        shared_objects.publish(self._new_target)  # type: ignore[attr-defined]
        return super().__enter__()

    def __exit__(self, *exc_info: Any) -> None:
        attributes.yield_before_write(sys, self._stream)  # type: ignore[attr-defined]
        super().__exit__(*exc_info)


class _RedirectError(_RedirectOut):
    _stream = "stderr"


class _Folder(contextlib.chdir):  # type: ignore[type-arg]
    def __enter__(self) -> None:
        yield_before_effects("chdir", [(FOLDER, WRITE)])
        super().__enter__()

    def __exit__(self, *exc_info: Any) -> None:
        yield_before_effects("chdir", [(FOLDER, WRITE)])
        super().__exit__(*exc_info)


set_wrapper(contextlib.redirect_stdout, _RedirectOut)
set_wrapper(contextlib.redirect_stderr, _RedirectError)
set_wrapper(contextlib.chdir, _Folder)


class _CatchWarnings(warnings.catch_warnings):
    """Its entry and its exit are operations."""

    def __enter__(self) -> Any:
        yield_before_effects("enter", [(WARNINGS, WRITE)])
        log = super().__enter__()
        if log is not None and run.current is not None:
            shared_objects.publish(log)
            _recording.logs.append(log)
        return log

    def __exit__(self, *exc_info: Any) -> None:
        yield_before_effects("exit", [(WARNINGS, WRITE)])
        super().__exit__(*exc_info)


class _Recording:
    """The lists in which this run records warnings."""

    __slots__ = ("logs",)

    def __init__(self) -> None:
        self.logs: list[Any] = []


_recording: Final = run.attach(_Recording)
_CatchWarnings.__name__ = _CatchWarnings.__qualname__ = "catch_warnings"
set_wrapper(warnings.catch_warnings, _CatchWarnings)


@wrap(warnings.warn)
def _warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **more: Any) -> None:
    _yield_before_warning(message)
    warnings.warn(message, category, stacklevel + 1, source, **more)


@wrap(warnings.warn_explicit)
def _warn_explicit(message: Any, *args: Any, **kwargs: Any) -> None:
    _yield_before_warning(message)
    warnings.warn_explicit(message, *args, **kwargs)


def _yield_before_warning(message: Any) -> None:
    """Yield before a warning: it reads the filters, and is added to the list where warnings are recorded."""
    if run.multi:
        touched = Touched(process_state.accesses(WARNINGS, READ))
        touched.add(process_state.attribute_read("warnings", "showwarning"))
        touched.deeply(reads, (message,), SHOW)
        touched.deeply(writes, Reread(lambda: _recording.logs[-1:]))
        touched.deeply(reads, process_state.objects_named("warnings", "filters"), ANYTHING)
        yield_before("warn", touched)
