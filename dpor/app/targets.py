"""What a target is, and how it is opened as a system."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

from dpor.core.errors import BadTarget, UserError
from dpor.core.options import Options, options_of, spelled
from dpor.core.schedule import relative
from dpor.core.steps import Explained, Step
from dpor.core.system import Asking, Forwarding, Trace
from dpor.explorers import STATIC, STRATEGIES
from dpor.findings.data_races import RaceDetector
from dpor.findings.explain import Checkable
from dpor.model.embedding import Embedded

if TYPE_CHECKING:
    from dpor.python.program.target import Opener

Target: TypeAlias = "str | os.PathLike[str] | Callable[[], object] | Opener | Embedded"
"""`path/file.py::name`, `package.module:name`, a `.json` or `.jsonl` file of abstract programs, a callable, an object
that loads its program itself, or a system of one's own."""


def open_target(target: Target, options: Options, facts: Any = None) -> Checkable:
    """Return the system for a target. Raises `UserError` (`BadTarget`, `BadProgram`)."""
    system = _open(target, options, facts)
    return cast(Checkable, RaceDetector(system)) if options.races else system


def _open(target: Target, options: Options, facts: Any) -> Checkable:
    if isinstance(target, Embedded):
        _refuse_runtime_options(options, "a system of your own")
        if options.every_access:
            raise UserError("--every-access means nothing for a system of your own: every access is one; leave it out")
        if options.races:
            raise UserError("--races needs locks and the like, which a system of your own does not have; leave it out")
        if options.checkpoint:
            raise UserError("--checkpoint: no file can keep a search of a system of your own; leave it out")
        return target
    given = os.fspath(target) if isinstance(target, os.PathLike) else target
    if _is_model(given):
        return cast(Checkable, _ModelTarget(given, options))

    _refuse_name(options)
    from dpor.python.kernel.options import RuntimeOptions, StaticOptions
    from dpor.python.program.system import PythonSystem

    statics = None
    if options.explorer in STATIC:
        unhooked = not STRATEGIES[options.explorer].asks_facts
        statics = StaticOptions(options.field_access.value, options.pointers.value, options.immutable, unhooked)

    runtime = RuntimeOptions(
        max_steps=options.max_steps,
        timeouts=options.timeouts.value,
        timeout_limit=options.timeout_limit,
        max_delay=options.max_delay,
        every_access=options.every_access,
        whole_states=options.whole_states,
        statics=statics,
        oracle=options.oracle,
        trusted=frozenset(options.trust),
        closed=bool(options.only),
        cache=options.cache,
    )
    return PythonSystem(given, runtime, (*options.instrument, *options.only), facts)


def programs_named(target: str, options: Options) -> list[str | None]:
    """Return the names of the programs in a target: for a file of several abstract programs their names, unless the
    options name one; else [None]. Loads no Python. Raises `UserError` if the target names nothing, or the options do
    not fit it."""
    if not _is_model(target):
        _refuse_name(options)
        from dpor.python.program.target import parsed

        parsed(target)
        return [None]
    from dpor.model import load, load_all

    _refuse_runtime_options(options, "an abstract program")
    if options.name is not None:
        load(target, options.name)
        return [options.name]
    programs = load_all(target)
    return [None] if len(programs) == 1 else [program.name for program in programs]


def _refuse_name(options: Options) -> None:
    if options.name is not None:
        raise UserError(f"--name {options.name}: only programs of .json and .jsonl files have such names; leave it out")


def _refuse_runtime_options(options: Options, what: str) -> None:
    for field, about in options_of(type(options)):
        if about.python_only and getattr(options, field.name) != field.default:
            raise UserError(f"{spelled(field.name)} means nothing for {what}; leave it out")


def beat_of(target: Target) -> Callable[[FrameType | None, int | None], None]:
    """Return the function that ends too long runs of this target (`dpor.python.kernel.loops.beat`). For abstract
    programs, whose runs are short, it does nothing."""
    if not is_python(target):
        return lambda frame, patience: None
    from dpor.python.kernel import loops

    return loops.beat


def shareable(target: Target, options: Options) -> Target:
    """Return the target; if other processes should search, too, as they can open it. Raises `UserError` if they
    cannot."""
    if not options.is_shared or isinstance(target, str):
        return target
    if isinstance(target, os.PathLike):
        return os.fspath(target)
    if isinstance(target, FunctionType):
        module, file = sys.modules.get(target.__module__), target.__code__.co_filename
        if getattr(module, target.__qualname__, None) is target and getattr(module, "__file__", None) == file:
            return f"{relative(file)}::{target.__qualname__}"
    how = spelled("workers" if options.cluster is None else "cluster")
    raise UserError(f"{how}: other processes cannot search this target; name a function of a file or module")


def is_python(target: Target) -> bool:
    """True for a Python program; False for an abstract program or a system of one's own."""
    return not isinstance(target, Embedded) and not _is_model(target)


def _is_model(target: Target) -> TypeGuard[str]:
    if isinstance(target, (str, os.PathLike)):
        return Path(os.fspath(target)).suffix in (".json", ".jsonl")
    if not callable(target) and not hasattr(target, "open_in"):
        raise BadTarget(f"a target is a callable or a string such as 'path/file.py::name', not {target!r}")
    return False


def target_name(target: Target, options: Options) -> str:
    """Return the name of the target in reports."""
    if isinstance(target, (str, os.PathLike)):
        name = os.fspath(target)
        return f"{name} {options.name}" if options.name else name
    if not callable(target):
        return target.name
    named = target if hasattr(target, "__qualname__") else type(target)
    return f"{getattr(named, '__module__', '?')}:{getattr(named, '__qualname__', '?')}"


class _ModelTarget(Forwarding):
    """An abstract program as a `Checkable`."""

    def __init__(self, path: str, options: Options) -> None:
        from dpor.model import AbstractSystem, load

        _refuse_runtime_options(options, "an abstract program")
        self._path = path
        self._system = system = AbstractSystem(load(path, options.name), options.max_steps)
        super().__init__(system)

    def describe(self, trace: Trace) -> Explained:
        return Explained(
            tuple(
                Step(event.thread, None, None, f"{event.place}  {event.statement}", event.kind, event.value)
                for event in self._system.describe(trace)
            )
        )

    def aloud(self) -> AbstractContextManager[None]:
        return nullcontext()

    def sources(self) -> Mapping[str, str]:
        from hashlib import sha256

        return {self._path: sha256(Path(self._path).read_bytes()).hexdigest()}

    def imported(self) -> Mapping[str, str]:
        return {}

    def versions(self) -> Mapping[str, str]:
        return {}

    def facts(self) -> Any:
        return None

    def states_are_common(self) -> bool:
        return True

    def locations(self) -> list[str]:
        return []  # every process numbers them in the order of the program

    def number_by(self, ask: Asking) -> None:
        pass

    def agree(self, locations: Sequence[str], facts: Any) -> None:
        pass
