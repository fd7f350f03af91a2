"""Shows values in reports, without running any code of the program and without keeping an object alive."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final, TypeAlias

import attrs

from dpor.python.kernel.classes import is_a

Called: TypeAlias = Callable[[Any], str]
"""Takes an object that is shown by its class, and returns its name: `Job`, or `Job #2` for a second one."""

LONGEST: Final = 60
"""About how many characters of a value are shown."""
_DEEPEST: Final = 4
"""How many levels of nested containers are shown."""

_PLAIN: Final = frozenset(
    {bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, Decimal, date, datetime, time, timedelta}
)
"""Exact types whose `repr` is C code that depends on nothing else."""
_BRACKETS: Final = (
    (list, "[", "]"),
    (tuple, "(", ")"),
    (set, "{", "}"),
    (frozenset, "{", "}"),
    (deque, "[", "]"),
)
_FUNCTIONS: Final = (FunctionType, BuiltinFunctionType, MethodType)
_MANY: Final = 256
"""The number of bits of a number, or elements of a set, above which only that number is shown."""
_OF_THE_REST: Final = len(", ... 999 more")


def value_in_words(value: Any, called: Called, room: int = LONGEST) -> str:
    """Show the value as it would be written in Python, in about `room` characters. `called` names objects.

    >>> value_in_words({"a": [1, (2.5,)], "b": [deque(), {2, 1}, ValueError("no")]}, str)
    "{'a': [1, (2.5,)], 'b': [deque([]), {1, 2}, ValueError('no')]}"
    >>> value_in_words(list(range(1000)), str, 30), value_in_words("x" * 100, str, 12), value_in_words(10**100, str)
    ('[0, 1, 2, 3, 4, ... 994 more, 999]', "'xxxxxxxx...", '<int of 333 bits>')
    """
    return _Words(called).of(value, room, _DEEPEST)


@attrs.frozen
class _Words:
    called: Called

    def of(self, value: Any, room: int, depth: int) -> str:
        kind = type(value)
        if is_a(value, enum.Enum):
            name = object.__getattribute__(value, "__dict__").get("_name_")
            return f"{kind.__name__}.{name}" if name else f"<{kind.__name__}>"
        if kind is int and value.bit_length() > _MANY:
            return f"<int of {value.bit_length()} bits>"
        if kind in _PLAIN:
            text = repr(value[:room] if kind in (str, bytes) else value)
            return text if len(text) <= room else f"{text[: max(1, room - 3)]}..."
        if is_a(value, dict):
            items = f"{{{self._some(dict.items(value), dict.__len__(value), room, depth, self._item)}}}"
            return items if kind is dict else f"{kind.__name__}({items})"
        for base, begin, end in _BRACKETS:
            if is_a(value, base):
                return self._bracketed(value, base, begin, end, room, depth)
        if is_a(value, BaseException):
            arguments = BaseException.__dict__["args"].__get__(value)
            return f"{kind.__name__}({self._some(arguments, len(arguments), room, depth, self.of)})"
        if is_a(value, type):
            return f"<class {value.__name__}>"
        if kind in _FUNCTIONS:
            return f"<function {value.__name__}>"
        return f"<{self.called(value)}>"

    def _bracketed(self, value: Any, base: Any, begin: str, end: str, room: int, depth: int) -> str:
        kind, count = type(value), base.__len__(value)
        parts, last = base.__iter__(value), ""
        if begin != "{" and count and depth:
            last = self.of(base.__getitem__(value, -1), room // 3, depth - 1)  # what has just been added
        inside = self._some(parts, count, room, depth, self.of, last, in_order=begin != "{")
        if base is tuple:
            return f"{'' if kind is tuple else kind.__name__}({inside}{',' if count == 1 and kind is tuple else ''})"
        text = f"{begin}{inside}{end}" if inside or begin == "[" else ""
        return text if kind in (list, set) and text else f"{kind.__name__}({text})"

    def _item(self, item: tuple[Any, Any], room: int, depth: int) -> str:
        return f"{self.of(item[0], room, depth)}: {self.of(item[1], room, depth)}"

    def _some(
        self,
        parts: Iterable[Any],
        count: int,
        room: int,
        depth: int,
        show: Callable[[Any, int, int], str],
        last: str = "",
        in_order: bool = True,
    ) -> str:
        """Show as many of the parts as there is room for, with commas between them, and `last` in any case."""
        if not depth:
            return "..." if count else ""
        texts: Iterable[str] = (show(part, room - 2, depth - 1) for part in parts)
        if not in_order and count <= _MANY:
            texts = sorted(texts)  # that of sets may differ from run to run
        shown: list[str] = []
        end = f", {last}" if last else ""
        for text in texts:
            left = count - len(shown)
            if shown and len(", ".join(shown)) + len(text) > room - (_OF_THE_REST + len(end) if left > 1 else 2):
                more = left - bool(last)
                return f"{', '.join(shown)}{f', ... {more} more' if more else ''}{end}"
            shown.append(text)
        return ", ".join(shown)
