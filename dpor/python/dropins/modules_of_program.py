"""The program's `sys.modules`. Executed with hooks, as part of the program (see `modules.py`): `real` is the real
`sys.modules`, `given` returns the module that the program gets for one in it."""

from __future__ import annotations

from _collections_abc import MutableMapping  # `collections.abc` may be half imported
from typing import Any

real: Any = None
given: Any = None


class Modules(MutableMapping):  # type: ignore[type-arg]
    def __getitem__(self, name):  # type: ignore[no-untyped-def]
        return given(name, real[name])

    def get(self, name, default=None):  # type: ignore[no-untyped-def]
        return given(name, real.get(name, default))

    def pop(self, name, *default):  # type: ignore[no-untyped-def]
        return given(name, real.pop(name, *default))

    def setdefault(self, name, default=None):  # type: ignore[no-untyped-def]
        return given(name, real.setdefault(name, default))

    def __setitem__(self, name, module):  # type: ignore[no-untyped-def]
        real[name] = module

    def __delitem__(self, name):  # type: ignore[no-untyped-def]
        del real[name]

    def __contains__(self, name):  # type: ignore[no-untyped-def]
        return name in real

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(real)

    def __len__(self):  # type: ignore[no-untyped-def]
        return len(real)

    def copy(self) -> dict[str, Any]:
        return {name: given(name, module) for name, module in real.copy().items()}

    def keys(self):  # type: ignore[no-untyped-def]
        return real.keys()

    def values(self):  # type: ignore[no-untyped-def]
        return self.copy().values()

    def items(self):  # type: ignore[no-untyped-def]
        return self.copy().items()

    def __repr__(self):  # type: ignore[no-untyped-def]
        return repr(self.copy())
