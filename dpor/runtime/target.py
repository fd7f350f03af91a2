"""Finds what to run: `path/file.py::name`, `package.module:name`, or a callable of the host."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from dpor.errors import BadTarget
from dpor.runtime.guests import Guests
from dpor.runtime.loader import Loader


class Target(Protocol):
    """What is run: `function()` gives the callable, anew for every run."""

    def function(self) -> Callable[[], object]: ...


class NamedTarget:
    """A dotted name in an instrumented module."""

    def __init__(self, module: types.ModuleType, name: str, text: str) -> None:
        self._module = module
        self._names = name.split(".")
        self._text = text
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


class ClosureTarget:
    """A function of the host: its instrumented code, with the closure and defaults that it had, as the program would
    have them (see `dpor.runtime.guests`)."""

    def __init__(self, function: types.FunctionType, module: types.ModuleType, loader: Loader) -> None:
        self._function = function
        self._module = module
        self._loader = loader
        self.function()

    def function(self) -> Callable[[], object]:
        guests = Guests(self._module, self._loader)
        made = guests.function(self._function)
        assert made is not None
        return made


def open_target(target: str | Callable[[], object], loader: Loader) -> Target:
    """Load the program that the target is in. Raises `BadTarget`."""
    if not isinstance(target, str):
        return _of_callable(target, loader)
    path, separator, name = target.partition("::")
    if separator:
        file = Path(path)
        if not file.is_file():
            raise BadTarget(f"{target}: there is no file {path}")
        if not name:
            raise BadTarget(f"{target}: name a function after the ::")
        return NamedTarget(loader.load_file(file), name, target)
    module, separator, name = target.partition(":")
    if not separator or not name or not module:
        raise BadTarget(f"{target}: a target is path/file.py::name, package.module:name, or a .json or .jsonl file")
    return NamedTarget(_module(module, loader, target), name, target)


def _module(name: str, loader: Loader, text: str) -> types.ModuleType:
    import importlib.util

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
    loader.set_root(Path(spec.origin))
    loader.include(name)
    return loader.load_name(name)


def _of_callable(target: Callable[[], object], loader: Loader) -> Target:
    name = getattr(target, "__qualname__", repr(target))
    if inspect.ismethod(target) or not isinstance(target, types.FunctionType):
        raise BadTarget(f"{name}: a target is a plain function (wrap it in one: def scenario(): ...)")
    _check_callable(target, name)
    file = Path(target.__code__.co_filename)
    if not file.is_file():
        raise BadTarget(f"{name}: its source {file} cannot be read, so it cannot be instrumented")
    module = loader.load_host_file(file, target.__module__)
    if loader.code_at(target.__code__) is None:
        raise BadTarget(f"{name}: it was not found in {file} any more; was the file changed after it was imported?")
    if "<locals>" not in name and not target.__closure__ and name.isidentifier() and hasattr(module, name):
        return NamedTarget(module, name, name)
    return ClosureTarget(target, module, loader)


def _instance(owner: type, text: str) -> object:
    try:
        return owner()
    except TypeError as error:
        raise BadTarget(f"{text}: {owner.__name__} cannot be made without arguments: {error}") from None


def _callables(owner: object) -> list[str]:
    return [n for n, v in vars(owner).items() if callable(v) and not n.startswith(("_", "."))]


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
