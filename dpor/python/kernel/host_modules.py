"""Drop-in modules: they stand for real ones, and what a program changes in them lasts for one run."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

changed_modules: dict[int, DropInModule] = {}
"""The drop-in modules in which the current run has stored or deleted a name, by `id`."""


class DropInModule(ModuleType):
    """A module that remembers its contents at `settle`; `restore_all` brings them back."""

    def settle(self) -> DropInModule:
        vars(self)[".first"] = {name: value for name, value in vars(self).items() if not name.startswith(".")}
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        changed_modules[id(self)] = self
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        changed_modules[id(self)] = self
        super().__delattr__(name)

    def leading(self, leads: Callable[[Any], bool]) -> list[Any]:
        """Return its contents, without those original ones of which `leads` returns False."""
        namespace = vars(self)
        names = namespace.get(".leading")
        if names is None or id(self) in changed_modules:
            names = [name for name, value in namespace.items() if not name.startswith((".", "__"))]
            if id(self) not in changed_modules:
                names = namespace[".leading"] = [name for name in names if leads(namespace[name])]
        return [namespace[name] for name in names if name in namespace]


def restore_all() -> None:
    """Undo what programs have stored in drop-in modules since they were settled."""
    for module in changed_modules.values():
        namespace = vars(module)
        if ".first" not in namespace:
            continue
        for name in [name for name in namespace if not name.startswith(".") and name not in namespace[".first"]]:
            del namespace[name]
        namespace.update(namespace[".first"])
    changed_modules.clear()


def shadow(real: ModuleType, **others: Any) -> DropInModule:
    """Return a drop-in module with everything that the real module has, but with `others` replaced or added."""
    module = DropInModule(real.__name__, real.__doc__)
    kept = {name: value for name, value in vars(real).items() if name not in ("__spec__", "__loader__", "__builtins__")}
    vars(module).update(kept, **others)
    return module.settle()
