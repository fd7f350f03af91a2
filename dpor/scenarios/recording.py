"""Records what the calls of a run answer, where it does not matter which of them overlapped: then nothing of the
recording is an event."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from dpor.python.hooks import attributes
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.model_thread import UnwindThread
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_object, shared_objects
from dpor.python.specs.known_answers import raised, returned
from dpor.python.specs.linearizing import RecordedCall


class Log:
    """The calls of one run, in the order in which they began."""

    def __init__(self, methods: Sequence[str]) -> None:
        self.calls: list[RecordedCall] = []
        self._methods = methods

    def record(self, obj: Any) -> Any:
        """Return an object to use in place of this one, which records its calls."""
        body: dict[str, Any] = {name: _recorded(self, name) for name in self._methods}
        return type(type(obj).__name__, (_Recorded,), {"__slots__": (), **body})(obj)

    def answers(self, threads: Sequence[str]) -> tuple[Hashable, ...]:
        """Return all answers: those before the threads, those of each, those after them."""
        others = [call.thread not in threads for call in self.calls]
        first = others.index(False) if False in others else len(others)
        last = len(others) - others[::-1].index(False) if False in others else len(others)
        parts = [self.calls[:first], *([c for c in self.calls if c.thread == name] for name in threads)]
        return tuple(call.answer for part in [*parts, self.calls[last:]] for call in part)


class _Recorded:
    """Replaces an object whose calls are recorded."""

    __slots__ = ("_obj",)

    def __init__(self, obj: Any) -> None:
        self._obj = obj


def _recorded(log: Log, name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        obj = self._obj
        if run.unwinding or run.observer is not None:
            return getattr(obj, name)(*args)
        call = RecordedCall(run.current.name, name, args, {})
        log.calls.append(call)
        try:
            result = getattr(attributes.meth(obj, name), name)(*args)
        except UnwindThread:
            raise
        except Exception as error:
            call.answer = raised(error)
            raise
        if result is not obj and isinstance(shared_objects.table.get(id(result)), shared_object.SharedObject):
            incomplete(f"an answer is a {type(result).__qualname__} that threads share, and may change")
        call.answer = returned(obj, result)
        return result

    method.__name__ = name
    return method
