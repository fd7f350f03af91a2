"""What a test asks for: the decorator `dpor.interleave`, the same as `pytest.mark.interleave`, and its options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, Unpack, overload

import attrs
import pytest

from dpor.core.errors import UserError
from dpor.core.options import OptionArguments, Options

MARK = "interleave"
VERDICT = "dpor.verdict"
"""Among the properties of a test's report; the others (counts, reasons) begin with `dpor.`, too."""
_OPTIONS = tuple(name for name in OptionArguments.__annotations__ if name not in ("all", "name"))

F = TypeVar("F", bound=Callable[..., object])


@overload
def interleave(function: F, /) -> F: ...


@overload
def interleave(**options: Unpack[OptionArguments]) -> Callable[[F], F]: ...


def interleave(function: Any = None, /, **options: Unpack[OptionArguments]) -> Any:
    """Mark a test: pytest runs it under every interleaving of the threads that it starts.

    The options are those of `dpor.check`. The same as `@pytest.mark.interleave(...)`.
    """
    mark = getattr(pytest.mark, MARK)(**options)
    return mark if function is None else mark(function)


def is_marked(item: pytest.Item) -> bool:
    return item.get_closest_marker(MARK) is not None


def options_of(item: pytest.Item) -> Options:
    """The options of a test: those of its mark, of its class's and its module's where it says nothing, and before all
    of them those of the command line. Raises `UserError`."""
    chosen: dict[str, Any] = {}
    for mark in reversed([*item.iter_markers(MARK)]):
        if mark.args:
            raise UserError(f"@{MARK} takes options by name, such as max_seconds=10, not {mark.args[0]!r}")
        unknown = [name for name in mark.kwargs if name not in _OPTIONS]
        if unknown:
            raise UserError(f"@{MARK} has no option {unknown[0]!r}; there are {', '.join(_OPTIONS)}")
        chosen |= mark.kwargs
    strategy, budget = item.config.getoption("dpor_strategy"), item.config.getoption("dpor_budget")
    if strategy is not None:
        chosen["strategy"] = strategy
    if budget is not None:
        chosen["max_seconds"] = budget or None
    return attrs.evolve(Options(), **chosen)
