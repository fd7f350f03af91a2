"""Puts numbers of things, and lists of things, into words."""

from __future__ import annotations

from collections.abc import Sequence


def plural(number: int, noun: str) -> str:
    """
    >>> plural(1, "event"), plural(1200, "event")
    ('1 event', '1,200 events')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def listed(names: Sequence[str]) -> str:
    """
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
