"""The rules of channels: who waits, what is sent and received, what an end tells of the other."""

from __future__ import annotations

import errno

import pytest

from dpor.core.operations import READ, UPDATE, WRITE
from dpor.primitives.channels import (
    CAPACITY,
    GONE,
    INVALID,
    OVER,
    READING,
    READY,
    WAITING,
    WRITING,
    AwaitReady,
    Channel,
    CloseEnd,
    Enter,
    Leave,
    Receive,
    Register,
    Send,
    SetWaits,
    Shut,
    first_channel,
    readiness,
)

NEW = first_channel(True)


def after(*rules: object, channel: Channel = NEW) -> Channel:
    for rule in rules:
        (channel,) = rule.apply((channel,), 0).states  # type: ignore[attr-defined]
    return channel


NO_WRITER, NO_READER = after(CloseEnd((WRITING,))), after(CloseEnd((READING,)))
FULL = after(Send(b"x" * CAPACITY))


def test_bytes_come_out_as_they_went_in() -> None:
    two = after(Send(b"ab"), Send(b"cd"))
    assert Receive(3).apply((two,), 0).result == b"abc"
    assert after(Receive(3), channel=two)[0] == b"d"
    assert Receive(0).apply((NEW,), 0).result == b""


@pytest.mark.parametrize(
    ("rule", "channel", "result"),
    [
        (Receive(1), NEW, None),
        (Receive(1, or_timeout=True), NEW, False),
        (Receive(1), after(SetWaits((READING,), False)), False),
        (Receive(1), NO_WRITER, b""),
        (Receive(1), after(Send(b"a"), CloseEnd((WRITING,))), b"a"),
        (Receive(1), NO_READER, -errno.EBADF),
        (Receive(1), after(Shut((READING,))), b""),
        (Send(b"a"), FULL, None),
        (Send(b"a", or_timeout=True), FULL, False),
        (Send(b"ab"), after(Receive(1), channel=FULL), 1),
        (Send(b"ab", 2), after(Receive(1), channel=FULL), None),
        (Send(b"a"), NO_READER, -errno.EPIPE),
        (Send(b"a"), after(Shut((WRITING,))), -errno.EPIPE),
        (Send(b"a"), NO_WRITER, -errno.EBADF),
        (CloseEnd((READING,)), NO_READER, -errno.EBADF),
    ],
)
def test_what_a_call_comes_to(rule: Receive | Send | CloseEnd, channel: Channel, result: object) -> None:
    assert rule.enabled((channel,), 0) == (result is not None)
    if result is not None:
        effect = rule.apply((channel,), 0)
        assert effect.result == result
        assert effect.modes == ((READ,) if effect.states == (channel,) else (WRITE,))


@pytest.mark.parametrize(
    ("channel", "end", "ready"),
    [
        (NEW, READING, 0),
        (NEW, WRITING, READY),
        (FULL, WRITING, 0),
        (NO_WRITER, READING, GONE),
        (NO_READER, WRITING, READY | GONE),
        (NO_READER, READING, INVALID),
        (after(Shut((WRITING,))), READING, OVER),
        (after(Shut((READING,))), READING, OVER),
    ],
)
def test_what_an_end_is_ready_for(channel: Channel, end: int, ready: int) -> None:
    assert readiness(channel, end) == ready


def test_a_wait_for_several_tells_what_each_is_ready_for() -> None:
    waiting = AwaitReady((READING, READING), (READY, READY))
    assert not waiting.enabled((NEW, NEW), 0)
    assert AwaitReady((READING,), (READY,), or_timeout=True).apply((NEW,), 0).result is False
    sent = after(Send(b"a"))
    assert waiting.apply((NEW, sent), 0) == ((NEW, sent), (READ, READ), (0, READY))


def test_a_wait_for_what_is_registered_looks_again_if_that_has_changed() -> None:
    known = ((3, 1),)
    waiting = AwaitReady((READING,), (READY,), known)
    assert not waiting.enabled((known, NEW), 0)
    assert waiting.apply(((), NEW), 0).result is None
    register = Register(4, 1, new=True)
    assert register.apply((known,), 0).states == ((*known, (4, 1)),)
    assert register.apply((((4, 1),),), 0).result == -errno.EEXIST
    assert Register(4, None, new=False).apply((known,), 0).result == -errno.ENOENT
    assert register.apply((None,), 0).result == -errno.EBADF


def test_an_end_that_is_closed_while_a_call_waits_on_it_is_open_for_that_call() -> None:
    enter, leave = Enter(Receive(1), ends=(READING,)), Leave(Receive(1), ends=(READING,))
    assert enter.apply((after(Send(b"a")),), 5).result == b"a"
    effect = enter.apply((NEW,), 5)
    assert (effect.result, effect.modes) == (WAITING, (UPDATE,))
    closed = after(CloseEnd((READING,)), channel=effect.states[0])
    assert not leave.enabled((closed,), 5)
    assert enter.apply((closed,), 6).result == -errno.EBADF
    sent = after(Send(b"b"), channel=closed)  # the writer notices nothing yet
    effect = leave.apply((sent,), 5)
    assert effect.result == b"b"
    assert Send(b"c").apply(effect.states, 0).result == -errno.EPIPE
