"""Containers of modules that are not the program's, such as registries: importing the program may change them in
place."""

from __future__ import annotations

import collections
import sys
import types
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

from dpor.core.home import is_ours
from dpor.python.kernel.host_modules import DropInModule
from dpor.python.program.restoring import CannotRestore
from dpor.python.sharing import type_traits
from dpor.python.states.memory import addresses

_CONTAINERS: Final = (list, dict, set, collections.deque)
_PLAIN: Final = frozenset(
    {
        *(str, int, float, bytes, bool, type(None), tuple),
        *(types.ModuleType, types.FunctionType, types.BuiltinFunctionType, DropInModule),
    }
)
_CARED_FOR: Final = frozenset({"logging", "warnings", "os", "sys", "threading", "__main__"})
"""Modules that `HostState`, `process_state` and the loader restore."""
_CACHES: Final = frozenset({"re", "sre_compile", "linecache", "tokenize", "dis", "inspect", "functools"})
"""Modules that keep only what can be computed again."""


class HostContainers:
    """The containers that globals, attributes of classes, and fields lead to, and what they held when this was made."""

    def __init__(self, program: Collection[str]) -> None:
        self._known = [(obj, held, addresses(held)) for obj in _containers(program) for held in [_held(obj)]]

    def changed(self) -> Iterator[Any]:
        return (obj for obj, _, before in self._known if addresses(_held(obj)) != before)

    def refuse_new(self, is_known: Callable[[Any], bool]) -> None:
        """Raises `CannotRestore` if they now hold an object of the program's modules that they did not hold: it stays
        there longer than the run that stored it."""
        for obj, held, before in self._known:
            now = _held(obj)
            if addresses(now) != before:
                had = {*map(id, held)}
                if any(id(each) not in had and is_known(each) for each in now):
                    raise CannotRestore(
                        f"what the program made was left in a {type(obj).__qualname__} of another module"
                    )


def _held(obj: Any) -> list[Any]:
    if isinstance(obj, dict):
        return [*dict.keys(obj), *dict.values(obj)]
    base: Any = next(base for base in _CONTAINERS if isinstance(obj, base))
    return [*base.__iter__(obj)]


def _containers(program: Collection[str]) -> Iterator[Any]:
    seen: dict[int, Any] = {}
    for name, module in [*sys.modules.items()]:
        own = name in program or is_ours(name) or name.partition(".")[0] in _CARED_FOR | _CACHES | {"builtins"}
        if own or type(module) is not types.ModuleType:
            continue
        stack = [value for key, value in vars(module).items() if not key.startswith("__")]
        while stack:
            obj = stack.pop()
            kind = type(obj)
            if kind in _PLAIN or id(obj) in seen or kind.__module__ in _CARED_FOR:
                continue
            seen[id(obj)] = obj
            if issubclass(kind, type):
                if obj.__module__ == name:
                    stack += vars(obj).values()
            elif issubclass(kind, _CONTAINERS):
                yield obj
                stack += _held(obj)
            elif kind.__dictoffset__ and kind.__module__ not in program and not is_ours(kind.__module__):
                fields = type_traits.fields(obj, kind)
                if type(fields) is dict and id(fields) not in seen:
                    seen[id(fields)] = fields
                    yield fields
                    stack += fields.values()
