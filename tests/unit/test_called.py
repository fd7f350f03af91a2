"""Reports call locks and containers what the program calls them."""

from __future__ import annotations

import queue
import threading

import pytest

import dpor


class Account:
    def __init__(self) -> None:
        self.balance = 0
        self.lock = threading.Lock()
        self.log: list[int] = []


HISTORY: list[str] = []


def together(*bodies: object) -> None:
    threads = [threading.Thread(target=body, name=name) for body, name in zip(bodies, "ab", strict=False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def fields() -> None:
    ann, ben = Account(), Account()

    def move(source: Account, to: Account) -> None:
        with source.lock:
            source.log.append(1)
            to.balance = source.balance

    together(lambda: move(ann, ben), lambda: move(ben, ann))
    assert not ann.log


def conditions() -> None:
    ready = threading.Condition()
    passed = threading.Event()
    free = threading.Semaphore(2)

    def wait() -> None:
        with ready, free:
            passed.set()
            ready.notify()

    together(wait)
    assert not passed.is_set()


def variables_and_globals() -> None:
    found: dict[str, int] = {}

    def note() -> None:
        found["x"] = 1
        HISTORY.append("noted")

    together(note)
    assert not found


class Mailbox:
    """What says nothing by its class is called by where it is."""

    letters: dict[str, list[int]] = {"a": []}  # noqa: RUF012
    sent = 0
    lock = threading.RLock()
    __slots__ = ("guard", "queue")

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.queue: queue.Queue[int] = queue.Queue()


def further_away() -> None:
    box = Mailbox()
    forks = [threading.Lock(), threading.Lock()]

    def send() -> None:
        with forks[1], box.guard, Mailbox.lock:
            Mailbox.sent += 1
            Mailbox.letters["a"].append(1)
        box.queue.put(1)

    together(send, lambda: Mailbox.sent)
    assert not box.queue.qsize()


def threads_without_functions() -> None:
    seen: list[int] = []
    thread = threading.Thread(target=seen.append, args=(1,), name="a")
    thread.start()
    len(seen)
    thread.join()
    assert not seen


@pytest.mark.parametrize(
    ("target", "operations"),
    [
        (
            fields,
            {
                *("lock Account.lock", "append Account.log", "unlock Account.lock"),
                *("lock Account #2.lock", "append Account #2.log", "unlock Account #2.lock"),
                *("read Account.balance", "write Account #2.balance"),
                *("read Account #2.balance", "write Account.balance"),
            },
        ),
        (conditions, {"lock ready", "acquire free", "set passed", "notify ready", "release free", "unlock ready"}),
        (variables_and_globals, {"write found['x']", "append HISTORY"}),
        (
            further_away,
            {
                *("lock forks[1]", "lock Mailbox.guard", "lock Mailbox.lock"),
                *("unlock forks[1]", "unlock Mailbox.guard", "unlock Mailbox.lock"),
                *("read Mailbox.sent", "write Mailbox.sent", "append Mailbox.letters['a']"),
                "put Mailbox.queue",
            },
        ),
        (threads_without_functions, {"append seen"}),
    ],
)
def test_the_program_s_names(target: object, operations: set[str]) -> None:
    (failure,) = dpor.check(target).findings  # type: ignore[arg-type]
    assert {step.operation for step in failure.trace if step.thread in "ab"} - {"end a", "end b"} == operations


def test_who_waits_for_what_has_the_same_names() -> None:
    def crossed() -> None:
        ann, ben = Account(), Account()

        def both(one: Account, other: Account) -> None:
            with one.lock, other.lock:
                pass

        together(lambda: both(ann, ben), lambda: both(ben, ann))

    (failure,) = dpor.check(crossed).findings
    waiting = [line for line in failure.message.splitlines() if "waits to lock" in line]
    assert [line.split("waits to lock ")[1].split(" (made")[0] for line in waiting] == [
        "Account #2.lock",
        "Account.lock",
    ]
