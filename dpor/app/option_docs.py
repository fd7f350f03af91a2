"""The options as `help(dpor.check)` and docs/api.md list them, made from the metadata of the fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, ParamSpec, Protocol, cast

from dpor.app.targets import Target
from dpor.core.options import Group, Options, flag_of, options_of, plain
from dpor.core.results import Report
from dpor.explorers import with_strategies

P = ParamSpec("P")


class CheckFunction(Protocol[P]):
    """The type of `dpor.check`: its keyword arguments are those of `Options`."""

    def __call__(
        self, target: Target, options: Options | None = None, *none: P.args, **changes: P.kwargs
    ) -> Report: ...


def takes_options(kind: Callable[P, Options]) -> Callable[[Callable[..., Report]], CheckFunction[P]]:
    """Decorator: let `help` and `inspect.signature` show the options that a function takes as `**changes`."""

    def document(function: Callable[..., Report]) -> CheckFunction[P]:
        complete(function, cast(type[Options], kind))
        return cast(CheckFunction[P], function)

    return document


class Line(NamedTuple):
    """An option: its group, name, default as Python writes it, flag ("" if it has none), and description."""

    group: Group
    name: str
    default: str
    flag: str
    says: str


def lines(kind: type[Options] = Options) -> Iterator[Line]:
    """Yield a line for each option, group by group."""
    for group in Group:
        for field, about in options_of(kind):
            if about.group is group:
                flag = " ".join([flag_of(field), about.metavar or ""]).strip() if about.commands else ""
                default = repr(plain(field.default))
                yield Line(group, field.name, default, flag, with_strategies(about.line, field.name))


def table(kind: type[Options] = Options) -> str:
    """Return the table of docs/api.md."""
    rows = ["| option | default | at the command line | |", "|---|---|---|---|"]
    group = None
    for line in lines(kind):
        if line.group is not group:
            group = line.group
            rows.append(f"| **{group}** | | | |")
        flag = f"`{line.flag}`" if line.flag else ""
        rows.append(f"| `{line.name}` | `{line.default}` | {flag} | {line.says} |")
    return "\n".join(rows) + "\n"


def complete(function: Callable[..., Any], kind: type[Options]) -> None:
    """Add the options to the docstring and the signature of a function that takes them as `**` arguments."""
    text = [inspect.cleandoc(function.__doc__ or ""), ""]
    group = None
    for line in lines(kind):
        if line.group is not group:
            group = line.group
            text.append(f"{group}:")
        text.append(f"  {line.name + '=' + line.default:28}  {line.says}")
    function.__doc__ = "\n".join(text)
    own = inspect.signature(function)
    of_options = [one.replace(default=plain(one.default)) for one in inspect.signature(kind).parameters.values()]
    given = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    function.__signature__ = own.replace(parameters=[*given, *of_options])  # type: ignore[attr-defined]
