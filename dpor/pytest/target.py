"""A test as a target. Its module and those of its fixtures are the program; each execution has its own fixtures."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from dpor.core.errors import BadTarget
from dpor.core.schedule import OF_PYTEST
from dpor.pytest.fixtures import Fixtures
from dpor.python.program.host_functions import ProgramCopies, drop_ins_by_id
from dpor.python.program.loader import Loader


class TestTarget:
    """A test, to be loaded by `dpor.python.program.system`. Implements `dpor.python.program.target.Opener`."""

    __test__ = False

    def __init__(self, item: pytest.Function) -> None:
        self.item = item
        self.name = OF_PYTEST + item.nodeid

    def open_in(self, loader: Loader) -> _Executions:
        """Load the modules of the test and of its fixtures. Raises `BadTarget` if the test has no source that can be
        loaded."""
        item = self.item
        function: Any = item.function
        rootpath = item.config.rootpath
        if rootpath != Path(rootpath.anchor):
            loader.border.widen(rootpath)
        if not isinstance(function, FunctionType) or not Path(function.__code__.co_filename).is_file():
            raise BadTarget(f"{item.name} is not a function with Python source")
        module = loader.load_host_file(Path(function.__code__.co_filename), function.__module__)
        if loader.counterparts.code_at(function.__code__) is None:
            raise BadTarget(
                f"{item.name}: the function that pytest calls is not the one in the source; if a decorator has replaced"
                " it (hypothesis does), call dpor.check inside the test instead"
            )
        for fixture in _fixtures_of(item):
            if isinstance(plain := getattr(fixture.func, "__func__", fixture.func), FunctionType):
                loader.instrumented_copy(plain)
        return _Executions(item, module, loader)


class _Executions:
    """Implements `dpor.python.program.target.Target`."""

    def __init__(self, item: pytest.Function, module: ModuleType, loader: Loader) -> None:
        self.entry = None
        self._item = item
        self._module = module
        self._loader = loader
        self._fixtures: Fixtures | None = None
        drop_ins_by_id()  # made while the program is loaded: making them later would be events of an execution

    def function(self) -> Callable[[], object]:
        if self._fixtures is not None:
            self._fixtures.abandon()
        self._fixtures = fixtures = Fixtures(self._item, ProgramCopies(self._module, self._loader))
        return functools.partial(fixtures.function, **fixtures.fill())

    def finish(self) -> None:
        if self._fixtures is not None:
            self._fixtures.finish()

    @property
    def kept(self) -> Sequence[object]:
        return () if self._fixtures is None else self._fixtures.kept


def _fixtures_of(item: pytest.Function) -> Iterator[pytest.FixtureDef[Any]]:
    """Yield the definitions of all fixtures of the test, as the values of those of wider scope may have classes of
    their modules."""
    for name in item.fixturenames:
        yield from item._fixtureinfo.name2fixturedefs.get(name, ())


def refuse_unrepeatable(item: pytest.Item) -> None:
    """Raise `BadTarget` for a test that cannot be run repeatedly."""
    if not isinstance(item, pytest.Function):
        raise BadTarget(f"{item.name} is a {type(item).__name__}: only test functions can be interleaved")
    if issubclass(item.cls or object, _test_case()):
        raise BadTarget(f"{item.name} is a method of a unittest.TestCase: make it a plain function or class for pytest")
    if inspect.iscoroutinefunction(item.function) or inspect.isasyncgenfunction(item.function):
        raise BadTarget(f"{item.name} is async: asyncio programs are not checked yet")
    for name in item.fixturenames:
        for kind in ("module", "class"):
            if name.startswith(f"_xunit_setup_{kind}_fixture"):
                raise BadTarget(
                    f"{item.name}: setup_{kind} is called once, not in each execution, and what it changes is not seen"
                    " there; use a fixture with function scope"
                )


def _test_case() -> type:
    from unittest import TestCase

    return TestCase
