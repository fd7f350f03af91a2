"""`threading.local`: a dictionary for each model thread. Its attributes are private to a thread, so they have no
locations."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar
from weakref import WeakKeyDictionary, ref

from dpor.python.dropins.idents import look_at_thread
from dpor.python.kernel.run import run
from dpor.python.sharing import type_traits


class local:
    """As `_threading_local.local`: before an access, the current thread's dictionary becomes the instance's `__dict__`.

    `_local__arguments` are the constructor's: a subclass's `__init__` runs again in each further thread.
    `_local__dictionaries` has a dictionary for each thread, which dies when the thread ends or the instance dies.
    """

    dpor_module: ClassVar[str] = "_thread"
    __slots__ = ("__dict__", "__weakref__", "_local__arguments", "_local__dictionaries")
    _local__arguments: tuple[tuple[Any, ...], dict[str, Any]]
    _local__dictionaries: WeakKeyDictionary[Here, dict[str, Any]]

    def __new__(cls, /, *args: Any, **kwargs: Any) -> local:
        if (args or kwargs) and cls.__init__ is object.__init__:
            raise TypeError("Initialization arguments are not supported")
        self = object.__new__(cls)
        object.__setattr__(self, "_local__arguments", (args, kwargs))
        here = _here()
        object.__setattr__(self, "_local__dictionaries", WeakKeyDictionary({here: {}}))
        here.used.append(ref(self))
        type_traits.make_neutral(cls)  # attributes of a subclass, which is the program's, are no locations either
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


class Here:
    """Represents a thread as a key in the dictionaries of all `local` objects, and dies with it. It is also a key in
    the thread's `data`."""

    def __init__(self) -> None:
        self.used: list[ref[local]] = []

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        """The thread ends: no instance keeps the thread's dictionary, even if nobody has used it since."""
        if is_finalizing():
            return  # modules are being emptied
        for instance in filter(None, (used() for used in self.used)):
            # From 3.15 on, a collection clears weak references, and so the entry, before it calls this.
            own = object.__getattribute__(instance, "_local__dictionaries").pop(self, None)
            if object.__getattribute__(instance, "__dict__") is own:
                object.__setattr__(instance, "__dict__", {})


_between_runs = Here()


def _here() -> Here:
    thread = run.current
    if thread is None:
        return _between_runs
    here: Here | None = thread.data.get(Here)
    if here is None:
        look_at_thread()
        here = thread.data[Here] = Here()
    return here


def _take_own(obj: local) -> None:
    """Make the current thread's dictionary the instance's."""
    here = _here()
    dictionaries = object.__getattribute__(obj, "_local__dictionaries")
    own = dictionaries.get(here)
    if own is None:
        own = dictionaries[here] = {}
        here.used.append(ref(obj))
        object.__setattr__(obj, "__dict__", own)
        args, kwargs = object.__getattribute__(obj, "_local__arguments")
        type(obj).__init__(obj, *args, **kwargs)
    object.__setattr__(obj, "__dict__", own)


def _check_writable(obj: local, name: str) -> None:
    if name == "__dict__":
        raise AttributeError(f"{type(obj).__name__!r} object attribute '__dict__' is read-only")
