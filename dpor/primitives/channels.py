"""Channels: bytes that go one way, from a writing end to a reading end. A pipe is one channel, a pair of sockets two.

A channel is one object; its state a `Channel`. Who waits for several channels touches all of them. Results of
operations: what was done; False if the thread would have to wait, or has waited long enough; an error number, negative,
if it cannot be done.

An end may be closed while a thread waits in a call on it. As in Linux, the call then goes on as if it were open, and
the other side notices nothing until the call is over; but who calls after that gets an error. So where ends are closed
while they are in use, a call is two operations: `Enter`, which does it at once if possible, and else `Leave`.
"""

from __future__ import annotations

import errno
from typing import Any, ClassVar, Final, TypeAlias

import attrs

from dpor.core.operations import READ, UPDATE, WRITE, Effect, Mode, States, ThreadId
from dpor.primitives.rules import Around, BaseRule

CAPACITY: Final = 65536
"""How many bytes a channel holds."""
READING: Final = 1
WRITING: Final = 2
"""The ends: where they are in a `Channel`."""
OPEN: Final = "open"
SHUT: Final = "shut"
CLOSED: Final = "closed"
WAITING: Final = "waiting"
"""The result of an `Enter` that a `Leave` must follow."""


End: TypeAlias = tuple[str, bool, tuple[ThreadId, ...]]
"""Of a channel: OPEN, SHUT (by `shutdown`: the other side is told, calls do not fail) or CLOSED; do calls wait, or is
it non-blocking? which threads wait in a call on it, in ascending order?"""
Channel: TypeAlias = tuple[bytes, End, End]
"""What was sent and not yet received; the reading end; the writing end."""


def first_channel(waits: bool) -> Channel:
    """Return the state of a new channel. `waits`: whether reading and writing block."""
    return (b"", (OPEN, waits, ()), (OPEN, waits, ()))


def _is_gone(end: End) -> bool:
    """Does the other side notice that nobody reads, or writes, any more?"""
    status, _, inside = end
    return status == SHUT or (status == CLOSED and not inside)


def _with_end(channel: Channel, which: int, end: End) -> Channel:
    data, reading, writing = channel
    return (data, end, writing) if which == READING else (data, reading, end)


# ---------------------------------------------------------------------- bytes


@attrs.frozen
class _Transfer(BaseRule):
    """or_timeout   the variant that never waits: False if it would have to"""

    modes = (WRITE,)
    end: ClassVar[int]
    or_timeout: bool = attrs.field(default=False, kw_only=True)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        _, waits, _ = states[0][self.end]
        return self.or_timeout or not waits or self.apply(states, thread).result is not False


@attrs.frozen
class Receive(_Transfer):
    """Result: up to `size` bytes; none if nobody can write any more."""

    name = "receive"
    takes = (0,)
    end = READING
    size: int

    def apply(self, states: States, thread: ThreadId) -> Effect:
        data, reading, writing = states[0]
        if reading[0] == CLOSED:
            return Effect(states, (READ,), -errno.EBADF)
        if data and self.size:
            return Effect(((data[self.size :], reading, writing),), (WRITE,), data[: self.size])
        is_over = not self.size or _is_gone(writing) or reading[0] == SHUT
        return Effect(states, (READ,), b"" if is_over else False)


@attrs.frozen
class Send(_Transfer):
    """Result: how many bytes were sent. `whole`: up to this length, all or none are."""

    name = "send"
    gives = (0,)
    end = WRITING
    data: bytes
    whole: int = 0

    def apply(self, states: States, thread: ThreadId) -> Effect:
        data, reading, writing = states[0]
        if writing[0] == CLOSED:
            return Effect(states, (READ,), -errno.EBADF)
        if _is_gone(reading) or writing[0] == SHUT:
            return Effect(states, (READ,), -errno.EPIPE)
        room = CAPACITY - len(data)
        if self.data and room < (len(self.data) if len(self.data) <= self.whole else 1):
            return Effect(states, (READ,), False)
        sent = self.data[:room]
        return Effect(((data + sent, reading, writing),), (WRITE,), len(sent))


# ---------------------------------------------------------------------- ends


@attrs.frozen
class _OfEnds(BaseRule):
    """Changes ends: one of each object. Result: True, or that they are closed."""

    ends: tuple[int, ...]

    @property
    def modes(self) -> tuple[Mode, ...]:  # type: ignore[override]
        return (WRITE,) * len(self.ends)

    def changed(self, end: End) -> End:
        raise NotImplementedError

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0][self.ends[0]][0] == CLOSED:
            return Effect(states, (READ,) * len(states), -errno.EBADF)
        after = [_with_end(c, end, self.changed(c[end])) for c, end in zip(states, self.ends, strict=True)]
        return Effect(tuple(after), self.modes, True)


