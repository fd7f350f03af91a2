"""Names in modules that are replaced while a program runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

Change: TypeAlias = tuple[dict[str, Any], str, Any]
"""(namespace, name, replacement)"""

_ABSENT: Final = object()


class Patches:
    """A context manager that makes the changes. The replaced objects are looked up once, when it is made."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self._changes = [(names, name, ours, names.get(name, _ABSENT)) for names, name, ours in changes]

    def __enter__(self) -> None:
        for names, name, ours, _ in self._changes:
            names[name] = ours

    def __exit__(self, *_: object) -> None:
        for names, name, _, real in self._changes:
            if real is _ABSENT:
                del names[name]
            else:
                names[name] = real
