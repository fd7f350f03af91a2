"""What abstract classes, also those of the host, remember of the program's classes: registrations, and answers of
`issubclass`."""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import abc
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from dpor.python.program.restoring import CannotRestore


class AbstractClasses:
    """The classes that were registered when this was made. `is_known` returns True for classes of the program."""

    def __init__(self, is_known: Callable[[Any], bool]) -> None:
        self._note(is_known)

    def _note(self, is_known: Callable[[Any], bool]) -> None:
        self._token = abc.get_cache_token()  # each registration changes it
        self._registered = _registrations(is_known)

    def refuse_registered(self, is_known: Callable[[Any], bool]) -> None:
        """Raises `CannotRestore` if a run has registered a class, and it or the abstract one is the program's."""
        if abc.get_cache_token() != self._token:
            before = self._registered
            self._note(is_known)
            if self._registered != before:
                raise CannotRestore("a class was registered with an abstract one")


def refuse_asked(is_known: Callable[[Any], bool]) -> None:
    """Raises `CannotRestore` if an abstract class remembers whether one of the program's is derived from it."""
    for kind in _abstract_classes():
        _, positive, negative, _ = _abc._get_dump(kind)
        if any(is_known(asked()) for asked in chain(positive, negative)):
            raise CannotRestore("a class was changed that an abstract one had been asked about")


def _registrations(is_known: Callable[[Any], bool]) -> set[tuple[int, int]]:
    return {
        (id(kind), id(registered()))
        for kind in _abstract_classes()
        for registered in _abc._get_dump(kind)[0]
        if is_known(kind) or is_known(registered())
    }


def _abstract_classes() -> Iterator[Any]:
    seen: set[int] = set()
    stack: list[type] = [object]
    while stack:
        derived: list[type] = type.__subclasses__(stack.pop())
        for kind in derived:
            if id(kind) not in seen:
                seen.add(id(kind))
                stack.append(kind)
                if "_abc_impl" in vars(kind):
                    yield kind
