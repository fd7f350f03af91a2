"""The fixtures of an interleaved test. Each execution sets them up anew, as pytest would, but as part of the program.

pytest sets up a function's fixtures once, before the test; a test that runs a thousand times needs them a thousand
times. So the plugin prevents pytest from setting them up (`is_renewed`), and each execution does it, from pytest's own
definitions. Fixtures that are functions of the program are instrumented; all others (`monkeypatch`, `capsys`, those of
plugins) are used as they are. Fixtures of wider scope are set up once, by pytest, and each execution gets a copy of
their value (`dpor.python.program.host_functions`).
"""

from __future__ import annotations

import inspect
import shutil
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from dpor.core.errors import BadTarget
from dpor.python.kernel.incomplete import incomplete_if_multithreaded
from dpor.python.kernel.run import run
from dpor.python.program.host_functions import ProgramCopies


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _plain(function: Any) -> Any:
    """Return the function behind a method; anything else as it is."""
    return getattr(function, "__func__", function)


def _code_of(last: Any) -> Any:
    return getattr(last, "gi_code", None) or getattr(_plain(last), "__code__", _empty.__code__)


_KEPT: Final[Mapping[str, Callable[[Any], object]]] = {
    "tmp_path": _empty,
    "caplog": lambda caplog: caplog.clear(),
    "record_property": lambda record: None,
    "record_xml_attribute": lambda record: None,
}
"""Fixtures of pytest with function scope that pytest sets up once all the same, and what each execution does to reset
them."""


def is_renewed(definition: pytest.FixtureDef[Any]) -> bool:
    """True if each execution sets up the fixture itself."""
    ours = definition.func.__module__ or ""
    return definition.scope == "function" and not (definition.argname in _KEPT and ours.startswith("_pytest."))


