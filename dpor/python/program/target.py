"""Finds what to run: `path/file.py::name`, `package.module:name`, a workload by name, or a callable of the host."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from dpor.core import workload_list
from dpor.core.errors import BadTarget
from dpor.core.workload_list import Workload
from dpor.python.program.host_functions import ProgramCopies
from dpor.python.program.loader import Loader


class Target(Protocol):
    """What is run. `function()` returns a new callable for every run; `finish()` is called in the same run after the
    callable has ended, whatever happened."""

    def function(self) -> Callable[[], object]: ...

    def finish(self) -> None: ...

    @property
    def entry(self) -> str | None:
        """The place of the target's source, as "path::dotted.name"; None if no module contains it."""
        ...

    @property
    def kept(self) -> Sequence[object]:
        """The objects on which `finish` depends: part of the state of a run."""
        ...


class Opener(Protocol):
    """A target that knows itself how it is loaded. `name`: its name in reports and schedules."""

    @property
    def name(self) -> str: ...

    def open_in(self, loader: Loader) -> Target:
        """Load the program. Raises `BadTarget`."""
        ...


class _Unarranged:
    """Base of targets that need nothing done after them."""

    kept: Final = ()
    entry: str | None = None

    def finish(self) -> None:
        pass


class NamedTarget(_Unarranged):
    """A dotted name in an instrumented module."""

    def __init__(self, module: types.ModuleType, name: str, text: str) -> None:
        self._module = module
        self._names = name.split(".")
        self._text = text
        self.entry = f"{module.__file__}::{name}"
        _check_callable(self.function(), text)

    def function(self) -> Callable[[], object]:
        found: Any = self._module
        for i, name in enumerate(self._names):
            owner = found
            try:
                found = getattr(owner, name)
            except AttributeError:
                known = ", ".join(_callables(owner)[:8]) or "nothing that can be called"
                where = ".".join(self._names[:i]) or self._module.__name__
                raise BadTarget(f"{self._text}: there is no {name!r} in {where}; it has {known}") from None
            if isinstance(owner, type) and isinstance(vars(owner).get(name), types.FunctionType):
                found = getattr(_instance(owner, self._text), name)
        return found  # type: ignore[no-any-return]


class WorkloadTarget(NamedTarget):
    """The `main` of a workload, with arguments."""

    def __init__(self, workload: Workload, arguments: dict[str, int], loader: Loader, text: str) -> None:
        self._arguments = arguments
        super().__init__(_module(f"dpor.workloads.{workload.name}", loader, text), "main", text)

    def function(self) -> Callable[[], object]:
        return functools.partial(super().function(), **self._arguments)


class HostTarget(_Unarranged):
    """A callable of the host: its instrumented code, with its closure, defaults, object and arguments as the program
    would have them (see `dpor.python.program.host_functions`)."""

    def __init__(self, target: Callable[[], object], module: types.ModuleType, loader: Loader) -> None:
        self._target = target
        self._module = module
        self._loader = loader
        self.function()

    def function(self) -> Callable[[], object]:
        return ProgramCopies(self._module, self._loader).value(self._target)  # type: ignore[no-any-return]


def load_target(target: str | Callable[[], object] | Opener, loader: Loader) -> Target:
    """Load the program that the target is in. Raises `BadTarget`."""
    if callable(target):
        return _of_callable(target, loader)
    if not isinstance(target, str):
        return target.open_in(loader)
    match parsed(target):
        case Path() as file, str(name):
            return NamedTarget(loader.load_file(file), name, target)
        case Workload() as workload, dict(arguments):
            return WorkloadTarget(workload, arguments, loader, target)
        case str(module), str(name):
            return NamedTarget(_module(module, loader, target), name, target)
    raise AssertionError(target)


Parsed: TypeAlias = "tuple[Path, str] | tuple[Workload, dict[str, int]] | tuple[str, str]"
"""A file and a name in it, a workload and its arguments, or a module and a name in it."""