@attrs.frozen
class CloseEnd(_OfEnds):
    name = "close"

    @property
    def gives(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(range(len(self.ends)))

    def changed(self, end: End) -> End:
        return (CLOSED, *end[1:])


@attrs.frozen
class Shut(CloseEnd):
    name = "shutdown"

    def changed(self, end: End) -> End:
        return (SHUT, *end[1:])


@attrs.frozen
class SetWaits(_OfEnds):
    """Makes ends blocking, or non-blocking."""

    name = "set blocking"
    waits: bool

    def changed(self, end: End) -> End:
        status, _, inside = end
        return status, self.waits, inside


# ---------------------------------------------------------------------- waiting for several

READY: Final = 1
OVER: Final = 2
GONE: Final = 4
INVALID: Final = 8
"""What an end is ready for: there are bytes, or there is room; the other end is shut; the other end is closed; this end
is closed."""


def readiness(channel: Channel, which: int) -> int:
    """Return what `poll` tells of one end, as a mask."""
    own: Any = channel[which]
    other: Any = channel[READING + WRITING - which]
    if own[0] == CLOSED:
        return INVALID
    ready = READY if (channel[0] if which == READING else len(channel[0]) < CAPACITY) else 0
    if _is_gone(other):
        return ready | (OVER if other[0] == SHUT else GONE)
    return ready | (OVER if own[0] == SHUT else 0)


@attrs.frozen
class AwaitReady(BaseRule):
    """Waits until an end is ready. Objects: a channel for each end. Result: what each is ready for.

    ends    which end of each channel
    wanted  what is waited for at each end
    known   None; or what was registered for this wait when it began, with the registry as a further object, before the
            channels: the result is None if something else is registered now, and the thread must wait for that instead
    """

    name = "await ready"
    ends: tuple[int, ...]
    wanted: tuple[int, ...]
    known: object = None
    or_timeout: bool = False

    @property
    def modes(self) -> tuple[Mode, ...]:  # type: ignore[override]
        return (READ,) * (len(self.ends) + (self.known is not None))

    @property
    def takes(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(range(len(self.modes)))

    def _found(self, states: States) -> object:
        if self.known is not None:
            if states[0] != self.known:
                return None
            states = states[1:]
        found = [readiness(*each) & wanted for *each, wanted in zip(states, self.ends, self.wanted, strict=True)]
        return tuple(found) if any(found) else False

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return self.or_timeout or self._found(states) is not False

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect(states, self.modes, self._found(states))


@attrs.frozen
class Register(BaseRule):
    """Of a registry, the object that knows which ends a later `AwaitReady` waits for. Its state: (key, value) for each,
    in order; None if it is closed. Sets, or with None removes, the value of a key.

    new   True: it must not be there yet; False: it must be; None: either
    """

    name = "register"
    modes = (WRITE,)
    key: int
    value: int | None
    new: bool | None = None

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if states[0] is None:
            return Effect(states, (READ,), -errno.EBADF)
        there = dict(states[0])
        if self.new is not None and (self.key in there) == self.new:
            return Effect(states, (READ,), -errno.EEXIST if self.new else -errno.ENOENT)
        if self.value is None:
            del there[self.key]
        else:
            there[self.key] = self.value
        return Effect((tuple(there.items()),), (WRITE,), True)


@attrs.frozen
class CloseRegistry(BaseRule):
    name = "close"
    modes = (WRITE,)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        return Effect((None,), (WRITE,), None)


# ---------------------------------------------------------------------- calls on ends that are closed meanwhile


@attrs.frozen
class Enter(Around):
    """Begins a call: does it if that is possible at once, with the result of the inner rule; else the result is
    WAITING, and a `Leave` must follow. `ends`: the end that is used of each object."""

    ends: tuple[int, ...] = attrs.field(kw_only=True)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "name", self.inner.name)
        object.__setattr__(self, "modes", (WRITE,) * len(self.ends))

    def apply(self, states: States, thread: ThreadId) -> Effect:
        if self.inner.enabled(states, thread):
            return self.inner.apply(states, thread)
        return Effect(self._with_me(states, thread, True), (UPDATE,) * len(states), WAITING)

    def _with_me(self, states: States, thread: ThreadId, inside: bool) -> States:
        return tuple(_with_end(c, end, _with(c[end], thread, inside)) for c, end in zip(states, self.ends, strict=True))

    def succeeded(self, effect: Effect) -> bool:
        return effect.result != WAITING and self.inner.succeeded(effect)


def _with(end: End, thread: ThreadId, inside: bool) -> End:
    status, waits, threads = end
    return status, waits, tuple(sorted({*threads, thread} if inside else {*threads} - {thread}))


@attrs.frozen
class Leave(Enter):
    """The end of a call that had to wait. Whether its ends have been closed since does not matter to it."""

    def _opened(self, states: States) -> States:
        opened = []
        for channel, end in zip(states, self.ends, strict=True):
            status, waits, inside = channel[end]
            opened.append(_with_end(channel, end, (OPEN if status == CLOSED else status, waits, inside)))
        return tuple(opened)

    def enabled(self, states: States, thread: ThreadId) -> bool:
        return self.inner.enabled(self._opened(states), thread)

    def apply(self, states: States, thread: ThreadId) -> Effect:
        effect = self.inner.apply(self._opened(states), thread)
        after = [
            _with_end(after, end, before[end])
            for before, after, end in zip(states, effect.states, self.ends, strict=True)
        ]
        return Effect(self._with_me(tuple(after), thread, False), self.modes, effect.result)