class Fixtures:
    """The fixtures of one execution of a test.

    kept   what is to be done after the test, last first: generators to be resumed, functions to be called
    """

    def __init__(self, item: pytest.Function, copies: ProgramCopies) -> None:
        self.item = item
        self.copies = copies
        self.kept: list[Any] = []
        self._values: dict[int, Any] = {}
        self._instance: Any = None
        self._function: Any = None

    # ------------------------------------------------------------------ the test itself

    @property
    def instance(self) -> Any:
        """The object of the test class, if the test is a method, else None."""
        if self._instance is None and self.item.cls is not None:
            self._instance = self.copies.value(self.item.cls)()
        return self._instance

    @property
    def function(self) -> Callable[..., object]:
        """The function of the test, as this execution calls it. A method comes bound to `instance`."""
        if self._function is None:
            self._function = self._own(self.item.obj)
        return self._function  # type: ignore[no-any-return]

    def fill(self) -> dict[str, Any]:
        """Set up all fixtures, and return the test's arguments by name."""
        for name in self.item.fixturenames:
            if name != "request" and is_renewed(self._definition(name, ())):
                self.value(name, ())
        return {name: self.value(name, ()) for name in self.item._fixtureinfo.argnames}

    def finish(self) -> None:
        """Tear down all fixtures, even if some raise, then raise the first error.

        The error is `BadTarget` for a fixture that yields twice.
        """
        errors = []
        while self.kept:
            last = self.kept.pop()
            try:
                if not isinstance(last, types.GeneratorType):
                    last()
                elif next(last, last) is not last:
                    raise BadTarget(f"the fixture {last.__name__} has a second yield")
            except BaseException as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def abandon(self) -> None:
        """Tear down what is not the program's, after an execution that was stopped before its end."""
        self.kept = [last for last in self.kept if not run.is_program_file(_code_of(last).co_filename)]
        self.finish()

    # ------------------------------------------------------------------ fixtures

    def value(self, name: str, asking: tuple[str, ...], *, copied: bool = True) -> Any:
        """Return the value of a fixture.

        asking   the names of the fixtures that are being set up and need this one
        copied   if the value is one that pytest has made: return a copy, which the program may change
        """
        if name == "request":
            return Request(self, None, asking)
        definition = self._definition(name, asking)
        if not copied and not is_renewed(definition):
            return self._of_pytest(definition)
        if id(definition) not in self._values:
            self._values[id(definition)] = (
                self._made(definition, (*asking, name)) if is_renewed(definition) else self._shared(definition)
            )
        return self._values[id(definition)]

    def _definition(self, name: str, asking: tuple[str, ...]) -> pytest.FixtureDef[Any]:
        """Return the definition of a fixture; a fixture that asks for its own name gets the one that it overrides.

        Raises `BadTarget` if there is none.
        """
        known = self.item._fixtureinfo.name2fixturedefs.get(name)
        if known is None:
            known = self.item.session._fixturemanager.getfixturedefs(name, self.item) or ()
        level = asking.count(name) + 1
        if level > len(known):
            raise BadTarget(f"{self.item.name}: there is no fixture {name!r}")
        return known[-level]

    def _of_pytest(self, definition: pytest.FixtureDef[Any]) -> Any:
        """Return the value that pytest has made. Raises `BadTarget` if it has made none."""
        name = definition.argname
        if definition.cached_result is None:
            raise BadTarget(
                f"the {definition.scope}-scoped fixture {name!r} is set up outside the executions: ask for it as an"
                " argument, or with @pytest.mark.usefixtures, so that it is known beforehand"
            )
        return definition.cached_result[0]

    def _shared(self, definition: pytest.FixtureDef[Any]) -> Any:
        """Return a copy of the value that pytest has made. What in it cannot be copied stays as it is, and the
        verdict says so."""
        name, plain = definition.argname, self._of_pytest(definition)
        if name in _KEPT:
            _KEPT[name](plain)
            return plain
        before, self.copies.left = self.copies.left, set()
        try:
            value = self.copies.value(plain)
        except BadTarget as error:
            raise BadTarget(f"the fixture {name!r}: {error}, or give the fixture function scope") from None
        for kind in self.copies.left:
            if not kind.__module__.startswith("_pytest."):
                incomplete_if_multithreaded(
                    f"the {definition.scope}-scoped fixture {name!r} has a {kind.__qualname__} that cannot be copied:"
                    " what one execution does to it, the next one finds"
                )
        self.copies.left = before
        return value

    def _made(self, definition: pytest.FixtureDef[Any], asking: tuple[str, ...]) -> Any:
        function = self._own(definition.func)
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise BadTarget(f"the fixture {definition.argname!r} is async: asyncio programs are not checked yet")
        request = Request(self, definition, asking)
        arguments = {name: request if name == "request" else self.value(name, asking) for name in definition.argnames}
        made = function(**arguments)
        if not inspect.isgeneratorfunction(function):
            return made
        value = next(made)
        self.kept.append(made)  # last, as in pytest: the fixture is torn down before what it has registered
        return value

    def _own(self, plain: Any) -> Any:
        """Return the function of a fixture, or of the test, as an execution calls it: instrumented if it is the
        program's."""
        function = _plain(plain)
        if not isinstance(function, types.FunctionType):
            return plain
        own = self.copies.function(function)
        if own is None and function.__module__ == "_pytest.python":  # it calls setup_function and the like
            cells = tuple(types.CellType(self.copies.value(cell.cell_contents)) for cell in function.__closure__ or ())
            own = types.FunctionType(
                function.__code__, function.__globals__, function.__name__, function.__defaults__, cells
            )
        if own is None or function is plain:
            return own or plain
        return types.MethodType(own, self.instance)


class Request:
    """What a fixture gets as `request`: the same as pytest's own, except for what belongs to one execution."""

    scope: Final = "function"

    def __init__(self, fixtures: Fixtures, definition: pytest.FixtureDef[Any] | None, asking: tuple[str, ...]) -> None:
        self._fixtures = fixtures
        self._asking = asking
        self.node = fixtures.item
        self.fixturename = None if definition is None else definition.argname
        parameters = fixtures.item.callspec.params if hasattr(fixtures.item, "callspec") else {}
        if self.fixturename in parameters:
            self.param = fixtures.copies.value(parameters[self.fixturename])

    @property
    def function(self) -> Callable[..., object]:
        return self._fixtures.function

    @property
    def instance(self) -> Any:
        return self._fixtures.instance

    @property
    def cls(self) -> Any:
        return None if self.instance is None else type(self.instance)

    @property
    def module(self) -> Any:
        return self._fixtures.copies.module

    def addfinalizer(self, finalizer: Callable[[], object]) -> None:
        self._fixtures.kept.append(finalizer)

    def getfixturevalue(self, argname: str) -> Any:
        return self._fixtures.value(argname, self._asking)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "param":
            raise AttributeError(name)
        return getattr(self.node._request, name)
