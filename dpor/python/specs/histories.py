"""`dpor.linearizable`: records the calls of a concurrent object and compares them with a sequential object [HW90].

Which calls overlap, and which come one after the other, may depend on the order of events that commute. So the
beginning of a call READs, and its end UPDATEs, one location of the history: beginnings commute with each other, ends
too, and the order of each beginning and each end is the same in all equivalent runs; so it is the same whether the
history is linearizable. A history with a first part that is not linearizable is not linearizable, so the check runs
at the end of each call.

A call counts as beginning with its first event. Had it begun earlier, it would come after fewer other calls, so more
orders could explain it; a fault that shows then also shows in this way. Its end is an event of its own, since only
then is it known which event was its last.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeVar, cast

import attrs

from dpor.core.operations import UPDATE, WRITE, Location
from dpor.core.outcome import Finding, Kind
from dpor.python.hooks import attributes
from dpor.python.kernel import accessing
from dpor.python.kernel.incomplete import incomplete
from dpor.python.kernel.model_thread import UnwindThread
from dpor.python.kernel.program_frames import program_frame
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_object, shared_objects
from dpor.python.specs import specifying
from dpor.python.specs.frozen_values import freeze, frozen_in_words, state_of
from dpor.python.specs.just_in_time import Judge, StateNotKnown
from dpor.python.specs.known_answers import KnownAnswers, answer_in_words, raised, returned
from dpor.python.specs.linearizing import RecordedCall, TooLong, drawn, is_linearizable, needed

T = TypeVar("T")


def linearizable(specification: Callable[[], Any]) -> Callable[[T], T]:
    """Record the calls of an object, and check in every run that they are linearizable [HW90].

    `specification`: a plain class, or a function that makes a sequential object, with the methods that may be called.
    `dpor.linearizable(Queue)(concurrent_queue)` returns an object to use in place of the concurrent one. In every
    interleaving there must be an order of the calls that keeps one before another if it ended before the other began,
    and in which an object of the specification gives the same answers: values that are equal by structure, exceptions
    of the same class. Arguments and results must not be changed afterwards. Outside of a check the object itself is
    returned.
    """

    def recorded(obj: T) -> T:
        if run.current is None or run.unwinding:
            return obj
        history = History(specification, obj)
        return cast("T", _recorded(history))

    return recorded


class History:
    """The calls of one object in the present run.

    events   beginnings and ends, frozen: a part of the state of the run
    """

    def __init__(self, specification: Callable[[], Any], obj: Any) -> None:
        self.specification = specification
        self.obj = obj
        self.calls: list[RecordedCall] = []
        self.events: list[tuple[object, ...]] = []
        self.failed = False
        self._judge: Judge | None = Judge(self._performed)
        thread = run.current
        self.location = run.operations.location(("history", *thread.name_object()))
        self.made_by = thread.name
        frame = program_frame(sys._getframe(2))
        self.made_at: tuple[str | None, int | None]
        self.made_at = (None, None) if frame is None else (frame.f_code.co_filename, frame.f_lineno)

    def new(self) -> Any:
        """Make a sequential object, without events of the run."""
        with specifying.looking(specifying.SpecificationObserver(self._name)):
            return self.specification()

    def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a method of the object, as the program would."""
        if run.unwinding or run.observer is not None:
            return getattr(self.obj, method)(*args, **kwargs)
        call = _Made(self, RecordedCall(run.current.name, method, args, kwargs))
        if run.multi:
            specifying.present().beginning.setdefault(run.current.id, []).append(call)
        else:
            call.begin()
        try:
            result = getattr(attributes.meth(self.obj, method), method)(*args, **kwargs)
        except UnwindThread:
            raise
        except Exception as error:
            self._ended(call, raised(error))
            raise
        self._ended(call, self._returned(result))
        return result

    def _returned(self, result: Any) -> Hashable:
        if result is not self.obj and isinstance(shared_objects.table.get(id(result)), shared_object.SharedObject):
            incomplete(f"{self._name}: an answer is a {type(result).__qualname__} that threads share, and may change")
        return returned(self.obj, result)

    def _ended(self, made: _Made, answer: Hashable) -> None:
        call, beginning = made.call, specifying.present().beginning.get(run.current.id, [])
        begins = made in beginning  # it had no event: it begins and ends with this one
        if begins:
            beginning.remove(made)
        if run.multi:
            accessing.touch(f"return from {call.method}", ((self.location, WRITE if begins else UPDATE),))
        if run.unwinding:
            return
        if begins:
            made.begin()
        call.answer, call.ended = answer, len(self.events)
        self.events.append(("return", self.calls.index(call), answer))
        if not self.failed and not self._is_linearizable(call):
            self.failed = True
            specifying.present().findings.append(self._finding())

    # ------------------------------------------------------------------ held against the specification

    @property
    def _name(self) -> str:
        return f"the specification {getattr(self.specification, '__name__', self.specification)}"

    def _is_linearizable(self, returned: RecordedCall) -> bool:
        look = specifying.SpecificationObserver(self._name)
        try:
            with specifying.looking(look):
                linearizable = self._judged(returned)
            if look.owners:
                incomplete(f"{self._name} looks at what threads share")
            return linearizable
        except TooLong:
            self._judge = None
            incomplete(f"{self._name}: a history of {len(self.calls)} calls has too many orders to try them all")
            return True

    def _judged(self, returned: RecordedCall) -> bool:
        if self._judge is not None:
            try:
                return self._judge.returns(returned, [call for call in self.calls if call.ended is None])
            except StateNotKnown:
                self._judge = None
        return is_linearizable(self.calls, self._answers_so)

    def _performed(self, order: Sequence[RecordedCall]) -> tuple[Hashable, Hashable | None]:
        """Let a new sequential object answer calls in this order. Returns the last answer, and the object's state."""
        obj = self.specification()
        answer: Hashable = None
        for call in order:
            if isinstance(obj, KnownAnswers):
                answer = obj.__answer__(call)
                continue
            try:
                answer = returned(obj, getattr(obj, call.method)(*call.args, **call.kwargs))
            except UnwindThread:
                raise
            except Exception as error:
                answer = raised(error)
        return answer, obj.__state__() if isinstance(obj, KnownAnswers) else state_of(obj)

    def _answers_so(self, order: Sequence[RecordedCall]) -> bool:
        return order[-1].ended is None or self._performed(order)[0] == order[-1].answer

    def _finding(self) -> Finding:
        """Make the finding, equal for equivalent runs; the history itself is in it only while the run is described."""
        name = getattr(self.specification, "__name__", "the specification")
        file, line = self.made_at
        return Finding(
            Kind.LINEARIZABILITY,
            f"no order of the calls has the answers that {name} gives",
            self.made_by,
            file,
            line,
            needs_timeout=run.timed_out,
            details=() if run.recorder is None else tuple(self._described()),
        )

    def _described(self) -> Iterator[str]:
        """Yield lines on the calls that no order explains, and on the others."""
        with specifying.looking(specifying.SpecificationObserver(self._name)):
            kept = needed(self.calls, self._answers_so)
        yield from drawn(kept, _in_words)
        others = len(self.calls) - len(kept)
        if others:
            these = "the other call" if others == 1 else f"the {others} other calls"
            yield f"(whatever {these} answered, and whether or not {'it' if others == 1 else 'they'} took effect)"


