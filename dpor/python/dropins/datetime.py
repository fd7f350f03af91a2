"""The drop-in for `datetime`: `now()` and `today()` return virtual time; everything else is real.

The classes that programs see make objects of the real classes, and regard these as their own instances. So objects can
be exchanged with code that knows nothing of the drop-in.
"""

from __future__ import annotations

import datetime as real
from typing import Any

from dpor.python.dropins.time import time
from dpor.python.kernel.host_modules import DropInModule, shadow


class _StandsFor(type):
    """The metaclass of `datetime` and `date` below; classes that programs derive from them behave as usual."""

    def __instancecheck__(cls, obj: object) -> bool:
        return isinstance(obj, _real(cls)) if cls in _OURS else super().__instancecheck__(obj)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _real(cls)) if cls in _OURS else super().__subclasscheck__(other)


class date(real.date, metaclass=_StandsFor):
    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return real.date.__new__(_real(cls), *args, **kwargs)

    @classmethod
    def today(cls) -> Any:
        return _real(cls).fromtimestamp(time())


class datetime(real.datetime, metaclass=_StandsFor):
    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return real.datetime.__new__(_real(cls), *args, **kwargs)

    @classmethod
    def now(cls, tz: real.tzinfo | None = None) -> Any:
        return _real(cls).fromtimestamp(time(), tz)

    @classmethod
    def today(cls) -> Any:
        return _real(cls).fromtimestamp(time())

    @classmethod
    def utcnow(cls) -> Any:
        return _real(cls).fromtimestamp(time(), real.UTC).replace(tzinfo=None)


_OURS: dict[type, Any] = {date: real.date, datetime: real.datetime}


def _real(cls: type) -> Any:
    return _OURS.get(cls, cls)


def module() -> DropInModule:
    return shadow(real, date=date, datetime=datetime)
