"""The mark of interleaved tests: the decorator `dpor.interleave` (the same as `pytest.mark.interleave`), its
options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

import pytest

from dpor.core.errors import UserError
from dpor.core.options import Number, Options, with_changes
from dpor.core.options import options_of as option_fields

MARK = "interleave"
VERDICT = "dpor.verdict"
"""The name of the verdict among the properties of a test's report. The other names (of counts, reasons) begin with
`dpor.`, too."""

F = TypeVar("F", bound=Callable[..., object])
P = ParamSpec("P")


class Interleave(Protocol[P]):
    """The type of `interleave`, for type checkers: it takes the fields of `Options` as keyword arguments."""

    @overload
    def __call__(self, *none: P.args, **options: P.kwargs) -> Callable[[F], F]: ...

    @overload
    def __call__(self, function: F, /) -> F: ...


def _takes_options(kind: Callable[P, Options]) -> Callable[[Callable[..., Any]], Interleave[P]]:
    return lambda function: cast(Interleave[P], function)


@_takes_options(Options)
def interleave(function: Any = None, /, **options: Any) -> Any:
    """Mark a test, so that pytest runs it under every interleaving of the threads that it starts.

    The options are those of `dpor.check`. The same as `@pytest.mark.interleave(...)`.
    """
    mark = getattr(pytest.mark, MARK)(**options)
    return mark if function is None else mark(function)


def is_marked(item: pytest.Item) -> bool:
    """True if the test is to be checked."""
    return item.get_closest_marker(MARK) is not None


def marks_take(kind: type[Options] = Options) -> tuple[str, ...]:
    """Return the names of the options that a test's mark may give."""
    return tuple(field.name for field, about in option_fields(kind) if about.mark)


def add_options(group: Any, kind: type[Options] = Options) -> None:
    """Add to pytest's command line the options that apply to all marked tests."""
    for field, about in option_fields(kind):
        if (asked := about.pytest) is not None:
            number = field.validator
            form = {"type": int if number.whole else float} if isinstance(number, Number) else {}
            group.addoption(asked.flag, metavar=asked.metavar, help=asked.help, **form)


def of_command_line(config: pytest.Config, kind: type[Options] = Options) -> dict[str, Any]:
    """Return the options given on pytest's command line. Raises `UserError` for a wrong value."""
    given: dict[str, Any] = {}
    for field, about in option_fields(kind):
        value = None if about.pytest is None else config.getoption(about.pytest.flag)
        if about.pytest is not None and value is not None:
            number = field.validator
            given[field.name] = None if value == 0 and isinstance(number, Number) and number.or_none else value
            try:
                kind(**{field.name: given[field.name]})
            except UserError as error:
                raise UserError(f"{about.pytest.flag}: {error}") from None
    return given


def options_of_test(item: pytest.Item) -> Options:
    """Return the options of a test: from the command line, else from its mark, else from those of its class and its
    module.

    Raises `UserError`.
    """
    chosen: dict[str, Any] = {}
    for mark in reversed([*item.iter_markers(MARK)]):
        if mark.args:
            raise UserError(f"@{MARK} takes options by name, such as max_seconds=10, not {mark.args[0]!r}")
        chosen |= mark.kwargs
    return with_changes(Options(expect_threads=True), chosen | of_command_line(item.config), f"@{MARK}", marks_take())
