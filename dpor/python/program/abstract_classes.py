"""What abstract classes, also those of the host, remember of the program's classes: registrations, and answers of
`issubclass`."""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import abc
from collections.abc import Callable
from itertools import chain
from typing import Any

from dpor.python.kernel.classes import derived_from
from dpor.python.program.restoring import CannotRestore


class AbstractClasses:
    """The classes that were registered when the modules had been imported."""

    def __init__(self) -> None:
        self._decide: list[Any] = []

    def remember_nothing(self, kind: Any) -> None:
        """Each run begins without answers of this class, since code of the program gives them (`__subclasshook__`)."""
        if "_abc_impl" in vars(kind):
            self._decide.append(kind)

    def begin(self, is_known: Callable[[Any], bool]) -> None:
        """Before the first run. `is_known` returns True for classes of the program."""
        self._note(is_known)
        self._forget_answers()

    def restore(self, is_known: Callable[[Any], bool]) -> None:
        """Raises `CannotRestore` if a run has registered a class, and it or the abstract one is the program's."""
        if abc.get_cache_token() != self._token:
            before = self._registered
            self._note(is_known)
            if self._registered != before:
                raise CannotRestore("a class was registered with an abstract one")
        self._forget_answers()

    def _note(self, is_known: Callable[[Any], bool]) -> None:
        self._token = abc.get_cache_token()  # each registration changes it
        self._registered = _registrations(is_known)

    def _forget_answers(self) -> None:
        for kind in self._decide:
            _abc._reset_caches(kind)


def forget_registered(is_gone: Callable[[type], bool], kinds: list[Any] | None = None) -> list[Any]:
    """Make all abstract classes (or these) forget that classes were registered with them, and that they were asked
    about these. Return those to which that has happened."""
    changed = []
    for kind in _abstract_classes() if kinds is None else kinds:
        registry, positive, negative, _ = _abc._get_dump(kind)
        registered = [found for reference in registry if (found := reference()) is not None]
        asked = [found for reference in chain(positive, negative) if (found := reference()) is not None]
        was_registered = any(map(is_gone, registered))
        if not was_registered and not any(map(is_gone, asked)):
            continue
        changed.append(kind)
        _abc._reset_caches(kind)
        if was_registered:
            _abc._reset_registry(kind)
            for found in registered:
                if not is_gone(found):
                    _abc._abc_register(kind, found)
    return changed if kinds is None else kinds


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


def _abstract_classes() -> list[Any]:
    return [kind for kind in derived_from(object) if "_abc_impl" in vars(kind)]
