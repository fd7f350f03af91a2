"""Names of modules that are ours while a program runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

Change: TypeAlias = tuple[dict[str, Any], str, Any]
"""In which namespace, which name, what takes its place."""

_ABSENT: Final = object()


class Patches:
    """A context manager. What was there is looked up once, when this is made."""

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