def parsed(target: str) -> Parsed:
    """Parse the text of a target, without loading anything. Raises `BadTarget`."""
    path, separator, name = target.partition("::")
    if separator:
        file = Path(path)
        if not file.is_file():
            raise BadTarget(f"{target}: there is no file {path}")
        if not name:
            raise BadTarget(f"{target}: name a function after the ::, as in {path}::main")
        return file, name
    workload = workload_list.named(target)
    if workload is not None:
        return workload
    module, separator, name = target.partition(":")
    if not separator or not name or not module:
        names = _scenarios(Path(target))
        hint = f" (as in {', '.join(f'{target}::{name}' for name in names)})" if names else ""
        raise BadTarget(
            f"{target}: a target is path/file.py::name{hint}, package.module:name, a .json or .jsonl file,"
            " or one of dpor workloads"
        )
    return module, name


def _scenarios(file: Path) -> list[str]:
    """Return functions of a Python file that could be meant: the first few that can be called without arguments."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return []
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    return [f.name for f in functions if len(f.args.posonlyargs + f.args.args) == len(f.args.defaults)][:3]


def _module(name: str, loader: Loader, text: str) -> types.ModuleType:
    import importlib.util

    if Path(name).is_file():
        raise BadTarget(f"{text}: a function of a file is written with two colons: {text.replace(':', '::', 1)}")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as error:
        raise BadTarget(f"{text}: there is no module {name} ({error})") from None
    if spec is None or spec.origin is None:
        raise BadTarget(f"{text}: there is no module {name}")
    if not spec.origin.endswith(".py"):
        raise BadTarget(f"{text}: {name} has no Python source ({spec.origin})")
    loader.border.set_root(Path(spec.origin))
    loader.border.include(name)
    return loader.load_name(name)


def _of_callable(target: Callable[[], object], loader: Loader) -> Target:
    code = _code_behind(target)
    name = getattr(target, "__qualname__", getattr(code, "__qualname__", repr(target)))
    if code is None:
        raise BadTarget(f"{name}: a target is written in Python (wrap it: def scenario(): ...)")
    _check_callable(target, name)
    file = Path(
        code.__code__.co_filename if isinstance(code, types.FunctionType) else loader.host_file(code.__module__)
    )
    if not file.is_file():
        raise BadTarget(f"{name}: its source {file} cannot be read, so it cannot be instrumented")
    module = loader.load_host_file(file, code.__module__)
    if isinstance(code, types.FunctionType) and loader.counterparts.code_at(code.__code__) is None:
        raise BadTarget(f"{name}: it was not found in {file} any more; was the file changed after it was imported?")
    if target is code and not getattr(code, "__closure__", None) and name.isidentifier() and hasattr(module, name):
        return NamedTarget(module, name, name)
    return HostTarget(target, module, loader)


def _code_behind(target: Any) -> types.FunctionType | type | None:
    """Return the function or class that is called in the end; None if it is written in C."""
    while isinstance(target, (functools.partial, types.MethodType)):
        target = target.func if isinstance(target, functools.partial) else target.__func__
    if isinstance(target, types.FunctionType):
        return target
    kind = target if isinstance(target, type) else type(target)
    call = inspect.getattr_static(kind, "__init__" if kind is target else "__call__", None)
    return kind if isinstance(call, types.FunctionType) else None


def _instance(owner: type, text: str) -> object:
    try:
        return owner()
    except TypeError as error:
        raise BadTarget(f"{text}: {owner.__name__} cannot be made without arguments: {error}") from None


def _callables(owner: object) -> list[str]:
    """Return the names of its callables; if some were not imported, only those."""
    found = {n: v for n, v in vars(owner).items() if callable(v) and not n.startswith(("_", "."))}
    own = [n for n, v in found.items() if getattr(v, "__module__", None) == getattr(owner, "__name__", None)]
    return own or list(found)


def _check_callable(found: object, text: str) -> None:
    if not callable(found):
        raise BadTarget(f"{text} is {type(found).__name__}, not something to call")
    if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found):
        raise BadTarget(f"{text} is async: asyncio programs are not checked yet")
    if inspect.isgeneratorfunction(found):
        raise BadTarget(f"{text} is a generator function: calling it runs nothing (call next() on it in a function)")
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return
    needed = [
        p.name
        for p in signature.parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if needed:
        raise BadTarget(f"{text} needs arguments ({', '.join(needed)}); a target is called without any")
