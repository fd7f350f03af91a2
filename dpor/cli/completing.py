"""Completions that click cannot know: files for targets, names of strategies."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, FishComplete, add_completion_class


@add_completion_class
class Fish(FishComplete):
    """Corrects completion of lists: click's function for this shell takes every comma for one that it has inserted
    itself."""

    source_template = FishComplete.source_template.replace("string split ", "string split --max 1 ")


def files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a target, which begins with a file."""
    return [CompletionItem(incomplete, type="file")]


def strategies(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete one name, or the last of several names separated by commas."""
    from dpor.explorers import STRATEGIES

    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{name}") for name in STRATEGIES if name.startswith(last)]
