"""What the program has in place of the host's: for a function or module that the host has imported, the instrumented
one."""

from __future__ import annotations

import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpor.python.program.program_module import ProgramModule

_NONE = types.ModuleType("none")


class Counterparts:
    """The counterparts in the program's modules, which are given by name, of what the host has."""

    def __init__(self, modules: Mapping[str, ProgramModule]) -> None:
        self._modules = modules
        self._codes: dict[int, tuple[types.CodeType, types.CodeType | None]] = {}

    def forget(self) -> None:
        """Forget what has been found, because the modules are compiled anew."""
        self._codes.clear()

    def code_at(self, plain: types.CodeType) -> types.CodeType | None:
        """Return the instrumented code for code that the host compiled: with the same name, at the same line. None if
        not found."""
        known = self._codes.get(id(plain))
        if known is None or known[0] is not plain:
            known = self._codes[id(plain)] = (plain, self._find_code(plain))
        return known[1]

    def _find_code(self, plain: types.CodeType) -> types.CodeType | None:
        file = Path(plain.co_filename).resolve()
        for loaded in self._modules.values():
            if loaded.file == file and loaded.code is not None:
                stack = [loaded.code]
                while stack:
                    code = stack.pop()
                    if (
                        code.co_firstlineno == plain.co_firstlineno
                        and code.co_qualname == plain.co_qualname
                        and set(code.co_freevars) == set(plain.co_freevars)
                    ):
                        return code
                    stack.extend(c for c in code.co_consts if isinstance(c, types.CodeType))
        return None

    def globals_of(self, path: str, default: types.ModuleType) -> dict[str, Any]:
        """Return the globals of the instrumented module of this file."""
        return next((g.module.__dict__ for g in self._modules.values() if g.path == path), default.__dict__)

    def has_module(self, name: str, default: types.ModuleType) -> bool:
        """True if a module that the host knows by this name is one of the program's."""
        return name == "__main__" or name in self._modules or default.__name__.endswith(name)

    def module_named(self, name: str, default: types.ModuleType) -> types.ModuleType:
        """Return the instrumented module of this name; `default` for the host's `__main__`."""
        if name == "__main__":
            return default
        loaded = self._modules.get(name)
        return default if loaded is None and default.__name__.endswith(name) else loaded.module if loaded else _NONE
