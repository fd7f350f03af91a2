"""Numbers of what states name: code, classes, names of attributes, rules and operations.

A number is a hash of a text that tells the thing from all others. So processes that search together agree on the keys
of states without asking each other. What no text tells apart has a number of this process only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import Enum
from hashlib import blake2b
from types import CodeType
from typing import Any, Final, TypeVar

import attrs

from dpor.core.operations import Operation
from dpor.python.kernel.classes import module_of_class

T = TypeVar("T", bound=Hashable)

_HASHED: Final = 1 << 56
"""All numbers that are hashes have this bit; no others do."""


class Naming:
    """The numbers of one search.

    is_common   True if no number means anything to this process only
    """

    def __init__(self) -> None:
        self.is_common = True
        self._numbers: dict[Hashable, int] = {}
        self._named: dict[int, Hashable] = {}

    def knows(self, thing: Hashable) -> bool:
        return thing in self._numbers

    def number(self, thing: T, text_of: Callable[[T], str | None]) -> int:
        """Return the number of a thing, the same for equal things. `text_of` returns the text that tells it apart; None
        if there is none."""
        number = self._numbers.get(thing)
        if number is None:
            text = text_of(thing)
            number = -1 if text is None else _hashed(text)
            if text is None or self._named.setdefault(number, thing) != thing:
                number, self.is_common = len(self._numbers), False
            self._numbers[thing] = number
        return number


def _hashed(text: str) -> int:
    return _HASHED | int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=7).digest())


def text_of(value: Any) -> str | None:
    """Return a text of a value that only equal values of the same type have; None if it has parts of a type of which
    that is not known.

    >>> text_of((1, "a", None)), text_of(1.0), text_of(True)
    ("(int 1,str 'a',NoneType None)", 'float 1.0', 'bool True')
    """
    kind = type(value)
    if kind in _AS_THEY_LOOK:
        return f"{kind.__name__} {value!r}"
    if kind is tuple or kind is frozenset:
        texts = [text_of(part) for part in value]
        known = [text for text in texts if text is not None]
        if len(known) < len(texts):
            return None
        return f"({','.join(known)})" if kind is tuple else f"{{{','.join(sorted(known))}}}"
    if kind is CodeType:
        return text_of(tuple([getattr(value, name) for name in _OF_CODE]))
    if isinstance(value, Operation):
        return _named(kind, value.described)
    if isinstance(value, Enum):
        return _named(kind, value.name)
    if attrs.has(kind):
        return _named(kind, tuple([getattr(value, field.name) for field in attrs.fields(kind)]))
    return None


def _named(kind: type, content: Any) -> str | None:
    text = text_of(content)
    return None if text is None else f"{module_of_class(kind)}.{kind.__qualname__} {text}"


_AS_THEY_LOOK: Final = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis)})
_OF_CODE: Final = (
    *("co_filename", "co_name", "co_qualname", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags"),
    *("co_firstlineno", "co_code", "co_consts", "co_names", "co_varnames", "co_cellvars", "co_freevars"),
    *("co_linetable", "co_exceptiontable"),
)
