"""`"{0.v} {d[k]}".format(...)`: what the fields name is read one after the other; then the values are formatted."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from typing import Any

from dpor.python.hooks import attributes, operators

_split: Callable[[str], tuple[int | str, Any]] = vars(string)["_string"].formatter_field_name_split


def simplified(text: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[str, list[Any]] | None:
    """Return the text with a number for each field, and the values of the fields. None if no field names an attribute
    or item, or if the text is invalid (the real `format` then raises the error)."""
    if "." not in text and "[" not in text:
        return None
    values: list[Any] = []
    try:
        fields = [name for _, name, _, _ in string.Formatter().parse(text) if name]
        if not any("." in name or "[" in name for name in fields):
            return None
        return _simplified(text, _finder(args, named), values), values
    except (LookupError, ValueError):
        return None


def _finder(args: tuple[Any, ...], named: Mapping[str, Any]) -> Callable[[int | str], Any]:
    numbers = iter(range(len(args)))

    def find(first: int | str) -> Any:
        if first == "":
            first = next(numbers, len(args))
        return args[first] if isinstance(first, int) else operators.getitem(named, first)

    return find


def _simplified(text: str, find: Callable[[int | str], Any], values: list[Any]) -> str:
    parts: list[str] = []
    for literal, name, spec, conversion in string.Formatter().parse(text):
        parts.append(literal.replace("{", "{{").replace("}", "}}"))
        if name is None:
            continue
        first, rest = _split(name)
        value = find(first)
        for is_attribute, key in rest:
            value = getattr(attributes.loaded(value, key), key) if is_attribute else operators.getitem(value, key)
        number = len(values)
        values.append(value)
        how = f"!{conversion}" if conversion else ""
        parts.append(f"{{{number}{how}:{_simplified(spec, find, values)}}}" if spec else f"{{{number}{how}}}")
    return "".join(parts)