def held() -> Iterator[Any]:
    """Yield the program's objects that are kept here: they may have died."""
    for history in [] if (specified := specifying.current()) is None else specified.histories:
        yield history.obj
        for call in history.calls:
            yield from (*call.args, *call.kwargs.values(), call.answer)


@attrs.frozen(eq=False)
class _Made:
    """A call that was made and has had no event. Implements `specifying.Beginning`."""

    history: History
    call: RecordedCall

    @property
    def location(self) -> Location:
        return self.history.location

    def begin(self) -> None:
        call, history = self.call, self.history
        call.began = len(history.events)
        history.calls.append(call)
        history.events.append(("call", call.thread, call.method, freeze(call.args), freeze(call.kwargs)))


def _in_words(call: RecordedCall) -> str:
    args = [frozen_in_words(freeze(arg)) for arg in call.args]
    args += [f"{name}={frozen_in_words(freeze(arg))}" for name, arg in call.kwargs.items()]
    return f"{call.method}({', '.join(args)}) -> {answer_in_words(call.answer)}"


# ---------------------------------------------------------------------- in place of the object

_NOT_CALLS = frozenset({"__class_getitem__", "__init_subclass__", *dir(object)})


def _methods(obj: Any) -> list[str]:
    """The names of methods of the specification that can be called: the public ones, and those of operators."""
    kind = type(obj)
    names = [name for name in dir(kind) if not name.startswith("_") or (name[:2] == name[-2:] == "__")]
    return [name for name in names if name not in _NOT_CALLS and callable(getattr(kind, name, None))]


class _Recorded:
    """Replaces an object whose calls are recorded. Its class has a method for each of the specification's.

    It refers to the object, so that what reaches one reaches the other, but to its history by number alone: the
    history is not an object of the program.
    """

    __slots__ = ("_number", "_obj")

    def __init__(self, obj: Any, number: int) -> None:
        self._obj = obj
        self._number = number

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name!r} is not in the specification: only its methods can be called here")


def _recorded(history: History) -> _Recorded:
    histories = specifying.present().histories
    histories.append(history)
    body = {name: _method(name) for name in _methods(history.new())}
    kind = type(type(history.obj).__name__, (_Recorded,), {"__slots__": (), **body})
    return kind(history.obj, len(histories) - 1)  # type: ignore[no-any-return]


def _method(name: str) -> Callable[..., Any]:
    def method(self: _Recorded, *args: Any, **kwargs: Any) -> Any:
        history: History = specifying.present().histories[self._number]
        return history.call(name, args, kwargs)

    method.__name__ = name
    return method
