"""All hooks, by the names under which instrumented code finds them (the table is in ARCHITECTURE.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dpor.python.effects.letting_go import let_go_of_owned
from dpor.python.hooks import attributes, calls, operators, special
from dpor.python.hooks.exceptions import raises
from dpor.python.hooks.managers import managed
from dpor.python.kernel.assumptions import DYING
from dpor.python.kernel.depth import DEEP, with_room
from dpor.python.sharing.code_of_types import base
from dpor.python.sharing.shared_objects import made_class


def all_hooks(facts: set[object], module: str) -> dict[str, Any]:
    """Return what instrumented code of the module calls, chosen by the facts of the search."""
    found = {
        **operators.HOOKS,
        ".call": calls.call,
        ".call_after": calls.call_after,
        ".getspecial": special.load_special,
        ".setspecial": special.store_special,
        ".delspecial": special.delete_special,
        ".getsuper": special.of_super,
        ".raises": raises,
        ".managed": managed,
        ".base": base,
        ".made": made_class,
        **attributes.attribute_hooks(facts),
        **attributes.global_hooks(module),
    }
    if special.RULES in facts:
        found = special.watching(found)
    if DYING in facts:
        found = {name: hook if name in _SEES_FRAMES else _letting_go(hook) for name, hook in found.items()}
    return roomy(found) if DEEP in facts else found


_SEES_FRAMES: Final = frozenset({".tick"})
"""Hooks that look at the frame of their caller."""


def _letting_go(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Return the hook for searches in which objects die. What the thread has dropped since the hook before dies first,
    while the thread is between two of its own instructions."""

    def hook_after_deaths(*args: Any) -> Any:
        let_go_of_owned()
        return hook(*args)

    return hook_after_deaths


def roomy(found: dict[str, Any]) -> dict[str, Any]:
    """Return the hooks for searches in which the program recurses to the limit."""
    return {
        name: hook if name in (".call", ".call_after", ".tick") else with_room(hook) for name, hook in found.items()
    }
