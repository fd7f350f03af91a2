"""What abstract classes, the host's as well, keep of the program's: which are registered, and what has been asked."""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import abc
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from dpor.python.program.putting_back import Changed


class Abstract:
    """What was registered when it was made. `is_known` tells whether a class is the program's."""

    def __init__(self, is_known: Callable[[Any], bool]) -> None:
        self._note(is_known)

    def _note(self, is_known: Callable[[Any], bool]) -> None:
        self._token = abc.get_cache_token()  # which each registration changes
        self._registered = _registrations(is_known)

    def refuse_registered(self, is_known: Callable[[Any], bool]) -> None:
        """Raises `Changed` if a run has registered a class, and one of the two is the program's."""
        if abc.get_cache_token() != self._token:
            before = self._registered
            self._note(is_known)
            if self._registered != before:
                raise Changed("a class was registered with an abstract one")


def refuse_asked(is_known: Callable[[Any], bool]) -> None:
    """Raises `Changed` if it was asked whether a class is derived from an abstract one, and that is remembered."""
    for kind in _abstract_classes():
        _, positive, negative, _ = _abc._get_dump(kind)
        if any(is_known(asked()) for asked in chain(positive, negative)):
            raise Changed("a class was changed that an abstract one had been asked about")


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
