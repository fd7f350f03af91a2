"""How many of what, in words."""

from __future__ import annotations


def plural(number: int, noun: str) -> str:
    """
    >>> plural(1, "event"), plural(1200, "event")
    ('1 event', '1,200 events')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
