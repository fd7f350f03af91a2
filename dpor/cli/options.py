"""Command-line options that are fields of `Options`, made from the metadata of these fields.

A command gets them as arguments with the fields' names and values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from enum import StrEnum
from typing import Any, TypeVar

import attrs
import click

from dpor.core.options import About, Number, Options, flag_of, options_of

F = TypeVar("F", bound=Callable[..., Any])


class Whole(click.IntRange):
    """A whole number. (Error messages use the name.)"""

    name = "whole number"


class Real(click.FloatRange):
    name = "number"


class StrategyOption(click.Option):
    """An option whose help names strategies, which are looked up when help is asked for: `{own}`, those that use the
    option; `{samplers}`, those that sample schedules; `{static}`, those that use facts about the source; `{all}`, every
    one with a description."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from dpor.explorers import with_strategies

        shown = copy(self)
        shown.help = with_strategies(self.help or "", self.name or "")
        return click.Option.get_help_record(shown, ctx)


def options_for(command: str, kind: type[Any] = Options, **differing: Mapping[str, Any]) -> Callable[[F], F]:
    """Return a decorator that adds to a function the options that the fields say this command has.

    differing   by field name: arguments of `click.option` that differ for this command
    """
    made = [
        decorator
        for field, about in options_of(kind)
        if command in about.commands
        for decorator in _decorators(field, about, differing.get(field.name, {}))
    ]

    def give(function: F) -> F:
        for decorator in reversed(made):
            function = decorator(function)
        return function

    return give


def _decorators(
    field: attrs.Attribute[Any], about: About, differing: Mapping[str, Any]
) -> list[Callable[[Callable[..., Any]], Any]]:
    settings = {"help": about.help or about.line, "metavar": about.metavar, **_form(field), **differing}
    if "{" in settings["help"]:
        settings["cls"] = StrategyOption
    return [
        click.option(flag_of(field), field.name, **settings),
        *(
            click.option(flag, field.name, flag_value=value, help=says)
            for flag, (value, says) in about.short_forms.items()
        ),
    ]


def _form(field: attrs.Attribute[Any]) -> dict[str, Any]:
    """Return the arguments of `click.option` that follow from a field's default and validator."""
    default, number = field.default, field.validator
    if default is False:
        return {"is_flag": True}
    if default is True and flag_of(field).startswith("--no-"):
        return {"is_flag": True, "flag_value": False, "default": True}
    if default is True:
        return _shown("on") | {"type": click.Choice(["on", "off"]), "callback": lambda _, __, value: value == "on"}
    if isinstance(default, StrEnum):
        return _shown(default.value) | {"type": one_of(type(default))}
    if isinstance(default, tuple):
        return {"multiple": True}
    form: dict[str, Any] = {} if default is None else _shown(default)
    if isinstance(number, Number):
        form["type"] = (Whole if number.whole else Real)(number.least)
        if number.or_none and default is not None:
            form["callback"] = lambda _, __, value: value or None
    return form


def _shown(default: object) -> dict[str, Any]:
    return {"default": default, "show_default": True}


def one_of(values: type[StrEnum]) -> click.Choice[str]:
    """A choice among the values as plain words: some versions of click use the names of an enumeration instead."""
    return click.Choice([value.value for value in values])
