"""Small programs in the form that all tools for threads take: a state, workers that share it, what must hold then."""

import threading
from queue import Empty, Queue


class Program:
    """`setup()` makes the state; each of `workers` is called with it in a thread of its own; then `holds(state)`.

    buggy   there is an interleaving after which it does not hold, or in which a worker fails or is stuck
    """

    def __init__(self, name, setup, workers, holds, buggy):
        self.name = name
        self.setup = setup
        self.workers = workers
        self.holds = holds
        self.buggy = buggy


class Counter:
    def __init__(self):
        self.value = 0
        self.lock = threading.Lock()


def add(times):
    def work(counter):
        for _ in range(times):
            seen = counter.value
            counter.value = seen + 1

    return work


def add_locked(times):
    def work(counter):
        for _ in range(times):
            with counter.lock:
                seen = counter.value
                counter.value = seen + 1

    return work


class Order:
    def __init__(self):
        self.lock = threading.Lock()
        self.seen = []


def appends(number):
    def work(order):
        with order.lock:
            order.seen.append(number)

    return work


class Flag:
    def __init__(self):
        self.lock = threading.Lock()
        self.ready = False
        self.late = False


def publish(flag):
    with flag.lock:
        flag.ready = True


def consume(flag):
    with flag.lock:
        flag.late = not flag.ready


class Made:
    def __init__(self):
        self.values = {}
        self.made = 0


def make_once(state):
    if "k" not in state.values:
        state.values["k"] = []
        state.made += 1


class Mail:
    def __init__(self):
        self.queue = Queue()
        self.empty = False


def put(mail):
    mail.queue.put(1)


def get_nowait(mail):
    try:
        mail.queue.get_nowait()
    except Empty:
        mail.empty = True


class Two:
    def __init__(self):
        self.first, self.second = threading.Lock(), threading.Lock()


def forth(two):
    with two.first, two.second:
        pass


def back(two):
    with two.second, two.first:
        pass


class Buffer:
    """Capacity 1, one lock, one condition."""

    def __init__(self):
        self.changed = threading.Condition()
        self.item = None
        self.taken = []


def produce(buffer):
    for item in (1, 2):
        with buffer.changed:
            while buffer.item is not None:
                buffer.changed.wait()
            buffer.item = item
            buffer.changed.notify_all()


def take(buffer):
    for _ in (1, 2):
        with buffer.changed:
            while buffer.item is None:
                buffer.changed.wait()
            buffer.taken.append(buffer.item)
            buffer.item = None
            buffer.changed.notify_all()


class Lost:
    def __init__(self):
        self.changed = threading.Condition()
        self.ready = False


def wakes(lost):
    with lost.changed:
        lost.ready = True
        lost.changed.notify()


def looks_then_waits(lost):
    if not lost.ready:
        with lost.changed:
            lost.changed.wait()


PROGRAMS = [
    Program("racy counter 2 x 1", Counter, [add(1)] * 2, lambda c: True, buggy=False),
    Program("racy counter 2 x 3", Counter, [add(3)] * 2, lambda c: True, buggy=False),
    Program("racy counter 3 x 1", Counter, [add(1)] * 3, lambda c: True, buggy=False),
    Program("locked counter 2 x 3", Counter, [add_locked(3)] * 2, lambda c: c.value == 6, buggy=False),
    Program("bounded buffer, 2 items", Buffer, [produce, take], lambda b: b.taken == [1, 2], buggy=False),
    Program("lost update", Counter, [add(1)] * 2, lambda c: c.value == 2, buggy=True),
    Program("two locks, two orders", Two, [forth, back], lambda two: True, buggy=True),
    Program("one order of three", Order, [appends(i) for i in range(3)], lambda o: o.seen != [2, 1, 0], buggy=True),
    Program("flag under a lock", Flag, [publish, consume], lambda flag: not flag.late, buggy=True),
    Program("check, then insert", Made, [make_once] * 2, lambda state: state.made == 1, buggy=True),
    Program("put and get_nowait", Mail, [put, get_nowait], lambda mail: not mail.empty, buggy=True),
    Program("lost wake-up", Lost, [wakes, looks_then_waits], lambda lost: True, buggy=True),
]
