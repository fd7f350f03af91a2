"""Drop-in modules: they stand for real ones, and what a program changes in them lasts for one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from dpor.python.kernel.run import run

changed_modules: dict[int, DropInModule] = {}
"""The drop-in modules in which the current run has stored or deleted a name, by `id`."""


_offering: list[DropInModule] = []
"""The drop-in modules that `offer` something."""


class DropInModule(ModuleType):
    """A module that remembers its contents at `settle`; `restore_all` brings them back."""

    def offer(self, fact: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
        """Let programs find `ours`, by name, until a search learns the fact, and `theirs` from then on."""
        if self not in _offering:
            _offering.append(self)
        vars(self).setdefault(".offers", []).append((fact, ours, theirs))
        self.choose()

    def choose(self) -> None:
        """Put into the module what programs find there, given the facts of the search."""
        for fact, ours, theirs in vars(self)[".offers"]:
            for names in (vars(self), vars(self).get(".first", {})):
                names.update(theirs if fact in run.facts else ours)

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


def choose_all() -> None:
    """Before each run: put into the modules what programs find there, given the facts of the search."""
    for module in _offering:
        module.choose()


def shadow(real: ModuleType, **others: Any) -> DropInModule:
    """Return a drop-in module with everything that the real module has, but with `others` replaced or added."""
    module = DropInModule(real.__name__, real.__doc__)
    kept = {name: value for name, value in vars(real).items() if name not in ("__spec__", "__loader__", "__builtins__")}
    vars(module).update(kept, **others)
    return module.settle()
