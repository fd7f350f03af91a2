"""What the shell suggests where click cannot know: files for targets, names of strategies."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, FishComplete, add_completion_class


@add_completion_class
class Fish(FishComplete):
    """For lists: click's function for this shell takes all commas for those that it has put there itself."""

    source_template = FishComplete.source_template.replace("string split ", "string split --max 1 ")


def files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """A target begins with a file."""
    return [CompletionItem(incomplete, type="file")]


def strategies(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """One name, or the last of several with commas between them."""
    from dpor.explorers import STRATEGIES

    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{name}") for name in STRATEGIES if name.startswith(last)]
