"""All hooks, by the names under which instrumented code finds them (the table is in ARCHITECTURE.md)."""

from __future__ import annotations

from typing import Any

from dpor.python.hooks import attributes, calls, operators, special
from dpor.python.hooks.exceptions import raises
from dpor.python.kernel.depth import DEEP, with_room
from dpor.python.sharing.code_of_types import base


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
        ".base": base,
        **attributes.attribute_hooks(facts),
        **attributes.global_hooks(module),
    }
    if special.RULES in facts:
        found = special.watching(found)
    return roomy(found) if DEEP in facts else found


def roomy(found: dict[str, Any]) -> dict[str, Any]:
    """Return the hooks for searches in which the program recurses to the limit."""
    return {
        name: hook if name in (".call", ".call_after", ".tick") else with_room(hook) for name, hook in found.items()
    }
