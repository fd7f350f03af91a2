"""`threading.local`: a dictionary for each model thread. Its attributes are private to a thread, hence no locations."""

from __future__ import annotations

from typing import Any

from dpor.runtime import control, sharing


class local:
    """As `_threading_local.local`: the dictionary of the thread that looks is made the instance's own first.

    `_local__arguments` are those of the constructor: a subclass's `__init__` runs again in each further thread.
    """

    __slots__ = ("__dict__", "__weakref__", "_local__arguments")
    _local__arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, /, *args: Any, **kwargs: Any) -> local:
        if (args or kwargs) and cls.__init__ is object.__init__:
            raise TypeError("Initialization arguments are not supported")
        self = object.__new__(cls)
        object.__setattr__(self, "_local__arguments", (args, kwargs))
        _all_own()[id(self)] = (self, {})
        sharing.make_neutral(cls)  # a subclass is the program's, its attributes are still no locations
        return self

    def __getattribute__(self, name: str) -> Any:
        _take_own(self)
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _check_writable(self, name)
        _take_own(self)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        _check_writable(self, name)
        _take_own(self)
        object.__delattr__(self, name)


_outside: dict[Any, Any] = {}


def _all_own() -> dict[Any, Any]:
    """What the present thread has, by the number of the object; between runs, what nobody has."""
    thread = control.current
    return _outside if thread is None else thread.data


def _take_own(obj: local) -> None:
    """Make the present thread's dictionary the instance's. The entry keeps the object, so its id is not used again."""
    data = _all_own()
    entry = data.get(id(obj))
    if entry is None:
        entry = data[id(obj)] = (obj, {})
        object.__setattr__(obj, "__dict__", entry[1])
        args, kwargs = object.__getattribute__(obj, "_local__arguments")
        type(obj).__init__(obj, *args, **kwargs)
    object.__setattr__(obj, "__dict__", entry[1])


def _check_writable(obj: local, name: str) -> None:
    if name == "__dict__":
        raise AttributeError(f"{type(obj).__name__!r} object attribute '__dict__' is read-only")
